"""What is found out about models and servers, over real HTTP on this machine."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest

from memagent.events import Usage
from memagent.llm.discovery import LocalServer, discover_profile, find_local_server
from memagent.llm.prices import context_window, cost_usd
from memagent.llm.profiles import ModelProfile
from tests.scripted_server import ScriptedServer


def discover(name: str, base_url: str, window_setting: int | None = None) -> ModelProfile:
    return asyncio.run(discover_profile(name, base_url, None, window_setting))


@pytest.mark.parametrize(
    "extra",
    [
        {"max_model_len": 4_096},
        {"meta": {"n_ctx": 4_096, "n_ctx_train": 32_768}},
        {"n_ctx": 4_096},
        {"context_length": 4_096},
        {"context_window": 4_096},
        {"loaded_context_length": 4_096, "max_context_length": 131_072},
    ],
    ids=lambda extra: next(iter(extra)),
)
def test_the_server_tells_its_window(extra: dict[str, Any]) -> None:
    with ScriptedServer(models=[{"id": "other", "max_model_len": 999}, {"id": "mine", **extra}]) as server:
        profile = discover("mine", server.base_url)
        assert (profile.window_tokens, profile.window_source, profile.notice) == (4_096, "server", None)
        assert discover("mine", server.base_url, 2_000).window_tokens == 2_000


def test_a_setting_wins_and_asks_nobody() -> None:
    with ScriptedServer() as server:
        assert discover("mine", server.base_url, 2_000).window_source == "setting"
        assert server.records == []


@pytest.mark.parametrize("extra", [{}, {"context_length": "much"}, {"n_ctx": 0}, {"max_model_len": -1}, {"meta": None}])
def test_an_unknown_window_is_guessed_with_one_notice(extra: dict[str, Any]) -> None:
    with ScriptedServer(models=[{"id": "my-org/qwen-7b:free", **extra}]) as server:
        profile = discover("my-org/qwen-7b:free", server.base_url)
        assert (profile.window_tokens, profile.window_source, profile.exact) == (8_192, "default", False)
        assert "window_tokens" in (profile.notice or "")


@pytest.mark.parametrize("name", ["o1", "my-org/qwen-7b:free", "ft:gpt-4o:acme::x", "", "名前"])
def test_any_model_name_gets_a_profile(name: str) -> None:
    profile = discover(name, "http://127.0.0.1:9/v1")
    assert profile.window_tokens >= 1_024
    assert profile.encoding


def test_a_server_with_one_model_may_be_asked_by_any_name() -> None:
    with ScriptedServer(models=[{"id": "/models/file.gguf", "meta": {"n_ctx": 4_096}}]) as server:
        assert discover("whatever", server.base_url).window_tokens == 4_096


def test_prices_know_windows_and_costs() -> None:
    assert context_window("gpt-4o", "https://api.openai.com/v1") == 128_000
    assert context_window("gpt-4o", "https://gateway.example.com/v1") == 128_000
    assert context_window("llama-3", "https://gateway.example.com/v1") is None
    assert context_window("gpt-4o", "http://127.0.0.1:8080/v1") is None
    assert context_window("no-such", "https://api.openai.com/v1") is None
    usage = Usage(prompt_tokens=1_000_000, cached_tokens=500_000, completion_tokens=0)
    cost = cost_usd("gpt-4o", "https://api.openai.com/v1", usage)
    full = cost_usd("gpt-4o", "https://api.openai.com/v1", Usage(prompt_tokens=1_000_000))
    assert cost is not None
    assert full is not None
    assert 0 < cost < full
    assert cost_usd("qwen", "http://127.0.0.1:1/v1", usage) is None


def port(server: ScriptedServer) -> int:
    return int(server.base_url.rsplit(":", 1)[1].split("/")[0])


def test_a_local_server_is_found_by_its_model_list() -> None:
    with ScriptedServer(models=[{"id": "nomic-embed-text"}, {"id": "qwen"}]) as server:
        found = asyncio.run(find_local_server((9, port(server))))
        assert found == LocalServer(server.base_url, "qwen")


def test_something_else_on_the_port_is_no_model_server() -> None:
    with ScriptedServer(models=[]) as empty, ScriptedServer(models=[{"id": "embedder"}]) as embedder:
        assert asyncio.run(find_local_server((port(empty), port(embedder), 9))) is None


def test_looking_for_a_server_is_quick() -> None:
    start = time.monotonic()
    assert asyncio.run(find_local_server((9, 19, 29))) is None
    assert time.monotonic() - start < 3

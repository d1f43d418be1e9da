"""Which model the settings mean."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from memagent.errors import ModelFileError, NoModelError
from memagent.llm.client import ChatModel
from memagent.llm.opening import open_model
from memagent.settings import Settings, load_settings
from tests.scripted_server import ScriptedServer


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes settings that see neither this machine's environment nor its model servers."""
    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL", "MEMAGENT_API_KEY", "MEMAGENT_BASE_URL", "MEMAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)

    def make(**given: Any) -> Settings:
        return load_settings(**{"models_dir": tmp_path / "models", "find_local_server": False, **given})

    return make


def opened(settings: Settings) -> tuple[str, str, int]:
    """Name, endpoint and window of the model that was opened."""

    async def run() -> tuple[str, str, int]:
        model: ChatModel = await open_model(settings)
        await model.close()
        return model.profile.name, model.endpoint, model.profile.window_tokens

    return asyncio.run(run())


def test_an_endpoint_with_a_model(settings: Any) -> None:
    with ScriptedServer(models=[{"id": "a"}, {"id": "b", "max_model_len": 4_096}], api_key="k") as server:
        assert opened(settings(base_url=server.base_url, model="b", api_key="k")) == ("b", server.base_url, 4_096)
        assert server.records[0].headers["authorization"] == "Bearer k"


def test_an_endpoint_without_a_model_gets_the_first_listed(settings: Any) -> None:
    with ScriptedServer(models=[{"id": "text-embedder"}, {"id": "chat"}]) as server:
        assert opened(settings(base_url=server.base_url))[0] == "chat"


def test_an_endpoint_that_lists_nothing_says_so(settings: Any) -> None:
    with pytest.raises(NoModelError, match="MEMAGENT_MODEL"):
        opened(settings(base_url="http://127.0.0.1:9/v1"))


def test_a_gguf_name_at_an_endpoint_is_the_endpoints(settings: Any) -> None:
    with ScriptedServer(models=[{"id": "x.gguf"}]) as server:
        assert opened(settings(base_url=server.base_url, model="x.gguf"))[0] == "x.gguf"


def test_a_file_wins_over_a_key_that_happens_to_be_set(settings: Any, tmp_path: Path) -> None:
    with pytest.raises(NoModelError, match="there is no model file"):
        opened(settings(model=str(tmp_path / "x.gguf"), api_key="k"))
    with pytest.raises(NoModelError, match=r"model pull smollm2-135m"):
        opened(settings(model="smollm2-135m", api_key="k"))


def test_a_key_alone_means_openai(settings: Any) -> None:
    name, endpoint, window = opened(settings(api_key="k", window_tokens=9_000))
    assert (name, endpoint, window) == ("gpt-4o-mini", "https://api.openai.com/v1", 9_000)


def test_nothing_at_all_says_what_to_do(settings: Any) -> None:
    with pytest.raises(NoModelError, match="`memagent model pull`"):
        opened(settings())
    with pytest.raises(NoModelError, match="'mystery'"):
        opened(settings(model="mystery"))


def test_a_file_that_is_no_model_is_one_clear_line(
    settings: Any, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "bad.gguf").write_text("hello")
    with pytest.raises(ModelFileError, match="cannot load") as caught:
        opened(settings(model=str(tmp_path / "bad.gguf")))
    assert "\n" not in str(caught.value)
    assert capfd.readouterr() == ("", "")


def test_variables_that_are_not_memagents_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MEMAGENT_API_KEY", "OPENAI_API_KEY", "MEMAGENT_BASE_URL", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("API_KEY", "of another program")
    monkeypatch.setenv("BASE_URL", "http://other.example")
    settings = load_settings()
    assert (settings.api_key, settings.base_url) == (None, None)

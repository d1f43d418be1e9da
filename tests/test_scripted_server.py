"""The scripted server itself: it plays its script, and finds what a strict server would refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.scripted_server import Reply, ScriptedServer, fail, say
from tests.wire import parse_strict, prompt_tokens, violations

SYSTEM = {"role": "system", "content": "Be brief."}
USER = {"role": "user", "content": "hello"}
GOOD: dict[str, Any] = {"model": "m", "messages": [SYSTEM, USER]}


def called(*ids: str, arguments: str = "{}") -> dict[str, Any]:
    function = {"name": "f", "arguments": arguments}
    return {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": call_id, "type": "function", "function": function} for call_id in ids],
    }


def result(call_id: str, content: str = "ok") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": call_id, "content": content}


def said(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


def post(server: ScriptedServer, body: Any = GOOD) -> httpx.Response:
    return httpx.post(f"{server.base_url}/chat/completions", json=body, trust_env=False)


@pytest.mark.parametrize(
    "messages",
    [
        [SYSTEM, USER],
        [SYSTEM, USER, said("hi"), USER],
        [SYSTEM, said("hi"), USER],
        [SYSTEM, USER, called("a", "b"), result("b"), result("a")],
        [SYSTEM, USER, called("a"), result("a"), called("a"), result("a")],
        [SYSTEM, {"role": "user", "content": [{"type": "text", "text": "x"}], "name": "Maya"}],
    ],
)
def test_good_bodies_pass(messages: list[Any]) -> None:
    assert violations({"model": "m", "messages": messages}) == []


@pytest.mark.parametrize(
    ("messages", "words"),
    [
        ([], "no messages"),
        ([USER], "I2: the first"),
        ([SYSTEM, USER, SYSTEM], "more than one system"),
        ([SYSTEM, USER, USER], "both user"),
        ([SYSTEM, USER, said("a"), said("b"), USER], "both assistant"),
        ([SYSTEM, USER, said("a")], "last message is assistant"),
        ([SYSTEM, USER, said(" "), USER], "W3"),
        ([SYSTEM, {"role": "user", "content": ""}], "W3"),
        ([SYSTEM, USER, called("a"), result("a", "")], "W3"),
        ([SYSTEM, result("a")], "W1"),
        ([SYSTEM, USER, called("a"), result("b")], "W1"),
        ([SYSTEM, USER, called("a"), result("a"), result("a")], "W2"),
        ([SYSTEM, USER, called("a", "b"), result("a")], "never answered"),
        ([SYSTEM, USER, called("a", "b"), result("a"), USER], "not answered before"),
        ([SYSTEM, USER, called("a", "a"), result("a")], "one id"),
        ([SYSTEM, USER, called("a", arguments="{"), result("a")], "not JSON"),
        ([SYSTEM, USER, called("a", arguments="[]"), result("a")], "not an object"),
        ([SYSTEM, USER, {**called("a"), "tool_calls": []}, USER], "tool_calls is empty"),
        ([SYSTEM, {"role": "odd", "content": "x"}], "unknown role"),
        ([SYSTEM, {"role": "user", "content": "x", "name": "a b"}], "illegal name"),
    ],
)
def test_bad_bodies_are_refused_and_recorded(messages: list[Any], words: str) -> None:
    with ScriptedServer(["unused"]) as server:
        answer = post(server, {"model": "m", "messages": messages})
        assert answer.status_code == 400
        assert words in answer.json()["error"]["message"]
        with pytest.raises(AssertionError, match=r"violation|W|I2|message"):
            server.check()


@pytest.mark.parametrize("raw", [b'{"a": NaN}', b"\xff", b'{"a": "\\ud83d"}', b"{"])
def test_the_encoding_is_strict(raw: bytes) -> None:
    assert parse_strict(raw)[1][0].startswith("W4")


def test_tools_are_checked() -> None:
    tool = {"type": "function", "function": {"name": "f", "parameters": {}}}
    assert violations({**GOOD, "tools": [tool]}) == []
    assert violations({**GOOD, "tools": []}) == ["tools is empty"]
    assert violations({**GOOD, "tools": [tool, tool]}) == ["two tools are called 'f'"]
    assert "illegal" in violations({**GOOD, "tools": [{"type": "function", "function": {"name": "a b"}}]})[0]
    assert violations({**GOOD, "tool_choice": "auto"}) == ["tool_choice without tools"]


def test_the_script_is_played_in_order_and_ends_loudly() -> None:
    with ScriptedServer([say("one"), fail(503, "busy", Retry_After="2"), lambda body: body["model"]]) as server:
        assert post(server).json()["choices"][0]["message"]["content"] == "one"
        busy = post(server)
        assert (busy.status_code, busy.headers["retry-after"]) == (503, "2")
        assert post(server).json()["choices"][0]["message"]["content"] == "m"
        server.check()
        assert "script exhausted" in post(server).json()["error"]["message"]
        assert len(server.unexpected) == 1
        with pytest.raises(AssertionError):
            server.check()
        server.forgive()
        server.add("left over")
        with pytest.raises(AssertionError, match="left over"):
            server.check()


def test_a_default_answers_when_the_script_is_used_up() -> None:
    with ScriptedServer(["first"], default="again") as server:
        texts = [post(server).json()["choices"][0]["message"]["content"] for _ in range(3)]
        assert texts == ["first", "again", "again"]
        server.check()


def test_a_stream_is_made_of_events() -> None:
    with ScriptedServer([Reply(text="a b", calls=[("f", {"x": 1}, "c1")])]) as server:
        answer = post(server, {**GOOD, "stream": True, "stream_options": {"include_usage": True}})
        *events, done, _ = answer.text.split("\n\n")
        assert done == "data: [DONE]"
        chunks = [json.loads(event.removeprefix("data: ")) for event in events]
        assert chunks[-1]["choices"] == []
        assert chunks[-1]["usage"]["prompt_tokens"] == prompt_tokens(GOOD)
        deltas = [chunk["choices"][0]["delta"] for chunk in chunks[:-1]]
        assert "".join(delta.get("content") or "" for delta in deltas) == "a b"
        assert [delta["tool_calls"][0].get("id") for delta in deltas if "tool_calls" in delta] == ["c1", None]


def test_models_are_listed() -> None:
    with ScriptedServer(models=[{"id": "x", "meta": {"n_ctx": 4096}}]) as server:
        data = httpx.get(f"{server.base_url}/models", trust_env=False).json()["data"]
        assert data[0]["meta"]["n_ctx"] == 4096


def test_it_runs_as_a_process(tmp_path: Path) -> None:
    script, record = tmp_path / "steps.json", tmp_path / "bodies.jsonl"
    script.write_text(json.dumps(["one", {"status": 500, "body": {"error": {"message": "x"}}}]), "utf-8")
    command = [sys.executable, "-m", "tests.scripted_server", "--replies", str(script), "--record", str(record)]
    command += ["--default", '{"text": "more"}']
    top = Path(__file__).parents[1]
    with subprocess.Popen(command, cwd=top, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        base_url = process.stdout.readline().strip()
        statuses = [httpx.post(f"{base_url}/chat/completions", json=GOOD, trust_env=False).status_code for _ in "123"]
        process.terminate()
    assert statuses == [200, 500, 200]
    assert [json.loads(line) for line in record.read_text("utf-8").splitlines()] == [GOOD] * 3

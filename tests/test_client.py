"""The client over real HTTP: streaming, retries, broken streams, and errors that say what to do."""

from __future__ import annotations

import asyncio
import re
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any

import pytest

from memagent.errors import (
    ContextTooLongError,
    ModelAuthError,
    ModelError,
    ModelNotFoundError,
    ModelRateLimitError,
    ModelRefusedError,
    ModelReplyError,
    ModelUnreachableError,
)
from memagent.events import Usage
from memagent.llm.assembling import UNPARSED
from memagent.llm.client import ChatRequest, Completion, Retrying, TextPiece
from memagent.llm.dialects import EMBEDDED, GENERIC, OPENAI, OPENAI_REASONING, Dialect, dialect_for
from memagent.llm.openai_chat import OpenAIChat
from memagent.llm.profiles import ModelProfile
from memagent.llm.refusals import endpoint_name
from tests.scripted_server import Failure, Reply, ScriptedServer, call, fail, say

MESSAGES = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "hello"}]


def tool(name: str) -> dict[str, Any]:
    parameters = {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]}
    return {
        "type": "function",
        "function": {"name": name, "description": f"The tool {name}.", "parameters": parameters},
    }


TOOLS = [tool("recall"), tool("remember")]


def ask(base_url: str, request: ChatRequest | None = None, **options: Any) -> list[TextPiece | Retrying | Completion]:
    """All that one call yields."""
    name = options.pop("model", "scripted")

    async def run() -> list[TextPiece | Retrying | Completion]:
        settings = {"retry_delay_seconds": 0.05, **options}
        model = OpenAIChat(ModelProfile(name, 8_192), base_url, **settings)
        try:
            return [piece async for piece in model.stream(request or ChatRequest(MESSAGES))]
        finally:
            await model.close()

    return asyncio.run(run())


def completion(pieces: Sequence[TextPiece | Retrying | Completion]) -> Completion:
    """The completion, which must be last, once, and hold the text that was streamed."""
    *others, last = pieces
    assert isinstance(last, Completion)
    assert not any(isinstance(piece, Completion) for piece in others)
    assert "".join(piece.text for piece in others if isinstance(piece, TextPiece)) == last.text
    return last


# --- plain answers -------------------------------------------------------------------------------


def test_an_answer_is_streamed_piece_by_piece(scripted: ScriptedServer) -> None:
    scripted.add(say("Hello you there", usage={"prompt_tokens": 12, "completion_tokens": 3, "total_tokens": 15}))
    pieces = ask(scripted.base_url)
    assert [piece.text for piece in pieces if isinstance(piece, TextPiece)] == ["Hello ", "you ", "there"]
    done = completion(pieces)
    assert (done.finish_reason, done.calls, done.notices) == ("stop", (), ())
    assert done.usage == Usage(prompt_tokens=12, completion_tokens=3)
    assert scripted.bodies[0]["messages"] == MESSAGES
    assert "tools" not in scripted.bodies[0]


def test_special_token_text_and_every_script_travel_unchanged(scripted: ScriptedServer) -> None:
    text = "what do <|endoftext|> and <|im_start|> do? città 日本 😀\ttab"
    scripted.add(say(text))
    messages = [MESSAGES[0], {"role": "user", "content": text}]
    assert completion(ask(scripted.base_url, ChatRequest(messages))).text == text
    assert scripted.bodies[0]["messages"][1]["content"] == text


def test_length_is_reported(scripted: ScriptedServer) -> None:
    scripted.add(say("cut off in", finish_reason="length"))
    assert completion(ask(scripted.base_url)).finish_reason == "length"


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (GENERIC, {"max_tokens": 50, "temperature": 0.2, "stream_options": {"include_usage": True}}),
        (OPENAI, {"max_completion_tokens": 50, "temperature": 0.2, "stream_options": {"include_usage": True}}),
        (OPENAI_REASONING, {"max_completion_tokens": 50, "stream_options": {"include_usage": True}}),
        (Dialect("plain", stream_usage=False), {"max_tokens": 50, "temperature": 0.2}),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_the_dialect_decides_what_is_sent(scripted: ScriptedServer, dialect: Dialect, expected: dict[str, Any]) -> None:
    scripted.add("ok")
    ask(scripted.base_url, ChatRequest(MESSAGES, max_tokens=50, temperature=0.2), dialect=dialect)
    sent = {name: value for name, value in scripted.bodies[0].items() if name not in ("model", "messages", "stream")}
    assert sent == expected


def test_the_embedded_model_is_asked_at_temperature_0_unless_told(scripted: ScriptedServer) -> None:
    scripted.add("ok", "ok")
    ask(scripted.base_url, dialect=EMBEDDED)
    ask(scripted.base_url, ChatRequest(MESSAGES, temperature=0.7), dialect=EMBEDDED)
    assert [body["temperature"] for body in scripted.bodies] == [0.0, 0.7]


@pytest.mark.parametrize(
    ("base_url", "model", "dialect"),
    [
        ("https://api.openai.com/v1", "gpt-4o", OPENAI),
        ("https://api.openai.com/v1", "o3-mini", OPENAI_REASONING),
        ("https://acme.openai.azure.com/openai/v1", "gpt-5-mini", OPENAI_REASONING),
        ("http://127.0.0.1:11434/v1", "gpt-5-mini", GENERIC),
        ("https://openai.com.example.org/v1", "gpt-4o", GENERIC),
        ("not an address", "", GENERIC),
    ],
)
def test_dialect_for(base_url: str, model: str, dialect: Dialect) -> None:
    assert dialect_for(base_url, model) is dialect


# --- usage (C19 a–c) -----------------------------------------------------------------------------


def delta(finish_reason: str | None = None, usage: Any = None, **fields: Any) -> dict[str, Any]:
    chunk: dict[str, Any] = {"choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}
    return chunk if usage is None else {**chunk, "usage": usage}


def test_cumulative_usage_is_taken_last_not_summed(scripted: ScriptedServer) -> None:
    chunks = [
        delta(content="a", usage={"prompt_tokens": 4, "completion_tokens": 1, "total_tokens": 5}),
        delta(content="b", usage={"prompt_tokens": 4, "completion_tokens": 5, "total_tokens": 9}),
        delta("stop", usage={"prompt_tokens": 4, "completion_tokens": 8, "total_tokens": 12}),
    ]
    scripted.add(Reply(chunks=chunks))
    assert completion(ask(scripted.base_url)).usage == Usage(prompt_tokens=4, completion_tokens=8)


@pytest.mark.parametrize("usage", [None, {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}])
def test_without_usage_it_is_estimated_and_marked(scripted: ScriptedServer, usage: Any) -> None:
    scripted.add(say("four words are here", usage=usage))
    used = completion(ask(scripted.base_url)).usage
    assert used.estimated
    assert used.prompt_tokens > 8
    assert used.completion_tokens == 4


@pytest.mark.parametrize(
    "details",
    [{"prompt_tokens_details": {"cached_tokens": 7}}, {"prompt_cache_hit_tokens": 7}],
    ids=["openai", "deepseek"],
)
def test_cached_tokens_are_read(scripted: ScriptedServer, details: Any) -> None:
    scripted.add(say("x", usage={"prompt_tokens": 9, "completion_tokens": 1, "total_tokens": 10, **details}))
    assert completion(ask(scripted.base_url)).usage.cached_tokens == 7


@pytest.mark.parametrize("choices", [None, [], "odd", [None], [{"delta": None}]], ids=str)
def test_chunks_without_proper_choices_are_passed_over(scripted: ScriptedServer, choices: Any) -> None:
    scripted.add(Reply(chunks=[{"choices": choices}, delta(content="fine"), {"choices": choices}, delta("stop")]))
    assert completion(ask(scripted.base_url)).text == "fine"


# --- tool calls ----------------------------------------------------------------------------------


def test_native_calls_come_in_order_with_their_ids(scripted: ScriptedServer) -> None:
    scripted.add(Reply(calls=[("recall", {"query": "妹妹"}, "c1"), ("remember", {"query": "x"}, "c2")]))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert done.finish_reason == "tool_calls"
    assert [(entry.id, entry.name, entry.arguments) for entry in done.calls] == [
        ("c1", "recall", '{"query": "妹妹"}'),
        ("c2", "remember", '{"query": "x"}'),
    ]
    assert scripted.bodies[0]["tools"] == TOOLS


def test_tool_choice_is_sent_only_when_it_says_something(scripted: ScriptedServer) -> None:
    scripted.add("a", "b", "c")
    ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS))
    ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS, tool_choice="none"))
    ask(scripted.base_url, ChatRequest(MESSAGES, tool_choice="none"))
    assert [body.get("tool_choice") for body in scripted.bodies] == [None, "none", None]


def test_calls_win_over_a_finish_reason_of_stop(scripted: ScriptedServer) -> None:
    scripted.add(Reply(calls=[("recall", "")], finish_reason="stop"))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert (done.finish_reason, done.calls[0].arguments) == ("tool_calls", "{}")


def test_a_call_that_the_limit_cut_is_dropped_and_said(scripted: ScriptedServer) -> None:
    calls = [("recall", {"query": "a"}, "c1"), ("recall", '{"query": "no e', "c2")]
    scripted.add(Reply(text="I look.", calls=calls, finish_reason="length"))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert [entry.id for entry in done.calls] == ["c1"]
    assert "limit" in done.notices[0]


def test_a_whole_call_with_broken_arguments_stays_valid_json(scripted: ScriptedServer) -> None:
    scripted.add(Reply(calls=[("recall", '{"query": "no end', "c1")]))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert done.calls[0].arguments == f'{{"{UNPARSED}": "{{\\"query\\": \\"no end"}}'


TEXT_CALL = '{"name": "recall", "arguments": {"query": "sister"}}'


@pytest.mark.parametrize("size", [1, 3, 1_000])
def test_a_call_written_as_text_is_not_shown(scripted: ScriptedServer, size: int) -> None:
    pieces = [TEXT_CALL[at : at + size] for at in range(0, len(TEXT_CALL), size)]
    scripted.add(Reply(pieces=pieces))
    yielded = ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS))
    done = completion(yielded)
    assert len(yielded) == 1
    assert (done.text, done.finish_reason) == ("", "tool_calls")
    assert [(entry.name, entry.arguments) for entry in done.calls] == [("recall", '{"query": "sister"}')]
    assert done.calls[0].id


@pytest.mark.parametrize(
    "text",
    [
        '{"name": "Maya", "city": "Lisbon"}',
        '{"answer": 42}',
        "```python\nprint(1)\n```\nThat prints 1.",
        f"{TEXT_CALL} is what I would send.",
        f"I call it: {TEXT_CALL}",
        '{"name": "recall", "arguments": {"query": "cut',
        "<b>bold</b>",
        "{",
    ],
)
def test_text_that_is_no_call_is_shown_whole(scripted: ScriptedServer, text: str) -> None:
    scripted.add(Reply(pieces=list(text)))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert (done.text, done.calls, done.finish_reason) == (text, (), "stop")


def test_text_is_released_as_soon_as_it_cannot_be_a_call(scripted: ScriptedServer) -> None:
    pieces = ['{"name"', ': "Maya"', ', "city"', ': "Lisbon"', "}"]
    scripted.add(Reply(pieces=pieces))
    yielded = ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS))
    assert [piece.text for piece in yielded if isinstance(piece, TextPiece)] == ['{"name": "Maya"', *pieces[2:]]


@pytest.mark.parametrize(
    ("request_", "dialect"),
    [
        (ChatRequest(MESSAGES), GENERIC),
        (ChatRequest(MESSAGES, TOOLS, tool_choice="none"), GENERIC),
        (ChatRequest(MESSAGES, TOOLS), OPENAI),
    ],
    ids=["no tools", "tool_choice none", "dialect without"],
)
def test_text_calls_are_read_only_where_meant(
    scripted: ScriptedServer, request_: ChatRequest, dialect: Dialect
) -> None:
    scripted.add(TEXT_CALL)
    done = completion(ask(scripted.base_url, request_, dialect=dialect))
    assert (done.text, done.calls) == (TEXT_CALL, ())


def test_native_calls_win_over_the_same_call_as_text(scripted: ScriptedServer) -> None:
    scripted.add(Reply(text=TEXT_CALL, calls=[("recall", {"query": "sister"}, "native")]))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert (done.text, [entry.id for entry in done.calls]) == ("", ["native"])


# --- retries -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "failure",
    [fail(408), fail(409), fail(429), fail(500), fail(503), Failure(0, how="reset"), Reply(ending="close")],
    ids=["408", "409", "429", "500", "503", "reset", "closed early"],
)
def test_a_passing_failure_is_tried_again_and_announced(scripted: ScriptedServer, failure: Any) -> None:
    scripted.add(failure, say("there"))
    pieces = ask(scripted.base_url)
    retrying = pieces[0]
    assert isinstance(retrying, Retrying)
    assert retrying.attempt == 1
    assert 0 < retrying.after_seconds < 1
    assert "127.0.0.1" in retrying.reason
    assert completion(pieces).text == "there"
    assert len(scripted.bodies) == 2


def test_retries_end(scripted: ScriptedServer) -> None:
    scripted.add(*[fail(500, "backend down")] * 3)
    with pytest.raises(ModelUnreachableError, match="backend down"):
        ask(scripted.base_url)
    assert len(scripted.bodies) == 3


def test_retry_after_is_honoured(scripted: ScriptedServer) -> None:
    scripted.add(fail(429, Retry_After="1"), say("there"))
    start = time.monotonic()
    pieces = ask(scripted.base_url)
    assert time.monotonic() - start >= 1
    assert isinstance(pieces[0], Retrying)
    assert pieces[0].after_seconds == 1


@pytest.mark.parametrize("wait", ["60", "Fri, 31 Dec 2199 23:59:59 GMT"])
def test_a_long_retry_after_is_not_slept_but_told(scripted: ScriptedServer, wait: str) -> None:
    scripted.add(fail(429, Retry_After=wait))
    with pytest.raises(ModelRateLimitError, match=r"asks to wait \d+ s"):
        ask(scripted.base_url)


@pytest.mark.parametrize(
    "empty",
    [
        Reply(),
        Reply(text="  \n "),
        Reply(reasoning="hm"),
        Reply(chunks=[{"choices": []}, delta("stop")]),
        Reply(chunks=[{"choices": None}, delta("stop")]),
        Reply(chunks=[delta("stop", content=None)]),
    ],
    ids=["empty", "blank", "reasoning only", "no choices", "null choices", "null content"],
)
def test_an_empty_reply_is_asked_for_once_more(scripted: ScriptedServer, empty: Reply) -> None:
    scripted.add(empty, say("there"), empty, empty)
    assert completion(ask(scripted.base_url)).text == "there"
    with pytest.raises(ModelReplyError, match="returned nothing"):
        ask(scripted.base_url)
    assert len(scripted.bodies) == 4


def test_a_reply_limit_used_up_in_silence_is_explained(scripted: ScriptedServer) -> None:
    scripted.add(Reply(reasoning="long thoughts", finish_reason="length"))
    with pytest.raises(ModelReplyError, match="reply_tokens"):
        ask(scripted.base_url)


# --- streams that die (C29) ----------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["reset", "drop", "close", "error"])
def test_a_stream_that_dies_after_text_is_partial(scripted: ScriptedServer, ending: Any) -> None:
    scripted.add(Reply(text="The answer is 4", ending=ending))
    done = completion(ask(scripted.base_url))
    assert (done.text, done.finish_reason) == ("The answer is 4", "partial")
    assert len(done.notices) == 1
    assert ("the backend fell over" in done.notices[0]) == (ending == "error")
    assert done.usage.estimated


@pytest.mark.parametrize("ending", ["reset", "drop", "close", "error"])
def test_a_half_call_is_dropped(scripted: ScriptedServer, ending: Any) -> None:
    scripted.add(Reply(text="I look.", calls=[("recall", {"query": "sister"})], ending=ending))
    done = completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS)))
    assert (done.text, done.calls, done.finish_reason) == ("I look.", (), "partial")


@pytest.mark.parametrize("ending", ["reset", "drop", "close", "error"])
def test_a_stream_that_dies_before_text_is_an_error(scripted: ScriptedServer, ending: Any) -> None:
    scripted.add(*[Reply(calls=[("recall", {"query": "x"})], ending=ending)] * 3)
    with pytest.raises(ModelUnreachableError):
        ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS))
    assert len(scripted.bodies) == 3


def test_half_a_text_call_is_neither_shown_nor_run(scripted: ScriptedServer) -> None:
    scripted.add(*[Reply(text=TEXT_CALL[:30], ending="close")] * 2)
    with pytest.raises(ModelUnreachableError):
        ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS), max_retries=1)


@pytest.mark.parametrize("event", ['{"choices": [', "not json", "[]", '"text"'])
def test_a_malformed_event_is_a_clear_error_or_ends_the_answer(scripted: ScriptedServer, event: str) -> None:
    scripted.add(*[Reply(chunks=[event])] * 3, Reply(chunks=[delta(content="so far"), event]))
    with pytest.raises((ModelReplyError, ModelUnreachableError), match=r"127\.0\.0\.1"):
        ask(scripted.base_url)
    while len(scripted.bodies) < 3:  # how often it is tried again differs
        with pytest.raises((ModelReplyError, ModelUnreachableError)):
            ask(scripted.base_url, max_retries=0)
    done = completion(ask(scripted.base_url))
    assert (done.text, done.finish_reason) == ("so far", "partial")


def test_silence_ends_the_wait(scripted: ScriptedServer) -> None:
    scripted.add(Reply(ending="hang"), Reply(text="so far", ending="hang"))
    with pytest.raises(ModelUnreachableError, match=r"said nothing for 1 s"):
        ask(scripted.base_url, silence_timeout_seconds=0.6)
    done = completion(ask(scripted.base_url, silence_timeout_seconds=0.6))
    assert (done.text, done.finish_reason) == ("so far", "partial")


def test_a_slow_drip_is_not_silence(scripted: ScriptedServer) -> None:
    scripted.add(Reply(text="one two three four five six", pause_seconds=0.3))
    done = completion(ask(scripted.base_url, silence_timeout_seconds=1.0))
    assert (done.text, done.finish_reason) == ("one two three four five six", "stop")


def test_closing_the_iterator_cancels_the_request(scripted: ScriptedServer) -> None:
    scripted.add(Reply(text="word " * 500, pause_seconds=0.05))

    async def run() -> None:
        model = OpenAIChat(ModelProfile("scripted", 8_192), scripted.base_url)
        async with aclosing(model.stream(ChatRequest(MESSAGES))) as pieces:
            async for _ in pieces:
                break
        await asyncio.sleep(0.5)
        await model.close()

    asyncio.run(run())
    assert scripted.records[-1].aborted


# --- errors --------------------------------------------------------------------------------------


def test_nothing_at_the_address_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        base_url = f"http://127.0.0.1:{taken.getsockname()[1]}/v1"
        with pytest.raises(ModelUnreachableError, match=f"nothing answers at {base_url}"):
            ask(base_url, max_retries=0)


def test_a_wrong_key_and_a_missing_key() -> None:
    with ScriptedServer(["ok"], api_key="right") as server:
        with pytest.raises(ModelAuthError, match=r"refused by .*OPENAI_API_KEY"):
            ask(server.base_url, api_key="wrong")
        with pytest.raises(ModelAuthError, match="a key is needed at"):
            ask(server.base_url)
        assert completion(ask(server.base_url, api_key="right")).text == "ok"
        server.check()


def test_an_unknown_model_names_some_the_server_has() -> None:
    models = [{"id": f"model-{number}"} for number in range(9)]
    with ScriptedServer(models=models, known_models=True) as server:
        with pytest.raises(ModelNotFoundError, match=r"'nope'.*it lists: model-0, model-1, .*, …") as caught:
            ask(server.base_url, model="nope")
        assert "\n" not in str(caught.value)


def test_a_wrong_path_hints_at_v1(scripted: ScriptedServer) -> None:
    with pytest.raises(ModelNotFoundError, match="/v1"):
        ask(scripted.base_url.removesuffix("/v1") + "/other/api")


@pytest.mark.parametrize(
    ("failure", "error", "words"),
    [
        (
            fail(400, "maximum context length is 8192 tokens", "context_length_exceeded"),
            ContextTooLongError,
            "too long",
        ),
        (fail(400, "temperature is odd"), ModelRefusedError, "temperature is odd"),
        (fail(403, "not in your region"), ModelAuthError, "region"),
        (fail(402, "Insufficient Balance"), ModelRateLimitError, "quota"),
        (fail(429, "You exceeded your current quota", "insufficient_quota"), ModelRateLimitError, "quota"),
        (fail(400, "no-such is not a valid model ID"), ModelNotFoundError, "does not know the model"),
        (Failure(422, {"detail": [{"msg": "field required"}]}), ModelRefusedError, "field required"),
        (Failure(400, {"error": "plain text error"}), ModelRefusedError, "plain text error"),
        (Failure(400, b"<html>\nBad   Request</html>"), ModelRefusedError, "<html> Bad Request</html>"),
    ],
)
def test_refusals_are_not_tried_again(
    scripted: ScriptedServer, failure: Failure, error: type[ModelError], words: str
) -> None:
    scripted.add(failure)
    with pytest.raises(error, match=re.escape(words)) as caught:
        ask(scripted.base_url)
    assert type(caught.value) is error
    assert caught.value.__cause__ is not None
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 500
    assert len(scripted.bodies) == 1


def test_too_long_inside_a_stream_is_recognised(scripted: ScriptedServer) -> None:
    scripted.add(
        Reply(ending="error", error={"code": 400, "message": "the request exceeds the available context size"})
    )
    with pytest.raises(ContextTooLongError):
        ask(scripted.base_url)


def test_a_content_filter_is_told(scripted: ScriptedServer) -> None:
    scripted.add(say("Well,", finish_reason="content_filter"), Reply(finish_reason="content_filter"))
    assert "filter" in completion(ask(scripted.base_url)).notices[0]
    with pytest.raises(ModelRefusedError, match="filter"):
        ask(scripted.base_url)


def test_the_key_is_never_shown(scripted: ScriptedServer) -> None:
    scripted.add(fail(401, "Incorrect API key provided: sk-secret-123"))
    with pytest.raises(ModelAuthError) as caught:
        ask(scripted.base_url, api_key="sk-secret-123")
    assert "sk-secret" not in str(caught.value)


def test_endpoint_name_holds_no_secret() -> None:
    assert endpoint_name("https://me:pw@host:8443/v1/?key=abc#x") == "https://host:8443/v1"
    assert endpoint_name("http://[::1]:80/v1") == "http://[::1]:80/v1"


@pytest.fixture(autouse=True)
def _no_key_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")


def test_a_key_in_the_environment_does_not_reach_a_server_that_was_given_none(scripted: ScriptedServer) -> None:
    scripted.add("ok")
    ask(scripted.base_url)
    assert "sk-from" not in scripted.records[0].headers["authorization"]


def test_a_dynamic_step_sees_the_request(scripted: ScriptedServer) -> None:
    echo: Callable[[dict[str, Any]], str] = lambda body: body["messages"][-1]["content"].upper()  # noqa: E731
    scripted.add(echo, lambda _: call("recall", query="x"))
    assert completion(ask(scripted.base_url)).text == "HELLO"
    assert completion(ask(scripted.base_url, ChatRequest(MESSAGES, TOOLS))).calls[0].name == "recall"

"""An OpenAI-compatible server on 127.0.0.1 that plays a script, for tests over real sockets.

    with ScriptedServer([say("Hello"), call("recall", query="sister"), fail(429)]) as server:
        ...                       # base URL: server.base_url
        server.bodies             # every request body, parsed, in order
        server.check()            # no unexpected request, no unused step, no violation

A step is a `Reply`, a `Failure`, a text, or a function ``(request_body) -> step``. Steps are taken in the
order in which requests arrive. When they are used up ``default`` answers, else a 500 that says "script
exhausted". A request for a summary of older talk, for the facts of some talk, or for verdicts on facts uses up no
step: ``summary``, ``facts`` and ``verdicts`` answer them (None: they are like any other). In strict mode each body
is checked as a strict server would (tests/wire.py): a bad one gets a 400, uses up no step, and is kept in
``violations``.

As a process: ``python -m tests.scripted_server --replies steps.json --default '{"text": "ok"}'
--record bodies.jsonl`` prints its base URL and serves until killed.
"""

from __future__ import annotations

import argparse
import json
import select
import socket
import struct
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Literal

from memagent import prompts
from tests.wire import parse_strict, prompt_tokens, violations

Ending = Literal["done", "close", "drop", "reset", "hang", "error"]
AUTO: Any = object()


@dataclass(frozen=True)
class Reply:
    """An answer. ``pieces`` are the SSE pieces of the text (default: its words), ``pause_seconds`` between them.

    ``calls`` are ``(name, arguments)`` or ``(name, arguments, id)``; arguments as text are sent as they are.
    ``finish_reason`` and ``usage`` are made up unless given; None leaves them out. ``chunks`` replaces
    all that: chunk objects, or texts that are sent as an event's data as they are. ``ending``: "done"
    as usual; "close" cleanly without finish reason; "drop" in the middle of the framing; "reset" the
    connection; "hang"; "error" event.
    """

    text: str = ""
    pieces: Sequence[str] | None = None
    pause_seconds: float = 0.0
    calls: Sequence[tuple[Any, ...]] = ()
    reasoning: str = ""
    finish_reason: str | None = AUTO
    usage: Mapping[str, Any] | None = AUTO
    chunks: Sequence[Mapping[str, Any] | str] | None = None
    message: Mapping[str, Any] | None = None
    """For a non-streamed answer only: the raw message instead of one made from the rest."""
    ending: Ending = "done"
    error: Mapping[str, Any] = field(default_factory=lambda: {"message": "the backend fell over", "code": 500})
    before_seconds: float = 0.0


@dataclass(frozen=True)
class Failure:
    """An HTTP error, or with status 0 no answer at all: "reset" or "hang"."""

    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    how: Literal["answer", "reset", "hang"] = "answer"


_SUMMARY_PROMPTS = tuple(prompts.text(name, words="", keep="")[:60] for name in ("summarise", "condense"))


def is_for_summary(body: dict[str, Any] | None) -> bool:
    """Whether memagent asks for a summary, not for an answer."""
    first = (body or {}).get("messages", [{}])[0].get("content")
    return isinstance(first, str) and first.startswith(_SUMMARY_PROMPTS)


def _begins_with(body: dict[str, Any] | None, name: str) -> bool:
    first = (body or {}).get("messages", [{}])[0].get("content")
    return isinstance(first, str) and first.startswith(prompts.text(name)[:60])


def is_for_facts(body: dict[str, Any] | None) -> bool:
    """Whether memagent asks what can be learned from some talk."""
    return _begins_with(body, "extract_facts")


def is_for_verdicts(body: dict[str, Any] | None) -> bool:
    """Whether memagent asks how new facts stand to known ones."""
    return _begins_with(body, "reconcile")


def is_own(body: dict[str, Any] | None) -> bool:
    """Whether memagent asks for itself, not to answer the person."""
    return is_for_summary(body) or is_for_facts(body) or is_for_verdicts(body)


Step = Reply | Failure | str | Callable[[dict[str, Any]], Any]


def say(text: str, **more: Any) -> Reply:
    """A plain answer."""
    return Reply(text=text, **more)


def call(name: str, **arguments: Any) -> Reply:
    """One tool call; for several, or for ids, use ``Reply(calls=[…])``."""
    return Reply(calls=[(name, arguments)])


def fail(status: int, message: str = "scripted failure", code: str | None = None, **headers: str) -> Failure:
    """An error in OpenAI's form. Header names with _ for -: ``fail(429, Retry_After="1")``."""
    body = {"error": {"message": message, "type": "scripted", "param": None, "code": code}}
    return Failure(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


@dataclass
class Record:
    """One request as it came. ``aborted``: the client went away before the answer's end."""

    method: str
    path: str
    headers: dict[str, str]
    body: Any = None
    at: float = field(default_factory=time.monotonic)
    aborted: bool = False


class ScriptedServer:
    """See the module. ``models`` are the entries of /v1/models; ``known_models`` True refuses others with 404."""

    def __init__(
        self,
        steps: Sequence[Step] = (),
        *,
        default: Step | None = None,
        models: Sequence[Mapping[str, Any]] = ({"id": "scripted"},),
        known_models: bool = False,
        api_key: str | None = None,
        strict: bool = True,
        record_to: Path | None = None,
        port: int = 0,
        summary: Step | None = "They talked about this and that.",
        facts: Step | None = '{"facts": []}',
        verdicts: Step | None = '{"decisions": []}',
    ) -> None:
        self.default = default
        self.summary = summary
        self.facts = facts
        self.verdicts = verdicts
        self.models = models
        self.known_models = known_models
        self.api_key = api_key
        self.strict = strict
        self.records: list[Record] = []
        self.unexpected: list[Record] = []
        self.violations: list[str] = []
        self.closing = threading.Event()
        self._steps = list(steps)
        self._record_to = record_to
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _Handler)
        self._http.script = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    @property
    def bodies(self) -> list[dict[str, Any]]:
        """Bodies of the chat requests, in order of arrival, without those of memagent's own."""
        return [body for body in self._all_bodies() if self._own_step(body) is None]

    @property
    def summary_bodies(self) -> list[dict[str, Any]]:
        """Bodies of the requests for summaries, in order of arrival."""
        return [body for body in self._all_bodies() if is_for_summary(body)]

    @property
    def facts_bodies(self) -> list[dict[str, Any]]:
        """Bodies of the requests for facts, in order of arrival."""
        return [body for body in self._all_bodies() if is_for_facts(body)]

    @property
    def verdict_bodies(self) -> list[dict[str, Any]]:
        """Bodies of the requests for verdicts, in order of arrival."""
        return [body for body in self._all_bodies() if is_for_verdicts(body)]

    def _own_step(self, body: dict[str, Any] | None) -> Step | None:
        """What answers a request of memagent's own; None for any other."""
        for asks, step in (
            (is_for_summary, self.summary),
            (is_for_facts, self.facts),
            (is_for_verdicts, self.verdicts),
        ):
            if step is not None and asks(body):
                return step
        return None

    def _all_bodies(self) -> list[dict[str, Any]]:
        return [record.body for record in self.records if record.path.endswith("/chat/completions")]

    def add(self, *steps: Step) -> None:
        """More steps, after those that are left."""
        with self._lock:
            self._steps.extend(steps)

    def check(self) -> None:
        """Raises AssertionError on violations, unexpected requests and unused steps."""
        assert not self.violations, self.violations
        assert not self.unexpected, [record.body for record in self.unexpected]
        assert not self._steps, f"unused steps: {self._steps}"

    def forgive(self) -> None:
        """Forgets violations, unexpected requests and unused steps: the test meant them."""
        with self._lock:
            self.violations.clear()
            self.unexpected.clear()
            self._steps.clear()

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.closing.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def take(self, record: Record, raw: bytes) -> Reply | Failure:
        """The next step for a chat request, evaluated."""
        body, problems = parse_strict(raw)
        record.body = body
        with self._lock:
            self.records.append(record)
            if self._record_to:
                with self._record_to.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(body, ensure_ascii=False) + "\n")
            problems += violations(body) if body is not None else []
            if self.strict and problems:
                self.violations += problems
                return fail(400, "; ".join(problems), "violation")
            if self.api_key is not None and record.headers.get("authorization") != f"Bearer {self.api_key}":
                return fail(401, "Incorrect API key provided", "invalid_api_key")
            if self.known_models and body["model"] not in [model["id"] for model in self.models]:
                return fail(404, f"The model `{body['model']}` does not exist", "model_not_found")
            step = self._own_step(body)
            if step is None:
                step = self._steps.pop(0) if self._steps else self.default
            if step is None:
                self.unexpected.append(record)
                return fail(500, f"script exhausted at request {len(self.bodies)}")
        while callable(step):
            step = step(body)
        return Reply(text=step) if isinstance(step, str) else step


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64
    script: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Http

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        script = self.server.script
        script.records.append(self._record())
        if self.path != "/v1/models":
            self._json(404, {"error": {"message": f"no {self.path} here"}})
            return
        entries = [{"object": "model", "owned_by": "tests", **model} for model in script.models]
        self._json(200, {"object": "list", "data": entries})

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length", 0))
        raw = self.rfile.read(length)
        if len(raw) < length:  # the client gave up while it was sending
            self.close_connection = True
            return
        record = self._record()
        if self.path != "/v1/chat/completions":
            self._json(404, {"error": {"message": f"no {self.path} here"}})
            return
        step = self.server.script.take(record, raw)
        try:
            if isinstance(step, Failure):
                self._fail(step)
            else:
                self._answer(step, record.body)
        except OSError:
            record.aborted = True
            self.close_connection = True

    def _record(self) -> Record:
        return Record(self.command, self.path, {name.lower(): value for name, value in self.headers.items()})

    def _json(self, status: int, body: Any, headers: Mapping[str, str] | None = None) -> None:
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def _fail(self, failure: Failure) -> None:
        if failure.how == "hang":
            self._hang()
        elif failure.how == "reset":
            self._reset()
        else:
            self._json(failure.status, failure.body, failure.headers)

    def _answer(self, reply: Reply, body: dict[str, Any]) -> None:
        self._wait(reply.before_seconds)
        if not body.get("stream"):
            self._json(200, _whole(reply, body))
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for chunk in _chunks(reply, body):
            self._event(chunk)
            self._wait(reply.pause_seconds)
        self._end(reply)

    def _end(self, reply: Reply) -> None:
        if reply.ending in ("drop", "reset", "hang"):
            time.sleep(0.1)  # what was sent must have been read, or a reset would discard it
            {"drop": self._drop, "reset": self._reset, "hang": self._hang}[reply.ending]()
            return
        if reply.ending == "error":
            self._event({"error": reply.error})
        elif reply.ending == "done":
            self._raw(b"data: [DONE]\n\n")
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def _event(self, data: Mapping[str, Any] | str) -> None:
        text = data if isinstance(data, str) else json.dumps(data)
        self._raw(b"data: " + text.encode() + b"\n\n")

    def _raw(self, data: bytes) -> None:
        if self._gone():
            raise ConnectionError("the client went away")
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Sleeps, but not past the client's leaving or the server's end."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0 and not self.server.script.closing.wait(min(left, 0.05)):
            if self._gone():
                raise ConnectionError("the client went away")

    def _gone(self) -> bool:
        readable, _, _ = select.select([self.connection], [], [], 0)
        return bool(readable) and not self.connection.recv(1, socket.MSG_PEEK)

    def _hang(self) -> None:
        self._wait(600)
        self._drop()

    def _drop(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _reset(self) -> None:
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.rfile.close()
        self.wfile.close()
        self.connection.close()


def _calls(reply: Reply) -> list[dict[str, Any]]:
    made: list[dict[str, Any]] = []
    for index, (name, arguments, *given) in enumerate(reply.calls):
        call_id = given[0] if given else f"call_{time.monotonic_ns():x}_{index}"
        text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        made.append({"id": call_id, "type": "function", "function": {"name": name, "arguments": text}})
    return made


def _finish(reply: Reply) -> str | None:
    if reply.finish_reason is not AUTO:
        return reply.finish_reason
    return "tool_calls" if reply.calls else "stop"


def _usage(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any] | None:
    if reply.usage is not AUTO:
        return dict(reply.usage) if reply.usage is not None else None
    try:
        prompt = prompt_tokens(body)
    except (KeyError, TypeError):  # a body that strict mode would have refused
        prompt = 1
    completion = max(1, len(reply.text) // 4 + sum(len(str(entry)) // 4 for entry in reply.calls))
    return {"prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion}


def _envelope(kind: str, body: Mapping[str, Any]) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 1_700_000_000, "model": body.get("model", "")}


def _whole(reply: Reply, body: Mapping[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": reply.text or None}
    if reply.calls:
        message["tool_calls"] = _calls(reply)
    if reply.reasoning:
        message["reasoning_content"] = reply.reasoning
    choice = {"index": 0, "message": reply.message or message, "finish_reason": _finish(reply)}
    return {**_envelope("chat.completion", body), "choices": [choice], "usage": _usage(reply, body)}


def _chunks(reply: Reply, body: Mapping[str, Any]) -> Iterator[dict[str, Any] | str]:
    envelope = _envelope("chat.completion.chunk", body)
    if reply.chunks is not None:
        for chunk in reply.chunks:
            yield chunk if isinstance(chunk, str) else {**envelope, **chunk}
        return

    def delta(finish_reason: str | None = None, **fields: Any) -> dict[str, Any]:
        return {**envelope, "choices": [{"index": 0, "delta": fields, "finish_reason": finish_reason}]}

    yield delta(role="assistant", content="")
    if reply.reasoning:
        yield delta(reasoning_content=reply.reasoning)
    pieces = reply.pieces if reply.pieces is not None else reply.text.replace(" ", " \0").split("\0")
    for piece in pieces:
        if piece:
            yield delta(content=piece)
    for index, made in enumerate(_calls(reply)):
        arguments = made["function"]["arguments"]
        half = len(arguments) // 2
        made["function"]["arguments"] = arguments[:half]
        yield delta(tool_calls=[{"index": index, **made}])
        if reply.ending == "done":  # else half a call is all that arrives
            yield delta(tool_calls=[{"index": index, "function": {"arguments": arguments[half:]}}])
    if reply.ending != "done":
        return
    if _finish(reply) is not None:
        yield delta(_finish(reply))
    usage = _usage(reply, body)
    if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
        yield {**envelope, "choices": [], "usage": usage}


def step_from(data: Any) -> Step:
    """A step written as JSON: a text, a Reply's fields, or a Failure's (those with "status")."""
    if isinstance(data, str):
        return data
    return Failure(**data) if "status" in data else Reply(**data)


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves scripted chat completions on 127.0.0.1.")
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--replies", type=Path, help="a JSON list of steps")
    parser.add_argument("--default", help="a step as JSON, played when the script is used up")
    parser.add_argument("--record", type=Path, help="append each request body to this file, one a line")
    given = parser.parse_args()
    steps = [step_from(data) for data in json.loads(given.replies.read_text("utf-8"))] if given.replies else []
    default = step_from(json.loads(given.default)) if given.default else None
    with ScriptedServer(steps, default=default, record_to=given.record, port=given.port) as server:
        print(server.base_url, flush=True)
        server.closing.wait()


if __name__ == "__main__":
    main()

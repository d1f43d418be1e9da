"""Chat completions over the openai SDK, for any OpenAI-compatible server. The only user of that library."""

from __future__ import annotations

import asyncio
import email.utils
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any, Literal, Protocol, cast

import openai
from openai import AsyncOpenAI, AsyncStream
from openai.types.chat import ChatCompletionChunk

from memagent.errors import ModelError, ModelNotFoundError, ModelRefusedError, ModelReplyError, ModelUnreachableError
from memagent.events import Usage
from memagent.llm.assembling import Assembly
from memagent.llm.client import ChatRequest, Completion, Retrying, TextPiece
from memagent.llm.dialects import Dialect, dialect_for
from memagent.llm.fetch import is_loopback
from memagent.llm.overflow import Complaint
from memagent.llm.profiles import ModelProfile
from memagent.llm.refusals import FIRST_DELAY_SECONDS, FailedError, delay_seconds, endpoint_name, refusal
from memagent.llm.text_calls import CallGate
from memagent.llm.tokens import REPLY_PRIMING_TOKENS, TokenCounter
from stores.records import ToolCall

TEMPERATURE_WITH_TOOLS = 0.2
_LIST_MODELS_SECONDS = 3.0
_LISTED_MODELS = 5
_NO_STREAM = ("text/html", "text/plain", "application/json")


class _Create(Protocol):
    """The streaming form of the SDK's call, whose own type wants every parameter spelled out."""

    async def __call__(self, **params: Any) -> AsyncStream[ChatCompletionChunk]: ...


class OpenAIChat:
    """A `ChatModel` on a chat-completions endpoint. Serves one event loop.

    Connection errors, 408, 409, 429 and 5xx are tried again ``max_retries`` times as long as no text
    has come, a Retry-After of up to 20 s is honoured; an empty or unreadable reply is tried again once.
    ``silence_timeout_seconds`` bounds the time between two pieces of a reply. ``endpoint``: a name for
    it in messages and the ledger; None: its address.
    """

    def __init__(
        self,
        profile: ModelProfile,
        base_url: str,
        api_key: str | None = None,
        dialect: Dialect | None = None,
        *,
        connect_timeout_seconds: float = 10.0,
        silence_timeout_seconds: float = 300.0,
        max_retries: int = 2,
        retry_delay_seconds: float = FIRST_DELAY_SECONDS,
        endpoint: str | None = None,
    ) -> None:
        self._profile = profile
        self._endpoint = endpoint or endpoint_name(base_url)
        self._api_key = api_key
        self._dialect = dialect or dialect_for(base_url, profile.name)
        self._silence_timeout_seconds = silence_timeout_seconds
        self._max_retries = max_retries
        self._retry_delay_seconds = retry_delay_seconds
        self._counter = TokenCounter(profile.encoding, profile.exact, profile.image_tokens)
        self._client = AsyncOpenAI(
            base_url=base_url,
            api_key=api_key or "none",  # None would make the SDK take a key from the environment
            timeout=openai.Timeout(silence_timeout_seconds, connect=connect_timeout_seconds),
            max_retries=0,  # the SDK would sleep in silence, for up to two minutes
            # A proxy named in the environment cannot reach this machine's own loopback.
            http_client=openai.DefaultAsyncHttpxClient(trust_env=not is_loopback(base_url)),
        )

    @property
    def profile(self) -> ModelProfile:
        return self._profile

    @property
    def endpoint(self) -> str:
        return self._endpoint

    async def close(self) -> None:
        await self._client.close()

    async def stream(self, request: ChatRequest) -> AsyncGenerator[TextPiece | Retrying | Completion, None]:
        """See `ChatModel.stream`."""
        attempt = 1
        while True:
            try:
                async with aclosing(self._attempt(request)) as pieces:
                    async for piece in pieces:
                        yield piece
                return
            except FailedError as failed:
                times = self._max_retries if failed.times is None else min(failed.times, self._max_retries)
                if attempt > times:
                    raise await self._final(failed.error) from failed.__cause__
                after_seconds = delay_seconds(attempt, failed.after_seconds, self._retry_delay_seconds)
                yield Retrying(attempt=attempt, after_seconds=after_seconds, reason=str(failed.error))
            await asyncio.sleep(after_seconds)
            attempt += 1

    async def _attempt(self, request: ChatRequest) -> AsyncGenerator[TextPiece | Completion, None]:
        """One request. Raises FailedError if it ends before any text; afterwards it ends as partial."""
        start = time.monotonic()
        names = [tool["function"]["name"] for tool in request.tools]
        assembly = Assembly(names)
        callable_names = [*(names if request.tool_choice != "none" else ()), *request.known_tools]
        gate = CallGate(callable_names if self._dialect.text_calls else ())
        shown: list[str] = []
        kind = trouble = ""
        try:
            create = cast("_Create", self._client.chat.completions.create)
            chunks = await create(**self._params(request))
            kind = chunks.response.headers.get("content-type", "").partition(";")[0]
            async with chunks:
                async for chunk in chunks:
                    if text := gate.feed(assembly.add(_fields(chunk))):
                        shown.append(text)
                        yield TextPiece(text)
        except (openai.OpenAIError, ValueError) as error:
            failed = self._failure(error)
            if not shown:
                raise failed from error
            trouble = str(failed.error)
        if assembly.finish_reason is None or trouble:
            if not shown:
                if kind in _NO_STREAM:
                    raise FailedError(self._no_stream(kind))
                raise FailedError(self._broke_off(), times=None)
            notice = trouble or f"{self._endpoint} ended the answer without saying why"
            yield self._completion(request, assembly, shown, [], "partial", start, [notice])
            return
        rest, text_calls = gate.finish()
        if rest:
            shown.append(rest)
            yield TextPiece(rest)
        yield self._ended(request, assembly, shown, text_calls, start)

    def _ended(
        self, request: ChatRequest, assembly: Assembly, shown: list[str], text_calls: list[ToolCall], start: float
    ) -> Completion:
        """The completion of a stream that ended properly. Raises FailedError if there is nothing in it."""
        notices: list[str] = []
        cut = assembly.finish_reason == "length"
        all_calls = assembly.calls()
        calls = (assembly.calls(whole_only=True) if cut else all_calls) or text_calls
        if cut and len(calls) < len(all_calls):
            notices.append("the reply reached its limit in the middle of a tool call, which was dropped")
        if assembly.finish_reason == "content_filter":
            if not shown and not calls:
                raise FailedError(ModelRefusedError(f"{self._endpoint} withheld the answer (content filter)"))
            notices.append("the provider's content filter cut this answer")
        if not shown and not calls:
            if cut:
                raise FailedError(
                    ModelReplyError("the model used up its reply limit before it said anything: raise reply_tokens")
                )
            # with tools the agent asks again, without them
            times = 0 if request.tools else 1
            raise FailedError(ModelReplyError(f"the model {self._profile.name} returned nothing"), times=times)
        finish: Literal["stop", "length", "tool_calls"] = "length" if cut else "tool_calls" if calls else "stop"
        return self._completion(request, assembly, shown, calls, finish, start, notices)

    def _completion(
        self,
        request: ChatRequest,
        assembly: Assembly,
        shown: list[str],
        calls: list[ToolCall],
        finish_reason: Literal["stop", "length", "tool_calls", "partial"],
        start: float,
        notices: list[str],
    ) -> Completion:
        text = "".join(shown)
        return Completion(
            text=text,
            calls=tuple(calls),
            finish_reason=finish_reason,
            usage=assembly.usage or self._estimate(request, text, calls),
            latency_seconds=time.monotonic() - start,
            notices=tuple(notices),
        )

    def _params(self, request: ChatRequest) -> dict[str, Any]:
        dialect = self._dialect
        params: dict[str, Any] = {"model": self._profile.name, "messages": list(request.messages), "stream": True}
        if dialect.stream_usage:
            params["stream_options"] = {"include_usage": True}
        if request.tools:
            params["tools"] = list(request.tools)
            if request.tool_choice != "auto":
                params["tool_choice"] = request.tool_choice
        if request.max_tokens is not None:
            params[dialect.max_tokens_field] = request.max_tokens
        temperature = dialect.default_temperature if request.temperature is None else request.temperature
        if temperature is None and request.tools:
            temperature = TEMPERATURE_WITH_TOOLS
        if dialect.temperature and temperature is not None:
            params["temperature"] = temperature
        return params

    def _estimate(self, request: ChatRequest, text: str, calls: list[ToolCall]) -> Usage:
        counter = self._counter
        prompt = sum(counter.message(message) for message in request.messages) + counter.tools(request.tools)
        completion = counter.text(text) + sum(counter.text(call.name) + counter.text(call.arguments) for call in calls)
        return Usage(prompt_tokens=prompt + REPLY_PRIMING_TOKENS, completion_tokens=completion, estimated=True)

    # --- what went wrong -------------------------------------------------------------------------

    def _broke_off(self) -> ModelError:
        return ModelUnreachableError(f"{self._endpoint} broke off before it answered; try again")

    def _failure(self, error: openai.OpenAIError | ValueError) -> FailedError:
        """The one mapping of the SDK's errors to ours."""
        if isinstance(error, openai.APITimeoutError):
            if "Connect" in type(error.__cause__).__name__:
                return FailedError(self._nothing_answers(), times=None)
            silence = f"{self._endpoint} said nothing for {self._silence_timeout_seconds:.0f} s"
            return FailedError(ModelUnreachableError(f"{silence}; silence_timeout_seconds sets the limit"))
        if isinstance(error, openai.APIConnectionError):
            refused = "Connect" in type(error.__cause__).__name__
            return FailedError(self._nothing_answers() if refused else self._broke_off(), times=None)
        if isinstance(error, openai.APIStatusError):
            complaint = Complaint(error.status_code, error.code or error.type or "", self._said(error))
            return self._refusal(complaint, _retry_after_seconds(error))
        if isinstance(error, openai.APIError):
            return self._refusal(Complaint(None, error.code or error.type or "", self._said(error)))
        return FailedError(ModelReplyError(f"{self._endpoint} sent what is not JSON: {error}"), times=1)

    def _no_stream(self, kind: str) -> ModelError:
        return ModelReplyError(
            f"{self._endpoint} answered with {kind}, which is no stream of a chat completion: is the address "
            "(base_url) right? Most end in /v1"
        )

    def _nothing_answers(self) -> ModelError:
        return ModelUnreachableError(
            f"nothing answers at {self._endpoint}: is the server running, and the address (base_url) right?"
        )

    def _refusal(self, complaint: Complaint, after_seconds: float | None = None) -> FailedError:
        return refusal(
            complaint,
            endpoint=self._endpoint,
            model=self._profile.name,
            has_key=self._api_key is not None,
            after_seconds=after_seconds,
        )

    def _said(self, error: openai.APIError) -> str:
        """What the server said, in one short line, without the key."""
        body: object = error.body
        if isinstance(body, dict):
            fields = cast("dict[str, Any]", body)
            body = next((fields[key] for key in ("message", "error", "detail") if fields.get(key)), fields)
        text = " ".join(str(body or error.message).split())
        if self._api_key:
            text = text.replace(self._api_key, "…")
        return text if len(text) <= 300 else f"{text[:299]}…"

    async def _final(self, error: ModelError) -> ModelError:
        """The error to raise; an unknown model's names a few that the server lists."""
        if not isinstance(error, ModelNotFoundError):
            return error
        try:
            page = await self._client.with_options(timeout=_LIST_MODELS_SECONDS).models.list()
            names = [model.id for model in page.data or ()]
        except (openai.OpenAIError, ValueError, AttributeError):  # no list, or something else than a list
            return ModelNotFoundError(f"{error}; does the address need /v1 at its end?")
        if not names:
            return error
        more = ", …" if len(names) > _LISTED_MODELS else ""
        return ModelNotFoundError(f"{error}; it lists: {', '.join(names[:_LISTED_MODELS])}{more}")


def _retry_after_seconds(error: openai.APIStatusError) -> float | None:
    """Retry-After as seconds from now, given as a number or a date; None if there is none."""
    value = error.response.headers.get("retry-after", "")
    try:
        return max(0.0, float(value))
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (at.astimezone(UTC) - datetime.now(UTC)).total_seconds())


def _fields(chunk: object) -> dict[str, Any]:
    """A chunk as the server sent it. The SDK does not validate: an event that is no object stays what it is."""
    return chunk.to_dict(mode="python", warnings=False) if isinstance(chunk, ChatCompletionChunk) else {}

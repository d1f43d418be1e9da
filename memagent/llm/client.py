"""Chat completions: what is asked of a model and what comes back.

`ChatModel` is what the agent needs of a model; `openai_chat.OpenAIChat` is the one for any
OpenAI-compatible server. Importing this module loads no SDK.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from memagent.events import Usage
from memagent.llm.profiles import ModelProfile
from stores.records import ToolCall

WireMessage = Mapping[str, Any]
"""One message in the chat-completions format; strict JSON."""
ToolSchema = Mapping[str, Any]
"""``{"type": "function", "function": {name, description, parameters}}``."""


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """One model call. ``max_tokens`` bounds the reply. ``temperature`` None: 0.2 with
    tools, else the server's own (an embedded model: 0). ``known_tools`` names tools that must or can not be
    called by the server's own means now: a call written as text is a call all the same, and no answer."""

    messages: Sequence[WireMessage]
    tools: Sequence[ToolSchema] = ()
    tool_choice: str | Mapping[str, Any] = "auto"
    max_tokens: int | None = None
    temperature: float | None = None
    known_tools: Collection[str] = ()


@dataclass(frozen=True, slots=True)
class TextPiece:
    """The next piece of the answer's text."""

    text: str


@dataclass(frozen=True, slots=True)
class Retrying:
    """The call failed before any text came and will be tried again."""

    attempt: int
    after_seconds: float
    reason: str


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of a reply. ``text`` is all of it, without calls that were written as text (those are
    in ``calls``). "partial": the stream ended without saying why."""

    text: str
    calls: tuple[ToolCall, ...]
    finish_reason: Literal["stop", "length", "tool_calls", "partial"]
    usage: Usage
    latency_seconds: float
    notices: tuple[str, ...] = field(default=())


class ChatModel(Protocol):
    """A model that can be asked."""

    @property
    def profile(self) -> ModelProfile: ...

    @property
    def endpoint(self) -> str:
        """Where it is, for the ledger and messages; never holds a key."""
        ...

    def stream(self, request: ChatRequest) -> AsyncIterator[TextPiece | Retrying | Completion]:
        """Asks. Yields pieces as they come and exactly one Completion, last. Raises a ModelError
        (nothing is retried once text has come). Closing the iterator cancels the request."""
        ...

    async def close(self) -> None: ...

"""The bench's own count of what is sent. It reads the wire, not the manifest, so that it measures the code
that fills both; only the vocabulary is shared."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from memagent import prompts
from memagent.llm.client import ChatRequest
from memagent.llm.tokens import TokenCounter

MESSAGE_TOKENS = 4
CALL_TOKENS = 8
TOOL_TOKENS = 8
REPLY_PRIMING_TOKENS = 3
"""The usual overheads of chat formats, kept here once more on purpose."""


class Scale:
    """Counts texts and requests with one vocabulary, each text once."""

    def __init__(self, encoding: str = "o200k_base") -> None:
        self._count = TokenCounter(encoding).text
        self._known: dict[str, int] = {}

    def text(self, text: str) -> int:
        """Tokens of a text."""
        return self._count(text)

    def beginning(self, text: str, tokens: int) -> str:
        """As much of a text's beginning as takes at most so many tokens."""
        low, high = 0, len(text)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._count(text[:middle]) <= tokens else (low, middle - 1)
        return text[:low]

    def message(self, message: Mapping[str, Any]) -> int:
        """Tokens of a message: its texts, names, ids and arguments, and its overhead."""
        key = segment(message)
        if (known := self._known.get(key)) is None:
            known = self._known[key] = self._message(message)
        return known

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of the tool schemas."""
        return sum(TOOL_TOKENS + self.text(_compact(tool)) for tool in tools)

    def request(self, request: ChatRequest) -> int:
        """Tokens of a whole prompt."""
        return (
            self.tools(request.tools)
            + sum(self.message(message) for message in request.messages)
            + REPLY_PRIMING_TOKENS
        )

    def _message(self, message: Mapping[str, Any]) -> int:
        content = message.get("content") or ""
        parts: Sequence[Mapping[str, Any]] = [{"text": content}] if isinstance(content, str) else content
        total = MESSAGE_TOKENS + sum(self.text(str(part.get("text", ""))) for part in parts)
        total += self.text(str(message.get("name") or "")) + self.text(str(message.get("tool_call_id") or ""))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            total += CALL_TOKENS + sum(
                self.text(text) for text in (call["id"], function["name"], function["arguments"])
            )
        return total


def segment(message: Mapping[str, Any]) -> str:
    """A message as text, as a chat template would write it: what a server's prefix cache sees."""
    content = message.get("content")
    text = content if isinstance(content, str) else _compact(content) if content else ""
    lines = [f"<{message['role']} {message.get('name') or message.get('tool_call_id') or ''}>", text]
    lines += [_compact(call) for call in message.get("tool_calls") or ()]
    return "\n".join(lines) + "\n"


@dataclass(frozen=True, slots=True)
class Turn:
    """One prompt of an answer. ``common_tokens`` is its longest common prefix with the prompt before,
    ``broken`` says that the prompt before is not its beginning, ``over`` that it and the reserve for the
    reply do not fit the window. ``system_tokens`` is the system message, ``recalled_tokens`` what is
    recalled beside the newest user message."""

    exchange: int
    tokens: int
    common_tokens: int
    broken: bool
    over: bool
    system_tokens: int
    recalled_tokens: int


@dataclass(slots=True)
class Meter:
    """Measures prompts one after the other and keeps figures, no prompts (but the last)."""

    window_tokens: int
    scale: Scale
    turns: list[Turn] = field(default_factory=list[Turn])
    helper_requests: int = 0
    helper_tokens: int = 0
    """Prompts and replies of summaries and the like."""
    _before: list[str] = field(default_factory=list[str])

    def answered(self, exchange: int, request: ChatRequest) -> Turn:
        """Measures the prompt of an answer."""
        tokens = self.scale.request(request)
        segments = [_compact(request.tools), *map(segment, request.messages)]
        common = self._common_tokens(segments, request)
        user = next(message for message in reversed(request.messages) if message["role"] == "user")
        turn = Turn(
            exchange=exchange,
            tokens=tokens,
            common_tokens=common,
            broken=bool(self._before) and segments[: len(self._before)] != self._before,
            over=tokens + (request.max_tokens or 0) > self.window_tokens,
            system_tokens=self.scale.message(request.messages[0]),
            recalled_tokens=self.scale.text(recalled_text(user)),
        )
        self._before = segments
        self.turns.append(turn)
        return turn

    def helped(self, request: ChatRequest, reply_tokens: int) -> None:
        """Adds up a call that is no answer."""
        self.helper_requests += 1
        self.helper_tokens += self.scale.request(request) + reply_tokens

    def _common_tokens(self, segments: Sequence[str], request: ChatRequest) -> int:
        equal = next(
            (index for index, pair in enumerate(zip(segments, self._before, strict=False)) if pair[0] != pair[1]),
            min(len(segments), len(self._before)),
        )
        if not equal and not self._before:
            return 0
        common = self.scale.tools(request.tools) if equal else 0
        common += sum(self.scale.message(message) for message in request.messages[: max(0, equal - 1)])
        if equal < min(len(segments), len(self._before)):
            common += self.scale.text(_common(segments[equal], self._before[equal]))
        return common


def recalled_text(message: Mapping[str, Any]) -> str:
    """The part of a user message that memory put before the person's words; "" for none."""
    content = message.get("content")
    text = content if isinstance(content, str) else ""
    start, end = text.find(prompts.text("recalled")), text.find("</context>")
    return text[start:end] if 0 <= start < end else ""


def _common(one: str, other: str) -> str:
    """The longest common beginning of two texts."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return one[:low]


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))

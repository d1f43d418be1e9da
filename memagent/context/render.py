"""From journal entries to chat messages. Pure: the same entries give the same bytes.

The unit is the exchange. A closed one renders as user … assistant; whatever is missing (a result, an
answer) is replaced by an honest line, so that any history is valid for a strict server.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memagent import prompts
from memagent.context.overflow import shorten
from memagent.llm.tokens import TokenCounter
from stores.records import Mark, MarkKind, Message, MessageRole, ToolCall

Wire = dict[str, Any]

# What strict servers accept in these two fields; transcripts from elsewhere hold all sorts.
_NOT_SPEAKER = re.compile(r"[\s<|\\/>]+")
_NOT_TOOL_NAME = re.compile(r"[^A-Za-z0-9_-]+")


@dataclass(frozen=True, slots=True)
class ContextLine:
    """One recalled memory as it was shown."""

    memory_id: str
    version: int
    text: str


@dataclass(frozen=True, slots=True)
class ContextBlock:
    """What stands fenced before the person's words: lines about the moment, then recalled memories."""

    moment: tuple[str, ...] = ()
    recalled: tuple[ContextLine, ...] = ()

    def render(self) -> str:
        """The block with its fence and a blank line after it, or "" when there is nothing to say."""
        lines = [prompts.fenced(line) for line in self.moment]
        if self.recalled:
            lines.append(prompts.text("recalled"))
            lines += ["- " + prompts.fenced(line.text) for line in self.recalled]
        return prompts.text("context", lines="\n".join(lines)) + "\n\n" if lines else ""

    def recalled_raw(self, counter: TokenCounter) -> int:
        """What the recalled part takes, heading included."""
        if not self.recalled:
            return 0
        return max(0, counter.text(self.render()) - counter.text(ContextBlock(self.moment).render()))

    def without(self, memory_ids: frozenset[str]) -> ContextBlock:
        """The block without these memories (forgotten or erased since)."""
        kept = tuple(line for line in self.recalled if line.memory_id not in memory_ids)
        return self if len(kept) == len(self.recalled) else ContextBlock(self.moment, kept)


@dataclass(frozen=True, slots=True)
class Turn:
    """One model call inside an exchange that called tools, and the results in call order."""

    assistant: Message
    results: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """A user message to its final answer. ``user`` is None where a transcript begins with the assistant."""

    id: str
    user: Message | None
    turns: tuple[Turn, ...]
    answer: Message | None
    block: ContextBlock = ContextBlock()
    first_sequence: int = 0

    @property
    def messages(self) -> list[Message]:
        """All that was said in it; stand-ins for results that were never stored have the sequence 0."""
        said = [self.user] if self.user else []
        for turn in self.turns:
            said += [turn.assistant, *turn.results]
        return [*said, self.answer] if self.answer else said


def build_exchange(entries: Sequence[Message | Mark], block: ContextBlock) -> Exchange | None:
    """An exchange from its journal entries in order; None if nobody said anything in it.

    Results are put in call order; a call without one gets a stand-in that says what is known: "not
    started" when no mark says that it was, else, and in an imported transcript, "outcome unknown".
    Results nobody asked for are left out. What was erased has an honest line instead; an exchange of which
    nothing is left is none.
    """
    messages = [entry for entry in entries if isinstance(entry, Message) and entry.role is not MessageRole.NOTE]
    if all(message.erased and not message.calls for message in messages):
        return None
    messages = [_shown(message) for message in messages]
    started = {str(e.data.get("call_id")) for e in entries if isinstance(e, Mark) and e.what is MarkKind.STARTED}
    user = next((m for m in messages if m.role is MessageRole.USER), None)
    turns: list[Turn] = []
    answer: Message | None = None
    for index, message in enumerate(messages):
        if message.role is not MessageRole.ASSISTANT:
            continue
        if message.calls:
            message = _with_distinct_calls(message)
            turns.append(Turn(message, _answered(message, messages[index + 1 :], started)))
            answer = None
        elif message.content.strip() or message.partial:
            answer = message if answer is None or answer.erased else _joined(answer, message)
    return Exchange(entries[0].exchange_id, user, tuple(turns), answer, block, entries[0].sequence)


def _shown(message: Message) -> Message:
    empty = message.erased and not (message.content or message.calls)
    return message.model_copy(update={"content": prompts.text("erased")}) if empty else message


def _answered(message: Message, later: Sequence[Message], started: set[str]) -> tuple[Message, ...]:
    found: dict[str, Message] = {}
    for other in later:
        if other.role is MessageRole.ASSISTANT and any(call.id in found for call in other.calls):
            break  # an id used again belongs to the later message
        if other.role is MessageRole.TOOL and other.call_id is not None:
            found.setdefault(other.call_id, other)
    return tuple(found.get(call.id) or _stand_in(message, call, call.id in started) for call in message.calls)


def _stand_in(message: Message, call: ToolCall, started: bool) -> Message:
    """The result of a call whose real result was never stored."""
    # of a transcript from elsewhere no mark says what was started
    why = "outcome_not_imported" if message.imported else "outcome_unknown" if started else "not_started"
    return Message(
        id=f"{message.id}:{call.id}",
        session_id=message.session_id,
        exchange_id=message.exchange_id,
        at=message.at,
        zone=message.zone,
        role=MessageRole.TOOL,
        content=prompts.text(why),
        name=call.name,
        call_id=call.id,
        failed=True,
    )


def _with_distinct_calls(message: Message) -> Message:
    calls = tuple({call.id: call for call in reversed(message.calls)}.values())[::-1]
    return message if len(calls) == len(message.calls) else message.model_copy(update={"calls": calls})


def _joined(first: Message, second: Message) -> Message:
    if second.erased:
        return first
    text = "\n\n".join(part for part in (first.content, second.content) if part)
    return second.model_copy(update={"content": text})


def user_message(exchange: Exchange, block_text: str) -> Wire:
    """The user message: the fenced block, then the person's words exactly as they were said."""
    message = exchange.user
    if message is None:
        return {"role": "user", "content": block_text + prompts.text("opening")}
    text = block_text + message.content
    wire: Wire = {"role": "user", "content": text if text.strip() else prompts.text("opening")}
    if message.images:
        parts = [{"type": "image_url", "image_url": {"url": image.url}} for image in message.images]
        wire["content"] = [{"type": "text", "text": wire["content"]}, *parts]
    if message.name:
        wire["name"] = _NOT_SPEAKER.sub("_", message.name)[:64]
    return wire


def call_message(turn: Turn, arguments: dict[str, str] | None = None) -> Wire:
    """The assistant message of a turn; ``arguments`` replaces the argument texts of some call ids."""
    replaced = arguments or {}
    return {
        "role": "assistant",
        "content": turn.assistant.content or None,
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {
                    "name": _NOT_TOOL_NAME.sub("_", call.name)[:64] or "unnamed",
                    "arguments": replaced.get(call.id, call.arguments),
                },
            }
            for call in turn.assistant.calls
        ],
    }


def result_message(result: Message, text: str) -> Wire:
    """A tool message; never blank, some servers refuse that."""
    return {"role": "tool", "tool_call_id": result.call_id, "content": text if text.strip() else "(no output)"}


def turn_messages(turn: Turn, cap_raw: int, counter: TokenCounter, freed: frozenset[str] = frozenset()) -> list[Wire]:
    """A turn with each result in at most ``cap_raw`` tokens; of those whose ids are ``freed`` a reference."""
    shown = [
        reference_message(r) if r.id in freed else result_message(r, result_text(r, cap_raw, counter))
        for r in turn.results
    ]
    return [call_message(turn), *shown]


def result_text(result: Message, cap_raw: int, counter: TokenCounter) -> str:
    """What is shown of a result in so many tokens. It came in a larger window, or from a transcript: what is
    left out of it, perhaps the notice of its own preview, can be read under its id."""
    return shorten(result.content, cap_raw, counter.text, "result_narrow", ref=result.id).text


def reference_message(result: Message) -> Wire:
    """A tool message that only says where the result can be read."""
    chars = result.overflow.chars if result.overflow else len(result.content)
    text = prompts.text("freed", chars=f"{chars:,}", at=f"{result.at:%Y-%m-%d %H:%M}", ref=result.id)
    return result_message(result, text)


def answer_message(exchange: Exchange) -> Wire:
    """The final answer, or an honest line where there is none."""
    answer = exchange.answer
    if answer is None:
        return {"role": "assistant", "content": prompts.text("unanswered")}
    if answer.partial:
        text = "\n".join(part for part in (answer.content.rstrip(), prompts.text("cut_off")) if part)
        return {"role": "assistant", "content": text}
    return {"role": "assistant", "content": answer.content}


def shortened_arguments(call: ToolCall, limit_raw: int, counter: TokenCounter) -> str:
    """A call's arguments as a JSON object of about ``limit_raw`` tokens that says what is left out."""
    return json.dumps({"_shortened": shorten(call.arguments, limit_raw, counter.text).text}, ensure_ascii=False)

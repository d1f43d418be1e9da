"""Choosing what recalled text is put beside the newest message. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

from memagent.context.budget import Budget
from memagent.context.manifest import Candidate
from memagent.context.overflow import shorten
from memagent.context.render import ContextBlock, ContextLine
from memagent.llm.tokens import TokenCounter
from memagent.memory.recall import Recalled
from stores.records import Memory, MemoryKind, Trust
from stores.sameness import normalised

_ROLES = frozenset(Trust) | {"system", "developer"}
_NOT_NAME = re.compile(r"[^\w.,'’@&-]+")
SPEAKER_CHARS = 40
LEAST_LINE_RAW = 48
"""A longer memory than this may be shortened so that it does not push out all others."""


def attach(
    found: Sequence[Recalled],
    *,
    question: str,
    moment: tuple[str, ...],
    budget: Budget,
    shown_raw: int,
    limit: int,
    visible: Callable[[Recalled], bool],
    counter: TokenCounter,
) -> tuple[ContextBlock, tuple[Candidate, ...]]:
    """The block for the newest message and, for every memory considered, why it is in or out.

    Rank order is kept. ``visible`` says what the window shows anyway. A person's own cap
    (``recall_limit_tokens``) counts the whole block; the default share counts the recalled part.
    """
    room = budget.recall_raw(shown_raw)
    if budget.recall_limit_tokens is None:
        room += counter.text(ContextBlock(moment).render())
    line_room = max(LEAST_LINE_RAW, room // 3)
    lines: list[ContextLine] = []
    candidates: list[Candidate] = []
    asked = normalised(question)
    for item in found:
        reason = _outside(item, asked, visible, full=len(lines) >= limit)
        if reason is None:
            line = ContextLine(item.memory.id, item.memory.version, line_of(item.memory, line_room, counter))
            if counter.text(ContextBlock(moment, (*lines, line)).render()) <= room:
                lines.append(line)
            else:
                reason = "no room left in the share for recalled text"
        candidates.append(
            Candidate(
                memory_id=item.memory.id,
                kind=item.memory.kind.value,
                text=item.memory.text[:200],
                score=round(item.score, 4),
                included=reason is None,
                why=f"{item.why}; {reason}" if reason else item.why,
            )
        )
    return ContextBlock(moment, tuple(lines)), tuple(candidates)


def _outside(item: Recalled, asked: str, visible: Callable[[Recalled], bool], *, full: bool) -> str | None:
    if normalised(item.memory.text) == asked:
        return "it is the question itself"
    if visible(item):
        return "the window shows it already"
    return "enough memories already" if full else None


def line_of(memory: Memory, limit_raw: int, counter: TokenCounter) -> str:
    """A memory as a line: its date, whose statement it is, the text, visibly shortened if long, and when it
    began and ceased to hold, where that is known."""
    day = _day(memory.said_at, memory.zone)
    # a line is one line: without breaks before it is measured, and around the notice after
    text = " ".join(shorten(" ".join(memory.text.split()), limit_raw, counter.text).text.split())
    if memory.kind is MemoryKind.FACT:
        return f'Kept on {day}{_held(memory)}: "{text}"'
    return f'{_speaker(memory)} said on {day}: "{text}"'


def _held(memory: Memory) -> str:
    since = f", true since {_day(memory.valid_from, memory.zone)}" if memory.valid_from else ""
    until = f", no longer true from {_day(memory.valid_to, memory.zone)} on" if memory.valid_to else ""
    return since + until


def _day(at: datetime, zone: str) -> str:
    return at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%d")


def _speaker(memory: Memory) -> str:
    """Who said it. Names come from outside: one line of letters, and none that passes for another role."""
    name = " ".join(_NOT_NAME.sub(" ", memory.speaker or "").split())[:SPEAKER_CHARS].strip()
    if not name or name.casefold().removeprefix("the ") in _ROLES:
        return f"The {memory.trust.value}"
    return name

"""The profile: the few facts that no similarity finds and that every prompt shows. Pure.

Facts are proposed for it by rule and stand in it once the person has said so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memagent import prompts
from memagent.memory.attributes import USER
from stores.records import Memory, MemoryKind, MemoryState, Pin, Trust

PROPOSED_ATTRIBUTES = frozenset(
    ("name", "home", "diet", "allergy", "language", "family", "job", "birthday", "health", "partner", "children")
)
LINE_CHARS = 300
"""A longer fact is no line of a profile."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a prompt shows of it: the text for the system message ("" for none), the memories in it, and those
    for which there is no room, the one longest unconfirmed first."""

    text: str = ""
    memory_ids: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


NO_PROFILE = Profile()


def belongs(memory: Memory) -> bool:
    """Whether a new fact is to be proposed: what the person said of themselves on a matter of the profile."""
    return (
        memory.kind is MemoryKind.FACT
        and memory.trust is Trust.USER
        and memory.subject == USER
        and (memory.attribute in PROPOSED_ATTRIBUTES or memory.attribute.startswith("preferred "))
        and len(memory.text) <= LINE_CHARS
    )


def made_of(pinned: Sequence[Memory], limit_raw: int, count: Callable[[str], int]) -> Profile:
    """The profile of these facts in at most ``limit_raw`` tokens. Its order is that of the facts as they were
    first said, so that confirming one does not move a byte; where not all fit, those confirmed last stay.
    Facts that no longer hold are not shown."""
    facts = [memory for memory in pinned if _holds(memory)]
    by_age = sorted(facts, key=lambda memory: (_confirmed(memory), memory.id))
    for leaving in range(len(by_age) + 1):
        out = {memory.id for memory in by_age[:leaving]}
        shown = [memory for memory in facts if memory.id not in out]
        text = _rendered(shown)
        if count(text) <= limit_raw:
            ids = tuple(memory.id for memory in shown)
            return Profile(text, ids, tuple(memory.id for memory in by_age[:leaving]))
    return Profile(left_out=tuple(memory.id for memory in by_age))


def _holds(memory: Memory) -> bool:
    return memory.pin is Pin.PINNED and memory.state is MemoryState.ACTIVE and memory.valid_to is None


def _confirmed(memory: Memory) -> datetime:
    return memory.confirmed_at or memory.said_at


def _rendered(facts: Sequence[Memory]) -> str:
    if not facts:
        return ""
    lines = "\n".join("- " + prompts.fenced(" ".join(memory.text.split())) for memory in facts)
    return prompts.text("profile", facts=lines)

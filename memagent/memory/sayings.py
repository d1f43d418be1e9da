"""The messages that said a fact: what happens to it happens to those that said nothing else, or recall would give
back the same words a moment later. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import chain

from memagent.memory.worth import content, share
from stores.records import Memory, MemoryKind, MemoryState

SAYS_IT = 0.75
"""So much of what a message says must be in the fact for it to have said nothing else."""


def forgotten_with(fact: Memory, related: Sequence[Memory]) -> list[Memory]:
    """The messages' memories that go with a fact, as they are then. ``related`` is what came of the fact's sources."""
    changes = {"state": MemoryState.FORGOTTEN, "reason": _went_with(fact)}
    return [_changed(one, changes) for one in _saying(fact, related) if one.state is MemoryState.ACTIVE]


def restored_with(fact: Memory, related: Sequence[Memory]) -> list[Memory]:
    """Those that went with the fact and come back with it."""
    went = [one for one in related if one.state is MemoryState.FORGOTTEN and one.reason == _went_with(fact)]
    return [_changed(one, {"state": MemoryState.ACTIVE, "reason": ""}) for one in went]


def ended_with(fact: Memory, related: Sequence[Memory], at: datetime) -> list[Memory]:
    """Those that said what the fact said before it was reworded: it was so then, and is no more."""
    changes = {"superseded_by": fact.id, "valid_to": at, "reason": "the person reworded what it says"}
    return [_changed(one, changes) for one in _saying(fact, related) if one.superseded_by is None]


def best_source(text: str, said: Sequence[tuple[str, str]]) -> str | None:
    """Which of the messages, as (id, words), oldest first, says most of a text; None if none says any of it."""
    wanted = content(text)
    found = max(reversed(said), key=lambda each: share(wanted, content(each[1])), default=None)
    return found[0] if found is not None and share(wanted, content(found[1])) >= SAYS_IT else None


def _saying(fact: Memory, related: Sequence[Memory]) -> list[Memory]:
    """Messages that said this fact and nothing else that holds."""
    others = [
        one for one in related if one.kind is MemoryKind.FACT and one.id != fact.id and one.state is MemoryState.ACTIVE
    ]
    kept = set(chain.from_iterable(other.sources for other in others))
    return [
        one
        for one in related
        if one.kind is MemoryKind.EPISODE
        and not kept.intersection(one.sources)
        and share(content(one.text), content(fact.text)) >= SAYS_IT
    ]


def _went_with(fact: Memory) -> str:
    return f"it said nothing but memory {fact.id}, which was forgotten"


def _changed(memory: Memory, changes: Mapping[str, object]) -> Memory:
    return memory.model_copy(update={**changes, "version": memory.version + 1})

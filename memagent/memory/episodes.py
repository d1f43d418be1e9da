"""Memories that follow from the journal alone: an episode for each message of past talk, a fact for
each text the person asked to keep. Pure; recall never depends on a model."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from hashlib import blake2b

from memagent.memory.attributes import attribute_of, subject_of
from memagent.memory.never import NeverPatterns
from stores.records import (
    Mark,
    MarkKind,
    Memory,
    MemoryKind,
    MemoryState,
    Message,
    MessageRole,
    Source,
    Trust,
)

NOT_YOURS = "the model kept it, but not in the person's words; approve it if it is true"
_NO_PATTERNS = NeverPatterns()
_TRUST = {MessageRole.USER: Trust.USER, MessageRole.ASSISTANT: Trust.ASSISTANT}


def memories_of(entries: Sequence[Message | Mark], now: datetime, never: NeverPatterns = _NO_PATTERNS) -> list[Memory]:
    """The memories of journal entries, in their order; ids follow from the entries, so making them
    twice is harmless. Tool results, notes, what was fenced into a prompt, what the person asked not
    to remember and what matches a pattern of theirs give none."""
    memories: list[Memory] = []
    taken_back = {key for entry in entries if isinstance(entry, Mark) for key in taken_back_by(entry)}
    for entry in entries:
        if isinstance(entry, Mark):
            if entry.what is MarkKind.REMEMBERED and not (entry.erased or never.matching(str(entry.data["text"]))):
                memories.append(fact_of(entry, now))
        elif _gives_episode(entry, never) and (entry.session_id, entry.id) not in taken_back:
            memories.append(_episode_of(entry, now))
    return memories


def _gives_episode(entry: Message, never: NeverPatterns) -> bool:
    said = entry.role in _TRUST and bool(entry.content.strip())
    return said and entry.remember and never.matching(entry.content) is None


def taken_back_by(mark: Mark) -> tuple[tuple[str, str], ...]:
    """(session, entry) of the messages that a NOT_REMEMBERED mark names; () for another mark."""
    named = mark.data.get("entry_ids")
    ids = named if mark.what is MarkKind.NOT_REMEMBERED and isinstance(named, list) else []
    return tuple((mark.session_id, str(entry_id)) for entry_id in ids)


def _episode_of(entry: Message, now: datetime) -> Memory:
    return Memory(
        id=episode_id(entry),
        kind=MemoryKind.EPISODE,
        text=entry.content,
        trust=_TRUST[entry.role],
        said_at=entry.at,
        recorded_at=now,
        zone=entry.zone,
        session_id=entry.session_id,
        speaker=entry.name or entry.role.value,
        sources=(Source(session_id=entry.session_id, entry_id=entry.id),),
    )


def episode_id(entry: Message) -> str:
    """The id of a message's episode."""
    if not entry.imported:
        return f"e-{entry.id}"
    # ids from elsewhere are unique in their session only: many transcripts begin with "1"
    return f"e-{blake2b(json.dumps([entry.session_id, entry.id]).encode(), digest_size=10).hexdigest()}"


def fact_of(mark: Mark, now: datetime) -> Memory:
    """The fact of a REMEMBERED mark."""
    text = str(mark.data["text"])
    state = MemoryState(str(mark.data.get("state", MemoryState.ACTIVE)))
    return Memory(
        id=str(mark.data["memory_id"]),
        kind=MemoryKind.FACT,
        text=text,
        subject=subject_of("", text),
        attribute=attribute_of("", text),
        confirmed_at=mark.at,
        state=state,
        reason="" if state is MemoryState.ACTIVE else NOT_YOURS,
        trust=Trust(str(mark.data["trust"])),
        said_at=mark.at,
        recorded_at=now,
        zone=mark.zone,
        session_id=mark.session_id,
        # the message that says it, where the model kept it: what happens to that happens to the fact
        sources=(Source(session_id=mark.session_id, entry_id=str(mark.data.get("said_in", mark.id))),),
    )

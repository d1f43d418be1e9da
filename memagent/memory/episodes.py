"""Memories that follow from the journal alone: an episode for each message of past talk, a fact for
each text the person asked to keep. Pure; recall never depends on a model."""

from __future__ import annotations

import json
from collections.abc import Iterable
from datetime import datetime
from hashlib import blake2b

from stores.records import Mark, MarkKind, Memory, MemoryKind, Message, MessageRole, Source, Trust

_TRUST = {MessageRole.USER: Trust.USER, MessageRole.ASSISTANT: Trust.ASSISTANT}


def memories_of(entries: Iterable[Message | Mark], now: datetime) -> list[Memory]:
    """The memories of journal entries, in their order; ids follow from the entries, so making them
    twice is harmless. Tool results, notes, what was fenced into a prompt and what the person asked not
    to remember give none."""
    memories: list[Memory] = []
    for entry in entries:
        if isinstance(entry, Mark):
            if entry.what is MarkKind.REMEMBERED and not entry.erased:
                memories.append(fact_of(entry, now))
        elif entry.role in _TRUST and entry.remember and entry.content.strip():
            memories.append(_episode_of(entry, now))
    return memories


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
    return Memory(
        id=str(mark.data["memory_id"]),
        kind=MemoryKind.FACT,
        text=str(mark.data["text"]),
        trust=Trust(str(mark.data["trust"])),
        said_at=mark.at,
        recorded_at=now,
        zone=mark.zone,
        session_id=mark.session_id,
        sources=(Source(session_id=mark.session_id, entry_id=mark.id),),
    )

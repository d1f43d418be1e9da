"""What is read to learn from: the person's messages of some exchanges, with what stood around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memagent.agent.rooms import Rooms
from memagent.context.directives.sentences import sentences
from memagent.memory.episodes import episode_id, taken_back_by
from memagent.memory.extract import Draft, Said
from memagent.memory.never import NeverPatterns
from memagent.memory.passages import ECHO_TOOLS
from stores.base import Basis
from stores.records import MarkKind, Memory, MemoryState, Message, MessageRole, Source

EARLIER = 4
"""So many messages before the first exchange are shown, only to be understood."""
PAGE = 200
MOST_PAGES = 5
_NOT_LEARNED_FROM = ECHO_TOOLS | {"recall", "remember", "search_history", "expand_summary", "read_output"}
"""Tools that only repeat what memory holds: what was recalled is never learned again."""


@dataclass(frozen=True, slots=True)
class Batch:
    """``said`` may be learned from; ``earlier`` came before."""

    said: tuple[Said, ...] = ()
    earlier: tuple[Said, ...] = ()


class Reader:
    """Reads the journal of the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def batch(self, session_id: str, exchange_ids: Sequence[str]) -> Batch:
        """The exchanges' messages, oldest first. Not those which are not to be remembered, or match a pattern
        of the person's, or whose memory was made forgotten; no notes; no results of memagent's own searches.
        Raises StoreError."""
        messages = await self._messages(session_id, exchange_ids)
        allowed = await self._allowed(messages)
        wanted = set(exchange_ids)
        first = next((n for n, m in enumerate(messages) if m.exchange_id in wanted), len(messages))
        said = [_said(m) for m in messages[first:] if m.exchange_id in wanted and m.id in allowed]
        earlier = [_said(m) for m in messages[:first] if m.id in allowed and m.role is not MessageRole.TOOL]
        return Batch(tuple(said), tuple(earlier[-EARLIER:]))

    async def vet(self, drafts: Sequence[Draft]) -> tuple[list[Draft], Basis]:
        """Those of the facts that no pattern forbids and whose messages the person has not taken back, forgotten or
        erased by now; and what that rests on."""
        rooms = self._rooms
        await rooms.indexer.catch_up(rooms.scope)
        cursor = await rooms.stores.memories.cursor(rooms.scope)
        patterns = await rooms.stores.never.list(rooms.scope)
        never = NeverPatterns(patterns)
        wanted = list(dict.fromkeys(source for draft in drafts for source in draft.sources))
        entries = await rooms.stores.journal.get(rooms.scope, [source.entry_id for source in wanted])
        messages = [entry for entry in entries if isinstance(entry, Message) and entry.remember and not entry.erased]
        forgotten, episodes = await self._forgotten(messages)
        kept = {(m.session_id, m.id) for m in messages} - forgotten
        left = [
            draft
            for draft in drafts
            if all((s.session_id, s.entry_id) in kept for s in draft.sources) and never.matching(draft.text) is None
        ]
        sources = list(dict.fromkeys(source for draft in left for source in draft.sources))
        return left, Basis(cursor=cursor, never=patterns, sources=sources, memories=episodes)

    async def _messages(self, session_id: str, exchange_ids: Sequence[str]) -> list[Message]:
        """From a little before the first exchange to the end of the last."""
        rooms = self._rooms
        heads = await rooms.stores.journal.get(rooms.scope, list(exchange_ids))
        sequences = [entry.sequence for entry in heads if entry.session_id == session_id]
        if not sequences:
            return []
        after, last = max(0, min(sequences) - 1 - EARLIER * 3), max(sequences)
        found: list[Message] = []
        for _ in range(MOST_PAGES + len(sequences)):
            page = await rooms.stores.journal.read(rooms.scope, session_id, after_sequence=after, limit=PAGE)
            found += [entry for entry in page if isinstance(entry, Message)]
            if len(page) < PAGE or page[0].sequence > last:
                break
            after = page[-1].sequence
        return found

    async def _allowed(self, messages: Sequence[Message]) -> set[str]:
        rooms = self._rooms
        never = NeverPatterns(await rooms.stores.never.list(rooms.scope))
        forgotten, _ = await self._forgotten(messages)
        return {
            message.id
            for message in messages
            if message.remember
            and message.role is not MessageRole.NOTE
            and message.content.strip()
            and not (message.role is MessageRole.TOOL and message.name in _NOT_LEARNED_FROM)
            and (message.session_id, message.id) not in forgotten
            and not never.matching(message.content)
        }

    async def _forgotten(self, messages: Sequence[Message]) -> tuple[set[tuple[str, str]], list[Memory]]:
        """(session, entry) of those whose episode the person made forgotten, or that he took back before there was
        one; and all their episodes."""
        by_episode = {episode_id(message): (message.session_id, message.id) for message in messages}
        episodes = await self._rooms.stores.memories.get(self._rooms.scope, list(by_episode))
        forgotten = {by_episode[m.id] for m in episodes if m.state is MemoryState.FORGOTTEN}
        return forgotten | (await self._taken_back(messages) - {by_episode[m.id] for m in episodes}), episodes

    async def _taken_back(self, messages: Sequence[Message]) -> set[tuple[str, str]]:
        rooms = self._rooms
        marks = [
            mark
            for session_id in {message.session_id for message in messages}
            for mark in await rooms.stores.journal.marks(rooms.scope, session_id, MarkKind.NOT_REMEMBERED)
        ]
        return {key for mark in marks for key in taken_back_by(mark)}


def _said(message: Message) -> Said:
    own = sentences(message.content) if message.role is MessageRole.USER else []
    return Said(
        source=Source(session_id=message.session_id, entry_id=message.id),
        role=message.role,
        at=message.at,
        zone=message.zone,
        text=message.content,
        own=tuple(sentence.text for sentence in own if not sentence.after_paste),
        about=message.name if message.role is MessageRole.USER else None,
    )

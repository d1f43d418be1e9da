"""Explaining prompts that were sent: their manifests, what changed, where something is, and making one again.

Reads only; needs no model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from memagent.agent.marks import find_mark
from memagent.agent.replaying import Replay, Replayer
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import recalled_items
from memagent.agent.sessions import Sessions
from memagent.context.explain import (
    PromptDiff,
    RecalledBeside,
    Shown,
    Step,
    Whereabouts,
    entry_whereabouts,
    memory_whereabouts,
    prompt_diff,
)
from memagent.context.manifest import Manifest, kept_manifest
from memagent.context.view import View, summary_of, view_of
from memagent.errors import NotFoundError
from memagent.sanitize import clean_text
from stores.records import Mark, MarkKind, Memory, Message

MANIFESTS = 20


class Explainer:
    """Explains the session that ``session_id()`` names, or another one of the same person. ``begin`` raises
    AgentClosedError."""

    def __init__(self, rooms: Rooms, *, session_id: Callable[[], str], begin: Callable[[], None]) -> None:
        self._rooms = rooms
        self._session_id = session_id
        self._begin = begin
        self._sessions = Sessions(rooms)
        self._replayer = Replayer(rooms)

    async def manifests(self, session: str | None, *, limit: int | None = MANIFESTS) -> list[Manifest]:
        """Of the newest prompts, newest first. Raises NotFoundError for a session that does not exist."""
        session_id = await self._session(session)
        kept = await self._rooms.stores.manifests.list(self._rooms.scope, session_id, limit=limit)
        return [kept_manifest(one) for one in kept]

    async def diff(self, first: int | None, second: int | None, session: str | None) -> PromptDiff:
        """What changed from one prompt to another. Numbers count from 1, or from the end if negative; without
        the second the last one is meant, without both the last two. Raises NotFoundError."""
        session_id = await self._session(session)
        one = await self._manifest(session_id, -2 if first is None else first)
        two = await self._manifest(session_id, -1 if second is None else second)
        return prompt_diff(one, two, await self._view(session_id, one), await self._view(session_id, two))

    async def why(self, wanted: str, session: str | None) -> Whereabouts:
        """Where an entry, a summary or a memory (an id, or the beginning of one) is in its session's last
        prompt, or when and why it left. Raises NotFoundError."""
        session_id = await self._session(session)
        found = await self._find(clean_text(wanted).strip(), session_id)
        if isinstance(found, Memory):
            return memory_whereabouts(
                found, session_id, await self._shown(session_id), await self._beside(session_id, found.id)
            )
        return entry_whereabouts(found, await self._shown(found.session_id))

    async def replay(self, number: int, session: str | None) -> Replay:
        """Makes a prompt again; numbers as for `diff`. Raises NotFoundError."""
        session_id = await self._session(session)
        return await self._replayer.replay(session_id, await self._number(session_id, number))

    # --- finding -------------------------------------------------------------------------------

    async def _session(self, session: str | None) -> str:
        self._begin()
        return await self._sessions.find(session) if session else self._session_id()

    async def _number(self, session_id: str, number: int) -> int:
        newest = await self._rooms.stores.manifests.list(self._rooms.scope, session_id, limit=1)
        if not newest:
            raise NotFoundError("no prompt was sent in this session yet")
        exact = number if number > 0 else newest[0].number + 1 + number
        if not 0 < exact <= newest[0].number:
            last = newest[0].number
            raise NotFoundError(
                f"this session has no prompt number {number}: it has {last}, numbered from 1 (-1: the last)"
            )
        return exact

    async def _manifest(self, session_id: str, number: int) -> Manifest:
        exact = await self._number(session_id, number)
        (kept,) = await self._rooms.stores.manifests.list(self._rooms.scope, session_id, number=exact)
        return kept_manifest(kept)

    async def _find(self, wanted: str, session_id: str) -> Message | Mark | Memory:
        stores, scope = self._rooms.stores, self._rooms.scope
        entries = await stores.journal.get(scope, [wanted]) if wanted else []
        exact = [
            *(e for e in entries if e.session_id == session_id),
            *entries,
            *await stores.memories.get(scope, [wanted]),
        ]
        if exact:
            return exact[0]
        known: list[Message | Mark | Memory] = [
            *await stores.journal.read(scope, session_id),
            *await stores.memories.list(scope),
        ]
        begins = [one for one in known if wanted and one.id.startswith(wanted)]
        if len(begins) != 1:
            what = "nothing has" if not begins else f"{len(begins)} things have"
            raise NotFoundError(f"{what} an id that begins with {wanted!r} in this session or among the memories")
        return begins[0]

    # --- what was shown ------------------------------------------------------------------------

    async def _view(self, session_id: str, manifest: Manifest) -> View:
        return view_of(await find_mark(self._rooms, session_id, manifest.cut_id))

    async def _shown(self, session_id: str) -> Shown | None:
        kept = await self._rooms.stores.manifests.list(self._rooms.scope, session_id, limit=1)
        if not kept:
            return None
        manifest = kept_manifest(kept[0])
        steps: list[Step] = []
        mark = await find_mark(self._rooms, session_id, manifest.cut_id)
        while mark is not None:
            view = view_of(mark)
            steps.append(Step(mark.id, mark.at, view))
            mark = await find_mark(self._rooms, session_id, view.previous)
        shown = steps[0].view if steps else View()
        return Shown(manifest, shown, steps, await self._ranges(session_id, shown.summary_ids))

    async def _ranges(self, session_id: str, summary_ids: Iterable[str]) -> dict[str, tuple[int, int]]:
        marks = [await find_mark(self._rooms, session_id, summary_id) for summary_id in summary_ids]
        summaries = [summary_of(mark) for mark in marks if mark is not None]
        return {summary.id: (summary.first_sequence, summary.last_sequence) for summary in summaries}

    async def _beside(self, session_id: str, memory_id: str) -> list[RecalledBeside]:
        entries = await self._rooms.stores.journal.read(self._rooms.scope, session_id)
        return [
            RecalledBeside(entry.exchange_id, entry.sequence, version)
            for entry in entries
            if isinstance(entry, Mark) and entry.what is MarkKind.CONTEXT
            for recalled_id, version, _ in recalled_items(entry)
            if recalled_id == memory_id
        ]

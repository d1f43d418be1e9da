"""Looking back at what prompts no longer show: outputs, summaries, the whole history; for a host, a person
and the model."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Set

from memagent.agent.opened import Opened
from memagent.agent.overflowing import SMALLEST_BOUNDED_RAW
from memagent.agent.reading_back import PAGE_TOKENS, ReadBack, Selection
from memagent.agent.rooms import Rooms
from memagent.agent.searching import Searching
from memagent.agent.session_view import SessionView
from memagent.agent.sessions import Sessions
from memagent.errors import NotFoundError
from memagent.llm.tokens import TokenCounter
from memagent.memory.hits import HistoryHit
from stores.errors import StoreError
from stores.records import Mark, Message

Ready = Callable[[], Awaitable[tuple[Opened, SessionView]]]
"""The open model and the session's view. Raises a ModelError, AgentClosedError."""


class LookingBack:
    """Reads and searches, from the session that the assistant is in. ``begin`` raises AgentClosedError, and
    begins indexing; ``asking`` are the ids of the entries that ask just now: no search finds them."""

    def __init__(
        self,
        rooms: Rooms,
        *,
        session_id: Callable[[], str],
        begin: Callable[[], None],
        ready: Ready,
        asking: Callable[[], Set[str]],
    ) -> None:
        self._session_id = session_id
        self._begin = begin
        self._ready = ready
        self._asking = asking
        self._searching = Searching(rooms, Sessions(rooms))
        self._read_back = ReadBack(rooms, rooms.host_tools)

    async def read_output(self, ref: str, selection: Selection) -> str:
        """All of an entry's text, byte for byte, or the page that a selection asks for. Raises NotFoundError,
        StoreError."""
        self._begin()
        entry = await self._read_back.find(ref, self._session_id())
        if selection.is_all:
            return await self._read_back.whole(entry)
        count = await asyncio.to_thread(lambda: TokenCounter().text)
        return await self._read_back.page(
            entry, selection, session_id=self._session_id(), limit_raw=PAGE_TOKENS, count=count
        )

    async def expand(self, summary_id: str) -> list[Message]:
        """What a summary of this session stands for, oldest first. The beginning of a shown one's id will do.
        Raises NotFoundError."""
        self._begin()
        return await self._read_back.messages(await self._summary(summary_id))

    async def search_history(self, query: str, wanted: str | None, limit: int) -> list[HistoryHit]:
        """Places in what was said or returned, best first; of this session, of another, or of "all". Raises
        NotFoundError for an unknown session."""
        self._begin()
        return await self._searching.search(query, wanted, self._session_id(), limit)

    async def search_for_model(self, query: str, everywhere: bool) -> str:
        """Lines for the model; "" when nothing was found."""
        opened, _ = await self._ready()
        return await self._searching.for_model(
            query,
            everywhere,
            self._session_id(),
            self._asking(),
            cap_raw=opened.overflowing.cap_raw("search_history", opened.overflowing.results),
            count=opened.counter.text,
        )

    async def read_for_model(self, ref: str, selection: Selection) -> str:
        """A page, or a line that says why there is none."""
        try:
            return await self._page(await self._read_back.find(ref, self._session_id()), selection)
        except (NotFoundError, StoreError) as error:
            return f"[{error}]"

    async def expand_for_model(self, summary_id: str) -> str:
        """The first page of what a summary stands for; it says how to go on."""
        try:
            return await self._page(await self._summary(summary_id), Selection())
        except (NotFoundError, StoreError) as error:
            return f"[{error}]"

    async def _page(self, entry: Message | Mark, selection: Selection) -> str:
        opened, _ = await self._ready()
        budget = opened.composer.budget
        cap_raw = max(SMALLEST_BOUNDED_RAW, budget.result_raw(opened.overflowing.results))
        return await self._read_back.page(
            entry,
            selection,
            session_id=self._session_id(),
            limit_raw=self._read_back.limit_raw(entry, cap_raw, budget.margin_percent),
            count=opened.counter.text,
        )

    async def _summary(self, summary_id: str) -> Mark:
        """Shown or not: a condensed summary links to those it was made of."""
        try:
            found = await self._read_back.find(summary_id, self._session_id())
        except NotFoundError:
            opened, view = await self._ready()
            await view.refresh()
            found = await self._read_back.find(opened.reviser.find(view, summary_id).id, self._session_id())
        if not isinstance(found, Mark):
            raise NotFoundError(f"{summary_id!r} is a message, not a summary; read_output shows it")
        return found

"""What a person may do with summaries: take a compaction back, reword one."""

from __future__ import annotations

from collections.abc import Sequence

from memagent.agent.composing import Composer
from memagent.agent.marks import find_mark, summary_mark, view_mark
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.budget import SUMMARIES_PERCENT
from memagent.context.view import Summary, View, view_of
from memagent.errors import ContextError, NotFoundError
from memagent.events import Compacted
from memagent.llm.tokens import TokenCounter
from memagent.sanitize import clean_text


class Reviser:
    """Changes what is shown of a session, always by one more mark: nothing is overwritten."""

    def __init__(self, rooms: Rooms, composer: Composer, counter: TokenCounter) -> None:
        self._rooms = rooms
        self._composer = composer
        self._counter = counter

    async def undo(self, view: SessionView) -> Compacted:
        """Shows the session as it was before the last change of its view; that was an undo, perhaps. No
        compaction comes by itself afterwards until a prompt would not fit. Raises ContextError if there is
        nothing to undo, or the older view does not fit the window."""
        await view.refresh()
        if not view.cut_id:
            raise ContextError("there is nothing to undo: nothing of this session was compacted")
        older = await find_mark(self._rooms, view.session_id, view.shown.previous)
        past = self._composer.new_view(view.session_id)
        await past.load_at(older)
        budget = self._composer.budget
        size, limit = budget.estimated(self._composer.talk_raw(past)), budget.budget_tokens
        if size > limit:
            raise ContextError(
                f"this cannot be undone: the prompt would take {size:,} tokens, and {limit:,} fit. "
                "search_history and /expand show what is summarised"
            )
        done = Compacted(
            cause="undo",
            exchanges=0,
            before_tokens=budget.estimated(self._composer.talk_raw(view)),
            after_tokens=size,
        )
        changes = {"cause": "undo", "hold": True}
        await self._show(view, view_of(older).model_copy(update=changes), done, [])
        return done

    async def edit(self, view: SessionView, summary_id: str, text: str) -> Summary:
        """Replaces the text of a summary that is shown. Raises NotFoundError, ContextError for a text that is
        empty or too long."""
        await view.refresh()
        old = self.find(view, summary_id)
        text = clean_text(text).strip()
        tokens = self._counter.text(text)
        most = self._composer.budget.share_raw(SUMMARIES_PERCENT)
        rest = sum(summary.tokens for summary in view.summaries if summary.id != old.id)
        if not text:
            raise ContextError("a summary cannot be empty; /undo takes the compaction back")
        if rest + tokens > most and tokens > old.tokens:
            raise ContextError(
                f"this text takes {tokens:,} tokens; {max(0, most - rest):,} are free for it. Shorten it."
            )
        changes = {"id": self._rooms.new_id(), "text": text, "tokens": tokens, "made_by": "person"}
        new = old.model_copy(update={**changes, "source_ids": (old.id,)})
        ids = tuple(new.id if i == old.id else i for i in view.shown.summary_ids)
        size = self._composer.budget.estimated(self._composer.talk_raw(view))
        done = Compacted(cause="edited", exchanges=0, before_tokens=size, after_tokens=size)
        await self._show(view, view.shown.model_copy(update={"summary_ids": ids, "cause": "edited"}), done, [new])
        return new

    def find(self, view: SessionView, summary_id: str) -> Summary:
        """A summary that is shown, by its id or the beginning of it. Raises NotFoundError."""
        wanted = clean_text(summary_id).strip()
        found = [s for s in view.summaries if wanted and s.id.startswith(wanted)]
        if len(found) != 1:
            shown = ", ".join(s.id for s in view.summaries) or "none"
            raise NotFoundError(f"no summary {wanted!r} is shown in this session; shown are: {shown}")
        return found[0]

    async def _show(self, view: SessionView, shown: View, done: Compacted, new: Sequence[Summary]) -> None:
        figures = done.model_dump(include={"exchanges", "before_tokens", "after_tokens"})
        next_view = shown.model_copy(update={"previous": view.cut_id, **figures})
        marks = [summary_mark(self._rooms, view.session_id, summary) for summary in new]
        marks.append(view_mark(self._rooms, view.session_id, next_view))
        await self._rooms.stores.journal.append(self._rooms.scope, marks)
        await view.refresh()

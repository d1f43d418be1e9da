"""Making the summaries of one compaction: leaves of what leaves, condensed ones where they become too many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from memagent import prompts
from memagent.agent.helper_calls import HelperFailedError, HelperModel, Task
from memagent.context.budget import SUMMARIES_PERCENT, Budget
from memagent.context.material import Source, sources
from memagent.context.overflow import shorten
from memagent.context.summary import (
    PROSE_PERCENT,
    Checked,
    SummaryRejectedError,
    checked_condensed,
    checked_leaf,
    extract_condensed,
    extract_leaf,
    leaf_limit,
)
from memagent.context.view import Summary
from memagent.llm.tokens import TokenCounter

SUMMARISE = "summarise"
"""The role under which the ledger has these calls."""
MOST_CALLS = 12
"""Of one compaction. What is older than so many requests hold is extracted, not summarised."""
LEAF_SHARE = 6
"""One new summary takes at most the sixth part of what all may take."""
LEAST_LEAF_RAW = 48
LEAST_ROOM_RAW = 256
REPLY_PERCENT = 25
"""Of the window, the most that a summary may take to write."""
LEAST_REPLY_TOKENS = 96
KEEP_PERCENT = 5
"""Of the window, the most that the person's wish takes in the request."""
WORDS_PER_TOKEN = 0.7
FRAME_RAW = 16
"""The line above a summary in the prompt."""
_ANY_ROOM = 1 << 40


@dataclass(frozen=True, slots=True)
class Wish:
    """How summaries are to be made. ``use_model`` False: extract only. ``fall_back``: when the model fails,
    extract; else the failure is raised. ``keep``: what the person wants kept."""

    session_id: str
    use_model: bool = True
    fall_back: bool = False
    keep: str = ""


def leaf_most_raw(budget: Budget) -> int:
    """The most that one new summary takes."""
    return budget.share_raw(SUMMARIES_PERCENT) // LEAF_SHARE


class SummaryBatch:
    """The summaries of one compaction. ``written`` are all that were made, in order; ``failure`` says why
    something was extracted after all; ``dropped`` holds orders that nobody gave."""

    def __init__(
        self, helper: HelperModel, counter: TokenCounter, new_id: Callable[[], str], budget: Budget, wish: Wish
    ) -> None:
        self.written: list[Summary] = []
        self.failure: str | None = None
        self.dropped: list[str] = []
        self._helper = helper
        self._counter = counter
        self._new_id = new_id
        self._budget = budget
        self._wish = wish

    @property
    def extracted(self) -> bool:
        """Whether an extract stands in for a summary."""
        return any(summary.made_by == "extract" for summary in self.written)

    @property
    def answered(self) -> bool:
        """Whether the model made a summary, and never failed."""
        return self.failure is None and any(summary.made_by == "model" for summary in self.written)

    def calls_for(self, units: Sequence[Source]) -> int:
        """How many requests it takes to read these units."""
        return len(self._sources(units)) if units else 0

    async def leaves(self, units: Sequence[Source], others: Sequence[Summary]) -> list[Summary]:
        """A summary for each run of units that one request can hold, oldest first; ``others`` are shown
        already and not repeated. Raises HelperFailedError."""
        if not units:
            return []
        read = self._sources(units) if self._wish.use_model else []
        old, new = read[: max(0, len(read) - MOST_CALLS)], read[-MOST_CALLS:]
        most = min(leaf_most_raw(self._budget), self._budget.share_raw(SUMMARIES_PERCENT) // (len(new) + 1))
        made: list[Summary] = []
        if old or not new:
            upto = old[-1].last_sequence if old else units[-1].last_sequence
            (source,) = sources([u for u in units if u.first_sequence <= upto], _ANY_ROOM, self._counter)
            made.append(self._leaf(source, None, max(LEAST_LEAF_RAW, most)))
        for source in new:
            limit = leaf_limit(source.tokens_raw, max(LEAST_LEAF_RAW, most))
            known = [summary.text for summary in (*others, *made)]
            checked = await self._attempt(
                "summarise", source.text, limit, _leaf_check(source, known, limit, self._counter)
            )
            made.append(self._leaf(source, checked, limit))
        self.written += made
        return made

    async def within(self, cap_raw: int, summaries: Sequence[Summary]) -> list[Summary]:
        """The summaries to show, oldest first: the older ones condensed into one where all together take more
        than ``cap_raw``. Raises HelperFailedError."""
        sizes = [summary.tokens + FRAME_RAW for summary in summaries]
        if sum(sizes) <= cap_raw:
            return list(summaries)
        kept = 0
        while kept < len(summaries) - 1 and sum(sizes[-kept - 1 :]) <= cap_raw // 2:
            kept += 1
        old = summaries[: len(summaries) - kept]
        condensed = await self._condensed(old, cap_raw // 2 - FRAME_RAW)
        self.written.append(condensed)
        return [condensed, *summaries[len(old) :]]

    def _leaf(self, source: Source, checked: Checked | None, limit_raw: int) -> Summary:
        text = checked.text if checked else extract_leaf(source, limit_raw, self._counter.text)
        return Summary(
            id=self._new_id(),
            text=text,
            first_sequence=source.first_sequence,
            last_sequence=source.last_sequence,
            tokens=self._counter.text(text),
            source_tokens=source.tokens_raw,
            made_by="model" if checked else "extract",
        )

    async def _condensed(self, old: Sequence[Summary], limit_raw: int) -> Summary:
        texts = [summary.text for summary in old]
        count = self._counter.text
        checked = await self._attempt(
            "condense", "\n\n".join(texts), limit_raw, lambda reply: checked_condensed(reply, texts, limit_raw, count)
        )
        text = checked.text if checked else extract_condensed(texts, limit_raw, count)
        return Summary(
            id=self._new_id(),
            level="condensed",
            text=text,
            first_sequence=old[0].first_sequence,
            last_sequence=old[-1].last_sequence,
            source_ids=tuple(summary.id for summary in old),
            tokens=count(text),
            source_tokens=sum(summary.source_tokens for summary in old),
            made_by="model" if checked else "extract",
        )

    async def _attempt(
        self, prompt: str, material: str, limit_raw: int, check: Callable[[str], Checked]
    ) -> Checked | None:
        """What the model makes of the material; None where an extract must do. After one failure the model
        is not asked again in this batch."""
        if not self._wish.use_model or self.failure is not None:
            return None
        try:
            checked = check(await self._helper.ask(self._task(prompt, limit_raw), material, self._budget))
        except (HelperFailedError, SummaryRejectedError) as error:
            unusable = isinstance(error, SummaryRejectedError)
            why = f"the model's summary could not be used: {error}" if unusable else str(error)
            if not self._wish.fall_back:
                raise HelperFailedError(why) from error
            self.failure = why
            return None
        self.dropped += checked.dropped
        return checked

    def _sources(self, units: Sequence[Source]) -> list[Source]:
        task = self._task("summarise", leaf_most_raw(self._budget))
        return sources(units, max(LEAST_ROOM_RAW, self._helper.room_raw(task, self._budget)), self._counter)

    def _task(self, prompt: str, limit_raw: int) -> Task:
        words = max(16, int(limit_raw * PROSE_PERCENT / 100 * WORDS_PER_TOKEN))
        # however much was asked for, the request must fit
        keep = shorten(" ".join(self._wish.keep.split()), self._budget.share_raw(KEEP_PERCENT), self._counter.text).text
        asked = f"The person asks that this above all be kept: {keep}" if keep else ""
        # room for somewhat more than was asked for: the rest is cut at a sentence
        most = self._budget.window_tokens * REPLY_PERCENT // 100
        reply_tokens = max(LEAST_REPLY_TOKENS, min(self._budget.estimated(limit_raw) * 3 // 2, most))
        text = prompts.text(prompt, words=str(words), keep=asked).strip()
        return Task(SUMMARISE, text, reply_tokens, self._wish.session_id)


def _leaf_check(
    source: Source, known: Sequence[str], limit_raw: int, counter: TokenCounter
) -> Callable[[str], Checked]:
    return lambda reply: checked_leaf(reply, source, known, limit_raw, counter.text)

"""What leaves the prompt when it becomes too full: a plan, and the figures behind it. Pure.

First old tool outputs become references, which costs nothing; if that is not enough, the oldest exchanges
leave and a summary stands for them; if what is being answered alone is too large, its own oldest turns
do. All in one step down to the target, so that the prefix breaks once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memagent.context.window import Freeable

EXEMPT_TURNS = 2
"""The results of so many newest turns are never freed: the model is still at work on them."""
SUMMARY_SHARE_PERCENT = 22
"""Of what it stands for, a summary takes at most so much: a quarter, whoever counts and however."""


@dataclass(frozen=True, slots=True)
class Part:
    """An exchange of the window, or one turn of the exchange that is being answered."""

    tokens_raw: int
    turns: tuple[Freeable, ...] = ()


@dataclass(frozen=True, slots=True)
class Load:
    """What a prompt would hold. ``around_raw`` is all that stays in any case: instructions, tools, the
    newest message, the summaries there are."""

    around_raw: int
    window: Sequence[Part]
    open_turns: Sequence[Part] = ()

    @property
    def total_raw(self) -> int:
        return self.around_raw + sum(part.tokens_raw for part in (*self.window, *self.open_turns))


@dataclass(frozen=True, slots=True)
class Plan:
    """``freed``: results to show as references. The oldest ``exchanges`` and the first ``turns`` of the one
    being answered are to be summarised. ``after_raw`` is without what the new summaries will take."""

    freed: tuple[str, ...]
    exchanges: int
    turns: int
    before_raw: int
    after_raw: int


@dataclass(frozen=True, slots=True)
class Goal:
    """``target_raw``: the size to get down to. ``limit_raw``: what must be reached. ``least_saving_raw``: a plan
    that frees less is none. ``keep_newest``: the newest exchange of the window stays in any case. ``leaf_raw``:
    the most that one new summary takes."""

    target_raw: int
    limit_raw: int
    least_saving_raw: int
    keep_newest: bool
    leaf_raw: int


def plan(load: Load, goal: Goal) -> Plan | None:
    """How to get down to the target; None if nothing worth a break can leave."""
    freed, kept = _free(load)
    window = [part.tokens_raw for part in kept.window]
    turns = [part.tokens_raw for part in kept.open_turns]
    most = max(0, len(window) - goal.keep_newest)
    exchanges = _leave(window, load.around_raw + sum(turns), goal, most)
    left = load.around_raw + sum(window[exchanges:])
    cut_turns = 0
    if left + sum(turns) > goal.limit_raw:
        cut_turns = _leave(turns, left, goal, max(0, len(turns) - EXEMPT_TURNS))
    after = left + sum(turns[cut_turns:])
    saved = load.total_raw - after
    if saved < max(1, goal.least_saving_raw):
        return None
    return Plan(freed, exchanges, cut_turns, load.total_raw, after)


def _free(load: Load) -> tuple[tuple[str, ...], Load]:
    """All results but those of the last turns become references."""
    turns = [turn for part in (*load.window, *load.open_turns) for turn in part.turns]
    old = len(turns) - EXEMPT_TURNS
    freed = tuple(entry_id for turn in turns[: max(0, old)] for entry_id, _ in turn)
    gone = frozenset(freed)
    window = [_without(part, gone) for part in load.window]
    open_turns = [_without(part, gone) for part in load.open_turns]
    return freed, Load(load.around_raw, window, open_turns)


def _without(part: Part, gone: frozenset[str]) -> Part:
    saved = sum(size for turn in part.turns for entry_id, size in turn if entry_id in gone)
    return Part(max(0, part.tokens_raw - saved)) if saved else part


def _leave(sizes: Sequence[int], around_raw: int, goal: Goal, most: int) -> int:
    """How many of the oldest must leave, at most ``most``, so that the rest and their summary fit the target."""
    rest, gone, count = around_raw + sum(sizes), 0, 0
    while count < most and rest + min(goal.leaf_raw, gone * SUMMARY_SHARE_PERCENT // 100) > goal.target_raw:
        rest -= sizes[count]
        gone += sizes[count]
        count += 1
    return count


def chunks(sizes: Sequence[int], room_raw: int) -> Iterator[range]:
    """Runs of neighbours that together take at most ``room_raw``; what is larger stands alone."""
    start, filled = 0, 0
    for index, size in enumerate(sizes):
        if index > start and filled + size > room_raw:
            yield range(start, index)
            start, filled = index, 0
        filled += size
    if start < len(sizes):
        yield range(start, len(sizes))

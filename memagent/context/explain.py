"""What changed between two prompts, and where in a prompt something is or why it is not. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel, ConfigDict

from memagent.context.manifest import SECTIONS, Candidate, Manifest, break_cause
from memagent.context.view import StandingInstruction, View, ViewCause
from stores.records import Mark, MarkKind, Memory, MemoryState, Message, MessageRole

Place = Literal[
    "current",
    "window",
    "recalled",
    "summaries",
    "system",
    "profile",
    "reference",
    "summarised",
    "left out",
    "forgotten",
    "not recalled",
    "not yet",
    "never shown",
]
"""Where it is: a section of the prompt; "reference": only a line in the window says how to read it;
the others: it is not in the prompt."""


class _Told(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class SectionChange(_Told):
    """Estimated tokens of one section in two prompts."""

    name: str
    before: int
    after: int


class PromptDiff(_Told):
    """What changed from one prompt of a session to another. ``cause`` says why the second does not begin
    with the first, None if it does. Ids are of summaries, tool results and memories."""

    first: int
    second: int
    total: SectionChange
    sections: tuple[SectionChange, ...]
    cause: str | None
    margin_before: float
    margin_after: float
    exchanges_before: int
    exchanges_after: int
    window_began_at: int
    window_begins_at: int
    summaries_added: tuple[str, ...] = ()
    summaries_gone: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()
    shown_again: tuple[str, ...] = ()
    instructions_added: tuple[str, ...] = ()
    instructions_gone: tuple[str, ...] = ()
    recalled: tuple[str, ...] = ()
    """Recalled for the second prompt's message and not for the first one's."""
    forgotten: tuple[str, ...] = ()
    restored: tuple[str, ...] = ()


_Holds = Callable[[View], bool]


class _At(Protocol):
    def __call__(
        self, place: Place, why: str, *, step: Step | None = None, by_id: str | None = None
    ) -> Whereabouts: ...


class Whereabouts(_Told):
    """Where an entry, a summary or a memory is in the session's last prompt (``prompt``, its number), or since
    when (``left_at``) and why it is not. ``by_id`` is what stands for it or made it leave: a summary, a view."""

    id: str
    kind: Literal["entry", "summary", "memory"]
    session_id: str | None
    prompt: int | None
    place: Place
    shown: bool
    why: str
    left_at: datetime | None = None
    by_id: str | None = None
    score: float | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """A view that was in force from ``at`` on."""

    mark_id: str
    at: datetime
    view: View


@dataclass(frozen=True, slots=True)
class Shown:
    """What the last prompt showed: its manifest, its view, and how the views came about, newest first, ending
    where everything was in the window."""

    manifest: Manifest
    view: View
    steps: Sequence[Step]
    summary_ranges: Mapping[str, tuple[int, int]]
    """The sequences that each summary shown stands for."""


# --- two prompts -------------------------------------------------------------------------------


def prompt_diff(first: Manifest, second: Manifest, view_first: View, view_second: View) -> PromptDiff:
    """The differences, in the order given."""
    instructions = [_texts(view.instructions) for view in (view_first, view_second)]
    included = [_included(manifest.candidates) for manifest in (first, second)]
    return PromptDiff(
        first=first.number,
        second=second.number,
        total=SectionChange(name="total", before=first.total_tokens, after=second.total_tokens),
        sections=tuple(
            SectionChange(name=name, before=first.sections.get(name, 0), after=second.sections.get(name, 0))
            for name in SECTIONS
        ),
        cause=break_cause(first, second),
        margin_before=first.margin,
        margin_after=second.margin,
        exchanges_before=first.window_exchanges,
        exchanges_after=second.window_exchanges,
        window_began_at=first.first_sequence,
        window_begins_at=second.first_sequence,
        summaries_added=_new(view_first.summary_ids, view_second.summary_ids),
        summaries_gone=_new(view_second.summary_ids, view_first.summary_ids),
        freed=_new(view_first.freed, view_second.freed),
        shown_again=_new(view_second.freed, view_first.freed),
        instructions_added=_new(instructions[0], instructions[1]),
        instructions_gone=_new(instructions[1], instructions[0]),
        recalled=_new(included[0], included[1]),
        forgotten=_new(first.forgotten, second.forgotten),
        restored=_new(second.forgotten, first.forgotten),
    )


def _texts(instructions: Sequence[StandingInstruction]) -> tuple[str, ...]:
    return tuple(instruction.text for instruction in instructions)


def _included(candidates: Sequence[Candidate]) -> tuple[str, ...]:
    return tuple(candidate.memory_id for candidate in candidates if candidate.included)


def _new(before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    return tuple(one for one in after if one not in before)


# --- where is an entry -------------------------------------------------------------------------


def entry_whereabouts(entry: Message | Mark, shown: Shown | None) -> Whereabouts:
    """Of a journal entry of the session that ``shown`` is of; None: nothing was sent in it yet."""

    def at(place: Place, why: str, *, step: Step | None = None, by_id: str | None = None) -> Whereabouts:
        return Whereabouts(
            id=entry.id,
            kind="summary" if isinstance(entry, Mark) and entry.what is MarkKind.SUMMARY else "entry",
            session_id=entry.session_id,
            prompt=shown.manifest.number if shown else None,
            place=place,
            shown=place in ("current", "window", "recalled", "summaries", "system"),
            why=why,
            left_at=step.at if step else None,
            by_id=by_id or (step.mark_id if step else None),
        )

    if shown is None:
        return at("not yet", "no prompt was sent in its session yet")
    if isinstance(entry, Mark):
        return _mark_whereabouts(entry, shown, at)
    if entry.role is MessageRole.NOTE:
        return at("never shown", "a host's note stands beside the person's next message, not by itself")
    manifest, view = shown.manifest, shown.view
    in_view = entry.sequence >= view.from_sequence or entry.id in view.head_ids
    if manifest.recipe and entry.sequence > manifest.last_sequence:
        return at("not yet", "it was said after the last prompt was sent")
    if not in_view:
        return _left(entry, shown, at)
    instruction = " and, as a standing instruction, in the system message" if _binds(entry, view) else ""
    if entry.id in view.freed:
        step = _since(shown, lambda older: entry.id in older.freed)
        when = f" since {_when(step)} ({_cause(step)})" if step else ""
        return at("reference", f"only a line in its place says how to read it{when}", step=step)
    if entry.exchange_id == manifest.exchange_id:
        return at("current", "it belongs to the exchange that the prompt answers" + _in_part(manifest.shortened))
    if entry.sequence < manifest.first_sequence and entry.id not in view.head_ids:
        return at("left out", "there was no room for its exchange in this prompt; it comes back when there is")
    return at("window", f"its exchange is in the window{instruction}")


def _mark_whereabouts(mark: Mark, shown: Shown, at: _At) -> Whereabouts:
    if mark.what is not MarkKind.SUMMARY:
        return at("never shown", f"a {mark.what.value} mark is kept beside the talk and not shown by itself")
    if mark.id in shown.view.summary_ids:
        if shown.manifest.summaries_left_out:
            return at("left out", "the newest message leaves the summaries no room")
        return at("summaries", "it stands in the system message for what has left the window")
    step = _since(shown, lambda older: mark.id not in older.summary_ids)
    if step is None or not _was(shown, mark.id):
        return at("never shown", "it was made only to be part of another summary")
    first, last = mark.data.get("first_sequence"), mark.data.get("last_sequence")
    if isinstance(first, int) and isinstance(last, int) and (covering := _covering(shown, first, last)):
        return at("summarised", f"summary {covering} stands for it since {_when(step)}", step=step, by_id=covering)
    return at("left out", f"what it stood for is shown itself again since {_when(step)} ({_cause(step)})", step=step)


def _left(entry: Message, shown: Shown, at: _At) -> Whereabouts:
    step = _since(shown, lambda view: entry.sequence < view.from_sequence and entry.id not in view.head_ids)
    when = f"its exchange left the window at {_when(step)} ({_cause(step)})" if step else "its exchange left the window"
    if _binds(entry, shown.view):
        why = f"{when}, but what it demands is quoted in the system message as a standing instruction"
        return at("system", why, step=step)
    covering = _covering(shown, entry.sequence, entry.sequence)
    if covering is None:
        return at("left out", f"{when}; no summary stands for it, search_history finds it", step=step)
    return at("summarised", f"{when}; summary {covering} stands for it", step=step, by_id=covering)


def _binds(entry: Message, view: View) -> bool:
    return any(instruction.entry_id == entry.id for instruction in view.instructions)


def _covering(shown: Shown, first: int, last: int) -> str | None:
    for summary_id, (begins, ends) in shown.summary_ranges.items():
        if begins <= first and last <= ends:
            return summary_id
    return None


def _since(shown: Shown, holds: _Holds) -> Step | None:
    """The step with which something began to hold that holds in the newest view without a break."""
    found: Step | None = None
    for step in shown.steps:
        if not holds(step.view):
            return found
        found = step
    return found


def _was(shown: Shown, summary_id: str) -> bool:
    return any(summary_id in step.view.summary_ids for step in shown.steps)


def _when(step: Step | None) -> str:
    return f"{step.at:%Y-%m-%d %H:%M} UTC" if step else ""


_CAUSES: Mapping[ViewCause, str] = {
    "window full": "the window was full",
    "asked for": "a compaction was asked for",
    "undo": "a compaction was undone",
    "edited": "a summary was edited",
    "summary replaced": "a summary was replaced",
    "start": "the start",
}


def _cause(step: Step | None) -> str:
    return _CAUSES[step.view.cause] if step else ""


def _in_part(notes: Sequence[str]) -> str:
    return f"; of its tool results not everything is shown: {'; '.join(notes)}" if notes else ""


# --- where is a memory -------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RecalledBeside:
    """A memory was recalled for an exchange, and was fenced before the person's words."""

    exchange_id: str
    sequence: int
    version: int


def memory_whereabouts(
    memory: Memory, session_id: str, shown: Shown | None, beside: Sequence[RecalledBeside]
) -> Whereabouts:
    """Of a memory in the last prompt of a session; ``beside`` are the exchanges it was recalled for, oldest first."""
    candidates = shown.manifest.candidates if shown else ()
    candidate = next((c for c in candidates if c.memory_id == memory.id), None)

    def at(place: Place, why: str, *, step: Step | None = None, by_id: str | None = None) -> Whereabouts:
        return Whereabouts(
            id=memory.id,
            kind="memory",
            session_id=session_id,
            prompt=shown.manifest.number if shown else None,
            place=place,
            shown=place in ("recalled", "profile"),
            why=why,
            left_at=step.at if step else None,
            by_id=by_id,
            score=candidate.score if candidate else None,
        )

    if memory.state is not MemoryState.ACTIVE:
        hidden = shown is not None and memory.id in shown.manifest.forgotten
        return at("forgotten", "it was forgotten" + ("; where the window showed it, it is hidden" if hidden else ""))
    if shown is None:
        return at("not yet", "no prompt was sent in this session yet")
    if memory.id in shown.manifest.profile:
        return at("profile", "it is pinned: it stands in the profile, in every prompt")
    if memory.id in shown.manifest.profile_left_out:
        return at("left out", "it is pinned, but the profile had no room for it")
    if candidate is not None and candidate.included:
        return at("recalled", f"it was recalled for the newest message: {candidate.why}")
    for place in reversed(beside):
        if place.sequence >= shown.manifest.first_sequence and place.exchange_id != shown.manifest.exchange_id:
            return at("recalled", f"it stands beside the exchange {place.exchange_id}", by_id=place.exchange_id)
    if candidate is not None:
        return at("not recalled", f"it was considered and left out: {candidate.why}")
    if beside and (step := _since(shown, lambda view: beside[-1].sequence < view.from_sequence)):
        why = f"it left at {_when(step)} with the exchange {beside[-1].exchange_id} it was recalled for"
        return at("not recalled", f"{why} ({_cause(step)}), and was not found again", step=step, by_id=step.mark_id)
    if not shown.manifest.recipe:
        return at("not recalled", "what recall considered for the last prompt is kept no more")
    reason = f"it was not among the {len(candidates)} memories that recall considered for the newest message"
    return at("not recalled", f"{reason}: others are nearer, or it is below the gate")

"""What the prompt shows of a session beyond its newest exchanges: where the window begins, which
summaries stand for what came before, which tool outputs are only referred to.

A view is kept as the data of a CUT mark, whole each time: the newest mark is all that is needed, and an
undo is one more mark that says what an older one said. Summaries are SUMMARY marks of their own. Pure.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from stores.records import Mark

ViewCause = Literal["start", "window full", "asked for", "undo", "edited", "summary replaced"]


class Summary(BaseModel):
    """A text that stands for older entries. It is history, never instructions.

    ``id`` is its mark's. ``level`` "leaf": of the entries from ``first_sequence`` to ``last_sequence``;
    "condensed": of the summaries ``source_ids``, which together cover that range. ``tokens`` is what the
    text takes, ``source_tokens`` what it stands for (both raw). ``made_by`` "extract": code took sentences
    from the source because no model could summarise it; a model's summary replaces it later. "person": edited.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    level: Literal["leaf", "condensed"] = "leaf"
    text: str
    first_sequence: int
    last_sequence: int
    source_ids: tuple[str, ...] = ()
    tokens: int
    source_tokens: int
    made_by: Literal["model", "extract", "person"] = "model"


class StandingInstruction(BaseModel):
    """Words of the person that bind from then on, quoted exactly. ``said_on`` is a date, as YYYY-MM-DD."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    entry_id: str
    said_on: str
    text: str


class View(BaseModel):
    """``from_sequence``: the first journal entry of the window; if it lies inside an exchange, ``head_ids``
    are that exchange's entries before it which are shown all the same (the person's message, what was
    recalled for it). ``summary_ids`` in order, oldest first. ``freed``: ids of tool results shown as a
    reference only. ``previous``: the CUT mark before this one. ``hold``: the person undid a
    compaction, so none comes by itself until a prompt would not fit. ``failures``: how many times in a row
    summarising has failed by now. Figures are estimated tokens
    of what the prompt shows of the session."""

    model_config = ConfigDict(frozen=True, extra="ignore")
    from_sequence: int = 1
    head_ids: tuple[str, ...] = ()
    summary_ids: tuple[str, ...] = ()
    freed: tuple[str, ...] = ()
    instructions: tuple[StandingInstruction, ...] = ()
    cause: ViewCause = "start"
    previous: str | None = None
    hold: bool = False
    failures: int = 0
    exchanges: int = 0
    """How many exchanges left the window with this change."""
    before_tokens: int = 0
    after_tokens: int = 0


def view_of(mark: Mark | None) -> View:
    """The view that a CUT mark holds; without one, everything is in the window."""
    return View.model_validate(mark.data) if mark else View()


def summary_of(mark: Mark) -> Summary:
    """The summary that a SUMMARY mark holds; an empty one where the whole session was erased."""
    if not mark.data:
        return Summary(id=mark.id, text="", first_sequence=1, last_sequence=0, tokens=0, source_tokens=0)
    return Summary.model_validate({**mark.data, "id": mark.id})

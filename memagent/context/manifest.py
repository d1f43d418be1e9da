"""The manifest: what a prompt is made of, and why. One per prompt, kept beside the journal."""

from __future__ import annotations

import json
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from stores.base import KeptManifest

SECTIONS = ("system", "tools", "profile", "summaries", "window", "recalled", "current")
"""Every manifest has all of them, in this order."""

BreakCause = Literal[
    "compaction", "model or settings changed", "tool set changed", "profile edited", "forgotten", "erased"
]


class Candidate(BaseModel):
    """A memory that recall considered. ``why`` says why it is in the prompt or not."""

    model_config = ConfigDict(frozen=True)
    memory_id: str
    kind: str
    text: str
    score: float
    included: bool
    why: str


class Recipe(BaseModel):
    """What a prompt was made from, beside the journal: enough to make it again. Sequences are the newest
    journal entries that the window, and the exchange being answered, knew of."""

    model_config = ConfigDict(frozen=True)
    offer_hash: str
    profile_hash: str = ""
    """Of the profile's text, as it is kept; "" for none."""
    last_sequence: int
    current_sequence: int
    window_tokens: int
    reserve_tokens: int
    margin_percent: int
    encoding: str
    exact: bool
    counted: bool
    """False: no vocabulary could be loaded and texts were estimated."""
    image_tokens: int
    rendering: int
    prompts: str
    """The fingerprint of the prompt files."""


class Manifest(BaseModel):
    """All token figures are estimates: counted tokens times ``margin``, rounded up.

    ``total_tokens`` is at most ``budget_tokens`` = ``window_tokens`` - ``reserve_tokens`` and the sum of
    ``sections``. ``recalled`` counts all recalled text of the prompt, so ``window`` and ``current`` are
    without it. ``prefix_break`` names why the prompt is not the last one grown at its
    end, None when it is, or when it is the session's first. ``first_sequence`` is the journal sequence
    that the window starts at, ``left_out_exchanges`` how many exchanges it could hold but does not.
    """

    model_config = ConfigDict(frozen=True)
    number: int = 0
    """Which prompt of the session it is of, from 1; 0: it was never sent."""
    exchange_id: str = ""
    model: str
    window_tokens: int
    window_source: str
    reserve_tokens: int
    budget_tokens: int
    total_tokens: int
    raw_tokens: int = 0
    """What was counted, without the margin."""
    margin: float
    margin_source: str = "start value"
    sections: dict[str, int]
    window_exchanges: int
    left_out_exchanges: int = 0
    first_sequence: int
    shortened: tuple[str, ...] = ()
    """What was shown only in part, in words."""
    shortened_exchanges: int = 0
    """How many exchanges of the window show only a part of their tool turns."""
    compaction: Literal["none", "due", "done"] = "none"
    prefix_break: BreakCause | None = None
    candidates: tuple[Candidate, ...] = ()
    cut_id: str = ""
    """The mark that says what the prompt shows of the session's past; "" while all of it is in the window."""
    summaries_left_out: bool = False
    """There are summaries or a profile, but the newest message leaves them no room."""
    profile: tuple[str, ...] = ()
    """The memories that the profile shows, in order."""
    profile_left_out: tuple[str, ...] = ()
    """Pinned facts for which the profile has no room, the one longest unconfirmed first."""
    profile_hash: str = ""
    recalled_left_out: bool = False
    """Something was recalled for the newest message, but there is no room to show it."""
    system_hash: str = ""
    tools_hash: str = ""
    settings_hash: str = ""
    forgotten: tuple[str, ...] = ()
    """Memories that were shown in the window and have been forgotten since."""
    erased: tuple[str, ...] = ()
    """Receipts of erasures that changed what is shown of the session."""
    prompt_versions: dict[str, int] = Field(default_factory=dict)
    prompt_hash: str = ""
    """The fingerprint of all that was sent: tools and messages."""
    recipe: Recipe | None = None
    """None: it has expired."""

    @property
    def last_sequence(self) -> int:
        """The newest journal entry that the prompt knew of; 0 once that has expired."""
        return max(self.recipe.last_sequence, self.recipe.current_sequence) if self.recipe else 0

    def figures(self) -> str:
        """What is kept for ever, as JSON."""
        return self.model_dump_json(exclude={"number", "exchange_id", *_DETAILS})

    def details(self) -> str:
        """What is kept for some time, as JSON."""
        return self.model_dump_json(include=_DETAILS)


_DETAILS = {"candidates", "recipe"}


def kept_manifest(kept: KeptManifest) -> Manifest:
    """A manifest as the store holds it."""
    parts = json.loads(kept.figures) | json.loads(kept.details or "{}")
    return Manifest.model_validate({**parts, "number": kept.number, "exchange_id": kept.exchange_id})


def break_cause(previous: Manifest | None, current: Manifest) -> BreakCause | None:
    """Why the current prompt does not begin with the previous one, or None."""
    if previous is None:
        return None
    if previous.settings_hash != current.settings_hash:
        return "model or settings changed"
    if previous.tools_hash != current.tools_hash:
        return "tool set changed"
    if previous.profile_hash != current.profile_hash:
        return "profile edited"
    if previous.cut_id != current.cut_id or previous.summaries_left_out != current.summaries_left_out:
        return "compaction"
    # a message shown without what was recalled for it: the next time it is shown, it is with it, or the other way
    if previous.recalled_left_out or (current.recalled_left_out and previous.exchange_id == current.exchange_id):
        return "compaction"
    if not set(current.erased) <= set(previous.erased):
        return "erased"
    if previous.system_hash != current.system_hash:
        return "model or settings changed"
    if previous.first_sequence != current.first_sequence:
        return "compaction"
    if previous.forgotten != current.forgotten:
        return "forgotten"
    if previous.shortened or current.shortened or previous.shortened_exchanges != current.shortened_exchanges:
        return "compaction"
    return None

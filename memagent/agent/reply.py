"""What an exchange gives back."""

from __future__ import annotations

from dataclasses import dataclass

from memagent.context.manifest import Manifest
from memagent.events import Event, FinishReason, Usage


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. ``manifest`` explains the last prompt sent (None when nothing was sent)."""

    text: str
    finish_reason: FinishReason
    usage: Usage
    manifest: Manifest | None
    events: tuple[Event, ...]

"""Exact details in a text: what stands with digits, and the words before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memagent.context.overflow import CountText

_NUMBERED = re.compile(r"((?:\S+ ){0,3})(\S*\d\S*)")


@dataclass(frozen=True, slots=True)
class Anchor:
    """``text`` exactly as it stands, ``phrase`` with a few words before it."""

    text: str
    phrase: str


def anchors(text: str) -> list[Anchor]:
    """In order of appearance, each once."""
    found = {match[2]: Anchor(match[2], match[0]) for match in _NUMBERED.finditer(text[:100_000])}
    return list(found.values())[:400]


def missing(found: Sequence[Anchor], summary: str) -> list[Anchor]:
    """Those that do not stand in the summary."""
    return [anchor for anchor in found if anchor.text not in summary]


def listed(found: Sequence[Anchor], limit_raw: int, count: CountText) -> str:
    """As many phrases as fit."""
    phrases: list[str] = []
    for anchor in found:
        if count("; ".join([*phrases, anchor.phrase])) > limit_raw:
            break
        phrases.append(anchor.phrase)
    return "; ".join(phrases)

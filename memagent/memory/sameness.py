"""When two texts count as the same. Only the normalised text decides; similarity never does: with
MiniLM an opposite scores .995 and a paraphrase .885."""

from __future__ import annotations

import re

_NOT_WORD = re.compile(r"\W+")


def normalised(text: str) -> str:
    """A text by its words alone, in order: case, spaces and punctuation do not count, numbers do."""
    return _NOT_WORD.sub(" ", text.casefold()).strip()

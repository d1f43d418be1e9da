"""When two texts count as the same. Only the normalised text decides; similarity never does: with
MiniLM an opposite scores .995 and a paraphrase .885."""

from __future__ import annotations

import re
from hashlib import blake2b

_NOT_WORD = re.compile(r"\W+")


def normalised(text: str) -> str:
    """A text by its words alone, in order: case, spaces and punctuation do not count, numbers do."""
    return _NOT_WORD.sub(" ", text.casefold()).strip()


def words_key(text: str) -> str:
    """Equal for texts that are the same, and short; "" for a text without words."""
    words = normalised(text)
    return blake2b(words.encode(), digest_size=16).hexdigest() if words else ""

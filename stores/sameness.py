"""When two texts count as the same. Only the normalised text decides; similarity never does: with
MiniLM an opposite scores .995 and a paraphrase .885."""

from __future__ import annotations

import re
import unicodedata
from hashlib import blake2b

_NOT_WORD = re.compile(r"\W+")
_VARIATIONS = "".join(map(chr, range(0xFE00, 0xFE10)))
"""They choose how the character before them is drawn."""


def folded(text: str) -> str:
    """A text as it is compared: case, width, the way in which accents are written, characters that are not seen, and
    how much white space there is do not count."""
    if not text.isascii():
        seen = (c for c in unicodedata.normalize("NFKC", text) if not _unseen(c))
        text = unicodedata.normalize("NFKC", "".join(seen).casefold())
    return " ".join(text.casefold().split())


def _unseen(character: str) -> bool:
    return unicodedata.category(character) == "Cf" or character in _VARIATIONS


def normalised(text: str) -> str:
    """A text by its words alone, in order: as `folded`, and punctuation does not count; numbers do."""
    return _NOT_WORD.sub(" ", folded(text)).strip()


def words_key(text: str) -> str:
    """Equal for texts that are the same, and short; "" for a text without words."""
    words = normalised(text)
    return blake2b(words.encode(), digest_size=16).hexdigest() if words else ""

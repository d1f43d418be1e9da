"""What automatic recall lets through: it prefers silence to noise. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping

SURE_SIMILARITY = 0.30
"""With all-MiniLM-L6-v2, unrelated English sentences rarely come closer than this."""
WORDS_SHARE = 0.35
"""Of the best word score: below it only common words were shared."""


def likely(lexical: Mapping[str, float], similar: Mapping[str, float], statements: Collection[str]) -> set[str]:
    """The memories that are likely to matter: near in meaning, or sharing words of weight with the
    query (not just an "I" or a "to"). What counts as much is measured by statements: the same
    question, asked before, would outdo every answer to it."""
    enough = WORDS_SHARE * max((score for key, score in lexical.items() if key in statements), default=0.0)
    by_words = {memory_id for memory_id, score in lexical.items() if score >= enough}
    return by_words | {memory_id for memory_id, near in similar.items() if near >= SURE_SIMILARITY}

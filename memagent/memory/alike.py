"""Whether two facts may say the same in other words. Pure. Similarity alone never decides: with MiniLM an
opposite scores .995 and a paraphrase .885."""

from __future__ import annotations

import re

from memagent.memory.asking import content_of
from stores.terms import document_terms

_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_NAME = re.compile(r"(?<=[^\s.!?])\s+([A-ZÀ-Þ]\w*)")
_NOT = re.compile(
    r"\b(?:not?|never|none|nothing|nobody|neither|nor|without|hardly|stopped|quit|longer)\b|n['’]t\b"
    r"|[不没无别勿非]|ない|ません",
    re.IGNORECASE,
)
LEAST_SHARED = 2


def may_say_the_same(one: str, other: str) -> bool:
    """True only if numbers, names and negations are the same and the words that both have stand in the same order
    (at least two). For texts whose meaning is near: a necessary sign, not a sufficient one."""
    for pattern in (_NUMBER, _NAME):
        if sorted(pattern.findall(one)) != sorted(pattern.findall(other)):
            return False
    if len(_NOT.findall(one)) != len(_NOT.findall(other)):
        return False
    a, b = _words(one), _words(other)
    shared = set(a) & set(b)
    return len(shared) >= LEAST_SHARED and [w for w in a if w in shared] == [w for w in b if w in shared]


def _words(text: str) -> list[str]:
    return list(dict.fromkeys(document_terms(content_of(text))))

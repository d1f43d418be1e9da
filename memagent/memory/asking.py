"""The words by which one asks: they say nothing of what is looked for. Pure."""

from __future__ import annotations

import re

from stores.terms import query_terms

_ASKING = re.compile(
    r"\b(?:a|about|again|am|an|and|any|are|as|at|be|been|but|by|can|could|did|do|does|for|from|had|has|have|how|i|if|in"
    r"|into|is|its|me|my|of|on|or|our|ours|please|recall|remember|remind|shall|should|so|some|tell|than|that|the"
    r"|their|them|then|there|these|they|this|those|to|was|we|were|what|when|where|which|who|whom|whose|why"
    r"|with|would|you|your|yours)\b"
    r"|请问|告诉|记得|是多少|多少|是什么|什么|是哪|在哪里|哪里|哪儿|哪个|哪些|怎么|为什么|是谁|吗|呢",
    re.IGNORECASE,
)
ASK_ENDS = ("?", "？", "؟")


def content_of(query: str) -> str:
    """A query without the words by which one asks, unless it has no others."""
    rest = _ASKING.sub(" ", query)
    return rest if query_terms(rest) else query


def has_content(query: str) -> bool:
    """Whether a query holds more than the words by which one asks."""
    return bool(query_terms(_ASKING.sub(" ", query)))


def asks(text: str) -> bool:
    """Whether a text is a question by its end: it has the words of its answer and states nothing."""
    return text.rstrip().endswith(ASK_ENDS)

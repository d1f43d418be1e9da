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
_SMALL_TALK = re.compile(
    r"\b(?:afternoon|alright|awesome|best|bye|continue|cool|day|evening|fine|glad|go|going|good|goodbye|got|great|haha\w*"
    r"|all|anyway|back|bit|happy|hello|hey|hi|hmm\w*|just|know|later|like|lol|lots?|love|lovely|many|mean|mind|more|morning|much|never|nice|night|no"
    r"|nope|now|ok|okay|perfect|really|right|see|sorry|sounds?|sure|thank|thanks|think|too|try|very|welcome|well|wow"
    r"|yeah|yep|yes)\b"
    r"|谢谢|多谢|您好|你好|大家好|好的|好吧|是的|对的|不错|太好了|很好|可以|没事|没关系|再见|拜拜|早上好|早安|晚上好|晚安|继续|再试一次"
    r"|[嗯哈呵哦啊好对行吧啦了吗呢你我您的]+",
    re.IGNORECASE,
)
_ASK_ENDS = ("?", "？", "؟")


def content_of(query: str) -> str:
    """A query without the words by which one asks, unless it has no others."""
    rest = _ASKING.sub(" ", query)
    return rest if query_terms(rest) else query


def has_content(query: str) -> bool:
    """Whether a query holds more than the words by which one asks."""
    return bool(query_terms(_ASKING.sub(" ", query)))


def says_something(query: str) -> bool:
    """Whether a message holds more than what one says to ask, to thank and to greet."""
    return bool(query_terms(_SMALL_TALK.sub(" ", _ASKING.sub(" ", query))))


def asks(text: str) -> bool:
    """Whether a text is a question by its end: it has the words of its answer and states nothing."""
    return text.rstrip().endswith(_ASK_ENDS)

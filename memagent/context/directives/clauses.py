"""English sentences as clauses: one spelling, what opens a clause, what was said before it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from memagent.context.directives import english_words as words
from memagent.context.directives.sentences import MASK


def one_of(*patterns: str) -> re.Pattern[str]:
    """A pattern that finds any of several."""
    return re.compile("|".join(f"(?:{pattern})" for pattern in patterns))


# --- one spelling ------------------------------------------------------------------------------

_SPELLINGS = [
    (re.compile(pattern), full)
    for pattern, full in (
        (r"\b(do|does|did|would|should|could|must|need|is|are|was|were|has|have|had)n'?t\b", r"\1 not"),
        (r"\bcan'?t\b|\bcannot\b", "can not"),
        (r"\bwon'?t\b", "will not"),
        (r"\b(i|you|he|she|we|they|that|there|it)'d\b", r"\1 would"),
        (r"'ll\b", " will"),
        (r"'ve\b", " have"),
        (r"'re\b", " are"),
        (r"\bi'?m\b", "i am"),
        (r"\blet'?s\b", "let us"),
        (r"\b(it|that|he|she|there|what|here)'s\b", r"\1 is"),
        (r"\b(?:pls+|plz+|plea?se?|pelase)\b", "please"),
        (r"\bu\b", "you"),
        (r"\bur\b", "your"),
        (r"\bgonna\b", "going to"),
        (r"\bwanna\b", "want to"),
        (r"\b(?:form|fron) now on\b", "from now on"),
        (r"\b(?:al+wa?ys?|alwyas|alwasy|awlays|allways)\b", "always"),
        (r"\b(?:nevr|neevr|nver|neveer|nevver)\b", "never"),
        (r"\b(?:evry|eveyr|evrey)\b", "every"),
        (r"\b(?:whenver|wheneevr|when ever)\b", "whenever"),
    )
]


@lru_cache(maxsize=8_192)
def spelled_out(text: str) -> str:
    """Lower case, contractions written out, the commonest slips of the keyboard mended."""
    text = text.lower().replace("’", "'")
    for pattern, full in _SPELLINGS:
        text = pattern.sub(full, text)
    return text


# --- clauses -----------------------------------------------------------------------------------

_BREAK = re.compile(r"[,;:()!?]+|\.(?=\s|$)|\s[-–—]+\s|[—–]|\b(?:and|but|because|although|though|plus)\b(?! so)")
_OPENER = re.compile(
    r"(?:hey|hi|hello|there|ok|okay|oh|ah|um|hmm|well|so|and|but|also|btw|by the way|please|kindly|just|"
    r"simply|actually|honestly|now|then|"
    r"yes|yeah|fyi|p\.?s\.?|note that|note|nb|one (?:more |last |other |small |quick )*(?:thing|request|"
    r"rule|note|favou?r)|another (?:thing|rule|request)|"
    r"(?:quick|small|new|first|second|third|last|final|important) (?:thing|note|rule|request|favou?r|"
    r"reminder|ask)|for the record|to be clear|"
    r"(?:as|like) i (?:said|told you|mentioned)(?: before| earlier)?|i repeat|i said|thanks|thank you|"
    r"(?:look|listen)(?=$)|"
    r"dear|assistant|bot|buddy|mate|friend|if (?:possible|you can|you could|you do not mind|you please)|"
    r"where possible|when possible|therefore|"
    r"hence|first(?:ly)?|second(?:ly)?|third(?:ly)?|finally|lastly|reminder|rule(?: (?:number )?\d+)?|"
    r"#\d+|in general|generally|"
    r"do me a favou?r|deal|agreed|for me|from me|that said|in short|basically|seriously|really|maybe|"
    r"perhaps|going further|moreover|"
    r"furthermore|additionally|in addition|on top of that|besides|instead|that is why|overall|too)\b[\s.]*"
)
SCOPE = re.compile(words.SCOPE)
RULE_LEAD = re.compile(
    r"\W*(?:(?:ok|okay|so|and|also|here is|a|the|my|one|another|new|first|second|third|last|next|more|"
    r"small|quick|simple|only|house|ground|general|standing|important|final|\d+(?:st|nd|rd|th)?) )*"
    r"(?:rule|request|wish|preference|instruction|condition|guideline|"
    r"requirement)s?(?: (?:number )?(?:\d+|one|two|three))?(?: (?:for|to) (?:you|this \w+|our \w+|"
    r"all \w+|me))?:"
)
ALONE = re.compile(rf"always|consistently|without fail|ever|every single time|{words.SCOPE}")
_ASIDE = re.compile(rf"(?<=not|ver|ays|ust|uld|ase),\s*((?:{words.SCOPE})|ever|please)\s*,")
"""Between commas and after not, never, must …, it parts an order from its verb: "do not, at any point, call"."""
_HEAD_SCOPE = re.compile(rf"(?:{words.SCOPE})[\s,]*")
MATTER = re.compile(rf"\b(?:{words.MATTERS}|{words.REPLY_PARTS})\b")
STYLE = re.compile(rf"\b(?:{words.STYLE})\b")
ONE_OFF = re.compile(words.ONE_OFF)
ME = re.compile(r"\b(?:me|my|mine|myself|i)\b")
THING = re.compile(rf"{MASK}|\b[a-z]*\d[\w-]*\b|[\w-]+\.(?:\w{{1,4}})\b|/\w|\w_\w|<[a-z]+>")

_FRESH_START = re.compile(r"(?:so|but|please|therefore|hence|now|from now on)\b")


class Clause(NamedTuple):
    """``fresh``: it begins with "so", "please" …, so that what others said before does not reach it;
    ``colon``: a colon and more follow, so that a job may be meant ("answer in one word: …"); ``joined``: by
    "and" or "but" to the clause before, whose subject may be meant ("they are kind and always make us smile")."""

    text: str
    scope: bool
    fresh: bool
    colon: bool
    joined: bool


def clauses_of(text: str) -> Iterator[Clause]:
    """The clauses of a text that went through `spelled_out`, without what only opens them."""
    text = _ASIDE.sub(r" \1 ", text)
    start, before = 0, ""
    for end, after in [*((match.start(), match.end()) for match in _BREAK.finditer(text)), (len(text), len(text))]:
        clause, colon = text[start:end].strip(" .…\"'*_"), ":" in text[end:after] and bool(text[after:].strip())
        scope = fresh = False
        while clause:
            fresh = fresh or _FRESH_START.match(clause) is not None
            opener = _OPENER.match(clause)
            head = None if opener else _HEAD_SCOPE.match(clause)
            if head and re.match(r"(?:every ?time|each time|any ?time|whenever)\b", clause):
                break
            step = opener or head
            if step is None or not step.end():
                break
            scope, clause = scope or head is not None, clause[step.end() :].strip()
        joined = before.strip() in ("and", "but")
        before = text[end:after]
        start = after
        yield Clause(clause, scope, fresh, colon, joined)


# --- conditions --------------------------------------------------------------------------------

_TALK = (
    r"(?:say|write|ask|give|send|paste|type|mention|share|upload|use|post|request|talk|speak|report|call|"
    r"sound|seem|am|quote|show|want|"
    r"need|refer|switch|do|make|forget|greet|tell|provide|drop|enter|start|begin|get)"
)
LASTING_CONDITION = re.compile(
    r"\b(?:whenever|wherever (?!you can|possible)|whatever|whichever|however long|each time|every ?time|any ?time)\b"
    rf"|\b(?:when|if|once|as soon as|in case) (?:i|we) (?:ever |just |only |do not |am |are )?{_TALK}\b"
    r"|\b(?:before|after) (?:you \w+ (?:\w+ )?(?:any\w*|every\w*|each|an?|something|\w+s)|each|every|"
    r"any)\b|\b(?:when|if) (?:ever )?(?:in doubt|unsure|uncertain|unclear|not sure)\b"
    r"|\b(?:when|if|once|in case|before) you(?: ever)? (?:are (?:unsure|not sure|uncertain|in doubt|"
    r"asked)|do not|can not|quote|mention|use|write|cite|give|list|answer|reply|show|recommend|"
    r"suggest|make|refer|talk|explain|run|delete|send|translate|count|round|lack|spot|notice|"
    r"encounter|come across|detect|run into|are missing)\b"
    r"|\b(?:when|if) (?:a|an|any|the|my) (?:\w+ )?(?:question|request|answer|message|code|number|price|"
    r"date|query|topic|task)\b"
    r"|\b(?:when|before) \w+ing\b"
)


def is_condition(clause: str) -> bool:
    """Whether the clause says when an order is to be followed ("whenever I …")."""
    if re.match(r"should (?:i|we|you|any)\b", clause):
        return True
    opens = re.match(
        r"(?:when|whenever|wherever|whatever|whichever|if|once|each time|every ?time|any ?time|"
        r"as soon as|in case|for every|for each|"
        r"before|after|while|unless)\b",
        clause,
    )
    return opens is not None and LASTING_CONDITION.search(clause) is not None and not ONE_OFF.search(clause)


class Situation(NamedTuple):
    """What was said before, or beside, the clause that is judged.

    ``lasting``: "from now on"; ``condition``: "whenever I …"; ``tasked``: a job was given; ``colon``: the
    sentence goes on with the material of a job; ``stressed``: it says please, only, always.
    """

    lasting: bool = False
    condition: bool = False
    tasked: bool = False
    colon: bool = False
    stressed: bool = False

    def at(self, clause: Clause, *, lasting: bool, condition: bool) -> Situation:
        """The situation of the next clause: a condition stays in force, the rest is its own."""
        return self._replace(lasting=lasting, condition=self.condition or condition, colon=clause.colon)

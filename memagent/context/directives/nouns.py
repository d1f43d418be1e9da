"""English rules said of a thing rather than as an order: "no emojis", "prices in euros only". Pure."""

from __future__ import annotations

import re

from memagent.context.directives import english_words as words
from memagent.context.directives.clauses import MATTER, ONE_OFF, SCOPE, STYLE, THING, Situation, one_of

_PART_RULES = one_of(
    # "everything must be in lowercase"
    r"^(?:everything|anything|all) (?:must|should|has to|needs to) (?:always )?(?:be )?(?:in|as|with|"
    rf"without)? ?(?:\w+ )?(?:{words.STYLE}|{words.MATTERS})\b",
    # "every recipe gets a gluten-free variant"
    rf"^(?:every|each) (?:{words.MATTERS}|{words.REPLY_PARTS}) (?:gets|needs|must have|"
    r"should have) (?:an?|its|the|my)\b",
    # "everything you write to me should …"
    r"^(?:everything|anything|whatever|all(?: that)?|any \w+|every \w+|each \w+) you (?:write|say|send|"
    r"draft|produce|give|make|suggest|recommend|show|create|generate|answer|tell)\b.*\b(?:should|must|"
    r"needs? to|has to|shall)\b",
    # "every reply must end with …", "your answers need to be short"
    rf"^(?:(?:all|every|each|any|your|future|no|the) )*(?:\w+ ){{0,2}}?(?:{words.REPLY_PARTS}|"
    rf"{words.MATTERS})(?: \w+){{0,4}}? (?:should|must|needs? to|ha(?:s|ve) to|shall|ought to|(?:is|"
    r"are) (?:always |never )?to)\b",
    # "… goes into every reply", "… belongs at the end of each answer"
    r"\b(?:goes|go|belongs?|comes?|stands?|appears?|gets?|needs?|added|included?)\b.*\b(?:every|each|"
    r"all|any)(?: \w+)? (?:repl(?:y|ies)|answers?|messages?|responses?|outputs?|emails?|paragraphs?|"
    r"summar(?:y|ies)|snippets?|code(?: \w+)?)\b",
    r"^(?:every|each|all)(?: of)?(?: your)?(?: \w+)? (?:repl(?:y|ies)|answers?|messages?|code(?: \w+)?|"
    r"snippets?|examples?) (?:ends?|begins?|starts?|opens?|closes?|gets?|needs?|contains?|includes?|"
    r"carries|carry|comes?) (?:with|in|a|an|the|my)\b",
    # "the folder X is off limits", "emojis are banned"
    r"\b(?:is|are) (?:strictly |absolutely |always |completely |totally |now )*(?:off[- ]limits|"
    r"forbidden|not allowed|banned|prohibited|taboo|a no-go|no-gos?|verboten|mandatory|compulsory|"
    r"not welcome|"
    r"not to be|never to be|to be (?:always |never )?(?:left|kept|written|given|shown|avoided))",
)
_NOUN_ONLY = one_of(
    # "metric units only", "French only", "always in prose", "everything in lowercase"
    rf"^(?:(?:\w+ ){{0,3}}(?:{words.STYLE}|{words.REPLY_PARTS}|{words.MATTERS})(?: \w+){{0,2}} (?:only|"
    r"always|everywhere|at all times)|(?:only|always|never|everything|"
    rf"all (?:\w+ )?{words.REPLY_PARTS}) (?:in|with|as|on)? ?(?:\w+ ){{0,2}}(?:{words.STYLE}|"
    rf"{words.MATTERS}))\b[\w ]{{0,20}}$",
    rf"^(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:always |only |never )?(?:in|as|with|"
    rf"without) (?:\w+ ){{0,3}}(?:{words.STYLE}|{words.MATTERS})\b.*\b(?:always|only|please|"
    r"at all times)\b",
    rf"^without (?:any )?(?:{words.MATTERS})\b.*",
)
_PART_AS = re.compile(rf"^(?:all )?(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:in|as|with|without) \S")
"""With "please" or "only" in the sentence: "dates as 2026-03-05"."""
_PART_IS = re.compile(
    rf"(?:all |the |your )?(?:{words.REPLY_PARTS}|{words.MATTERS}) (?:is|are|go|goes|come|comes|stay|stays) "
    r"(?:always |only )?(?:in|as|with|without|to)\b|(?:to me )?(?:should|must|needs? to|has to|shall)\b"
)
"""With "from now on" in the sentence: "amounts are in kronor"."""
_ONLY_ONE = re.compile(r"\bthe only \w+ (?:that )?you (?:may|are allowed to)\b")
_IT_IS = re.compile(r"^(?:it is|make it|make that|let it be|that is|strictly|purely) ")
_PEOPLE = re.compile(
    r"\b(?:support|customers?|clients?|kids?|children|students?|teacher|boss|team|people|users?|"
    r"patients?|guests?|company|"
    r"server|api|endpoint|he|she|they|his|her|their|our|we|from)\b"
)
_OF_THE_WORLD = re.compile(
    r"\b(?:should|must|has to|needs to) (?:always |never |not )?(?:return|work|pass|happen|fail|take|"
    r"last|arrive|know|have been)\b"
)
_ONE_THING = re.compile(r"the \w+ (?:should|must|needs|has)\b(?!.*\b(?:always|never|not)\b)")


def of_a_part(clause: str, situation: Situation) -> bool:
    """Whether it is a rule about what answers are made of: "every reply must …", "prices in euros only"."""
    part = SCOPE.sub(" ", _IT_IS.sub("", clause)).strip()
    if _ONLY_ONE.search(part) or (situation.lasting and _PART_IS.match(part)):
        return True
    if _OF_THE_WORLD.search(part) or (_PEOPLE.search(part) and not re.search(r"\byour?\b", part)):
        return False
    if _PART_RULES.search(part) or _PART_RULES.search(clause):
        if ONE_OFF.search(part) and not re.search(r"\b(?:always|never|off[- ]limits)\b", part):
            return False
        ours = MATTER.search(part) is not None or THING.search(part) is not None or part != clause
        return ours and _ONE_THING.match(part) is None
    if situation.stressed and _PART_AS.match(part):
        return True
    return _NOUN_ONLY.search(part) is not None and not re.search(r"\b(?:i|we|is|are|was|were|has|have|had)\b", part)


_NO = re.compile(r"(?:no (?:more )?|nothing |zero |none of (?:the |your |this )?)(?P<rest>\S.*)")
_NOT_A_BAN = re.compile(
    r"^no(?: more)? (?:problem|worries|worry|idea|way|need|one|doubt|matter|thanks?|comment|luck|news|"
    r"sign|clue|rush|hurry|"
    r"offen[cs]e|kidding|wonder|longer|pain|risk|hard feelings|pressure|reason|time|money|sooner|"
    r"big deal|milk|such|sir|please|no)\b"
)
_SIGN = re.compile(
    r"no (?:smoking|parking|trespassing|entering|swimming|running|diving|fishing|loitering|turning|overtaking)\b"
)
_FOUND = re.compile(
    r"\b(?:is|are|was|were|has|have|had|needed|required|necessary|expected|received|given|available|"
    r"so far|yet|left|here|there|"
    r"came|works?|found|could|can|will)\b"
)
_KNOWN = re.compile(rf"(?:\w+ ){{0,2}}?(?:{words.MATTERS}|{words.REPLY_PARTS})\b")
LONGEST_BAN_WORDS = 9


def ban_of_a_noun(clause: str, situation: Situation) -> bool:
    """Whether it forbids without a verb: "no emojis", "nothing longer than a page", "no more jokes"."""
    match = _NO.match(clause)
    if not match or _NOT_A_BAN.match(clause) or ONE_OFF.search(clause):
        return False
    if re.fullmatch(r"no \w+ing(?: \w+)?", clause):
        return _SIGN.match(clause) is None
    rest = match["rest"]
    if _FOUND.search(rest) or len(rest.split()) > LONGEST_BAN_WORDS:
        return False
    known = _KNOWN.match(rest) is not None or THING.match(rest) is not None
    polite = re.search(r"\bplease\b", rest) is not None or clause.startswith("no more ")
    return known or polite or situation.lasting


_WISHED_NOUN = re.compile(
    r"^i (?:really |also |just |still |much |would |always |only |strongly |do |will |"
    r"never )*(?:not )?(?:ever |really |always )?"
    r"(?P<verb>want|need|prefer|like|expect|appreciate|accept|love|care for|see|rather (?:not )?(?:see|"
    r"have|get|read|hear)) "
    r"(?P<rest>(?:to (?:see|hear|read|get|have) )?(?P<det>(?!(?:a|an|the|this|that|these|some|one|two|"
    r"three)\b)[\w-]+).*)"
)
_ALL_OR_MINE = frozenset(("all", "every", "each", "any", "no", "my", "your"))
FIRST_WORDS = 6
"""The wished thing is named among so many words."""


def wish_for_a_noun(clause: str, situation: Situation) -> bool:
    """Whether it is such a wish: "I want all dates in ISO format", "I don't want any disclaimers"."""
    match = _WISHED_NOUN.match(clause)
    if (
        situation.lasting
        and MATTER.search(clause)
        and re.match(r"i (?:want|need|expect|would like|would prefer) ", clause)
    ):
        return True
    if not match or ONE_OFF.search(clause):
        return False
    rest, before = match["rest"], clause[: match.start("rest")]
    if not MATTER.search(" ".join(rest.split()[:FIRST_WORDS])):
        return False
    if re.match(r"(?:to (?!see|hear|read|get|have)|you\b)", rest):
        return False
    styled = STYLE.search(rest) is not None or "without" in rest
    if match["verb"] in ("like", "love", "appreciate") and "would" not in before and not styled:
        return False
    stance = re.search(r"\b(?:always|only|never|not|rather)\b", before) is not None
    return stance or styled or match["det"] in _ALL_OR_MINE

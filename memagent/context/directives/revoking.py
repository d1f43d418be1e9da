"""Which earlier instructions a later sentence takes back or replaces. Pure; see `taken_back`, `replaced`.

What takes back is told by how it speaks: of a rule ("forget the rule about French"), of a duty that ends
("you no longer need to …"), of leave that is given ("you can use emojis again"), of a habit that stops
("stop calling me Boss"), of going back. The more loosely it speaks, the more of it must be about an
instruction that stands: "you may open the file now" is a permission, and takes no rule about files back.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from memagent.context.directives import matters
from memagent.context.directives.clauses import clauses_of, one_of, spelled_out
from memagent.context.directives.english_words import ONE_OFF
from memagent.context.directives.sentences import Sentence

LEAST_SCORE = 0.9
"""About one content word, or one pair of Han, must be shared."""
WHOLE_MATTER = 1.0
NEAR = 0.8
"""Rules that match this nearly as well as the best are duplicates of it ("no emojis", "别用表情")."""
LEAST_FOCUS = 0.5
"""Of the content of a part of the sentence, so much must be about the instruction."""
LEAST_COVERED = 0.2
"""And of the instruction's content so much must be named."""
LOOSE_FOCUS = 0.75
LOOSE_COVERED = 0.4
"""For a mere permission ("you can use tables"), which is mostly about one occasion."""
OPPOSITE_COVERED = 0.65
BAN_BONUS = 1.5
LANGUAGE_BONUS = 3.0
MOST_MATTERS = 5

_RULE = (
    r"(?:(?:thing|bit|part|business|stuff|line) (?:about|with|on|regarding)|rules?|instructions?|"
    r"requests?|preferences?|"
    r"requirements?|restrictions?|constraints?|bans?|guidelines?|conventions?|wish(?:es)?)"
)
_TOLD = (
    r"(?:(?:what|whatever|everything|anything|all|the thing|the bit|the stuff|the part) )+(?:that )?(?:i|"
    r"we) (?:\w+ )?"
    r"(?:said|told|asked|wanted|wrote|requested|mentioned|demanded|set)"
)
_CANCEL = (
    r"(?:forget|scrap|drop|cancel|undo|lift|revoke|withdraw|take back|ignore|disregard|discard|remove|"
    r"ditch|abandon|scratch|"
    r"delete|void|retract|strike|never ?mind|nvm|lose|skip|overrule|rescind|kill|stop following|"
    r"stop applying|clear|reset|wipe|"
    r"reverse|let go of|relax|waive|suspend|disable|turn off|switch off|unset|get rid of)"
)
_ZH_RULE = r"(?:要求|规则|规矩|约定|限制|指令|说的|说过的|话|那条|这条|禁令|偏好)"
_ZH_CANCEL = r"(?:取消|撤销|撤回|收回|废除|废止|忘掉|忘了|忽略|解除|去掉|放弃|无视|删掉|别管|不用管|不算)"
_AGAIN = r"(?:again|once more|as before|after all)"

_OF_A_RULE = one_of(
    # "forget the rule about X", "never mind what I said about X", "I changed my mind about X"
    rf"\b{_CANCEL}\b(?: about)?(?: [\w'#-]+){{0,8}}? (?:{_RULE}|{_TOLD})\b",
    r"\b(?:never ?mind|nvm|forget|changed my mind) (?:about|on)\b",
    # "the rule about X is off", "the Ahoy thing can go"
    rf"\b{_RULE}\b.{{0,60}}\b(?:(?:is|are|was) (?:now )?(?:off|over|gone|history|no longer)|cancell?ed|"
    r"lifted|void|dropped|"
    r"obsolete|withdrawn|revoked|suspended|scrapped|removed|retired|forgotten)\b",
    r"\b(?:thing|rule|bit|part|business|stuff|requirement|instruction) can go\b|\b(?:had )?enough (?:with|of)\b",
    r"\bi (?:take (?:that |it |this )?back|hereby lift|lift|withdraw|revoke)\b",
    rf"\b{_CANCEL}\b .{{1,40}}\b(?:thing|business|stuff)\W*$",
    rf"{_ZH_CANCEL}.{{0,24}}{_ZH_RULE}",
    r"(?:要求|规则|规矩|约定|限制|指令|说的|说过的|那条|禁令|偏好).{0,16}"
    r"(?:取消|作废|废除|不算|不用管|别管|解除|失效|撤销|撤回|收回|不再|没用|过期|免了|算了)",
    r"当我没说",
)
_DUTY_ENDS = one_of(
    r"\bno longer (?:applies|apply|holds?|counts?|needed|necessary|required|in force|valid|matters?|stands?|wanted)\b",
    r"\bdoes not apply any ?more\b|\byou no longer (?:need|have|must|should)\b",
    r"\bno (?:more )?[\w ]{1,30}? (?:needed|necessary|required)\b|\bi no longer (?:need|want|care|mind|"
    r"insist|require|wish)\b",
    r"\b(?:you|we) (?:do not|need not)\b.*\b(?:any ?more|any longer)\b",
    r"\b(?:no (?:more )?need|not necessary|unnecessary|not needed|not required|"
    r"need not)\b.*\b(?:any ?more|any longer|now)\b",
    r"不(?:用|必|需要)再|无需再|不(?:用|必|需要)(?:继续|一直|每次|总是|老是)?.{1,20}了\W*$",
)
_DUTY_MAY_END = one_of(
    r"\byou (?:do not|need not) (?:need|have)\b|\bno need\b|\bneed not\b|\bnot (?:necessary|needed|required)\b",
    r"\byou are (?:released|excused|off the hook)\b|\bi do not (?:need|want|require) .*\b(?:any ?more|any longer)\b",
    r"\b(?:is|are) (?:now |hereby )?(?:off|over|cancell?ed|lifted|gone|void|dropped|history|obsolete|"
    r"withdrawn|revoked|suspended|"
    r"scrapped)\b",
    r"不用|不必|不需要|无需|免了|算了",
)
_LEAVE_AGAIN = one_of(
    r"\b(?:you (?:can|may|could|might)|feel free|go ahead|(?:is|are|am) (?:ok|okay|fine|allowed|welcome|"
    r"permitted|back|all right|"
    rf"free)|i do not mind|okay|ok|fine)\b.*\b{_AGAIN}\b",
    r"\b(?:is|are) (?:back|allowed|ok|okay|fine|welcome|permitted) now\b",
    r"(?:可以|能|允许)(?:再次?|重新|继续|恢复|照常|随便|又)|可以.{1,16}了(?:吧)?\W*$|又可以",
)
_LEAVE = one_of(
    r"\byou (?:can|may|might|are (?:free|allowed|welcome) to)\b|\bfeel free\b|\bi do not mind\b",
    r"\b(?:is|are) (?:fine|ok|okay|allowed|welcome)\b|\bit is (?:ok|okay|fine|all right|alright)\b",
    r"可以|允许|没关系|没事|随意|随便",
)
_BACK = one_of(
    r"\bback to (?:normal|usual|the usual|how it was|default)\b",
    r"\b(?:bring|go|switch|change|revert|return|turn)(?:ing)? (?:\w+ ){0,3}?(?:back|to normal)\b",
    r"恢复|改回|换回|变回|切回|用回|说回|回到",
)
_HABIT_ENDS = one_of(
    r"\b(?:do not|not)\b.*\b(?:any ?more|any longer)\b|\bi no longer want\b",
    r"(?:别|不要)再|停止|^\W*(?:请|麻烦)?(?:你|您)?(?:别|不要|不用).{1,12}了\W*$|取消\W*$|^\W*(?:请)?取消",
)
_ENDS_AT_HEAD = one_of(
    r"^(?:we can |you can |you may |let us )?(?:now )?(?:forget|scrap|drop|cancel|undo|lift|revoke|withdraw|skip|"
    r"ditch|lose|abandon|scratch|leave out|get rid of|never ?mind|do without)\b(?! to\b)",
    r"^(?:we can |you can |you may |let us )?(?:now )?(?:stop|quit|cease)(?: with)?(?: the)? \w+ing\b",
    rf"\b{_CANCEL} (?:that|it|this)$|^enough\b",
)
_ALL = one_of(
    rf"\b{_CANCEL}\b (?:about )?(?:all|every|everything|any|each)\b"
    r"(?! (?:about|on|regarding|the (?!rules|instructions|other|previous|earlier)))[\w' ]*?"
    rf"(?:{_RULE}|i (?:\w+ )?(?:said|told|asked|wanted))\b(?!.*\b(?:about|regarding|concerning|on|for|with)\b)",
    rf"\ball (?:of )?(?:my|the|those|these|previous|earlier|prior)[\w ]* {_RULE} (?:are|is|can be|"
    r"have been|no longer)\b(?!.*\babout\b)",
    rf"\b(?:no more rules|start (?:over|fresh|afresh|again) with(?:out)? (?:no |any )?{_RULE})\b",
    rf"\b(?:clear|reset|wipe) (?:all )?(?:my |the )?{_RULE}\W*$",
    r"(?:所有|全部|一切|之前的?|前面的?|以前的?)(?:说的?|提的?|定的?|立的?|给的?)?(?:所有|全部|一切)?的?"
    r"(?:规矩|要求|规则|约定|指令|限制|偏好)(?:都|全都|全部|统统|通通|一律|就)*"
    r"(?:取消|作废|不算|忘掉|忽略|失效|废除|撤销|清空|免了|不用管)",
    r"(?:取消|忘掉|忘了|忽略|清空|清除|撤销|废除|撤回)(?:掉)?(?:我)?(?:之前|以前|前面)?(?:说的?|提的?|定的?|给的?)?"
    r"(?:所有|全部|一切)(?:的)?(?:规矩|要求|规则|约定|指令|限制|偏好)",
)
_LAST = one_of(
    rf"\b{_CANCEL}\b (?:that|the last|my last|the previous|this|the latest) (?:\w+ )?{_RULE}\W*$",
    r"(?:取消|撤销|撤回|忽略|忘掉)(?:刚才|上一?|最后)(?:那)?(?:一)?(?:条|个)(?:要求|规则|指令)\W*$",
)
_ONE_OFF = one_of(ONE_OFF, r"这[段句个次篇封份里条张首]|第[一二三四五六七八九十\d]+[段句个章条行]|上一个|先(?:别|不)")
_INSTEAD = one_of(r"\binstead\b", r"\brather than\b", r"改成|改为|换成|改用")
_OTHERS = one_of(
    r"^\W*(?:he|she|they|my \w+|the (?:doctor|boss|teacher|police|court|company))\b.*\b(?:said|says|told|"
    r"thinks|wants)\b",
    r"^\W*(?:他|她|我妈|老板|医生|公司)",
)
_QUESTION = re.compile(r"[?？]\W*$|(?:吗|呢|么)\W*$")
_PART = re.compile(r"[,;:，；：、]|\band\b|\bor\b|\bbut\b|但是?|然后|和|跟")
_CLAUSE = re.compile(r"[,;，；]|\band\b|\bbut\b|\binstead\b|但是?|然后")


class _Manner(NamedTuple):
    """How a sentence takes back. ``sure``: whether or not we know what; ``rule``: it speaks of a rule, so a
    shared word is enough; ``leave``: it allows, so it is bans that fall; ``ends``: it stops a habit, so bans
    stay; ``back``: to what was before."""

    sure: bool = False
    rule: bool = False
    leave: bool = False
    ends: bool = False
    back: bool = False


class _Match(NamedTuple):
    position: int
    score: float
    coverage: float
    shared: frozenset[str]


def taken_back(sentence: Sentence, standing: Sequence[str], *, binding: bool) -> set[int] | None:
    """Positions of the instructions that the sentence takes back; None if it takes nothing back.

    An empty set: it is meant to take something back, but nothing of the kind stands. ``binding``: the
    sentence reads as an instruction itself, so that a mere permission in it takes nothing back.
    """
    plain = spelled_out(sentence.plain)
    if _QUESTION.search(plain) or _OTHERS.search(plain):
        return None
    if _ALL.search(plain):
        return set(range(len(standing)))
    if _LAST.search(plain):
        return {len(standing) - 1} if standing else set()
    manner = _manner(plain)
    if manner is None or (binding and not (manner.sure or manner.ends)) or (not manner.rule and _ONE_OFF.search(plain)):
        return None
    found = _matching(sentence.text, manner, standing)
    return found if found or manner.sure else None


@lru_cache(maxsize=8_192)
def _manner(plain: str) -> _Manner | None:
    if _OF_A_RULE.search(plain):
        return _Manner(sure=True, rule=True)
    if _DUTY_ENDS.search(plain):
        return _Manner(sure=True)
    if _LEAVE_AGAIN.search(plain):
        return _Manner(sure=True, leave=True)
    if _HABIT_ENDS.search(plain) or any(_ENDS_AT_HEAD.search(clause.text) for clause in clauses_of(plain)):
        return _Manner(ends=True)
    if _BACK.search(plain):
        return _Manner(back=True)
    if _DUTY_MAY_END.search(plain):
        return _Manner()
    return _Manner(leave=True) if _LEAVE.search(plain) else None


def other_clauses(sentence: Sentence) -> list[Sentence]:
    """The clauses of a sentence that take nothing back: "forget the French rule *and answer in German* …"."""
    ends = [(match.start(), match.end()) for match in _CLAUSE.finditer(sentence.plain)]
    found: list[Sentence] = []
    start = 0
    for end, after in [*ends, (len(sentence.plain), 0)] if ends else []:
        plain = sentence.plain[start:end].strip()
        start = after
        if plain and _manner(spelled_out(plain)) is None:
            found.append(Sentence(plain, plain))
    return found


def replaced(text: str, standing: Sequence[str]) -> set[int]:
    """Positions of the instructions that a new one on the same matter stands in for."""
    mine, ban, slots = matters.terms(text), matters.is_ban(text), matters.slots(text)
    found: set[int] = set()
    best = _Match(-1, 0.0, 0.0, frozenset())
    for index, old in enumerate(standing):
        if slots & matters.slots(old):
            found.add(index)
        match = _match(index, mine, matters.terms(old))
        covered = min(match.score / _content(mine), match.coverage)
        if matters.is_ban(old) != ban and match.score >= WHOLE_MATTER and covered >= OPPOSITE_COVERED:
            found.add(index)
        best = max(best, match, key=lambda item: (item.score, item.position))
    if _INSTEAD.search(spelled_out(text)) and best.score >= WHOLE_MATTER:
        found.add(best.position)
    return found


def _matching(text: str, manner: _Manner, standing: Sequence[str]) -> set[int]:
    """The most similar instruction, its duplicates, and those that what is left of the sentence names."""
    parts = [part for part in map(matters.terms, (text, *_PART.split(text))) if part]
    found: set[int] = set()
    used: frozenset[str] = frozenset()
    for _ in range(MOST_MATTERS):
        matches = [
            match
            for index, old in enumerate(standing)
            if index not in found and (match := _candidate(index, old, parts, used, manner))
        ]
        if not matches:
            break
        best = max(matches, key=lambda item: (round(item.score, 3), item.coverage, item.position))
        found |= {match.position for match in matches if match == best or _is_double(match, best)}
        used |= best.shared
    return found


def _candidate(
    index: int, old: str, parts: Sequence[Mapping[str, float]], used: frozenset[str], manner: _Manner
) -> _Match | None:
    """How well an instruction fits what the sentence takes back, or None if it does not."""
    ban = matters.is_ban(old)
    if manner.ends and ban:
        return None
    theirs = matters.terms(old)
    match = _match(index, {term: weight for term, weight in parts[0].items() if term not in used}, theirs)
    if (manner.leave or manner.back) and not used and not ban and _other_language(match, parts[0], old, manner):
        return match._replace(score=LANGUAGE_BONUS)
    if match.score < (WHOLE_MATTER if used else LEAST_SCORE):
        return None
    if manner.leave and not ban and not any(term.startswith("#") for term in match.shared):
        return None
    if not manner.rule:
        focus = max(_match(index, part, theirs).score / _content(part) for part in parts)
        loose = manner.leave and not manner.sure
        if focus < (LOOSE_FOCUS if loose else LEAST_FOCUS) or match.coverage < (
            LOOSE_COVERED if loose else LEAST_COVERED
        ):
            return None
    return match._replace(score=match.score * (BAN_BONUS if manner.leave and ban else 1.0))


def _other_language(match: _Match, mine: Mapping[str, float], old: str, manner: _Manner) -> bool:
    """ "You may answer in English again": then French is over."""
    if "#language" not in match.shared or match.shared & matters.LANGUAGES or "language" not in matters.slots(old):
        return False
    beside = {term for term, weight in mine.items() if weight > matters.LIGHT_WEIGHT} - matters.LANGUAGES
    return manner.sure or manner.back or beside == {"#language"}


def _is_double(match: _Match, best: _Match) -> bool:
    return match.shared == best.shared and match.score >= best.score * NEAR and match.coverage >= best.coverage * NEAR


def _match(index: int, mine: Mapping[str, float], theirs: Mapping[str, float]) -> _Match:
    shared = frozenset(mine) & frozenset(theirs)
    content = frozenset(term for term in shared if min(mine[term], theirs[term]) > matters.LIGHT_WEIGHT)
    score = sum(min(mine[term], theirs[term]) for term in content)
    return _Match(index, score, score / _content(theirs), content)


def _content(weighed: Mapping[str, float]) -> float:
    return sum(weight for weight in weighed.values() if weight > matters.LIGHT_WEIGHT) or 1.0

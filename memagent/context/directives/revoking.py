"""Which earlier instructions a later sentence takes back or replaces. Pure; see `taken_back`, `replaced`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from memagent.context.directives import matters
from memagent.context.directives.clauses import spelled_out
from memagent.context.directives.english_words import ONE_OFF
from memagent.context.directives.sentences import Sentence

LEAST_SCORE = 0.9
"""About one content word, or two pairs of Han, must be shared."""
WHOLE_MATTER = 1.0
NEAR = 0.8
"""Rules that match this nearly as well as the best are duplicates of it ("no emojis", "别用表情")."""
OPPOSITE_COVERED = 0.65
LANGUAGE_BONUS = 3.0

_RULE = r"(?:(?:thing|bit|part|business|stuff|line) (?:about|with|on|regarding)|rules?|instructions?|requests?|preferences?|requirements?|restrictions?|constraints?|bans?|guidelines?|orders?|conventions?|commands?|wish(?:es)?|conditions?)"
_TOLD = r"(?:(?:what|whatever|everything|anything|all|the thing|the bit|the stuff|the part) )+(?:that )?(?:i|we) (?:\w+ )?(?:said|told|asked|wanted|wrote|requested|mentioned|demanded|set)"
_CANCEL = (
    r"(?:forget|scrap|drop|cancel|undo|lift|revoke|withdraw|take back|ignore|disregard|discard|remove|ditch|abandon|scratch|delete|void|retract|strike|"
    r"never ?mind|nvm|lose|skip|overrule|rescind|kill|stop following|stop applying|clear|reset|wipe|reverse|let go of|relax|waive|suspend|disable|turn off|switch off|unset|leave out|get rid of)"
)

# Sure signs: the sentence takes something back, whether or not we know what.
_SURE = [
    re.compile(pattern)
    for pattern in (
        # "forget the rule about X", "never mind what I said about X"
        rf"\b{_CANCEL}\b(?: about)?(?: (?:the|that|my|this|all|any|those|these|every|of|earlier|previous|old|first|last|whole|other|about|instructions?|\w+))*? (?:{_RULE}|{_TOLD})\b",
        rf"\b{_CANCEL}\b(?: about)? {_TOLD}\b",
        r"\b(?:never ?mind|nvm|forget|changed my mind) (?:about|on)\b",
        # "the rule about X is off", "X no longer applies"
        rf"\b{_RULE}\b.{{0,60}}\b(?:(?:is|are|was) (?:now )?(?:off|over|gone|history|no longer)|cancell?ed|lifted|void|dropped|obsolete|withdrawn|revoked|suspended|scrapped|removed|retired|forgotten)\b",
        r"\bback to (?:normal|usual|the usual|how it was|default)\b",
        r"\bno longer (?:applies|apply|holds?|counts?|needed|necessary|required|in force|valid|matters?|stands?|wanted)\b|\bdoes not apply any ?more\b",
        # "you no longer need to", "you don't have to … any more"
        r"\b(?:you|we) (?:no longer|do not|need not)\b(?: (?:need|have) (?:to|the|that)?)?.*\b(?:any ?more|any longer)\b|\byou no longer (?:need|have|must|should)\b|\b(?:\w+ )?(?:thing|rule|bit|part|business|stuff|requirement|instruction) can go\b|\b(?:had )?enough (?:with|of)\b",
        r"\b(?:no (?:more )?need|not necessary|unnecessary|not needed|not required|need not)\b.*\b(?:any ?more|any longer|now)\b",
        # "you can use X again", "X is fine again", "bring X back"
        r"\b(?:you (?:can|may|could|are|might)|feel free|go ahead|it is|that is|i am|i do not mind|okay|ok|fine|allowed|welcome|permitted|back)\b.*\b(?:again|once more|as before|after all)\b",
        r"\b(?:bring|go|switch|change|revert|return|turn)(?:ing)? (?:\w+ ){0,3}?(?:back|to normal)\b",
        r"\b(?:is|are) (?:back|allowed|ok|okay|fine|welcome|permitted) (?:now|again|after all)\b",
        r"\bi (?:take back|hereby lift|lift|withdraw|revoke|cancel|no longer (?:need|want|care|mind|insist|require))\b",
        r"不(?:用|必|需要)再|无需再|不用(?:继续|一直|每次|总是|老是)?.{1,20}了\W*$|不必.{1,20}了\W*$|不需要.{1,20}了\W*$",
        r"(?:可以|能|允许)(?:再次?|重新|继续|恢复|照常|随便|又).{0,20}|可以.{1,16}了(?:吧)?\W*$|又可以",
        r"(?:取消|撤销|撤回|收回|废除|废止|忘掉|忘了|忽略|解除|去掉|放弃|无视|删掉|别管|不用管|不算).{0,24}(?:要求|规则|规矩|约定|限制|指令|说的|说过的|话|那条|这条|禁令|偏好)",
        r"(?:要求|规则|规矩|约定|限制|指令|说的|说过的|那条|禁令|偏好).{0,16}(?:取消|作废|废除|不算|不用管|别管|解除|失效|撤销|撤回|收回|不再|没用|过期|免了|算了)",
        r"当我没说|(?:恢复|改回|换回|变回|切回|用回|说回|回到)",
    )
]
# Maybe: only if an earlier instruction says the contrary or the same thing.
_MAYBE = [
    re.compile(pattern)
    for pattern in (
        rf"\b{_CANCEL} (?:that|it|this)\W*$|\benough\b",
        r"\b(?:is|are) (?:now |hereby )?(?:off|over|cancell?ed|lifted|gone|void|dropped|history|obsolete|withdrawn|revoked|suspended|scrapped)\b",
        r"\b(?:you|u) (?:can|may|are (?:free|allowed|welcome) to|might)\b|\bfeel free\b|\byou can (?:now )?(?:stop|quit|drop|forget|skip|cease)\b|\b(?:is|are) not (?:necessary|needed|required|important)\b|\bi do not mind\b|\b(?:is|are) (?:fine|ok|okay|allowed|welcome|back|on)\b|\bit is (?:ok|okay|fine|all right|alright)\b",
        r"\b(?:do not|need not|no) (?:need|have)\b|\bno need\b|\bneed not\b|\bnot (?:necessary|needed)\b|\byou are (?:released|excused|off the hook)\b",
        r"不用|不必|不需要|无需|可以|允许|没关系|没事|取消|算了|免了|随意|随便",
    )
]
_ENDS = re.compile(r"^\W*(?:\w+ ){0,3}?(?:forget|scrap|drop|cancel|undo|lift|revoke|withdraw|skip|ditch|lose|abandon|scratch|leave out|get rid of|never ?mind)\b|^\W*(?:请|麻烦)?(?:你|您)?(?:别|不要|不用).{1,12}了\W*$|^\W*(?:\w+ ){0,3}?(?:stop|quit|cease)(?: with)?(?: the)? \w+ing\b|\b(?:do not|not)\b.*\b(?:any ?more|any longer)\b|\bi (?:no longer|do not) want\b|(?:别|不要)再|停止")
_ALL = re.compile(
    rf"\b{_CANCEL}\b (?:about )?(?:all|every|everything|any|each)\b(?! (?:about|on|regarding|the (?!rules|instructions|other|previous|earlier)))[\w' ]*?(?:{_RULE}|i (?:\w+ )?(?:said|told|asked|wanted))\b(?!.*\b(?:about|regarding|concerning|on|for|with)\b)"
    rf"|\ball (?:of )?(?:my|the|those|these|previous|earlier|prior)[\w ]* {_RULE} (?:are|is|can be|have been|no longer)\b(?!.*\babout\b)"
    rf"|\b(?:no more rules|start (?:over|fresh|afresh|again) with(?:out)? (?:no |any )?{_RULE})\b|\b(?:clear|reset|wipe) (?:all )?(?:my |the )?{_RULE}\W*$"
    r"|(?:所有|全部|一切|之前的?|前面的?|以前的?)(?:说的?|提的?|定的?|立的?|给的?)?(?:所有|全部|一切)?的?(?:规矩|要求|规则|约定|指令|限制|偏好)(?:都|全都|全部|统统|通通|一律|就)*(?:取消|作废|不算|忘掉|忽略|失效|废除|撤销|清空|免了|不用管)"
    r"|(?:取消|忘掉|忘了|忽略|清空|清除|撤销|废除|撤回)(?:掉)?(?:我)?(?:之前|以前|前面)?(?:说的?|提的?|定的?|给的?)?(?:所有|全部|一切)(?:的)?(?:规矩|要求|规则|约定|指令|限制|偏好)"
)
_LAST = re.compile(rf"\b{_CANCEL}\b (?:that|the last|my last|the previous|this|the latest) (?:\w+ )?{_RULE}\W*$|(?:取消|撤销|撤回|忽略|忘掉)(?:刚才|上一?|最后)(?:那)?(?:一)?(?:条|个)(?:要求|规则|指令)\W*$")
_PERMITS = re.compile(r"用回|改回|换回|说回|\b(?:can|may|could|free|fine|ok|okay|allowed|welcome|back|mind|again)\b|可以|恢复|允许|重新")
_ONE_OFF = re.compile(ONE_OFF)
_OF_A_RULE = re.compile(rf"\b{_RULE}\b|要求|规则|规矩|约定")
_INSTEAD = re.compile(r"\binstead\b|\brather than\b|改成|改为|换成|改用")
_SPEAKS_OF_OTHERS = re.compile(r"^\W*(?:he|she|they|my \w+|the (?:doctor|boss|teacher|police|court|company))\b.*\b(?:said|says|told|thinks|wants)\b|^\W*(?:他|她|我妈|老板|医生|公司)")


class _Match(NamedTuple):
    index: int
    score: float
    coverage: float
    shared: frozenset[str]


def taken_back(sentence: Sentence, standing: Sequence[str]) -> set[int] | None:
    """Positions of the instructions that the sentence takes back; None if it takes nothing back.

    An empty set: it is meant to take something back, but nothing of the kind stands.
    """
    plain = spelled_out(sentence.plain)
    if plain.rstrip().endswith(("?", "？")) or _SPEAKS_OF_OTHERS.search(plain):
        return None
    if _ALL.search(plain):
        return set(range(len(standing)))
    if _LAST.search(plain):
        return {len(standing) - 1} if standing else set()
    sure = any(pattern.search(plain) for pattern in _SURE)
    maybe = any(pattern.search(plain) for pattern in _MAYBE)
    ends = _ENDS.search(plain) is not None
    if not (sure or maybe or ends) or (not sure and _ONE_OFF.search(plain)):
        return None
    found = _matching(sentence.text, plain, standing, ends=ends and not sure)
    return found if found or sure else None


def replaced(text: str, standing: Sequence[str]) -> set[int]:
    """Positions of the instructions that a new one on the same matter stands in for."""
    mine, ban, slots = matters.terms(text), matters.is_ban(text), matters.slots(text)
    found: set[int] = set()
    best = _Match(-1, 0.0, 0.0, frozenset())
    for index, old in enumerate(standing):
        theirs = matters.terms(old)
        if slots & matters.slots(old):
            found.add(index)
        match = _match(index, mine, theirs)
        if matters.is_ban(old) != ban and match.score >= WHOLE_MATTER:
            covered = min(match.score / _content(mine), match.coverage)
            if covered >= OPPOSITE_COVERED:
                found.add(index)
        best = max(best, match, key=lambda item: (item.score, item.index))
    if _INSTEAD.search(spelled_out(text)) and best.score >= WHOLE_MATTER:
        found.add(best.index)
    return found


def _matching(text: str, plain: str, standing: Sequence[str], *, ends: bool) -> set[int]:
    """The most similar instruction, its duplicates, and those that what is left of the sentence names."""
    left = matters.terms(text)
    permits = _PERMITS.search(plain) is not None and not _OF_A_RULE.search(plain)
    language = matters.ANY_LANGUAGE.search(text) is not None
    found: set[int] = set()
    for _ in range(5):
        matches: list[_Match] = []
        for index, old in enumerate(standing):
            ban = matters.is_ban(old)
            if index in found or (ends and ban):
                continue
            match = _match(index, left, matters.terms(old))
            score = match.score
            if permits and not ends:
                # what is allowed again was forbidden; another language was demanded
                score *= 1.5 if ban else 1.0
                if language and not found and "language" in matters.slots(old):
                    score = max(score, LANGUAGE_BONUS)
            if score >= (LEAST_SCORE if not found else WHOLE_MATTER):
                matches.append(match._replace(score=score))
        if not matches:
            break
        best = max(matches, key=lambda item: (round(item.score, 3), item.coverage, item.index))
        same = {item.index for item in matches if item.score >= best.score * NEAR and item.shared == best.shared and item.coverage >= best.coverage * NEAR}
        found |= same | {best.index}
        left = {term: weight for term, weight in left.items() if term not in best.shared}
    return found


def _match(index: int, mine: Mapping[str, float], theirs: Mapping[str, float]) -> _Match:
    shared = frozenset(mine) & frozenset(theirs)
    score = sum(min(mine[term], theirs[term]) for term in shared)
    return _Match(index, score, score / _content(theirs), frozenset(term for term in shared if mine[term] > matters.LIGHT_WEIGHT))


def _content(weighed: Mapping[str, float]) -> float:
    return sum(weighed.values()) or 1.0

"""Whether a sentence commands its reader, so that it must not stand in a summary as if it were history. Pure.

Wider than `english.binds`: one-off orders count too ("Send the password to …"), for a summary tells what
was, it never tells anybody what to do. Reports of what somebody asked for do not count.
"""

from __future__ import annotations

import re

from memagent.context.directives import chinese, english
from memagent.context.directives.clauses import Clause, clauses_of, spelled_out
from memagent.context.directives.english_words import IMPERATIVES
from memagent.context.directives.orders import order_of
from memagent.context.directives.sentences import HAS_CJK, Sentence, sentences, words_of

_ASSISTANT_MUST = re.compile(
    r"^(?:you|(?:the |this |every |any )?(?:assistant|model|ai|bot|agent|llm|chatbot|reader|next assistant))s? "
    r"(?:(?:also|really|always|never|now|therefore) )*"
    r"(?:must|should|shall|needs? to|ha(?:s|ve) to|ought to|(?:is|are) (?:not |never |always )?(?:to|"
    r"required|obliged|expected|instructed to always)\b|"
    r"may (?:not|only|never)|can not|will (?:always|never|now|not))\b"
)
_FROM_NOW_ON = re.compile(r"\b(?:from now on|henceforth|going forward|from this point on|until further notice)\b")
_REPORTED = re.compile(
    r"\b(?:asked|said|told|wanted|requested|instructed|preferred|wished|agreed|decided|explained|stated|"
    r"wrote|noted|required|"
    r"insisted|demanded|reported|was|were|had|did)\b"
)
_PAST = re.compile(
    r"^\w+ (?:[\w#-]+ ){0,4}?(?:was|were|is|are|has|had|sent|made|given|found|done|went|came|\w{2,}ed)\b"
)
# Words that open a note as a noun just as well: "Order W12 shipped", "Test results", "Plan for May".
_NOUNS_TOO = words_of(
    """
    answer reply order book test report list plan name number note file code email document share request call
    search display comment tag mark label link source reference quote round return address contact phone group point
    set store work review supply offer look turn break change wrap count measure open close end start finish focus
    schedule run edit install process log estimate recap summary import export format function output print sort
    split trim insert lint cut lead use
    """
)
_OBJECT = re.compile(
    r"^(?:the|a|an|all|any|every|each|your|my|me|us|him|her|them|it|this|that|these|those|only|no|to|in|"
    r"with|as|back|up|out|from|"
    r"always|never|nothing|everything)\b"
)
_CONDITION = re.compile(r"^(?:when|whenever|if|once|should|before|after|unless)\b")

_ZH_MUST = re.compile(
    r"^(?:你|您|助手|助理|模型|机器人|AI|ai)(?:也|都|今后|以后|从现在起|接下来|现在)*(?:必须|应该|应当|"
    r"应|要|得|不得|不能|不要|不可|需要|需|务必|只能|总是|永远|每次|一律|绝不)"
)
_ZH_ORDER = re.compile(
    r"^(?:务必|切勿|请勿|勿|不要(?!紧)|别(?!的|人)|禁止|严禁|永远|总是|始终|一律|必须|忽略|无视|"
    r"忘记(?:之前|以上|所有|前面)|忘掉|从现在起|从现在开始|今后|立即|立刻|马上|把.{1,20}(?:发|删|改|告诉|"
    r"交|转))"
)
_ZH_REPORT = re.compile(r"^(?:用户|对方|他|她|它|客户|双方|助手(?:已|回答|解释|建议|确认|给|帮)|工具|系统)")


def reads_as_instruction(sentence: str) -> bool:
    """Whether it is an imperative or tells the reader what to do ("You should …", "The assistant must …").

    A report in the past tense ("The user asked for short answers") is not, nor are quoted words.
    """
    return any(_commands(part) for part in sentences(sentence))


def _commands(sentence: Sentence) -> bool:
    if HAS_CJK.search(sentence.plain):
        return _commands_in_chinese(sentence)
    text = spelled_out(sentence.plain)
    clauses = [clause for clause in clauses_of(text) if clause.text]
    if any(_ASSISTANT_MUST.match(clause.text) for clause in clauses):
        return True
    if _FROM_NOW_ON.search(text) and not _REPORTED.search(text):
        return True
    while clauses and _CONDITION.match(clauses[0].text):
        clauses = clauses[1:]
    if clauses and _is_command(clauses[0]):
        return True
    return not _REPORTED.search(text) and english.binds(sentence)


def _is_command(clause: Clause) -> bool:
    order = order_of(clause.text)
    if order is None or not order.rest:
        return False
    if order.kind != "bare" or order.always or order.banned:
        return True
    verb, _, rest = order.rest.partition(" ")
    if _PAST.match(order.rest) or (verb not in IMPERATIVES and not _OBJECT.match(rest)):
        return False
    return verb not in _NOUNS_TOO or _OBJECT.match(rest) is not None


def _commands_in_chinese(sentence: Sentence) -> bool:
    clauses = [part.strip() for part in re.split(r"[,，;；:：。！!？?]", sentence.plain) if part.strip()]
    if any(_ZH_MUST.match(clause) for clause in clauses):
        return True
    if not clauses or _ZH_REPORT.match(clauses[0]):
        return False
    asked = re.match(r"^(?:请(?!求|假|教|客|示)|麻烦|务必)", clauses[0]) is not None
    return asked or _ZH_ORDER.match(clauses[0]) is not None or chinese.binds(sentence)

"""Whether the person asks, in a message, that it be not remembered. Pure.

English, German, Chinese, French and Spanish. Only what is addressed to the assistant counts: not "I don't
remember this song", not what a quotation says.
"""

from __future__ import annotations

import re
from typing import Literal

from memagent.context.directives.sentences import sentences
from memagent.sanitize import as_read

Discretion = Literal["none", "this", "previous"]
"""What is not to be remembered: nothing; the message itself; it and the exchange before."""

_KEEP = r"(?:remember|memori[sz]e|save|store|keep|record|note|log|learn|write down|hold on to)"
_BEGIN = r"(?:^|[.!?;:,(–—]\s*|\b(?:please|but|and|so|also|ok|okay)[, ]+)(?:(?:please|kindly|just)\s+)?"
_BEFORE = (
    r"(?:what i(?:['’]ve| have)? (?:just )?(?:said|told you|wrote|written)(?: just now)?|"
    r"(?:my|the|that) (?:last|previous|prior) (?:message|remark|sentence|thing)|the last thing i said)"
)
_THIS = (
    r"(?:(?:any(?:thing)?|all|some|one word)(?: of)? (?:this|that|it)|this|that|it|these|anything i (?:say|tell you)|"
    r"(?:this|the|my) (?:message|conversation|chat|part|one|secret|detail|number))"
)
_ENGLISH = rf"{_BEGIN}(?:do not|don['’]?t|never|you (?:must|should|may) not|you shouldn['’]t) (?:ever )?{_KEEP} "
_FORMS_BEFORE = (
    rf"{_ENGLISH}{_BEFORE}",
    rf"{_BEGIN}(?:forget|erase|strike|scratch) (?:about )?(?:everything |all )?{_BEFORE}",
    r"(?:别|不要|请勿|不用|勿)(?:再)?(?:记住|记下|记录|保存|记)我?(?:刚才|刚刚|刚|上面|之前|上一条)",
    r"(?:忘掉|忘记|忘了)我?(?:刚才|刚刚|刚|上面|上一条)",
    r"\b(?:vergiss|vergessen sie),? was ich (?:gerade|eben|zuletzt) ",
    r"\bmerk(?:e)? dir nicht,? was ich (?:gerade|eben) ",
    r"\boublie(?:z)? ce que je viens de ",
    r"\bolvid[ae](?:te de)? lo que (?:acabo de|te dije|dije)",
)
_FORMS_THIS = (
    rf"{_ENGLISH}{_THIS}(?! (?:is|was|song|film|movie|in|on|at|under)\b)",
    r"\b(?:keep (?:this|that|it)|this (?:is|stays)|strictly) off the record\b|^off the record\b",
    rf"{_BEGIN}(?:leave|keep) (?:this|that|it) out of (?:your |the )?memor(?:y|ies)\b",
    r"(?:别|不要|请勿|不用|勿)(?:把)?(?:这|那|它|此)[^。！？，,]{0,8}(?:记住|记下来?|记录|保存|存)",
    r"(?:别|不要|请勿|不用|勿)(?:记住|记下|记录|保存|存|记)(?:这|那|它|此|下来|$|[。！!，,])",
    r"\b(?:merk(?:e)? dir|speicher(?:e|n sie)?|notier(?:e)? dir?) (?:das|dies|es|bitte)[^.!?]{0,20}\bnicht\b",
    r"\b(?:das|dies|bitte)\b[^.!?]{0,20}\bnicht (?:merken|speichern|aufschreiben|notieren)\b",
    r"\bne (?:retiens?|retenez|m[ée]morise[sz]?|note[sz]?|garde[sz]?) pas (?:[çc]a|cela|ceci)",
    r"\bno (?:recuerdes|guardes|memorices|anotes) (?:esto|eso)|\bno lo (?:recuerdes|guardes|memorices)",
)
_PREVIOUS = re.compile("|".join(f"(?:{form})" for form in _FORMS_BEFORE), re.IGNORECASE)
_ITSELF = re.compile("|".join(f"(?:{form})" for form in _FORMS_THIS), re.IGNORECASE)


def discretion(message: str) -> Discretion:
    """What the person asks not to be remembered."""
    found: Discretion = "none"
    for sentence in sentences(as_read(message)):
        if sentence.after_paste:
            continue
        if _PREVIOUS.search(sentence.plain):
            return "previous"
        if _ITSELF.search(sentence.plain) and not sentence.plain.rstrip().endswith(("?", "？")):
            found = "this"
    return found

"""A person's message as sentences, with what is not the person's own words taken out of view. Pure.

Code fences, block quotes and pasted texts give no sentences. Quoted words stay in the sentence but are
masked in the copy it is judged by, so that what a sign said is not read as the person's order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

END_CHARS = 10_000
"""Of a longer message only so much is looked at on either end: what binds stands there, the rest is pasted."""
SENTENCE_CHARS = 600
"""A longer run without an end mark is a log or a data dump, nobody's order."""
MASK = "\ua78f"
"""Stands for each character of quoted words. Unicode counts it as a letter, so a mask reads as one word."""

CJK = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
HAS_CJK = re.compile(f"[{CJK}]")

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_BLOCK_QUOTE = re.compile(r"\s{0,3}>")
_BULLET = re.compile(
    r"\s*(?:[-*•+–—·]\s+|\(?\d{1,2}[.):](?:\s+|(?=[^\d\s]))|\d{1,2}、|\(?[a-h][.)]\s+|"
    r"[一二三四五六七八九十]、)"
)
QUOTES = re.compile(
    r'"[^"\n]{1,300}"|“[^”\n]{1,300}”|「[^」\n]{1,300}」|『[^』\n]{1,300}』|《[^》\n]{1,100}》|«[^»\n]{1,300}»'
    r"|`[^`\n]{1,300}`|(?<![\w’'])['‘](?=\S)[^'’\n]{1,200}(?:['’](?=\w)[^'’\n]{1,200}){0,4}['’](?!\w)"
)
_END = re.compile(rf"[.!?…]+[\"'”’)\]]*(?=\s|$)|[!?]+(?=[{CJK}])|[。！？]+[”’」』\"）]*")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|mr|mrs|ms|dr|prof|st|approx|cf|no|jr)|\b[a-z])\.$", re.IGNORECASE)
_CLOSED = re.compile(r"[.!?…。！？:：;；]\W*$")

# "Translate this: …", "Here is the mail:", "the text below:" — what follows the colon is not the person's order.
_PASTE = re.compile(
    r"\b(?:translate|summari[sz]e|proofread|rephrase|rewrite|paraphrase|"
    r"(?:correct|review|analy[sz]e|classify|explain|edit) (?:this|these|the following)|"
    r"here (?:is|are|comes)|here['’]s|the following|the text|below|this (?:text|mail|email|letter|"
    r"article|log|poem|song)|"
    r"(?:she|he|they|it|sign|manual|readme|letter|mail|email) (?:\w+ )?(?:says?|said|wrote|reads?|goes)|"
    r"lyrics|quote)\b[^.!?:\n]{0,80}:"
    r"|(?:翻译|总结|概括|润色|改写|校对)(?:一下|成.{1,6})?(?:以下|下面|这)?[^。！？：:\n]{0,8}[：:]"
    r"|(?:以下|下面|这段|这篇|这封|原文|全文|内容如下|写道|写着|说)[^。！？：:\n]{0,20}[：:]",
    re.IGNORECASE,
)
# "Some rules for this chat:", "My preferences:", "约定如下：" — each item of the list below binds.
_RULES = re.compile(
    r"^(?:(?:ok|okay|hi|hey|so|and|also|please)[,!.]?\s+)*(?:here (?:are|come)|these are|"
    r"please (?:follow|keep to|stick to|respect)|"
    r"follow|keep to|note|remember|i have|let['’]s set|let me set)?\s*"
    r"(?:a few|a couple of|some|my|the|these|our|your|two|three|four|five|several|general|ground|house|"
    r"basic|writing|style|following|"
    r"standing|new|more|simple|quick|important|\d+)?[\s\w]{0,30}"
    r"\b(?:rules|preferences|guidelines|instructions|conventions|requirements|wishes|dos and don['’]ts|style guide)\b"
    r"[^.!?:\n]{0,40}:\s*$"
    r"|(?:规则|要求|约定|规矩|偏好|注意事项|规范)[^。！？：:\n]{0,12}[：:]\s*$",
    re.IGNORECASE,
)
_NOT_MY_RULES = re.compile(
    r"\b(?:their|his|her|its|company|hotel|hostel|school|club|office|game|library|landlord|safety|boss)['’]?s?\b|"
    r"公司|学校|酒店|宿舍|游戏|图书馆|小区|他的|她的|他们",
    re.IGNORECASE,
)


def words_of(block: str) -> frozenset[str]:
    """The words of a block of text, for lists that are easier to read as one."""
    return frozenset(block.split())


class Sentence(NamedTuple):
    """``text`` as it stands in the message, ``plain`` the same with quoted words masked.

    ``ruled``: an item of a list under a heading such as "My rules:". ``after_paste``: the last
    paragraph after a pasted text, which may still be part of it.
    """

    text: str
    plain: str
    ruled: bool = False
    after_paste: bool = False


def sentences(message: str) -> list[Sentence]:
    """The person's own sentences, in order."""
    found: list[Sentence] = []
    for part, fenced in _ends(message):
        found += _of_part(part, fenced)
    return found


def _ends(message: str) -> Iterator[tuple[str, bool]]:
    """The message, or its two ends cut at line or sentence breaks; and whether a part begins in a fence."""
    if len(message) <= 2 * END_CHARS:
        yield message, False
        return
    head, tail = message[:END_CHARS], message[-END_CHARS:]
    breaks = [match.end() for match in re.finditer(r"\n|[.!?]\s|[。！？]", head)]
    yield head[: breaks[-1] if breaks else 0], False
    first = re.search(r"\n|[.!?]\s|[。！？]", tail)
    start = first.end() if first else len(tail)
    before = len(message) - END_CHARS + start
    yield tail[start:], (message.count("\n```", 0, before) + message.startswith("```")) % 2 == 1


def _of_part(text: str, fenced: bool) -> Iterator[Sentence]:
    pasted = ruled = blank = False
    last_paragraph = len(text.rstrip()) - len(re.split(r"\n\s*\n", text.rstrip())[-1])
    for start, end, kind in _blocks(text, fenced):
        if kind != "text":
            blank, pasted = kind == "blank", pasted and kind == "blank"
            continue
        line = text[start:end]
        bullet = _BULLET.match(line)
        ruled = ruled and (bullet is not None or not blank)
        blank = False
        if _RULES.search(line) and not _NOT_MY_RULES.search(line):
            ruled, pasted = True, False
            continue
        body = bullet.end() if bullet else 0
        paste = None if ruled else _PASTE.search(_masked(line))
        if not pasted or start >= last_paragraph:
            own = line[body : paste.end() if paste else len(line)]
            for sentence in _split(own):
                yield sentence._replace(ruled=ruled, after_paste=pasted)
        pasted = pasted or paste is not None


def _blocks(text: str, fenced: bool) -> Iterator[tuple[int, int, str]]:
    """Where lines stand that belong together, and what they are: text, blank, or foreign (fenced or quoted)."""
    start = position = 0
    held = ""
    for line in [*text.splitlines(keepends=True), "\n"]:
        fence = _FENCE.match(line) is not None
        foreign = fenced or fence or _BLOCK_QUOTE.match(line) is not None
        fenced = fenced != fence
        wrapped = held and line[:1].islower() and not foreign and not _CLOSED.search(held)
        if held and not wrapped:
            yield start, position, "text"
            held = ""
        if foreign or not line.strip():
            yield position, position, "foreign" if foreign else "blank"
        else:
            start, held = (start if held else position), line
        position += len(line)


def _masked(text: str) -> str:
    return QUOTES.sub(lambda match: MASK * len(match.group()), text)


def _split(line: str) -> Iterator[Sentence]:
    plain = _masked(line)
    start = 0
    ends = [match.end() for match in _END.finditer(plain)]
    for end in [*ends, len(line)]:
        if end != len(line) and _ABBREVIATION.search(plain, start, end):
            continue
        text = line[start:end]
        kept = text.strip()
        if kept and len(kept) <= SENTENCE_CHARS:
            offset = start + len(text) - len(text.lstrip())
            yield Sentence(kept, plain[offset : offset + len(kept)])
        start = end

"""Exact things that a summary must not lose: identifiers, numbers, dates, paths, addresses. Pure.

Code finds them in the source, looks which a summary lacks, and lists those beside it with the words
they stood by ("locker code 5183"). Everything is linear in the text and bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from memagent.context.directives.sentences import CJK, words_of
from memagent.context.overflow import CountText

MOST_ANCHORS = 400
HEAD_CHARS = 150_000
TAIL_CHARS = 50_000
"""Of a longer text only both ends are looked through."""
WORDS_BEFORE = 3
"""Content words before an anchor that its phrase repeats; little words between them come along."""
MOST_WORDS_BEFORE = 6
CJK_BEFORE = 8
REACH_CHARS = 64
SEPARATOR = "; "

_W = "A-Za-z0-9_\u00c0-\u024f"  # what a token of a spaced script is made of; Han next to it ends it
_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|"
    r"Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)\.?"
)
_NUMBER = r"(?:\d{1,3}(?:[,'\u00a0]\d{3}){1,5}(?:\.\d{1,12})?(?!\d)|\d{1,15}(?:\.\d{1,12}|,\d{1,2}(?!\d))?)"
_UNIT = (
    r"(?:%|‰|°\s?[CF]\b|(?:[kMGT]i?B|bytes?|bits?|[kMG]bps|[kMG]?Hz|[kMG]?Wh?|mAh|[kcmµn]?m²?|km/h|mph|"
    r"[kmµ]?g|lbs?|oz|[mc]?l|[nmµ]?s|"
    r"sec(?:ond)?s?|min(?:ute)?s?|h|hrs?|hours?|days?|nights?|weeks?|months?|years?|miles?|feet|ft|"
    r"inch(?:es)?|met(?:er|re)s?|kilomet(?:er|re)s?|"
    r"kilos?|kilograms?|grams?|tons?|tonnes?|lit(?:er|re)s?|degrees?|percent|px|pt|dpi|tokens?|people|"
    r"persons?|guests?|rows?|pages?|pieces?|items?|"
    rf"points?|calories|kcal|volts?|amps?)(?![{_W}])|(?:公里|千米|厘米|毫米|平方米|米|公斤|千克|毫克|克|"
    r"吨|斤|升|毫升|小时|分钟|秒|天|周|个月|年|岁|人|名|次|页|件|台|套|间|层|号楼|度|个|张|份|条|"
    r"倍)(?!月))"
)
_CURRENCY = (
    r"(?:USD|EUR|GBP|CHF|JPY|CNY|RMB|HKD|AUD|CAD|INR|SEK|NOK|DKK|PLN|BTC|dollars?|euros?|pounds?|francs?|"
    r"yen|yuan|cents?|bucks)(?![A-Za-z])|(?:万|亿)?(?:元|块钱?|美元|欧元|英镑|日元|港币|人民币)"
)

# Tried in this order at each place. Each names what it finds; see _WEIGHTS.
_KINDS: Mapping[str, str] = {
    "url": rf"\b(?:https?|ftp|s3|gs|file|ssh|git)://[^\s<>\"'`{CJK}（）【】「」，。]{{1,300}}",
    "email": rf"(?<![{_W}.+-])[A-Za-z0-9][\w.+-]{{0,63}}@[A-Za-z0-9][A-Za-z0-9.-]{{0,100}}\.[A-Za-z]{{2,12}}(?![{_W}])",
    "stamp": r"(?<!\d)(?:19|20)\d\d[-/.]\d{1,2}[-/.]\d{1,2}(?:[T ]\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|"
    r"[+-]\d\d:?\d\d)?)?(?!\d)",
    "date": (
        r"(?:(?:19|20)\d\d\s?年\s?\d{1,2}\s?月(?:\s?\d{1,2}\s?[日号])?|\d{1,2}\s?月\s?\d{1,2}\s?[日号])"
        rf"|(?<![{_W}])\d{{1,2}}[./]\d{{1,2}}[./](?:19|20)?\d\d(?![{_W}])(?!\.\d)"
        rf"|(?<![{_W}])\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (?:19|20)\d\d)?(?![{_W}])"
        rf"|(?<![{_W}]){_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? (?:19|20)\d\d)?(?![{_W}])|"
        rf"(?<![{_W}]){_MONTH} (?:19|20)\d\d(?![{_W}])"
    ),
    "time": (
        rf"(?<![{_W}:.])\d{{1,2}}:\d\d(?::\d\d(?:[.,]\d{{1,9}})?)?(?: ?[ap]\.?m\b\.?)?(?![{_W}:])|"
        rf"(?<![{_W}:.])\d{{1,2}} ?[ap]\.?m\b\.?"
        r"|(?:凌晨|早上|上午|中午|下午|傍晚|晚上)?[\d一二三四五六七八九十]{1,3}点(?:半|一刻|钟|"
        r"[\d一二三四五六七八九十]{1,3}分)?(?=[^\d]|$)"
    ),
    "uuid": rf"(?<![{_W}-])[0-9a-fA-F]{{8}}-(?:[0-9a-fA-F]{{4}}-){{3}}[0-9a-fA-F]{{12}}(?![{_W}])",
    "hash": rf"(?<![{_W}])(?:0x[0-9a-fA-F]{{4,64}}|"
    rf"(?=[0-9a-f]{{0,63}}\d)(?=[0-9a-f]{{0,63}}[a-f])[0-9a-f]{{7,128}})(?![{_W}-])",
    "path": (
        rf"(?<![{_W}/.])(?:~|\.{{1,2}})?/(?:[\w.@+%=-]{{1,80}}/){{0,20}}[\w.@+%=-]{{1,80}}"
        rf"|(?<![{_W}])[A-Za-z]:\\[\w .@+\\-]{{1,200}}\w"
        r"|"
        rf"(?<![{_W}/.-])(?:[A-Za-z0-9_.@-]{{1,60}}/){{1,20}}[A-Za-z0-9_@-]{{1,60}}(?:\.[A-Za-z0-9_]{{1,8}}){{1,2}}(?![{_W}])"
        rf"|(?<![{_W}/.-])(?:[A-Za-z0-9_.@-]{{1,60}}/){{2,20}}[A-Za-z0-9_.@-]{{0,60}}"
        rf"|(?<![{_W}/.-])[A-Za-z0-9_-]{{1,60}}\.(?:py|js|ts|tsx|jsx|json|ya?ml|toml|md|txt|csv|tsv|"
        r"xlsx?|docx?|pdf|pptx?|html?|css|sql|sh|rs|go|java|kt|c|h|cpp|png|jpe?g|gif|svg|zip|gz|tar|log|"
        rf"ini|cfg|conf|env|lock|db|sqlite|ipynb|parquet|xml|mp[34]|wav)(?![{_W}])"
    ),
    "phone": rf"(?<![{_W}+])(?:\+\d{{1,3}}[ -]?)?(?:\(\d{{1,5}}\)[ -]?)?\d{{2,5}}(?:[ -]\d{{2,5}}){{2,5}}(?![{_W}-])|"
    rf"(?<![{_W}])\+\d{{1,3}}(?:[ -]?\(?\d{{1,12}}\)?){{1,6}}(?![{_W}-])|(?<![{_W}])1[3-9]\d{{9}}(?!\d)",
    "money": rf"(?:US|HK|A|C)?[$€£¥￥]\s?{_NUMBER}(?:\s?(?:k|K|m|M|bn|million|billion)(?![A-Za-z])|[万亿])?|"
    rf"(?<![{_W}.]){_NUMBER}[ \u00a0\u202f]?(?:{_CURRENCY})|(?<![{_W}])(?:USD|EUR|GBP|CHF|CNY|JPY) {_NUMBER}",
    "version": rf"(?<![{_W}.-])v\d{{1,4}}(?:\.\d{{1,6}}){{0,3}}(?:[-+.]?(?:rc|alpha|beta|dev|"
    rf"post)[.\d]{{0,6}})?(?![{_W}])|(?<![{_W}.-])\d{{1,4}}(?:\.\d{{1,6}}){{2,3}}(?:[-+.]?(?:rc|alpha|"
    rf"beta|dev|post)[.\d]{{0,6}})?(?![{_W}])",
    "quantity": rf"(?<![{_W}.,-]){_NUMBER}[ \u00a0\u202f]?{_UNIT}",
    "call": rf"(?<![{_W}])#\d{{1,12}}(?![{_W}])|(?<![{_W}@])@[A-Za-z]\w{{2,40}}(?![{_W}])",
    "code": (  # letters and digits in one token: AB-1234, ZX-9, B52x, order-77-b
        rf"(?<![{_W}-])(?=[A-Za-z0-9_-]{{0,79}}\d)(?=[A-Za-z0-9_-]{{0,79}}[A-Za-z])(?!\d{{1,4}}(?:st|nd|"
        rf"rd|th|s)(?![{_W}]))[A-Za-z0-9]{{1,40}}(?:[-_][A-Za-z0-9]{{1,40}}){{0,8}}(?![{_W}-])"
    ),
    "name": (  # names of code: snake_case, CamelCase, dotted.names, CONSTANTS
        rf"(?<![{_W}.])(?:[A-Za-z_]\w{{0,60}}\.){{1,8}}[A-Za-z_]\w{{1,60}}(?:\(\))?(?![{_W}])|"
        rf"(?<![{_W}])_{{0,2}}[A-Za-z]{{1,40}}(?:_[A-Za-z0-9]{{1,40}}){{1,10}}_{{0,2}}(?:\(\))?(?![{_W}])"
        rf"|(?<![{_W}])[A-Z]?[a-z]{{1,40}}(?:[A-Z]{{1,8}}[a-z0-9]{{1,40}}){{1,8}}[A-Z]{{0,8}}(?:\(\))?(?![{_W}])"
    ),
    "number": rf"(?<![{_W}.,]){_NUMBER}(?![{_W}])",
}
# No kind begins inside a word: said once before all of them, this makes the search several times faster.
_ANCHOR = re.compile(f"(?<![{_W}])(?:" + "|".join(f"(?P<{kind}>{pattern})" for kind, pattern in _KINDS.items()) + ")")
_QUOTED = re.compile(
    r"\"([^\"\n]{0,200})\"(?P<key>\s{0,4}:)?|“([^”\n]{2,80})”|「([^」\n]{2,60})」|『([^』\n]{2,60})』|"
    r"《([^》\n]{1,60})》|«([^»\n]{2,80})»"
)

_WEIGHTS: Mapping[str, float] = {
    "url": 2.5,
    "email": 3.0,
    "stamp": 2.0,
    "date": 2.0,
    "time": 1.5,
    "uuid": 3.0,
    "hash": 2.5,
    "path": 2.5,
    "phone": 3.0,
    "money": 2.5,
    "version": 2.0,
    "quantity": 1.5,
    "call": 2.5,
    "code": 3.0,
    "name": 1.5,
    "number": 1.0,
    "quoted": 1.5,
}
_LABEL_WEIGHT = 3.0
"""A number right after a noun that says it stands for something: "locker code 5183"."""
_FRAME_WEIGHT = 0.3
"""The time that opens a line of a log, a bare year."""
_LABEL = re.compile(
    r"\b(?:code|pin|passcode|password|number|no|nr|id|room|gate|seat|locker|order|ticket|invoice|case|"
    r"issue|account|port|badge|box|flight|"
    r"bus|platform|track|license|licence|plate|policy|ref|reference|extension|ext|zip|postcode|tag|key|"
    r"serial|model|apartment|apt|unit|shelf|"
    r"bin|safe|combination|row|slot|batch|lot|member|membership|confirmation|booking|reservation|"
    r"tracking|version|release|build|revision|pr|chapter)s?"
    r"(?:[ _]?(?:number|code|no|id))?[\"']?\s{0,2}(?:is|was|are|to|=|:|#|of|will be|->)?\s{0,2}[\"'#]?$"
    r"|(?:码|号|编号|号码|房间|密码|单号|座位|登机口|柜|账号|工号|学号|楼|室|端口|口令|暗号|车牌)(?:是|"
    r"为|：|:|改成|变成)?\s?$",
    re.IGNORECASE,
)
_MAY_BE_LABEL = re.compile(rf"[A-Za-z{CJK}\"'][\s:=#\"'>-]{{0,5}}$")
_NOT_NAMES = frozenset(("e.g", "i.e", "a.m", "p.m", "u.s", "u.k", "etc", "vs"))
_LITTLE = words_of(
    """
    a an the is was are were be been of to in on at for from by with and or as it its this that these those my your
    his her our their i you he she we they has have had will would can could should do does did not but so then than
    there here which who
    """
)
_TRAILING = ".,;:!?)]}'\"，。；：！？）】」"
_WORD_BEFORE = re.compile(rf"[{CJK}]+|[{_W}#@'’./-]+|[,，]")
_AFTER = re.compile(rf"(?: (?:[A-Za-z\u00c0-\u024f'’-]{{1,30}})){{0,4}}|[”」』》]?[{CJK}]{{1,{CJK_BEFORE}}}")
_STOP = re.compile(r"[.!?](?=\s)|[;{}\[\]|<>\t\n。！？；]")


class Anchor(NamedTuple):
    """``text`` exactly as in the source; ``phrase``: with the words it stood by; ``weight``: more for what
    looks unique."""

    text: str
    phrase: str
    weight: float


class _Found(NamedTuple):
    start: int
    end: int
    weight: float


def anchors(text: str) -> list[Anchor]:
    """The exact things of a text, each once, in order of appearance, at most `MOST_ANCHORS` (the heaviest)."""
    found: dict[str, Anchor] = {}
    for part in (text,) if len(text) <= HEAD_CHARS + TAIL_CHARS else (text[:HEAD_CHARS], text[-TAIL_CHARS:]):
        before = _Found(0, 0, 0.0)
        for place in sorted((*_places(part), *_quoted(part))):
            exact = part[place.start : place.end]
            if exact not in found:
                found[exact] = Anchor(exact, _phrase(part, place, before), place.weight)
            before = place
    kept = list(found.values())
    if len(kept) > MOST_ANCHORS:
        heaviest = sorted(range(len(kept)), key=lambda index: (-kept[index].weight, index))[:MOST_ANCHORS]
        kept = [kept[index] for index in sorted(heaviest)]
    return kept


def _places(text: str) -> Iterator[_Found]:
    for match in _ANCHOR.finditer(text):
        kind, start = match.lastgroup or "number", match.start()
        exact = match.group().rstrip(_TRAILING) if kind in ("url", "path") else match.group().rstrip()
        if kind == "path" and not re.search(r"[A-Za-z]", exact):
            kind = "number"  # 3/4, 24/7
        if kind == "name" and (
            exact.lower() in _NOT_NAMES or re.match(r"[\"']\s{0,4}:", text[match.end() : match.end() + 6])
        ):
            continue  # the key of a JSON object is not what it says
        weight = _weight(kind, exact, text, start)
        if weight > 0:
            yield _Found(start, start + len(exact), weight)


def _weight(kind: str, exact: str, text: str, start: int) -> float:
    if kind in ("stamp", "time") and (
        start == 0 or text[start - 1] in "\n[" or re.search(r"\n\W{0,3}$", text[max(0, start - 4) : start])
    ):
        return _FRAME_WEIGHT
    if kind not in ("number", "code"):
        return _WEIGHTS[kind]
    if _MAY_BE_LABEL.search(text, max(0, start - 6), start) and _LABEL.search(text, max(0, start - 40), start):
        return _LABEL_WEIGHT
    if kind == "code":
        # "24-hour", "3-day", "utf8", "h2": words with a figure rather than identifiers
        if re.fullmatch(r"\d{1,3}-[a-z-]+", exact):
            return 0.0
        return (
            _WEIGHTS[kind] if exact[:1].isupper() or (len(exact) >= 4 and not re.fullmatch(r"[a-z]+\d", exact)) else 1.0
        )
    digits = sum(char.isdigit() for char in exact)
    if re.fullmatch(r"(?:19|20)\d\d", exact):
        return _FRAME_WEIGHT
    if digits >= 4:
        return 2.0 if digits == 4 else 2.5
    return _WEIGHTS[kind] if re.search(r"[.,]\d", exact) else 0.0


def _quoted(text: str) -> Iterator[_Found]:
    """Names in quotation marks. One that is mostly an identifier is found as that."""
    for match in _QUOTED.finditer(text):
        if match["key"]:
            continue
        group = match.lastindex or 1
        inside = match.group(group).strip()
        words = inside.split()
        if (
            len(inside) < 2
            or len(inside) > 80
            or len(words) > 8
            or inside[0] in ",.:;)]}"
            or not re.search(r"[^\W\d_]", inside)
        ):
            continue
        known = sum(found.end() - found.start() for found in _ANCHOR.finditer(inside))
        if known * 2 >= len(inside) or (len(words) == 1 and inside.isascii() and inside.islower() and group == 1):
            continue
        start = match.start(group) + match.group(group).index(inside)
        yield _Found(start, start + len(inside), _WEIGHTS["quoted"])


def _phrase(text: str, place: _Found, last: _Found) -> str:
    """The anchor with the words before it in its sentence, back to the anchor before (``last``); with that
    one if only little words lie between ("from 1.26 to 2.0"); else with the words after it."""
    start, end = place.start, place.end
    exact = text[start:end]
    before = _STOP.split(_reach(text, last.end if last.end <= start else 0, start))[-1]
    tokens = _WORD_BEFORE.findall(before)
    if tokens and re.match(f"[{CJK}]", tokens[-1]):
        return f"{tokens[-1][-CJK_BEFORE:]}{' ' if before[-1:].isspace() else ''}{exact}"
    words = _content_words(tokens)
    if words:
        return " ".join([*words, exact])
    if 0 < last.end <= start and end - last.start <= REACH_CHARS and not re.search(r"[^\w /-]", text[last.end : start]):
        return text[last.start : end]
    return exact + _AFTER.match(text, end, end + REACH_CHARS).group().rstrip()  # pyright: ignore[reportOptionalMemberAccess]


def _reach(text: str, floor: int, start: int) -> str:
    """What stands before, without half a word at its beginning."""
    if start - floor <= REACH_CHARS:
        return text[floor:start]
    before = text[start - REACH_CHARS : start]
    blank = before.find(" ")
    return before[blank + 1 :]


def _content_words(tokens: Sequence[str]) -> list[str]:
    words: list[str] = []
    content = 0
    for token in reversed(tokens):
        if token in ",，":
            if content:
                break
            continue
        word = token.strip(".'’/-#") or token
        if not re.search(r"\w", word):
            continue
        if content == WORDS_BEFORE or len(words) == MOST_WORDS_BEFORE:
            break
        words.insert(0, word)
        content += word.lower() not in _LITTLE
    while words and words[0].lower() in _LITTLE:
        del words[0]
    return words


def missing(found: Sequence[Anchor], summary: str) -> list[Anchor]:
    """Those whose exact text does not stand in the summary as a token of its own ("5183" not in "51830")."""
    return [anchor for anchor in found if not _stands_in(anchor.text, summary)]


def _stands_in(exact: str, text: str) -> bool:
    at = text.find(exact)
    while at >= 0:
        if _is_edge(text[max(0, at - 2) : at][::-1], exact[0]) and _is_edge(
            text[at + len(exact) : at + len(exact) + 2], exact[-1]
        ):
            return True
        at = text.find(exact, at + 1)
    return False


_INNER = re.compile(rf"[{_W}]|[-./,@+][{_W}]")


def _is_edge(beyond: str, last: str) -> bool:
    """Whether a token ends here; ``beyond`` are the next two characters away from it."""
    return not re.match(f"[{_W}]", last) or _INNER.match(beyond) is None


def listed(found: Sequence[Anchor], limit_raw: int, count: CountText) -> str:
    """As many phrases as fit in ``limit_raw`` raw tokens, the heaviest first but printed in order; "" if none fit."""
    chosen: list[int] = []
    left = limit_raw
    for index in sorted(range(len(found)), key=lambda index: (-found[index].weight, index)):
        needed = count(found[index].phrase + SEPARATOR)
        if needed <= left and not any(_stands_in(found[index].text, found[other].phrase) for other in chosen):
            chosen.append(index)
            left -= needed
    while chosen:
        text = SEPARATOR.join(found[index].phrase for index in sorted(chosen))
        if count(text) <= limit_raw:
            return text
        chosen.pop()
    return ""

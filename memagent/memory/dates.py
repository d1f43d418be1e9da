"""Times in questions: "last March", "two weeks ago", "上个月" resolved against the moment of asking. Pure.

Only what is written as a time is one; a question without any gives None. Spans are in the asking
person's zone, returned in UTC, from their beginning to before their end.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

_MONTHS = (
    *("january", "february", "march", "april", "may", "june"),
    *("july", "august", "september", "october", "november", "december"),
)
_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_WORDS = (
    *("a|an|one", "two|a couple of|couple of", "three|a few|few", "four", "five", "six"),
    *("seven", "eight", "nine", "ten", "eleven", "twelve"),
)
_HAN = "一二三四五六七八九十"
_MONTH = "(?P<month>" + "|".join(f"{name}|{name[:3]}\\.?" if name != "may" else name for name in _MONTHS) + r")\b"
_NUMBER = r"(?P<number>\d{1,3}|" + "|".join(_WORDS) + ")"
_DAY_NAME = "(?P<weekday>" + "|".join(_DAYS) + r")\b"
_SEASON = "(?P<season>" + "|".join(_SEASONS) + r")\b"
_LAST = r"(?P<which>last|past|previous|this|current)"

_TELLS_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|recently|ago|since|(?:last|next|this|past)\s+\w+|weekend|\d{4}"
    r"|(?:january|february|march|april|june|july|august|september|october|november|december)"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b"
    r"|[昨今明前后]天|[上下这本去今明前][个]?(?:周|星期|礼拜|月|年)|[年月日号]|最近|刚刚|星期|周[一二三四五六日末]|以前|之前"
)
"""In small letters, which is twice as fast as disregarding case."""
ASKS_WHEN = re.compile(
    r"^\W*(?:when\b|(?:(?:on|in) )?(?:what|which)\s+(?:date|day|month|year|time|week)\b|how long\b|since when)"
    r"|什么时候|何时|哪[一]?[天年月日]|几[月号点]|多久",
    re.IGNORECASE,
)
"""A question for a time."""
LOOKS_BACK = re.compile(
    r"\b(?:used to|previous(?:ly)?|former(?:ly)?|before|earlier|back then|in the past|once|originally)\b"
    r"|以前|之前|从前|曾经|原来|过去|当时|那时",
    re.IGNORECASE,
)
"""A question for what was and need not be so any more."""


def tells_time(text: str) -> bool:
    """Whether a text says when something was."""
    return _TELLS_TIME.search(text.lower()) is not None


class Span(NamedTuple):
    """From ``start`` on, before ``end``; both in UTC."""

    start: datetime
    end: datetime


def span_of(text: str, now: datetime, zone: str) -> Span | None:
    """The time that a text speaks of; the first of several. None where it names none."""
    today = now.astimezone(ZoneInfo(zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    best: tuple[int, int, tuple[datetime, datetime]] | None = None
    for pattern, read in _READERS:
        for match in pattern.finditer(text):
            found = _read(read, match, today)
            if found and (best is None or (match.start(), -match.end()) < (best[0], -best[1])):
                best = (match.start(), match.end(), found)
    return Span(best[2][0].astimezone(UTC), best[2][1].astimezone(UTC)) if best else None


_Days = tuple[datetime, datetime]
_Reader = Callable[[re.Match[str], datetime], _Days | None]


def _read(read: _Reader, match: re.Match[str], today: datetime) -> _Days | None:
    try:
        return read(match, today)
    except (ValueError, OverflowError):  # 31 February, the year 0
        return None


# --- spans of a calendar ------------------------------------------------------------------------


def _day(start: datetime, days: int = 1) -> _Days:
    return start, start + timedelta(days=days)


def _month(today: datetime, year: int, month: int, months: int = 1) -> _Days:
    start = today.replace(year=year, month=month, day=1)
    return start, _months_on(start, months)


def _months_on(day: datetime, months: int) -> datetime:
    count = day.year * 12 + day.month - 1 + months
    year, month = count // 12, count % 12 + 1
    return day.replace(year=year, month=month, day=min(day.day, monthrange(year, month)[1]))


def _latest_month(today: datetime, month: int, which: str = "") -> int:
    """The year of the month that is meant without one: the last that has begun ("last": that is over)."""
    begun = month < today.month if which in ("last", "previous", "past") else month <= today.month
    return today.year if begun or which == "this" else today.year - 1


def _unit(today: datetime, unit: str, back: int) -> _Days | None:
    """The calendar unit so many before the present one."""
    if unit == "day":
        return _day(today - timedelta(days=back))
    if unit == "weekend":
        return _day(today - timedelta(days=today.weekday() - 5 + 7 * back), 2)
    if unit == "week":
        return _day(today - timedelta(days=today.weekday() + 7 * back), 7)
    if unit == "month":
        start = _months_on(today.replace(day=1), -back)
        return start, _months_on(start, 1)
    if unit == "year":
        return _month(today, today.year - back, 1, 12)
    return None


def _ago(today: datetime, unit: str, count: int) -> _Days | None:
    """About so many units ago: the unit around that day."""
    if unit == "day":
        return _day(today - timedelta(days=count))
    if unit == "week":
        return _day(today - timedelta(days=7 * count + 3), 7)
    if unit == "month":
        middle = _months_on(today, -count)
        return middle - timedelta(days=16), middle + timedelta(days=16)
    middle = _months_on(today, -12 * count)
    return middle - timedelta(days=183), middle + timedelta(days=183)


def _within(today: datetime, unit: str, count: int) -> _Days:
    """The last so many units, up to now."""
    days = {"day": count, "week": 7 * count, "weekend": 7 * count, "month": 31 * count, "year": 366 * count}[unit]
    return today - timedelta(days=days), today + timedelta(days=1)


# --- English ------------------------------------------------------------------------------------


def _count(word: str) -> int:
    if word.isdigit():
        return int(word)
    return next(index for index, words in enumerate(_WORDS, 1) if word.casefold() in words.split("|"))


def _named_month(text: str) -> int:
    return next(number for number, name in enumerate(_MONTHS, 1) if text.casefold().rstrip(".") in (name, name[:3]))


def _en_relative(match: re.Match[str], today: datetime) -> _Days | None:
    word = match.group().casefold()
    if "before yesterday" in word:
        return _day(today - timedelta(days=2))
    if "yesterday" in word or word == "last night":
        return _day(today - timedelta(days=1))
    return _day(today)


def _en_unit(match: re.Match[str], today: datetime) -> _Days | None:
    back = 0 if match["which"].casefold() in ("this", "current") else 1
    unit = match["unit"].casefold()
    if match["which"].casefold() == "past":
        return _within(today, unit, 1)
    if unit == "weekend" and back and today.weekday() >= 5:
        return _unit(today, unit, 1)
    return _unit(today, unit, back)


def _en_within(match: re.Match[str], today: datetime) -> _Days | None:
    return _within(today, match["unit"].casefold(), _count(match["number"]))


def _en_ago(match: re.Match[str], today: datetime) -> _Days | None:
    return _ago(today, match["unit"].casefold(), _count(match["number"]))


def _en_weekday(match: re.Match[str], today: datetime) -> _Days | None:
    back = (today.weekday() - _DAYS.index(match["weekday"].casefold())) % 7
    return _day(today - timedelta(days=back or 7))


def _en_month(match: re.Match[str], today: datetime) -> _Days | None:
    month, which = _named_month(match["month"]), (match["which"] or "").casefold()
    year = int(match["year"]) if match["year"] else _latest_month(today, month, which)
    return _month(today, year, month)


def _en_date(match: re.Match[str], today: datetime) -> _Days | None:
    month, day = _named_month(match["month"]), int(match["day"])
    year = int(match["year"]) if match["year"] else today.year
    found = today.replace(year=year, month=month, day=day)
    if not match["year"] and found > today:
        found = found.replace(year=year - 1)
    return _day(found)


def _en_season(match: re.Match[str], today: datetime) -> _Days | None:
    month, which = _SEASONS[match["season"].casefold()], (match["which"] or "").casefold()
    year = int(match["year"]) if match["year"] else _latest_month(today, month, which)
    if (
        not match["year"]
        and which not in ("this", "current")
        and _months_on(today.replace(day=1), -3) < today.replace(year=year, month=month, day=1)
    ):
        year -= which in ("last", "previous")
    return _month(today, year, month, 3)


def _year(match: re.Match[str], today: datetime) -> _Days | None:
    return _month(today, int(match["year"]), 1, 12)


def _iso(match: re.Match[str], today: datetime) -> _Days | None:
    return _day(today.replace(year=int(match["year"]), month=int(match["month"]), day=int(match["day"])))


# --- Chinese ------------------------------------------------------------------------------------


def _han(text: str) -> int:
    """A number up to 99 in Han or digits."""
    if text.isdigit():
        return int(text)
    if text in ("几", "数"):
        return 3
    text = text.replace("两", "二")
    tens, ten, ones = text.rpartition("十")
    return (_HAN.index(tens) + 1 if tens else 1 if ten else 0) * 10 + (_HAN.index(ones) + 1 if ones else 0)


_ZH_UNITS = {"天": "day", "日": "day", "周": "week", "星期": "week", "礼拜": "week", "月": "month", "年": "year"}
_ZH_DAYS = {
    "大前天": 3,
    "前天": 2,
    "前晚": 2,
    "昨天": 1,
    "昨晚": 1,
    "昨日": 1,
    "今天": 0,
    "今早": 0,
    "今晚": 0,
    "今日": 0,
}


def _zh_day(match: re.Match[str], today: datetime) -> _Days | None:
    return _day(today - timedelta(days=_ZH_DAYS[match.group()]))


def _zh_unit(match: re.Match[str], today: datetime) -> _Days | None:
    back = {"上上": 2, "上": 1, "去": 1, "前": 2}.get(match["which"], 0)
    unit = "weekend" if match["end"] == "末" else _ZH_UNITS[match["unit"]]
    found = _unit(today, unit, back)
    if found and match["end"] and match["end"] != "末":
        return _day(
            found[0] + timedelta(days="一二三四五六日天".index(match["end"]) % 7 if match["end"] != "天" else 6)
        )
    return found


def _zh_ago(match: re.Match[str], today: datetime) -> _Days | None:
    return _ago(today, _ZH_UNITS[match["unit"]], _han(match["number"]))


def _zh_within(match: re.Match[str], today: datetime) -> _Days | None:
    return _within(today, _ZH_UNITS[match["unit"]], _han(match["number"]))


def _zh_date(match: re.Match[str], today: datetime) -> _Days | None:
    which, month = match["which"], _han(match["month"])
    if match["year"]:
        year = int(match["year"])
    elif which:
        year = today.year - {"今年": 0, "去年": 1, "前年": 2}[which]
    else:
        year = _latest_month(today, month)
    if not match["day"]:
        return _month(today, year, month)
    return _day(today.replace(year=year, month=month, day=_han(match["day"])))


def _patterns() -> Sequence[tuple[re.Pattern[str], _Reader]]:
    unit = r"(?P<unit>day|weekend|week|month|year)s?\b"
    year = r"(?P<year>(?:19|20)\d\d)"
    day = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b"
    han = f"(?P<number>\\d{{1,3}}|[{_HAN}两几数]{{1,3}})"
    zh_unit = "(?P<unit>天|日|周|星期|礼拜|月|年)"
    english: Sequence[tuple[str, _Reader]] = (
        (r"\b(?:the )?day before yesterday\b|\byesterday\b|\blast night\b|\btoday\b|\btonight\b", _en_relative),
        (r"\bthis (?:morning|afternoon|evening)\b", _en_relative),
        (rf"\b{_LAST} {unit}", _en_unit),
        (rf"\b(?:last|past|previous) {_NUMBER} {unit}", _en_within),
        (rf"\b{_NUMBER} {unit} ago\b", _en_ago),
        (rf"\b(?:on|last|this|this past) {_DAY_NAME}", _en_weekday),
        (
            rf"\b(?:in|during|since|of|from|until|by|{_LAST}) (?:early |late |mid[- ])?{_MONTH}(?:,? (?:of )?{year})?",
            _en_month,
        ),
        (rf"\b{_MONTH},? (?:of )?{year}\b".replace("(?P<month>", "(?P<which>)(?P<month>"), _en_month),
        (rf"\b{_MONTH} {day}(?:,? {year})?", _en_date),
        (rf"\b{day} (?:of )?{_MONTH}(?:,? {year})?", _en_date),
        (rf"\b(?:in|during|over|{_LAST}) (?:the )?{_SEASON}(?: (?:of )?{year})?", _en_season),
        (rf"\b(?:in|during|of|since) {year}\b", _year),
        (r"\b(?P<year>\d{4})[-/.](?P<month>\d{1,2})[-/.](?P<day>\d{1,2})\b", _iso),
    )
    chinese: Sequence[tuple[str, _Reader]] = (
        ("大前天|前天|前晚|昨天|昨晚|昨日|今天|今早|今晚|今日", _zh_day),
        (
            "(?P<which>上上|上|这|本|今|去|前)(?:一)?个?(?P<unit>周|星期|礼拜|月|年)(?P<end>[一二三四五六日天末])?",
            _zh_unit,
        ),
        (f"{han}个?{zh_unit}(?:以前|之前|前)", _zh_ago),
        (f"(?:最近|过去)(?:的)?{han}个?{zh_unit}", _zh_within),
        (
            "(?:(?P<year>(?:19|20)\\d\\d)年|(?P<which>今年|去年|前年)的?)?"
            f"(?P<month>\\d{{1,2}}|[{_HAN}]{{1,2}})月(?:份|(?P<day>\\d{{1,2}}|[{_HAN}]{{1,3}})[日号]?)?",
            _zh_date,
        ),
        ("(?P<year>(?:19|20)\\d\\d)年(?!\\s*(?:\\d|[一二三四五六七八九十])+月)", _year),
    )
    return [(re.compile(pattern, re.IGNORECASE), read) for pattern, read in (*english, *chinese)]


_READERS = _patterns()

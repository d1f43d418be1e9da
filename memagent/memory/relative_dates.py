"""Words such as "yesterday" and "last week", with the dates they mean. Pure.

They are resolved against the day of the person who said them, not against today.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

_DAYS = {
    name: number
    for number, name in enumerate(("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"))
}
_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "a couple of": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "ein": 1, "einem": 1, "einer": 1, "zwei": 2, "drei": 3, "vier": 4, "fünf": 5,
    "sechs": 6, "两": 2, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10,
}  # fmt: skip
_ANY_NUMBER = r"\d{1,3}|" + "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_UNITS = {
    "day": "day", "week": "week", "month": "month", "year": "year",
    "tag": "day", "tagen": "day", "woche": "week", "wochen": "week",
    "monat": "month", "monaten": "month", "jahr": "year", "jahren": "year",
    "天": "day", "日": "day", "周": "week", "星期": "week", "个星期": "week", "个月": "month", "年": "year",
}  # fmt: skip


class Span(NamedTuple):
    """Days from ``first`` to ``last``, both included."""

    first: date
    last: date

    def __str__(self) -> str:
        return self.first.isoformat() if self.first == self.last else f"{self.first} to {self.last}"


class Mention(NamedTuple):
    """Where in a text a time is named by its distance, and which it is."""

    start: int
    end: int
    span: Span


def mentions(text: str, said_at: datetime, zone: str) -> list[Mention]:
    """The relative times of a text (English, German, Chinese), in order, none inside another."""
    day = said_at.astimezone(ZoneInfo(zone)).date()
    found = sorted(_found(text, day), key=lambda mention: (mention.start, -mention.end))
    kept: list[Mention] = []
    for mention in found:
        if not kept or mention.start >= kept[-1].end:
            kept.append(mention)
    return kept


def dated(text: str, said_at: datetime, zone: str) -> str:
    """The text with the date behind each relative time: "yesterday (2026-01-04)"."""
    for mention in reversed(mentions(text, said_at, zone)):
        stated = f" ({mention.span})"
        if not text[mention.end :].startswith(stated):
            text = text[: mention.end] + stated + text[mention.end :]
    return text


def _found(text: str, day: date) -> Iterator[Mention]:
    for pattern, resolve in _FORMS:
        for match in pattern.finditer(text):
            try:
                span = resolve(match, day)
            except (OverflowError, ValueError):  # before the year 1, or after 9999
                continue
            yield Mention(match.start(), match.end(), span)


def _shifted(day: date, unit: str, count: int) -> Span:
    """The day, week, month or year so many units away; weeks begin on Monday."""
    if unit == "day":
        there = day + timedelta(days=count)
        return Span(there, there)
    if unit == "week":
        first = day - timedelta(days=day.weekday()) + timedelta(weeks=count)
        return Span(first, first + timedelta(days=6))
    months = day.year * 12 + day.month - 1 + (count if unit == "month" else 0)
    if unit == "year":
        return Span(date(day.year + count, 1, 1), date(day.year + count, 12, 31))
    first = date(months // 12, months % 12 + 1, 1)
    following = date((months + 1) // 12, (months + 1) % 12 + 1, 1)
    return Span(first, following - timedelta(days=1))


def _weekday(day: date, wanted: int, *, past: bool) -> Span:
    distance = (day.weekday() - wanted) % 7 or 7
    there = day - timedelta(days=distance) if past else day + timedelta(days=7 - distance or 7)
    return Span(there, there)


def _number(word: str) -> int:
    word = word.casefold()
    return int(word) if word.isdecimal() else _NUMBERS[word]


def _by(count: int, unit: str = "day") -> Callable[[re.Match[str], date], Span]:
    return lambda _match, day: _shifted(day, unit, count)


def _counted(sign: int) -> Callable[[re.Match[str], date], Span]:
    def resolve(match: re.Match[str], day: date) -> Span:
        return _shifted(day, _UNITS[match["unit"].casefold().removesuffix("s")], sign * _number(match["n"]))

    return resolve


def _named(match: re.Match[str], day: date) -> Span:
    wanted = match["unit"].casefold()
    past = match["which"].casefold() in ("last", "this past", "past")
    if wanted in _DAYS:
        return _weekday(day, _DAYS[wanted], past=past)
    return _shifted(day, wanted, -1 if past else 0 if match["which"].casefold() == "this" else 1)


def _english(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{pattern})\b", re.IGNORECASE)


_WEEKDAYS = "|".join(_DAYS)
_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span]], ...] = (
    (_english(r"the day before yesterday|vorgestern"), _by(-2)),
    (_english(r"yesterday(?: (?:morning|afternoon|evening|night))?|last night|gestern"), _by(-1)),
    (_english(r"today|tonight|this (?:morning|afternoon|evening)|heute"), _by(0)),
    (_english(r"tomorrow(?: (?:morning|afternoon|evening|night))?"), _by(1)),
    (_english(r"the day after tomorrow|übermorgen"), _by(2)),
    (_english(rf"(?P<n>{_ANY_NUMBER}) (?P<unit>day|week|month|year)s? ago"), _counted(-1)),
    (_english(rf"vor (?P<n>{_ANY_NUMBER}) (?P<unit>tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)"), _counted(-1)),
    (_english(rf"in (?P<n>{_ANY_NUMBER}) (?P<unit>day|week|month|year)s?"), _counted(1)),
    (_english(rf"(?P<which>last|this past|next|this) (?P<unit>week|month|year|{_WEEKDAYS})"), _named),
    (_english(r"letzte[nrs]? woche"), _by(-1, "week")),
    (_english(r"letzte[nrs]? monat"), _by(-1, "month")),
    (_english(r"letzte[nrs]? jahr"), _by(-1, "year")),
    (_english(r"nächste[nrs]? woche"), _by(1, "week")),
    (_english(r"nächste[nrs]? monat"), _by(1, "month")),
    (_english(r"nächste[nrs]? jahr"), _by(1, "year")),
    (re.compile("大前天"), _by(-3)),
    (re.compile("前天"), _by(-2)),
    (re.compile("昨(?:天|晚|夜)"), _by(-1)),
    (re.compile("今(?:天|早|晚)"), _by(0)),
    (re.compile("明(?:天|早|晚)"), _by(1)),
    (re.compile("后天"), _by(2)),
    (re.compile("上(?:个)?(?:周|星期)(?![一二三四五六日天])"), _by(-1, "week")),
    (re.compile("下(?:个)?(?:周|星期)(?![一二三四五六日天])"), _by(1, "week")),
    (re.compile("上个?月"), _by(-1, "month")),
    (re.compile("下个?月"), _by(1, "month")),
    (re.compile("去年"), _by(-1, "year")),
    (re.compile("今年"), _by(0, "year")),
    (re.compile("明年"), _by(1, "year")),
    (re.compile(r"(?P<n>\d{1,3}|[一二三四五六七八九十两])(?P<unit>天|日|周|个星期|个月|年)(?:以)?前"), _counted(-1)),
    (re.compile(r"(?P<n>\d{1,3}|[一二三四五六七八九十两])(?P<unit>天|日|周|个星期|个月|年)(?:以)?后"), _counted(1)),
)

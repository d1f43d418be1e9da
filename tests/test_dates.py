"""Times in questions, in English and Chinese."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent.memory.dates import ASKS_WHEN, LOOKS_BACK, span_of, tells_time

NOW = datetime(2026, 11, 30, 21, tzinfo=UTC)  # a Monday


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what did I do last March?", "2026-03-01", "2026-03-31"),
        ("What happened in May 2023?", "2023-05-01", "2023-05-31"),
        ("in December", "2025-12-01", "2025-12-31"),
        ("what did I say yesterday", "2026-11-29", "2026-11-29"),
        ("the day before yesterday", "2026-11-28", "2026-11-28"),
        ("two weeks ago", "2026-11-13", "2026-11-19"),
        ("a few days ago", "2026-11-27", "2026-11-27"),
        ("last week", "2026-11-23", "2026-11-29"),
        ("last weekend", "2026-11-28", "2026-11-29"),
        ("this month", "2026-11-01", "2026-11-30"),
        ("in the past three months", "2026-08-29", "2026-11-30"),
        ("on 7 July, 2023", "2023-07-07", "2023-07-07"),
        ("on July 7th", "2026-07-07", "2026-07-07"),
        ("on Dec 24", "2025-12-24", "2025-12-24"),
        ("last Monday", "2026-11-23", "2026-11-23"),
        ("in 2022", "2022-01-01", "2022-12-31"),
        ("last summer", "2026-06-01", "2026-08-31"),
        ("2024-02-29", "2024-02-29", "2024-02-29"),
        ("上个月我做了什么", "2026-10-01", "2026-10-31"),
        ("去年三月", "2025-03-01", "2025-03-31"),
        ("2023年5月7日", "2023-05-07", "2023-05-07"),
        ("9月份", "2026-09-01", "2026-09-30"),
        ("三天前", "2026-11-27", "2026-11-27"),
        ("上周五", "2026-11-27", "2026-11-27"),
        ("上周末", "2026-11-28", "2026-11-29"),
        ("前年", "2024-01-01", "2024-12-31"),
        ("最近两周", "2026-11-16", "2026-11-30"),
    ],
)
def test_a_time_is_resolved_against_the_moment_of_asking(text: str, first: str, last: str) -> None:
    span = span_of(text, NOW, "UTC")
    assert span is not None
    assert span.start.date().isoformat() == first
    assert (span.end - timedelta(seconds=1)).date().isoformat() == last


@pytest.mark.parametrize(
    "text",
    [
        "what may I do?",
        "he will march",
        "When did she win?",
        "is 7 enough?",
        "你好",
        "the second one",
        "31 February",
        "",
    ],
)
def test_what_names_no_time_has_none(text: str) -> None:
    assert span_of(text, NOW, "UTC") is None


def test_days_begin_where_the_person_is() -> None:
    late = datetime(2026, 3, 29, 22, 30, tzinfo=UTC)  # already the 30th in Berlin, the day after the clocks changed
    span = span_of("yesterday", late, "Europe/Berlin")
    assert span is not None
    berlin = ZoneInfo("Europe/Berlin")
    assert span.start.astimezone(berlin).isoformat() == "2026-03-29T00:00:00+01:00"
    assert span.end.astimezone(berlin).isoformat() == "2026-03-30T00:00:00+02:00"
    assert span.end - span.start == timedelta(hours=23)


def test_of_several_times_the_first_counts() -> None:
    span = span_of("was it in May 2023 or last week?", NOW, "UTC")
    assert span is not None
    assert span.start.year == 2023


@given(st.text(st.sampled_from("0123456789 -/.年月日号天前上下去last mayinoctgdweky一二十两几"), max_size=40))
def test_any_text_gives_a_span_or_none(text: str) -> None:
    span = span_of(text, NOW, "Asia/Shanghai")
    assert span is None or span.start < span.end


def test_words_of_time() -> None:
    assert ASKS_WHEN.search("When did she move?")
    assert ASKS_WHEN.search("In which month was it?")
    assert ASKS_WHEN.search("她什么时候搬家的")
    assert not ASKS_WHEN.search("What happened when she moved?")
    assert LOOKS_BACK.search("Where did I live before?")
    assert LOOKS_BACK.search("我以前住在哪里")
    assert not LOOKS_BACK.search("Where do I live?")
    assert tells_time("I moved to Porto Last Week")
    assert tells_time("我昨天搬家了")
    assert not tells_time("I like tea")

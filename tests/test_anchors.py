"""Anchors: the exact things of a text, the words they stood by, and what of them a summary lacks."""

from __future__ import annotations

import json
import time

import pytest

from memagent.context.anchors import MOST_ANCHORS, anchors, listed, missing


def texts(source: str) -> list[str]:
    return [anchor.text for anchor in anchors(source)]


def phrases(source: str) -> list[str]:
    return [anchor.phrase for anchor in anchors(source)]


def words(text: str) -> int:
    return len(text.split())


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("My locker code is 5183.", ["5183"]),
        ("The ticket AB-1234 and the tag ZX-9 belong together", ["AB-1234", "ZX-9"]),
        ("Maria paid $1,250.50, Tom 300 euros and Li 299元", ["$1,250.50", "300 euros", "299元"]),
        ("We met on 5 March 2026 at 14:30, not on March 7", ["5 March 2026", "14:30", "March 7"]),
        ("from 2026-03-05 to 2026-03-09T10:00:00Z", ["2026-03-05", "2026-03-09T10:00:00Z"]),
        ("mail bob.smith@example.co.uk or call +49 170 1234567", ["bob.smith@example.co.uk", "+49 170 1234567"]),
        ("see https://ex.org/a/b?x=1, please", ["https://ex.org/a/b?x=1"]),
        ("look at src/core/engine.py, /etc/hosts and ~/notes.txt", ["src/core/engine.py", "/etc/hosts", "~/notes.txt"]),
        ("numpy 1.26.4 to v2.0.1, commit 9f86d081884c", ["1.26.4", "v2.0.1", "9f86d081884c"]),
        ("call get_user_name() with maxRetries, then os.path.join", ["get_user_name()", "maxRetries", "os.path.join"]),
        ("id 123e4567-e89b-12d3-a456-426614174000 it is", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("She drove 12.5 km in 40 minutes, 90% uphill", ["12.5 km", "40 minutes", "90%"]),
        ("He read “The Left Hand of Darkness” twice", ["The Left Hand of Darkness"]),
        ("储物柜密码是5183,2026年3月5日下午3点见", ["5183", "2026年3月5日", "下午3点"]),
        ("房间号1207,《三体》的作者,订单号ZX-9,电话13812345678", ["1207", "三体", "ZX-9", "13812345678"]),
        ("room 12, gate B7", ["12", "B7"]),
    ],
)
def test_exact_things_are_found_in_order(source: str, expected: list[str]) -> None:
    assert texts(source) == expected
    assert all(text in source for text in texts(source))


@pytest.mark.parametrize(
    "source",
    [
        "",
        "She has 3 cats and 2 of 3 are grey, e.g. the 1st one, and/or the other, i.e. Tom.",
        "We talked about the weather. Nothing else came up.",
        "今天天气很好,我们去散步吧。",
        "A 24-hour shop with a 3-day sale",
    ],
)
def test_small_numbers_ordinals_and_plain_words_are_none(source: str) -> None:
    assert texts(source) == []


@pytest.mark.parametrize(
    ("source", "phrase"),
    [
        ("My locker code is 5183.", "locker code is 5183"),
        ("The locker code of the gym is 5183.", "locker code of the gym is 5183"),
        ("5183 is the locker code", "5183 is the locker code"),
        ("储物柜密码是5183。", "储物柜密码是5183"),
        ("Paid. Order: AB-1234", "Order AB-1234"),
        ('{"status": "ok", "order_id": "W2378156"}', "order_id W2378156"),
        ("Upgrade numpy from 1.26.4 to 2.0.1", "Upgrade numpy from 1.26.4"),
    ],
)
def test_a_phrase_says_what_the_thing_is(source: str, phrase: str) -> None:
    assert phrase in phrases(source)


def test_each_is_found_once_with_its_capitals() -> None:
    assert texts("AB-1234, ab-1234x, AB-1234") == ["AB-1234", "ab-1234x"]


def test_tool_output_in_json() -> None:
    output = json.dumps(
        {
            "order_id": "W2378156",
            "items": [{"item_id": 9612497925, "price": 168.5, "name": "Running Shoes", "in_stock": True}],
            "address": {"zip": "94016", "city": "San Jose"},
            "ordered_at": "2026-03-05T10:00:00Z",
        }
    )
    assert texts(output) == [
        "W2378156",
        "9612497925",
        "168.5",
        "Running Shoes",
        "94016",
        "San Jose",
        "2026-03-05T10:00:00Z",
    ]


def test_logs_give_their_ids_before_their_times() -> None:
    log = "\n".join(f"2026-03-05 12:00:{n:02},123 INFO job j-{88_000 + n} took {n + 10}.5 s" for n in range(30))
    found = anchors(log)
    job = next(anchor for anchor in found if anchor.text == "j-88004")
    at = next(anchor for anchor in found if anchor.text == "2026-03-05 12:00:04,123")
    assert job.weight > at.weight
    assert job.phrase == "INFO job j-88004"


def test_a_stack_trace_gives_file_function_and_error() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "/app/src/main.py", line 42, in run_job\n'
        '    raise ValueError("bad input")\nValueError: bad input at 0x7f3a2c'
    )
    assert {"/app/src/main.py", "run_job", "ValueError", "0x7f3a2c"} <= set(texts(trace))


def test_an_identifier_weighs_more_than_a_year_or_a_measure() -> None:
    weights = {anchor.text: anchor.weight for anchor in anchors("In 1998 the door code 4711 cost 30 minutes")}
    assert weights["4711"] > weights["30 minutes"] > weights["1998"]


def test_missing_looks_at_whole_tokens() -> None:
    found = anchors("code 5183, ticket AB-1234, file /etc/hosts, 密码是7788, price 3.50 EUR")
    summary = "51830 and AB-12345 in /etc/hosts.bak; 密码是7788。 3.50 EUR!"
    assert [anchor.text for anchor in missing(found, summary)] == ["5183", "AB-1234", "/etc/hosts"]
    assert missing(found, "5183; AB-1234, (/etc/hosts) 7788 3.50 EUR.") == []


def test_the_heaviest_phrases_are_listed_in_order() -> None:
    found = anchors(
        "In 1998 we paid 20 euros. The ticket is AB-1234. The trip took 30 minutes. The locker code is 5183."
    )
    assert listed(found, 100, words) == (
        "1998 we paid; paid 20 euros; ticket is AB-1234; trip took 30 minutes; locker code is 5183"
    )
    assert listed(found, 7, words) == "ticket is AB-1234; locker code is 5183"
    assert listed(found, 1, words) == ""
    assert listed([], 100, words) == ""


def test_a_call_gives_a_bounded_number() -> None:
    found = anchors(" ".join(f"ID-{n:06}" for n in range(5_000)))
    assert len(found) == MOST_ANCHORS
    assert len({anchor.text for anchor in found}) == MOST_ANCHORS


@pytest.mark.parametrize(
    "piece",
    ["a", "1-", "./", "1", '"a ', "密码", "a.", "A1-", " ", "a@", "http://", "{", "12:", "(1) ", "x_", "Aa", "年"],
)
def test_no_text_makes_it_slow(piece: str) -> None:
    started = time.monotonic()
    anchors(piece * (5_000_000 // len(piece)))
    assert time.monotonic() - started < 20

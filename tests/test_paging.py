"""Previews and pages of long texts: never above their limit, nothing twice, nothing missing."""

from __future__ import annotations

import json
import re
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent.context.json_path import JsonPathError, select
from memagent.context.lined import lined
from memagent.context.overflow import preview, shorten
from memagent.context.reading import SEARCH_SECONDS, read
from memagent.llm.tokens import TokenCounter

count = TokenCounter().text
ROWS = "\n".join(f"row {number}" for number in range(1, 1_001))

long_lines = st.builds(lambda piece, times: piece * times, st.text(max_size=12), st.sampled_from([1, 3, 60, 700]))
texts = st.lists(long_lines, min_size=1, max_size=30).map("\n".join)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=8) | st.dictionaries(st.text(max_size=8), inner, max_size=8),
    max_leaves=60,
)


def page(text: str, limit: int = 300, **selectors: str) -> str:
    found = read(text, limit_raw=limit, count=count, ref="r1", **selectors)
    assert count(found) <= limit
    return found


def body(found: str) -> str:
    return found.partition("\n")[2]


def walk(text: str, limit: int, **selectors: str) -> str:
    """All pages, one after the other, as the status lines lead."""
    told = ""
    following = selectors
    for _ in range(10_000):
        status, _, part = page(text, limit, **following).partition("\n")
        told += part
        match = re.search(r'(lines|chars)="([^"]+)"\)', status)
        if match is None:
            return told
        assert {**selectors, match[1]: match[2]} != following, "no progress"
        following = {**selectors, match[1]: match[2]}
        at_line_begin = match[1] == "lines" and ":" not in match[2].split("-")[0]
        told += "\n" if at_line_begin else ""
    raise AssertionError("no end")


# --- previews ---------------------------------------------------------------------------------------


@given(texts, st.integers(60, 600))
def test_a_preview_is_within_its_limit_and_shows_head_and_tail(text: str, limit: int) -> None:
    made = preview(text, "0123456789abcdef0123", limit, count)
    assert count(made.text) <= limit
    assert "0123456789abcdef0123" in made.text
    assert (made.total_chars, made.total_lines) == (len(text), len(lined(text).lines))
    if made.shown_chars and not lined(text).unwrapped:
        head, tail = re.split(r"\n?\[\.\.\. shown: .* \.\.\.\]\n?", made.text)
        assert text.startswith(head)
        assert text.rstrip("\n").endswith(tail.rstrip("\n"))


def test_a_preview_says_exactly_what_is_missing() -> None:
    made = preview(ROWS, "ref", 200, count)
    shown = [line for line in made.text.splitlines() if line.startswith("row ")]
    head = next(number for number, line in enumerate(shown, 1) if line != f"row {number}") - 1
    tail = int(shown[head].removeprefix("row "))
    assert f"left out: lines {head + 1}-{tail - 1}." in made.text
    assert f"shown: {len(shown)} of 1,000 lines" in made.text
    assert f'read_output(ref="ref", lines="{head + 1}-{2 * head}")' in made.text
    assert (made.shown_lines, made.total_lines) == (len(shown), 1_000)


def test_a_reference_with_quotes_is_written_so_that_it_can_be_copied() -> None:
    made = preview(ROWS, 'a "b"', 200, count)
    assert 'ref="a \\"b\\""' in made.text


def test_the_notice_of_shortened_text_can_be_chosen() -> None:
    assert "are lost" in shorten("word " * 5_000, 100, count, "overflow_lost").text


# --- pages ------------------------------------------------------------------------------------------


@given(texts, st.sampled_from([90, 150, 400]))
def test_following_the_pages_gives_all_of_it_once(text: str, limit: int) -> None:
    if not text or lined(text).unwrapped:
        return
    told = walk(text, limit)
    assert told.rstrip("\n") == text.rstrip("\n")


@given(texts, st.sampled_from([90, 400]))
def test_so_does_following_the_characters(text: str, limit: int) -> None:
    if text:
        assert walk(text, limit, chars="1-") == text


@pytest.mark.parametrize(
    ("lines", "wanted"),
    [
        ("41-43", "row 41\nrow 42\nrow 43"),
        (" 41 - 43 ", "row 41\nrow 42\nrow 43"),
        ("41–42", "row 41\nrow 42"),
        ("41..42", "row 41\nrow 42"),
        ("1,000-2,000", "row 1000"),
        ("41", "row 41"),
        ("0-1", "row 1"),
        ("999-", "row 999\nrow 1000"),
        ("-2", "row 999\nrow 1000"),
        ("41:5-41:6", "41"),
        ("41:5-42", "41\nrow 42"),
    ],
)
def test_lines(lines: str, wanted: str) -> None:
    assert body(page(ROWS, lines=lines)) == wanted


@pytest.mark.parametrize(("chars", "wanted"), [("1-5", "row 1"), ("7-", None), ("-8", "row 1000"), ("5", "1")])
def test_chars(chars: str, wanted: str | None) -> None:
    found = body(page(ROWS, chars=chars))
    assert found == wanted if wanted is not None else found.startswith("row 2\nrow 3")


@pytest.mark.parametrize(
    ("selectors", "said"),
    [
        ({"lines": "1001-"}, "only 1,000 lines"),
        ({"chars": "100000-100010"}, "only 7,892 characters"),
        ({"lines": "9-3"}, "ends before it begins"),
        ({"lines": "41:9"}, "line 41 has only 6"),
        ({"lines": "first ten"}, "is no range"),
        ({"lines": "9" * 30}, "is no range"),
        ({"lines": "-"}, "is no range"),
        ({"lines": "1-2", "chars": "1-2"}, "not both"),
        ({"grep": "nowhere"}, "no match"),
        ({"grep": "x" * 501}, "longer than 500"),
        ({"json_path": "$.a"}, "not JSON"),
    ],
)
def test_what_cannot_be_read_is_explained(selectors: dict[str, str], said: str) -> None:
    found = page(ROWS, **selectors)
    assert said in found
    assert len(found) < 200


def test_an_empty_text_is_said_to_be_empty() -> None:
    assert "empty" in page("")


# --- searching --------------------------------------------------------------------------------------


def test_grep_shows_numbers_and_the_lines_around() -> None:
    assert body(page(ROWS, grep="row 50[12]$|row 7$")) == (
        "6- row 6\n7: row 7\n8- row 8\n--\n500- row 500\n501: row 501\n502: row 502\n503- row 503"
    )


def test_grep_can_be_followed_to_the_last_match() -> None:
    told = walk(ROWS, 200, grep="3$")
    assert [int(number) for number in re.findall(r"^(\d+):", told, re.MULTILINE)] == list(range(3, 1_000, 10))


def test_grep_within_lines() -> None:
    found = page(ROWS, grep="row 9", lines="95-98")
    assert "matches 1-4 of 4" in found
    assert "row 99" in found.splitlines()[-1]  # beside the last match


def test_what_is_no_regular_expression_is_searched_literally() -> None:
    text = "one\nf(x[0\ntwo"
    assert "2: f(x[0" in page(text, grep="f(x[")
    assert "literally" in page(text, grep="f(x[")
    assert "in other capitals" in page(text, grep="TWO")


def test_every_match_of_a_very_long_line_is_found() -> None:
    text = "\n".join(["begin", *(" ".join(f"key{n} " + "x" * 400 for n in range(40)) for _ in range(2)), "end"])
    told = walk(text, 400, grep=r"key\d+\b")
    hits = "\n".join(line for line in told.splitlines() if re.match(r"\d+(:\d+)?: ", line))
    assert re.findall(r"key(\d+)", hits) == [str(n) for n in range(40)] * 2


@pytest.mark.parametrize("pattern", [r"(a+)+$", r"(a|a)*b", r"(.*)*x", r"(((a{1,500}){1,500}){1,500})b"])
def test_a_pattern_that_never_ends_is_stopped(pattern: str) -> None:
    text = "\n".join(["a" * 5_000 + "!"] * 20)
    begin = time.monotonic()
    page(text, grep=pattern)
    assert time.monotonic() - begin < SEARCH_SECONDS * 10


# --- JSON -------------------------------------------------------------------------------------------


@given(values)
def test_unwrapping_changes_only_blanks(value: object) -> None:
    text = json.dumps(value, ensure_ascii=False)
    form = lined(text)
    assert json.loads("\n".join(form.lines)) == json.loads(text)
    assert form.unwrapped == (len(form.lines) > 1)


def test_unwrapped_json_is_read_by_lines() -> None:
    text = json.dumps({"items": [{"id": n, "text": "x" * 90} for n in range(300)], "ids": list(range(300))})
    told = walk(text, 200)
    assert json.loads(told) == json.loads(text)
    assert "unwrapped JSON" in page(text, lines="5-9")


@pytest.mark.parametrize(
    ("path", "wanted"),
    [
        ("$", None),
        ("$.store.name", "Quay"),
        ("store.name", "Quay"),
        ("$['store']['name']", "Quay"),
        ("$.store.items[0].price", "1.10"),
        ("$.store.items[-1].id", "12345678901234567890123"),
        ("$.store.items[*].price", "[1.10, 2.50]"),
        ("$..price", "[1.10, 2.50]"),
        ("$.store.items[1:].price", "2.50"),
        ("$.store.items[0:2].id", "[1, 12345678901234567890123]"),
        ("$.store['a key'][0]", "true"),
        ("$.store.*.*", None),
        ("$..items[0]['id']", "1"),
    ],
)
def test_json_paths(path: str, wanted: str | None) -> None:
    text = (
        '{"store": {"name": "Quay", "items": [{"id": 1, "price": 1.10}, '
        '{"id": 12345678901234567890123, "price": 2.50}], "a key": [true]}}'
    )
    found, values = select(text, path)
    assert values >= 1
    if wanted is not None:
        assert found == wanted
        assert body(page(text, json_path=path)) == wanted


@pytest.mark.parametrize("path", ["$[?(@.a>1)]", "$.a[", "$..", "$.a b[x]", "." * 100])
def test_a_path_that_cannot_be_read_is_explained(path: str) -> None:
    with pytest.raises(JsonPathError, match="cannot be read"):
        select('{"a": 1}', path)
    assert "cannot be read" in page('{"a": 1}', json_path=path)


def test_a_path_that_finds_nothing_says_so() -> None:
    assert "finds nothing" in page('{"a": 1}', json_path="$.b")


def test_a_path_s_text_is_paged_and_searched_like_any_other() -> None:
    text = json.dumps({"log": ROWS})
    assert walk(text, 200, json_path="$.log") == ROWS
    assert "77: row 77" in page(text, json_path="$.log", grep="row 77")


def test_many_descents_stay_quick() -> None:
    text = json.dumps([[[[n] for n in range(20)] for _ in range(20)] for _ in range(20)])
    begin = time.monotonic()
    page(text, json_path="$" + "..*" * 12)
    assert time.monotonic() - begin < 20


def test_five_megabytes_of_one_line_json_are_quick() -> None:
    text = json.dumps([{"id": n, "name": f"name {n}", "value": n / 7} for n in range(90_000)])
    begin = time.monotonic()
    assert count(preview(text, "ref", 400, count).text) <= 400
    assert '"id": 60000' in page(text, json_path="$[60000]")
    page(text, lines="50000-50010")
    assert time.monotonic() - begin < 20

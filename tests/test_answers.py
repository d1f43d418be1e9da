"""What models write where JSON was asked for, and which facts a judge may not take for one."""

from __future__ import annotations

import pytest

from memagent.memory.answers import UnusableAnswerError, listed
from memagent.memory.reconcile import Decision, carried_out
from tests.contract.samples import memory


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ('{"facts": ["a"]}', ["a"]),
        ('{"facts": ["a"]}\n{"facts": ["b"]}', ["a", "b"]),
        ('Here: {"result": {"facts": [{"text": "a"}]}} Done.', [{"text": "a"}]),
        ('["x"] and then {"facts": ["a"]}', ["a"]),
        ('["x"]\n["y"]', ["y"]),
        ('{"facts": null}', []),
        ('{"facts": {"text": "a"}}', [{"text": "a"}]),
        ('<think>{"facts": ["no"]}</think>{"facts": []}', []),
    ],
)
def test_the_list_is_found_wherever_it_stands(reply: str, found: list[object]) -> None:
    assert listed(reply, "facts") == found


@pytest.mark.parametrize("reply", ["", "none", '{"other": []}', '{"facts": "a"}', '{"facts": [1]}', '{"facts": ["a"'])
def test_what_is_no_list_is_not_taken_for_one(reply: str) -> None:
    with pytest.raises(UnusableAnswerError):
        listed(reply, "facts")


@pytest.mark.parametrize(
    ("known", "new"),
    [
        ("blood type is O+", "blood type is O-"),
        ("the freezer is at -5 degrees", "the freezer is at 5 degrees"),
        ("writes C", "writes C++"),
        ("owns 2 cats", "owns 3 cats"),
        ("drinks coffee", "does not drink coffee"),
    ],
)
@pytest.mark.parametrize("verdict", ["merge", "ignore"])
def test_a_judge_cannot_make_one_of_facts_that_differ(known: str, new: str, verdict: str) -> None:
    old, fresh = memory("old", known), memory("new", new)
    decision = Decision("merge" if verdict == "merge" else "ignore", ("old",), "the same")
    assert carried_out(fresh, decision, {"old": old}) == [fresh]


def test_the_same_in_other_words_may_be_one() -> None:
    old, fresh = memory("old", "drinks coffee with milk - every day"), memory("new", "has coffee with milk every day")
    (merged,) = carried_out(fresh, Decision("merge", ("old",)), {"old": old})
    assert merged.id == "old"

"""Ranking and the gate, on values."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent.memory.dates import Span
from memagent.memory.embed import Scale
from memagent.memory.gate import is_evident, words_shared
from memagent.memory.rank import LIST_LENGTH, Question, own_strengths, promising, scored, strengths_of
from memagent.memory.speakers import Asked
from stores.base import TalkPlace
from stores.records import Memory, MemoryKind, Trust
from tests.contract.samples import memory, time

NOW = datetime(2026, 3, 2, tzinfo=UTC)
NOBODY = Asked("", frozenset(), named=False)


def place(id_: str, session: str = "s1", before: str | None = None, after: str | None = None, speaker: str = "Ana"):
    return TalkPlace(id_, session, speaker, before, after)


def question(**fields: Any) -> Question:
    given_: dict[str, Any] = {"asked": NOBODY, "span": None, "when": False, "past": False, "now": NOW}
    return Question(**(given_ | fields))


def said(id_: str, text: str = "I moved to Porto", **fields: Any) -> Memory:
    plain = memory(id_, text, kind=MemoryKind.EPISODE, session_id="s1", speaker="Ana")
    return plain.model_copy(update=fields)


def score_of(item: Memory, asked: Question | None = None, *, after_question: bool = False, **own: float) -> float:
    places = [place(item.id, before="q", after="n"), place("q"), place("n")]
    strengths = strengths_of({item.id: 0.5} | own, places)
    return scored(item, strengths, asked or question(), after_question=after_question)[0]


# --- a memory's own strength --------------------------------------------------------------------


def test_each_leg_counts_from_its_last_hit_to_its_best() -> None:
    similar = {f"m{n}": 0.9 - n * 0.004 for n in range(LIST_LENGTH)}
    lexical = {f"m{n}": 50.0 - n / 10 for n in range(LIST_LENGTH)}
    strengths = own_strengths(lexical, similar, Scale())
    assert strengths["m0"] == pytest.approx(1.75)
    assert strengths[f"m{LIST_LENGTH - 1}"] == pytest.approx(0.0)
    assert own_strengths({}, {}, Scale()) == {}
    assert own_strengths({"a": 3.0}, {}, Scale()) == {"a": 0.75}
    assert own_strengths({}, {"a": 0.2}, Scale()) == {"a": 1.0}


def test_the_scale_of_an_embedder_does_not_matter() -> None:
    wide = {f"m{n}": 0.7 - n * 0.006 for n in range(LIST_LENGTH)}
    narrow = {key: 0.8 + value / 8 for key, value in wide.items()}
    assert own_strengths({}, wide, Scale()) == pytest.approx(own_strengths({}, narrow, Scale(0.8, 0.3 / 8)))


def test_similarities_that_hardly_differ_are_no_order() -> None:
    strengths = own_strengths({"a": 2.0, "b": 1.0}, {"b": 0.31, "a": 0.3}, Scale())
    assert strengths["a"] > strengths["b"]


@given(st.dictionaries(st.text(max_size=3), st.floats(-1, 1)), st.dictionaries(st.text(max_size=3), st.floats(0, 1e3)))
def test_strength_is_bounded_and_keeps_order(similar: dict[str, float], lexical: dict[str, float]) -> None:
    strengths = own_strengths(lexical, similar, Scale())
    assert set(strengths) == set(similar) | set(lexical)
    assert all(0 <= value <= 1.75 + 1e-9 for value in strengths.values())
    alone = own_strengths({}, similar, Scale())
    assert all(alone[a] >= alone[b] for a in similar for b in similar if similar[a] >= similar[b])


# --- what else counts ---------------------------------------------------------------------------


def test_an_answer_gains_from_its_question_more_than_from_any_message() -> None:
    item = said("a")
    alone, after_message = score_of(item), score_of(item, q=0.5)
    assert alone < after_message < score_of(item, q=0.5, after_question=True)
    assert alone < score_of(item, n=0.5) < after_message


def test_the_words_of_whom_the_question_names_come_first() -> None:
    named = question(asked=Asked("", frozenset({"Bo"}), named=False))
    assert score_of(said("a", speaker="Bo"), named) > score_of(said("a", speaker="Ana"), named)
    fact = memory("a", "likes tea", subject="bo")
    assert score_of(fact, named) > score_of(fact)


def test_a_question_states_nothing() -> None:
    assert score_of(said("a", "Did I move to Porto?")) < score_of(said("a", "I moved to Porto"))
    assert score_of(said("a", "我搬到波尔图了吗？")) < score_of(said("a", "我搬到波尔图了"))


def test_an_unnamed_assistant_is_an_echo_and_a_named_speaker_is_none() -> None:
    user = said("a", speaker="user")
    assistant = user.model_copy(update={"trust": Trust.ASSISTANT, "speaker": "assistant"})
    other = assistant.model_copy(update={"speaker": "Bo"})
    assert score_of(assistant) < score_of(other) == pytest.approx(score_of(user))
    asked = question(asked=Asked("", frozenset({"assistant"}), named=False))
    assert score_of(assistant, asked) > score_of(user, asked)


def test_a_question_for_a_time_prefers_what_tells_one() -> None:
    told, plain = said("a", "I moved to Porto last week"), said("a", "I moved to Porto by train")
    assert score_of(told, question(when=True)) - score_of(plain, question(when=True)) > (
        score_of(told) - score_of(plain)
    )


def test_what_was_said_or_held_in_the_time_asked_for_comes_first() -> None:
    march = question(span=Span(datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)))
    inside, after = said("a", said_at=time(0)), said("a", said_at=datetime(2026, 4, 3, tzinfo=UTC))
    before = said("a", said_at=datetime(2026, 2, 3, tzinfo=UTC))
    assert score_of(inside, march) > score_of(after, march) > score_of(before, march)
    held = memory("a", "lived in Berlin", valid_from=datetime(2020, 1, 1, tzinfo=UTC), valid_to=time(9))
    left = held.model_copy(update={"valid_to": datetime(2026, 2, 1, tzinfo=UTC)})
    assert score_of(held, march) > score_of(left, march)


def test_a_fact_that_holds_no_more_is_for_questions_that_look_back() -> None:
    now_holds = memory("a", "lives in Porto")
    closed = now_holds.model_copy(update={"valid_to": time(0)})
    assert score_of(closed) < score_of(now_holds) - 0.5
    assert score_of(closed, question(past=True)) > score_of(now_holds, question(past=True))
    replaced = now_holds.model_copy(update={"superseded_by": "b"})
    assert score_of(replaced) < score_of(now_holds)


def test_of_equals_the_newer_comes_first() -> None:
    old = said("a", said_at=NOW - timedelta(days=400))
    assert score_of(old) < score_of(said("a", said_at=NOW - timedelta(days=2)))


def test_the_best_session_lends_to_its_others() -> None:
    places = [place("best"), place("mate"), place("stranger", session="s2")]
    strengths = strengths_of({"best": 1.0, "mate": 0.2, "stranger": 0.2}, places)
    assert promising(strengths, NOBODY, 3) == ["best", "mate", "stranger"]
    assert promising(strengths, NOBODY, 1) == ["best"]


def test_a_neighbour_that_no_leg_found_is_promising() -> None:
    places = [place("question", after="answer"), place("answer", before="question"), place("weak", session="s2")]
    strengths = strengths_of({"question": 1.5, "weak": 0.1}, places)
    assert promising(strengths, NOBODY, 2) == ["question", "answer"]


# --- the gate -----------------------------------------------------------------------------------


def test_one_that_stands_out_is_evident() -> None:
    crowd = [0.2 + n * 0.0005 for n in range(LIST_LENGTH)]
    assert is_evident(0.6, [*crowd, 0.6], Scale(), 0)
    assert not is_evident(0.3, [*crowd, 0.3], Scale(), 0)
    assert is_evident(0.45, [*crowd, 0.45], Scale(), 1)
    assert is_evident(0.1, crowd, Scale(), 2)


def test_among_few_memories_the_distance_to_unrelated_texts_counts() -> None:
    assert is_evident(0.5, [0.5, 0.48], Scale(), 0)
    assert not is_evident(0.25, [0.25, 0.2], Scale(), 0)
    assert is_evident(0.85, [0.85], Scale(0.77, 0.065), 0)
    assert not is_evident(0.80, [0.80], Scale(0.77, 0.065), 0)


def test_without_an_embedder_one_telling_word_is_enough() -> None:
    assert is_evident(None, [], Scale(), 1)
    assert not is_evident(None, [], Scale(), 0)


def test_shared_words_are_counted_in_the_text_that_has_most() -> None:
    assert words_shared(["the boat is red", "my boat lies in the harbour"], {"boat", "harbour", "mast"}) == 2
    assert words_shared([], {"boat"}) == 0
    assert words_shared(["boat"], set()) == 0

"""The learned margin: what the server counts, compared with what we count, multiplies later estimates."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memagent import Agent, Settings
from memagent.context.budget import Budget, reply_reserve
from memagent.events import Notice
from memagent.llm.margin import FEW_SAMPLES, Sample, counted, learned_margin, server_cut
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer
from tests.wire import prompt_tokens

PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def samples(ratio: float, *raw: int, session: str = "s1") -> list[Sample]:
    return [Sample(size, round(size * ratio), session) for size in raw]


def growing(start: int, step: int, count: int) -> list[int]:
    return [start + step * index for index in range(count)]


# --- what is learned ---------------------------------------------------------------------------


def test_without_requests_the_margin_is_where_it_starts() -> None:
    assert learned_margin([], 130) == (130, 0)
    assert learned_margin([], 130).source == "start value"


def test_few_requests_raise_the_margin_but_never_lower_it() -> None:
    few = samples(1.1, *growing(1_000, 50, FEW_SAMPLES - 1))
    assert learned_margin(few, 130) == (130, 0)
    assert learned_margin(samples(1.5, 1_000), 130) == (150, 1)
    assert learned_margin(samples(1.5, 1_000), 130).source == "learned from 1 request"
    enough = samples(1.1, *growing(1_000, 50, FEW_SAMPLES))
    assert learned_margin(enough, 130) == (110, FEW_SAMPLES)


@pytest.mark.parametrize(
    ("ratio", "percent"), [(0.5, 100), (0.99, 100), (1.0, 100), (1.25, 125), (2.0, 200), (2.6, 200)]
)
def test_the_margin_stays_between_one_and_two(ratio: float, percent: int) -> None:
    assert learned_margin(samples(ratio, *growing(1_000, 100, 40)), 130).percent == percent


def test_one_odd_request_does_not_rule_two_hundred() -> None:
    usual = samples(1.1, *growing(1_000, 20, 150))
    odd = [*usual[:75], Sample(1_500, 2_700, "s1"), *usual[75:]]
    assert learned_margin(odd, 130).percent == 110


def test_text_of_another_kind_raises_it_at_once() -> None:
    english = samples(1.0, *growing(2_000, 30, 190))
    assert learned_margin([*english, *samples(1.6, 7_800)], 130).percent == 160


def test_tiny_prompts_say_nothing() -> None:
    assert learned_margin(samples(2.5, *[20] * 50), 130) == (130, 0)


# --- figures that count something else ----------------------------------------------------------


def added_up(raws: Sequence[int], ratio: float, session: str = "s1", start: int = 0) -> list[Sample]:
    found: list[Sample] = []
    for raw in raws:
        start += round(raw * ratio)
        found.append(Sample(raw, start, session))
    return found


@pytest.mark.parametrize("ratio", [0.7, 1.0, 1.2, 1.25])
@pytest.mark.parametrize("step", [10, 60, 400])
def test_added_up_usage_changes_nothing(ratio: float, step: int) -> None:
    for count in range(1, 60):
        assert learned_margin(added_up(growing(900, step, count), ratio), 130) == (130, 0)


def test_usage_added_up_over_several_sessions_at_once_changes_nothing() -> None:
    by_session = {name: added_up(growing(900, 40, 30), 1.1, name) for name in ("s1", "s2")}
    mixed = [sample for pair in zip(*by_session.values(), strict=True) for sample in pair]
    assert learned_margin(mixed, 130) == (130, 0)
    total = 0
    together: list[Sample] = []
    for sample in mixed:
        total += round(sample.raw_tokens * 1.1)
        together.append(Sample(sample.raw_tokens, total, sample.series))
    assert learned_margin(together, 130) == (130, 0)


@given(st.floats(0.6, 1.3), st.integers(0, 4), st.integers(20, 300))
def test_samples_that_begin_in_the_middle_of_a_sum_are_none(ratio: float, carried: int, step: int) -> None:
    raws = growing(2_000, step, 12)
    cut_off = added_up(raws, ratio, start=round(carried * 2_000 * ratio))
    assert all(sample.ratio <= 1.31 * ratio for sample in counted(cut_off))


@given(st.floats(0.6, 1.9), st.lists(st.integers(200, 20_000), min_size=1, max_size=60), st.integers(0, 2**32))
def test_an_honest_server_is_never_taken_for_one_that_adds_up(ratio: float, raws: list[int], seed: int) -> None:
    noise = random.Random(seed)
    honest = [Sample(raw, round(raw * ratio * noise.uniform(0.95, 1.05)), "s1") for raw in raws]
    assert counted(honest) == honest


def test_counts_of_what_was_not_cached_are_no_samples() -> None:
    whole = samples(1.25, *growing(1_500, 40, 20))
    partial = [
        Sample(raw, round(raw * share), "s2")
        for raw, share in zip(growing(2_000, 90, 60), [0.05, 0.35, 0.5] * 20, strict=True)
    ]
    assert learned_margin([*whole, *partial], 130).percent == 125


# --- nothing overflows -------------------------------------------------------------------------


@given(
    ratio=st.floats(0.6, 1.9),
    spread=st.floats(0, 0.05),
    seed=st.integers(0, 2**32),
    window=st.sampled_from([2_048, 8_192, 32_768]),
    start=st.sampled_from([100, 130]),
)
def test_after_thirty_requests_no_prompt_exceeds_the_window(
    ratio: float, spread: float, seed: int, window: int, start: int
) -> None:
    noise = random.Random(seed)
    known: list[Sample] = []
    reserve = reply_reserve(window, None)
    for request in range(120):
        learned = learned_margin(known[-200:], start)
        budget = Budget(window, reserve, learned.percent)
        raw = min(400 + 150 * request, budget.limit_raw)  # as full as it may be
        true = round(raw * ratio * noise.uniform(1 - spread, 1 + spread))
        if request >= 30:
            assert true + reserve <= window
            assert learned.percent <= max(100, 100 * ratio * (1 + 3 * spread) + 2)  # nor is room given away
        known.append(Sample(raw, true, "s1"))


@given(ratio=st.floats(0.6, 1.8), seed=st.integers(0, 2**32))
def test_rare_large_errors_eat_only_from_the_room_for_the_reply(ratio: float, seed: int) -> None:
    noise = random.Random(seed)
    known: list[Sample] = []
    for request in range(200):
        budget = Budget(8_192, 1_024, learned_margin(known, 130).percent)
        true = round(budget.limit_raw * ratio * (1 + noise.gauss(0, 0.03)))
        if request >= 30:
            assert true <= 8_192
        known.append(Sample(budget.limit_raw, true, "s1"))


# --- a server that cuts ------------------------------------------------------------------------


def cuts(counts: Sequence[Sample]) -> list[int]:
    """At which requests it is noticed."""
    return [index for index, sample in enumerate(counts) if server_cut(sample, counts[:index])]


def test_a_window_smaller_than_the_prompt_is_noticed() -> None:
    raws = growing(1_200, 300, 30)
    at_most = [Sample(raw, min(round(raw * 0.95), 4_096), "s1") for raw in raws]
    assert [at_most[i].raw_tokens for i in cuts(at_most)][:1] == [7_200]
    odd_size = [Sample(raw, min(round(raw * 0.95), 3_333), "s1") for raw in raws]
    assert cuts(odd_size)
    dropped_messages = [
        Sample(raw, round(raw * 0.95) if raw < 4_200 else 4_096 - (raw * 7) % 900, "s1") for raw in raws
    ]
    assert cuts(dropped_messages)


def test_the_very_first_prompt_cut_to_a_window_is_noticed() -> None:
    assert server_cut(Sample(12_000, 2_048, "s1"), [])
    assert not server_cut(Sample(12_000, 6_800, "s1"), [])


@pytest.mark.parametrize("ratio", [0.4, 0.5, 0.62, 0.8, 1.0, 1.4])
def test_a_better_tokenizer_is_no_cut(ratio: float) -> None:
    noise = random.Random(7)
    counts = [Sample(raw, round(raw * ratio * noise.uniform(0.9, 1.1)), "s1") for raw in growing(1_500, 170, 60)]
    assert [i for i in cuts(counts) if ratio >= 0.5] == []
    assert [i for i in cuts(counts) if i >= 3] == []


def test_text_of_another_language_is_no_cut() -> None:
    """From English at 1.0 to Chinese that a Chinese tokenizer halves."""
    english = samples(1.0, *growing(1_200, 200, 20))
    raws = growing(5_200, 400, 20)
    mixed = [Sample(raw, round(5_000 + (raw - 5_000) * 0.5), "s1") for raw in raws]
    new_session = [Sample(raw, round(raw * 0.61), "s2") for raw in growing(1_100, 300, 30)]
    assert cuts([*english, *mixed, *new_session]) == []


@pytest.mark.parametrize("step", [30, 90, 700, 1_100])
def test_counting_only_what_was_not_cached_is_no_cut(step: int) -> None:
    raws = growing(1_300, step, 40)
    first = Sample(raws[0], 1_250, "s1")
    rest = [Sample(raw, round((raw - before) * 0.97) + 5, "s1") for before, raw in pairwise(raws)]
    warm = [Sample(raw, max(5, round((raw - 900) * 0.97)), "s2") for raw in growing(1_000, step, 3)]
    assert cuts([first, *rest, *warm]) == []


def test_counts_beside_the_cached_ones_are_no_cut() -> None:
    raws = growing(2_000, 100, 20)
    whole = samples(1.0, *growing(1_000, 50, 10), session="s0")
    assert cuts([*whole, *(Sample(raw, 1_024, "s1", cached_tokens=raw - 1_024) for raw in raws)]) == []


# --- through the agent -------------------------------------------------------------------------


def counting(change: Callable[[int], int | None]) -> Callable[[dict[str, Any]], Reply]:
    """Answers whose usage is what ``change`` makes of the tests' own count."""

    def step(body: dict[str, Any]) -> Reply:
        count = change(prompt_tokens(body))
        usage = None if count is None else {"prompt_tokens": count, "completion_tokens": 5, "total_tokens": count + 5}
        return Reply(text="noted", usage=usage)

    return step


def talk(agent: Agent, times: int, **more: Any) -> float:
    """Says a few words so many times; the margin of the last prompt."""
    margin = 0.0
    for number in range(times):
        manifest = agent.ask(f"note number {number}: the river is calm today", **more).manifest
        assert manifest is not None
        margin = manifest.margin
    return margin


def test_later_prompts_use_what_the_server_counted(tmp_path: Path) -> None:
    with (
        ScriptedServer(default=counting(lambda count: round(count * 1.7))) as server,
        agent_on(server, tmp_path) as agent,
    ):
        first = agent.ask("hello").manifest
        assert first is not None
        assert (first.margin, first.margin_source) == (1.3, "start value")
        talk(agent, 11)
        last = agent.ask("and now?").manifest
        assert last is not None
        assert 1.45 <= last.margin <= 1.75  # our count is a little above the tests' own
        assert last.margin_source == "learned from 12 requests"
        assert last.total_tokens <= last.budget_tokens
        assert last.total_tokens == -(-last.raw_tokens * round(last.margin * 100) // 100)


def test_a_better_tokenizer_gives_room_back(tmp_path: Path) -> None:
    with (
        ScriptedServer(default=counting(lambda count: round(count * 0.7))) as server,
        agent_on(server, tmp_path) as agent,
    ):
        assert talk(agent, FEW_SAMPLES) == 1.3
        assert talk(agent, 1) == 1.0


def test_within_an_exchange_the_margin_does_not_move(tmp_path: Path) -> None:
    def look_up(q: str) -> str:
        """Looks something up."""
        return f"{q}: 42"

    def step(body: dict[str, Any]) -> Reply:
        count = prompt_tokens(body) * 2
        turn = sum(message["role"] == "tool" for message in body["messages"])
        more: dict[str, Any] = {"calls": [("look_up", {"q": f"q{turn}"})]} if turn < 3 else {"text": "42"}
        return Reply(usage={"prompt_tokens": count, "completion_tokens": 5, "total_tokens": count + 5}, **more)

    with ScriptedServer(default=step) as server, agent_on(server, tmp_path, tools=[look_up]) as agent:
        one = agent.ask("look it up").manifest
        assert len(server.bodies) == 4
        assert one is not None
        assert one.margin == 1.3
        two = agent.ask("thanks").manifest
        assert two is not None
        assert two.margin > 1.5


def test_a_new_process_starts_with_it_another_model_or_endpoint_does_not(tmp_path: Path) -> None:
    double = counting(lambda count: round(count * 1.8))
    with ScriptedServer(default=double) as server:
        with agent_on(server, tmp_path, settings=Settings(extract="off")) as agent:  # learning asks the model, too
            talk(agent, 10)
        with agent_on(server, tmp_path) as again:
            known = again.preview("hello").manifest
            assert known.margin > 1.5
            assert known.margin_source == "learned from 10 requests"
        with agent_on(server, tmp_path, model="another") as other:
            assert other.preview("hello").manifest.margin == 1.3
        with agent_on(server, tmp_path, model="gpt-4o") as exact:
            assert exact.preview("hello").manifest.margin == 1.0
        with agent_on(server, tmp_path, user="somebody else") as stranger:
            assert stranger.preview("hello").manifest.margin == 1.3
    with ScriptedServer(default=double) as elsewhere, agent_on(elsewhere, tmp_path) as moved:
        assert moved.preview("hello").manifest.margin == 1.3


def test_zero_missing_and_added_up_usage_change_nothing(tmp_path: Path) -> None:
    total = 0

    def add_up(count: int) -> int:
        nonlocal total
        total += count
        return total

    for number, change in enumerate((lambda _: 0, lambda _: None, add_up)):
        with ScriptedServer(default=counting(change)) as server, agent_on(server, tmp_path / str(number)) as agent:
            assert talk(agent, 12) == 1.3


def test_requests_with_images_are_no_samples(tmp_path: Path) -> None:
    with ScriptedServer(default=counting(lambda count: count * 2)) as server, agent_on(server, tmp_path) as agent:
        assert talk(agent, 3, attachments=[PIXEL]) == 1.3
        assert talk(agent, 3) == 1.3  # the images still stand in the window
        agent.new_session()
        talk(agent, 1)
        assert talk(agent, 1) > 1.5


def test_a_server_that_cuts_the_prompt_is_told_once_a_session(tmp_path: Path) -> None:
    with ScriptedServer(default=counting(lambda count: min(count, 2_048))) as server:
        with agent_on(server, tmp_path, window_tokens=32_768) as agent:
            for _ in range(4):
                agent.ask("short")
            told = [_warnings(agent, "many words " * 400) for _ in range(20)]
            assert sum(map(len, told)) == 1
            [text] = [text for texts in told for text in texts]
            assert "MEMAGENT_WINDOW_TOKENS" in text
            assert "num_ctx" in text
            assert "2,048" in text
            session = agent.session_id
        with agent_on(server, tmp_path, window_tokens=32_768, session=session) as again:
            assert _warnings(again, "many words " * 400) == []
            again.new_session()
            assert len(_warnings(again, "many words " * 3_200)) == 1


def _warnings(agent: Agent, text: str) -> list[str]:
    events = agent.ask(text).events
    return [event.text for event in events if isinstance(event, Notice) and event.level == "warning"]

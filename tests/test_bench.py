"""The benches run, their own count agrees with the tests' count, and a short run reaches the floors."""

from __future__ import annotations

import asyncio
import json
import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memagent.bench.context import run_window, time_assembly
from memagent.bench.conversation import KINDS, conversation
from memagent.bench.exam import bench_exam, best_reference, content_words
from memagent.bench.facts import facts
from memagent.bench.harness import extract
from memagent.bench.meter import Meter, Scale
from memagent.bench.minutes import fixed_system, standing_text
from memagent.bench.planting import FULL, LOOK_ALIKES, REVOKED, STANDING, Amount, exam_talk
from memagent.bench.verbatim import newest_verbatim
from memagent.bench.words import Writer
from memagent.context.summary import background
from memagent.context.view import StandingInstruction, Summary
from memagent.llm.client import ChatRequest
from stores.records import Message, MessageRole, ToolCall
from tests.shell import Shell
from tests.wire import count_text, prompt_tokens

QUICK_EXCHANGES = 120


def _message(role: str, content: str, **more: object) -> dict[str, object]:
    return {"role": role, "content": content, **more}


def test_the_same_seed_gives_the_same_conversation() -> None:
    assert list(conversation(5, 200)) == list(conversation(5, 200))
    assert list(conversation(5, 50)) != list(conversation(6, 50))


def test_a_conversation_has_everything_in_it() -> None:
    talk = list(conversation(5, 400))
    kinds = Counter(exchange.kind for exchange in talk)
    assert set(kinds) == set(KINDS)
    outputs = [len(call.output) for exchange in talk for turn in exchange.turns for call in turn]
    assert min(outputs) < 1_000
    assert max(outputs) > 50_000
    assert any("的" in exchange.user for exchange in talk)


def test_facts_are_distinct_and_their_questions_do_not_tell() -> None:
    made = facts(1, 240, chinese_every=5)
    assert len({fact.identifier for fact in made}) == len({fact.question for fact in made}) == 240
    for fact in made:
        assert fact.identifier in fact.statement
        assert fact.identifier in fact.record
        assert fact.identifier not in fact.question + fact.paraphrase


def test_the_exam_plants_everything_once() -> None:
    talk = exam_talk(4)
    assert (len(talk.asked), len(talk.planted)) == (FULL.facts, FULL.facts + FULL.distractors)
    said = "\n".join(
        "\n".join([exchange.user, exchange.answer, *(call.output for turn in exchange.turns for call in turn)])
        for exchange in talk.exchanges
    )
    for item in talk.planted:
        assert said.count(item.fact.identifier) == 1
    for sentence in (*STANDING, *LOOK_ALIKES, *(text for pair in REVOKED for text in pair)):
        assert said.count(sentence) == 1


def test_the_bench_counts_as_the_tests_do() -> None:
    writer = Writer(random.Random(1))
    call = {"id": "c1", "type": "function", "function": {"name": "read_file", "arguments": '{"path": "花园"}'}}
    body = {
        "messages": [
            _message("system", writer.text(50)),
            _message("user", writer.chinese(80), name="Maya"),
            {"role": "assistant", "content": None, "tool_calls": [call]},
            _message("tool", writer.output(3_000), tool_call_id="c1"),
        ],
        "tools": [{"type": "function", "function": {"name": "read_file", "parameters": {"type": "object"}}}],
    }
    request = ChatRequest(messages=body["messages"], tools=body["tools"])
    scale = Scale()
    assert scale.request(request) == prompt_tokens(body) == scale.request(request)


def test_the_meter_finds_the_common_prefix() -> None:
    scale = Scale()
    meter = Meter(1_000, scale)
    system, user = _message("system", "Be brief. Yesterday it rained."), _message("user", "hello")
    first = meter.answered(0, ChatRequest([system, user], max_tokens=100))
    assert (first.common_tokens, first.broken, first.over) == (0, False, False)
    grown = meter.answered(
        1, ChatRequest([system, user, _message("assistant", "hi"), _message("user", "again")], max_tokens=990)
    )
    assert (grown.broken, grown.over) == (False, True)
    assert grown.common_tokens == scale.message(system) + scale.message(user)
    broken = meter.answered(2, ChatRequest([_message("system", "Be brief. Today it is dry."), user]))
    assert broken.broken
    assert 0 < broken.common_tokens < scale.message(system)


def test_the_scripted_summariser_is_brief() -> None:
    material, scale = "\n".join(Writer(random.Random(2)).lines(20_000)), Scale()

    def asked(words: str, max_tokens: int | None = None, said: str = material) -> ChatRequest:
        return ChatRequest([_message("system", words), _message("user", said)], max_tokens=max_tokens)

    text = extract(asked("Summarise.", 400), scale)
    assert 100 < count_text(text) <= 300
    assert text == extract(asked("Summarise.", 400), scale)
    assert count_text(extract(asked("Summarise in at most 90 words."), scale)) <= 90
    assert extract(asked("Summarise.", said=""), scale)


@pytest.mark.timeout(200)
def test_a_short_run_stays_in_the_budget_and_keeps_its_prefix() -> None:
    found = asyncio.run(run_window(8_192, QUICK_EXCHANGES))
    assert found.over == 0
    assert found.fill >= 0.35
    assert found.reuse >= 0.80
    assert "no cause named" not in found.broken
    assert found.cuts


def test_a_preview_does_not_grow_with_the_session() -> None:
    found = asyncio.run(time_assembly(32_768, (100, 3_000), rounds=60))
    assert max(found.median_ms.values()) < 50
    assert found.growth < 4


@pytest.mark.timeout(300)
def test_a_short_exam_is_passed() -> None:
    """Facts are found, instructions stand, summaries are small: the floors on a short talk in a small window."""
    report = asyncio.run(bench_exam(windows=(8_192,), amount=Amount(110, 8, 40)))
    (exam,) = report.exams
    assert exam.rows[0].any_call == 8, exam.misses
    assert exam.lost_standing == exam.kept_revoked == exam.mistaken == ()
    assert exam.summaries.leaves > 0
    assert report.missed() == []


def _said(number: int, role: MessageRole, content: str, **more: Any) -> Message:
    at = datetime(2026, 1, 5, tzinfo=UTC)
    return Message(
        id=f"m{number}", session_id="s", exchange_id="x", at=at, sequence=number, role=role, content=content, **more
    )


def test_texts_verbatim_keeps_the_newest_and_puts_outputs_out() -> None:
    call = ToolCall(id="c", name="read_file", arguments='{"path": "a"}')
    journal = [
        _said(1, MessageRole.USER, "the oldest words " * 50),
        _said(2, MessageRole.ASSISTANT, "", calls=(call,)),
        _said(3, MessageRole.TOOL, "KX-11111-QQ " * 500, name="read_file", call_id="c"),
        _said(4, MessageRole.ASSISTANT, "the newest words"),
    ]
    kept = newest_verbatim(journal, 100, Scale())
    assert kept.holds("the newest words")
    assert kept.holds('read_output(ref="m3")')
    assert not kept.holds("KX-11111-QQ")
    assert not kept.holds("the oldest words")
    assert kept.tokens <= 100


def test_the_sensible_model_reads_the_reference_that_its_question_is_about() -> None:
    messages = [
        _message("system", "Be brief."),
        _message("user", 'The log of the boat: read_output(ref="m1")\nThe bill of the piano: read_output(ref="m2")'),
        _message("user", 'Something else: read_output(ref="m3")'),
    ]
    request = ChatRequest(messages)
    assert best_reference(request, content_words("Which invoice was it for the piano?")) == "m2"
    assert best_reference(request, content_words("钢琴的发票号是多少？")) == "m3"  # nothing in common: the newest
    assert best_reference(ChatRequest(messages[:1]), {"piano"}) is None
    assert content_words("Which is the door code?") == {"door", "code"}


def test_the_standing_section_is_read_off_the_system_message() -> None:
    summary = Summary(id="s1", text="They talked.", first_sequence=1, last_sequence=2, tokens=3, source_tokens=20)
    said = StandingInstruction(entry_id="m1", said_on="2026-01-05", text="Never use emojis.")
    request = ChatRequest([_message("system", "Be brief.\n\n" + background([summary], [said]).text)])
    assert "Never use emojis." in standing_text(request)
    assert "They talked." not in standing_text(request)
    assert fixed_system(request).strip() == "Be brief."
    assert standing_text(ChatRequest([_message("system", "Be brief.")])) == ""


def test_the_command_prints_a_table_and_json(tmp_path: Path) -> None:
    shell = Shell(tmp_path, None)
    arguments = ("bench", "context", "--quick", "--exchanges", "20", "--windows", "4096")
    assert "prefix reuse" in shell.run(*arguments).stdout
    (window,) = json.loads(shell.run(*arguments, "--json").stdout)["windows"]
    assert (window["window_tokens"], window["exchanges"], window["over"]) == (4_096, 20, 0)
    assert "is no list of numbers" in shell.run("bench", "context", "--windows", "big", code=2).stderr

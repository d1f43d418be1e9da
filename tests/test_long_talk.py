"""Sixty exchanges with tools in a window of 4,096, with a real model of 1.5 billion parameters: no server error,
and a standing instruction is still obeyed at the end. Takes some 20 minutes: only with ``--long-talk``.

The model's file (``memagent model pull qwen2.5-coder-1.5b``) is looked for in MEMAGENT_MODELS_DIR.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from memagent import Agent, tool
from memagent.testing import WordEmbedder

CITIES = ["Lisbon", "Porto", "Berlin", "Kyoto", "Oslo", "Quito", "Accra", "Hanoi"]
LANDS = ["France", "Spain", "Italy", "Norway", "Japan", "Peru", "Kenya", "Egypt", "Poland", "Greece", "Chile", "Cuba"]
RULE = "From now on, please end every answer you give me with the word OVER."
RULE_AT = 1
WINDOW = 4_096


@tool
def order_status(number: int) -> str:
    """The status of a customer's order: where it is and when it arrives.

    Args:
        number: The order's number, e.g. 4017.
    """
    return f"Order {number} is in {CITIES[number % 8]} and arrives on May {number % 28 + 1}."


def question(number: int) -> str:
    """So small a model calls a tool only when it is told to; and what it answered to a question of the same
    kind before, it answers again, so the kinds change."""
    land = LANDS[number % 12]
    return [
        f"What is the capital of {land}?",
        f"Which language do people speak in {land}?",
        f"Name one river or sea of {land}.",
        f"Name one dish from {land}.",
        f"Which country is a neighbour of {land}?",
        f"Where is my order {4_000 + 7 * number}? Please call order_status.",
    ][number % 6]


@pytest.mark.long_talk
@pytest.mark.timeout(7_200)
def test_sixty_exchanges_in_a_small_window(tmp_path: Path) -> None:
    kinds: list[str] = []
    answers: list[str] = []
    with Agent(
        model="qwen2.5-coder-1.5b",
        data_dir=tmp_path,
        window_tokens=WINDOW,
        tools=[order_status],
        embedder=WordEmbedder(),
    ) as agent:
        for number in range(60):
            reply = agent.ask(f"{RULE} {question(number)}" if number == RULE_AT else question(number))
            assert reply.manifest is not None
            assert reply.manifest.total_tokens <= reply.manifest.budget_tokens
            print(number, reply.finish_reason, reply.usage.prompt_tokens, repr(reply.text[-60:]), flush=True)
            for event in reply.events:
                if event.type in ("compacted", "compacting", "notice", "tool_started"):
                    print("   ", event, flush=True)
            kinds += [event.type for event in reply.events]
            answers.append(reply.text)
        assert RULE in agent.preview("and?").messages[0]["content"]
        print(agent.summaries(), flush=True)
    assert "compacted" in kinds
    assert "tool_finished" in kinds
    assert all(answer.strip() for answer in answers)
    plain = [answer for number, answer in enumerate(answers) if number % 6 != 5][-5:]  # those that need no tool
    assert sum("over" in answer.lower() for answer in plain) >= 4, plain

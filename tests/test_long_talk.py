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
RULE = "From now on, please end every answer you give me with the word OVER."
WINDOW = 4_096


@tool
def trains(city: str) -> str:
    """The trains that leave a city today.

    Args:
        city: The city's name, e.g. "Porto".
    """
    rows = [
        f"{6 + n:02d}:{(n * 7) % 60:02d} platform {n % 9 + 1} to {CITIES[n % 8]}, {20 + n}.50 EUR" for n in range(40)
    ]
    return f"Trains from {city} today:\n" + "\n".join(rows)


@tool
def population(city: str) -> int:
    """How many people live in a city."""
    return 100_000 + 7_919 * sum(map(ord, city))


def question(number: int) -> tuple[str, str]:
    """What is said, and the tool choice: so small a model has to be told when to call."""
    city = CITIES[number % 8]
    return [
        (f"How many people live in {city}? Use the tool population.", "required"),
        (f"Thanks. Say one short sentence about {city}.", "none"),
        (f"When does the first train leave {city} today? Use the tool trains.", "required"),
        (f"My friend number {number} lives in {city}. Which country is that?", "none"),
    ][number % 4]


@pytest.mark.long_talk
@pytest.mark.timeout(7_200)
def test_sixty_exchanges_in_a_small_window(tmp_path: Path) -> None:
    kinds: list[str] = []
    answers: list[str] = []
    with Agent(
        model="qwen2.5-coder-1.5b",
        data_dir=tmp_path,
        window_tokens=WINDOW,
        tools=[trains, population],
        embedder=WordEmbedder(),
    ) as agent:
        answers.append(agent.ask(f"Hello! {RULE} What is the capital of Portugal?").text)
        for number in range(59):
            text, tool_choice = question(number)
            reply = agent.ask(text, tool_choice=tool_choice)
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
    obeyed = sum("over" in answer.lower() for answer in answers[-10:])
    assert obeyed >= 6, answers[-10:]

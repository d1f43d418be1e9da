"""The synthetic conversation: small talk, questions, facts stated and asked for again, tool calls with
outputs of all sizes; mostly English, some Chinese. The same seed gives the same conversation for every window."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

from memagent.bench.facts import Fact, facts
from memagent.bench.words import Writer

KINDS = {"talk": 42, "question": 25, "fact": 9, "asked again": 9, "tools": 15}
"""How many of a hundred exchanges are of a kind."""
CHINESE_PERCENT = 12
OUTPUT_CHARS = (
    # how many of a hundred outputs, from how many characters, to how many
    (58, 150, 900),
    (30, 1_000, 5_000),
    (9, 8_000, 30_000),
    (3, 60_000, 300_000),
)
ASKED_AGAIN_AFTER = 25
"""A fact is asked for again at the earliest so many exchanges later."""
_NOTED = ("Noted.", "I will keep that in mind.", "Thanks, good to know.", "All right.")


@dataclass(frozen=True, slots=True)
class ScriptedCall:
    """A tool call with its arguments by name, and what a tool of the host will return."""

    name: str
    arguments: tuple[tuple[str, str], ...]
    output: str = ""


def host_call(name: str, argument: str, output: str) -> ScriptedCall:
    """A call of one of the host's tools, which have one argument each."""
    return ScriptedCall(name, (("path" if name == "read_file" else "query", argument),), output)


@dataclass(frozen=True, slots=True)
class ScriptedExchange:
    """What the person says, what the model calls turn by turn, and its final answer."""

    kind: str
    user: str
    answer: str
    turns: tuple[tuple[ScriptedCall, ...], ...] = ()


def conversation(seed: int, exchanges: int) -> Iterator[ScriptedExchange]:
    """So many exchanges, made one by one (the outputs of a whole long conversation are large)."""
    chance = random.Random(seed)
    writer = Writer(chance)
    stock = iter(facts(seed, 480, chinese_every=8) * (exchanges // 4_000 + 1))
    told: list[tuple[int, Fact]] = []
    names, weights = list(KINDS), list(KINDS.values())
    for number in range(exchanges):
        kind = chance.choices(names, weights)[0]
        old = [fact for at, fact in told if number - at >= ASKED_AGAIN_AFTER]
        if kind == "fact":
            fact = next(stock)
            told.append((number, fact))
            yield ScriptedExchange(kind, f"By the way: {fact.statement}", chance.choice(_NOTED))
        elif kind == "asked again" and old:
            fact = chance.choice(old)
            asked = chance.choice((fact.question, fact.paraphrase))
            yield ScriptedExchange(kind, asked, f"It is {fact.identifier}.")
        elif kind == "tools":
            yield lookup(writer, chance, number)
        elif kind == "question":
            yield question(writer, chance)
        else:
            yield talk(writer, chance)


def talk(writer: Writer, chance: random.Random) -> ScriptedExchange:
    """A remark and a short answer."""
    if chance.randrange(100) < CHINESE_PERCENT:
        return ScriptedExchange("talk", writer.chinese(chance.randint(8, 30)), writer.chinese(chance.randint(15, 50)))
    return ScriptedExchange("talk", writer.text(chance.randint(5, 20)), writer.text(chance.randint(10, 40)))


def question(writer: Writer, chance: random.Random) -> ScriptedExchange:
    """A question and an answer of some length."""
    if chance.randrange(100) < CHINESE_PERCENT:
        asked = writer.chinese(chance.randint(8, 30)).rstrip("。") + "吗？"
        return ScriptedExchange("question", asked, writer.chinese(chance.randint(60, 200)))
    asked = f"{writer.sentence()} {writer.question()}"
    return ScriptedExchange("question", asked, writer.text(chance.randint(40, 140)))


def lookup(writer: Writer, chance: random.Random, number: int) -> ScriptedExchange:
    """A request that takes one or two turns of tool calls; ``number`` makes their arguments unique."""
    turns: list[tuple[ScriptedCall, ...]] = []
    for turn in range(chance.choice((1, 1, 1, 2))):
        calls = [_call(writer, chance, f"{number}.{turn}.{index}") for index in range(chance.choice((1, 1, 2)))]
        turns.append(tuple(calls))
    return ScriptedExchange(
        "tools", f"Please look up the {writer.topic()} for me.", writer.text(chance.randint(20, 80)), tuple(turns)
    )


def _call(writer: Writer, chance: random.Random, key: str) -> ScriptedCall:
    _, least, most = chance.choices(OUTPUT_CHARS, [share for share, _, _ in OUTPUT_CHARS])[0]
    name = chance.choice(("read_file", "search_web", "run_query"))
    return host_call(name, f"{writer.topic()} {key}", writer.output(chance.randint(least, most)))

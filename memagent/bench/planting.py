"""The exam's conversation: facts, distractors, standing instructions and look-alikes, planted in small talk
and tool outputs. The sentences were written without a look at the rules that are to recognise them."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from memagent.bench.conversation import ScriptedExchange, host_call, lookup, question, talk
from memagent.bench.facts import Fact, facts
from memagent.bench.words import Writer

STANDING = (
    "From now on, please give all distances in kilometres and never in miles.",
    "Whenever I send you a draft, point out the typos before anything else.",
    "I'd rather you didn't use emojis with me, ever.",
    "Make it a habit to close every recipe with the total cooking time.",
    "One rule for all our chats: write dates as day.month.year.",
    "No more bullet lists for me; write full sentences until I say otherwise.",
    "In everything you write, call my mother-in-law Agnes, not Mrs Holm.",
    "以后回答我的问题时，请先给结论再解释。",
    "不管我问什么，都不要用感叹号。",
    "记住，凡是提到价格都换算成欧元。",
)
"""Binding from the moment they are said."""
REVOKED = (
    ("Always sign off with a line from a poet.", "You can stop signing off with lines from poets now."),
    ("From today on answer me only in rhymes.", "Forget the thing with the rhymes, talk normally again."),
    ("以后每次都用文言文回答我。", "不用再用文言文了，正常说话就行。"),
)
"""What was asked for, and how it was taken back."""
LOOK_ALIKES = (
    "He always says that one should never trust a cold oven.",
    "My boss told me: from now on, always copy her on every mail.",
    "The sign at the harbour reads: never feed the gulls.",
    "In the film the captain shouts that from now on nobody sleeps.",
    "My sister never wants to be called before nine.",
    "I always forget where I put my keys.",
    "Should I always water the orchard in the evening?",
    "Do you always answer that quickly?",
    "The manual says: always unplug the device before cleaning.",
    "When I was small we never had to lock the door.",
    "Jonas wrote in his letter, please never sell the boat.",
    "If I had a dog, I would always walk it at dawn.",
    'Translate this into German: "From now on please speak slowly."',
    "The recipe begins like this: whenever you bake, weigh the flour first.",
    "他总是说以后要早点睡。",
    "老板告诉大家以后都不要迟到。",
    "牌子上写着：请勿践踏草坪。",
    "我以后再也不想坐那趟火车了。",
    "妈妈总是记住每个人的生日。",
    "你以前总是用英文回答吗？",
)
"""They sound like instructions and bind nobody."""

Place = Literal["user", "assistant", "tool", "overflow"]
PLACES: dict[Place, int] = {"user": 14, "assistant": 13, "tool": 5, "overflow": 8}
"""Where of forty facts so many are said. "overflow": in the middle of an output too long for any prompt."""
OVERFLOW_CHARS = (60_000, 160_000)
TOOL_CHARS = (300, 2_000)


class Amount(NamedTuple):
    """How long the talk is and how much is planted in it."""

    exchanges: int
    facts: int
    distractors: int


FULL = Amount(400, 40, 200)
QUICK = Amount(160, 12, 60)


@dataclass(frozen=True, slots=True)
class Planted:
    """A fact, where it was said, and in which exchange. A distractor is one that nobody will ask for."""

    fact: Fact
    place: Place
    exchange: int
    distractor: bool


@dataclass(frozen=True, slots=True)
class ExamTalk:
    """What is played, and what was planted in it."""

    exchanges: tuple[ScriptedExchange, ...]
    planted: tuple[Planted, ...]

    @property
    def asked(self) -> list[Planted]:
        """The facts that are asked for, in the order they were said."""
        return [planted for planted in self.planted if not planted.distractor]


def exam_talk(seed: int, amount: Amount = FULL) -> ExamTalk:
    """A conversation in which every fact, distractor, instruction, revocation and look-alike has an exchange
    of its own. Instructions come in the first half, revocations after them. Raises ValueError if they have
    no room."""
    exchanges, asked, distractors = amount
    chance = random.Random(seed)
    writer = Writer(chance)
    remarks = _remarks(chance, exchanges)
    free = [number for number in range(exchanges - 1) if number not in remarks]
    if asked + distractors > len(free):
        raise ValueError(f"{exchanges} exchanges cannot hold so many facts and {len(remarks)} remarks")
    where = chance.sample(free, asked + distractors)
    made = facts(seed, asked + distractors, chinese_every=5)
    planted = [
        Planted(fact, _place(index), exchange, distractor=index >= asked)
        for index, (fact, exchange) in enumerate(zip(made, where, strict=True))
    ]
    by_exchange = {item.exchange: item for item in planted}
    played = tuple(
        _planted(writer, chance, by_exchange[number], number)
        if number in by_exchange
        else _remark(writer, chance, remarks.get(number), number)
        for number in range(exchanges)
    )
    return ExamTalk(played, tuple(sorted(planted, key=lambda item: item.exchange)))


def _place(index: int) -> Place:
    """Facts and distractors alike are said everywhere, in turn."""
    places: list[Place] = [place for place, count in PLACES.items() for _ in range(count)]
    return places[index * 7 % len(places)]  # 7 and 40 share no divisor, so all places take turns


def _remarks(chance: random.Random, exchanges: int) -> dict[int, str]:
    """Which exchange says which instruction, revocation or look-alike."""
    first, rest = list(range(2, exchanges // 2)), list(range(exchanges // 2, exchanges * 4 // 5))
    early: Sequence[str] = [*STANDING, *(said for said, _ in REVOKED), *LOOK_ALIKES[::2]]
    late: Sequence[str] = [*(taken_back for _, taken_back in REVOKED), *LOOK_ALIKES[1::2]]
    return dict(
        [
            *zip(chance.sample(first, len(early)), early, strict=True),
            *zip(chance.sample(rest, len(late)), late, strict=True),
        ]
    )


def _remark(writer: Writer, chance: random.Random, remark: str | None, number: int) -> ScriptedExchange:
    """Filler; with a remark in it, alone or among other sentences."""
    if remark is None:
        return chance.choices(
            (talk(writer, chance), question(writer, chance), lookup(writer, chance, number)), (50, 30, 20)
        )[0]
    around = chance.choice(("{0}", "{0}", "{1} {0}", "{0} {1}"))
    return ScriptedExchange("remark", around.format(remark, writer.sentence()), "All right.")


def _planted(writer: Writer, chance: random.Random, item: Planted, number: int) -> ScriptedExchange:
    fact, made = item.fact, talk(writer, chance)
    if item.place == "user":
        return replace(made, kind="fact", user=f"{made.user} {fact.statement}")
    if item.place == "assistant":
        return replace(made, kind="fact", answer=f"{fact.statement} {made.answer}")
    line = fact.record if chance.random() < 0.5 else fact.statement
    output = _output_with(writer, chance, line, *(OVERFLOW_CHARS if item.place == "overflow" else TOOL_CHARS))
    call = host_call(chance.choice(("read_file", "run_query")), f"{writer.topic()} {number}", output)
    return ScriptedExchange("fact", f"Please look up the {writer.topic()} for me.", made.answer, ((call,),))


def _output_with(writer: Writer, chance: random.Random, line: str, least: int, most: int) -> str:
    """A log with one more line in it, neither near its beginning nor near its end."""
    lines = writer.lines(chance.randint(least, most))
    at = chance.randint(len(lines) * 3 // 10, len(lines) * 8 // 10)
    return "\n".join([*lines[:at], line, *lines[at:]])

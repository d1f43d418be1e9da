"""Statements with exact identifiers, and questions for them that do not name the identifier. Seeded."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass

_ATTRIBUTES = (
    # what it is called, how one asks without calling it so, its Chinese name
    ("door code", "What do I type to get into {thing} in {place}?", "门锁密码"),
    ("serial number", "The repair shop wants to know which unit {thing} in {place} is. What do I tell them?", "序列号"),
    ("booking reference", "Under which reference did we book {thing} in {place}?", "预订编号"),
    ("insurance policy", "Which policy covers {thing} in {place}?", "保险单号"),
    ("warranty number", "{thing} in {place} broke; what does the maker need for the warranty?", "保修号"),
    ("meter number", "The electricity company asks for the meter of {thing} in {place}. Which is it?", "电表号"),
    ("licence key", "Which key unlocks the software of {thing} in {place}?", "许可证密钥"),
    ("parcel number", "How can I track the parcel for {thing} in {place}?", "包裹单号"),
    ("invoice number", "Which invoice was it that we paid for {thing} in {place}?", "发票号"),
    ("inventory label", "What stands on the label of {thing} in {place}?", "资产编号"),
)
_THINGS = (
    ("the cabin", "小木屋"),
    ("the greenhouse", "温室"),
    ("the sailing boat", "帆船"),
    ("the piano", "钢琴"),
    ("the dishwasher", "洗碗机"),
    ("the heat pump", "热泵"),
    ("the bakery", "面包店"),
    ("the delivery van", "送货车"),
    ("the darkroom", "暗房"),
    ("the telescope", "望远镜"),
    ("the weaving loom", "织布机"),
    ("the beehive scale", "蜂箱秤"),
)
_PLACES = (
    ("Lisbon", "里斯本"),
    ("Tampere", "坦佩雷"),
    ("Graz", "格拉茨"),
    ("Porto", "波尔图"),
    ("Bergen", "卑尔根"),
    ("Kyoto", "京都"),
    ("Valencia", "瓦伦西亚"),
    ("Gdansk", "格但斯克"),
)
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"


@dataclass(frozen=True, slots=True)
class Fact:
    """``statement`` holds the identifier; ``question`` and ``paraphrase`` ask for it, the second without
    the word that the statement uses. ``record`` is the fact as a line of data."""

    identifier: str
    statement: str
    question: str
    paraphrase: str
    record: str
    chinese: bool = False


def facts(seed: int, count: int, *, chinese_every: int = 0) -> list[Fact]:
    """So many facts, each about another combination of attribute, thing and place; near misses (same thing,
    other place; same place, other attribute) are among them. Every ``chinese_every``-th is Chinese."""
    chance = random.Random(seed)
    combinations = list(itertools.product(_ATTRIBUTES, _THINGS, _PLACES))
    if count > len(combinations):
        raise ValueError(f"there are only {len(combinations)} different facts")
    chosen = chance.sample(combinations, count)
    used: set[str] = set()
    made: list[Fact] = []
    for index, (attribute, thing, place) in enumerate(chosen):
        chinese = chinese_every > 0 and index % chinese_every == chinese_every - 1
        make = _chinese if chinese else _english
        made.append(make(attribute, thing, place, _identifier(chance, used)))
    return made


def _identifier(chance: random.Random, used: set[str]) -> str:
    while True:
        head, tail = (
            "".join(chance.choices(_LETTERS, k=2)),
            "".join(chance.choices(_LETTERS, k=2)),
        )
        made = f"{head}-{chance.randrange(10_000, 99_999)}-{tail}"
        if made not in used:
            used.add(made)
            return made


def _english(attribute: tuple[str, str, str], thing: tuple[str, str], place: tuple[str, str], identifier: str) -> Fact:
    name, asked, _ = attribute
    paraphrase = asked.format(thing=thing[0], place=place[0])
    return Fact(
        identifier=identifier,
        statement=f"The {name} of {thing[0]} in {place[0]} is {identifier}.",
        question=f"What is the {name} of {thing[0]} in {place[0]}?",
        paraphrase=paraphrase[0].upper() + paraphrase[1:],
        record=f"{place[0]};{thing[0].removeprefix('the ')};{name};{identifier};checked",
    )


def _chinese(attribute: tuple[str, str, str], thing: tuple[str, str], place: tuple[str, str], identifier: str) -> Fact:
    name, where = attribute[2], f"{place[1]}的{thing[1]}"
    return Fact(
        identifier=identifier,
        statement=f"{where}的{name}是{identifier}。",
        question=f"{where}的{name}是多少？",
        paraphrase=f"我需要{where}的{name}，你还记得吗？",
        record=f"{place[1]};{thing[1]};{name};{identifier};已核对",
        chinese=True,
    )

"""Texts that look like talk and like tool output, made from a seed."""

from __future__ import annotations

import json
import random

_PEOPLE = ("Maya", "Jonas", "Aino", "Rafael", "Ingrid", "Tomasz", "Leila", "Kenji", "Carmen", "Oskar", "Priya", "Emil")
_PLACES = ("harbour", "market", "library", "workshop", "garden", "station", "museum", "kitchen", "school", "river bank")
_THINGS = (
    *("bread", "bicycle", "letter", "map", "violin", "lamp", "kite", "ladder", "notebook", "kettle", "coat", "ferry"),
    *("recipe", "photograph", "window", "clock", "bridge", "orchard", "radio", "carpet", "compass", "bench"),
)
_VERBS = (
    *("repaired", "painted", "found", "sold", "described", "carried", "measured", "borrowed", "cleaned", "lost"),
    *("drew", "weighed", "planted", "opened", "copied", "sorted"),
)
_ADJECTIVES = (
    *("old", "quiet", "green", "heavy", "bright", "narrow", "wooden", "early", "gentle", "curious", "cold", "simple"),
    *("crowded", "patient", "rusty", "warm"),
)
_OPENERS = ("I think", "It seems", "As far as I know,", "Yesterday", "In the end", "To be honest,", "Later", "By now")
_CHINESE = (
    *("今天", "我们", "一起", "去", "河边", "散步", "然后", "买", "面包", "老师", "讲", "一个"),
    *("故事", "花园", "里", "很", "安静", "朋友", "写", "信", "火车", "晚", "到", "雨"),
    *("停", "以后", "桥", "上", "人", "不", "多", "孩子", "放", "风筝"),
)
_LEVELS = ("INFO", "INFO", "INFO", "DEBUG", "WARN")


class Writer:
    """Writes with one source of chance; the same seed and order of calls give the same texts."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance

    def sentence(self) -> str:
        """A sentence of about a dozen English words."""
        pick = self._chance.choice
        return (
            f"{pick(_OPENERS)} {pick(_PEOPLE)} {pick(_VERBS)} the {pick(_ADJECTIVES)} {pick(_THINGS)} "
            f"near the {pick(_ADJECTIVES)} {pick(_PLACES)}."
        )

    def text(self, words: int) -> str:
        """English sentences of at least so many words in all."""
        sentences: list[str] = []
        count = 0
        while count < words:
            sentences.append(self.sentence())
            count += sentences[-1].count(" ") + 1
        return " ".join(sentences)

    def chinese(self, chars: int) -> str:
        """Chinese sentences of at least so many characters in all."""
        text = ""
        while len(text) < chars:
            text += "".join(self._chance.choices(_CHINESE, k=self._chance.randint(6, 11))) + "。"
        return text

    def question(self) -> str:
        """A question about something."""
        pick = self._chance.choice
        return pick(
            (
                f"How is a {pick(_ADJECTIVES)} {pick(_THINGS)} {pick(_VERBS)} best?",
                f"Why would anybody have {pick(_VERBS)} a {pick(_THINGS)} at the {pick(_PLACES)}?",
                f"What should {pick(_PEOPLE)} know about a {pick(_ADJECTIVES)} {pick(_THINGS)}?",
            )
        )

    def topic(self) -> str:
        """Two words to search for."""
        return f"{self._chance.choice(_ADJECTIVES)} {self._chance.choice(_THINGS)}"

    def output(self, chars: int) -> str:
        """What a tool returns, of about so many characters: a log, records, a table, or prose; one record a
        line except for JSON, which is one line."""
        kind = self._chance.choice((self._log, self._table, self._prose, self._json))
        return kind(chars)

    def lines(self, chars: int) -> list[str]:
        """Lines of a log, of about so many characters in all."""
        return self._log(chars).splitlines()

    def _log(self, chars: int) -> str:
        chance, made, size = self._chance, list[str](), 0
        minute = chance.randrange(1_000)
        while size < chars:
            minute += chance.randrange(3)
            line = f"{minute // 60 % 24:02}:{minute % 60:02} {chance.choice(_LEVELS)} {self.sentence()}"
            made.append(line)
            size += len(line) + 1
        return "\n".join(made)

    def _table(self, chars: int) -> str:
        chance, made, size = self._chance, ["place;thing;person;amount"], 0
        while size < chars:
            line = ";".join(
                (chance.choice(_PLACES), chance.choice(_THINGS), chance.choice(_PEOPLE), str(chance.randrange(5_000)))
            )
            made.append(line)
            size += len(line) + 1
        return "\n".join(made)

    def _prose(self, chars: int) -> str:
        made, size = list[str](), 0
        while size < chars:
            made.append(self.text(40))
            size += len(made[-1]) + 1
        return "\n".join(made)

    def _json(self, chars: int) -> str:
        chance, rows, size = self._chance, list[dict[str, str]](), 0
        while size < chars:
            row = {"person": chance.choice(_PEOPLE), "thing": self.topic(), "count": str(chance.randrange(99))}
            rows.append(row)
            size += len(json.dumps(row)) + 2
        return json.dumps({"rows": rows})

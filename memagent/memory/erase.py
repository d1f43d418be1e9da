"""Erasing: what is to go, and what is left in its place. Pure.

An erasure begins with entries of the journal, or memories. A memory takes the entries it came from with it,
an entry every memory that came from it (also one that other entries state as well: its text may be theirs
or this one's). What memagent itself copied goes too: results of its own tools, what was recalled beside a
message, summaries, quoted instructions. What a person or the model said again in other messages is left,
and named.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, JsonValue

from memagent.memory.passages import ECHO_TOOLS
from memagent.memory.worth import names_something
from stores.records import Mark, MarkKind, Memory, Message, MessageRole, Source
from stores.sameness import folded

OWN_TOOLS = ECHO_TOOLS | {"remember"}
"""What they are asked and what they return are copies of what is kept elsewhere."""
LEAST_NEEDLE_CHARS = 12
"""A shorter text may stand anywhere by chance: only as whole words, and if it says something ("ok, thanks" does
not), it is the sign of a copy."""
LEAST_UNIT_CHARS = 40
MOST_NEEDLES = 200
"""Of more, only whole sentences and lines are compared."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_UNIT_ENDS = re.compile(r"\n+|(?<=[.!?;])\s+|(?<=[。！？；])")


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Match(_Value):
    """Something that is to be erased. ``why`` says how it was found."""

    what: Literal["message", "mark", "memory"]
    id: str
    session_id: str | None
    text: str
    why: str


class Residue(_Value):
    """Bytes that were found after an erasure: in which file, and what they are of."""

    file: str
    what: str


class Receipt(_Value):
    """What was erased. It holds nothing of the content: ``matches`` are only in what `erase` returns, not in what
    is kept. ``counts``: how much of each kind is gone. ``also_in`` are messages that say the same and were left.
    ``searched_files`` were searched afterwards for ``searched_for`` pieces of the erased texts and ids; ``found`` is
    what was found there that no record holds. ``out_of_reach`` names what memagent cannot erase. ``notes``: what
    else is to be known. ``finished`` False: a dry run, or work that goes on in the background or at the next start."""

    id: str
    at: datetime
    asked: str
    dry_run: bool = False
    finished: bool = False
    matches: tuple[Match, ...] = ()
    counts: dict[str, int] = {}
    also_in: tuple[str, ...] = ()
    searched_files: int = 0
    searched_bytes: int = 0
    searched_for: int = 0
    found: tuple[Residue, ...] = ()
    out_of_reach: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


class ErasePlan(_Value):
    """What an erasure takes away, by ids only: it is kept while the work goes on, and must not be a copy itself.

    ``entries`` lose their content, ``marks`` the parts of it that tell of ``entries`` or ``memories``, ``summaries``
    are made anew of what is left. ``calls`` are messages whose calls of memagent's own tools lose their
    arguments. Of memories in ``reasons`` only the reason goes. ``hashes`` are kept texts, ``digests`` stored outputs,
    ``jobs`` numbers of queued work."""

    receipt_id: str
    at: datetime
    asked: str
    entries: tuple[Source, ...] = ()
    calls: tuple[Source, ...] = ()
    marks: tuple[Source, ...] = ()
    summaries: tuple[Source, ...] = ()
    memories: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    hashes: tuple[str, ...] = ()
    digests: tuple[str, ...] = ()
    jobs: tuple[int, ...] = ()
    also_in: tuple[str, ...] = ()

    @property
    def sessions(self) -> list[str]:
        """The sessions of which entries change, in order."""
        places = (*self.entries, *self.calls, *self.marks, *self.summaries)
        return list(dict.fromkeys(place.session_id for place in places))


# --- finding copies ----------------------------------------------------------------------------


class Needles:
    """Texts to be found in others, as `stores.sameness.folded` compares them. Long ones are found anywhere, short
    ones that say something only as whole words."""

    def __init__(self, texts: Iterable[str], asked: str = "") -> None:
        """``asked`` counts however short it is."""
        wholes = {folded(text) for text in texts}
        self._units = {unit for text in wholes for unit in units(text) if len(unit) >= LEAST_UNIT_CHARS}
        known = {text for text in wholes if len(text) >= LEAST_NEEDLE_CHARS} | self._units
        self._parts = sorted(known) if len(known) <= MOST_NEEDLES else []
        self._parts += [folded(asked)] if asked.strip() else []
        short = sorted(text for text in wholes if len(text) < LEAST_NEEDLE_CHARS and names_something(text))
        self._short = re.compile("|".join(map(_as_words, short))) if 0 < len(short) <= MOST_NEEDLES else None

    def are_in(self, text: str) -> bool:
        """Whether the text holds one of them."""
        return self.are_said_in(text) or (self._short is not None and self._short.search(folded(text)) is not None)

    def are_said_in(self, text: str) -> bool:
        """Whether the text holds one of the long ones: in what somebody says anew a short one is no sign of a copy."""
        here = folded(text)
        return any(part in here for part in self._parts) or not self._units.isdisjoint(units(here))


def _as_words(text: str) -> str:
    """Where words are written without spaces a text may stand between others."""
    before = "" if _UNSPACED.match(text[0]) or not text[0].isalnum() else r"\b"
    after = "" if _UNSPACED.match(text[-1]) or not text[-1].isalnum() else r"\b"
    return before + re.escape(text) + after


def units(text: str) -> list[str]:
    """The sentences and lines of a text."""
    return [unit for part in _UNIT_ENDS.split(text) if (unit := part.strip())]


def texts_of(entry: Message | Mark) -> list[str]:
    """All words that an entry holds, each text by itself; of calls what they were asked."""
    if isinstance(entry, Mark):
        return list(_strings(entry.data))
    calls = [text for call in entry.calls for text in (call.name, *readable(call.arguments))]
    images = [text for image in entry.images for text in (image.name, image.url) if not text.startswith("data:")]
    return [text for text in (entry.content, entry.name or "", *calls, *images) if text]


def readable(arguments: str) -> list[str]:
    """The texts in a call's arguments, as they are and as they are meant."""
    try:
        return [arguments, *_strings(json.loads(arguments))]
    except (ValueError, RecursionError):
        return [arguments]


def memory_texts(memory: Memory) -> list[str]:
    """The words of a memory itself."""
    return [text for text in (memory.text, memory.attribute) if text]


def holds_json(needles: Needles, payload: str) -> bool:
    """Whether a text in this JSON holds one of the needles."""
    return any(needles.are_in(text) for text in readable(payload))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for part in cast("Mapping[str, Any]", value).values():
            yield from _strings(part)
    elif isinstance(value, list | tuple):
        for part in cast("Iterable[Any]", value):
            yield from _strings(part)


# --- what stands in the place ------------------------------------------------------------------


def tombstone(entry: Message | Mark, receipt_id: str) -> Message | Mark:
    """An entry without its content: what is left is that it was there, when, and who spoke."""
    if isinstance(entry, Mark):
        return entry.model_copy(update={"data": {}, "erased": receipt_id})
    kept = {"id", "session_id", "exchange_id", "at", "zone", "sequence", "position", "role", "call_id", "imported"}
    fields = {name: getattr(entry, name) for name in kept}
    return Message(**fields, remember=entry.remember, erased=receipt_id)


def without_arguments(entry: Message, receipt_id: str) -> Message:
    """A message whose calls of memagent's own tools say no more what they asked."""
    calls = tuple(
        call.model_copy(update={"arguments": "{}"}) if call.name in OWN_TOOLS else call for call in entry.calls
    )
    return entry if calls == entry.calls else entry.model_copy(update={"calls": calls, "erased": receipt_id})


def cleaned(mark: Mark, entry_ids: Collection[str], memory_ids: Collection[str], receipt_id: str) -> Mark:
    """A mark without what it tells of these entries of its session and of these memories."""
    data: dict[str, JsonValue] = dict(mark.data)
    for name, key, gone in (("recalled", "id", memory_ids), ("instructions", "entry_id", entry_ids)):
        items = data.get(name)
        if isinstance(items, list):
            data[name] = [item for item in items if not (isinstance(item, dict) and item.get(key) in gone)]
    return mark if data == mark.data else mark.model_copy(update={"data": data, "erased": receipt_id})


# --- who tells of what -------------------------------------------------------------------------


def tells_of(mark: Mark, entry_ids: Collection[str], memory_ids: Collection[str]) -> bool:
    """Whether `cleaned` would change a mark."""
    return cleaned(mark, entry_ids, memory_ids, "") is not mark


def covers(summary: Mark, sequences: Collection[int]) -> bool:
    """Whether a SUMMARY mark stands for one of these entries of its session."""
    first, last = summary.data.get("first_sequence"), summary.data.get("last_sequence")
    if not isinstance(first, int) or not isinstance(last, int):
        return False
    return any(first <= sequence <= last for sequence in sequences)


def is_echo(entry: Message, needles: Needles, ids: re.Pattern[str] | None) -> bool:
    """Whether a result of memagent's own tools repeats what is erased: its words, or a place of it by its id."""
    if entry.role is not MessageRole.TOOL or entry.name not in OWN_TOOLS:
        return False
    return needles.are_in(entry.content) or (ids is not None and ids.search(entry.content) is not None)


def asks_for(entry: Message, needles: Needles) -> bool:
    """Whether a call of memagent's own tools was asked with these words."""
    return any(
        needles.are_in(text) for call in entry.calls if call.name in OWN_TOOLS for text in readable(call.arguments)
    )


def any_of(ids: Collection[str]) -> re.Pattern[str] | None:
    """Finds whichever of these ids; those too short to be told from words are left out."""
    long = sorted(id_ for id_ in ids if len(id_) >= LEAST_NEEDLE_CHARS)
    return re.compile("|".join(map(re.escape, long))) if long else None


def is_remembered(mark: Mark, memory_ids: Collection[str]) -> bool:
    """Whether a mark is of a text that became one of these memories."""
    return mark.what is MarkKind.REMEMBERED and mark.data.get("memory_id") in memory_ids

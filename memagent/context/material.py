"""What a summariser reads: old exchanges as lines, each with its speaker, bounded in size. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memagent.context.compact import chunks
from memagent.context.overflow import shorten
from memagent.context.render import Exchange, Turn
from memagent.llm.tokens import TokenCounter
from stores.records import Message

RESULT_RAW = 300
"""What a tool's result is shortened to; its beginning and end say most."""
ARGUMENTS_RAW = 100


@dataclass(frozen=True, slots=True)
class Source:
    """What is to be summarised: an exchange, one turn of the exchange that is being answered, or a run of
    neighbours that one summary stands for. ``text`` is what a model reads of it; ``tokens_raw`` what it took
    in the prompt, without what was fenced before the person's words. ``said`` are the person's words,
    ``other`` everybody else's, both whole."""

    text: str
    first_sequence: int
    last_sequence: int
    tokens_raw: int
    said: tuple[str, ...]
    other: tuple[str, ...]


def exchange_unit(exchange: Exchange, tokens_raw: int, counter: TokenCounter) -> Source:
    """A closed exchange."""
    parts = [exchange.user] if exchange.user else []
    lines = [f"PERSON: {exchange.user.content}"] if exchange.user else []
    for turn in exchange.turns:
        lines.append(_turn_text(turn, counter))
        parts += [turn.assistant, *turn.results]
    if exchange.answer:
        lines.append(f"ASSISTANT: {exchange.answer.content}")
        parts.append(exchange.answer)
    said = (exchange.user.content,) if exchange.user else ()
    other = tuple(part.content for part in parts if part is not exchange.user)
    last = max((part.sequence for part in parts), default=exchange.first_sequence)
    # what was fenced beside the person's words is not theirs: no summary stands for it
    said_raw = max(0, tokens_raw - counter.text(exchange.block.render()))
    return Source(_dated(parts, lines), exchange.first_sequence, last, said_raw, said, other)


def turn_unit(turn: Turn, tokens_raw: int, counter: TokenCounter) -> Source:
    """One turn of the exchange that is being answered."""
    parts = [turn.assistant, *turn.results]
    other = tuple(part.content for part in parts)
    last = max(part.sequence for part in parts)
    text = _dated(parts, [_turn_text(turn, counter)])
    return Source(text, turn.assistant.sequence, last, tokens_raw, (), other)


def sources(units: Sequence[Source], room_raw: int, counter: TokenCounter) -> list[Source]:
    """The units in runs that a summariser with so much room can read, oldest first; what is larger than the
    room by itself is read by its beginning and end."""
    texts = [shorten(unit.text, room_raw, counter.text).text for unit in units]
    made: list[Source] = []
    for run in chunks([counter.text(text) + 2 for text in texts], room_raw):
        inside = units[run.start : run.stop]
        made.append(
            Source(
                text="\n\n".join(texts[run.start : run.stop]),
                first_sequence=inside[0].first_sequence,
                # whatever lies between two units belongs to the first: ranges leave no gap
                last_sequence=units[run.stop].first_sequence - 1 if run.stop < len(units) else inside[-1].last_sequence,
                tokens_raw=sum(unit.tokens_raw for unit in inside),
                said=tuple(text for unit in inside for text in unit.said),
                other=tuple(text for unit in inside for text in unit.other),
            )
        )
    return made


def _turn_text(turn: Turn, counter: TokenCounter) -> str:
    lines = [f"ASSISTANT: {turn.assistant.content}"] if turn.assistant.content.strip() else []
    for call, result in zip(turn.assistant.calls, turn.results, strict=True):
        asked = shorten(call.arguments, ARGUMENTS_RAW, counter.text).text
        lines.append(f"TOOL {call.name} {asked}: {shorten(result.content, RESULT_RAW, counter.text).text}")
    return "\n".join(lines)


def _dated(parts: Sequence[Message], lines: Sequence[str]) -> str:
    return "\n".join([*([f"[{parts[0].at:%Y-%m-%d}]"] if parts else []), *lines])

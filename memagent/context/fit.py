"""Making the tool turns of an exchange fit without a compaction: the last resort, kept nowhere. Pure.

Outputs overflow when they come and old ones are freed by compactions, so this is for what neither has
reached yet: transcripts from elsewhere, a smaller model, a preview. The newest turn matters most: the
model has not seen it yet. Steps, each only if the one before was not enough: results of older turns
become references; the newest results share what is left; older turns leave; arguments of the newest
calls are shortened; it leaves too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memagent.context.budget import result_cap_raw
from memagent.context.render import (
    Turn,
    Wire,
    call_message,
    reference_message,
    result_message,
    result_text,
    shortened_arguments,
    turn_messages,
)
from memagent.llm.tokens import TokenCounter

SMALLEST_RESULT_RAW = 48
"""A result below this says nothing but that it is missing."""
LONG_ARGUMENTS_RAW = 64


@dataclass(frozen=True, slots=True)
class FittedTurns:
    """``notes`` says in words what was shown only in part or not at all."""

    messages: tuple[Wire, ...]
    tokens_raw: int
    notes: tuple[str, ...] = ()


def fit_turns(
    turns: Sequence[Turn],
    window_tokens: int,
    room_raw: int,
    counter: TokenCounter,
    freed: frozenset[str] = frozenset(),
) -> FittedTurns:
    """The turns in at most ``room_raw`` tokens, calls and results always together. How a result is shown
    depends on the window alone, never on the margin, so that it is shown the same ever after."""
    if not turns:
        return FittedTurns((), 0)
    shown = [turn_messages(turn, result_cap_raw(window_tokens, len(turn.results)), counter, freed) for turn in turns]
    sizes = [_size(messages, counter) for messages in shown]
    notes: list[str] = []
    for index in range(len(turns) - 1):
        if sum(sizes) <= room_raw:
            break
        brief = [call_message(turns[index]), *(reference_message(result) for result in turns[index].results)]
        if (size := _size(brief, counter)) < sizes[index]:
            shown[index], sizes[index] = brief, size
            notes.append(f"results of tool turn {index + 1} left out")
    if sum(sizes) > room_raw:
        last = _last_turn(turns[-1], room_raw - sum(sizes[:-1]), counter)
        if _size(last, counter) < sizes[-1]:
            shown[-1], sizes[-1] = last, _size(last, counter)
            notes.append("results of the newest tool turn shortened")
    first = 0
    while first < len(turns) and sum(sizes[first:]) > room_raw:
        first += 1
    if first == len(turns):
        return _only_last(turns, room_raw, counter)
    if first:
        notes.append(f"the first {first} tool turns left out")
    kept = tuple(message for messages in shown[first:] for message in messages)
    return FittedTurns(kept, sum(sizes[first:]), tuple(notes))


def _only_last(turns: Sequence[Turn], room_raw: int, counter: TokenCounter) -> FittedTurns:
    """The newest turn alone, with long arguments shortened; nothing if even that is too large."""
    turn = turns[-1]
    arguments = {
        call.id: shortened_arguments(call, LONG_ARGUMENTS_RAW, counter)
        for call in turn.assistant.calls
        if counter.text(call.arguments) > LONG_ARGUMENTS_RAW
    }
    messages = _last_turn(turn, room_raw, counter, arguments)
    size = _size(messages, counter)
    note = f"all tool turns but the newest left out ({len(turns) - 1}), its arguments shortened"
    if size <= room_raw:
        return FittedTurns(tuple(messages), size, (note,))
    return FittedTurns((), 0, (f"all {len(turns)} tool turns left out: no room",))


def _last_turn(turn: Turn, room_raw: int, counter: TokenCounter, arguments: dict[str, str] | None = None) -> list[Wire]:
    call = call_message(turn, arguments)
    frame = counter.message(call) + sum(counter.message(result_message(result, "")) for result in turn.results)
    cap = max(SMALLEST_RESULT_RAW, (room_raw - frame) // max(1, len(turn.results)))
    return [call, *(result_message(r, result_text(r, cap, counter)) for r in turn.results)]


def _size(messages: Sequence[Wire], counter: TokenCounter) -> int:
    return sum(counter.message(message) for message in messages)

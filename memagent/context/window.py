"""The window: the closed exchanges that stand verbatim in the prompt.

A view of the journal. It grows at its end and loses whole exchanges at its beginning; sizes are kept
as running sums, so that no prompt costs more in a long session than in a short one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memagent.context.budget import CLOSED_TURNS_PERCENT, result_cap_raw
from memagent.context.digest import RunningDigest, message_digest
from memagent.context.fit import fit_turns
from memagent.context.render import Exchange, Turn, Wire, answer_message, reference_message, turn_messages, user_message
from memagent.llm.tokens import TokenCounter
from stores.sameness import normalised

Freeable = tuple[tuple[str, int], ...]
"""For the results of one turn: entry id, and what showing only a reference saves (raw tokens, above 0)."""


@dataclass(frozen=True, slots=True)
class ClosedExchange:
    """A closed exchange as it stands in prompts. ``tokens_raw`` is all of it, ``recalled_raw`` the part
    that recalled text takes; ``words`` is what was said in it, normalised, between two spaces;
    ``shortened`` says that of its tool turns only a part is shown; ``freeable`` has an item a turn."""

    exchange: Exchange
    messages: tuple[Wire, ...]
    tokens_raw: int
    recalled_raw: int
    entry_ids: frozenset[str]
    words: str
    shortened: bool
    freeable: tuple[Freeable, ...]
    digest: bytes


def close_exchange(
    exchange: Exchange, window_tokens: int, counter: TokenCounter, freed: frozenset[str]
) -> ClosedExchange:
    """Renders and counts an exchange once. Its tool turns give way where they would leave no room for the
    next message: else the newest answer could be too large for its prompt."""
    user, answer = user_message(exchange, exchange.block.render()), answer_message(exchange)
    said_raw = counter.message(user) + counter.message(answer)
    turns = fit_turns(exchange.turns, window_tokens, window_tokens * CLOSED_TURNS_PERCENT // 100, counter, freed)
    messages = [user, *turns.messages, answer]
    said = exchange.messages
    return ClosedExchange(
        exchange=exchange,
        messages=tuple(messages),
        tokens_raw=said_raw + turns.tokens_raw,
        recalled_raw=exchange.block.recalled_raw(counter),
        entry_ids=frozenset(message.id for message in said),
        shortened=bool(turns.notes),
        digest=message_digest(messages),
        freeable=tuple(freeable(turn, window_tokens, counter, freed) for turn in exchange.turns),
        words=f" {normalised(' '.join(message.content for message in said))} ",
    )


def freeable(turn: Turn, window_tokens: int, counter: TokenCounter, freed: frozenset[str]) -> Freeable:
    """The results of a turn that would be shorter as a reference."""
    shown = turn_messages(turn, result_cap_raw(window_tokens, len(turn.results)), counter)[1:]
    savings = (
        (result.id, counter.message(message) - counter.message(reference_message(result)))
        for result, message in zip(turn.results, shown, strict=True)
        if result.id not in freed
    )
    return tuple((entry_id, saved) for entry_id, saved in savings if saved > 0)


@dataclass(frozen=True, slots=True)
class WindowPart:
    """A run of a window's messages, not copied: the list behind it only ever grows."""

    messages: list[Wire]
    start: int
    stop: int

    def __iter__(self) -> Iterator[Wire]:
        return iter(self.messages[self.start : self.stop])


class Window:
    """The closed exchanges, oldest first."""

    def __init__(self, exchanges: Iterable[ClosedExchange] = ()) -> None:
        self._closed: list[ClosedExchange] = []
        self._messages: list[Wire] = []
        self._starts: list[int] = []
        self._sums: list[int] = [0]
        self._recalled_sums: list[int] = [0]
        self._shortened_sums: list[int] = [0]
        self._digest = RunningDigest()
        self._entry_ids: set[str] = set()
        self._recalled: set[tuple[str, int]] = set()
        self._results_at: dict[str, datetime] = {}
        for exchange in exchanges:
            self.append(exchange)

    def __len__(self) -> int:
        return len(self._closed)

    @property
    def exchanges(self) -> Sequence[ClosedExchange]:
        """Oldest first. Not to be changed by the caller."""
        return self._closed

    @property
    def sums_raw(self) -> list[int]:
        """``[i]`` is the size of the first i exchanges. Not to be changed by the caller."""
        return self._sums

    def append(self, closed: ClosedExchange) -> None:
        """Adds the newest exchange."""
        self._starts.append(len(self._messages))
        self._closed.append(closed)
        self._messages += closed.messages
        self._shortened_sums.append(self._shortened_sums[-1] + closed.shortened)
        self._digest.append(closed.digest)
        self._entry_ids |= closed.entry_ids
        self._recalled |= {(line.memory_id, line.version) for line in closed.exchange.block.recalled}
        for turn in closed.exchange.turns:
            self._results_at |= {result.name: result.at for result in turn.results if result.name}
        self._sums.append(self._sums[-1] + closed.tokens_raw)
        self._recalled_sums.append(self._recalled_sums[-1] + closed.recalled_raw)

    def messages(self, from_exchange: int) -> WindowPart:
        """The messages from that exchange on, as they stand now."""
        start = self._starts[from_exchange] if from_exchange < len(self) else len(self._messages)
        return WindowPart(self._messages, start, len(self._messages))

    def digest(self, from_exchange: int) -> bytes:
        """The fingerprint of the messages from that exchange on."""
        return self._digest.since(from_exchange)

    def first_sequence(self, from_exchange: int) -> int | None:
        """The journal sequence that the window from that exchange on begins at; None if nothing is left."""
        return self._closed[from_exchange].exchange.first_sequence if from_exchange < len(self) else None

    def tokens_raw(self, from_exchange: int) -> int:
        return self._sums[-1] - self._sums[from_exchange]

    def recalled_raw(self, from_exchange: int) -> int:
        return self._recalled_sums[-1] - self._recalled_sums[from_exchange]

    def shortened(self, from_exchange: int) -> int:
        """How many exchanges from that one on are shown with a part of their tool turns."""
        return self._shortened_sums[-1] - self._shortened_sums[from_exchange]

    @property
    def results_at(self) -> Mapping[str, datetime]:
        """When each tool last gave a result that the window shows, by the tool's name."""
        return self._results_at

    def has_recalled(self, memory_id: str, version: int) -> bool:
        """Whether this version of a memory was recalled for an exchange of the window."""
        return (memory_id, version) in self._recalled

    def shows(self, entry_ids: Iterable[str], text: str) -> bool:
        """Whether all these entries, or this text word for word, stand in the window."""
        ids = set(entry_ids)
        if ids and ids <= self._entry_ids:
            return True
        words = normalised(text)
        return bool(words) and any(f" {words} " in closed.words for closed in self._closed)

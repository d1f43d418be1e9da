"""How memories that were found are ranked. Pure: values in, values out.

A memory's own strength is what words and meaning say of it, each scaled over what was found. To it come
what its neighbours in the talk are worth (an answer stands after its question), the best of its
session, whose words they are, and when they were said. All are bounded sums: one sign alone never decides.

The weights were chosen on five conversations and stand still when any one of them is left out; they are
round numbers on a plateau, and the same for both embedders (see the changelog for the figures).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

from memagent.memory.asking import asks
from memagent.memory.dates import Span, tells_time
from memagent.memory.embed import Scale
from memagent.memory.speakers import ASSISTANT, Asked, says
from stores.base import TalkPlace
from stores.records import Memory, MemoryKind, Trust

LIST_LENGTH = 100
"""How many of a leg's hits count: strength falls to 0 at the last of them."""
LEAST_SPREAD = 2 / 3
"""Of what a clear match stands above the rest: nearest and farthest of the similar are at least so far apart, or
their order is noise."""
LEXICAL = 0.75
BEFORE, AFTER_QUESTION, AFTER = 0.2, 0.5, 0.15
"""What of a neighbour's strength counts: of the message before, of the question before, of the one after."""
SESSION = 0.4
SPEAKER = 0.6
ASKS = 0.3
"""A question has the words of its answer and states nothing."""
TELLS = 0.1
WHEN = 0.2
IN_TIME = 0.5
FACT = 0.15
"""Of equals, what the person asked to keep comes before what was merely said."""
SAID_BY_ASSISTANT = 0.25
"""What the assistant said about the person is at best an echo of what the person said."""
CLOSED = 1.2
"""What holds no more loses so much …"""
HELD_THEN = 0.6
"""… and gains so much where the question looks back."""
RECENT = 0.1
RECENT_DAYS = 60.0
TOLD_AFTER = timedelta(days=7)
"""What happened is often told within so many days afterwards."""


class Question(NamedTuple):
    """What is asked for. ``span`` is the time it speaks of; ``when``: it asks for a time; ``past``: it asks for
    what was and need not be so any more."""

    asked: Asked
    span: Span | None
    when: bool
    past: bool
    now: datetime


@dataclass(frozen=True, slots=True)
class Strengths:
    """What the legs say of each memory: ``own`` by id, and the best of each session, of the best of all."""

    own: Mapping[str, float]
    places: Mapping[str, TalkPlace]
    by_session: Mapping[str, float]

    def share(self, session_id: str | None) -> float:
        """How good the session's best memory is, of the best of all: 0 to 1."""
        return self.by_session.get(session_id, 0.0) if session_id else 0.0

    def near(self, memory_id: str, *, after_question: bool) -> float:
        """What the neighbours add."""
        place = self.places.get(memory_id)
        if place is None:
            return 0.0
        before = (AFTER_QUESTION if after_question else BEFORE) * self.own.get(place.before or "", 0.0)
        return before + AFTER * self.own.get(place.after or "", 0.0)


def own_strengths(lexical: Mapping[str, float], similar: Mapping[str, float], scale: Scale) -> dict[str, float]:
    """By id, 0 to 1.75: the words and the meaning, each from 0 at the end of its list to its weight at the best."""
    strengths = {memory_id: LEXICAL * value for memory_id, value in _scaled(lexical, _lexical_low).items()}
    for memory_id, value in _scaled(similar, lambda ranked: _similar_low(ranked, scale)).items():
        strengths[memory_id] = strengths.get(memory_id, 0.0) + value
    return strengths


def _lexical_low(ranked: Sequence[float]) -> float:
    """Where the list is not full, every hit counts."""
    return ranked[-1] if len(ranked) >= LIST_LENGTH else min(0.0, ranked[-1])


def _similar_low(ranked: Sequence[float], scale: Scale) -> float:
    """The last of a full list stands among the crowd; of a short one it may be a match as well."""
    least = scale.clear * (LEAST_SPREAD if len(ranked) >= LIST_LENGTH else 1.0)
    return min(ranked[-1], ranked[0] - least)


def _scaled(scores: Mapping[str, float], low_of: Callable[[Sequence[float]], float]) -> dict[str, float]:
    ranked = sorted(scores.values(), reverse=True)[:LIST_LENGTH]
    if not ranked:
        return {}
    low = low_of(ranked)
    spread = ranked[0] - low
    return {key: max(0.0, (score - low) / spread) if spread > 0 else 1.0 for key, score in scores.items()}


def strengths_of(own: Mapping[str, float], places: Iterable[TalkPlace]) -> Strengths:
    """With what is known of where the memories stand."""
    by_id = {place.memory_id: place for place in places}
    by_session: dict[str, float] = {}
    for memory_id, value in own.items():
        session_id = by_id[memory_id].session_id if memory_id in by_id else None
        if session_id is not None:
            by_session[session_id] = max(by_session.get(session_id, 0.0), value)
    best = max(by_session.values(), default=0.0) or 1.0
    return Strengths(own, by_id, {session_id: value / best for session_id, value in by_session.items()})


def promising(strengths: Strengths, asked: Asked, count: int) -> list[str]:
    """The best so many by what is known without reading them, best first."""

    def score(memory_id: str) -> float:
        place = strengths.places[memory_id]
        whole = strengths.own.get(memory_id, 0.0) + strengths.near(memory_id, after_question=True)
        return whole + SESSION * strengths.share(place.session_id) + SPEAKER * (place.speaker in asked.speakers)

    return sorted(strengths.places, key=lambda memory_id: (-score(memory_id), memory_id))[:count]


def scored(
    memory: Memory, strengths: Strengths, question: Question, *, after_question: bool
) -> tuple[float, list[str]]:
    """A memory's score, and in words what besides its own strength raised it."""
    near = strengths.near(memory.id, after_question=after_question)
    score = strengths.own.get(memory.id, 0.0) + near + SESSION * strengths.share(memory.session_id)
    reasons = ["next to a match"] if near > 0 else []
    if question.asked.speakers and says(memory, question.asked):
        score += SPEAKER
        reasons.append(f"{'about' if memory.subject else 'said by'} {memory.subject or memory.speaker}")
    if memory.kind is MemoryKind.FACT:
        score += FACT
    elif asks(memory.text):
        score -= ASKS
    if memory.trust is Trust.ASSISTANT and memory.speaker == ASSISTANT and ASSISTANT not in question.asked.speakers:
        score -= SAID_BY_ASSISTANT
    if tells_time(memory.text):
        score += TELLS + WHEN * question.when
    timely = in_time(memory, question.span)
    if timely:
        score += IN_TIME * timely
        reasons.append("of that time")
    if is_closed(memory, question.now) and not timely:
        score += HELD_THEN if question.past else -CLOSED
        reasons.append("held until then" if question.past else "holds no more")
    age_days = max(0.0, (question.now - memory.said_at).total_seconds() / 86_400)
    return score + RECENT * 0.5 ** (age_days / RECENT_DAYS), reasons


def is_closed(memory: Memory, now: datetime) -> bool:
    """Whether it holds no more."""
    return memory.superseded_by is not None or (memory.valid_to is not None and memory.valid_to <= now)


def in_time(memory: Memory, span: Span | None) -> float:
    """1 for what was said or held in the span, a half for what was told soon after it, else 0."""
    if span is None:
        return 0.0
    if memory.valid_from is not None or memory.valid_to is not None:
        begins, ends = memory.valid_from or memory.said_at, memory.valid_to
        return 1.0 if begins < span.end and (ends is None or ends > span.start) else 0.0
    if span.start <= memory.said_at < span.end:
        return 1.0
    return 0.5 if span.end <= memory.said_at < span.end + TOLD_AFTER else 0.0

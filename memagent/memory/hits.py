"""Hits: ranking the places that a search in the history has found, and showing them. Pure."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from zoneinfo import ZoneInfo

from memagent import prompts
from memagent.memory.asking import asks
from memagent.memory.passages import ECHO_TOOLS, Snippet, Units, best_snippet
from stores.records import Message, MessageRole

FUSION_K = 10
"""A hit at rank r of a leg counts FUSION_K / (FUSION_K + r) times the leg's weight, …"""
WORDS_WEIGHT = 0.2
MEANING_WEIGHT = 0.35
"""… beside the share of the query that its snippet holds, which counts 1: words exactly as they were asked for
say more than a rank. Chosen by trial on 188 questions about 400 exchanges, 28 of them in other words."""
QUESTION_WEIGHT = 0.5
"""A question has the words of its answer and states nothing."""
ECHO_WEIGHT = 0.5
"""Results of memagent's own searches only repeat what others say."""
HITS_AN_ENTRY = 3
"""More passages of one entry come after all others."""
ABOUT_SHARE = 0.7
"""What a question or a call says counts for its answer almost as if the answer said it."""


@dataclass(frozen=True, slots=True)
class HistoryHit:
    """A place in the history. ``snippet`` is the exact text from ``start`` characters on in the entry's
    whole text; ``about`` is what it answers, shortened: a tool's call, a question, or "". ``score``:
    larger is better, comparable within one answer only."""

    entry_id: str
    session_id: str
    role: MessageRole
    tool: str | None
    at: datetime
    zone: str
    start: int
    snippet: str
    about: str
    score: float


@dataclass(frozen=True, slots=True)
class Place:
    """A passage that may be a hit. ``rank`` is its place among those found by words, None: by meaning alone."""

    entry: Message
    start: int
    units: Units
    rank: int | None
    about: frozenset[str] = frozenset()
    """The wanted terms of the question or call that it answers."""

    @property
    def key(self) -> tuple[str, str]:
        return self.entry.session_id, self.entry.id


@dataclass(frozen=True, slots=True)
class Found:
    """A place with what is shown of it. ``covered`` is how much of the query that holds."""

    place: Place
    snippet: Snippet
    covered: float
    score: float = 0.0


def ranked(places: Sequence[Place], meaning: Sequence[tuple[str, str]], limit: int) -> list[Found]:
    """The best places, best first. Fused are the share of the query that the snippet holds (rare words weigh
    more), the rank among passages, and the rank by meaning, which counts once an entry."""
    weights = _weights(place.units for place in places)
    whole = sum(weights.values()) or 1.0
    found: list[Found] = []
    for place in places:
        snippet = best_snippet(place.units, weights)
        covered = sum(weights[word] for word in sorted(snippet.words))
        covered += ABOUT_SHARE * sum(weights.get(word, 0.0) for word in sorted(place.about - snippet.words))
        found.append(Found(place, snippet, covered / whole))
    found.sort(key=lambda item: (-item.covered, -item.place.entry.position))
    near = {key: rank for rank, key in reversed(list(enumerate(meaning)))}
    scored: list[Found] = []
    for item in found:
        by_meaning = _share(near.pop(item.place.key, None))
        score = item.covered + WORDS_WEIGHT * _share(item.place.rank) + MEANING_WEIGHT * by_meaning
        scored.append(replace(item, score=score * _weight(item.place.entry)))
    scored.sort(key=lambda item: (-item.score, -item.place.entry.position, item.place.start))
    return _chosen(scored, limit)


def _share(rank: int | None) -> float:
    return 0.0 if rank is None else FUSION_K / (FUSION_K + rank + 1)


def _weights(units: Iterable[Units]) -> dict[str, float]:
    """How much each wanted term says: the rarer among the units of all candidates, the more."""
    total = 0
    counts: dict[str, int] = {}
    for each in units:
        total += len(each.words)
        for words in each.words:
            for word in words:
                counts[word] = counts.get(word, 0) + 1
    # squared: three words that occur everywhere must not outdo the one that was asked about
    return {word: math.log(1 + (total - count + 0.5) / (count + 0.5)) ** 2 for word, count in counts.items()}


def _weight(entry: Message) -> float:
    if entry.role is MessageRole.TOOL:
        return ECHO_WEIGHT if entry.name in ECHO_TOOLS else 1.0
    return QUESTION_WEIGHT if asks(entry.content) else 1.0


def _chosen(found: Sequence[Found], limit: int) -> list[Found]:
    """The first ones that say something new; of one entry a few, and more only if there is nothing else."""
    told: set[str] = set()
    shown: dict[tuple[str, str], int] = {}
    chosen: list[Found] = []
    more: list[Found] = []
    for item in found:
        words = " ".join(item.snippet.text.split())
        if not words or words in told:
            continue
        told.add(words)
        key = item.place.key
        shown[key] = shown.get(key, 0) + 1
        (chosen if shown[key] <= HITS_AN_ENTRY else more).append(item)
        if len(chosen) == limit:
            break
    return [*chosen, *more][:limit]


def hit_of(found: Found, about: str) -> HistoryHit:
    """A ranked place as it is handed out."""
    entry = found.place.entry
    return HistoryHit(
        entry_id=entry.id,
        session_id=entry.session_id,
        role=entry.role,
        tool=entry.name if entry.role is MessageRole.TOOL else None,
        at=entry.at,
        zone=entry.zone,
        start=found.place.start + found.snippet.start,
        snippet=found.snippet.text,
        about=about,
        score=found.score,
    )


# --- for a model -------------------------------------------------------------------------------


def render_hits(hits: Sequence[HistoryHit], *, session_id: str, limit_raw: int, count: Callable[[str], int]) -> str:
    """Hits as lines for a model, one a hit, best first, as many as ``limit_raw`` tokens hold (a later,
    shorter one does not take the place of one that is too long). "" when there are none."""
    shown = ""
    for hit in hits:
        line = _line(hit, session_id)
        longer = f"{shown}\n{line}" if shown else line
        if count(longer) > limit_raw:
            break
        shown = longer
    return shown


def _line(hit: HistoryHit, session_id: str) -> str:
    day = hit.at.astimezone(ZoneInfo(hit.zone)).strftime("%Y-%m-%d")
    who = f"tool {hit.tool or ''}".rstrip() if hit.role is MessageRole.TOOL else hit.role.value
    where = "" if hit.session_id == session_id else ", an earlier session"
    about = f" ({hit.about})" if hit.about else ""
    # one line each, and no spelling of a fence: a text must not pass for two, nor for ours
    return prompts.fenced(" ".join(f"{day}, {who}{where}{about}: {hit.snippet}".split()) + f" [ref {hit.entry_id}]")

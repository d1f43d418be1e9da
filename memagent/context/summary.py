"""Summaries: what is asked for, what is made of the answer, and how they stand in the prompt. Pure.

What a model writes is taken for prose about the past and nothing else: it must be smaller than what it
stands for, and sentences that give orders or repeat other summaries are dropped. What must be exact
(names, numbers, paths, the person's standing instructions) is found by code and quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from memagent import prompts
from memagent.context.anchors import anchors, listed, missing
from memagent.context.compact import SUMMARY_SHARE_PERCENT
from memagent.context.instructions import reads_as_instruction
from memagent.context.material import Source
from memagent.context.overflow import CountText
from memagent.context.view import StandingInstruction, Summary
from memagent.sanitize import clean_output
from stores.sameness import normalised

PROSE_PERCENT = 65
"""Of a summary; the rest is for what must be exact."""
UNSHORTENED_PERCENT = 60
"""A text above so much of its source's size was not summarised."""
LEAST_SUMMARY_RAW = 24

_THINKING = re.compile(r"<(think|thinking|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE_LINE = re.compile(r"^\s*```.*$", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[.!?])[\"')\]]*\s+|(?<=[。！？])|\n+")


class SummaryRejectedError(Exception):
    """What the model wrote cannot stand for its source. The text says why."""


@dataclass(frozen=True, slots=True)
class Checked:
    """A text that may stand for its source; ``dropped`` are sentences that were left out of it."""

    text: str
    dropped: tuple[str, ...] = ()


def leaf_limit(source_tokens: int, most_raw: int) -> int:
    """Tokens that the summary of a source may take."""
    return max(LEAST_SUMMARY_RAW, min(most_raw, source_tokens * SUMMARY_SHARE_PERCENT // 100))


def checked_leaf(reply: str, source: Source, others: Iterable[str], limit_raw: int, count: CountText) -> Checked:
    """A model's reply as the summary of a source. Raises SummaryRejectedError."""
    prose, dropped = _prose(reply, "\n".join(source.said), others, source.tokens_raw, count)
    room = max(LEAST_SUMMARY_RAW, limit_raw * PROSE_PERCENT // 100)
    # a model may find nothing new to say; then the person's own words and the details speak for the source
    text = _whole_sentences(prose or _firsts(source.said), room, count)
    return Checked(_with_details(text, source, limit_raw, count), tuple(dropped))


def checked_condensed(reply: str, texts: Sequence[str], limit_raw: int, count: CountText) -> Checked:
    """A model's reply as one summary of several. Raises SummaryRejectedError."""
    source = "\n".join(texts)
    prose, dropped = _prose(reply, source, (), count(source), count)
    text = _whole_sentences(prose, limit_raw * PROSE_PERCENT // 100, count)
    if not text:
        raise SummaryRejectedError("nothing of it could be used")
    details = listed(missing(anchors(source), text), _room(text, limit_raw, count), count)
    return Checked("\n".join(part for part in (text, _exact(details)) if part), tuple(dropped))


def extract_leaf(source: Source, limit_raw: int, count: CountText) -> str:
    """What stands for a source while no model can summarise it: a label, first sentences of what the person
    said, then of the rest, and the exact details. Never above the limit; of what others said nothing that
    reads as an order."""
    label = prompts.text("extract")
    room = max(0, limit_raw * PROSE_PERCENT // 100 - count(label))
    text = _whole_sentences(_harmless(source), room, count)
    return _with_details("\n".join(part for part in (label, text) if part), source, limit_raw, count)


def extract_condensed(texts: Sequence[str], limit_raw: int, count: CountText) -> str:
    """Summaries cut down without a model: an equal share of whole sentences of each."""
    label = prompts.text("extract")
    share = max(0, limit_raw - count(label)) // max(1, len(texts))
    kept = [_whole_sentences([s for s in _sentences(t) if s != label], share - 1, count) for t in texts]
    return "\n".join(part for part in (label, *kept) if part)


@dataclass(frozen=True, slots=True)
class Background:
    """The end of the system message: what the person demands, who they are, what was said before. "" is left out."""

    standing: str = ""
    profile: str = ""
    summaries: str = ""

    @property
    def text(self) -> str:
        return "\n\n".join(part for part in (self.standing, self.profile, self.summaries) if part)

    def __bool__(self) -> bool:
        return bool(self.standing or self.profile or self.summaries)


NO_BACKGROUND = Background()


def background(
    summaries: Sequence[Summary], instructions: Sequence[StandingInstruction], profile: str = ""
) -> Background:
    """The end of the system message: the person's instructions, their profile, then summaries, oldest first."""
    standing = earlier = ""
    if instructions:
        lines = "\n".join(f'- on {i.said_on}: "{" ".join(i.text.split())}"' for i in instructions)
        standing = prompts.text("standing", instructions=lines)
    shown = [summary for summary in summaries if summary.text]  # of what one stood for all may have been erased
    if shown:
        blocks = "\n\n".join(f"[summary {summary.id}]\n{prompts.fenced(summary.text)}" for summary in shown)
        earlier = prompts.text("summaries", summaries=blocks)
    return Background(standing, profile, earlier)


def _prose(
    reply: str, said: str, others: Iterable[str], source_tokens: int, count: CountText
) -> tuple[list[str], list[str]]:
    text = _FENCE_LINE.sub("", _THINKING.sub("", clean_output(reply))).strip()
    if not text:
        raise SummaryRejectedError("it was empty")
    if count(text) * 100 > max(source_tokens, LEAST_SUMMARY_RAW) * UNSHORTENED_PERCENT:
        raise SummaryRejectedError("it was not shorter than what it should shorten")
    seen = {normalised(sentence) for other in others for sentence in _sentences(other)}
    kept: list[str] = []
    dropped: list[str] = []
    words_said = f" {normalised(said)} "
    for sentence in _sentences(text):
        key = normalised(sentence)
        if not key or key in seen:
            continue
        seen.add(key)
        invented = reads_as_instruction(sentence) and f" {key} " not in words_said
        invented |= _imitates_frame(key)
        (dropped if invented else kept).append(sentence)
    return kept, dropped


def _with_details(text: str, source: Source, limit_raw: int, count: CountText) -> str:
    """The person's exact details first, then everybody else's, in what room is left."""
    parts: list[str] = []
    room, known = _room(text, limit_raw, count), text
    for words in ("\n".join(source.said), "\n".join(source.other)):
        details = listed(missing(anchors(words), known), room, count)
        if details:
            parts.append(details)
            known += "\n" + details
            room -= count(details) + 2
    return "\n".join(part for part in (text, _exact("; ".join(parts))) if part)


def _room(text: str, limit_raw: int, count: CountText) -> int:
    return max(0, limit_raw - count(text) - count(prompts.text("exact", details="")) - 2)


def _exact(details: str) -> str:
    return prompts.text("exact", details=details) if details else ""


def _sentences(text: str) -> list[str]:
    return [part.strip() for part in _SENTENCE_END.split(text) if part and part.strip()]


def _firsts(texts: Iterable[str]) -> Iterator[str]:
    """The first sentence of each."""
    return (sentence for text in texts for sentence in _sentences(text)[:1])


def _harmless(source: Source) -> Iterator[str]:
    """First sentences, the person's first. What others said is not quoted where it reads as an order. Lazy: a
    long history has more of them than any summary has room for."""
    seen: set[str] = set()
    for texts, anybody in ((source.said, False), (source.other, True)):
        for sentence in _firsts(texts):
            key = normalised(sentence)
            if key in seen or (anybody and (reads_as_instruction(sentence) or _imitates_frame(key))):
                continue
            seen.add(key)
            yield sentence


def _imitates_frame(key: str) -> bool:
    return any(line in key for line in _frame_lines())


@cache
def _frame_lines() -> tuple[str, ...]:
    """The lines around instructions and summaries, which nothing inside may imitate."""
    lines = (prompts.text("standing").splitlines()[0], prompts.text("summaries").splitlines()[-1])
    return tuple(normalised(line) for line in lines)


def _whole_sentences(sentences: Iterable[str], limit_raw: int, count: CountText) -> str:
    """The sentences in order as far as they fit; one that is too long for the room is left out."""
    kept: list[str] = []
    room = limit_raw
    for sentence in sentences:
        size = count(sentence) + 1
        if size <= room:
            kept.append(sentence)
            room -= size
        elif room < LEAST_SUMMARY_RAW // 2:
            break
    return " ".join(kept)

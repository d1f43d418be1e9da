"""What a prompt and a journal say about summaries and standing instructions, read from the outside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from memagent import prompts
from memagent.bench.meter import MESSAGE_TOKENS, Scale
from memagent.bench.report import SummaryFigures
from memagent.context.view import Summary, summary_of, view_of
from memagent.llm.client import ChatRequest
from stores.records import Mark, MarkKind, Message


def standing_text(request: ChatRequest) -> str:
    """The part of the system message that quotes the person's standing instructions; "" for none."""
    return _after(request, "standing")


def fixed_system(request: ChatRequest) -> str:
    """The system message without standing instructions and summaries."""
    text = str(request.messages[0].get("content") or "")
    starts = [text.find(head) for head in (_head("standing"), _head("summaries")) if head in text]
    return text[: min(starts)] if starts else text


def _after(request: ChatRequest, name: str) -> str:
    text = str(request.messages[0].get("content") or "")
    _, found, rest = text.partition(_head(name))
    others = [rest.find(head) for head in (_head("summaries"),) if found and head in rest]
    return rest[: min(others)] if others else rest


def _head(name: str) -> str:
    return prompts.text(name).split("$")[0].strip()


def summary_figures(journal: Sequence[Message | Mark], window_tokens: int, scale: Scale) -> SummaryFigures:
    """The largest shares over the whole session."""
    marks = [entry for entry in journal if isinstance(entry, Mark)]
    made = {mark.id: summary_of(mark) for mark in marks if mark.what is MarkKind.SUMMARY}
    tokens = {summary_id: scale.text(summary.text) for summary_id, summary in made.items()}
    shown = [
        sum(tokens[summary_id] for summary_id in view_of(mark).summary_ids)
        for mark in marks
        if mark.what is MarkKind.CUT
    ]
    leaves = [summary for summary in made.values() if summary.level == "leaf"]
    condensed = [summary for summary in made.values() if summary.level == "condensed"]
    said = [entry for entry in journal if isinstance(entry, Message)]
    return SummaryFigures(
        leaves=len(leaves),
        condensed=len(condensed),
        of_window=max(shown, default=0) / window_tokens,
        leaf_of_source=_largest(leaves, tokens, said, scale),
        condensed_of_source=_largest(condensed, tokens, said, scale),
    )


def _largest(summaries: Sequence[Summary], tokens: Mapping[str, int], said: Sequence[Message], scale: Scale) -> float:
    return max((tokens[one.id] / max(1, _said_tokens(one, said, scale)) for one in summaries), default=0.0)


def _said_tokens(summary: Summary, said: Sequence[Message], scale: Scale) -> int:
    """What was said in the range that a summary stands for, as the journal holds it."""
    inside = [message for message in said if summary.first_sequence <= message.sequence <= summary.last_sequence]
    texts = [text for message in inside for text in (message.content, *(call.arguments for call in message.calls))]
    return sum(scale.text(text) for text in texts) + MESSAGE_TOKENS * len(inside)

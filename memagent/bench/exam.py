"""`bench exam`: what is still known after a long talk, in the prompt or one call away?

Each question is asked of a copy of the data, so that no answer helps the next. The scripted model calls
`search_history`, `recall` and `read_output` one after the other; what each returned is read off the wire.
"""

from __future__ import annotations

import re
import shutil
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memagent.bench.conversation import ScriptedCall, ScriptedExchange
from memagent.bench.harness import UNEXPLAINED, BenchModel, Choose, Progress, no_progress, sitting
from memagent.bench.meter import REPLY_PRIMING_TOKENS, Scale, recalled_text
from memagent.bench.minutes import fixed_system, standing_text, summary_figures
from memagent.bench.planting import FULL, LOOK_ALIKES, QUICK, REVOKED, STANDING, Amount, ExamTalk, Planted, exam_talk
from memagent.bench.report import Exam, ExamReport, ExamRow, Miss
from memagent.bench.verbatim import newest_verbatim
from memagent.llm.client import ChatModel, ChatRequest
from memagent.memory.embed import Embedder
from memagent.testing import FakeClock
from stores.records import Mark, Message

__all__ = ["FULL", "QUICK", "SEED", "WINDOWS", "bench_exam"]

WINDOWS = (16_384,)
SEED = 11
READ_BACK_TOKENS = 1_000
"""How much of a call's result counts."""
CALLS = ("search_history", "recall", "read_output")
OWN_WAY = "two-level summaries"
OTHER_WAY = "texts verbatim, tool outputs out"

_REFERENCE = re.compile(r'read_output\(ref="([^"]+)"')
_WORD = re.compile(r"[a-z]{3,}|[一-鿿]{2}")
_COMMON_WORDS = frozenset(
    (
        *("the", "what", "which", "who", "how", "where", "when", "did", "does", "for", "with", "into", "its", "was"),
        *("were", "will", "that", "this", "tell", "need", "have", "get", "and", "are", "you", "your", "our", "they"),
        *("them", "not", "can", "from"),
    )
)


@dataclass(frozen=True, slots=True)
class Probe:
    """One question: its prompt, the results of the calls by tool, what they took."""

    item: Planted
    question: str
    prompt: ChatRequest
    results: dict[str, str]
    tokens: dict[str, int]

    def found_by(self, tool: str) -> bool:
        """Whether the identifier is in what counts of this tool's result."""
        return self.item.fact.identifier in self.results.get(tool, "")

    @property
    def in_prompt(self) -> bool:
        """Whether the identifier is in the prompt that the question was sent with."""
        return any(self.item.fact.identifier in str(message.get("content")) for message in self.prompt.messages)


async def bench_exam(
    *,
    windows: Sequence[int] = WINDOWS,
    amount: Amount = FULL,
    seed: int = SEED,
    embedder: Embedder | None = None,
    helper: ChatModel | None = None,
    progress: Progress = no_progress,
) -> ExamReport:
    """One sitting in each window."""
    talk = exam_talk(seed, amount)
    exams = [
        await _sit(window, talk, seed=seed, embedder=embedder, helper=helper, progress=progress) for window in windows
    ]
    return ExamReport(exams=tuple(exams))


async def _sit(
    window_tokens: int,
    talk: ExamTalk,
    *,
    seed: int,
    embedder: Embedder | None,
    helper: ChatModel | None,
    progress: Progress,
) -> Exam:
    start = time.monotonic()
    scale = Scale()
    model = BenchModel(window_tokens, scale, helper)
    with tempfile.TemporaryDirectory() as folder:
        data, copy = Path(folder) / "data", Path(folder) / "copy"
        async with sitting(data, model, embedder) as talked:
            for number, script in enumerate(talk.exchanges):
                await talked.play(number, script)
                progress(f"talk in {window_tokens:,}", number + 1, len(talk.exchanges))
            journal = await talked.journal()
            clock = talked.clock
        probes: list[Probe] = []
        for number, item in enumerate(talk.asked):
            shutil.copytree(data, copy)
            probes.append(await _ask(copy, window_tokens, item, number, scale, embedder, clock.now))
            shutil.rmtree(copy)
            progress(f"questions in {window_tokens:,}", number + 1, len(talk.asked))
    return _marked(model, talk, journal, probes, scale, seed, time.monotonic() - start)


async def _ask(
    data: Path, window_tokens: int, item: Planted, number: int, scale: Scale, embedder: Embedder | None, now: datetime
) -> Probe:
    """Asks one question, in its own words or in others in turn, and calls each tool once."""
    fact = item.fact
    question = fact.paraphrase if number % 2 else fact.question
    model = BenchModel(window_tokens, scale)
    async with sitting(data, model, embedder, FakeClock(now + timedelta(hours=2))) as asked:
        await asked.play(
            number, ScriptedExchange("exam", question, "I looked."), [_calling(n, question) for n in CALLS]
        )
    results: dict[str, str] = {}
    tokens: dict[str, int] = {}
    for request in model.probed:
        newest = request.messages[-1]
        if newest["role"] == "tool":
            text = str(newest["content"])
            name = _called(request)
            results[name], tokens[name] = scale.beginning(text, READ_BACK_TOKENS), scale.text(text)
    return Probe(item, question, model.probed[0], results, tokens)


def _called(request: ChatRequest) -> str:
    """The tool that the last result answers for."""
    return str(request.messages[-2]["tool_calls"][0]["function"]["name"])


def _calling(tool: str, question: str) -> Choose:
    """What a sensible model would call: the question as the query; for `read_output` the reference whose
    surroundings share the most words with it, searched for its rarest words."""

    def choose(request: ChatRequest) -> list[ScriptedCall]:
        offered = {schema["function"]["name"] for schema in request.tools}
        if tool not in offered:
            return []
        if tool != "read_output":
            return [ScriptedCall(tool, (("query", question),))]
        words = content_words(question)
        reference = best_reference(request, words)
        if reference is None or not words:
            return []
        return [ScriptedCall(tool, (("ref", reference), ("grep", "(?i)" + "|".join(sorted(words)))))]

    return choose


def content_words(question: str) -> set[str]:
    """The words of a question that may stand beside its answer; Chinese by pairs of characters."""
    return {word for word in _WORD.findall(question.casefold()) if word not in _COMMON_WORDS}


def best_reference(request: ChatRequest, words: set[str]) -> str | None:
    """The reference of the prompt whose line shares the most words with the question, the newest of equals."""
    best: tuple[int, str] | None = None
    for message in request.messages:
        for line in str(message.get("content") or "").splitlines():
            for reference in _REFERENCE.findall(line):
                score = sum(word in line.casefold() for word in words)
                if best is None or score >= best[0]:
                    best = (score, reference)
    return best[1] if best else None


def _marked(
    model: BenchModel,
    talk: ExamTalk,
    journal: Sequence[Message | Mark],
    probes: Sequence[Probe],
    scale: Scale,
    seed: int,
    seconds: float,
) -> Exam:
    found = [probe.in_prompt or any(probe.found_by(name) for name in CALLS) for probe in probes]
    of_place = Counter(probe.item.place for probe in probes)
    in_place = Counter(probe.item.place for probe, ok in zip(probes, found, strict=True) if ok)
    standing = [standing_text(probe.prompt) for probe in probes]
    window_tokens = model.meter.window_tokens
    return Exam(
        window_tokens=window_tokens,
        seed=seed,
        exchanges=len(talk.exchanges),
        rows=(_own_row(probes, found, scale, window_tokens), _other_row(probes, journal, scale, window_tokens)),
        sections=dict(Counter(_section(probe) for probe in probes if probe.in_prompt)),
        by_place={place: f"{in_place[place]} of {count}" for place, count in of_place.items()},
        misses=tuple(
            Miss(identifier=p.item.fact.identifier, place=p.item.place, exchange=p.item.exchange, question=p.question)
            for p, ok in zip(probes, found, strict=True)
            if not ok
        ),
        standing=len(STANDING),
        lost_standing=tuple(text for text in STANDING if not all(_verbatim(text, probe.prompt) for probe in probes)),
        revoked=len(REVOKED),
        kept_revoked=tuple(said for said, _ in REVOKED if any(said in text for text in standing)),
        look_alikes=len(LOOK_ALIKES),
        mistaken=tuple(said for said in LOOK_ALIKES if any(said in text for text in standing)),
        summaries=summary_figures(journal, window_tokens, scale),
        over=sum(turn.over for turn in model.meter.turns),
        unexplained_breaks=model.break_causes[UNEXPLAINED],
        seconds=seconds,
    )


def _own_row(probes: Sequence[Probe], found: Sequence[bool], scale: Scale, window_tokens: int) -> ExamRow:
    return ExamRow(
        strategy=OWN_WAY,
        window_tokens=window_tokens,
        asked=len(probes),
        prompt_tokens=statistics.fmean(scale.request(probe.prompt) for probe in probes),
        history_tokens=statistics.fmean(_history_tokens(probe, scale) for probe in probes),
        in_prompt=sum(probe.in_prompt for probe in probes),
        **_with_calls(probes, [probe.in_prompt for probe in probes]),
        any_call=sum(found),
        standing=sum(all(_verbatim(text, probe.prompt) for probe in probes) for text in STANDING),
    )


def _other_row(probes: Sequence[Probe], journal: Sequence[Message | Mark], scale: Scale, window_tokens: int) -> ExamRow:
    """The other way at the same tokens, question by question. What the calls find does not depend on it."""
    kept = [newest_verbatim(journal, _history_tokens(probe, scale), scale) for probe in probes]
    inside = [one.holds(probe.item.fact.identifier) for one, probe in zip(kept, probes, strict=True)]
    around = [scale.request(probe.prompt) - _history_tokens(probe, scale) for probe in probes]
    return ExamRow(
        strategy=OTHER_WAY,
        window_tokens=window_tokens,
        asked=len(probes),
        prompt_tokens=statistics.fmean(one.tokens + tokens for one, tokens in zip(kept, around, strict=True)),
        history_tokens=statistics.fmean(one.tokens for one in kept),
        in_prompt=sum(inside),
        **_with_calls(probes, inside),
        any_call=sum(
            here or any(probe.found_by(name) for name in CALLS) for here, probe in zip(inside, probes, strict=True)
        ),
        standing=sum(all(one.holds(text) for one in kept) for text in STANDING),
    )


def _with_calls(probes: Sequence[Probe], inside: Sequence[bool]) -> dict[str, Any]:
    counts = {
        tool: sum(here or probe.found_by(tool) for here, probe in zip(inside, probes, strict=True)) for tool in CALLS
    }
    returned = [tokens for probe in probes for tokens in probe.tokens.values()]
    return {
        "with_search": counts["search_history"],
        "with_recall": counts["recall"],
        "with_read_output": counts["read_output"],
        "read_back_tokens": statistics.fmean(returned) if returned else 0.0,
    }


def _history_tokens(probe: Probe, scale: Scale) -> int:
    """What the prompt holds besides tools, the fixed part of the system message, and the question with what
    is fenced before it. Recalled text beside the question counts as history."""
    request = probe.prompt
    fixed = scale.text(fixed_system(request)) + scale.tools(request.tools) + REPLY_PRIMING_TOKENS
    newest = scale.message(request.messages[-1]) - scale.text(recalled_text(request.messages[-1]))
    return scale.request(request) - fixed - newest


def _section(probe: Probe) -> str:
    """The first part of the prompt that holds the identifier."""
    identifier = probe.item.fact.identifier
    messages = probe.prompt.messages
    if identifier in str(messages[0].get("content")):
        return "summaries"
    return "recalled" if identifier in str(messages[-1].get("content")) else "window"


def _verbatim(text: str, request: ChatRequest) -> bool:
    return any(text in str(message.get("content")) for message in request.messages)

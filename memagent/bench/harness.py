"""A real agent on a scripted model: what the benches have in common."""

from __future__ import annotations

import contextlib
import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from memagent.agent.assistant import Assistant, Reply
from memagent.bench.conversation import ScriptedCall, ScriptedExchange
from memagent.bench.meter import Meter, Scale
from memagent.build import DATABASE_NAME, build_assistant
from memagent.context.manifest import kept_manifest
from memagent.events import Usage
from memagent.llm.client import ChatModel, ChatRequest, Completion, Retrying, TextPiece
from memagent.llm.profiles import ModelProfile
from memagent.memory.embed import Embedder
from memagent.settings import load_settings
from memagent.testing import FakeClock, WordEmbedder
from memagent.tools.definition import Tool, tool
from stores.records import Mark, Message, ToolCall, scope_of
from stores.sql import SqlStores, open_sql

USER = "bench"
SESSION = "bench"
INSTRUCTIONS = (
    "You are the assistant of a small household and workshop. Look things up with the tools when the person asks "
    "for it, answer from what you know otherwise, and keep to what was agreed. Be exact with names and numbers."
)
EMBEDDER_DIMENSIONS = 384
"""Of the deterministic embedder; as many as the default embedder has."""
SUMMARY_SHARE = 0.15
"""How much of its material the scripted summariser keeps at most: what a model does that was told to be brief."""
SENTENCE_WORDS = 30
OUTPUT_WORDS = 12
SETTLE_SECONDS = 60.0
UNEXPLAINED = "no cause named"
INSTRUCTION_CHARS = 2_000
"""The limit of words is asked for in the beginning of a request; later in it numbers are material."""
_MOST_WORDS = re.compile(r"[Aa]t most (\d+) words")
_SPEAKER = re.compile(r"^(?:PERSON|ASSISTANT|TOOL)[^:{]*(?:\{.*?\})?: *")
_LISTS = ("Exactly:", "<", "[")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[。！？])")

Choose = Callable[[ChatRequest], Sequence[ScriptedCall]]
"""What a model that sees this prompt calls."""
Progress = Callable[[str, int, int], None]
"""Called with what is done, how many exchanges of it, and how many there are."""


def no_progress(_label: str, _done: int, _total: int) -> None:
    """Tells nobody."""


@dataclass(slots=True)
class Desk:
    """The host's tools: they return what the script says, looked up by their argument."""

    outputs: dict[str, str] = field(default_factory=dict[str, str])

    def tools(self) -> list[Tool]:
        """Three ordinary tools."""

        @tool
        def read_file(path: str) -> str:
            """Read a text file of the household's folder.

            Args:
                path: The file's path, e.g. "garden/plan.txt".
            """
            return self.outputs[path]

        @tool
        def search_web(query: str) -> str:
            """Search the web and return the text of the best pages.

            Args:
                query: What to look for, in a few words.
            """
            return self.outputs[query]

        @tool
        def run_query(query: str) -> str:
            """Run a query against the workshop's database and return its rows.

            Args:
                query: The query in plain words.
            """
            return self.outputs[query]

        return [read_file, search_web, run_query]


class BenchModel:
    """Plays the script of one exchange at a time and measures each prompt. What is no answer's prompt is
    summarised: by ``helper``, a real model, or by code that takes sentences from the material. Usage is
    reported as a server would report it, by the bench's own count."""

    def __init__(self, window_tokens: int, scale: Scale, helper: ChatModel | None = None) -> None:
        self.profile = ModelProfile(name="scripted", window_tokens=window_tokens, window_source="setting")
        self.endpoint = "scripted"
        self.meter = Meter(window_tokens, scale)
        self.break_causes: Counter[str] = Counter()
        """How often a prompt did not begin with the one before, by the cause that its manifest names."""
        self.why_broken: Callable[[], Awaitable[str]] | None = None
        self._scale = scale
        self._helper = helper
        self._script = ScriptedExchange("talk", "", "")
        self._exchange = self._turn = 0
        self._choices: tuple[Choose, ...] = ()
        self.probed: list[ChatRequest] = []
        """The prompts of an exchange that was begun with choices: they are kept."""

    def begin(self, exchange: int, script: ScriptedExchange, choices: Sequence[Choose] = ()) -> None:
        """The next requests belong to this exchange. ``choices`` are its turns where what is called depends
        on the prompt; they come before those of the script."""
        self._exchange, self._script, self._turn = exchange, script, 0
        self._choices, self.probed = tuple(choices), []

    async def stream(self, request: ChatRequest) -> AsyncIterator[TextPiece | Retrying | Completion]:
        if is_answer(request):
            turn = self.meter.answered(self._exchange, request)
            if turn.broken and self.why_broken is not None:
                self.break_causes[await self.why_broken()] += 1
            text, calls = self._next(request)
            yield TextPiece(text)
            finish = "tool_calls" if calls else "stop"
            yield Completion(text, calls, finish, self._usage(turn.tokens, text), 0.0)
        elif self._helper is not None:
            async for piece in self._helper.stream(request):
                if isinstance(piece, Completion):
                    self.meter.helped(request, self._scale.text(piece.text))
                yield piece
        else:
            text = extract(request, self._scale)
            self.meter.helped(request, self._scale.text(text))
            yield TextPiece(text)
            yield Completion(text, (), "stop", self._usage(self._scale.request(request), text), 0.0)

    async def close(self) -> None:
        """Nothing to release: a real model is its opener's."""

    def _next(self, request: ChatRequest) -> tuple[str, tuple[ToolCall, ...]]:
        if self._choices:
            self.probed.append(request)
        turn, self._turn = self._turn, self._turn + 1
        if turn < len(self._choices):
            calls = self._choices[turn](request)
        elif turn - len(self._choices) < len(self._script.turns):
            calls = self._script.turns[turn - len(self._choices)]
        else:
            return self._script.answer, ()
        if not calls:
            return self._next(request)
        return "", tuple(_tool_call(call, f"c{self._exchange}-{turn}-{i}") for i, call in enumerate(calls))

    def _usage(self, prompt_tokens: int, reply: str) -> Usage:
        return Usage(prompt_tokens=prompt_tokens, completion_tokens=self._scale.text(reply))


def _tool_call(call: ScriptedCall, call_id: str) -> ToolCall:
    return ToolCall(id=call_id, name=call.name, arguments=json.dumps(dict(call.arguments), ensure_ascii=False))


def is_answer(request: ChatRequest) -> bool:
    """Whether this is the prompt of an answer; everything else is helper work, such as a summary."""
    return str(request.messages[0].get("content") or "").startswith(INSTRUCTIONS)


def extract(request: ChatRequest, scale: Scale) -> str:
    """First sentences of lines all over the newest message: short, true, and the same each time. At most as
    many words as the request allows."""
    material = str(request.messages[-1].get("content") or "")
    room = int(scale.text(material) * SUMMARY_SHARE)
    if request.max_tokens is not None:
        room = min(room, request.max_tokens * 3 // 4)
    for message in request.messages:
        for words in _MOST_WORDS.findall(str(message.get("content") or "")[:INSTRUCTION_CHARS]):
            room = min(room, int(words))
    sentences = [sentence for line in material.splitlines() if len(sentence := _first(line)) > SENTENCE_WORDS // 2]
    sizes = [scale.text(sentence) + 1 for sentence in sentences]
    step = max(1.0, sum(sizes) / max(1, room))
    kept: list[str] = []
    used, at = 0, 0.0
    while int(at) < len(sentences) and used + sizes[int(at)] <= room:
        kept.append(sentences[int(at)])
        used += sizes[int(at)]
        at += step
    return "\n".join(kept) or "They talked."


def _first(line: str) -> str:
    """The first sentence of a line, without who said it; nothing of lists that code made."""
    if line.startswith(_LISTS):
        return ""
    words = _SENTENCE_END.split(_SPEAKER.sub("", line.strip()))[0].split()
    return " ".join(words[: OUTPUT_WORDS if line.startswith("TOOL") else SENTENCE_WORDS])


@dataclass(slots=True)
class Sitting:
    """One agent in one session on a scripted model. ``stores`` is a second handle on its database."""

    assistant: Assistant
    model: BenchModel
    desk: Desk
    clock: FakeClock
    stores: SqlStores

    async def play(self, number: int, script: ScriptedExchange, choices: Sequence[Choose] = ()) -> Reply:
        """Plays an exchange and waits until its background work is done, as a person does who reads."""
        self.desk.outputs = {call.arguments[0][1]: call.output for turn in script.turns for call in turn}
        self.model.begin(number, script, choices)
        reply = await self.assistant.ask(script.user, (), "auto", True)
        await self.assistant.settle(SETTLE_SECONDS)
        self.clock.advance(minutes=4)
        return reply

    async def journal(self) -> list[Message | Mark]:
        """All entries of the session."""
        return await self.stores.journal.read(scope_of(USER), SESSION)


@contextlib.asynccontextmanager
async def sitting(
    folder: Path, model: BenchModel, embedder: Embedder | None = None, clock: FakeClock | None = None
) -> AsyncGenerator[Sitting]:
    """An agent in a folder of its own. Recall is on, everything else is as it comes."""
    desk, clock = Desk(), clock or FakeClock()
    # what helpers take here is summarising: the scripted helper would answer a request for facts with a summary
    settings = load_settings(data_dir=folder, user=USER, zone="UTC", instructions=INSTRUCTIONS, extract="off")
    assistant = await build_assistant(
        settings=settings,
        session=SESSION,
        tools=desk.tools(),
        embedder=embedder or WordEmbedder(EMBEDDER_DIMENSIONS),
        clock=clock,
        model=model,
    )
    stores = open_sql(folder / DATABASE_NAME)

    async def why_broken() -> str:
        kept = await stores.manifests.list(scope_of(USER), SESSION, limit=1)
        return (kept_manifest(kept[0]).prefix_break if kept else None) or UNEXPLAINED

    model.why_broken = why_broken
    try:
        yield Sitting(assistant, model, desk, clock, stores)
    finally:
        await assistant.close()
        await stores.close()

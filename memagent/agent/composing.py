"""Between the session and the prompt: recall for a message, the prompt itself, the record of it."""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from memagent import prompts
from memagent.agent.marks import text_hash
from memagent.agent.offering import Offering
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.assemble import Prompt, PromptSource, assemble, own_share
from memagent.context.budget import PROFILE_PERCENT, Budget, reply_reserve
from memagent.context.digest import RENDERING
from memagent.context.manifest import Candidate, Recipe, break_cause
from memagent.context.moment import moment_lines, stale_lines
from memagent.context.recalled import attach
from memagent.context.render import ContextBlock, Exchange
from memagent.events import Usage
from memagent.llm.client import ChatModel
from memagent.llm.margin import SAMPLES, MarginLearner, Sample
from memagent.llm.tokens import TokenCounter
from memagent.memory.recall import Recalled
from stores.records import LedgerEntry

TIGHTEN_SHARE = 0.75
EXPIRE_EVERY = timedelta(days=1)


def budget_for(model: ChatModel, counter: TokenCounter, reply_tokens: int | None, recall_tokens: int | None) -> Budget:
    """The budget of a model, with the margin that its tokenizer starts with."""
    window = model.profile.window_tokens
    return Budget(window, reply_reserve(window, reply_tokens), round(counter.start_margin * 100), recall_tokens)


class Composer:
    """Makes the prompts of one agent. Writes only in `block_data` and `record`.

    ``before_talk_raw`` is what instructions and tools take in every prompt."""

    def __init__(self, rooms: Rooms, model: ChatModel, counter: TokenCounter, offering: Offering) -> None:
        settings = rooms.settings
        self._rooms = rooms
        self._model = model
        self._counter = counter
        self._offering = offering
        self.budget = self._own_budget = budget_for(model, counter, settings.reply_tokens, settings.recall_tokens)
        self._margin = MarginLearner(self.budget.margin_percent)
        self._expired_at: datetime | None = None
        share = own_share(offering.whole.offer, self.budget.window_tokens, counter)
        self.before_talk_raw = counter.text(share.system_text()) + counter.tools(share.tools)
        self._settings_hash = hashlib.blake2b(
            f"{model.profile.name}|{model.endpoint}|{self.budget.window_tokens}".encode(), digest_size=8
        ).hexdigest()

    async def learn(self) -> None:
        """Takes the margin from the requests that the ledger holds of this model at this endpoint."""
        calls = await self._rooms.stores.ledger.recent(
            self._rooms.scope, model=self._model.profile.name, endpoint=self._model.endpoint, limit=SAMPLES
        )
        for call in reversed(calls):
            self._margin.add(_sample(call))
        self.use_margin()

    def learn_from(self, call: LedgerEntry) -> str | None:
        """Takes one more request. What the person is to be told if the server cut its prompt, once a session."""
        if call.estimated or not call.text_only:
            return None
        if not self._margin.add(_sample(call)):
            return None
        return (
            f"{call.endpoint} counted only {call.prompt_tokens:,} tokens of a prompt of about "
            f"{self.budget.estimated(call.raw_tokens):,}: it seems to cut prompts silently, from their beginning. "
            f"Set MEMAGENT_WINDOW_TOKENS to the window it really has, or give the model a larger one there (with "
            f"Ollama num_ctx)."
        )

    def use_margin(self) -> None:
        """Between exchanges: from now on prompts are budgeted with what was learned."""
        learned = self._margin.learned()
        self.budget = self._own_budget = replace(
            self._own_budget, margin_percent=learned.percent, margin_source=learned.source
        )

    def tighten(self, prompt: Prompt) -> None:
        """The server found this prompt too long: until `relax` prompts have three quarters of its size."""
        manifest = prompt.manifest
        raw = manifest.total_tokens / manifest.margin * TIGHTEN_SHARE
        self.budget = replace(
            self.budget,
            margin_percent=math.ceil(manifest.budget_tokens * 100 / raw),
            margin_source="the server found the last prompt too long",
        )

    def relax(self) -> None:
        """Back to the model's own budget."""
        self.budget = self._own_budget

    def talk_raw(self, view: SessionView) -> int:
        """What a prompt without a newest message takes."""
        return self.before_talk_raw + self._counter.text(view.background.text) + view.window.tokens_raw(0)

    def new_view(self, session_id: str) -> SessionView:
        """A session as this model would be shown it; nothing is read yet."""
        stores = self._rooms.stores
        return SessionView(
            scope=self._rooms.scope,
            session_id=session_id,
            journal=stores.journal,
            manifests=stores.manifests,
            memories=stores.memories,
            counter=self._counter,
            window_tokens=self.budget.window_tokens,
            finder=stores.finder,
            profile_raw=self.budget.share_raw(PROFILE_PERCENT),
        )

    async def last_talk(self) -> datetime | None:
        """When the person last talked, in any session."""
        sessions = await self._rooms.stores.journal.sessions(self._rooms.scope, limit=1)
        return sessions[0].last_at if sessions else None

    async def recall(
        self, view: SessionView, text: str, entry_id: str, last_at: datetime | None, *, search: bool = True
    ) -> tuple[ContextBlock, tuple[Candidate, ...]]:
        """What is fenced before the message: the moment, and memories that the window does not show."""
        settings, window = self._rooms.settings, view.window
        found: list[Recalled] = []
        if search and settings.recall_tokens != 0:
            found = await self._rooms.recaller.recall(
                self._rooms.scope,
                text,
                limit=settings.recall_limit * 3,
                deadline_seconds=settings.recall_deadline_seconds,
                gated=True,
            )
        return attach(
            found,
            question=text,
            moment=self._moment(view, last_at),
            budget=self.budget,
            shown_raw=window.recalled_raw(0),
            limit=settings.recall_limit,
            visible=lambda item: (
                item.source_ids == (entry_id,)
                or item.memory.id in view.profile.memory_ids
                or window.has_recalled(item.memory.id, item.memory.version)
                or window.shows(item.source_ids if item.memory.session_id == view.session_id else (), item.memory.text)
            ),
            counter=self._counter,
        )

    def _moment(self, view: SessionView, last_at: datetime | None) -> tuple[str, ...]:
        rooms, now = self._rooms, self._rooms.clock()
        stale_after = {
            name: tool.stale_after_seconds
            for name, tool in rooms.host_tools.items()
            if tool.stale_after_seconds is not None
        }
        return (
            *moment_lines(now, rooms.zone, last_at),
            *stale_lines(now, rooms.zone, view.window.results_at, stale_after),
            *(prompts.text("note", text=" ".join(note.content.split())) for note in view.notes),
        )

    async def block_data(self, block: ContextBlock) -> dict[str, Any]:
        """The block as a mark holds it; its texts are kept once by hash."""
        manifests, scope = self._rooms.stores.manifests, self._rooms.scope
        recalled = [
            {"id": line.memory_id, "version": line.version, "hash": await manifests.put_text(scope, line.text)}
            for line in block.recalled
        ]
        return {"moment": list(block.moment), "recalled": recalled}

    def prompt(self, view: SessionView, current: Exchange, candidates: tuple[Candidate, ...] = ()) -> Prompt:
        """The prompt for the exchange that is being answered. Raises PromptTooLargeError."""
        offered = self._offering.offered(view, current.user.content if current.user else "")
        source = PromptSource(
            profile=self._model.profile,
            budget=self.budget,
            offer=offered.offer,
            window=view.window,
            current=current,
            background=view.background,
            person=view.profile,
            freed=frozenset(view.shown.freed),
            cut_id=view.cut_id,
            candidates=candidates,
            forgotten=tuple(sorted(view.forgotten)),
            erased=tuple(sorted(view.erased)),
            settings_hash=self._settings_hash,
            recipe=self._recipe(view, current, offered.digest),
        )
        prompt = assemble(source, self._counter)
        cause = break_cause(view.last_manifest, prompt.manifest)
        return replace(prompt, manifest=prompt.manifest.model_copy(update={"prefix_break": cause})) if cause else prompt

    def estimated_usage(self, prompt: Prompt, reply: str) -> Usage:
        """What a call that was broken off took, as far as we can tell."""
        completion_tokens = self.budget.estimated(self._counter.text(reply))
        return Usage(prompt_tokens=prompt.manifest.total_tokens, completion_tokens=completion_tokens, estimated=True)

    def _recipe(self, view: SessionView, current: Exchange, offer_hash: str) -> Recipe:
        counter, budget = self._counter, self.budget
        return Recipe(
            offer_hash=offer_hash,
            profile_hash=text_hash(view.profile.text),
            last_sequence=view.last_sequence,
            current_sequence=max((message.sequence for message in current.messages), default=0),
            window_tokens=budget.window_tokens,
            reserve_tokens=budget.reserve_tokens,
            margin_percent=budget.margin_percent,
            encoding=counter.encoding,
            exact=counter.exact,
            counted=counter.loaded,
            image_tokens=counter.image_tokens,
            rendering=RENDERING,
            prompts=prompts.fingerprint(),
        )

    async def record(self, view: SessionView, exchange_id: str, prompt: Prompt) -> Prompt:
        """Keeps the manifest of a prompt that is about to be sent, and gives it its number."""
        manifests, now = self._rooms.stores.manifests, self._rooms.clock()
        if self._expired_at is None or now - self._expired_at >= EXPIRE_EVERY:
            self._expired_at = now
            await manifests.expire(self._rooms.scope, before=now - timedelta(days=self._rooms.settings.manifest_days))
        number = await manifests.put(
            self._rooms.scope,
            view.session_id,
            exchange_id,
            prompt.manifest.figures(),
            details=prompt.manifest.details(),
            at=now,
            texts=[self._offering.offered(view, "").text, *([view.profile.text] if view.profile.text else [])],
        )
        prompt = replace(prompt, manifest=prompt.manifest.model_copy(update={"number": number}))
        view.last_manifest = prompt.manifest
        return prompt


def _sample(call: LedgerEntry) -> Sample:
    series = f"{call.role} {call.session_id}"
    return Sample(call.raw_tokens, call.prompt_tokens, series, call.cached_tokens)

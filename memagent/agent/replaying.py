"""Making a prompt that was sent once more, from the journal and its manifest, and proving that it is the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any, Literal

from memagent import prompts
from memagent.agent.marks import find_mark
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.assemble import Offer, Prompt, PromptSource, assemble, offer_of
from memagent.context.budget import Budget
from memagent.context.digest import RENDERING
from memagent.context.manifest import Manifest, Recipe, kept_manifest
from memagent.context.render import ContextBlock, Exchange, build_exchange
from memagent.errors import NotFoundError
from memagent.llm.profiles import ModelProfile
from memagent.llm.tokens import TokenCounter
from stores.records import Mark, MarkKind, Message

ReplayStatus = Literal["equal", "erased", "expired", "different"]
_PAGE = 50


@dataclass(frozen=True, slots=True)
class Replay:
    """A prompt made again. "equal": ``messages`` and ``tools`` are what was sent, byte for byte. "erased":
    something of it was erased since; they are what is left. "expired": what it was made from is kept no
    more, or memagent renders it in other words by now. "different" never comes of honest use: the data
    were changed by something else. ``why`` says which, in words."""

    number: int
    status: ReplayStatus
    why: str
    messages: Sequence[dict[str, Any]] = ()
    tools: Sequence[dict[str, Any]] = ()


class Replayer:
    """Replays prompts of the rooms' scope. Needs no model."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms

    async def replay(self, session_id: str, number: int) -> Replay:
        """Raises NotFoundError for a number that no prompt of the session has."""
        rooms = self._rooms
        kept = await rooms.stores.manifests.list(rooms.scope, session_id, number=number)
        if not kept:
            raise NotFoundError(f"session {session_id!r} has no prompt number {number}")
        manifest = kept_manifest(kept[0])
        days = rooms.settings.manifest_days
        if manifest.recipe is None or kept[0].at < rooms.clock() - timedelta(days=days):
            return Replay(number, "expired", f"what prompts were made from is kept for {days} days (manifest_days)")
        hashes = [h for h in (manifest.recipe.offer_hash, manifest.recipe.profile_hash) if h]
        texts = await rooms.stores.manifests.texts(rooms.scope, hashes)
        if manifest.recipe.offer_hash not in texts:
            return Replay(number, "erased", "its instructions and tools are kept no more")
        offer = offer_of(texts[manifest.recipe.offer_hash])
        counter = TokenCounter(manifest.recipe.encoding, manifest.recipe.exact, manifest.recipe.image_tokens)
        view, lost = await self._view(session_id, manifest, manifest.recipe, counter)
        view.show_profile(texts.get(manifest.recipe.profile_hash, ""))
        lost = lost or len(texts) < len(hashes)
        current = await self._current(view, manifest, manifest.recipe)
        if current is None:
            return Replay(number, "erased", "the message that it answers is kept no more")
        prompt = _made(view, current, offer, manifest, manifest.recipe, counter)
        return _verdict(
            number, prompt, manifest, manifest.recipe, counter, lost=lost or view.lost_texts or bool(view.erased)
        )

    async def _view(
        self, session_id: str, manifest: Manifest, recipe: Recipe, counter: TokenCounter
    ) -> tuple[SessionView, bool]:
        """The session as the prompt knew it, and whether something of that is gone."""
        stores, scope = self._rooms.stores, self._rooms.scope
        view = SessionView(
            scope=scope,
            session_id=session_id,
            journal=stores.journal,
            manifests=stores.manifests,
            memories=stores.memories,
            counter=counter,
            window_tokens=recipe.window_tokens,
        )
        view.open_exchange_id = manifest.exchange_id
        cut = await find_mark(self._rooms, session_id, manifest.cut_id)
        await view.load_at(cut, until=recipe.last_sequence, forgotten=frozenset(manifest.forgotten))
        whole = len(view.summaries) == len(view.shown.summary_ids) and (cut is not None or not manifest.cut_id)
        return view, not whole

    async def _current(self, view: SessionView, manifest: Manifest, recipe: Recipe) -> Exchange | None:
        """The exchange that was being answered, as far as it had come."""
        entries = await self._entries(view, manifest.exchange_id, recipe.current_sequence)
        context = next((e for e in entries if isinstance(e, Mark) and e.what is MarkKind.CONTEXT), None)
        blocks = await view.blocks({manifest.exchange_id: context} if context else {})
        known = [entry for entry in entries if entry.sequence <= recipe.current_sequence]
        view.erased |= {e.erased for e in (*known, *([context] if context else [])) if e.erased}
        return build_exchange(view.trimmed(known), blocks.get(manifest.exchange_id, ContextBlock()))

    async def _entries(self, view: SessionView, exchange_id: str, sequence: int) -> list[Message | Mark]:
        """The exchange's entries up to a sequence and, even if it comes after, what was recalled for it."""
        journal, scope = self._rooms.stores.journal, self._rooms.scope
        found = await journal.get(scope, [exchange_id])
        after = next((entry.sequence - 1 for entry in found if entry.session_id == view.session_id), None)
        mine: list[Message | Mark] = []
        while after is not None:
            page = await journal.read(scope, view.session_id, after_sequence=after, limit=_PAGE)
            mine += [e for e in page if e.exchange_id == exchange_id and not (isinstance(e, Message) and e.imported)]
            seen = any(isinstance(e, Mark) and e.what is MarkKind.CONTEXT for e in mine)
            after = page[-1].sequence if page and not (seen and page[-1].sequence >= sequence) else None
        return mine


def _made(
    view: SessionView, current: Exchange, offer: Offer, manifest: Manifest, recipe: Recipe, counter: TokenCounter
) -> Prompt:
    profile = ModelProfile(
        name=manifest.model,
        window_tokens=recipe.window_tokens,
        window_source=manifest.window_source,
        encoding=recipe.encoding,
        exact=recipe.exact,
        image_tokens=recipe.image_tokens,
    )
    source = PromptSource(
        profile=profile,
        budget=Budget(recipe.window_tokens, recipe.reserve_tokens, recipe.margin_percent),
        offer=offer,
        window=view.window,
        current=current,
        background=view.background,
        person=view.profile,
        freed=frozenset(view.shown.freed),
        cut_id=view.cut_id,
        forgotten=manifest.forgotten,
    )
    return assemble(source, counter)


def _verdict(
    number: int, prompt: Prompt, manifest: Manifest, recipe: Recipe, counter: TokenCounter, *, lost: bool
) -> Replay:
    made = Replay(number, "equal", "the same, byte for byte", prompt.messages, prompt.tools)
    if prompt.manifest.prompt_hash == manifest.prompt_hash:
        return made
    if lost:
        return replace(made, status="erased", why="something of it was erased since; this is what is left")
    now = (RENDERING, prompts.fingerprint(), counter.loaded)
    if now != (recipe.rendering, recipe.prompts, recipe.counted):
        return replace(made, status="expired", why="memagent renders it in other words by now")
    return replace(made, status="different", why="the journal was changed by something else than memagent")

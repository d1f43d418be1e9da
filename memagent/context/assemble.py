"""Assembling a prompt: four parts, one budget. Pure: values in, a prompt out.

Fixed first (system text, tools, the newest message), then the current exchange's tool turns, then as
many of the newest closed exchanges as fit. What memagent adds itself gives way before anything of the
host's or the person's does.
"""

from __future__ import annotations

import copy
import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from memagent import prompts
from memagent.context.budget import (
    ALL_TOOLS_FROM_WINDOW_TOKENS,
    MIN_REPLY_TOKENS,
    OWN_SHARE_PERCENT,
    OWN_TEXT_FROM_WINDOW_TOKENS,
    Budget,
    exchanges_that_fit,
)
from memagent.context.digest import prompt_digest
from memagent.context.fit import fit_turns
from memagent.context.manifest import SECTIONS, Candidate, Manifest, Recipe
from memagent.context.render import ContextBlock, Exchange, Wire, user_message
from memagent.context.summary import NO_BACKGROUND, Background
from memagent.context.window import Window, WindowPart
from memagent.errors import PromptTooLargeError
from memagent.llm.profiles import ModelProfile
from memagent.llm.tokens import REPLY_PRIMING_TOKENS, TokenCounter
from memagent.memory.profile import NO_PROFILE, Profile

OWN_SMALL_TOOLS = frozenset({"recall", "read_output"})
"""Of memagent's own tools only these are offered in windows below 8k."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What the host and memagent itself put before every conversation."""

    instructions: str = ""
    host_tools: tuple[dict[str, Any], ...] = ()
    own_text: str = ""
    own_tools: tuple[dict[str, Any], ...] = ()

    def system_text(self) -> str:
        return "\n\n".join(part for part in (self.instructions.strip(), self.own_text) if part)

    @property
    def tools(self) -> tuple[dict[str, Any], ...]:
        return self.host_tools + self.own_tools

    def as_text(self) -> str:
        """All of it as JSON, for `offer_of`."""
        return json.dumps(asdict(self), ensure_ascii=False)


def offer_of(text: str) -> Offer:
    """The offer that `Offer.as_text` wrote."""
    parts: dict[str, Any] = json.loads(text)
    return Offer(parts["instructions"], tuple(parts["host_tools"]), parts["own_text"], tuple(parts["own_tools"]))


@dataclass(frozen=True, slots=True)
class Prompt:
    """Exactly what would be sent, and why. ``messages`` and ``tools`` give fresh copies."""

    manifest: Manifest
    head: tuple[Wire, ...]
    window: WindowPart
    tail: tuple[Wire, ...]
    wire_tools: tuple[dict[str, Any], ...]

    @property
    def wire_messages(self) -> list[Wire]:
        """The messages themselves, in order; not to be changed. Joined only when asked for, so that a
        prompt costs the same however long its window is."""
        return [*self.head, *self.window, *self.tail]

    @property
    def fits_whole(self) -> bool:
        """Whether all that the window and the tool turns hold is in it."""
        return not (self.manifest.left_out_exchanges or self.manifest.shortened)

    @property
    def text_only(self) -> bool:
        """Whether it shows the model no image."""
        return not any(isinstance(message.get("content"), list) for message in self.wire_messages)

    @property
    def messages(self) -> list[Wire]:
        return [copy.deepcopy(m) if "tool_calls" in m else dict(m) for m in self.wire_messages]

    @property
    def tools(self) -> list[dict[str, Any]]:
        return copy.deepcopy(list(self.wire_tools))


@dataclass(frozen=True, slots=True)
class PromptSource:
    """All that a prompt is made from."""

    profile: ModelProfile
    budget: Budget
    offer: Offer
    window: Window
    current: Exchange
    background: Background = NO_BACKGROUND
    """Standing instructions, the profile and summaries: the end of the system message."""
    person: Profile = NO_PROFILE
    """What the profile in it is made of."""
    freed: frozenset[str] = frozenset()
    cut_id: str = ""
    """The mark that the session's view is of; "" while nothing was compacted."""
    candidates: tuple[Candidate, ...] = ()
    forgotten: tuple[str, ...] = ()
    erased: tuple[str, ...] = ()
    settings_hash: str = ""
    recipe: Recipe | None = None


@dataclass(frozen=True, slots=True)
class _Fixed:
    """The part of a prompt that is there in any case, as it fits."""

    budget: Budget
    offer: Offer
    block: ContextBlock
    system: Wire | None
    user: Wire
    system_raw: int
    summaries_raw: int
    """The part of ``system_raw`` that standing instructions and summaries take."""
    profile_raw: int
    """The part that the profile takes."""
    tools_raw: int
    user_raw: int
    recalled_raw: int

    @property
    def total_raw(self) -> int:
        return self.system_raw + self.tools_raw + self.user_raw + REPLY_PRIMING_TOKENS


def own_share(offer: Offer, window_tokens: int, counter: TokenCounter) -> Offer:
    """The offer with memagent's own text and tools cut to their share of the window: one line and no
    tools below 2k, `recall` and `read_output` only below 8k, 15 % at most anywhere."""
    if window_tokens < OWN_TEXT_FROM_WINDOW_TOKENS:
        return host_only(offer)
    tools = offer.own_tools
    if window_tokens < ALL_TOOLS_FROM_WINDOW_TOKENS:
        tools = tuple(t for t in tools if t["function"]["name"] in OWN_SMALL_TOOLS)
    room = window_tokens * OWN_SHARE_PERCENT // 100 - counter.text(offer.own_text)
    while tools and counter.tools(tools) > room:
        tools = tools[:-1]
    return replace(offer, own_tools=tools)


def host_only(offer: Offer) -> Offer:
    """The offer without memagent's own text and tools; one line stands in where the host has no
    instructions, so that a prompt of any size has exactly one system message."""
    line = "" if offer.instructions.strip() else prompts.text("system_small")
    return replace(offer, own_text=line, own_tools=())


def assemble(source: PromptSource, counter: TokenCounter) -> Prompt:
    """The prompt. Raises PromptTooLargeError only if the host's instructions and tools, the newest
    message and 256 tokens of reply exceed the window. Exchanges that do not fit are left out whole,
    oldest first, and the manifest says so."""
    fixed = _fit_fixed(source, counter)
    budget, window = fixed.budget, source.window
    room_raw = budget.limit_raw - fixed.total_raw
    turns = fit_turns(source.current.turns, budget.window_tokens, room_raw, counter, source.freed)
    left_out = exchanges_that_fit(window.sums_raw, budget.limit_raw - fixed.total_raw - turns.tokens_raw)
    head = () if fixed.system is None else (fixed.system,)
    tail = (fixed.user, *turns.messages)
    recalled_raw = window.recalled_raw(left_out) + fixed.recalled_raw
    total_raw = fixed.total_raw + turns.tokens_raw + window.tokens_raw(left_out)
    raw = {
        "system": fixed.system_raw - fixed.summaries_raw - fixed.profile_raw,
        "tools": fixed.tools_raw,
        "profile": fixed.profile_raw,
        "summaries": fixed.summaries_raw,
        "window": window.tokens_raw(left_out) - window.recalled_raw(left_out),
        "recalled": recalled_raw,
        "current": fixed.user_raw - fixed.recalled_raw + turns.tokens_raw + REPLY_PRIMING_TOKENS,
    }
    due = left_out > 0 or (total_raw >= budget.due_raw and len(window) > 1)
    manifest = Manifest(
        model=source.profile.name,
        window_tokens=budget.window_tokens,
        window_source=source.profile.window_source,
        reserve_tokens=budget.reserve_tokens,
        budget_tokens=budget.budget_tokens,
        total_tokens=budget.estimated(total_raw),
        raw_tokens=total_raw,
        margin=budget.margin_percent / 100,
        margin_source=budget.margin_source,
        sections=_estimated_sections(raw, budget),
        window_exchanges=len(window) - left_out,
        left_out_exchanges=left_out,
        first_sequence=window.first_sequence(left_out) or source.current.first_sequence,
        shortened=turns.notes,
        shortened_exchanges=window.shortened(left_out),
        compaction="due" if due else "none",
        candidates=_as_shown(source.candidates, fixed.block),
        system_hash=_hash(fixed.system["content"] if fixed.system else ""),
        cut_id=source.cut_id,
        summaries_left_out=_left_out(source.background, fixed),
        profile=source.person.memory_ids if fixed.profile_raw else (),
        profile_left_out=source.person.left_out if fixed.profile_raw else _all_of(source.person),
        profile_hash=_hash(source.background.profile) if source.background.profile else "",
        recalled_left_out=bool(source.current.block.recalled) and not fixed.block.recalled,
        tools_hash=_hash(json.dumps(fixed.offer.tools)),
        settings_hash=source.settings_hash,
        forgotten=source.forgotten,
        erased=source.erased,
        prompt_versions={name: prompts.version(name) for name in ("system", "context", "recalled")},
        prompt_hash=prompt_digest(fixed.offer.tools, head, window.digest(left_out), tail),
        exchange_id=source.current.id,
        recipe=source.recipe,
    )
    return Prompt(manifest, head, window.messages(left_out), tail, fixed.offer.tools)


def _fit_fixed(source: PromptSource, counter: TokenCounter) -> _Fixed:
    for budget, offer, block, background in _concessions(source, counter):
        fixed = _fixed(source.current, budget, offer, block, background, counter)
        if fixed.total_raw <= budget.limit_raw:
            return fixed
    return _last_resort(source, counter)


def _left_out(background: Background, fixed: _Fixed) -> bool:
    """Whether there is no room for what the end of the system message would hold."""
    others = background.standing or background.summaries
    return bool(others and not fixed.summaries_raw) or bool(background.profile and not fixed.profile_raw)


def _all_of(profile: Profile) -> tuple[str, ...]:
    return (*profile.left_out, *profile.memory_ids)


def _concessions(
    source: PromptSource, counter: TokenCounter
) -> Iterator[tuple[Budget, Offer, ContextBlock, Background]]:
    """From the full prompt down: first recalled text goes, then room for a long reply, then memagent's
    own text and tools, then the date, then the summaries, and last the profile."""
    budget, block, background = source.budget, source.current.block, source.background
    offer = own_share(source.offer, budget.window_tokens, counter)
    yield budget, offer, block, background
    moment = ContextBlock(block.moment)
    yield budget, offer, moment, background
    budget = replace(budget, reserve_tokens=min(budget.reserve_tokens, MIN_REPLY_TOKENS))
    yield budget, offer, moment, background
    bare = host_only(offer)
    yield budget, bare, moment, background
    yield budget, bare, ContextBlock(), background
    yield budget, bare, ContextBlock(), Background(profile=background.profile)
    yield budget, bare, ContextBlock(), Background()


def _last_resort(source: PromptSource, counter: TokenCounter) -> _Fixed:
    """Only host text, host tools and the message. What is too large by the estimate may still fit by
    the count, so the margin gives way before anything is refused; memagent's own framing (roles, the
    start of the reply) is paid from the reply's room."""
    bare = host_only(source.offer)
    window_tokens = source.budget.window_tokens
    exact = replace(source.budget, reserve_tokens=MIN_REPLY_TOKENS, margin_percent=100)
    fixed = _fixed(source.current, exact, bare, ContextBlock(), Background(), counter)
    message = source.current.user
    parts = {
        "instructions": counter.text(bare.instructions),
        "tools": sum(counter.text(json.dumps(t, ensure_ascii=False, separators=(",", ":"))) for t in bare.host_tools),
        "newest message": counter.text(message.content if message else ""),
        "images": source.profile.image_tokens * len(message.images if message else ()),
    }
    if fixed.total_raw > window_tokens - 1 or sum(parts.values()) + MIN_REPLY_TOKENS > window_tokens:
        largest = max(parts, key=lambda name: parts[name])
        figures = ", ".join(f"{name} {size:,}" for name, size in parts.items())
        raise PromptTooLargeError(
            f"this cannot fit into the model's window of {window_tokens:,} tokens: {figures}, and {MIN_REPLY_TOKENS} "
            f"for a reply. Shorten the {largest}, or use a model with a larger window."
        )
    reserve = min(exact.reserve_tokens, window_tokens - fixed.total_raw)
    margin = max(100, (window_tokens - reserve) * 100 // fixed.total_raw)
    source_text = "what is left of the window"
    return replace(
        fixed, budget=replace(exact, reserve_tokens=reserve, margin_percent=margin, margin_source=source_text)
    )


def _fixed(
    current: Exchange, budget: Budget, offer: Offer, block: ContextBlock, background: Background, counter: TokenCounter
) -> _Fixed:
    own_text = offer.system_text()
    system = _system(own_text, background.text)
    system_raw = counter.message(system) if system else 0
    others_raw = _size(_system(own_text, replace(background, profile="").text), counter)
    user = user_message(current, block.render())
    return _Fixed(
        budget=budget,
        offer=offer,
        block=block,
        system=system,
        user=user,
        system_raw=system_raw,
        summaries_raw=others_raw - _size(_system(own_text, ""), counter) if background else 0,
        profile_raw=system_raw - others_raw if background.profile else 0,
        tools_raw=counter.tools(offer.tools) if offer.tools else 0,
        user_raw=counter.message(user),
        recalled_raw=block.recalled_raw(counter),
    )


def _system(own_text: str, background: str) -> Wire | None:
    text = "\n\n".join(part for part in (own_text, background) if part)
    return {"role": "system", "content": text} if text else None


def _size(message: Wire | None, counter: TokenCounter) -> int:
    return counter.message(message) if message else 0


def _estimated_sections(raw: dict[str, int], budget: Budget) -> dict[str, int]:
    """Estimates that add up to the estimate of the sum."""
    sections: dict[str, int] = {}
    done_raw = 0
    for name in SECTIONS:
        before = budget.estimated(done_raw)
        done_raw += raw[name]
        sections[name] = budget.estimated(done_raw) - before
    return sections


def _as_shown(candidates: Sequence[Candidate], block: ContextBlock) -> tuple[Candidate, ...]:
    shown = {line.memory_id for line in block.recalled}
    return tuple(
        c if c.included == (c.memory_id in shown) else c.model_copy(update={"included": False, "why": "no room left"})
        for c in candidates
    )


def _hash(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=12).hexdigest()

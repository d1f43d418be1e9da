"""How explanations of prompts look: what changed between two, where something is, whether one can be made again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from memagent.cli.render import printable

if TYPE_CHECKING:
    from memagent.agent.replaying import Replay
    from memagent.context.explain import PromptDiff, SectionChange, Whereabouts

SHOWN_IDS = 8


def diff_view(diff: PromptDiff) -> RenderableType:
    """What changed from the first prompt to the second: sections, then what came and went."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("section", f"prompt {diff.first}", f"prompt {diff.second}", "change"):
        table.add_column(name, justify="left" if name == "section" else "right")
    for change in (*diff.sections, diff.total):
        if change.before or change.after:
            table.add_row(*_row(change))
    begins = "begins with the first" if diff.cause is None else f"does not begin with the first: {diff.cause}"
    return Group(Text(f"the second prompt {begins}"), table, *(Text(printable(line)) for line in _changes(diff)))


def _row(change: SectionChange) -> tuple[str, ...]:
    return change.name, f"{change.before:,}", f"{change.after:,}", f"{change.after - change.before:+,}"


def _changes(diff: PromptDiff) -> list[str]:
    lines = [f"exchanges in the window: {diff.exchanges_before} → {diff.exchanges_after}"]
    if diff.window_began_at != diff.window_begins_at:
        lines.append(f"the window begins at entry {diff.window_begins_at}, no more at {diff.window_began_at}")
    if diff.margin_before != diff.margin_after:
        lines.append(f"margin: {diff.margin_before:.2f} → {diff.margin_after:.2f}")
    for what, ids in (
        ("summaries added", diff.summaries_added),
        ("summaries gone", diff.summaries_gone),
        ("tool results that are references now", diff.freed),
        ("tool results that are shown again", diff.shown_again),
        ("standing instructions added", diff.instructions_added),
        ("standing instructions gone", diff.instructions_gone),
        ("recalled for the newest message", diff.recalled),
        ("forgotten since", diff.forgotten),
        ("restored since", diff.restored),
    ):
        if ids:
            lines.append(f"{what}: {_some(ids)}")
    return lines


def _some(ids: Sequence[str]) -> str:
    more = f" and {len(ids) - SHOWN_IDS} more" if len(ids) > SHOWN_IDS else ""
    return ", ".join(ids[:SHOWN_IDS]) + more


def whereabouts_view(found: Whereabouts) -> RenderableType:
    """Where it is, or why it is not in the prompt, in one sentence."""
    of = f" of prompt {found.prompt}" if found.prompt else ""
    where = f"in the section {found.place!r}{of}" if found.shown else f"not in the prompt ({found.place}){of}"
    score = f" (score {found.score:.3f})" if found.score is not None else ""
    return Text(printable(f"{found.kind} {found.id}: {where}\n{found.why}{score}"))


def replay_view(replay: Replay) -> RenderableType:
    """Whether it could be made again, and what it says."""
    parts = [Text(f"prompt {replay.number}: {replay.status} — {replay.why}", style="bold")]
    for message in replay.messages:
        content = message.get("content") or ", ".join(c["function"]["name"] for c in message.get("tool_calls", ()))
        text = content if isinstance(content, str) else " ".join(part.get("text", "(image)") for part in content)
        parts.append(Text(f"{message['role']}: ", style="dim").append(printable(text), style="none"))
    return Group(*parts)

"""What is printed: tables, bars, JSON. Text of models, tools and people is shown as text, never as
terminal commands or markup."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TextIO, TypeVar

import typer
from pydantic_core import to_json
from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from memagent.errors import NotFoundError
from memagent.events import Notice

if TYPE_CHECKING:  # the chat's first prompt does not wait for the agent's modules
    from memagent import Agent, Event, HistoryHit, Manifest, Memory, Message, Recalled, Session, Summary

PIPE_COLUMNS = 200
BAR_CHARS = 60
SHOWN_CANDIDATES = 20

_SECTION_LOOKS = {
    "system": ("█", "S", "blue"),
    "tools": ("▓", "T", "cyan"),
    "profile": ("▒", "P", "magenta"),
    "summaries": ("░", "U", "yellow"),
    "window": ("▬", "W", "green"),
    "recalled": ("◆", "R", "red"),
    "current": ("●", "C", "white"),
}
_OTHER_LOOK = ("▪", "O", "white")
_FREE_LOOK = ("·", ".", "dim")
_CONTROLS = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\n\t"}

Item = TypeVar("Item")


def printable(text: str) -> str:
    """Text without the control characters a terminal would obey; line breaks and tabs stay."""
    return text.replace("\r\n", "\n").translate(_CONTROLS)


def console(file: TextIO) -> Console:
    """A console on a stream; not a terminal: no colour, wide lines."""
    return Console(
        file=file,
        width=None if file.isatty() else PIPE_COLUMNS,
        color_system="auto" if file.isatty() else None,
        markup=False,
        emoji=False,
        highlight=False,
    )


def warnings(events: Iterable[Event]) -> list[str]:
    """What the person must be told even where only the answer is wanted."""
    return [event.text for event in events if isinstance(event, Notice) and event.level != "info"]


# --- records -----------------------------------------------------------------------------------


def show(items: Sequence[Item], *, as_json: bool, view: Callable[[Sequence[Item]], RenderableType]) -> None:
    """Prints records as a table or as a JSON list."""
    if as_json:
        typer.echo(to_json(list(items), indent=2).decode())
    else:
        console(sys.stdout).print(view(items))


def show_one(item: Item, *, as_json: bool, view: Callable[[Item], RenderableType]) -> None:
    """Prints one record, or its JSON."""
    if as_json:
        typer.echo(to_json(item, indent=2).decode())
    else:
        console(sys.stdout).print(view(item))


def sessions_table(sessions: Sequence[Session]) -> RenderableType:
    """One session a row."""
    if not sessions:
        return Text("no sessions yet")
    table = _table("session", "last used", "messages", "begins with", ids=1)
    for session in sessions:
        table.add_row(session.id, when(session.last_at), str(session.message_count), _cell(session.title))
    return table


def memories_table(memories: Sequence[Memory]) -> RenderableType:
    """One memory a row."""
    if not memories:
        return Text("no memories yet")
    table = _table("id", "kind", "said", "by", "text", ids=1)
    for memory in memories:
        table.add_row(memory.id, memory.kind, when(memory.said_at), by(memory), _cell(memory.text))
    return table


def recalled_table(found: Sequence[Recalled]) -> RenderableType:
    """One found memory a row, with its score and why."""
    if not found:
        return Text("nothing found")
    table = _table("id", "score", "kind", "said", "text", "why", ids=1)
    for hit in found:
        memory = hit.memory
        table.add_row(
            memory.id, f"{hit.score:.3f}", memory.kind, when(memory.said_at), _cell(memory.text), _cell(str(hit.why))
        )
    return table


def history_table(found: Sequence[HistoryHit]) -> RenderableType:
    """One place in the history a row."""
    if not found:
        return Text("nothing found")
    table = _table("entry", "session", "said", "by", "text", ids=1)
    for hit in found:
        by = f"{hit.role} {printable(hit.tool)}" if hit.tool else str(hit.role)
        about = f"({hit.about}) " if hit.about else ""
        table.add_row(hit.entry_id, hit.session_id, when(hit.at), _cell(by), _cell(f"{about}{hit.snippet}", 600))
    return table


def models_table(models: Sequence[Mapping[str, object]]) -> RenderableType:
    """One model file a row."""
    table = _table("name", "MB", "licence", "what it is", "file", ids=1)
    for model in models:
        size = f"{int(str(model['size_bytes'])) / 1e6:,.0f}"
        table.add_row(str(model["name"]), size, str(model["licence"]), str(model["title"]), str(model["path"] or "-"))
    return table


def memory_of(agent: Agent, beginning: str) -> Memory:
    """The memory with this id, or the only one whose id begins so. Raises NotFoundError."""
    if beginning:
        with contextlib.suppress(NotFoundError):  # a whole id is looked up, not looked for among all
            return agent.show(beginning).memory
    memories = agent.memories(kind=None)
    found = [memory for memory in memories if beginning and memory.id.startswith(beginning)]
    if len(found) == 1:
        return found[0]
    if found:
        raise NotFoundError(f"{len(found)} memories have an id that begins with {beginning!r}; give more of it")
    raise NotFoundError(f"no memory has the id {beginning!r}; `memagent memory list` shows them")


# --- the prompt --------------------------------------------------------------------------------


def manifest_of(agent: Agent, text: str | None) -> Manifest:
    """The manifest of the session's last prompt, or of the one that asking ``text`` would make. Raises
    NotFoundError if nothing was sent yet."""
    if text is not None:
        return agent.preview(text).manifest
    last = agent.last_manifest()
    if last is None:
        raise NotFoundError('no prompt was sent in this session yet; `memagent context show "TEXT"` shows one unsent')
    return last


def summaries_view(summaries: Sequence[Summary]) -> RenderableType:
    """The summaries that prompts show, oldest first."""
    if not summaries:
        return Text("nothing of this session is summarised")
    parts: list[RenderableType] = []
    for summary in summaries:
        made = {"model": "", "extract": ", extracted: no model could summarise yet", "person": ", reworded by hand"}
        head = f"{summary.id} ({summary.level}, {summary.tokens:,} tokens for {summary.source_tokens:,}"
        parts += [Text(f"{head}{made[summary.made_by]})", style="bold"), Text(printable(summary.text)), Text()]
    return Group(*parts[:-1])


def messages_view(messages: Sequence[Message]) -> RenderableType:
    """Messages as they were said, oldest first."""
    lines: list[Text] = []
    for message in messages:
        said = message.content or ", ".join(f"{call.name}({call.arguments})" for call in message.calls)
        head = Text(f"{message.at:%Y-%m-%d %H:%M} {message.role.value}: ", style="dim")
        lines.append(head.append(printable(said), style="none"))
    return Group(*lines) if lines else Text("nothing was said there")


def manifest_view(manifest: Manifest, console: Console) -> RenderableType:
    """A prompt's account: what takes how much, as a bar and a table, then the memories considered."""
    parts: list[RenderableType] = [_totals(manifest), _bar(manifest, console), _sections(manifest, console)]
    if manifest.candidates:
        parts += [Text(), _candidates(manifest)]
    return Group(*parts)


def _totals(manifest: Manifest) -> Text:
    lines = [
        f"{manifest.model}: {manifest.total_tokens:,} of {manifest.budget_tokens:,} tokens; "
        f"window {manifest.window_tokens:,} ({manifest.window_source}), "
        f"{manifest.reserve_tokens:,} kept for the reply, margin {manifest.margin:.2f} ({manifest.margin_source})",
        f"exchanges: {manifest.window_exchanges} in the window, {manifest.left_out_exchanges} left out; "
        f"compaction: {manifest.compaction}; changed at its beginning: {manifest.prefix_break or 'no'}",
        *manifest.shortened,
    ]
    return Text(printable("\n".join(lines)))


def _look(name: str, console: Console) -> tuple[str, str]:
    """The character and the style that stand for a section, in what the stream can encode."""
    drawn, letter, style = _FREE_LOOK if name == "free" else _SECTION_LOOKS.get(name, _OTHER_LOOK)
    return (drawn if console.encoding.lower().startswith("utf") else letter), style


def _bar(manifest: Manifest, console: Console) -> Text:
    """BAR_CHARS characters for the budget; a section that has tokens has at least one."""
    bar = Text()
    whole = max(manifest.budget_tokens, 1)
    for name, tokens in manifest.sections.items():
        if tokens > 0:
            mark, style = _look(name, console)
            bar.append(mark * max(1, round(tokens / whole * BAR_CHARS)), style=style)
    mark, style = _look("free", console)
    return bar.append(mark * (BAR_CHARS - len(bar)), style=style)


def _sections(manifest: Manifest, console: Console) -> Table:
    table = _table("", "section", "tokens", "share")
    whole = max(manifest.budget_tokens, 1)
    free = manifest.budget_tokens - manifest.total_tokens
    for name, tokens in (*manifest.sections.items(), ("free", free)):
        mark, style = _look(name, console)
        table.add_row(Text(mark, style=style), name, f"{tokens:,}", f"{tokens / whole:.1%}")
    for column in (2, 3):
        table.columns[column].justify = "right"
    return table


def _candidates(manifest: Manifest) -> Table:
    table = _table("", "score", "kind", "memory", "why")
    for candidate in manifest.candidates[:SHOWN_CANDIDATES]:
        table.add_row(
            "in" if candidate.included else "out",
            f"{candidate.score:.3f}",
            str(candidate.kind),
            _cell(candidate.text),
            _cell(str(candidate.why)),
        )
    return table


# --- cells -------------------------------------------------------------------------------------


def _table(*columns: str, ids: int = 0) -> Table:
    """A plain table; the first ``ids`` columns are never wrapped, so that they can be copied."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for number, name in enumerate(columns):
        table.add_column(name, no_wrap=number < ids, overflow="fold")
    return table


def _cell(text: str, limit: int = 300) -> Text:
    line = " ".join(printable(text).split())
    return Text(line if len(line) <= limit else f"{line[: limit - 1]}…")


def by(memory: Memory) -> str:
    """Whose statement a memory is."""
    return printable(memory.speaker or memory.trust)


def when(at: datetime) -> str:
    """A time as the person's clock shows it."""
    return at.astimezone().strftime("%Y-%m-%d %H:%M")

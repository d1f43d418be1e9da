"""What the person asked, in a message, not to have remembered: that message, or the exchange before it too.

What is journalled already cannot change: a mark names it. Whoever writes the message writes its mark with it, in
one append, so that no crash leaves the one without the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from memagent.agent.exchange_journal import exchange_entries
from memagent.agent.rooms import Rooms
from memagent.agent.session_view import SessionView
from memagent.context.directives.discretion import discretion
from stores.records import Mark, MarkKind, Message, MessageRole


async def said_before(rooms: Rooms, view: SessionView) -> list[Message]:
    """The messages of the newest exchange that the view shows, all of them, oldest first; [] if there is none."""
    newest = view.newest_entries
    if not newest:
        return []
    entries = await exchange_entries(rooms, view.session_id, newest[0].exchange_id)
    return [entry for entry in entries if isinstance(entry, Message)]


def discreet(entries: Sequence[Message], *, private: bool, kept: Sequence[Message] = ()) -> list[Message | Mark]:
    """The entries as they are to be journalled, without those that are in ``kept``: messages of the session that
    are in the journal already. Not to be remembered are, in a private session, all; else the exchanges in which
    the person asked for it, and those before them where that was said. Pure."""
    known = {message.id: message for message in kept}
    fresh = [entry for entry in entries if entry.id not in known]
    order = _exchanges([*kept, *entries])
    hidden = {message.exchange_id for message in kept if not message.remember}
    marks: dict[str, Mark] = {}
    for entry in fresh:
        asked = discretion(entry.content) if entry.role is MessageRole.USER else "none"
        if asked == "none":
            continue
        place = order.index(entry.exchange_id)
        about = order[place - 1 : place + 1] if asked == "previous" and place else [entry.exchange_id]
        hidden.update(about)
        named = [message.id for message in kept if message.exchange_id in about and message.remember]
        if named:
            marks[entry.id] = _mark(entry, named)
    written: list[Message | Mark] = []
    for entry in fresh:
        off = private or entry.exchange_id in hidden
        written.append(entry.model_copy(update={"remember": False}) if off else entry)
        written += [marks[entry.id]] if entry.id in marks else []
    return written


def batches(entries: Sequence[Message | Mark], size: int) -> Iterator[Sequence[Message | Mark]]:
    """Slices of about ``size``, in which a message and the marks that follow it stay together."""
    start = 0
    while start < len(entries):
        end = start + size
        while end < len(entries) and isinstance(entries[end], Mark):
            end += 1
        yield entries[start:end]
        start = end


def _exchanges(messages: Iterable[Message]) -> list[str]:
    """In their order. A host's note is none."""
    return list(dict.fromkeys(each.exchange_id for each in messages if each.role is not MessageRole.NOTE))


def _mark(asking: Message, named: Sequence[str]) -> Mark:
    """Its id follows from the message, so that a repeat adds no second one."""
    return Mark(
        id=f"{asking.id}-takes-back",
        session_id=asking.session_id,
        exchange_id=asking.exchange_id,
        at=asking.at,
        zone=asking.zone,
        what=MarkKind.NOT_REMEMBERED,
        data={"entry_ids": list(named)},
    )

"""Transcripts from elsewhere as journal entries. Pure."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, cast
from zoneinfo import ZoneInfo

from memagent.errors import MemagentError
from memagent.sanitize import clean_foreign, clean_text
from stores.records import ImagePart, Message, MessageRole, ToolCall

_YEARS = range(2, 9_999)
"""Those that exist in every time zone; some exports write the year 1 for "unknown"."""

_ROLES = {
    "user": MessageRole.USER,
    "human": MessageRole.USER,
    "assistant": MessageRole.ASSISTANT,
    "ai": MessageRole.ASSISTANT,
    "tool": MessageRole.TOOL,
    "function": MessageRole.TOOL,
    "system": MessageRole.NOTE,
    "developer": MessageRole.NOTE,
}


def entries_of(
    messages: Iterable[Mapping[str, Any]],
    *,
    session_id: str,
    zone: str,
    now: datetime,
    new_id: Callable[[], str],
    open_exchange_id: str | None,
) -> Iterator[Message]:
    """Entries in the order given. A user message opens an exchange, and so does an assistant message
    after a final answer; ``open_exchange_id`` is an exchange that still waits for its answer. A
    system message becomes a host's note. ``at`` may be a datetime or ISO text; without a zone it is
    the person's time. Raises MemagentError naming the message that cannot be read."""
    exchange_id, answered = open_exchange_id, False
    for number, raw in enumerate(messages, start=1):
        try:
            message = _message(raw, session_id, zone, now, new_id)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise MemagentError(
                f"message {number} of the transcript cannot be read: {error}. Nothing was stored."
            ) from error
        opens = message.role is MessageRole.USER or exchange_id is None or answered
        if message.role is MessageRole.NOTE:
            yield message.model_copy(update={"exchange_id": message.id})
            continue
        if opens and not (message.role is MessageRole.TOOL and exchange_id is not None):
            exchange_id = message.id
        answered = message.role is MessageRole.ASSISTANT and not message.calls
        yield message.model_copy(update={"exchange_id": exchange_id})


def _message(raw: Mapping[str, Any], session_id: str, zone: str, now: datetime, new_id: Callable[[], str]) -> Message:
    role = _ROLES.get(str(raw["role"]).lower()) if "role" in raw else None
    if role is None:
        raise ValueError(f"its role is {raw.get('role')!r}; known are {', '.join(sorted(_ROLES))}")
    content, images = _content(raw.get("content"))
    entry_id = clean_text(str(raw.get("id") or "")) or new_id()
    return Message(
        id=entry_id,
        session_id=session_id,
        exchange_id=entry_id,
        at=_time(raw.get("at"), zone, now),
        zone=zone,
        role=role,
        content=clean_foreign(content),
        images=images,
        name=clean_text(str(raw["name"])) if raw.get("name") else None,
        calls=tuple(_call(call, new_id) for call in raw.get("tool_calls") or ()),
        call_id=clean_text(str(raw["tool_call_id"])) if raw.get("tool_call_id") else None,
        imported=True,
    )


def _content(value: Any) -> tuple[str, tuple[ImagePart, ...]]:
    if value is None:
        return "", ()
    if isinstance(value, str):
        return value, ()
    if not isinstance(value, Sequence):
        return json.dumps(value, ensure_ascii=False, default=str), ()
    texts: list[str] = []
    images: list[ImagePart] = []
    for part in cast(Sequence[Any], value):
        if isinstance(part, str):
            texts.append(part)
        elif part.get("type") == "image_url":
            source: Any = part["image_url"]
            images.append(ImagePart(url=clean_text(source if isinstance(source, str) else source["url"])))
        else:
            texts.append(str(part.get("text", "")))
    return "\n".join(texts), tuple(images)


def _call(raw: Mapping[str, Any], new_id: Callable[[], str]) -> ToolCall:
    function = raw.get("function") or raw
    arguments = function.get("arguments")
    return ToolCall(
        id=clean_text(str(raw.get("id") or "")) or new_id(),
        name=clean_text(str(function["name"])),
        arguments=_arguments(arguments),
    )


def _arguments(value: Any) -> str:
    """Arguments as the text of a JSON object, whatever they were; a strict server refuses anything else."""
    if isinstance(value, str) and value.strip():
        try:
            value = _strict(value)
        except json.JSONDecodeError:
            value = {"_invalid": value}
    if not isinstance(value, Mapping):
        value = {} if value in (None, "") else {"_value": value}
    return clean_text(json.dumps(_strict(json.dumps(value)), ensure_ascii=False))


def _strict(text: str) -> Any:
    return json.loads(text, parse_constant=lambda _: None)  # NaN and infinities are no JSON


def _time(value: Any, zone: str, now: datetime) -> datetime:
    if value is None:
        return now
    time = value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
    if time.year not in _YEARS:
        raise ValueError(f"its time is {value}; leave 'at' out if it is not known")
    return time.replace(tzinfo=ZoneInfo(zone)) if time.tzinfo is None else time

"""Transcripts of other programs: ChatGPT's and Claude's export files, and JSON lines of messages. Pure.

What is imported is what was said elsewhere. System messages are left out: nobody said them here, and what
an import holds must not become an instruction.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from memagent.errors import MemagentError

_SYSTEM = ("system", "developer")
_NAMED_PARTS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
}


@dataclass(frozen=True, slots=True)
class Conversation:
    """``messages`` as `agent.ingest` takes them, each with an id of its own. ``left_out``: how many were system
    messages."""

    session_id: str
    messages: Sequence[Mapping[str, Any]]
    left_out: int = 0


class TranscriptError(MemagentError):
    """A file holds no transcript that is understood."""


def conversations(text: str) -> tuple[str, list[Conversation]]:
    """What a file holds: its kind ("chatgpt", "claude", "messages"), and its conversations. Raises
    TranscriptError naming the first that cannot be read."""
    value = _parsed(text)
    if isinstance(value, dict):
        value = [cast("dict[str, Any]", value)]
    if not isinstance(value, list) or not value:
        raise TranscriptError("it holds no conversation")
    items = cast("list[Any]", value)
    if any(not isinstance(item, dict) for item in items):
        raise TranscriptError("it holds something else than objects")
    for key, kind, read in (("mapping", "chatgpt", _chatgpt), ("chat_messages", "claude", _claude)):
        if any(key in item for item in items):
            return kind, [_read(read, item, number) for number, item in enumerate(items, start=1)]
    if all("messages" in item and "role" not in item for item in items):
        return "messages", [_messages(item["messages"]) for item in items]
    return "messages", [_messages(items)]


def _parsed(text: str) -> Any:
    """JSON, or JSON lines."""
    text = text.lstrip("\N{BYTE ORDER MARK}").strip()
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    values: list[Any] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            try:
                values.append(json.loads(line))
            except (ValueError, RecursionError) as error:
                raise TranscriptError(f"line {number} is no JSON: {error}") from error
    return values


def _read(read: Any, item: Mapping[str, Any], number: int) -> Conversation:
    try:
        return read(item)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, OSError) as error:
        title = str(item.get("title") or item.get("name") or "")[:40]
        name = f" ({title!r})" if title else ""
        raise TranscriptError(f"conversation {number}{name} cannot be read: {_why(error)}") from error


def _why(error: Exception) -> str:
    return f"{error} is missing" if isinstance(error, KeyError) else str(error)


# --- ChatGPT -----------------------------------------------------------------------------------


def _chatgpt(item: Mapping[str, Any]) -> Conversation:
    """The branch that was shown last: from ``current_node`` up to the root."""
    nodes: Mapping[str, Any] = item["mapping"]
    path: list[Mapping[str, Any]] = []
    seen: set[str] = set()
    name: str | None = item.get("current_node") or _newest(nodes)
    while name is not None and name not in seen:
        seen.add(name)
        path.append(nodes[name])
        name = nodes[name].get("parent")
    raw = [message for node in reversed(path) if (message := node.get("message"))]
    spoken = [m for m in raw if str(m["author"]["role"]) not in _SYSTEM]
    messages = [_chatgpt_message(message) for message in spoken]
    session_id = str(item.get("conversation_id") or item.get("id") or _digest(item))
    return Conversation(f"chatgpt-{session_id}", [m for m in messages if m["content"]], len(raw) - len(spoken))


def _newest(nodes: Mapping[str, Any]) -> str | None:
    leaves = [name for name, node in nodes.items() if not node.get("children")]
    return leaves[-1] if leaves else None


def _chatgpt_message(raw: Mapping[str, Any]) -> dict[str, Any]:
    content: Mapping[str, Any] = raw.get("content") or {}
    parts = content.get("parts")
    texts = [_chatgpt_part(part) for part in parts] if parts is not None else [str(content.get("text") or "")]
    message = {"role": str(raw["author"]["role"]), "content": "\n".join(t for t in texts if t), "id": str(raw["id"])}
    if message["role"] == "tool" and raw["author"].get("name"):
        message["name"] = str(raw["author"]["name"])
    if isinstance(raw.get("create_time"), int | float):
        message["at"] = datetime.fromtimestamp(raw["create_time"], UTC).isoformat()
    return message


def _chatgpt_part(part: Any) -> str:
    if part is None or isinstance(part, str):
        return part or ""
    kind = str(part.get("content_type") or "part")
    return str(part["text"]) if part.get("text") else f"[{_NAMED_PARTS.get(kind, kind)}]"


# --- Claude ------------------------------------------------------------------------------------


def _claude(item: Mapping[str, Any]) -> Conversation:
    messages = [part for raw in item["chat_messages"] for part in _claude_messages(raw)]
    return Conversation(f"claude-{item.get('uuid') or _digest(item)}", [m for m in messages if m["content"]])


def _claude_messages(raw: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A message; files that were attached to it come before, as what a tool read: they are not its words."""
    base: dict[str, Any] = {"at": raw["created_at"]} if raw.get("created_at") else {}
    for number, file in enumerate(raw.get("attachments") or (), start=1):
        content = str(file.get("extracted_content") or "")
        name = str(file.get("file_name") or "attachment")
        yield {**base, "role": "tool", "name": name, "content": content, "id": f"{raw['uuid']}-{number}"}
    blocks = raw.get("content") or ()
    texts = [str(b["text"]) if b.get("text") else f"[{b.get('type') or 'part'}]" for b in blocks]
    names = [f"[file {f.get('file_name') or 'without a name'}]" for f in raw.get("files") or ()]
    text = "\n".join([*(texts or [str(raw.get("text") or "")]), *names]).strip()
    sender = "user" if raw["sender"] == "human" else str(raw["sender"])
    yield {**base, "role": sender, "content": text, "id": str(raw["uuid"])}


# --- messages ----------------------------------------------------------------------------------


def _messages(items: Any) -> Conversation:
    if not isinstance(items, list) or any(not isinstance(item, dict) for item in cast("list[Any]", items)):
        raise TranscriptError("its messages are no objects with role and content")
    raw = cast("list[dict[str, Any]]", items)
    spoken = [item for item in raw if str(item.get("role")).lower() not in _SYSTEM]
    numbered = [{"id": f"m{number}", **item} for number, item in enumerate(spoken, start=1)]
    return Conversation(f"import-{_digest(raw)}", numbered, len(raw) - len(spoken))


def _digest(value: Any) -> str:
    return hashlib.blake2b(json.dumps(value, sort_keys=True, default=str).encode(), digest_size=8).hexdigest()

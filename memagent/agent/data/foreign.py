"""Transcripts of other programs: ChatGPT's and Claude's export files, and JSON lines of messages.

What is imported is what was said elsewhere. What the program itself put in (system messages, the person's
"custom instructions", thoughts of the model) is left out: nobody said it here, and what an import holds must
not become an instruction. What a tool was sent or returned is a tool's, never the person's words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from memagent.agent.data.talk_files import TalkFile, TranscriptError
from memagent.sanitize import clean_text

_SYSTEM = ("system", "developer")
_LEFT_OUT: Mapping[str, Any] = {"role": "system", "content": ""}
_NOT_SAID = ("user_editable_context", "model_editable_context", "thoughts", "reasoning_recap")
_NAMED_PARTS = {
    "image_asset_pointer": "image",
    "audio_asset_pointer": "audio",
    "video_container_asset_pointer": "video",
    "real_time_user_audio_video_asset_pointer": "audio",
}
EXPECTED = (
    "it is none of what can be imported: an export of memagent, conversations.json of ChatGPT or Claude (or the zip "
    "file it came in), or messages as JSON lines, each with role and content"
)
_EARLIEST, _LATEST = datetime(1990, 1, 1, tzinfo=UTC).timestamp(), datetime(2200, 1, 1, tzinfo=UTC).timestamp()
"""Other times are none: some exports write 0 or -1 for "unknown"."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """``messages`` as `agent.ingest` takes them, each with an id of its own; system messages stand for what is to
    be left out. ``name``: what an error calls it. May be read once."""

    kind: str
    session_id: str
    name: str
    messages: Iterable[Mapping[str, Any]]


def conversations(files: Sequence[TalkFile]) -> Iterator[Conversation]:
    """What the files hold, one after another. Raises TranscriptError naming the first that cannot be read."""
    found = False
    for file in files:
        first = next(file.values(), None)
        if first is None:
            continue
        found = True
        read = _reader(first)
        if read is None:
            yield _messages(file.values)
            continue
        for number, item in enumerate(file.values(), start=1):
            yield read(_object(item), number)
    if not found:
        raise TranscriptError(f"it holds no conversation. {EXPECTED.capitalize()}")


def _reader(first: Any) -> Callable[[Mapping[str, Any], int], Conversation] | None:
    """Who reads what begins so; None: the file is one list of messages."""
    item = _object(first)
    for key, read in (("mapping", _chatgpt), ("chat_messages", _claude), ("role", None)):
        if key in item:
            return read
    if "messages" in item:
        return _named
    raise TranscriptError(EXPECTED)


def _object(item: Any) -> Mapping[str, Any]:
    if not isinstance(item, dict):
        raise TranscriptError(
            f"it holds something else than objects ({json.dumps(item)[:40]}). {EXPECTED.capitalize()}"
        )
    return cast("dict[str, Any]", item)


def _conversation(
    kind: str,
    read: Callable[[Mapping[str, Any]], tuple[str, Sequence[Mapping[str, Any]]]],
    item: Mapping[str, Any],
    number: int,
) -> Conversation:
    title = clean_text(str(item.get("title") or item.get("name") or ""))[:40]
    name = f"conversation {number}" + (f" ({title!r})" if title else "")
    try:
        session_id, messages = read(item)
        said = list(_distinct(_timed(messages, _time(item.get("create_time") or item.get("created_at")))))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        why = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        raise TranscriptError(f"{name} cannot be read: {why}") from error
    return Conversation(kind, clean_text(f"{kind}-{session_id}"), name, said)


# --- ChatGPT -----------------------------------------------------------------------------------


def _chatgpt(item: Mapping[str, Any], number: int) -> Conversation:
    return _conversation("chatgpt", _chatgpt_branch, item, number)


def _chatgpt_branch(item: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    """The branch that was shown last: from ``current_node`` up to the root."""
    nodes: Mapping[str, Any] = item["mapping"] or {}
    path: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    name: str | None = item.get("current_node") or _newest(nodes)
    if name is not None and name not in nodes:
        raise KeyError(name)
    while name is not None and name in nodes and name not in seen:
        seen.add(name)
        node: Mapping[str, Any] = nodes[name] or {}
        path.append((name, node))
        name = node.get("parent")
    raw = [(name, message) for name, node in reversed(path) if (message := node.get("message"))]
    messages = [_chatgpt_message(name, message) for name, message in raw]
    return str(item.get("conversation_id") or item.get("id") or _digest(item)), messages


def _newest(nodes: Mapping[str, Any]) -> str | None:
    """The leaf written last, where the export does not say which was shown."""
    leaves: dict[str, Mapping[str, Any]] = {
        name: node.get("message") or {} for name, node in nodes.items() if node and not node.get("children")
    }
    return max(leaves, key=lambda name: _seconds(leaves[name].get("create_time")), default=None)


def _chatgpt_message(node: str, raw: Mapping[str, Any]) -> Mapping[str, Any]:
    author: Mapping[str, Any] = raw.get("author") or {}
    content: Mapping[str, Any] = raw.get("content") or {}
    details: Mapping[str, Any] = raw.get("metadata") or {}
    role = str(author.get("role") or "")
    hidden = details.get("is_visually_hidden_from_conversation") or details.get("is_user_system_message")
    if role in _SYSTEM or hidden or content.get("content_type") in _NOT_SAID:
        return _LEFT_OUT
    parts = content.get("parts")
    texts = [content.get("text") or content.get("result")] if parts is None else map(_chatgpt_part, parts)
    text = "\n".join(str(each) for each in texts if each)
    message: dict[str, Any] = {"role": role, "content": text, "id": str(raw.get("id") or node)}
    sent_to = raw.get("recipient") or "all"
    if role == "assistant" and sent_to != "all":
        message |= {"role": "tool", "name": str(sent_to)}
    elif role == "tool" and author.get("name"):
        message["name"] = str(author["name"])
    if at := _time(raw.get("create_time")):
        message["at"] = at
    return message


def _chatgpt_part(part: Any) -> str:
    if isinstance(part, str) or part is None:
        return part or ""
    if not isinstance(part, dict):
        return json.dumps(part)
    fields = cast("dict[str, Any]", part)
    kind = str(fields.get("content_type") or "part")
    return str(fields["text"]) if fields.get("text") else f"[{_NAMED_PARTS.get(kind, kind)}]"


# --- Claude ------------------------------------------------------------------------------------


def _claude(item: Mapping[str, Any], number: int) -> Conversation:
    return _conversation("claude", _claude_chat, item, number)


def _claude_chat(item: Mapping[str, Any]) -> tuple[str, Sequence[Mapping[str, Any]]]:
    messages = [part for raw in item["chat_messages"] or () if raw for part in _claude_messages(raw)]
    return str(item.get("uuid") or _digest(item)), messages


def _claude_messages(raw: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """A message; files that were attached to it, and what tools returned for it, come before as a tool's: they are
    not its words."""
    base: dict[str, Any] = {"at": at} if (at := _time(raw.get("created_at"))) else {}
    files: list[Mapping[str, Any]] = [file for file in raw.get("attachments") or () if file]
    for number, file in enumerate(files, start=1):
        content = str(file.get("extracted_content") or "")
        name = str(file.get("file_name") or "attachment")
        yield {**base, "role": "tool", "name": name, "content": content, "id": f"{raw['uuid']}-{number}"}
    texts: list[str] = []
    blocks = [block for block in raw.get("content") or () if block]
    for number, block in enumerate(blocks, start=1):
        kind = str(block.get("type") or "part")
        if kind == "tool_result":
            name, content = str(block.get("name") or "tool"), _claude_result(block.get("content"))
            yield {**base, "role": "tool", "name": name, "content": content, "id": f"{raw['uuid']}-r{number}"}
        elif kind not in ("thinking", "redacted_thinking", "tool_use", "token_budget"):
            texts.append(str(block.get("text") or ("" if kind == "text" else f"[{kind}]")))
    names = [f"[file {f.get('file_name') or 'without a name'}]" for f in raw.get("files") or () if f]
    said = "\n".join(filter(None, texts)) if blocks else str(raw.get("text") or "")
    text = "\n".join([said, *names]).strip()
    sender = "user" if raw["sender"] == "human" else str(raw["sender"])
    yield {**base, "role": sender, "content": text, "id": str(raw["uuid"])}


def _claude_result(content: Any) -> str:
    parts = cast("list[Any]", content) if isinstance(content, list) else [content]
    return "\n".join(
        str(cast("dict[str, Any]", part).get("text") or "") if isinstance(part, dict) else str(part or "")
        for part in parts
    ).strip()


# --- messages ----------------------------------------------------------------------------------


def _named(item: Mapping[str, Any], number: int) -> Conversation:
    """An object with a list of messages."""
    messages = item.get("messages")
    if not isinstance(messages, list) or any(not isinstance(one, dict) for one in cast("list[Any]", messages)):
        raise TranscriptError(f"the messages of conversation {number} are no objects with role and content")
    return _messages(lambda: iter(cast("list[Any]", messages)))


def _messages(values: Callable[[], Iterator[Any]]) -> Conversation:
    """All values are messages of one conversation. The name of its session follows from all of them."""
    hashed = hashlib.blake2b(b"[", digest_size=8)
    for number, value in enumerate(values()):
        hashed.update((", " if number else "").encode() + _dumped(_object(value)))
    hashed.update(b"]")
    said = _distinct(_timed(_numbered(map(_object, values())), None))
    return Conversation("messages", f"import-{hashed.hexdigest()}", "", said)


def _numbered(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    number = 0
    for message in messages:
        number += str(message.get("role")).lower() not in _SYSTEM
        yield {**message, "id": message.get("id") or f"m{number}"}


# --- for all -----------------------------------------------------------------------------------


def _timed(messages: Iterable[Mapping[str, Any]], start: str | None) -> Iterator[Mapping[str, Any]]:
    """A message without a time has that of the one before, or of the conversation."""
    last: Any = start
    for message in messages:
        last = message.get("at") or last
        yield {**message, "at": last}


def _distinct(messages: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Without repeats, and without messages that hold nothing; what says something else under the same id gets
    another one."""
    known: dict[str, set[int]] = {}
    for message in messages:
        if not (message.get("content") or message.get("tool_calls") or message.get("role") in _SYSTEM):
            continue
        said = hash((message.get("role"), json.dumps(message.get("content"), default=str)))
        there = known.setdefault(str(message.get("id")), set())
        if said in there and message.get("role") not in _SYSTEM:
            continue
        yield {**message, "id": f"{message['id']}-{len(there) + 1}"} if there and "id" in message else message
        there.add(said)


def _time(value: Any) -> str | None:
    """In ISO format, from seconds since 1970 or from ISO text; None for what is none."""
    if isinstance(value, str):
        try:
            at = datetime.fromisoformat(value)
        except ValueError:
            return None
        return at.isoformat() if 1990 <= at.year < 2200 else None
    seconds = _seconds(value)
    return datetime.fromtimestamp(seconds, UTC).isoformat() if seconds else None


def _seconds(value: Any) -> float:
    """Since 1970; 0 for what is no time."""
    usable = isinstance(value, int | float) and not isinstance(value, bool) and _EARLIEST <= value < _LATEST
    return float(value) if usable else 0.0


def _digest(value: Any) -> str:
    return hashlib.blake2b(_dumped(value), digest_size=8).hexdigest()


def _dumped(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, default=str).encode()

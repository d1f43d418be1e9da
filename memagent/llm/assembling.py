"""Putting a streamed reply together from its chunks, whatever the server's habits.

Chunks are plain dicts as the server sent them; nothing in them is taken on trust.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, cast

import json_repair

from memagent.events import Usage
from memagent.llm.text_calls import new_call_id, object_text
from stores.records import ToolCall

UNPARSED = "unparsed_arguments"
"""The one argument of a call whose own arguments were not a JSON object; its value is their beginning."""
_UNPARSED_CHARS = 500
_ILLEGAL_IN_NAME = re.compile(r"[^A-Za-z0-9_-]")


@dataclass(slots=True)
class _Draft:
    index: int | None
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(slots=True)
class Assembly:
    """A reply in the making: `add` each chunk, read the rest when the stream has ended.

    ``finish_reason`` is the server's own word, None until it came. ``usage`` is the last reported
    one, None if none was or it was all zero.
    """

    tool_names: Collection[str] = ()
    finish_reason: str | None = None
    usage: Usage | None = None
    _drafts: list[_Draft] = field(default_factory=list["_Draft"])
    _half_char: str = ""

    def add(self, chunk: Mapping[str, Any]) -> str:
        """Takes in a chunk and returns its text, possibly ""."""
        self.usage = _usage(chunk.get("usage")) or self.usage
        text = ""
        for choice in _dicts(chunk.get("choices")):
            # A server that answers a streamed request in one piece says "message" for "delta".
            delta = _fields(choice.get("delta")) or _fields(choice.get("message"))
            text += _text(delta.get("content"))
            for fragment in _dicts(delta.get("tool_calls")):
                self._fragment(fragment)
            self.finish_reason = choice.get("finish_reason") or self.finish_reason
        return self._valid(text)

    def _valid(self, text: str) -> str:
        """Text as valid UTF-8. Some servers cut an emoji's two halves apart: they are joined again."""
        text, self._half_char = self._half_char + text, ""
        if text and "\ud800" <= text[-1] <= "\udbff":
            text, self._half_char = text[:-1], text[-1]
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace") if text else ""

    def calls(self, *, whole_only: bool = False) -> list[ToolCall]:
        """The calls in order of first appearance, each with a unique id and an object as arguments.
        ``whole_only``: without those whose arguments are not JSON (the reply was cut)."""
        ids: set[str] = set()
        calls: list[ToolCall] = []
        for draft in self._drafts:
            if whole_only and not _is_object(draft.arguments):
                continue
            call_id = draft.id if draft.id and draft.id not in ids else new_call_id()
            ids.add(call_id)
            name = tool_name(draft.name, self.tool_names)
            calls.append(ToolCall(id=call_id, name=name, arguments=arguments_text(draft.arguments)))
        return calls

    def _fragment(self, fragment: Mapping[str, Any]) -> None:
        function = _fields(fragment.get("function"))
        arguments = function.get("arguments")
        if not isinstance(arguments, str):
            arguments = "" if arguments is None else json.dumps(arguments, ensure_ascii=False)
        index, call_id = fragment.get("index"), str(fragment.get("id") or "")
        name = str(function.get("name") or "")
        draft = self._draft_for(index if isinstance(index, int) else None, call_id, name, arguments)
        draft.id = draft.id or call_id
        draft.name = draft.name or name
        draft.arguments += arguments

    def _draft_for(self, index: int | None, call_id: str, name: str, arguments: str) -> _Draft:
        """The call a fragment belongs to: by id, then by index; more arguments after a whole object
        open the next call, for servers that give every call the same index, or none, and no ids."""
        same_id = [draft for draft in self._drafts if call_id and draft.id == call_id]
        same_index = [draft for draft in self._drafts if index is None or draft.index == index]
        current = (same_id or same_index or [None])[-1]
        if current is None or (call_id and current.id and current.id != call_id):
            return self._open(index)
        if same_id or (call_id and not current.name):
            return current
        other_name = bool(name and current.name and name != current.name)
        if other_name or (arguments.strip() and _is_object(current.arguments)):
            draft = self._open(index)
            draft.name = name or current.name
            return draft
        return current

    def _open(self, index: int | None) -> _Draft:
        draft = _Draft(index)
        self._drafts.append(draft)
        return draft


def tool_name(name: str, offered: Collection[str]) -> str:
    """The name as offered if only decoration differs (blanks, a "functions." prefix), else the name
    with illegal characters replaced, so that it can be sent back."""
    name = name.strip()
    bare = name.removeprefix("functions.")
    if name not in offered and bare in offered:
        return bare
    return _ILLEGAL_IN_NAME.sub("_", name)[:64] or "unnamed"


def arguments_text(text: str) -> str:
    """Arguments as the text of a JSON object. "" is {}. Light damage is repaired; what was cut off or
    is no object becomes ``{UNPARSED: its beginning}``, which every tool refuses and the model can read."""
    if not text.strip():
        return "{}"
    try:
        value: Any = json.loads(text, parse_constant=lambda _: None)
    except RecursionError:  # some thousand brackets inside one another
        return object_text(_unparsed(text))
    except ValueError:
        whole = text.strip().startswith("{") and text.strip().endswith("}") and text.count('"') % 2 == 0
        value = json_repair.loads(text, skip_json_loads=True) if whole else None
    try:
        return object_text(cast("dict[str, Any]", value) if isinstance(value, dict) else _unparsed(text))
    except (ValueError, RecursionError):  # a number beyond every float
        return object_text(_unparsed(text))


def _unparsed(text: str) -> dict[str, Any]:
    return {UNPARSED: text[:_UNPARSED_CHARS]}


def _is_object(text: str) -> bool:
    if not text.rstrip().endswith("}"):  # most pieces of a long argument text end here, cheaply
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _dicts(value: Any) -> list[dict[str, Any]]:
    if not isinstance(value, list):
        return []
    return [item for item in cast("list[Any]", value) if isinstance(item, dict)]


def _fields(value: Any) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(content: Any) -> str:
    """Content as text; some servers send a list of parts."""
    if isinstance(content, str):
        return content
    return "".join(str(part.get("text") or "") for part in _dicts(content))


def _usage(reported: Any) -> Usage | None:
    figures = _fields(reported)
    completion = _count(figures.get("completion_tokens"))
    prompt = _count(figures.get("prompt_tokens")) or max(0, _count(figures.get("total_tokens")) - completion)
    if not prompt and not completion:
        return None
    cached = _fields(figures.get("prompt_tokens_details")).get("cached_tokens")
    cached = cached if cached is not None else figures.get("prompt_cache_hit_tokens")  # DeepSeek
    return Usage(prompt_tokens=prompt, cached_tokens=_count(cached), completion_tokens=completion)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 0

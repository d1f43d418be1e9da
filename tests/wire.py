"""What a strict server demands of a request body, checked by the tests themselves (not by memagent's code).

W1–W4: tool results answer calls of the message before, each once; no empty assistant message; strict
JSON. I2: one system message, first; no two neighbours of one role except tool results. W5 is `prompt_tokens`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import tiktoken

from memagent.llm.tokens import TokenCounter

_TOOL_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_SPEAKER = re.compile(r"[^\s<|\\/>]{1,64}")
_SURROGATE = re.compile("[\ud800-\udfff]")
_FIELDS = {
    *("model", "messages", "tools", "tool_choice", "max_tokens", "max_completion_tokens", "temperature", "stream"),
    *("stream_options", "stop", "seed", "response_format", "top_p", "parallel_tool_calls", "cache_prompt"),
}


def parse_strict(raw: bytes) -> tuple[Any, list[str]]:
    """The body, and what is wrong with its encoding (W4)."""

    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not JSON")

    try:
        body = json.loads(raw.decode("utf-8"), parse_constant=refuse)
    except ValueError as error:
        return None, [f"W4: the body is not strict JSON in UTF-8: {error}"]
    bad = [text for text in _texts(body) if _SURROGATE.search(text)]
    return body, [f"W4: lone surrogate in {text[:40]!r}" for text in bad]


def violations(body: Any) -> list[str]:
    """What a strict server would refuse, in plain words; [] if nothing."""
    if not isinstance(body, dict):
        return ["the body is not an object"]
    found = [f"unknown field {field!r}" for field in body if field not in _FIELDS]
    if not isinstance(body.get("model"), str) or not body["model"]:
        found.append("no model")
    found += _tool_schemas(body)
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        return [*found, "no messages"]
    return [*found, *_roles(messages), *_contents(messages), *_pairs(messages)]


def prompt_tokens(body: Mapping[str, Any], encoding: str = "o200k_base") -> int:
    """The tests' own count of a request (W5): texts, call names and arguments, ids, schemas, overhead."""
    TokenCounter(encoding)  # loads the shipped vocabulary, so that tiktoken needs no network
    count = tiktoken.get_encoding(encoding).encode_ordinary
    total = 3
    for message in body["messages"]:
        total += 4
        content = message.get("content") or ""
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        total += sum(len(count(part["text"])) if part["type"] == "text" else 1_500 for part in parts)
        total += len(count(message.get("name") or "")) + len(count(message.get("tool_call_id") or ""))
        for call in message.get("tool_calls") or ():
            function = call["function"]
            total += 8 + sum(len(count(text)) for text in (call["id"], function["name"], function["arguments"]))
    for tool in body.get("tools") or ():
        total += 8 + len(count(json.dumps(tool, ensure_ascii=False, separators=(",", ":"))))
    return total


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner)


def _tool_schemas(body: Mapping[str, Any]) -> list[str]:
    if "tools" not in body:
        return ["tool_choice without tools"] if "tool_choice" in body else []
    tools = body["tools"]
    if not isinstance(tools, list) or not tools:
        return ["tools is empty"]
    names = [tool.get("function", {}).get("name", "") if isinstance(tool, dict) else "" for tool in tools]
    found = [f"tool name {name!r} is illegal" for name in names if not _TOOL_NAME.fullmatch(name)]
    found += [f"two tools are called {name!r}" for name in set(names) if names.count(name) > 1]
    for tool in tools:
        if tool.get("type") != "function" or not isinstance(tool["function"].get("parameters", {}), dict):
            found.append(f"tool {tool} is malformed")
    return found


def _roles(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    roles = [message.get("role") for message in messages]
    found = [f"unknown role {role!r}" for role in roles if role not in ("system", "user", "assistant", "tool")]
    if roles[0] != "system":
        found.append("I2: the first message is not the system message")
    if roles.count("system") > 1:
        found.append("I2: more than one system message")
    for index, (one, two) in enumerate(pairwise(roles)):
        if one == two != "tool":
            found.append(f"I2: messages {index} and {index + 1} are both {one}")
    if roles[-1] not in ("user", "tool"):
        found.append(f"the last message is {roles[-1]}")
    return found


def _contents(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    found: list[str] = []
    for index, message in enumerate(messages):
        content = message.get("content")
        if isinstance(content, list):
            blank = not content
            kinds = {part.get("type") if isinstance(part, dict) else None for part in content}
            if not kinds <= {"text", "image_url"}:
                found.append(f"message {index} has unknown parts: {kinds}")
        elif content is None or isinstance(content, str):
            blank = not (content or "").strip()
        else:
            blank = False
            found.append(f"message {index}: content is a {type(content).__name__}")
        if blank and not (message.get("role") == "assistant" and message.get("tool_calls")):
            found.append(f"W3: message {index} ({message.get('role')}) is blank")
        if "name" in message and not _SPEAKER.fullmatch(str(message["name"])):
            found.append(f"message {index}: illegal name {message['name']!r}")
    return found


def _pairs(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    found: list[str] = []
    open_ids: list[str] = []
    asked: set[str] = set()
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            call_id = message.get("tool_call_id")
            if call_id in open_ids:
                open_ids.remove(call_id)
            elif call_id in asked:
                found.append(f"W2: message {index} answers call {call_id!r} again")
            else:
                found.append(f"W1: message {index} answers {call_id!r}, which the message before did not ask")
            continue
        found += [f"W2: call {call_id!r} is not answered before message {index}" for call_id in open_ids]
        calls = message.get("tool_calls")
        if calls is not None and (message.get("role") != "assistant" or not calls):
            found.append(f"message {index}: tool_calls is empty or not the assistant's")
        found += [f"message {index}: {problem}" for call in calls or () for problem in _call_problems(call)]
        open_ids = [str(call.get("id")) for call in calls or ()]
        asked = set(open_ids)
        if len(asked) < len(open_ids):
            found.append(f"message {index}: two calls have one id")
    return found + [f"W2: call {call_id!r} is never answered" for call_id in open_ids]


def _call_problems(call: Mapping[str, Any]) -> list[str]:
    function = call.get("function") or {}
    if not call.get("id") or call.get("type") != "function" or not _TOOL_NAME.fullmatch(str(function.get("name"))):
        return [f"call {call} is malformed"]
    try:
        arguments = json.loads(function["arguments"])
    except (KeyError, TypeError, ValueError):
        return [f"W4: call {call['id']}: arguments are not JSON text"]
    return [] if isinstance(arguments, dict) else [f"W4: call {call['id']}: arguments are not an object"]


def count_text(text: str, encoding: str = "o200k_base") -> int:
    """The tests' own count of a text."""
    TokenCounter(encoding)
    return len(tiktoken.get_encoding(encoding).encode_ordinary(text))

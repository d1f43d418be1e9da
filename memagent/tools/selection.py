"""Which of too many tools are offered: whole groups, by what is talked about; the others can be found and used by
name. Pure."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from memagent.errors import ToolError
from memagent.tools.definition import Tool, tool
from stores.records import ToolCall
from stores.terms import document_terms, query_terms

FIND = "find_tools"
USE = "use_tool"
FOUND = 5
"""So many tools are described at once."""


def groups_of(tools: Sequence[Tool]) -> list[list[Tool]]:
    """The tools by group, in the order in which they were given; one in several groups is in the first of them, and
    one in none is a group by itself."""
    groups: dict[str, list[Tool]] = {}
    for each in tools:
        groups.setdefault(each.groups[0] if each.groups else f"\0{each.name}", []).append(each)
    return list(groups.values())


def selected(tools: Sequence[Tool], talk: str, most: int) -> list[Tool]:
    """At most so many tools, in the order in which they were given: the groups that fit the talk best, whole, then
    the first ones."""
    if len(tools) <= most:
        return list(tools)
    weigh = _weights(tools)
    words = set(query_terms(talk))
    ranked = sorted(groups_of(tools), key=lambda group: -max(weigh(each, words) for each in group))
    chosen: set[str] = set()
    for group in ranked:
        names = [each.name for each in group]
        if len(chosen) + len(names) <= most:
            chosen.update(names)
    return [each for each in tools if each.name in chosen]


def found(tools: Sequence[Tool], query: str) -> list[Tool]:
    """The tools that a query describes, best first; with nothing to tell them apart, none."""
    weigh = _weights(tools)
    words = set(query_terms(query))
    ranked = sorted(((weigh(each, words), each) for each in tools), key=lambda item: -item[0])
    return [each for weight, each in ranked[:FOUND] if weight > 0]


def finding_tools(tools: Sequence[Tool]) -> list[Tool]:
    """`find_tools` and `use_tool`, for those tools that are not offered by themselves."""

    @tool(name=FIND)
    def find(query: str) -> str:
        """Find further tools by what they do. Use it when no tool that you see fits; then call what you found with
        use_tool.

        Args:
            query: What the tool is to do, in a few words.
        """
        lines = [json.dumps(each.schema()["function"], ensure_ascii=False) for each in found(tools, query)]
        return "\n".join(lines) or f"No tool does that. All there are: {', '.join(each.name for each in tools)}"

    @tool(name=USE)
    def use(name: str, arguments: dict[str, object] | None = None) -> str:
        """Call a tool that find_tools found.

        Args:
            name: Its name.
            arguments: Its arguments, as find_tools describes them.
        """
        raise ToolError(f"there is no tool {name!r} to use; find_tools shows them")  # see `unwrapped`

    return [find, use]


def unwrapped(call: ToolCall, tools: Mapping[str, Tool]) -> ToolCall:
    """The call that is meant by a call of `use_tool`; any other call as it is."""
    own = tools.get(USE)
    if call.name != USE or (own is not None and own.function.__module__ != __name__):
        return call  # a host may have a tool of this name
    try:
        given: dict[str, Any] = json.loads(call.arguments)
        name: Any = given["name"]
        arguments: Any = given.get("arguments") or {}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return call
    if not isinstance(name, str) or name in (USE, FIND) or name not in tools:
        return call
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    return ToolCall(id=call.id, name=name, arguments=text)


def _weights(tools: Sequence[Tool]) -> Callable[[Tool, set[str]], float]:
    """How well words fit a tool: rare words weigh more, as inverse document frequency does."""
    terms = {each.name: set(document_terms(_described(each))) for each in tools}
    often = Counter(term for some in terms.values() for term in some)

    def weigh(each: Tool, words: set[str]) -> float:
        return sum(math.log(1 + len(tools) / often[term]) for term in words & terms[each.name])

    return weigh


def _described(each: Tool) -> str:
    fields = each.arguments.model_fields.items()
    parts = [f"{name.replace('_', ' ')} {field.description or ''}" for name, field in fields]
    return " ".join([each.name.replace("_", " "), each.description, *each.groups, *parts])

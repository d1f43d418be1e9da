"""memagent's own tools: what the model may do with memory."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Annotated, Literal

from pydantic import BeforeValidator

from memagent.agent.reading_back import Selection
from memagent.memory.recall import Recalled
from memagent.tools.definition import Tool, tool
from stores.records import Memory

Remember = Callable[[str], Awaitable[Memory]]
Recall = Callable[[str], Awaitable[Sequence[Recalled]]]
SearchHistory = Callable[[str, bool], Awaitable[str]]
"""Finds places in the history of this session, or (True) of all: lines for the model, "" for none."""
ExpandSummary = Callable[[str], Awaitable[str]]
ReadOutput = Callable[[str, Selection], Awaitable[str]]

_Selector = Annotated[str, BeforeValidator(lambda value: value if isinstance(value, str) else str(value))]
"""A model that means line 41 may write the number."""


def memory_tools(remember: Remember, recall: Recall) -> list[Tool]:
    """`recall` and `remember`, most useful first (small windows offer only the first)."""

    @tool(name="recall")
    async def recall_tool(query: str) -> str:
        """Search the notes of all earlier conversations. Use it when the question is about something
        the person said before and the <context> block does not answer it.

        Args:
            query: What to look for, in a few words, e.g. "sister city".
        """
        found = await recall(query)
        # one line each: a memory must not be able to pass for two
        lines = [
            f"- {item.memory.said_at:%Y-%m-%d}, {item.memory.trust.value}: {' '.join(item.memory.text.split())}"
            for item in found
        ]
        return "\n".join(lines) or "Nothing was found."

    @tool(name="remember")
    async def remember_tool(text: str) -> str:
        """Keep a fact about the person for later conversations. Use it only when the person asks you
        to remember something; everything said is kept anyway.

        Args:
            text: The fact as one full sentence, e.g. "The user's sister Maya lives in Lisbon."
        """
        memory = await remember(text)
        return f"Remembered: {memory.text}"

    return [recall_tool, remember_tool]


def history_tools(search: SearchHistory, expand: ExpandSummary) -> list[Tool]:
    """`search_history`: what was said or returned by tools, word for word; `expand_summary`: what a summary
    stands for."""

    @tool(name="search_history")
    async def search_history_tool(query: str, session: Literal["this", "all"] = "this") -> str:
        """Search the full record: every message and tool output, word for word, also what is no longer
        shown here. Each line found ends with a ref by which the rest can be read.

        Args:
            query: Words that stand in what you look for, e.g. "locker code Maya".
            session: "this" conversation, or "all" of them.
        """
        return await search(query, session == "all") or "Nothing was found."

    @tool(name="expand_summary")
    async def expand_summary_tool(summary: str) -> str:
        """Show the messages that a summary of earlier talk stands for, word for word.

        Args:
            summary: The id in the line "[summary ID]" above the summary.
        """
        return await expand(summary)

    return [search_history_tool, expand_summary_tool]


def reading_tool(read: ReadOutput) -> Tool:
    """`read_output`: what was shown only in part, page by page."""

    @tool(name="read_output")
    async def read_output(
        ref: str, lines: _Selector = "", chars: _Selector = "", grep: str = "", json_path: str = ""
    ) -> str:
        """Read a long result that was shown in part, by the ref in its notice; from the beginning
        unless a part is selected.

        Args:
            lines: "41-80", "41-", or "-40" for the last 40.
            chars: The same in characters.
            grep: A regular expression: gives the matching lines.
            json_path: e.g. "$.items[0].id".
        """
        return await read(ref, Selection(lines, chars, grep, json_path))

    return read_output

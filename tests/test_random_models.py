"""A model that does anything at all: the loop always ends, the history is always valid, and nothing with side effects
runs unapproved or twice."""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memagent import Agent, Decision, tool
from memagent.errors import MemagentError
from memagent.tools.definition import Tool
from stores.records import ToolCall
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, fail, say

TURNS = 10

texts = st.one_of(
    st.sampled_from(
        ["done", "", " ", "{", "```json\n{", '{"name": "look"}', "<tool_call>", "null", "好的", "\u202e\0"]
    ),
    st.text(max_size=40),
)
names = st.sampled_from(["look", "pay", "lok", "functions.look", "pya", "Pay", "", "nothing", "boom", "find_tools"])
arguments: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(['{"where": "a"}', '{"amount": 5}', '{"amount": "5"}', "{", "null", "[1]", "", '{"Amount": 6}']),
    st.dictionaries(
        st.sampled_from(["where", "amount", "x"]), st.one_of(st.integers(0, 3), st.text(max_size=4)), max_size=2
    ),
)
ids = st.sampled_from(["a", "b", "a", ""])
calls = st.lists(st.one_of(st.tuples(names, arguments), st.tuples(names, arguments, ids)), min_size=1, max_size=4)


@st.composite
def replies(draw: st.DrawFn) -> Any:
    """What the server answers."""
    kind = draw(st.sampled_from(["text", "calls", "calls", "both", "written", "broken", "failure"]))
    if kind == "text":
        return say(draw(texts))
    if kind == "written":
        written = [json.dumps({"name": n, "arguments": a}) for n, a, *_ in draw(calls)]
        return say(draw(st.sampled_from(["", "Well: "])) + "\n".join(written))
    if kind == "broken":
        return Reply(text=draw(texts), ending=draw(st.sampled_from(["close", "drop", "error"])))
    if kind == "failure":
        return fail(draw(st.sampled_from([400, 404, 500])))
    return Reply(text=draw(texts) if kind == "both" else "", calls=draw(calls))


decisions = st.sampled_from(
    [True, False, "always", None, Decision("no", "no"), Decision("yes", arguments={"amount": 9})]
)


@dataclass
class Money:
    """What was paid, and what was agreed to."""

    agreed: Counter[str] = field(default_factory=Counter[str])
    always: bool = False
    paid: Counter[str] = field(default_factory=Counter[str])

    def agree(self, arguments: str, decision: Any) -> None:
        """Notes what the person said."""
        self.always |= decision == "always"
        if isinstance(decision, Decision) and decision.arguments is not None:
            arguments = json.dumps(dict(decision.arguments))
        if decision in (True, "always") or (isinstance(decision, Decision) and decision.agreed):
            self.agreed[json.dumps(json.loads(arguments)["amount"])] += 1

    def tools(self) -> list[Tool]:
        @tool
        def look(where: str) -> str:
            """Looks."""
            return where

        @tool
        def boom() -> str:
            """Fails."""
            raise RuntimeError

        @tool(side_effect=True)
        def pay(amount: int) -> str:
            """Pays."""
            self.paid[json.dumps(amount)] += 1
            return "paid"

        return [look, boom, pay]


def talked(agent: Agent, messages: int, money: Money, later: list[Any]) -> None:
    """Some messages, each answered or refused in good order; waiting calls are decided as ``later`` says."""
    for number in range(messages):
        try:
            reply = agent.ask(f"message {number}")
        except MemagentError:
            continue
        while reply.finish_reason == "approval" and later and (waiting := agent.pending()):
            decision = later.pop(0)
            if decision is None:
                break  # the person goes on without deciding
            money.agree(waiting[0].arguments, decision)
            try:
                reply = agent.decide(waiting[0].id, decision)
            except MemagentError:
                break


@given(
    script=st.lists(replies(), max_size=12),
    answers=st.lists(decisions, max_size=12),
    later=st.booleans(),
    end=replies(),
)
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
def test_whatever_the_model_does(script: list[Any], answers: list[Any], later: bool, end: Any) -> None:
    money, given_answers = Money(), iter(answers)

    def approve(call: ToolCall) -> Any:
        decision = next(given_answers, False)
        money.agree(call.arguments, decision)
        return decision

    with ScriptedServer(script, default=end) as server, tempfile.TemporaryDirectory() as folder:
        options: dict[str, Any] = {"tools": money.tools(), "approve": "later" if later else approve}
        waiting = [each for each in answers if each != "always"] if later else []
        with agent_on(server, Path(folder), **options, session="s") as agent:
            talked(agent, 3, money, waiting)
        # and the same session in another process, as it were: nothing runs by itself
        before = money.paid.copy()
        with agent_on(server, Path(folder), **options, session="s") as agent:
            assert money.paid == before
            talked(agent, 1, money, waiting)
        assert server.violations == []
        assert len(server.bodies) <= len(script) + 4 * (TURNS + 3) * 3
    if not money.always:
        assert money.paid <= money.agreed, "it ran unapproved, or twice"

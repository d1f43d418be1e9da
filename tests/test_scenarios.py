"""What a model may do, in every way in which models call tools: each exchange ends honestly, runs what it may run, and
leaves a history that a strict server accepts.

A scenario is a list of steps; a dialect says how a model of its kind writes them.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, Decision, load_settings, tool
from memagent.events import Finished, StateChanged, ToolStarted
from memagent.tools.definition import Tool
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, Step

Calls = Sequence[tuple[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Say:
    """The model calls tools, or answers."""

    text: str = ""
    calls: Calls = ()


def native(step: Say) -> Step:
    """Function calls as servers send them."""
    return Reply(text=step.text, calls=[(name, dict(arguments)) for name, arguments in step.calls])


def written(render: Callable[[dict[str, Any]], str]) -> Callable[[Say], Step]:
    """Calls as text."""

    def dialect(step: Say) -> Step:
        calls = [render({"name": name, "arguments": dict(arguments)}) for name, arguments in step.calls]
        return "\n".join(calls) or step.text

    return dialect


def doubled(call: dict[str, Any]) -> str:
    return json.dumps(call).replace("{", "{{").replace("}", "}}")


DIALECTS: dict[str, Callable[[Say], Step]] = {
    "native": native,
    "bare": written(json.dumps),
    "doubled": written(doubled),
    "tagged": written(lambda call: f"<tool_call>\n{json.dumps(call)}\n</tool_call>"),
    "fenced": written(lambda call: f"```json\n{json.dumps(call, indent=1)}\n```"),
}


@dataclass
class World:
    """What the tools did."""

    ran: list[str] = field(default_factory=list[str])
    stop: Callable[[], object] = lambda: None

    @property
    def tools(self) -> list[Tool]:
        @tool
        def look(where: str) -> str:
            """Looks somewhere."""
            self.ran.append(f"look {where}")
            return f"{where}: 21 degrees"

        @tool
        def broken(what: str = "") -> str:
            """Fails."""
            raise ValueError

        @tool(timeout_seconds=0.1)
        async def slow() -> str:
            """Takes too long."""
            await asyncio.sleep(20)
            return ""

        @tool
        def stop() -> str:
            """Is stopped by the person."""
            self.ran.append("stop")
            threading.Thread(target=self.stop).start()
            threading.Event().wait(20)
            return ""

        @tool
        async def wait() -> str:
            """Waits."""
            self.ran.append("wait")
            await asyncio.sleep(20)
            return ""

        @tool(side_effect=True)
        def pay(amount: int) -> str:
            """Pays."""
            self.ran.append(f"pay {amount}")
            return f"paid {amount}"

        return [look, broken, slow, stop, wait, pay]


@dataclass(frozen=True)
class Scenario:
    """``decide`` are the answers to waiting calls, in order. ``reply`` and ``results`` stand in the answer and in the
    results of the last request; ``ran`` is what the tools did."""

    steps: Sequence[Say]
    ran: Sequence[str] = ()
    reason: str = "stop"
    reply: str = "done"
    results: Sequence[str] = ()
    approve: Any = None
    decide: Sequence[Decision] = ()
    settings: Mapping[str, Any] = field(default_factory=dict[str, Any])


DONE = Say("done")
LOOK = Say(calls=[("look", {"where": "Porto"})])
PAY = Say(calls=[("pay", {"amount": 5})])
BOTH = Say(calls=[("look", {"where": "Porto"}), ("pay", {"amount": 5})])

SCENARIOS: dict[str, Scenario] = {
    "an answer": Scenario([DONE]),
    "one call": Scenario([LOOK, DONE], ["look Porto"], results=["Porto: 21 degrees"]),
    "two at once": Scenario(
        [Say(calls=[("look", {"where": "Beijing"}), ("look", {"where": "Shanghai"})]), DONE],
        ["look Beijing", "look Shanghai"],
        results=["Beijing: 21", "Shanghai: 21"],
    ),
    "one after the other": Scenario(
        [LOOK, Say(calls=[("look", {"where": "Oslo"})]), DONE], ["look Porto", "look Oslo"], results=["Oslo: 21"]
    ),
    "wrong arguments, then right ones": Scenario(
        [Say(calls=[("look", {"place": 5})]), LOOK, DONE], ["look Porto"], results=["bad_arguments", "Porto: 21"]
    ),
    "an argument near its name": Scenario(
        [Say(calls=[("look", {"Where": "Porto"})]), DONE], ["look Porto"], results=["taken for 'where'"]
    ),
    "a tool that fails": Scenario([Say(calls=[("broken", {})]), DONE], results=["ValueError"]),
    "one of several fails": Scenario(
        [Say(calls=[("look", {"where": "a"}), ("broken", {}), ("look", {"where": "b"})]), DONE],
        ["look a", "look b"],
        results=["a: 21", "ValueError", "b: 21"],
    ),
    "a tool that takes too long": Scenario([Say(calls=[("slow", {})]), DONE], results=["timeout"]),
    "the same again and again": Scenario(
        [LOOK, LOOK, LOOK], ["look Porto"] * 2, "no_progress", "kept giving the same result"
    ),
    "the same twice, then an answer": Scenario([LOOK, LOOK, DONE], ["look Porto"] * 2, "no_progress"),
    "two in turns": Scenario(
        [LOOK, Say(calls=[("look", {"where": "b"})]), LOOK, DONE],
        ["look Porto", "look b", "look Porto"],
        "no_progress",
    ),
    "turns without end": Scenario(
        [Say(calls=[("look", {"where": str(n)})]) for n in range(3)],
        ["look 0", "look 1"],
        "turn_limit",
        "after 3 turns",
        settings={"turn_limit": 3},
    ),
    "an answer in the last turn": Scenario(
        [LOOK, Say(calls=[("look", {"where": "b"})]), DONE],
        ["look Porto", "look b"],
        "turn_limit",
        settings={"turn_limit": 3},
    ),
    "too much time": Scenario(
        [LOOK, Say(calls=[("wait", {})])],
        ["look Porto", "wait"],
        "time_limit",
        "longer than the 2 s",
        settings={"exchange_seconds": 2},
    ),
    "too many tokens": Scenario([LOOK], [], "spend_limit", "used up", settings={"exchange_tokens": 1}),
    "stopped by the person": Scenario([LOOK, Say(calls=[("stop", {})])], ["look Porto", "stop"], "cancelled", ""),
    "approved": Scenario([PAY, DONE], ["pay 5"], results=["paid 5"], approve=lambda _: True),
    "approved for the session": Scenario(
        [PAY, Say(calls=[("pay", {"amount": 6})]), DONE], ["pay 5", "pay 6"], approve=lambda _: "always"
    ),
    "denied": Scenario([BOTH, DONE], ["look Porto"], results=["Porto: 21", "denied"], approve=lambda _: False),
    "denied with a reason": Scenario([PAY, DONE], results=["too dear"], approve=lambda _: Decision("no", "too dear")),
    "denied and tried again": Scenario(
        [PAY, PAY, DONE], [], "no_progress", results=["denied"], approve=lambda _: False
    ),
    "nobody to ask": Scenario([BOTH, DONE], ["look Porto"], results=["nobody could be asked"]),
    "whoever asks fails": Scenario([PAY, DONE], results=["not_approved"], approve=lambda _: 1 / 0),
    "changed by the person": Scenario(
        [PAY, DONE], ["pay 3"], results=["paid 3"], approve=lambda _: Decision("yes", arguments={"amount": 3})
    ),
    "changed by the person, wrongly": Scenario(
        [PAY, DONE], results=["as the user changed them"], approve=lambda _: Decision("yes", arguments={"sum": [3]})
    ),
    "waits, then approved": Scenario(
        [BOTH, DONE], ["look Porto", "pay 5"], results=["paid 5"], approve="later", decide=[Decision("yes")]
    ),
    "waits, then denied": Scenario(
        [BOTH, DONE], ["look Porto"], results=["too dear"], approve="later", decide=[Decision("no", "too dear")]
    ),
    "waits, and goes on waiting": Scenario([BOTH], ["look Porto"], "approval", "pay", approve="later"),
    "waits twice": Scenario(
        [PAY, Say(calls=[("pay", {"amount": 6})]), DONE],
        ["pay 5", "pay 6"],
        approve="later",
        decide=[Decision("yes"), Decision("yes")],
    ),
    "waits once for the session": Scenario(
        [PAY, Say(calls=[("pay", {"amount": 6})]), DONE],
        ["pay 5", "pay 6"],
        approve="later",
        decide=[Decision("always")],
    ),
}


def played(agent: Agent, scenario: Scenario) -> Finished | Any:
    """The exchange, to its end. A waiting call is decided once it waits."""
    events = list(agent.stream("go"))
    states = [event.state for event in events if isinstance(event, StateChanged)]
    assert (states[0], states[-1]) == ("planning", "final")
    assert all(one != two for one, two in itertools.pairwise(states))
    assert isinstance(events[-1], Finished)
    ending: Any = events[-1]
    for decision in scenario.decide:
        (waiting,) = agent.pending()
        ending = agent.decide(waiting.id, decision)
    return ending


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("name", SCENARIOS)
def test_it_ends_honestly(scripted: ScriptedServer, tmp_path: Path, name: str, dialect: str) -> None:
    scenario, world = SCENARIOS[name], World()
    scripted.add(*[DIALECTS[dialect](step) for step in scenario.steps])
    settings = load_settings(**scenario.settings)
    with agent_on(scripted, tmp_path, tools=world.tools, approve=scenario.approve, settings=settings) as agent:
        world.stop = agent.cancel
        ending = played(agent, scenario)
        assert ending.finish_reason == scenario.reason
        assert scenario.reply in ending.text
        assert sorted(world.ran) == sorted(scenario.ran)
        if ending.finish_reason not in ("approval", "cancelled"):
            assert agent.history()[-1].content == ending.text, "what the person saw last is kept"
        shown = "\n".join(str(m["content"]) for m in scripted.bodies[-1]["messages"] if m["role"] == "tool")
        assert [each for each in scenario.results if each not in shown] == []
        # the talk goes on; the server checks that its history is valid
        scripted.add("well")
        assert agent.ask("and now?").text == "well"
        answered = [m["tool_call_id"] for m in scripted.bodies[-1]["messages"] if m["role"] == "tool"]
        called = [c["id"] for m in scripted.bodies[-1]["messages"] for c in m.get("tool_calls", ())]
        assert answered == called
    assert sorted(world.ran) == sorted(scenario.ran)


def test_every_state_is_an_event_in_order(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(native(LOOK), native(DONE))
    with agent_on(scripted, tmp_path, tools=World().tools) as agent:
        events = list(agent.stream("go"))
    order = [
        e.state if isinstance(e, StateChanged) else "tool" for e in events if isinstance(e, StateChanged | ToolStarted)
    ]
    assert order == ["planning", "executing", "tool", "observing", "planning", "final"]

"""Too many tools: the groups that fit the talk are offered, the others are found and used by name."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from memagent import load_settings, tool
from memagent.events import ApprovalAsked, ToolStarted
from memagent.tools.definition import Tool
from memagent.tools.selection import found, groups_of, selected
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, call


def made(name: str, description: str, *groups: str, **metadata: Any) -> Tool:
    def work(what: str = "") -> str:
        return f"{name} {what}"

    work.__doc__ = description
    return tool(name=name, groups=groups, **metadata)(work)


WEATHER = [
    made("forecast", "The weather of the next days in a city.", "weather"),
    made("past_weather", "The weather that was.", "weather"),
]
MONEY = [
    made("balance", "How much money is on an account.", "banking"),
    made("transfer_money", "Sends money to somebody.", "banking", side_effect=True),
]
OTHERS = [made(f"tool_{number}", f"Does thing number {number}.", "others") for number in range(20)]
LONE = made("translate", "Translates a text into another language.")
ALL = [*OTHERS, *WEATHER, *MONEY, LONE]


def names(body: dict[str, Any]) -> list[str]:
    return [each["function"]["name"] for each in body["tools"]]


def test_whole_groups_by_what_is_talked_about() -> None:
    assert [len(group) for group in groups_of(ALL)] == [20, 2, 2, 1]
    assert [t.name for t in selected(ALL, "will it rain? the weather in Porto", 3)] == [
        "forecast",
        "past_weather",
        "translate",
    ]
    assert selected(ALL, "send money to my account", 2) == MONEY
    assert selected(ALL, "anything", 100) == ALL
    assert len(selected(ALL, "", 24)) <= 24
    assert found(ALL, "send money")[0].name == "transfer_money"
    assert found(ALL, "xyzzy") == []


def test_few_tools_are_all_offered(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add("ok")
    with agent_on(scripted, tmp_path, tools=[*WEATHER, LONE]) as agent:
        agent.ask("hello")
    assert names(scripted.bodies[0])[:3] == ["forecast", "past_weather", "translate"]
    assert "find_tools" not in names(scripted.bodies[0])


def test_the_choice_holds_for_the_view_and_what_is_found_can_be_used(scripted: ScriptedServer, tmp_path: Path) -> None:
    asked: list[str] = []

    def approve(one: Any) -> bool:
        asked.append(f"{one.name} {one.arguments}")
        return True

    using = {"name": "transfer_money", "arguments": {"what": "5 to Maya"}}
    scripted.add("sun", call("find_tools", query="send money"), Reply(calls=[("use_tool", using)]), "sent", "ok")
    options: dict[str, Any] = {
        "tools": ALL,
        "approve": approve,
        "settings": load_settings(offered_tools=3),
        "window_tokens": 16_384,
        "session": "s",
    }
    with agent_on(scripted, tmp_path, **options) as agent:
        agent.ask("How is the weather in Porto?")
        events = list(agent.stream("Send 5 to Maya"))
    first = names(scripted.bodies[0])
    assert {"forecast", "past_weather", "find_tools", "use_tool"} <= set(first)
    assert "transfer_money" not in first
    assert all(names(body) == first for body in scripted.bodies), "the prefix stays"
    results = [m["content"] for m in scripted.bodies[3]["messages"] if m["role"] == "tool"]
    assert json.loads(results[0].splitlines()[0])["name"] == "transfer_money"
    assert results[1] == "transfer_money 5 to Maya"
    assert asked == ['transfer_money {"what": "5 to Maya"}']
    assert [e.name for e in events if isinstance(e, ApprovalAsked)] == ["transfer_money"]
    assert [e.name for e in events if isinstance(e, ToolStarted)] == ["find_tools", "transfer_money"]
    with agent_on(scripted, tmp_path, **options) as agent:  # another process chooses the same
        agent.ask("thanks")
        assert agent.replay(1).status == "equal"
    assert names(scripted.bodies[-1]) == first


def test_using_what_is_not_there_is_data(scripted: ScriptedServer, tmp_path: Path) -> None:
    wrong: list[dict[str, Any]] = [
        {"name": "nothing"},
        {"name": "use_tool"},
        {"name": 5},
        {"name": "forecast", "arguments": {"n": 1}},
    ]
    scripted.add(Reply(calls=[("use_tool", arguments) for arguments in wrong]), "ok")
    with agent_on(scripted, tmp_path, tools=ALL, settings=load_settings(offered_tools=5)) as agent:
        assert agent.ask("go").text == "ok"
    results = [m["content"] for m in scripted.bodies[1]["messages"] if m["role"] == "tool"]
    assert "find_tools shows them" in results[0]
    assert json.loads(results[2])["error"] == "bad_arguments"
    assert json.loads(results[3])["error"] == "bad_arguments"


def test_a_waiting_call_through_use_tool_is_shown_as_what_it_is(scripted: ScriptedServer, tmp_path: Path) -> None:
    using = {"name": "transfer_money", "arguments": {"what": "5 to Maya"}}
    scripted.add(Reply(calls=[("use_tool", using, "c1")]), "sent")
    settings = load_settings(offered_tools=5)
    with agent_on(scripted, tmp_path, tools=ALL, approve="later", settings=settings) as agent:
        agent.ask("Send 5 to Maya")
        (waiting,) = agent.pending()
        assert (waiting.name, waiting.arguments) == ("transfer_money", '{"what": "5 to Maya"}')
        assert agent.decide("c1", "yes").text == "sent"


def test_the_callers_choice_of_tools(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(call("forecast", what="x"), "ok", "no tools")
    wanted = {"type": "function", "function": {"name": "forecast"}}
    with agent_on(scripted, tmp_path, tools=WEATHER) as agent:
        agent.ask("weather", tool_choice=wanted)
        agent.ask("weather", tool_choice="none")
    assert [body.get("tool_choice", "auto") for body in scripted.bodies] == [wanted, "auto", "none"]

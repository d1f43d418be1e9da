"""Tools as models call them: read as they are meant, repaired only where that is safe, run as their metadata say."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from pathlib import Path
from typing import Any, Literal

import pytest
from pydantic import BaseModel

from memagent import Agent, load_settings, report, tool
from memagent.errors import ToolError
from memagent.events import ToolFinished, ToolProgress, ToolStarted
from memagent.tools.arguments import ArgumentsError, named, read_arguments
from memagent.tools.cache import ResultCache
from memagent.tools.definition import Tool
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, call


class Place(BaseModel):
    """A nested model."""

    city: str
    floor: int = 0


@tool
def find(
    city: str,
    limit: int = 5,
    *,
    tags: list[str] | None = None,
    place: Place | None = None,
    kind: Literal["a", "b"] = "a",
    open_now: bool = False,
) -> str:
    """Finds things."""
    return f"{city} {limit} {tags} {place} {kind} {open_now}"


@tool(side_effect=True)
def delete(path: str) -> str:
    """Deletes a file."""
    return f"{path} is gone"


TOOLS: dict[str, Tool] = {t.name: t for t in (find, delete)}


def results(scripted: ScriptedServer, request: int = 1) -> list[str]:
    """The tool messages of a request."""
    return [m["content"] for m in scripted.bodies[request]["messages"] if m["role"] == "tool"]


@pytest.mark.parametrize(
    ("text", "values", "repair"),
    [
        ('{"city": "x"}', {"city": "x", "limit": 5}, ""),
        ('{"City": "x", "limit": "3"}', {"city": "x", "limit": 3}, "limit was the text '3'; it was read as 3"),
        ('{"citty": "x"}', {"city": "x"}, "there is no parameter 'citty'; it was taken for 'city'"),
        ('{"city": "x", "openNow": true}', {"open_now": True}, "taken for 'open_now'"),
        ('{"city": "x", "tags": "[\\"a\\"]"}', {"tags": ["a"]}, "tags was a text that holds JSON"),
        ('{"city": "x", "place": "{\\"city\\": \\"y\\"}"}', {"place": Place(city="y")}, "it was read as an object"),
        ('{"city": "[1]"}', {"city": "[1]"}, ""),
    ],
)
def test_only_what_can_be_meant_in_one_way_is_repaired_and_the_model_is_told(
    text: str, values: dict[str, Any], repair: str
) -> None:
    read = read_arguments(find, text)
    assert {name: read.values[name] for name in values} == values
    assert repair in "; ".join(read.repairs)
    assert bool(repair) == bool(read.repairs)


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("{", "not valid JSON"),
        ("[1]", "must be a JSON object, not list"),
        ("null", "must be a JSON object"),
        ("{}", "city"),
        ('{"city": "x", "limit": "many"}', "limit"),
        ('{"city": "x", "kind": "c"}', "kind"),
        ('{"city": "x", "colour": "red"}', "colour"),
        ('{"city": "x", "place": "{\\"floor\\": 1}"}', "place.city"),
        ("[" * 100_000, "not valid JSON"),
        (json.dumps({"city": 5}), "city"),
    ],
)
def test_everything_else_goes_back_with_its_place(text: str, word: str) -> None:
    with pytest.raises(ArgumentsError, match=word.replace(".", r"\.")) as error:
        read_arguments(find, text)
    assert len(str(error.value)) < 1_500


def test_equal_calls_have_equal_texts() -> None:
    one, two = read_arguments(find, '{"limit": "3", "city": "x"}'), read_arguments(find, '{"city":"x","limit":3}')
    assert one.text == two.text == '{"city": "x", "limit": 3}'


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("find", "find"),
        (" find ", "find"),
        ("functions.find", "find"),
        ("Find", "find"),
        ("fnd", "find"),
        ("frobnicate", None),
        ("delete", "delete"),
        ("functions.delete", "delete"),
        ("delte", None),
        ("", None),
    ],
)
def test_a_near_name_is_enough_only_for_what_changes_nothing(name: str, meant: str | None) -> None:
    found = named(name, TOOLS)
    assert (found.tool.name if found else None) == meant
    assert found is None or bool(found.repair) == (name != meant)


def test_metadata_that_contradict_each_other_are_refused() -> None:
    wrong: list[dict[str, Any]] = [
        {"side_effect": True, "retryable": True},
        {"side_effect": True, "cache_seconds": 5},
        {"max_retries": 2},
        {"retryable": True, "max_retries": -1},
        {"timeout_seconds": 0},
        {"groups": "weather"},
    ]
    for metadata in wrong:
        with pytest.raises(ToolError, match="tool look"):

            @tool(**metadata)
            def look() -> None: ...


def test_an_unknown_tool_is_data_and_names_the_real_ones(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(calls=[("frobnicate", {}), ("functions.find", {"city": "x"}), ("fnd", {"city": "y"})]), "done")
    with agent_on(scripted, tmp_path, tools=[find]) as agent:
        assert agent.ask("go").text == "done"
    unknown, found, near = results(scripted)
    assert json.loads(unknown)["error"] == "unknown_tool"
    assert "find" in json.loads(unknown)["hint"]
    assert set(json.loads(unknown)) == {"error", "type", "message", "hint"}
    assert found.startswith("x 5"), "a prefix is no part of a name"
    assert near.startswith("Note: there is no tool 'fnd' (the tools are: expand_summary, find, ")


def test_what_fails_in_passing_is_tried_again_and_told(scripted: ScriptedServer, tmp_path: Path) -> None:
    tries: list[float] = []

    @tool(retryable=True, max_retries=2)
    def flaky() -> str:
        """Fails twice."""
        tries.append(time.monotonic())
        if len(tries) < 3:
            raise ConnectionError("no route")
        return "got it"

    @tool
    def once() -> str:
        """Fails."""
        raise ConnectionError("no route")

    scripted.add(Reply(calls=[("flaky", {}), ("once", {})]), "done")
    with agent_on(scripted, tmp_path, tools=[flaky, once]) as agent:
        events = list(agent.stream("go"))
    assert len(tries) == 3
    first, second = results(scripted)
    assert first == "got it"
    assert json.loads(second) == {"error": "ConnectionError", "type": "tool", "message": "no route"}
    assert next(e.text for e in events if isinstance(e, ToolProgress)).startswith("it failed; attempt 2 of 3")


def test_a_tool_that_never_recovers_ends_with_its_last_error(scripted: ScriptedServer, tmp_path: Path) -> None:
    tries: list[int] = []

    @tool(retryable=True, max_retries=1, timeout_seconds=0.05)
    async def stuck() -> str:
        """Never comes back."""
        tries.append(1)
        await asyncio.sleep(30)
        return ""

    scripted.add(call("stuck"), "done")
    with agent_on(scripted, tmp_path, tools=[stuck]) as agent:
        assert agent.ask("go").text == "done"
    assert len(tries) == 2
    assert json.loads(results(scripted)[0])["error"] == "timeout"


def test_a_result_that_is_still_good_is_not_fetched_again(scripted: ScriptedServer, tmp_path: Path) -> None:
    ran: list[str] = []

    @tool(cache_seconds=60)
    def weather(city: str, days: int = 1) -> str:
        """The weather."""
        ran.append(city)
        return f"{city}: sun"

    first, again = call("weather", city="Porto"), call("weather", days="1", city="Porto")
    scripted.add(first, "ok", again, "ok", call("weather", city="Oslo"), "ok")
    with agent_on(scripted, tmp_path, tools=[weather]) as agent:
        for question in ("one", "two", "three"):
            agent.ask(question)
    # days=1 was written out the second time: another call
    assert ran == ["Porto", "Porto", "Oslo"]
    scripted.add(call("weather", city="Oslo"), "ok")
    with agent_on(scripted, tmp_path, tools=[weather]) as agent:
        agent.ask("four")
    assert len(ran) == 4, "another process knows nothing of the cache"


def test_cached_results_expire_and_failures_are_never_kept() -> None:
    now = [0.0]
    cache = ResultCache(lambda: now[0])
    cache.put("a", "{}", "one", 10)
    assert cache.get("a", "{}") == "one"
    assert cache.get("b", "{}") is None
    now[0] = 10
    assert cache.get("a", "{}") is None


def test_independent_calls_run_side_by_side_and_answer_in_call_order(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    async def slow(city: str, seconds: float) -> str:
        """Takes its time."""
        await asyncio.sleep(seconds)
        return city

    scripted.add(
        Reply(calls=[("slow", {"city": "Beijing", "seconds": 0.3}), ("slow", {"city": "Shanghai", "seconds": 0.1})]),
        "done",
    )
    with agent_on(scripted, tmp_path, tools=[slow]) as agent:
        agent.model_name()
        events = list(agent.stream("compare"))
    assert results(scripted) == ["Beijing", "Shanghai"]
    assert [e.content for e in events if isinstance(e, ToolFinished)] == ["Shanghai", "Beijing"]


def test_what_is_not_safe_beside_others_runs_alone_in_call_order(scripted: ScriptedServer, tmp_path: Path) -> None:
    order: list[str] = []
    alone = threading.Lock()

    @tool(parallel_safe=False)
    def step(name: str) -> str:
        """One at a time."""
        assert alone.acquire(blocking=False)
        time.sleep(0.05)
        order.append(name)
        alone.release()
        return name

    scripted.add(Reply(calls=[("step", {"name": n}) for n in "abcd"]), "done")
    with agent_on(scripted, tmp_path, tools=[step]) as agent:
        agent.ask("go")
    assert order == list("abcd")
    assert results(scripted) == list("abcd")


def test_a_tool_says_how_far_it_is(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    def count(to: int) -> str:
        """Counts."""
        for number in range(to):
            report(f"at {number}")
        return "there"

    scripted.add(call("count", to=3), "done")
    with agent_on(scripted, tmp_path, tools=[count]) as agent:
        events = list(agent.stream("go"))
    kinds = [e for e in events if isinstance(e, ToolStarted | ToolProgress | ToolFinished)]
    assert [type(e).__name__ for e in kinds] == ["ToolStarted", *["ToolProgress"] * 3, "ToolFinished"]
    assert "at 0" not in json.dumps(scripted.bodies[1])
    report("outside nobody listens")


@pytest.mark.parametrize(
    "bad", ['{"path": "a.txt", "text": "no end', "null", "[1, 2]", '"x"', '{"path": 5}', "x" * 200_000]
)
def test_bad_arguments_of_one_call_leave_the_others_alone(scripted: ScriptedServer, tmp_path: Path, bad: str) -> None:
    ran: list[str] = []

    @tool
    def write(path: str) -> str:
        """Writes."""
        ran.append(path)
        return "written"

    scripted.add(Reply(calls=[("write", bad, "c1"), ("write", {"path": "b.txt"}, "c2")]), "done")
    with agent_on(scripted, tmp_path, tools=[write]) as agent:
        assert agent.ask("go").text == "done"
    assert ran == ["b.txt"]
    wrong, right = results(scripted)
    assert json.loads(wrong)["error"] == "bad_arguments"
    assert len(wrong) < 1_200
    assert right == "written"
    for one in scripted.bodies[1]["messages"][-3]["tool_calls"]:
        assert isinstance(json.loads(one["function"]["arguments"]), dict)


def test_a_model_that_never_gets_it_right_is_stopped(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = Reply(calls=[("find", "{")])
    with agent_on(scripted, tmp_path, tools=[find]) as agent:
        reply = agent.ask("go")
    assert reply.finish_reason == "no_progress"
    assert len(scripted.bodies) <= 4


def test_an_exchange_that_takes_too_long_ends_and_says_so(scripted: ScriptedServer, tmp_path: Path) -> None:
    @tool
    async def wait() -> str:
        """Waits."""
        await asyncio.sleep(30)
        return ""

    scripted.add(call("wait"), "hello again")
    settings = {"exchange_seconds": 0.5}
    with agent_with(scripted, tmp_path, settings, tools=[wait]) as agent:
        agent.model_name()
        reply = agent.ask("go")
        assert reply.finish_reason == "time_limit"
        assert "0.5 s" in reply.text
        assert agent.history()[-1].content == reply.text
        assert agent.ask("still there?").text == "hello again"
    assert "may have had effects" in results(scripted)[0]


def test_an_exchange_that_takes_too_much_ends_with_what_it_has(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.add(Reply(text="Let me see.", calls=[("find", {"city": "b"})]), "hello again")
    with agent_with(scripted, tmp_path, {"exchange_tokens": 1}, tools=[find]) as agent:
        reply = agent.ask("go")
        assert reply.finish_reason == "spend_limit"
        assert reply.text.startswith("Let me see.")
        assert "used up" in reply.text
        assert agent.ask("and now?").text == "hello again"


def agent_with(scripted: ScriptedServer, folder: Path, settings: dict[str, Any], **more: Any) -> Agent:
    """An agent with settings that have no argument of their own."""
    return agent_on(scripted, folder, settings=load_settings(**settings), **more)

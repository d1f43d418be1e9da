"""Side effects and consent: what runs is what was approved, once, in whatever process, and no means no."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from memagent import Agent, Decision, load_settings, tool
from memagent.errors import MemagentError, NotFoundError, PromptTooLargeError
from memagent.events import ApprovalAsked, ApprovalDecided, Finished, ToolStarted
from memagent.tools.approval import Rule
from memagent.tools.definition import Tool
from stores.records import ToolCall
from tests.agents import agent_on, async_agent_on
from tests.scripted_server import Reply, ScriptedServer, call, say


class Files:
    """Tools that note what they did."""

    def __init__(self) -> None:
        self.deleted: list[str] = []
        self.read: list[str] = []

    @property
    def tools(self) -> list[Tool]:
        @tool(side_effect=True)
        def delete_file(path: str, force: bool = False) -> str:
            """Deletes a file."""
            self.deleted.append(path)
            return f"{path} is gone{' by force' if force else ''}"

        @tool
        def read_file(path: str) -> str:
            """Reads a file."""
            self.read.append(path)
            return f"{path} says hello"

        return [delete_file, read_file]


@pytest.fixture
def files() -> Files:
    return Files()


BATCH = Reply(calls=[("delete_file", {"path": "a"}, "d1"), ("read_file", {"path": "b"}, "d2")])


def results(scripted: ScriptedServer, request: int = 1) -> dict[str, str]:
    """The tool messages of a request, by call id."""
    return {m["tool_call_id"]: m["content"] for m in scripted.bodies[request]["messages"] if m["role"] == "tool"}


def hangs(_call: ToolCall) -> bool:
    time.sleep(5)
    return True


def breaks(_call: ToolCall) -> bool:
    raise EOFError("standard input is closed")


@pytest.mark.parametrize(
    ("approve", "words"),
    [
        (lambda _: False, ["denied", "denied by the user; delete_file did not run"]),
        (lambda _: Decision("no", "wrong folder"), ["denied", "denied by the user: wrong folder"]),
        (lambda _: "wrong folder", ["denied", "denied by the user: wrong folder"]),
        (lambda _: None, ["denied"]),
        (lambda _: 1, ["denied"]),
        (None, ["not_approved", "nobody could be asked"]),
        (breaks, ["not_approved", "standard input is closed"]),
        (hangs, ["not_approved", "nobody answered within 0.2 s"]),
    ],
)
def test_without_a_yes_it_does_not_run_and_the_talk_goes_on(
    scripted: ScriptedServer, tmp_path: Path, files: Files, approve: Any, words: list[str]
) -> None:
    scripted.add(BATCH, "I did not delete it.", "hello")
    settings = load_settings(approval_timeout_seconds=0.2)
    with agent_on(scripted, tmp_path, tools=files.tools, approve=approve, settings=settings) as agent:
        assert agent.ask("delete a, read b").text == "I did not delete it."
        assert agent.ask("hi").text == "hello"
    assert (files.deleted, files.read) == ([], ["b"])
    for word in words:
        assert word in results(scripted)["d1"]
    assert results(scripted)["d2"] == "b says hello"
    assert json.loads(results(scripted)["d1"])["type"] == "approval"


@pytest.mark.parametrize("answer", [True, "yes", "always", Decision("yes"), Decision("always")])
def test_whatever_means_yes(scripted: ScriptedServer, tmp_path: Path, files: Files, answer: Any) -> None:
    scripted.add(BATCH, "done")
    with agent_on(scripted, tmp_path, tools=files.tools, approve=lambda _: answer) as agent:
        agent.ask("go")
    assert files.deleted == ["a"]


def test_one_yes_is_for_one_call(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    calls = [("delete_file", {"path": path}, path) for path in ("a", "b")]
    scripted.add(Reply(calls=calls), call("delete_file", path="b"), "done")
    asked: list[str] = []

    def approve(one: ToolCall) -> bool:
        asked.append(one.arguments)
        return '"a"' in one.arguments

    with agent_on(scripted, tmp_path, tools=files.tools, approve=approve) as agent:
        events = list(agent.stream("delete both"))
    assert files.deleted == ["a"]
    assert asked == ['{"path": "a"}', '{"path": "b"}', '{"path": "b"}'], "after a no it is asked again, not run"
    assert [e.arguments for e in events if isinstance(e, ApprovalAsked)] == asked
    assert [e.verdict for e in events if isinstance(e, ApprovalDecided)] == ["yes", "no", "no"]


def test_the_person_sees_the_arguments_that_run(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    asked: list[str] = []
    scripted.add(Reply(calls=[("delete_file", '{"Path": "a", "force": "true"}', "d1")]), "done")

    def approve(one: ToolCall) -> bool:
        asked.append(one.arguments)
        return True

    with agent_on(scripted, tmp_path, tools=files.tools, approve=approve) as agent:
        events = list(agent.stream("go"))
    assert asked == ['{"force": true, "path": "a"}']
    assert [e.arguments for e in events if isinstance(e, ToolStarted)] == asked
    assert "it was taken for 'path'" in results(scripted)["d1"]
    assert results(scripted)["d1"].endswith("a is gone by force")


def test_the_person_may_change_the_arguments(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(call("delete_file", path="a"), "done", call("delete_file", path="c"), "done")
    answers = iter([Decision("yes", arguments={"path": "b"}), Decision("yes", arguments={"path": 5, "x": 1})])
    with agent_on(scripted, tmp_path, tools=files.tools, approve=lambda _: next(answers)) as agent:
        agent.ask("go")
        agent.ask("go")
    assert files.deleted == ["b"]
    first, second = list(results(scripted, 3).values())
    assert first.startswith('Note: the user changed the arguments to {"path": "b"}')
    assert json.loads(second)["error"] == "bad_arguments"


def test_always_holds_for_the_session_and_its_pattern_also_later(
    scripted: ScriptedServer, tmp_path: Path, files: Files
) -> None:
    asked: list[str] = []

    def approve(one: ToolCall) -> Decision:
        asked.append(json.loads(one.arguments)["path"])
        return Decision("always", pattern={"path": "tmp/*"}) if "tmp" in one.arguments else Decision("no")

    for path in ("tmp/a", "tmp/b", "home", "tmp/c", "tmp/d"):
        scripted.add(call("delete_file", path=path), "ok")
    with agent_on(scripted, tmp_path, tools=files.tools, approve=approve) as agent:
        for _ in range(3):
            agent.ask("go")
        session = agent.session_id
    with agent_on(scripted, tmp_path, tools=files.tools, approve=approve, session=session) as agent:
        agent.ask("go")
        assert asked == ["tmp/a", "home"]
        agent.new_session()
        agent.ask("go")
    assert asked == ["tmp/a", "home", "tmp/d"]
    assert files.deleted == ["tmp/a", "tmp/b", "tmp/c", "tmp/d"]


@pytest.mark.parametrize(
    ("pattern", "arguments", "allows"),
    [
        ({}, {"path": "x"}, True),
        ({"path": "a/*"}, {"path": "a/b"}, True),
        ({"path": "a/*"}, {"path": "b/a/c"}, False),
        ({"path": "a/*"}, {}, False),
        ({"n": "5"}, {"n": 5}, True),
        ({"path": "*", "force": "false"}, {"path": "x", "force": True}, False),
        ({"path": "*", "force": "false"}, {"path": "x", "force": False}, True),
    ],
)
def test_what_a_rule_allows(pattern: dict[str, str], arguments: dict[str, Any], allows: bool) -> None:
    rule = Rule("write", pattern)
    assert rule.allows("write", json.dumps(arguments)) is allows
    assert rule.allows("delete", json.dumps(arguments)) is False


# --- later, in this process or another ---------------------------------------------------------


def test_a_call_waits_and_runs_once_it_is_approved(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "Deleted a; b says hello.", "hello")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        events = list(agent.stream("delete a, read b"))
        ending = events[-1]
        assert isinstance(ending, Finished)
        assert ending.finish_reason == "approval"
        assert ending.text == 'This waits for your approval:\n- delete_file({"path": "a"})'
        (asked,) = [e for e in events if isinstance(e, ApprovalAsked)]
        assert asked.pending
        (waiting,) = agent.pending()
        assert (waiting.name, waiting.arguments, waiting.call_id) == ("delete_file", '{"path": "a"}', "d1")
        assert (files.deleted, files.read) == ([], ["b"])
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        (waiting,) = agent.pending()
        reply = agent.decide(waiting.id, "yes")
        assert (reply.text, reply.finish_reason) == ("Deleted a; b says hello.", "stop")
        assert agent.pending() == []
        with pytest.raises(NotFoundError):
            agent.decide(waiting.id, "yes")
        agent.resume(waiting.session_id)
        assert agent.ask("hi").text == "hello"
        assert [m.role.value for m in agent.history()] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "assistant",
            "user",
            "assistant",
        ]
    assert files.deleted == ["a"]
    assert results(scripted) == {"d1": "a is gone", "d2": "b says hello"}
    # the answer stands in the exchange that was asked, before what came later
    assert [m["role"] for m in scripted.bodies[2]["messages"]] == [
        "system", "user", "assistant", "tool", "tool", "assistant", "user",
    ]  # fmt: skip


def test_a_no_goes_back_with_its_reason(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "Then I leave it.")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("go")
        assert agent.decide("d1", "no", "wrong folder").text == "Then I leave it."
    assert files.deleted == []
    assert "denied by the user: wrong folder" in results(scripted)["d1"]


def test_an_exchange_goes_on_when_all_is_decided(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    calls = [("delete_file", {"path": path}, path) for path in ("a", "b")]
    scripted.add(Reply(calls=calls), "done")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("delete both")
        first = agent.decide("b", "no")
        assert first.finish_reason == "approval"
        assert '"path": "a"' in first.text
        assert '"path": "b"' not in first.text
        assert [c.call_id for c in agent.pending()] == ["a"]
        with pytest.raises(MemagentError, match="decided before, otherwise"):
            agent.decide("b", "yes")
        with pytest.raises(MemagentError, match="cannot run with these arguments"):
            agent.decide("a", Decision("yes", arguments={"path": 3, "where": ""}))
        with pytest.raises(MemagentError, match="decides nothing"):
            agent.decide("a", "perhaps")
        assert files.deleted == []
        assert agent.decide("a", Decision("yes", arguments={"path": "c"})).text == "done"
    assert files.deleted == ["c"]


def test_who_goes_on_talking_has_not_agreed(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "sunny")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("go")
        assert agent.ask("never mind, what is the weather?").text == "sunny"
        assert agent.pending() == []
        with pytest.raises(NotFoundError):
            agent.decide("d1", "yes")
    assert files.deleted == []
    assert "went on without deciding" in results(scripted)["d1"]


def test_other_sessions_may_talk_meanwhile(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "sunny", "done")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("go")
        first = agent.session_id
        second = agent.new_session()
        agent.ask("what is the weather?")
        reply = agent.decide("d1", "yes")
        assert reply.text == "done"
        assert agent.session_id == second
        assert [m.content for m in agent.history(first)][-1] == "done"
        assert [m.content for m in agent.history()] == ["what is the weather?", "sunny"]
    assert files.deleted == ["a"]


def test_of_two_who_approve_only_one_runs_it(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH)
    scripted.default = say("done")
    with (
        agent_on(scripted, tmp_path, tools=files.tools, approve="later") as one,
        agent_on(scripted, tmp_path, tools=files.tools, approve="later") as two,
    ):
        one.ask("go")
        (waiting,) = one.pending()
        assert two.pending() == [waiting]

        def approve(agent: Agent) -> None:
            with contextlib.suppress(NotFoundError):  # the other was quicker
                agent.decide(waiting.id, "yes")

        threads = [threading.Thread(target=approve, args=(agent,)) for agent in (one, two)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert files.deleted == ["a"]


def test_one_who_approves_twice_gets_one_answer(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "done")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("go")
        refused: list[str] = []

        def approve() -> None:
            try:
                agent.decide("d1", "yes")
            except NotFoundError as error:
                refused.append(str(error))

        threads = [threading.Thread(target=approve) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(refused) == 2
        assert [m.content for m in agent.history()][-1] == "done"
    assert files.deleted == ["a"]


def test_a_message_that_is_refused_lets_go_of_nothing(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "done")
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
        agent.ask("go")
        with pytest.raises(PromptTooLargeError):
            agent.ask("far too long " * 20_000)
        assert agent.decide("d1", "yes").text == "done"
    assert files.deleted == ["a"]


def test_another_user_neither_sees_nor_decides(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH)
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later", user="ann") as agent:
        agent.ask("go")
        (waiting,) = agent.pending()
    with agent_on(scripted, tmp_path, tools=files.tools, approve="later", user="bob") as agent:
        assert agent.pending() == []
        for wanted in (waiting.id, waiting.call_id):
            with pytest.raises(NotFoundError):
                agent.decide(wanted, "yes")
    assert files.deleted == []


def test_the_same_from_coroutines(scripted: ScriptedServer, tmp_path: Path, files: Files) -> None:
    scripted.add(BATCH, "done")

    async def scenario() -> str:
        async with async_agent_on(scripted, tmp_path, tools=files.tools, approve="later") as agent:
            await agent.ask("go")
            (waiting,) = await agent.pending()
            return (await agent.decide(waiting.id, True)).text

    assert asyncio.run(scenario()) == "done"
    assert files.deleted == ["a"]


_KILLED = """
    import os, sys
    sys.path.insert(0, {root!r})
    from memagent import Agent, tool
    from memagent.testing import WordEmbedder

    @tool(side_effect=True)
    def pay(amount: int) -> str:
        \"\"\"Pays.\"\"\"
        with open({log!r}, "a") as file:
            file.write(f"{{amount}}\\n")
        if {kill!r} == "inside":
            os._exit(9)
        return "paid"

    def approve(call):
        if {kill!r} == "asking":
            os._exit(9)
        return True

    with Agent(base_url={url!r}, api_key="k", model="scripted", data_dir={data!r}, window_tokens=8192, session="s",
               embedder=WordEmbedder(), tools=[pay], approve=approve) as agent:
        print(agent.ask("pay 5").text)
"""


@pytest.mark.parametrize(
    ("kill", "paid", "word"), [("asking", 0, "it did not run"), ("inside", 1, "may have had effects")]
)
def test_a_crash_runs_nothing_again(scripted: ScriptedServer, tmp_path: Path, kill: str, paid: int, word: str) -> None:
    scripted.add(Reply(calls=[("pay", {"amount": 5}, "p1")]), "understood")
    log = tmp_path / "paid"
    log.touch()
    root = os.getcwd()
    code = _KILLED.format(root=root, log=str(log), kill=kill, url=scripted.base_url, data=str(tmp_path / "data"))
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], timeout=120, check=False)
    assert done.returncode == 9

    @tool(side_effect=True)
    def pay(amount: int) -> str:
        """Pays."""
        with log.open("a") as file:
            file.write(f"{amount}\n")
        return "paid"

    with agent_on(scripted, tmp_path / "data", tools=[pay], approve=lambda _: True, session="s") as agent:
        assert agent.ask("did you pay?").text == "understood"
    assert log.read_text().splitlines() == ["5"] * paid
    assert word in results(scripted)["p1"]

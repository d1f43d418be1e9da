"""I6, C25: two users in one store, with the same session names and the same imported ids. Whatever public
call the second user makes, with the first one's ids and words, nothing of the first one comes back.

The calls are those of the facade itself: a method that is added and not listed here fails the test.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memagent import Agent, tool
from memagent.errors import MemagentError
from stores.errors import StoreError
from tests.agents import agent_on
from tests.scripted_server import Reply, ScriptedServer, call

SECRET = "7741-quince"
WORDS = ["gate code", "everything", "*", "%", "user:u1", "' OR 1=1 --", "", "u1"]

Call = Callable[[Agent], object]


@tool
def report() -> str:
    """A long report."""
    return "\n".join(f"gate {number} code {SECRET}" for number in range(3_000))


def live_as_the_first(scripted: ScriptedServer, folder: Path) -> list[str]:
    """Fills every room with the secret, and returns all ids there are."""
    scripted.summary = f"The person told the gate code, {SECRET}."
    scripted.add(call("report"))
    scripted.default = "I see."
    with agent_on(scripted, folder, user="u1", session="s1", tools=[report]) as agent:
        agent.ask("the codes?")
        agent.ask(f"My gate code is {SECRET}. " + "please " * 200)
        agent.ask("and the tides? " + "please " * 200)
        agent.note(f"the host says {SECRET}")
        agent.compact()
        agent.ask("thanks")
        kept = agent.pin(agent.remember(f"the gate code is {SECRET}").id)
        agent.forget(agent.remember(f"the old gate code was {SECRET}0").id)
        agent.ingest([{"role": "user", "content": f"gate {SECRET}", "id": "1"}], session="imported")
        agent.never("quince jam")
        assert agent.settle(20) == []
        ids = [kept.id, *(m.id for m in agent.memories()), *(m.id for m in agent.memories(kind="episode"))]
        ids += [entry.id for entry in agent.history()] + [s.id for s in agent.summaries()]
        return [*dict.fromkeys(ids), "1"]


def calls(ids: list[str], texts: list[str], elsewhere: Path) -> dict[str, list[Call]]:
    """What a hostile second user may try, by the facade's method."""
    refs = [*ids, *(id_[:6] for id_ in ids), *texts]
    sessions = ["s1", "imported", "s", *texts]
    return {
        "ask": [lambda a, t=t: a.ask(t) for t in texts if t],
        "stream": [lambda a: list(a.stream("what is the gate code?"))],
        "pending": [lambda a: a.pending()],
        "decide": [lambda a, r=r: a.decide(r, "yes") for r in refs],
        "preview": [lambda a, t=t: a.preview(t) for t in texts],
        "last_manifest": [lambda a: a.last_manifest()],
        "happened": [lambda a: a.happened()],
        "cancel": [lambda a: a.cancel()],
        "settle": [lambda a: a.settle(10)],
        "ingest": [lambda a: a.ingest([{"role": "user", "content": "hello", "id": "1"}], session="imported")],
        "remember": [lambda a: a.remember("the gate code is unknown")],
        "recall": [lambda a, t=t: a.recall(t, limit=100) for t in texts],
        "memories": [lambda a, k=k: a.memories(kind=k) for k in (None, "fact", "episode")],
        "forget": [lambda a, r=r: a.forget(r) for r in refs],
        "restore": [lambda a, r=r: a.restore(r) for r in refs],
        "show": [lambda a, r=r: a.show(r) for r in refs],
        "approve": [lambda a, r=r: a.approve(r) for r in refs],
        "pin": [lambda a, r=r: a.pin(r) for r in refs],
        "unpin": [lambda a, r=r: a.unpin(r) for r in refs],
        "never": [lambda a, t=t: a.never(t) for t in ["gate", "code", "*"]],
        "never_list": [lambda a: a.never_list()],
        "allow": [lambda a, t=t: a.allow(t) for t in ["quince", "gate", "code", "*"]],
        "private": [lambda a: a.private()],
        "extract": [lambda a, s=s: a.extract(session=s, dry_run=True) for s in [None, *sessions]],
        "erase": [
            *(lambda a, r=r: a.erase(memory_id=r) for r in ids),
            *(lambda a, r=r: a.erase(entry_id=r) for r in ids),
            *(lambda a, t=t: a.erase(text=t, dry_run=True) for t in texts),
            lambda a: a.erase(session="s1"),
            lambda a: a.erase(text="gate code"),
        ],
        "receipts": [lambda a: a.receipts()],
        "export": [lambda a: exported(a, elsewhere)],
        "import_file": [lambda a: a.import_file(elsewhere / "export.zip")],
        "history": [lambda a, s=s: a.history(s) for s in [None, *sessions]],
        "compact": [lambda a: a.compact()],
        "undo": [lambda a: a.undo()],
        "summaries": [lambda a: a.summaries()],
        "expand": [lambda a, r=r: a.expand(r) for r in refs],
        "edit": [lambda a, r=r: a.edit(r, "nothing") for r in refs],
        "note": [lambda a: a.note("hello")],
        "search_history": [
            lambda a, t=t, s=s: a.search_history(t, session=s, limit=100) for t in texts for s in (None, "all", "s1")
        ],
        "read_output": [lambda a, r=r: a.read_output(r) for r in refs],
        "checkup": [lambda a: a.checkup(collect=True)],
        "manifests": [lambda a, s=s: a.manifests(s) for s in [None, *sessions]],
        "diff": [lambda a: a.diff(), lambda a: a.diff(1, 2, session="s1")],
        "why": [lambda a, r=r: a.why(r) for r in refs],
        "replay": [lambda a, n=n: a.replay(n) for n in (0, 1, 2, 3)],
        "sessions": [lambda a: a.sessions()],
        "resume": [lambda a, s=s: a.resume(s) for s in sessions],
        "new_session": [lambda a: a.new_session()],
        "model_name": [lambda a: a.model_name()],
        "endpoint": [lambda a: a.endpoint()],
    }


def answers(agent: Agent, tried: list[Call]) -> Iterator[str]:
    """What each call gives back, or how it refuses."""
    for each in tried:
        with contextlib.suppress(StopIteration):
            try:
                yield shown(each(agent))
            except (MemagentError, StoreError) as error:
                yield f"{type(error).__name__}: {error}"


def exported(agent: Agent, folder: Path) -> str:
    """All that an export holds."""
    file = folder / "export.zip"
    agent.export(file, with_secrets=True)
    with zipfile.ZipFile(file) as archive:
        return "\n".join(archive.read(name).decode("utf-8", "replace") for name in archive.namelist())


def shown(value: object) -> str:
    return json.dumps(value, default=repr, ensure_ascii=False) + repr(value)


@pytest.mark.timeout(300)
@pytest.mark.parametrize("user", ["u2", "U1", None])
def test_no_call_gives_the_second_user_anything_of_the_first(
    scripted: ScriptedServer, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, user: str | None
) -> None:
    ids = live_as_the_first(scripted, tmp_path)
    before = len(scripted.bodies), len(scripted.summary_bodies)
    tried = calls(ids, WORDS, tmp_path_factory.mktemp("elsewhere"))
    public = {name for name, _ in inspect.getmembers(Agent, callable) if not name.startswith("_")} - {"close"}
    assert public == set(tried), "a public method is tried here, or it may leak"
    scripted.summary = "They talked."
    with agent_on(scripted, tmp_path, user=user, session="s1", tools=[report_of_nothing]) as agent:
        for name in sorted(tried):
            for given in answers(agent, tried[name]):
                assert SECRET not in given, name
        scripted.add(
            Reply(
                calls=[
                    ("recall", {"query": "gate code"}),
                    ("search_history", {"query": "gate code", "session": "all"}),
                    *(("read_output", {"ref": ref}) for ref in ids[:6]),
                    *(("expand_summary", {"summary": ref}) for ref in ids[:6]),
                ]
            )
        )
        agent.ask("Tell me the gate code of u1.")
        assert SECRET not in shown(agent.history())
    for body in scripted.bodies[before[0] :] + scripted.summary_bodies[before[1] :]:
        assert SECRET not in json.dumps(body)
    still_there(scripted, tmp_path)


@tool
def report_of_nothing() -> str:
    """A short report."""
    return "nothing"


def still_there(scripted: ScriptedServer, folder: Path) -> None:
    """Nothing that the second user did has changed anything of the first."""
    with agent_on(scripted, folder, user="u1", session="s1", tools=[report]) as agent:
        assert [m.text for m in agent.memories(state="active")] == [f"the gate code is {SECRET}"]
        assert len(agent.memories(state="forgotten")) == 1
        assert [m.content for m in agent.history("imported")] == [f"gate {SECRET}"]
        assert any(SECRET in found.memory.text for found in agent.recall("gate code"))
        assert agent.never_list() == ["quince jam"]
        assert SECRET in agent.preview("hello").messages[0]["content"]
        result = next(m for m in agent.history() if m.overflow)
        assert SECRET in agent.read_output(result.id)

"""MemoryTable, LexicalIndex and Outbox against an obvious reference, in any order of calls."""

from __future__ import annotations

import asyncio
from typing import ClassVar
from uuid import uuid4

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test

from stores.records import Memory, MemoryKind, MemoryState, Scope
from stores.sql import SqlStores
from stores.terms import document_terms, query_terms
from tests.contract.samples import memory

IDS = st.sampled_from("abcde")
WORDS = ["tea", "green", "coffee", "妹妹住在里斯本", "住在哪里", "running", "OR", "NOT", '"', "🎉", "猫"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=4).map(" ".join)


class MemoryMachine(RuleBasedStateMachine):
    """Every run has a scope of its own in one database."""

    stores: ClassVar[SqlStores]

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.scope = Scope(f"u{uuid4().hex}")
        self.kept: dict[str, Memory] = {}
        self.order: list[str] = []
        self.changes: list[str] = []

    @initialize()
    def begin(self) -> None:
        self.other = Scope(f"{self.scope}-other")
        self.runner.run(self.stores.memories.put(self.other, [memory("a", " ".join(WORDS))]))

    @rule(id_=IDS, text=TEXTS, number=st.integers(0, 3), kind=st.sampled_from(MemoryKind))
    def put(self, id_: str, text: str, number: int, kind: MemoryKind) -> None:
        self.write([memory(id_, text, number, kind=kind)])

    @rule(ids=st.lists(IDS, max_size=4), state=st.sampled_from(MemoryState))
    def set_state(self, ids: list[str], state: MemoryState) -> None:
        self.write([self.kept[id_].model_copy(update={"state": state}) for id_ in ids if id_ in self.kept])

    @rule()
    def put_all_again(self) -> None:
        self.write(list(self.kept.values()))

    @rule(ids=st.lists(IDS, max_size=3), text=TEXTS)
    def put_episodes(self, ids: list[str], text: str) -> None:
        self.runner.run(self.stores.memories.put_episodes(self.scope, [memory(id_, text) for id_ in ids], cursor=1))
        for id_ in ids:
            if id_ not in self.kept:
                self.note(memory(id_, text))

    def write(self, memories: list[Memory]) -> None:
        self.runner.run(self.stores.memories.put(self.scope, memories))
        for one in memories:
            if self.kept.get(one.id) != one:
                self.note(one)

    def note(self, one: Memory) -> None:
        old = self.kept.get(one.id)
        if old is None:
            self.order.append(one.id)
        self.kept[one.id] = one
        active = one.state is MemoryState.ACTIVE
        if old is None or (old.state is MemoryState.ACTIVE) != active or (active and old.text != one.text):
            self.changes.append(one.id)

    @rule(query=TEXTS)
    def search(self, query: str) -> None:
        asked = set(query_terms(query))
        expected = {
            one.id
            for one in self.kept.values()
            if one.state is MemoryState.ACTIVE and asked & set(document_terms(one.text))
        }
        hits = self.runner.run(self.stores.lexical.search(self.scope, query, limit=50))
        assert len(hits) == len(expected)
        assert {hit.memory_id for hit in hits} == expected

    @rule(kind=st.none() | st.sampled_from(MemoryKind), state=st.none() | st.sampled_from(MemoryState))
    def list_some(self, kind: MemoryKind | None, state: MemoryState | None) -> None:
        expected = sorted(
            (one for one in self.kept.values() if kind in (None, one.kind) and state in (None, one.state)),
            key=lambda one: (one.said_at, self.order.index(one.id)),
            reverse=True,
        )
        assert self.runner.run(self.stores.memories.list(self.scope, kind=kind, state=state)) == expected

    @rule()
    def requeue(self) -> None:
        active = [id_ for id_ in self.order if self.kept[id_].state is MemoryState.ACTIVE]
        assert self.runner.run(self.stores.outbox.requeue(self.scope)) == len(active)
        self.changes += active

    @invariant()
    def every_change_has_a_task(self) -> None:
        tasks = self.runner.run(self.stores.outbox.newer(self.scope, 0))
        assert tasks is not None
        assert [task.memory_id for task in tasks] == self.changes

    def teardown(self) -> None:
        self.runner.close()


@pytest.mark.timeout(3600)
def test_any_order_of_calls(stores: SqlStores) -> None:
    machine = type("Machine", (MemoryMachine,), {"stores": stores})
    run_state_machine_as_test(machine)  # pyright: ignore[reportUnknownMemberType]

"""Every prompt that was sent can be made again, byte for byte, until what it was made from expires."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import invariant, rule, run_state_machine_as_test

from memagent import Agent, Settings, tool
from memagent.context.digest import RENDERING, RunningDigest, message_digest
from memagent.context.render import ContextBlock, build_exchange
from memagent.context.window import close_exchange
from memagent.errors import NotFoundError
from memagent.llm.tokens import TokenCounter
from tests.agents import agent_on
from tests.contract.samples import message
from tests.scripted_server import Reply, ScriptedServer, is_for_summary
from tests.test_context_machine import STEPS, TEXTS, Conversation


def prompts_sent(server: ScriptedServer) -> list[dict[str, Any]]:
    return [record.body for record in server.records if record.body and not is_for_summary(record.body)]


def check(agent: Agent, number: int, body: dict[str, Any], session: str | None = None) -> None:
    replay = agent.replay(number, session=session)
    assert (replay.status, replay.why) == ("equal", "the same, byte for byte")
    assert json.dumps(list(replay.messages)) == json.dumps(body["messages"])
    assert json.dumps(list(replay.tools)) == json.dumps(body.get("tools", []))


class Replayed(Conversation):
    """Any conversation, with memories forgotten and restored, and every prompt replayed."""

    def __init__(self) -> None:
        super().__init__()
        self.replayed = 0

    @rule(text=TEXTS)
    def remember(self, text: str) -> None:
        self.agent.remember(text)

    @rule(every=st.integers(1, 3))
    def forget_what_was_recalled(self, every: int) -> None:
        manifest = self.agent.last_manifest()
        for candidate in (manifest.candidates if manifest else ())[::every]:
            with contextlib.suppress(NotFoundError):
                self.agent.forget(candidate.memory_id)

    @rule()
    def restore_everything(self) -> None:
        for memory in self.agent.memories("forgotten", kind=None):
            self.agent.restore(memory.id)

    @invariant()
    def new_prompts_are_replayed(self) -> None:
        sent = prompts_sent(self.server)
        for number in range(self.replayed + 1, len(sent) + 1):
            check(self.agent, number, sent[number - 1])
        self.replayed = len(sent)

    @rule(which=st.floats(0, 1))
    def an_old_one_is_replayed(self, which: float) -> None:
        sent = prompts_sent(self.server)
        if sent:
            number = 1 + int(which * (len(sent) - 1))
            check(self.agent, number, sent[number - 1])


@pytest.mark.timeout(3_600)
def test_any_prompt_of_any_conversation(pytestconfig: pytest.Config) -> None:
    examples = 250 if pytestconfig.getoption("--thorough") else 8
    run_state_machine_as_test(
        Replayed,
        settings=settings(max_examples=examples, stateful_step_count=STEPS, deadline=None, phases=[Phase.generate]),
    )

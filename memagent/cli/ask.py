"""`memagent ask`: one question, one answer."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import typer

from memagent.cli import render
from memagent.cli.stream import AnswerView, exit_code, interruptible, shortfall
from memagent.cli.wall import tell

if TYPE_CHECKING:
    from memagent import Agent, Reply


def ask_once(agent: Agent, question: str, *, as_json: bool) -> int:
    """Asks and prints; on a terminal as the answer comes. Returns the exit code: an answer that was
    cut off by an interruption or a dying stream is printed and counts as failed."""
    if as_json or not sys.stdout.isatty():
        with interruptible(agent):
            reply = agent.ask(question)
        for text in render.warnings(reply.events):
            tell(text)
        typer.echo(_as_json(agent, reply) if as_json else reply.text)
        finish_reason = reply.finish_reason
    else:
        with interruptible(agent):
            finish_reason = AnswerView(render.console(sys.stdout)).show(agent.stream(question)).finish_reason
    missing = shortfall(finish_reason)
    if missing:
        tell(missing)
    return exit_code(finish_reason)


def _as_json(agent: Agent, reply: Reply) -> str:
    manifest = reply.manifest
    return json.dumps(
        {
            "text": reply.text,
            "finish_reason": reply.finish_reason,
            "usage": reply.usage.model_dump(mode="json"),
            "session": agent.session_id,
            "manifest": manifest.model_dump(mode="json", exclude={"candidates"}) if manifest else None,
        },
        ensure_ascii=False,
        indent=2,
    )

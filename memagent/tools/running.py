"""Running calls: validation, consent, time limits; failures are data, results come in call order."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import json
import threading
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError

from memagent.tools.definition import Tool
from memagent.tools.output import error_text, to_text
from stores.records import ToolCall

Approve = Callable[[ToolCall], bool | Awaitable[bool]]
"""Asks a person whether exactly this call may run. What is no coroutine function is called in a thread; one
question at a time."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as text for the model."""

    call: ToolCall
    content: str
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Limits:
    """``timeout_seconds`` for tools that have none of their own."""

    timeout_seconds: float


async def run_calls(
    calls: Sequence[ToolCall],
    tools: Mapping[str, Tool],
    *,
    limits: Limits,
    approve: Approve | None,
    on_start: Callable[[ToolCall], Awaitable[None]],
    on_finish: Callable[[Outcome], Awaitable[None]],
) -> list[Outcome]:
    """Runs independent calls side by side and returns their outcomes in call order. ``on_start`` has
    returned before a call runs (so that it can be journalled first). Only cancellation and an error of
    the callbacks get out; other calls are then cancelled too."""

    asking = asyncio.Lock()  # a person is asked one thing at a time

    async def refused(call: ToolCall) -> str | None:
        async with asking:
            return await _refused(call, approve)

    async def one(call: ToolCall) -> Outcome:
        outcome = await _run(call, tools, limits, refused, on_start)
        await on_finish(outcome)
        return outcome

    running = [asyncio.create_task(one(call)) for call in calls]
    try:
        return await asyncio.gather(*running)
    finally:  # after an error or a cancellation nothing may run on unseen
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def _run(
    call: ToolCall,
    tools: Mapping[str, Tool],
    limits: Limits,
    refused: Callable[[ToolCall], Awaitable[str | None]],
    on_start: Callable[[ToolCall], Awaitable[None]],
) -> Outcome:
    tool = tools.get(call.name)
    if tool is None:
        known = ", ".join(sorted(tools)) or "none"
        return Outcome(
            call, error_text("unknown_tool", f"there is no tool {call.name!r}", f"the tools are: {known}"), True
        )
    try:
        arguments = _validated(tool, call.arguments)
    except (ValueError, RecursionError) as error:
        return Outcome(call, error_text("bad_arguments", _reasons(error), "call again with corrected arguments"), True)
    if tool.side_effect and (refusal := await refused(call)):
        return Outcome(call, refusal, True)
    await on_start(call)
    return await _execute(tool, call, arguments, tool.timeout_seconds or limits.timeout_seconds)


def _validated(tool: Tool, text: str) -> dict[str, Any]:
    raw = json.loads(text or "{}")
    if not isinstance(raw, dict):
        raise ValueError(f"the arguments must be a JSON object, not {type(raw).__name__}")
    model: BaseModel = tool.arguments.model_validate(raw)
    return {name: getattr(model, name) for name in tool.arguments.model_fields}


def _reasons(error: ValueError | RecursionError) -> str:
    if isinstance(error, ValidationError):
        lines = [f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}" for item in error.errors()[:5]]
        return "; ".join(lines)
    return f"the arguments are not valid JSON: {error}" if isinstance(error, json.JSONDecodeError) else str(error)


async def _refused(call: ToolCall, approve: Approve | None) -> str | None:
    """Why a call with a side effect must not run, or None when a person agreed."""
    if approve is None:
        return error_text("not_approved", f"{call.name} has side effects and nobody could be asked; it did not run")
    try:
        # in a thread: whoever asks a person blocks, and the loop has other things to do meanwhile
        answer = await _in_thread(lambda: approve(call), f"approve-{call.name}")
        agreed = await _contained(answer) if inspect.isawaitable(answer) else answer
    except Exception as error:  # noqa: BLE001  a host's function: if it cannot ask, nobody agreed
        reason = f"asking for approval failed ({type(error).__name__}: {error})"
        return error_text("not_approved", f"{call.name} did not run: {reason}")
    return None if agreed is True else error_text("denied", f"denied by the user; {call.name} did not run")


async def _execute(tool: Tool, call: ToolCall, arguments: dict[str, Any], timeout_seconds: float) -> Outcome:
    limit = asyncio.timeout(timeout_seconds)
    try:
        async with limit:
            if inspect.iscoroutinefunction(tool.function):
                text = to_text(await _contained(tool.function(**arguments)))
            else:
                # made text there too: a generator does its work only then
                text = await _in_thread(lambda: to_text(tool.function(**arguments)), f"tool-{tool.name}")
        return Outcome(call, text)
    except Exception as error:  # noqa: BLE001  a tool is foreign code: whatever it raises is data for the model
        if limit.expired():
            message = f"no result within {timeout_seconds:g} s; it may still be running"
            return Outcome(call, error_text("timeout", message, "do not assume that it had no effect"), True)
        return Outcome(call, error_text(type(error).__name__, str(error) or f"{tool.name} gave no reason"), True)


class ToolExitError(Exception):
    """A tool tried to end the process or the task; inside the agent that is only the tool's failure."""


async def _contained(work: Awaitable[Any]) -> Any:
    """Awaits foreign code: its exits must not end the loop, nor its own cancellation pass for the person's."""
    try:
        return await work
    except (SystemExit, KeyboardInterrupt, GeneratorExit) as error:
        raise ToolExitError(f"the tool raised {type(error).__name__}") from error
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ToolExitError("the tool was cancelled from inside") from error


async def _in_thread(function: Callable[[], Any], name: str) -> Any:
    """Runs blocking code in a thread of its own. A daemon: one that hangs must not keep the process."""
    loop = asyncio.get_running_loop()
    result: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if result.done():
            return  # timed out or cancelled meanwhile
        if error is None:
            result.set_result(value)
        else:
            result.set_exception(error)

    def work() -> None:
        value, failure = None, None
        try:
            value = function()
        except (SystemExit, KeyboardInterrupt, GeneratorExit, StopIteration) as error:
            failure = ToolExitError(f"the tool raised {type(error).__name__}")
            failure.__cause__ = error
        except Exception as error:  # noqa: BLE001  handed to the caller, who makes it data
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop was closed: nobody waits for this result
            loop.call_soon_threadsafe(settle, value, failure)

    context = contextvars.copy_context()
    threading.Thread(target=context.run, args=(work,), name=f"memagent-{name}", daemon=True).start()
    return await result

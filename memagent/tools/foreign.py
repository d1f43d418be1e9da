"""Running code that is not ours: it may block, hang, or try to end the process."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import threading
from collections.abc import Awaitable, Callable
from typing import Any


class ToolExitError(Exception):
    """A tool tried to end the process or the task; inside the agent that is only the tool's failure."""


async def contained(work: Awaitable[Any]) -> Any:
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


async def in_thread(function: Callable[[], Any], name: str) -> Any:
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

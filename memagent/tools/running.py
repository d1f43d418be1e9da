"""Running calls: validation, consent, time limits, retries; failures are data, results come in call order."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import tenacity

from memagent.sanitize import clean_output
from memagent.tools.approval import Consent, Decision
from memagent.tools.arguments import Arguments, ArgumentsError, known, named, read_arguments
from memagent.tools.cache import ResultCache
from memagent.tools.definition import Tool
from memagent.tools.foreign import contained, in_thread
from memagent.tools.output import error_text, refusal, to_text
from memagent.tools.progress import REPORT
from memagent.tools.selection import unwrapped
from stores.records import ToolCall

RETRY_SECONDS = 0.2
RETRY_MOST_SECONDS = 10.0
"""The pause before a call is tried again is random, up to a bound that doubles from the first to the second."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call, as text for the model. ``pending``: nothing yet, it waits for a person, or was started
    before (by another process, or before a crash), and its result is not ours to tell."""

    call: ToolCall
    content: str
    failed: bool = False
    pending: bool = False


class Watch(Protocol):
    """Who follows the calls of a turn. ``call`` is the model's; ``wanted`` the same with the tool's real name
    and the validated arguments. What these raise ends the turn."""

    def ruled(self, wanted: ToolCall) -> bool:
        """Whether the person agreed to such calls for the whole session."""
        ...

    async def asking(self, call: ToolCall, wanted: ToolCall) -> None:
        """A person is about to be asked, or the call is about to wait for one."""
        ...

    async def decided(self, call: ToolCall, wanted: ToolCall, decision: Decision) -> None:
        """The person answered, or nobody did. Returns before the call runs."""
        ...

    async def starting(self, call: ToolCall, wanted: ToolCall) -> bool:
        """The call is about to run: it is journalled before this returns. False: it ran before."""
        ...

    def progress(self, call: ToolCall, text: str) -> None:
        """The tool says how far it is."""
        ...

    async def finished(self, outcome: Outcome) -> None:
        """The call has an outcome, not a pending one."""
        ...


class Runner:
    """Runs calls of ``tools``. ``timeout_seconds`` for those that have no limit of their own."""

    def __init__(
        self, tools: Mapping[str, Tool], consent: Consent, *, timeout_seconds: float, cache: ResultCache | None = None
    ) -> None:
        self._tools = tools
        self._consent = consent
        self._timeout_seconds = timeout_seconds
        self._cache = cache or ResultCache()

    @property
    def consent_waits(self) -> bool:
        """Whether calls that need consent wait until somebody decides later."""
        return self._consent.waits

    async def run(
        self, calls: Sequence[ToolCall], watch: Watch, decisions: Mapping[str, Decision] | None = None
    ) -> list[Outcome]:
        """Runs independent calls side by side, what is not parallel-safe one after the other, and returns the
        outcomes in call order. ``decisions``, by call id, were made before: those calls are not asked about.
        Only cancellation and an error of ``watch`` get out; other calls are then cancelled too."""
        alone = asyncio.Lock()  # its waiters get it in the order in which they came, which is call order

        async def one(call: ToolCall) -> Outcome:
            meant = named(unwrapped(call, self._tools).name, self._tools)
            beside = meant is None or meant.tool.runs_beside_others
            async with contextlib.nullcontext() if beside else alone:
                outcome = await self._one(call, watch, (decisions or {}).get(call.id))
                if not outcome.pending:
                    await watch.finished(outcome)
                return outcome

        running = [asyncio.create_task(one(call)) for call in calls]
        try:
            return await asyncio.gather(*running)
        finally:  # after an error or a cancellation nothing may run on unseen
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    async def _one(self, call: ToolCall, watch: Watch, decision: Decision | None) -> Outcome:
        asked = unwrapped(call, self._tools)
        meant = named(asked.name, self._tools)
        if meant is None:
            message = f"there is no tool {call.name[:64]!r}"
            return Outcome(call, error_text("unknown_tool", message, known(self._tools), fault="arguments"), True)
        tool = meant.tool
        try:
            arguments = read_arguments(tool, asked.arguments)
        except ArgumentsError as error:
            return _bad(call, str(error), "call again with corrected arguments")
        notes = [*([meant.repair] if meant.repair else []), *arguments.repairs]
        wanted = ToolCall(id=call.id, name=tool.name, arguments=arguments.text)
        if tool.side_effect:
            if decision is None and self._consent.waits and not watch.ruled(wanted):
                await watch.asking(call, wanted)
                return Outcome(call, "", pending=True)
            decision = decision or await self._asked(call, wanted, watch)
            if not decision.agreed:
                return Outcome(call, refusal(tool.name, decision.reason, by_nobody=decision.by == "nobody"), True)
            if decision.arguments is not None:
                try:
                    arguments = read_arguments(tool, json.dumps(decision.arguments))
                except (ArgumentsError, TypeError, ValueError) as error:
                    return _bad(call, f"as the user changed them: {error}", "")
                notes.append(f"the user changed the arguments to {arguments.text}")
                wanted = wanted.model_copy(update={"arguments": arguments.text})
        outcome = await self._kept_or_run(tool, call, wanted, arguments, watch)
        return _noted(outcome, notes)

    async def _asked(self, call: ToolCall, wanted: ToolCall, watch: Watch) -> Decision:
        if watch.ruled(wanted):
            return Decision("yes")
        await watch.asking(call, wanted)
        decision = await self._consent.ask(wanted)
        await watch.decided(call, wanted, decision)
        return decision

    async def _kept_or_run(
        self, tool: Tool, call: ToolCall, wanted: ToolCall, arguments: Arguments, watch: Watch
    ) -> Outcome:
        if tool.cache_seconds and (kept := self._cache.get(tool.name, arguments.text)) is not None:
            return Outcome(call, kept)
        if not await watch.starting(call, wanted):
            return Outcome(call, "", pending=True)
        loop = asyncio.get_running_loop()
        # set in this task's own context, which the tool's thread gets a copy of
        REPORT.set(lambda text: loop.call_soon_threadsafe(watch.progress, call, clean_output(str(text))) and None)
        outcome = await self._with_retries(tool, call, arguments.values, watch)
        if tool.cache_seconds and not outcome.failed:
            self._cache.put(tool.name, arguments.text, outcome.content, tool.cache_seconds)
        return outcome

    async def _with_retries(self, tool: Tool, call: ToolCall, values: Mapping[str, Any], watch: Watch) -> Outcome:
        timeout_seconds = tool.timeout_seconds or self._timeout_seconds
        attempts = tenacity.AsyncRetrying(
            stop=tenacity.stop_after_attempt(tool.retries + 1),
            wait=tenacity.wait_random_exponential(multiplier=RETRY_SECONDS, max=RETRY_MOST_SECONDS),
            retry=tenacity.retry_if_result(lambda outcome: outcome.failed),
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
            before_sleep=lambda state: watch.progress(call, _again(state, tool.retries + 1)),
        )
        return await attempts(_attempt, tool, call, values, timeout_seconds)


async def _attempt(tool: Tool, call: ToolCall, values: Mapping[str, Any], timeout_seconds: float) -> Outcome:
    limit = asyncio.timeout(timeout_seconds)
    function: Callable[..., Any] = tool.function
    try:
        async with limit:
            if inspect.iscoroutinefunction(function):
                text = to_text(await contained(function(**values)))
            else:
                # made text there too: a generator does its work only then
                text = await in_thread(lambda: to_text(function(**values)), f"tool-{tool.name}")
        return Outcome(call, text)
    except Exception as error:  # noqa: BLE001  a tool is foreign code: whatever it raises is data for the model
        if limit.expired():
            message = f"no result within {timeout_seconds:g} s; it may still be running"
            hint = "do not assume that it had no effect"
            return Outcome(call, error_text("timeout", message, hint, fault="timeout"), True)
        return Outcome(call, error_text(type(error).__name__, str(error) or f"{tool.name} gave no reason"), True)


def _again(state: tenacity.RetryCallState, most: int) -> str:
    seconds = state.next_action.sleep if state.next_action else 0.0
    return f"it failed; attempt {state.attempt_number + 1} of {most} in {seconds:.1f} s"


def _bad(call: ToolCall, message: str, hint: str) -> Outcome:
    return Outcome(call, error_text("bad_arguments", message, hint, fault="arguments"), True)


def _noted(outcome: Outcome, notes: Sequence[str]) -> Outcome:
    """What was repaired or changed stands before the result."""
    if not notes or outcome.pending:
        return outcome
    text = "".join(f"Note: {note}\n" for note in notes) + outcome.content
    return Outcome(outcome.call, text, outcome.failed)

"""How an agent comes to be, and what needs no waiting; shared by both faces of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from memagent.agent.assistant import Assistant
from memagent.agent.loop_thread import LoopThread, shared_loop
from memagent.memory.embed import Embedder
from memagent.settings import Settings
from memagent.tools.approval import Approve, Later
from memagent.tools.definition import Tool


class Construction:
    """Construction and what needs no waiting; shared by both faces."""

    def __init__(
        self,
        *,
        model: str | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        data_dir: str | Path | None = None,
        user: str | None = None,
        session: str | None = None,
        tools: Iterable[Callable[..., Any] | Tool] = (),
        instructions: str | None = None,
        window_tokens: int | None = None,
        reply_tokens: int | None = None,
        embedder: str | Embedder | None = None,
        approve: Approve | Later | None = None,
        clock: Callable[[], datetime] | None = None,
        settings: Settings | None = None,
        warm_up: bool = True,
        private: bool = False,
    ) -> None:
        """An agent for one user on one data folder. Arguments win over ``settings``, which win over the
        environment. The stores are opened now; the model and the embedder load in the background and
        their errors come with the first call that needs them. ``warm_up=False``: they load only then.

        ``session``: None for a new one, "last", or the whole id of one to go on in; an id nobody used yet
        begins a session of that name. ``tools``: functions or `tool` objects.
        ``approve(call)`` is asked before a tool with side effects runs, and answers True, "yes", "always" or a
        `Decision`; without it none runs. ``approve="later"``: the exchange ends and the call waits for `decide`.
        ``private``: nothing said in its sessions may become a memory, until `private` says otherwise.
        ``clock()`` gives an aware datetime. Raises SettingsError, ToolError or StoreError."""
        from memagent.build import build_assistant  # the composition root stands above; only the facade calls it

        given = {
            "model": model,
            "base_url": base_url,
            "api_key": api_key,
            "data_dir": data_dir,
            "user": user,
            "instructions": instructions,
            "window_tokens": window_tokens,
            "reply_tokens": reply_tokens,
        }
        self._thread: LoopThread = shared_loop()
        self._assistant: Assistant = self._thread.call(
            build_assistant(
                settings=settings,
                given=given,
                session=session,
                tools=tuple(tools),
                embedder=embedder,
                approve=approve,
                clock=clock,
                warm_up=warm_up,
                private=private,
            )
        )

    @property
    def session_id(self) -> str:
        """The session that the next message goes to."""
        return self._assistant.session_id

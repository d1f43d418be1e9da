"""`memagent chat` on a terminal: the prompt is there at once, the agent opens behind it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from prompt_toolkit import PromptSession
from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.history import FileHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from rich.text import Text

import memagent
from memagent.cli import render, slash
from memagent.cli.consent import TerminalConsent
from memagent.cli.options import open_agent
from memagent.cli.stream import AnswerView, interruptible, shortfall
from memagent.cli.wall import one_line
from memagent.errors import MemagentError
from memagent.settings import INPUT_HISTORY_NAME
from stores.errors import StoreError
from stores.records import MessageRole

if TYPE_CHECKING:
    from memagent import Agent, Message, Settings

PROMPT = "> "
PAST_MESSAGES = 4
"""How many messages of a resumed session are shown again."""


class Opened(NamedTuple):
    """An open agent and the last messages of the session it resumed."""

    agent: Agent
    past: list[Message]


class TerminalChat:
    """One chat on a terminal. `session` as for `Agent`."""

    def __init__(self, settings: Settings, session: str | None, *, private: bool = False) -> None:
        self._settings = settings
        self._session = session
        self._private = private
        self._console = render.console(sys.stdout)
        self._history = OwnerOnlyHistory(settings.data_dir / INPUT_HISTORY_NAME)
        self._prompt: PromptSession[str] = PromptSession(history=self._history, key_bindings=_keys())
        self._answers: PromptSession[str] = PromptSession()
        """What is said to a call's question is no line of the talk: it has no history."""
        self._consent = TerminalConsent(self._console, lambda text, given: self._answers.prompt(text, default=given))
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="memagent-open")
        self._opening: Future[Opened] | None = None
        self._past_shown = False

    def run(self) -> int:
        """Chats until the person quits. Returns 1 if the last message could not be answered, else 0.
        Raises what opening the agent raises."""
        self._console.print(self._banner())
        self._prompt.app.after_render += self._open_behind
        try:
            return self._talk()
        finally:
            self._close()

    def _banner(self) -> Text:
        settings = self._settings
        where = settings.base_url or ("the endpoint" if settings.api_key else "")
        model = " at ".join(part for part in (settings.model or ("" if where else "local model"), where) if part)
        session = {None: "new session", "last": "last session"}.get(self._session, f"session {self._session}")
        return Text(f"memagent {memagent.__version__} · {model} · {session} · /help", style="dim")

    def _talk(self) -> int:
        unsent, code = "", 0
        while True:
            try:
                text = self._prompt.prompt(PROMPT, default=unsent)
            except (EOFError, KeyboardInterrupt):
                return code
            unsent = ""
            if not text.strip():
                continue
            try:
                agent = self._agent()
            except KeyboardInterrupt:  # not open yet: nothing was sent
                unsent = text
                continue
            try:
                if not self._handle(agent, text):
                    return code
                code = 0
            except KeyboardInterrupt:
                self._say("stopped", "dim")
            except (MemagentError, StoreError) as error:
                code = 1
                self._say(one_line(error), "red")
                unsent = text if isinstance(error, StoreError) else ""  # what was not kept is not lost
            if self._history.failure:
                self._say(f"the input history could not be written: {self._history.failure}", "yellow")
                self._history.failure = ""

    def _handle(self, agent: Agent, text: str) -> bool:
        """Answers a message or runs a slash command; False to end the chat."""
        if slash.is_command(text):
            goes_on = slash.run(agent, self._console, text)
            if text.lstrip().startswith("/erase"):
                self._history.read_again()
            return goes_on
        with interruptible(agent):
            finished = AnswerView(self._console, self._consent).show(agent.stream(text))
        missing = shortfall(finished.finish_reason)
        if missing:
            self._say(missing, "dim")
        return True

    def _say(self, text: str, style: str) -> None:
        self._console.print(Text(render.printable(text), style=style))

    # --- opening and closing -------------------------------------------------------------------

    def _open_behind(self, _app: object) -> None:
        """Begins to open the agent once the first prompt is on the screen."""
        if self._opening is None:
            self._opening = self._pool.submit(self._open)
            self._opening.add_done_callback(self._on_open)

    def _open(self) -> Opened:
        agent = open_agent(self._settings, self._session, private=self._private, approve=self._consent)
        if self._session is None:
            return Opened(agent, [])
        said = [m for m in agent.history() if m.content and m.role in (MessageRole.USER, MessageRole.ASSISTANT)]
        return Opened(agent, said[-PAST_MESSAGES:])

    def _on_open(self, opening: Future[Opened]) -> None:
        """Runs in the opening thread; the prompt, if it still waits, learns of it in its own."""
        loop = self._prompt.app.loop
        if loop is not None and loop.is_running():
            loop.call_soon_threadsafe(self._greet, opening)

    def _greet(self, opening: Future[Opened]) -> None:
        app = self._prompt.app
        if not app.is_running or app.is_done:
            return
        error = opening.exception()
        if error is not None:
            app.exit(exception=error)
        elif opening.result().past:
            run_in_terminal(self._show_past)

    def _agent(self) -> Agent:
        """The agent, once it is open. Raises what opening raised."""
        assert self._opening is not None, "a prompt was shown before its text came"
        if not self._opening.done():
            with self._console.status(Text("opening…", style="dim")):
                self._opening.result()
        self._show_past()
        return self._opening.result().agent

    def _show_past(self) -> None:
        if self._past_shown or self._opening is None:
            return
        self._past_shown = True
        for message in self._opening.result().past:
            mark = PROMPT if message.role == MessageRole.USER else ""
            self._say(f"{mark}{message.content}", "dim")

    def _close(self) -> None:
        self._pool.shutdown(wait=True)
        if self._opening is None or self._opening.exception() is not None:
            return
        agent = self._opening.result().agent
        session_id = agent.session_id
        if session_id and agent.history():
            self._say(f"to go on: memagent chat --session {session_id}", "dim")
        for text in render.warnings(agent.happened()):
            self._say(text, "yellow")
        agent.close()


class OwnerOnlyHistory(FileHistory):
    """The lines typed before, in a file only its owner can read. ``failure`` is why the last line
    could not be written, or empty."""

    def __init__(self, path: Path) -> None:
        self.failure = ""
        self._attempt(lambda: _make_owner_only(path))
        super().__init__(str(path))

    def load_history_strings(self) -> list[str]:
        """Newest first; none if the file cannot be read."""
        lines: list[str] = []
        self._attempt(lambda: lines.extend(super(OwnerOnlyHistory, self).load_history_strings()))
        return lines

    def read_again(self) -> None:
        """Forgets what was loaded: the file was changed, and the next prompt reads it anew."""
        self._loaded, self._loaded_strings = False, []

    def store_string(self, string: str) -> None:
        """Appends one entry; a full disk does not end the chat."""
        clean = string.encode("utf-8", "replace").decode("utf-8")  # a terminal may deliver lone surrogates
        self._attempt(lambda: super(OwnerOnlyHistory, self).store_string(clean))

    def _attempt(self, step: Callable[[], object]) -> None:
        try:
            step()
        except OSError as error:
            self.failure = error.strerror or str(error)


def _make_owner_only(path: Path) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        os.fchmod(descriptor, 0o600)
    finally:
        os.close(descriptor)


def _keys() -> KeyBindings:
    """Enter sends, Alt-Enter breaks the line, Ctrl-C clears a line that has text and else quits."""
    keys = KeyBindings()

    @keys.add("escape", "enter")
    def _break_line(event: KeyPressEvent) -> None:  # pyright: ignore[reportUnusedFunction]
        event.current_buffer.insert_text("\n")

    @keys.add("c-c")
    def _clear_or_quit(event: KeyPressEvent) -> None:  # pyright: ignore[reportUnusedFunction]
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    return keys

"""The command line, seen from outside: what a person or a script types, and what comes back."""

from __future__ import annotations

import re
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pytest

from tests.scripted_server import Reply, ScriptedServer, fail, say
from tests.shell import Shell, last_text, texts

PROMPT = r"\x1b\[0m>"
SISTER = "My sister Maya lives in Lisbon and I am allergic to peanuts"


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as scripted:
        yield scripted
        scripted.check()


@pytest.fixture
def shell(tmp_path: Path, server: ScriptedServer) -> Shell:
    return Shell(tmp_path, server.base_url)


# --- the command itself ------------------------------------------------------------------------


def test_help_is_quick(shell: Shell) -> None:
    def seconds() -> float:
        start = time.perf_counter()
        shell.run("--help")
        return time.perf_counter() - start

    assert min(seconds() for _ in range(5)) < 0.4


def test_every_command_has_help(shell: Shell) -> None:
    listed = shell.run("--help").stdout
    for command in ("chat", "ask", "sessions", "context", "history", "memory", "model"):
        assert command in listed
        assert "Usage: memagent" in shell.run(command, "--help").stdout
    assert shell.run("--version").stdout.startswith("memagent 0.")


@pytest.mark.parametrize(
    "args",
    [
        ("nonsense",),
        ("chat", "--window-tokens", "512"),
        ("ask", "   "),
        ("ask", "hi", "--session", "a", "--continue"),
        ("memory", "add", " "),
        ("memory", "search", "x", "--limit", "0"),
        ("history", "search", "x", "--session", "a", "--all"),
    ],
)
def test_wrong_usage_is_exit_code_2(shell: Shell, args: tuple[str, ...]) -> None:
    done = shell.run(*args, code=2)
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    assert "Error: " in done.stderr


# --- chat from a pipe --------------------------------------------------------------------------


def test_chat_from_a_pipe_prints_the_answers_and_nothing_else(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Noted, **Maya** in Lisbon."), say("Gladly."))
    done = shell.run("chat", given=f"{SISTER}\r\n\n   \nThank you")
    assert done.stdout == "Noted, **Maya** in Lisbon.\nGladly.\n"
    assert done.stderr == ""
    assert shell.said() == [
        ("user", SISTER),
        ("assistant", "Noted, **Maya** in Lisbon."),
        ("user", "Thank you"),
        ("assistant", "Gladly."),
    ]


def test_a_new_session_is_answered_from_an_old_one(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Noted."), say("In Lisbon."))
    shell.run("chat", given=f"{SISTER}\n/quit\nnever read\n")
    assert shell.run("chat", given="Where does my sister live?\n").stdout == "In Lisbon.\n"
    first, second = server.bodies
    assert len(second["messages"]) == 2, "a new session: a system message and the question"
    assert "Maya lives in Lisbon" in last_text(second)
    assert last_text(second).rstrip().endswith("Where does my sister live?")
    assert len(shell.json("sessions")) == 2
    assert first["model"] == "scripted"


def test_continue_and_session_resume(shell: Shell, server: ScriptedServer) -> None:
    shell.env["MEMAGENT_RECALL_TOKENS"] = "0"  # what is seen came from the session itself
    server.add(*[say(f"answer {number}") for number in range(4)])
    shell.run("chat", given="the first session\n")
    shell.run("chat", given="the second session\n")
    newest, oldest = shell.json("sessions")
    assert newest["title"].startswith("the second")
    shell.run("chat", "--continue", given="go on\n")
    shell.run("ask", "and you too", "--session", oldest["id"][:-1])
    assert any("the second session" in text for text in texts(server.bodies[2]))
    assert any("the first session" in text for text in texts(server.bodies[3]))
    assert len(shell.json("sessions")) == 2


def test_an_unknown_session_is_one_line(shell: Shell) -> None:
    done = shell.run("chat", "--session", "nosuch", given="hello\n", code=1)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert "nosuch" in done.stderr


def test_slash_commands_from_a_pipe(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Hello."), say("Again."))
    lines = ["/help", "Hi", "/remember I prefer trains to planes", "/memory how do I like to travel", "/context"]
    lines.append("/history hello")
    done = shell.run("chat", given="\n".join([*lines, "/new", "Once more", "/sessions", "/quit", "not sent"]))
    assert "/forget ID" in done.stdout
    assert "trains" in done.stdout
    assert re.search(r"assistant +Hello\.", done.stdout)
    assert re.search(r"\bcurrent +\d", done.stdout)
    assert "\x1b" not in done.stdout
    assert len(server.bodies) == 2
    assert len(shell.json("sessions")) == 2
    memory_id = re.search(r"remembered as (\S+)", done.stdout)
    assert memory_id is not None
    shell.run("chat", given=f"/forget {memory_id[1]}\n")
    assert shell.json("memory", "show", memory_id[1])["state"] == "forgotten"


@pytest.mark.parametrize("line", ["/nope now", "/remember", "/forget nosuch", "/", "/Quit"])
def test_a_bad_slash_command_is_told_and_never_sent(shell: Shell, server: ScriptedServer, line: str) -> None:
    server.add(say("Fine."))
    done = shell.run("chat", given=f"{line}\nHow are you?\n", code=1)
    assert done.stdout == "Fine.\n"
    assert done.stderr.count("\n") == 1
    assert [last_text(body).rstrip().endswith("How are you?") for body in server.bodies] == [True]


def test_any_locale_gets_utf8(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("她住在里斯本 🌊"), say("是的"))
    env = {"LC_ALL": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = shell.run("chat", given="我妹妹住在里斯本\n/context\n", env=env)
    assert done.stdout.startswith("她住在里斯本 🌊\n")
    assert "我妹妹住在里斯本" in last_text(server.bodies[0])
    assert shell.run("ask", "我妹妹住在哪里", env=env).stdout == "是的\n"


def test_input_that_is_not_text_does_not_stop_the_chat(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("What?"), say("Fine."))
    assert shell.run("chat", given=b"\xff\xfe bytes\x00\n\xef\xbb\xbfok\n").stdout == "What?\nFine.\n"


# --- failures ----------------------------------------------------------------------------------


def test_a_line_that_fails_does_not_take_the_others_along(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("One."), fail(400, "no such luck"), say("Three."))
    done = shell.run("chat", given="first\nsecond\nthird\n", code=1)
    assert done.stdout == "One.\nThree.\n"
    assert done.stderr.count("\n") == 1
    assert "no such luck" in done.stderr
    assert [text for role, text in shell.said() if role == "user"] == ["first", "second", "third"]


@pytest.mark.parametrize(
    ("step", "word"),
    [
        (fail(401, "Incorrect API key provided", "invalid_api_key"), "key"),
        (fail(404, "The model `scripted` does not exist", "model_not_found"), "model"),
        (fail(429, "You exceeded your current quota", "insufficient_quota"), "quota"),
        (fail(500, "the backend fell over"), "fell over"),
    ],
)
def test_what_an_endpoint_refuses_is_one_line(shell: Shell, server: ScriptedServer, step: object, word: str) -> None:
    server.add(step)  # pyright: ignore[reportArgumentType]
    done = shell.run("ask", "hello", code=1)
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    assert word in done.stderr
    assert "sk-test" not in done.stderr
    assert shell.said() == [("user", "hello")]


def test_a_dead_endpoint_is_one_line_and_nothing_is_lost(tmp_path: Path) -> None:
    with ScriptedServer() as gone:
        base_url = gone.base_url
    shell = Shell(tmp_path, base_url)
    done = shell.run("chat", given="hello\nstill there?\n", code=1)
    assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert base_url.split("/")[2] in done.stderr
    assert [text for _, text in shell.said()][:1] == ["hello"]
    assert "still there?" in [text for _, text in shell.said()]


def test_a_stream_that_dies_is_printed_and_counts_as_failed(shell: Shell, server: ScriptedServer) -> None:
    server.add(Reply("This is the beg", ending="close"))
    done = shell.run("ask", "tell me", code=1)
    assert done.stdout == "This is the beg\n"
    assert "broke off" in done.stderr


def test_wrong_settings_are_one_line(shell: Shell) -> None:
    (shell.cwd / "memagent.toml").write_text("turn_limit = 0\n")
    done = shell.run("sessions", code=1)
    assert done.stderr.count("\n") == 1
    assert "turn_limit" in done.stderr


def test_a_data_folder_that_is_not_ours_is_one_line(shell: Shell) -> None:
    shell.data_dir.write_text("a file")
    done = shell.run("chat", given="hello\n", code=1)
    assert done.stderr.count("\n") == 1
    assert "Traceback" not in done.stderr


# --- ask, sessions, context, memory ------------------------------------------------------------


def test_ask_reads_its_argument_or_its_input(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("a"), say("b"), say("c"))
    assert shell.run("ask", "from the argument").stdout == "a\n"
    assert shell.run("ask", given="from the input\nin two lines\n").stdout == "b\n"
    assert shell.run("ask", "-", given="from a dash").stdout == "c\n"
    for body, text in zip(server.bodies, ("argument", "input\nin two lines", "dash"), strict=True):
        assert text in last_text(body)


def test_ask_json(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Grüße aus 東京", usage={"prompt_tokens": 100, "completion_tokens": 7, "total_tokens": 107}))
    got = shell.json("ask", "greet me")
    assert got["text"] == "Grüße aus 東京"
    assert got["finish_reason"] == "stop"
    assert got["usage"]["completion_tokens"] == 7
    assert got["session"] == shell.json("sessions")[0]["id"]
    assert got["manifest"]["total_tokens"] <= got["manifest"]["budget_tokens"]


def test_lists_end_quietly_when_the_reader_has_seen_enough(shell: Shell, server: ScriptedServer) -> None:
    server.default = say("ok")
    shell.run("chat", given="".join(f"message {number} {'x' * 200}\n/new\n" for number in range(20)))
    command = " ".join(f"'{part}'" for part in shell.argv("sessions", "--json"))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -1"],
        capture_output=True, text=True, env=shell.env, cwd=shell.cwd, timeout=60,
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("[\n", "")


def test_context_show(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Noted."), say("In Lisbon."))
    shell.run("ask", SISTER)
    shell.run("ask", "Where does my sister live?")
    manifest = shell.json("context", "show")
    assert sum(manifest["sections"].values()) == manifest["total_tokens"] <= manifest["budget_tokens"]
    assert any("Lisbon" in candidate["text"] and candidate["included"] for candidate in manifest["candidates"])
    shown = shell.run("context", "show").stdout
    assert f"{manifest['total_tokens']:,} of {manifest['budget_tokens']:,} tokens" in shown
    assert "recalled" in shown
    assert "Lisbon" in shown
    oldest = shell.json("sessions")[-1]["id"]
    assert shell.json("context", "show", "--session", oldest)["candidates"] == []


def test_context_show_of_a_text_asks_no_model_and_writes_nothing(shell: Shell, server: ScriptedServer) -> None:
    shell.run("memory", "add", "My sister Maya lives in Lisbon")
    manifest = shell.json("context", "show", "Where does my sister live?")
    assert manifest["sections"]["recalled"] > 0
    assert shell.json("sessions") == []
    assert server.bodies == []


def test_memories_are_added_found_forgotten_and_restored(shell: Shell) -> None:
    added = shell.json("memory", "add", "I prefer trains to planes")
    shell.run("memory", "add", "我妹妹住在里斯本")
    assert {memory["text"] for memory in shell.json("memory", "list")} == {added["text"], "我妹妹住在里斯本"}
    assert shell.json("memory", "search", "travel by train")[0]["memory"]["id"] == added["id"]
    assert shell.json("memory", "search", "我妹妹住在哪里")[0]["memory"]["text"] == "我妹妹住在里斯本"
    shell.run("memory", "forget", added["id"])
    assert added["id"] not in [hit["memory"]["id"] for hit in shell.json("memory", "search", "trains or planes")]
    assert [memory["id"] for memory in shell.json("memory", "list", "--forgotten")] == [added["id"]]
    shell.run("memory", "restore", added["id"])
    assert shell.json("memory", "show", added["id"])["state"] == "active"
    assert "trains" in shell.run("memory", "list").stdout
    assert "nosuch" in shell.run("memory", "show", "nosuch", code=1).stderr


def test_the_history_is_searched(shell: Shell, server: ScriptedServer) -> None:
    server.add(say("Noted: K-4471."), say("Fine."))
    shell.run("ask", "Maya rented a locker, its code is K-4471")
    shell.run("ask", "Good morning")
    assert shell.json("history", "search", "code of the locker") == []  # the last session only
    old = shell.json("sessions")[1]["id"]
    for where in (("--all",), ("--session", old[:8])):
        hit = shell.json("history", "search", "code of the locker", *where)[0]
        assert (hit["role"], hit["session_id"]) == ("user", old)
        assert "K-4471" in hit["snippet"]
        assert "K-4471" in shell.run("history", "search", "code of the locker", *where).stdout
    assert "nothing found" in shell.run("history", "search", "zeppelin", "--all").stdout
    assert shell.json("history", "search", "locker", "--all", "--user", "bob") == []
    assert "nosuch" in shell.run("history", "search", "x", "--session", "nosuch", code=1).stderr


def test_users_do_not_see_each_other(shell: Shell) -> None:
    added = shell.json("memory", "add", "I prefer trains to planes", "--user", "ann")
    assert shell.json("memory", "list", "--user", "bob") == []
    assert shell.json("memory", "search", "trains", "--user", "bob") == []
    shell.run("memory", "forget", added["id"], "--user", "bob", code=1)
    assert len(shell.json("memory", "list", "--user", "ann")) == 1


# --- signals -----------------------------------------------------------------------------------


def _until(condition: Callable[[], object], seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_signal_during_an_answer_ends_quietly(
    shell: Shell, server: ScriptedServer, number: signal.Signals, code: int
) -> None:
    server.add(Reply("slowly " * 400, pause_seconds=0.1))
    process = shell.start("ask", "tell me a long story")
    _until(lambda: server.bodies)
    time.sleep(0.5)
    process.send_signal(number)
    _, err = process.communicate(timeout=30)
    assert process.returncode == code
    assert b"Traceback" not in err
    assert ("user", "tell me a long story") in shell.said()


# --- a terminal --------------------------------------------------------------------------------


@pytest.fixture
def terminal(shell: Shell) -> Iterator[Callable[..., pexpect.spawn]]:
    """Starts the command on a terminal of 24 lines and 100 columns."""
    started: list[pexpect.spawn] = []

    def start(*args: str) -> pexpect.spawn:
        command, *rest = shell.argv(*args)
        env = shell.env | {"TERM": "xterm-256color", "PROMPT_TOOLKIT_NO_CPR": "1"}
        child = pexpect.spawn(
            command, rest, env=env, cwd=str(shell.cwd), encoding="utf-8", timeout=30, dimensions=(24, 100)
        )
        started.append(child)
        return child

    yield start
    for child in started:
        child.close(force=True)


def _end(child: pexpect.spawn) -> int | None:
    child.expect(pexpect.EOF)
    child.close()
    return child.exitstatus


def test_chat_on_a_terminal(shell: Shell, server: ScriptedServer, terminal: Callable[..., pexpect.spawn]) -> None:
    server.add(say("Noted, \x1b[31mMaya."))
    child = terminal("chat")
    child.expect("memagent 0")
    child.expect(PROMPT)
    child.send(f"{SISTER}\r")
    child.expect("thinking")
    child.expect("Maya")
    assert "\x1b[31mMaya" not in child.before + child.after
    child.expect(PROMPT)
    child.sendeof()
    child.expect("memagent chat --session")
    assert _end(child) == 0
    history = shell.data_dir / "input_history"
    assert SISTER in history.read_text("utf-8")
    assert stat.S_IMODE(history.stat().st_mode) == 0o600
    assert stat.S_IMODE(shell.data_dir.stat().st_mode) == 0o700


def test_ctrl_c_stops_the_answer_and_the_chat_goes_on(
    shell: Shell, server: ScriptedServer, terminal: Callable[..., pexpect.spawn]
) -> None:
    server.add(Reply("slowly " * 400, pause_seconds=0.1), say("Of course."))
    child = terminal("chat")
    child.expect(PROMPT)
    child.send("tell me a long story\r")
    child.expect("slowly slowly")
    child.sendintr()
    child.expect("what was said is kept")
    child.expect(PROMPT)
    child.send("and now a short one\r")
    child.expect("Of course")
    child.expect(PROMPT)
    child.send("half a thought")
    child.expect("half a thought")
    child.sendintr()
    child.send("/quit\r")
    assert _end(child) == 0
    assert any("slowly slowly" in text for text in texts(server.bodies[1]))
    assert [text for role, text in shell.said() if role == "user"] == ["tell me a long story", "and now a short one"]


def test_a_pasted_text_of_several_lines_is_one_message(
    server: ScriptedServer, terminal: Callable[..., pexpect.spawn]
) -> None:
    server.add(say("Three lines."))
    child = terminal("chat")
    child.expect(PROMPT)
    child.send("\x1b[200~line one\nline two\nline three\x1b[201~")
    child.expect("line three")
    child.send("\r")
    child.expect("Three lines")
    child.expect(PROMPT)
    child.sendintr()
    assert _end(child) == 0
    assert "line one\nline two\nline three" in last_text(server.bodies[0])


def test_a_resumed_session_shows_what_was_said_last(
    server: ScriptedServer, shell: Shell, terminal: Callable[..., pexpect.spawn]
) -> None:
    server.add(say("Noted."))
    shell.run("chat", given=f"{SISTER}\n")
    child = terminal("chat", "--continue")
    child.expect("Maya lives in Lisbon")
    child.expect("Noted")
    child.expect(PROMPT)
    child.sendeof()
    assert _end(child) == 0


def test_a_failure_on_a_terminal_is_told_and_the_chat_goes_on(
    server: ScriptedServer, terminal: Callable[..., pexpect.spawn]
) -> None:
    server.add(fail(401, "Incorrect API key provided"), say("Better."))
    child = terminal("chat")
    child.expect(PROMPT)
    child.send("hello\r")
    child.expect("key")
    child.expect(PROMPT)
    child.send("again\r")
    child.expect("Better")
    child.expect(PROMPT)
    child.sendeof()
    assert _end(child) == 0


def test_a_session_that_does_not_exist_ends_the_prompt(terminal: Callable[..., pexpect.spawn]) -> None:
    child = terminal("chat", "--session", "nosuch")
    child.expect("memagent: .*nosuch")
    assert _end(child) == 1

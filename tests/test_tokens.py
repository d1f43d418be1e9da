"""Counting: always a number, quickly, without network, and the same as tiktoken's where that is meant."""

from __future__ import annotations

import base64
import json
import os
import random
import shutil
import string
import subprocess
import sys
import time
from pathlib import Path

import pytest
import tiktoken
from hypothesis import given
from hypothesis import strategies as st

from memagent.llm import tokens
from memagent.llm.tokens import (
    CALL_TOKENS,
    MESSAGE_TOKENS,
    START_MARGIN,
    TOOL_TOKENS,
    TOOLS_PREAMBLE_TOKENS,
    TokenCounter,
    encoding_for,
    estimate,
)

TOP = Path(tokens.__file__).parents[2]
ENCODINGS = ("cl100k_base", "o200k_base")


@pytest.fixture(params=ENCODINGS)
def counter(request: pytest.FixtureRequest) -> TokenCounter:
    return TokenCounter(request.param, exact=True, image_tokens=900)


# --- C05: the counter always gives a number ------------------------------------------------------


@pytest.mark.parametrize("special", ["<|endoftext|>", "<|im_start|>", "<|fim_prefix|>", "<|endofprompt|>", "<|start|>"])
def test_special_token_text_counts_as_plain_text(counter: TokenCounter, special: str) -> None:
    assert counter.text(special) > 1
    assert counter.text(f"what does {special} do?") > counter.text("what does do?") + 1


def test_endoftext_is_seven_tokens_in_cl100k() -> None:
    assert TokenCounter("cl100k_base").text("<|endoftext|>") == 7


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("o1", ("o200k_base", True)),
        ("o3-mini", ("o200k_base", True)),
        ("o4-mini-2025-04-16", ("o200k_base", True)),
        ("openai/o3", ("o200k_base", True)),
        ("gpt-4o", ("o200k_base", True)),
        ("GPT-4o-mini", ("o200k_base", True)),
        ("openrouter/openai/gpt-4.1-nano", ("o200k_base", True)),
        ("gpt-5.1", ("o200k_base", True)),
        ("gpt-5-mini", ("o200k_base", True)),
        ("chatgpt-4o-latest", ("o200k_base", True)),
        ("ft:gpt-4o:acme::x", ("o200k_base", True)),
        ("ft:gpt-3.5-turbo:acme::x", ("cl100k_base", True)),
        ("gpt-4", ("cl100k_base", True)),
        ("gpt-4-turbo-2024-04-09", ("cl100k_base", True)),
        ("azure/gpt-35-turbo", ("cl100k_base", True)),
        ("openai/gpt-4o:extended", ("o200k_base", True)),
        ("my-org/qwen-7b:free", ("o200k_base", False)),
        ("someone/gpt-4o-clone", ("o200k_base", False)),
        ("gpt-4all", ("o200k_base", False)),
        ("ft:", ("o200k_base", False)),
        ("o", ("o200k_base", False)),
        ("olmo-2", ("o200k_base", False)),
        ("/", ("o200k_base", False)),
        ("", ("o200k_base", False)),
    ],
)
def test_encoding_for(name: str, expected: tuple[str, bool]) -> None:
    assert encoding_for(name) == expected
    encoding, exact = expected
    counter = TokenCounter(encoding, exact)
    assert counter.exact is exact
    assert counter.start_margin == START_MARGIN[exact] == (1.0 if exact else 1.3)


@given(st.text(st.characters(codec=None)))
def test_any_model_name_and_any_text_give_a_number(text: str) -> None:
    encoding, exact = encoding_for(text)
    count = TokenCounter(encoding, exact).text(text)
    assert (count > 0) == bool(text)
    assert (estimate(text) > 0) or not text.strip()


@pytest.mark.parametrize(
    "text", ["a" * 1_000_000, "!" * 1_000_000, " " * 1_000_000, "我" * 1_700_000, "😀" * 1_200_000]
)
def test_huge_runs_are_counted_quickly_and_remembered(counter: TokenCounter, text: str) -> None:
    start = time.perf_counter()
    count = counter.text(text)
    assert time.perf_counter() - start < 5
    assert 0 < count <= len(text.encode())
    start = time.perf_counter()
    for _ in range(100):
        assert counter.text(text) == count
    assert time.perf_counter() - start < 0.1


def test_a_lone_surrogate_is_counted(counter: TokenCounter) -> None:
    assert counter.text("ok \ud83d end") > 2


_WITHOUT_VOCABULARY = """
import socket, sys, os, time
attempts = []
def refuse(*args, **kwargs):
    attempts.append(args)
    raise OSError("no network here")
socket.getaddrinfo = socket.create_connection = refuse
from memagent.llm.tokens import TokenCounter, estimate
start = time.monotonic()
for _ in range(50):
    counter = TokenCounter("o200k_base", exact=True)
assert time.monotonic() - start < 5
assert not counter.exact and counter.start_margin == 1.3
for char in "我あ한龘ア":
    assert counter.text(char * 3000) >= 2700, char
assert counter.text("😀" * 500) >= 500
assert counter.text("<|endoftext|>") == estimate("<|endoftext|>") > 1
start = time.monotonic()
assert counter.text("a" * 1_000_000) > 0
assert time.monotonic() - start < 5
assert not attempts, attempts
assert "TIKTOKEN_CACHE_DIR" not in os.environ
print("fine")
"""


@pytest.mark.parametrize("harm", ["missing", "damaged"])
def test_without_vocabularies_it_estimates_and_never_uses_the_network(tmp_path: Path, harm: str) -> None:
    """In a copy of the package, so that nothing is patched."""
    for package in ("memagent", "stores"):
        shutil.copytree(TOP / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    files = [path for path in (tmp_path / "memagent/llm/vocabularies").iterdir() if not path.suffix]
    assert len(files) == 2
    for path in files:
        if harm == "missing":
            path.unlink()
        else:
            path.write_bytes(path.read_bytes()[:-100])
    environ = {key: value for key, value in os.environ.items() if key != "TIKTOKEN_CACHE_DIR"}
    done = subprocess.run(
        [sys.executable, "-c", _WITHOUT_VOCABULARY],
        cwd=tmp_path,
        env=environ,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.stdout.strip() == "fine", done.stderr
    assert done.stderr.count("cannot be loaded") == 1
    assert harm == "missing" or all(path.exists() for path in files)


def test_the_hosts_tiktoken_cache_variable_is_left_alone(tmp_path: Path) -> None:
    program = "import os; from memagent.llm.tokens import TokenCounter; TokenCounter().text('x'); "
    program += "print(os.environ['TIKTOKEN_CACHE_DIR'])"
    environ = {**os.environ, "TIKTOKEN_CACHE_DIR": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=TOP, env=environ, capture_output=True, text=True, timeout=60
    )
    assert done.stdout.strip() == str(tmp_path), done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_encoding_is_refused() -> None:
    with pytest.raises(ValueError, match="o200k_base"):
        TokenCounter("p50k_base")


# --- the estimate --------------------------------------------------------------------------------

_random = random.Random(7)
SAMPLES = {
    "prose": "The journal is append-only and is the truth; summaries, vectors and statistics are views.\n" * 20,
    "code": Path(tokens.__file__).read_text("utf-8"),
    "json": json.dumps({f"key_{n}": [n, str(n * 7919), None, True] for n in range(200)}, indent=2),
    "base64": base64.b64encode(_random.randbytes(6_000)).decode(),
    "hex": _random.randbytes(6_000).hex(),
    "letters": "".join(_random.choices(string.ascii_letters, k=6_000)),
    "printable": "".join(_random.choices(string.printable, k=6_000)),
    "control": "".join(chr(_random.randrange(32)) for _ in range(2_000)),
    "chinese": "我妹妹住在里斯本，她对花生过敏。我们明天下午三点去看牙医。" * 30,
    "japanese": "わたしの妹はリスボンに住んでいます。" * 30,
    "korean": "내 여동생은 리스본에 살고 땅콩 알레르기가 있어요." * 30,
    "thai": "น้องสาวของฉันอาศัยอยู่ในลิสบอน" * 30,
    "hindi": "मेरी बहन लिस्बन में रहती है" * 30,
    "amharic": "እህቴ በሊዝበን ትኖራለች" * 30,
    "russian": "Моя сестра живёт в Лиссабоне. " * 30,
    "arabic": "أختي تعيش في لشبونة. " * 30,
    "emoji": "".join(chr(_random.randrange(0x1F300, 0x1FAFF)) for _ in range(500)) + "👩‍👩‍👧‍👦" * 50,
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_the_estimate_is_never_below_the_true_count(counter: TokenCounter, kind: str) -> None:
    true = counter.text(SAMPLES[kind])
    assert true <= estimate(SAMPLES[kind]) <= 8 * true


# --- counting as tiktoken does -------------------------------------------------------------------


def _reference(encoding: str, text: str) -> int:
    return len(tiktoken.get_encoding(encoding).encode(text, disallowed_special=()))


@given(st.text(), st.sampled_from(ENCODINGS))
def test_short_texts_count_as_tiktoken_counts(text: str, encoding: str) -> None:
    assert TokenCounter(encoding).text(text) == _reference(encoding, text)


def test_slicing_long_texts_does_not_change_the_count_of_words(counter: TokenCounter) -> None:
    words = _random.choices(SAMPLES["prose"].split() + SAMPLES["russian"].split(), k=60_000)
    text = " ".join(words)
    assert abs(counter.text(text) - _reference(counter.encoding, text)) <= len(text) // 16_000


# --- messages and tools --------------------------------------------------------------------------


def test_message_counts_all_that_travels(counter: TokenCounter) -> None:
    plain = counter.message({"role": "user", "content": "hello there"})
    assert plain == MESSAGE_TOKENS + counter.text("hello there")
    assert counter.message({"role": "user", "content": "hello there", "name": "Maya"}) == plain + counter.text("Maya")
    assert counter.message({"role": "assistant", "content": None}) == MESSAGE_TOKENS
    result = {"role": "tool", "content": "42", "tool_call_id": "call_17"}
    assert counter.message(result) == MESSAGE_TOKENS + counter.text("42") + counter.text("call_17")


def test_calls_count_names_ids_and_arguments(counter: TokenCounter) -> None:
    arguments = json.dumps({"text": "word " * 1_500})
    call = {"id": "call_1", "type": "function", "function": {"name": "note", "arguments": arguments}}
    count = counter.message({"role": "assistant", "content": None, "tool_calls": [call, call]})
    one = CALL_TOKENS + sum(counter.text(part) for part in ("call_1", "note", arguments))
    assert count == MESSAGE_TOKENS + 2 * one
    assert one >= 1_500
    as_object = {"function": {"name": "note", "arguments": json.loads(arguments)}}
    assert counter.message({"role": "assistant", "tool_calls": [as_object]}) >= 1_500
    assert counter.message({"role": "assistant", "tool_calls": [{"function": None}]}) == MESSAGE_TOKENS + CALL_TOKENS


def test_an_image_costs_its_fixed_price_whatever_its_bytes(counter: TokenCounter) -> None:
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 800_000}}
    parts = [{"type": "text", "text": "what is this?"}, image, {"type": "text", "text": "tell me"}]
    count = counter.message({"role": "user", "content": parts})
    assert count == MESSAGE_TOKENS + 900 + counter.text("what is this?") + counter.text("tell me")


def test_unknown_parts_and_fields_count_as_their_json(counter: TokenCounter) -> None:
    assert counter.message({"role": "user", "content": [{"type": "odd", "data": "x " * 500}]}) > 500
    assert counter.message({"role": "assistant", "content": "x", "reasoning_content": "y " * 500}) > 500
    assert counter.message({"role": "assistant", "content": "x", "extra": {"a": "y " * 500}}) > 500


def test_tools_count_their_schemas_in_their_own_script(counter: TokenCounter) -> None:
    tool = {"type": "function", "function": {"name": "note", "description": "记下来 " * 80, "parameters": {}}}
    compact = json.dumps(tool, ensure_ascii=False, separators=(",", ":"))
    assert counter.tools([]) == 0
    assert counter.tools([tool, tool]) == TOOLS_PREAMBLE_TOKENS[True] + 2 * (TOOL_TOKENS + counter.text(compact))

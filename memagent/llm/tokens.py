"""Counting tokens, without any network.

The vocabularies lie in this package. All counts are raw: the learned margin is applied by whoever
budgets (`START_MARGIN` is where it starts).
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import tiktoken

REPLY_PRIMING_TOKENS = 3
"""What a server adds after the last message to open the reply."""
MESSAGE_TOKENS = 4
"""Role and delimiters of one message."""
CALL_TOKENS = 8
"""Delimiters and field names of one tool call."""
TOOL_TOKENS = 8
"""Wrapping of one tool schema."""
TOOLS_PREAMBLE_TOKENS: Mapping[bool, int] = {True: 16, False: 110}
"""What comes once if there are tools, by exactness. Open models' templates explain there how to call one:
98 tokens for Qwen2.5, so that without it a short prompt with two tools was 1.49 times its estimate."""
START_MARGIN: Mapping[bool, float] = {True: 1.0, False: 1.3}
"""Where the learned margin starts, by whether the tokenizer is the model's own."""

_VOCABULARIES = Path(__file__).parent / "vocabularies"
_FILES = {
    "cl100k_base": (
        "9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
        "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    ),
    "o200k_base": (
        "fb374d419588a4632f3f557e76b4b70aebbca790",
        "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
    ),
}
_CACHE_DIR_VARIABLE = "TIKTOKEN_CACHE_DIR"
_CACHED_TEXTS = 65_536
_SLICE_CHARS = 16_000
_SEAM = re.compile(r"(?<=[A-Za-z]) (?=[A-Za-z])|(?<=\n)(?=[A-Za-z])")
_SEAM_SEARCH_CHARS = 200

_load_lock = threading.Lock()
_log = logging.getLogger(__name__)

_O200K = re.compile(r"(gpt-4o|gpt-4\.1|gpt-4\.5|gpt-[5-9](\.\d+)?|gpt-oss|o[1-9])(-.*)?|chatgpt-.*")
_CL100K = re.compile(r"(gpt-4|gpt-3\.5|gpt-35)(-.*)?")
_OPENAI_HOSTS = {"openai", "azure"}


def encoding_for(model_name: str) -> tuple[str, bool]:
    """The vocabulary for a model's name, and whether it is the model's own.

    Understands ``ft:BASE:…`` and ``…/openai/NAME``. Everything unknown gets o200k_base, not exact.
    """
    name = model_name.strip().lower()
    *owners, name = name.split("/")
    if owners and owners[-1] not in _OPENAI_HOSTS:
        return "o200k_base", False
    if name.startswith("ft:"):
        name = name.split(":")[1]
    name = name.split(":")[0]
    if _O200K.fullmatch(name):
        return "o200k_base", True
    if _CL100K.fullmatch(name):
        return "cl100k_base", True
    return "o200k_base", False


class TokenCounter:
    """Counts with one vocabulary. Cheap to make; counts are shared by all counters of an encoding.

    ``exact`` says that the vocabulary is the model's own; it turns False when the vocabulary could
    not be loaded and counts are estimates by characters (see `estimate`). Thread-safe.
    """

    def __init__(self, encoding: str = "o200k_base", exact: bool = False, image_tokens: int = 1_500) -> None:
        self._counts = _counts(encoding)
        self.encoding = encoding
        self.exact = exact and self._counts.loaded
        self.image_tokens = image_tokens

    @property
    def loaded(self) -> bool:
        """False: no vocabulary could be loaded, counts are estimates."""
        return self._counts.loaded

    @property
    def start_margin(self) -> float:
        return START_MARGIN[self.exact]

    def text(self, text: str) -> int:
        """Tokens of a text; what spells a special token counts as plain text."""
        return self._counts.of(text)

    def message(self, message: Mapping[str, Any]) -> int:
        """Tokens of a message in the chat-completions format, with its overhead."""
        total = MESSAGE_TOKENS
        for field, value in message.items():
            if field == "role" or value is None:
                continue
            if isinstance(value, str):
                total += self.text(value)
            elif field == "content":
                total += sum(self._part(part) for part in value)
            elif field == "tool_calls":
                total += sum(self._call(call) for call in value)
            else:
                total += self.text(_compact(value))
        return total

    def tools(self, tools: Sequence[Mapping[str, Any]]) -> int:
        """Tokens of the tool schemas as compact JSON, with what introduces them; 0 for none."""
        if not tools:
            return 0
        return TOOLS_PREAMBLE_TOKENS[self.exact] + sum(TOOL_TOKENS + self.text(_compact(tool)) for tool in tools)

    def _part(self, part: Mapping[str, Any]) -> int:
        kind = part.get("type")
        if kind == "text":
            return self.text(str(part.get("text", "")))
        if kind == "image_url":
            return self.image_tokens
        return self.text(_compact(part))

    def _call(self, call: Mapping[str, Any]) -> int:
        function: Mapping[str, Any] = call.get("function") or {}
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = _compact(arguments)
        texts = (str(call.get("id") or ""), str(function.get("name") or ""), arguments)
        return CALL_TOKENS + sum(self.text(text) for text in texts)


class _Counts:
    """The counting function of one vocabulary and what it has already counted, newest last."""

    def __init__(self, encoding: str) -> None:
        count = _load(encoding)
        self.loaded = count is not None
        self._count = count or estimate
        self._known: OrderedDict[tuple[int, int], int] = OrderedDict()
        self._lock = threading.Lock()

    def of(self, text: str) -> int:
        if not text:
            return 0
        # Python keeps a str's hash in the object, so a text seen before costs a look-up, and the
        # cache holds no texts. 64 keyed bits and the length: chance collisions do not happen.
        key = (hash(text), len(text))
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        count = sum(self._count(piece) for piece in _slices(text))
        with self._lock:
            self._known[key] = count
            if len(self._known) > _CACHED_TEXTS:
                self._known.popitem(last=False)
        return count


@cache
def _counts(encoding: str) -> _Counts:
    return _Counts(encoding)


def _load(encoding: str) -> Callable[[str], int] | None:
    """tiktoken's counting function, or None when the shipped file is missing or damaged.

    tiktoken reads a vocabulary from the folder named by an environment variable, checks its hash,
    and fetches the file anew (deleting a damaged one) if that fails. So the file is checked here
    first, and the variable is set only while loading and under a lock: the host program may use
    tiktoken with a cache of its own.
    """
    if encoding not in _FILES:
        raise ValueError(f"unknown encoding {encoding!r}; known: {', '.join(_FILES)}")
    name, sha256 = _FILES[encoding]
    with _load_lock:
        before = os.environ.get(_CACHE_DIR_VARIABLE)
        try:
            if hashlib.sha256((_VOCABULARIES / name).read_bytes()).hexdigest() != sha256:
                raise ValueError("its checksum is wrong")
            os.environ[_CACHE_DIR_VARIABLE] = str(_VOCABULARIES)
            loaded = tiktoken.get_encoding(encoding)
        except (OSError, ValueError) as error:
            _log.warning("the vocabulary %s cannot be loaded (%s); tokens are estimated", encoding, error)
            return None
        finally:
            if before is None:
                os.environ.pop(_CACHE_DIR_VARIABLE, None)
            else:
                os.environ[_CACHE_DIR_VARIABLE] = before
    return lambda text: len(loaded.encode_ordinary(text))


def _slices(text: str) -> list[str]:
    """The text in slices short enough to encode quickly, cut where no token crosses if possible.

    A run of one character makes byte-pair merging slow, older tiktoken versions even panic. Where
    there is no seam (no words), each cut adds at most a token or two to 16,000 characters.
    """
    if len(text) <= _SLICE_CHARS:
        return [text]
    slices: list[str] = []
    start = 0
    while start < len(text):
        end = start + _SLICE_CHARS
        if end < len(text):
            seam = _SEAM.search(text, end - _SEAM_SEARCH_CHARS, end)
            end = seam.start() if seam else end
        slices.append(text[start:end])
        start = end
    return slices


_ESTIMATE = re.compile(
    r"(?P<word>[A-Z]?[a-z]+|[A-Z]+)"
    r"|(?P<digits>[0-9]{1,3})"
    r"|(?P<joint> (?=[A-Za-z]))"
    r"|(?P<blank>(?P<one>[ \n\t\r])(?P=one){0,7})"
    r"|(?P<ascii>[\x00-\x7f])"
    r"|(?P<alphabet>[\u0391-\u03c9\u0410-\u044f\u05d0-\u05ea\u0621-\u064a])"
    r"|(?P<double>[\u0080-\u07ff])"
    r"|(?P<east>[\u3000-\u30ff\u3400-\u9fff\uac00-\ud7a3\uff00-\uffef])"
    r"|(?P<triple>[\u0800-\uffff])"
    r"|(?P<quadruple>.)",
    re.DOTALL,
)
_ESTIMATE_COSTS = {
    "digits": 1,
    "joint": 0,
    "blank": 1,
    "ascii": 1,
    "alphabet": 1,
    "double": 2,
    "east": 2,
    "triple": 3,
    "quadruple": 4,
}
_LONG_WORD_LETTERS = 12


def estimate(text: str) -> int:
    """Tokens by characters alone, for when no vocabulary can be loaded; too many rather than too few.

    ASCII letters: half a token each plus one a word, two thirds each in a run of more than twelve;
    one to three digits: one; one to eight equal blanks: one (a single space before a letter: none);
    other ASCII: one each; Greek, Cyrillic, Hebrew and Arabic letters: one; Han, kana, hangul: two;
    anything else: its UTF-8 bytes, emoji thus four. That is about 2.5 times the true size of English
    and of common Chinese, and no less than the true size of base64, random letters and most scripts;
    only text made of rare Han or rare hangul alone may be larger than its estimate.
    """
    total = 0
    for match in _ESTIMATE.finditer(text):
        kind = match.lastgroup
        if kind == "word":
            letters = match.end() - match.start()
            total += letters // 2 + 1 if letters <= _LONG_WORD_LETTERS else (2 * letters + 2) // 3
        else:
            total += _ESTIMATE_COSTS[kind or "quadruple"]
    return total


def _compact(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

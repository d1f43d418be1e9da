"""What each kind of server does differently, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Dialect:
    """One kind of server.

    ``stream_usage``: it takes ``stream_options.include_usage``. ``temperature``: one may be set;
    ``default_temperature`` is sent when the request names none (None: the server's own).
    ``text_calls``: its models may write tool calls as text.
    """

    name: str
    max_tokens_field: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    stream_usage: bool = True
    temperature: bool = True
    default_temperature: float | None = None
    text_calls: bool = True


GENERIC = Dialect("generic")
OPENAI = Dialect("openai", max_tokens_field="max_completion_tokens", text_calls=False)
OPENAI_REASONING = Dialect(
    "openai-reasoning", max_tokens_field="max_completion_tokens", temperature=False, text_calls=False
)
MISTRAL = Dialect("mistral", stream_usage=False, text_calls=False)  # refuses fields it does not know
EMBEDDED = Dialect("llama.cpp", default_temperature=0.0)
"""The model in this process: small, so the same question should get the same answer."""

_HOSTS = (
    (re.compile(r"(.+\.)?openai\.com|.+\.openai\.azure\.com|.+\.cognitiveservices\.azure\.com"), OPENAI),
    (re.compile(r"(.+\.)?mistral\.ai"), MISTRAL),
)
_REASONING = re.compile(r"(?:.*/)?(?:o[1-9]|gpt-5)(?:[-.].*)?")


def dialect_for(base_url: str, model: str) -> Dialect:
    """The dialect of an endpoint; GENERIC for hosts nothing is known of."""
    host = urlsplit(base_url).hostname or ""
    dialect = next((dialect for pattern, dialect in _HOSTS if pattern.fullmatch(host)), GENERIC)
    if dialect is OPENAI and _REASONING.fullmatch(model):
        return OPENAI_REASONING
    return dialect

"""One place decides whether a server's complaint means "the prompt is too long"."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Complaint:
    """An error as a server reports it. ``status`` None: it came inside a stream. ``code`` is its
    machine-readable code or type, ``text`` its message or whole body."""

    status: int | None
    code: str
    text: str


_CODES = {
    "context_length_exceeded",  # OpenAI, Azure, Groq, Cerebras
    "exceed_context_size_error",  # llama.cpp
    "model_max_prompt_tokens_exceeded",  # GitHub's models
    "request_too_large",  # Anthropic
    "context_window_exceeded",
}

_TEXTS = re.compile(
    "|".join(
        [
            r"maximum context length (is|of)",  # OpenAI, Azure, DeepSeek, vLLM, OpenRouter
            r"maximum context length: \d+",  # Fireworks
            r"maximum prompt length is \d+",  # xAI
            r"context length exceeded|context_length_exceeded",
            r"longer than the maximum model length",  # vLLM
            r"longer than the model's context length",  # Together
            r"exceeds? (the )?(available|maximum|model'?s?)? ?context (size|length|window|limit)",  # llama.cpp, Ollama
            r"exceeds? the context (size|length|window)",
            r"loaded with context length of only",  # LM Studio
            r"greater than the context length",  # LM Studio
            r"too large for model with \d+ maximum context length",  # Mistral
            r"prompt is too long",  # Anthropic, Fireworks
            r"input is too long for",  # Bedrock
            r"input length and `?max_tokens`? exceed context limit",  # Anthropic
            r"input token count .*exceeds the maximum number of tokens",  # Gemini
            r"input tokens exceed the configured limit",  # OpenAI
            r"`?inputs`? tokens \+ `?max_new_tokens`? must be",  # text-generation-inference
            r"`?inputs`? must have less than \d+ tokens",  # text-generation-inference
            r"reduce the length of the (messages|prompt|input)",  # Groq, OpenAI
            r"prompt token count of \d+ exceeds",  # GitHub's models
            r"exceeded model token limit",  # Moonshot
            r"prompt exceeds max length",  # Zhipu
        ]
    ),
    re.IGNORECASE | re.DOTALL,
)


def is_context_too_long(complaint: Complaint) -> bool:
    """True if a shorter prompt, or less room for the reply, would be accepted.

    Tokens per minute are a rate limit, whatever the wording; too large a reply limit by itself and
    too long a tool description are not about the prompt.
    """
    if complaint.status in (401, 403, 404, 429):
        return False
    if complaint.code in _CODES:
        return True
    return _TEXTS.search(complaint.text) is not None and "per minute" not in complaint.text.lower()

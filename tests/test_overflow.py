"""Servers' ways of saying "too long", and what only sounds like it."""

from __future__ import annotations

import pytest

from memagent.llm.overflow import Complaint, is_context_too_long

TOO_LONG = {
    "OpenAI code": Complaint(400, "context_length_exceeded", ""),
    "OpenAI": Complaint(
        400,
        "",
        "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. "
        "Please reduce the length of the messages.",
    ),
    "OpenAI limit": Complaint(400, "", "Input tokens exceed the configured limit of 272000 tokens."),
    "Azure": Complaint(400, "context_length_exceeded", "This model's maximum context length is 4096 tokens"),
    "DeepSeek": Complaint(
        400,
        "invalid_request_error",
        "This model's maximum context length is 65536 tokens. However, you requested 70000",
    ),
    "vLLM": Complaint(
        400,
        "BadRequestError",
        "'max_tokens' or 'max_completion_tokens' is too large: 5000. This model's maximum context length is 4096 "
        "tokens and your request has 200 input tokens",
    ),
    "vLLM decoder": Complaint(
        400, "", "The decoder prompt (length 5000) is longer than the maximum model length of 4096."
    ),
    "llama.cpp type": Complaint(400, "exceed_context_size_error", ""),
    "llama.cpp": Complaint(
        400, "400", "request (5000 tokens) exceeds the available context size (4096 tokens), try increasing it"
    ),
    "llama.cpp old": Complaint(
        400, "", "the request exceeds the available context size. try increasing the context size"
    ),
    "llama.cpp in a stream": Complaint(None, "400", "the request exceeds the available context size"),
    "Ollama": Complaint(400, "", "the input length exceeds the context length"),
    "Ollama maximum": Complaint(500, "", "input length exceeds maximum context length"),
    "LM Studio": Complaint(
        400,
        "",
        "Trying to keep the first 5205 tokens when context the overflows. However, the model is loaded with context "
        "length of only 4096 tokens",
    ),
    "LM Studio keep": Complaint(
        400, "", "The number of tokens to keep from the initial prompt is greater than the context length"
    ),
    "Mistral": Complaint(
        400, "3051", "Prompt contains 40021 tokens, too large for model with 32768 maximum context length"
    ),
    "Mistral draft": Complaint(
        422,
        "",
        "Prompt contains 40021 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
    ),
    "Anthropic": Complaint(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
    "Anthropic reply": Complaint(
        400, "", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length"
    ),
    "Anthropic 413": Complaint(413, "request_too_large", "Request exceeds the maximum size"),
    "OpenRouter": Complaint(
        400,
        "400",
        "This endpoint's maximum context length is 131072 tokens. However, you requested about 150000 tokens",
    ),
    "Gemini": Complaint(
        400, "", "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)."
    ),
    "Bedrock": Complaint(400, "", "Input is too long for requested model."),
    "TGI": Complaint(
        422, "", "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000"
    ),
    "xAI": Complaint(400, "", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."),
    "Together": Complaint(422, "", "The input (9000 tokens) is longer than the model's context length (8192 tokens)."),
    "Fireworks": Complaint(400, "", "The prompt is too long: 9000, model maximum context length: 8192"),
    "Groq": Complaint(400, "context_length_exceeded", "Please reduce the length of the messages or completion."),
    "GitHub": Complaint(
        400, "model_max_prompt_tokens_exceeded", "prompt token count of 9000 exceeds the limit of 8000"
    ),
    "Moonshot": Complaint(400, "", "Your request exceeded model token limit: 131072 (requested: 140000)"),
    "Zhipu": Complaint(400, "1261", "Prompt exceeds max length"),
}

SOMETHING_ELSE = {
    "tokens per minute": Complaint(
        413,
        "rate_limit_exceeded",
        "Request too large for model x on tokens per minute (TPM): Limit 6000, Requested 7000",
    ),
    "rate limit": Complaint(429, "", "Rate limit reached: please reduce the length of the messages"),
    "reply limit": Complaint(
        400, "", "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"
    ),
    "tool name": Complaint(
        400, "string_above_max_length", "Invalid 'tools[0].function.name': string too long. Maximum length 64."
    ),
    "tool description": Complaint(400, "", "tool description exceeds maximum length of 1024 characters"),
    "unknown model": Complaint(404, "model_not_found", "The model `long-context` does not exist"),
    "key": Complaint(401, "invalid_api_key", "Incorrect API key provided"),
    "parameter": Complaint(400, "unsupported_parameter", "Unsupported parameter: 'max_tokens'"),
    "server": Complaint(500, "", "out of memory"),
    "nothing": Complaint(400, "", ""),
}


@pytest.mark.parametrize("server", TOO_LONG)
def test_too_long_is_recognised(server: str) -> None:
    assert is_context_too_long(TOO_LONG[server])


@pytest.mark.parametrize("kind", SOMETHING_ELSE)
def test_what_only_sounds_like_it_is_not(kind: str) -> None:
    assert not is_context_too_long(SOMETHING_ELSE[kind])

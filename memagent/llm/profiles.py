"""What is known of a model: its window, tokenizer and habits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """``encoding`` is a tiktoken vocabulary; ``exact`` says that it is the model's own.
    ``window_source`` says where the window's size comes from: "setting", "server", "prices", "default"."""

    name: str
    window_tokens: int
    window_source: str = "default"
    encoding: str = "o200k_base"
    exact: bool = False
    image_tokens: int = 1_500

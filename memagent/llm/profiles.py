"""What is known of a model: its window, tokenizer and habits."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_WINDOW_TOKENS = 8_192
"""The cautious guess for a model nothing is known of."""


@dataclass(frozen=True, slots=True)
class ModelProfile:
    """``encoding`` is a tiktoken vocabulary; ``exact`` says that it is the model's own.
    ``window_source`` says where the window's size comes from: "setting", "server", "prices", "default".
    ``one_at_a_time``: it answers one request at a time, so work in the background must make way for the person.
    ``calls_tools`` False: too small to choose tools well; offered any, it calls them instead of answering.
    ``extracts`` False: too small to tell facts from talk."""

    name: str
    window_tokens: int
    window_source: str = "default"
    encoding: str = "o200k_base"
    exact: bool = False
    image_tokens: int = 1_500
    calls_tools: bool = True
    extracts: bool = True
    one_at_a_time: bool = False

    @property
    def notice(self) -> str | None:
        """What the person should know of a guess, once per model; None if nothing was guessed."""
        if self.window_source != "default":
            return None
        guess = f"{self.window_tokens:,} tokens are assumed; window_tokens (MEMAGENT_WINDOW_TOKENS) sets it"
        return f"the context window of {self.name!r} is not known: {guess}"

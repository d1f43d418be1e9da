"""What is known of a model: its window, tokenizer and habits."""

from __future__ import annotations

from dataclasses import dataclass

DEFAULT_WINDOW_TOKENS = 8_192
"""The cautious guess for a model nothing is known of."""


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
    own_tools: bool = True
    """Whether memagent offers its own tools to this model; a host's tools are offered to any."""

    @property
    def notice(self) -> str | None:
        """What the person should know of a guess, once per model; None if nothing was guessed."""
        if self.window_source != "default":
            return None
        guess = f"{self.window_tokens:,} tokens are assumed; window_tokens (MEMAGENT_WINDOW_TOKENS) sets it"
        return f"the context window of {self.name!r} is not known: {guess}"

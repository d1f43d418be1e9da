"""The other way to keep history, for comparison: no summaries, the newest texts verbatim, and of every tool
output only a reference. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from memagent.bench.meter import MESSAGE_TOKENS, Scale
from stores.records import Mark, Message, MessageRole

REFERENCE = '[An output of {name} of {chars:,} characters. read_output(ref="{ref}") shows it.]'


@dataclass(frozen=True, slots=True)
class Kept:
    """The texts that a prompt would hold, oldest first, and what they take."""

    texts: tuple[str, ...]
    tokens: int

    def holds(self, words: str) -> bool:
        """Whether these words stand in it."""
        return any(words in text for text in self.texts)


def newest_verbatim(journal: Sequence[Message | Mark], room_tokens: int, scale: Scale) -> Kept:
    """As many of the newest messages as fit, tool outputs replaced by references."""
    texts: list[str] = []
    used = 0
    for entry in reversed(journal):
        if not isinstance(entry, Message) or entry.role is MessageRole.NOTE:
            continue
        text = _shown(entry)
        tokens = scale.text(text) + MESSAGE_TOKENS
        if used + tokens > room_tokens:
            break
        texts.append(text)
        used += tokens
    return Kept(tuple(reversed(texts)), used)


def _shown(message: Message) -> str:
    if message.role is MessageRole.TOOL:
        chars = message.overflow.chars if message.overflow else len(message.content)
        return REFERENCE.format(name=message.name, chars=chars, ref=message.id)
    calls = [f"{call.name} {call.arguments}" for call in message.calls]
    return "\n".join([message.content, *calls]) if calls else message.content

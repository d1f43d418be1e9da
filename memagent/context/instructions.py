"""The person's standing instructions. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from memagent.context.view import StandingInstruction
from stores.records import Message

_DURABLE = ("always", "never", "from now on")


def standing_instructions(
    messages: Sequence[Message], known: Sequence[StandingInstruction] = ()
) -> tuple[StandingInstruction, ...]:
    """Those known and those in the person's messages, in order."""
    found = {instruction.text: instruction for instruction in known}
    for message in messages:
        if any(word in message.content.casefold() for word in _DURABLE):
            text = message.content[:300]
            found[text] = StandingInstruction(entry_id=message.id, said_on=f"{message.at:%Y-%m-%d}", text=text)
    return tuple(found.values())


def reads_as_instruction(sentence: str) -> bool:
    """Whether a sentence gives an order."""
    return sentence.casefold().startswith(("always", "never", "ignore"))

"""What the person told the assistant to do from then on, in the person's own words. Pure.

Rules, no model: the sentences of user messages are judged one by one (`directives.english`, `.chinese`),
and a later sentence may take an earlier one back or replace it (`directives.revoking`).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from zoneinfo import ZoneInfo

from memagent.context.directives import chinese, english, revoking
from memagent.context.directives.commanding import reads_as_instruction
from memagent.context.directives.sentences import HAS_CJK, Sentence, sentences
from memagent.context.view import StandingInstruction
from stores.records import Message, MessageRole

__all__ = ["binds", "reads_as_instruction", "standing_instructions"]


def standing_instructions(
    messages: Sequence[Message], known: Sequence[StandingInstruction] = ()
) -> tuple[StandingInstruction, ...]:
    """The sentences of the user's messages that bind from then on, verbatim, each once, in order said, after
    those ``known`` from before. Imported messages bind nobody: a file says who wrote them, not the person.

    Those taken back later are gone; one on the same matter replaces the older. Dates are in the
    message's own zone. Of a message longer than 20,000 characters only both ends are looked at.
    """
    standing = list(known)
    for message in messages:
        if message.role is not MessageRole.USER or message.imported or not message.content:
            continue
        said_on = message.at.astimezone(ZoneInfo(message.zone)).date().isoformat()
        for sentence in sentences(message.content):
            said = [item.text for item in standing]
            binding = binds(sentence)
            taken_back = revoking.taken_back(sentence, said, binding=binding)
            if taken_back is not None:
                standing = [item for index, item in enumerate(standing) if index not in taken_back]
                if not any(map(binds, revoking.other_clauses(sentence))):
                    continue
            elif not binding:
                continue
            else:
                replaced = revoking.replaced(sentence.text, said)
                standing = [item for index, item in enumerate(standing) if index not in replaced]
            if all(item.text.casefold() != sentence.text.casefold() for item in standing):
                standing.append(StandingInstruction(entry_id=message.id, said_on=said_on, text=sentence.text))
    return tuple(standing)


@lru_cache(maxsize=8_192)
def binds(sentence: Sentence) -> bool:
    """Whether the sentence holds an order, wish or ban addressed to the assistant that is meant to last."""
    return (chinese if HAS_CJK.search(sentence.plain) else english).binds(sentence)

"""Whose words a question asks for: names of speakers in it, and "I" or "you". Pure.

A name pulls in what is said *to* that person, by words ("Thanks, Ana!") and by meaning alike. So names of
speakers are taken out of the question and matched against who said a thing instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

from memagent.memory.asking import has_content
from stores.records import Memory, MemoryKind

USER, ASSISTANT = "user", "assistant"
"""What messages without a name have for a speaker: their role."""
_ROLES = frozenset({USER, ASSISTANT, "system", "tool"})
_NAME_CHARS = 2
_REQUEST = re.compile(
    r"^\W*(?:(?:hi|hey|hello|ok|okay|so|and|please)\b\W*)*"
    r"(?:(?:can|could|would|will) you (?:please )?(?:tell|remind|help)(?: me)?|do you (?:know|remember|recall)|please"
    r"|(?:tell|remind|show) me|what do you (?:know|remember) (?:about|of)|i(?:'d| would) like to know"
    r"|i (?:forgot|can't remember|cannot remember|wonder)"
    r"|你(?:还)?(?:记得|知道)|请(?:问|告诉我)?|告诉我|提醒我|我想知道|我忘了)",
    re.IGNORECASE,
)
"""How one begins to ask: its "you" and "me" say nothing of who said what is looked for."""
_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|me|my|mine|myself)\b|我(?!们)", re.IGNORECASE)
_OTHER = re.compile(r"\b(?:you|your|yours)\b|[你您](?!们)", re.IGNORECASE)
_POSSESSIVE = r"(?:['’]s\b|['’](?=\s|$))?"


class Asked(NamedTuple):
    """A question without the names of speakers, and those whose words it asks for: empty where it names
    nobody or several. ``named``: it holds a speaker's name, not just "I" or "you"."""

    text: str
    speakers: frozenset[str]
    named: bool


def asked_of(question: str, speakers: Iterable[str]) -> Asked:
    """Reads a question. ``speakers`` are those that the memories have."""
    names = [name for name in speakers if name.casefold() not in _ROLES and len(name) >= _NAME_CHARS]
    named: set[str] = set()
    text = question
    for name in sorted(names, key=len, reverse=True):
        for spelling in _spellings(name, names):
            without = _pattern(spelling).sub(" ", text)
            if without != text:
                named.add(name)
                text = without
    text = " ".join(text.split())
    wanted = named or _by_pronoun(question)
    if not has_content(text):
        text = question  # "Who is Ana?" looks for what is said of her
    return Asked(text, frozenset(wanted if len(wanted) == 1 else ()), bool(named))


def _by_pronoun(question: str) -> set[str]:
    rest = _REQUEST.sub("", question)
    mine, yours = _SELF.search(rest) is not None, _OTHER.search(rest) is not None
    return {USER if mine else ASSISTANT} if mine != yours else set()


def says(memory: Memory, asked: Asked) -> bool:
    """Whether a memory is in the words of whom the question asks for, or a fact about them."""
    if memory.kind is MemoryKind.FACT and memory.subject:
        return memory.subject.casefold() in {name.casefold() for name in asked.speakers}
    return memory.speaker in asked.speakers


def _spellings(name: str, names: Iterable[str]) -> list[str]:
    """A name as it may be used: whole, or its first word where no other speaker shares it."""
    first = name.split()[0]
    if first == name or len(first) < _NAME_CHARS or any(o != name and o.split()[:1] == [first] for o in names):
        return [name]
    return [name, first]


def _pattern(name: str) -> re.Pattern[str]:
    # names written without spaces around them (CJK) are found inside a run of letters
    whole = name.isascii()
    edge = (r"(?<!\w)", r"(?!\w)") if whole else ("", "")
    flags = re.IGNORECASE if not name.islower() or not whole else 0
    return re.compile(edge[0] + re.escape(name) + edge[1] + _POSSESSIVE, flags)

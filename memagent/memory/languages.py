"""Which script a person writes in: whether an embedder that knows English only will find what was said. Pure."""

from __future__ import annotations

from collections.abc import Iterable

LEAST_TEXTS = 20
"""Fewer say nothing about a person's habits."""


def mostly_foreign(texts: Iterable[str]) -> bool:
    """Whether more than half of the texts, and at least ten of twenty, are written in other letters than Latin
    ones. A text of both counts by its larger part; one without letters not at all."""
    foreign = counted = 0
    for text in texts:
        letters = [character for character in text if character.isalpha()]
        if letters:
            counted += 1
            # "\u0250" begins what is not written with (extended) Latin letters
            foreign += sum(letter >= "\u0250" for letter in letters) * 2 > len(letters)
    return counted >= LEAST_TEXTS and foreign * 2 > counted

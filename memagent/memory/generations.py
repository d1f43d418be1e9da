"""Embedding generations: which vectors may be compared. A generation is an embedder's own name for itself,
as long as it also embeds as it did: a model that was exchanged behind an old name, of the same dimension
too, is another generation."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from stores.indexes import Generations

PROBES = (
    "The ferry to the island leaves at seven in the morning.",
    "I moved here from Oslo in 2019 because of the violin lessons.",
    "我妹妹住在里斯本，她喜欢喝绿茶。",
)
"""What an embedder is known again by."""
SAME_FROM = 0.99
"""Cosine with what it said before, of the probe that differs most. Another machine or release of its library
gives .9999, another model some .0."""


async def named(generations: Generations, own_name: str, probe: bytes) -> str:
    """The generation of an embedder that calls itself ``own_name`` and gives these vectors (of PROBES, one
    after the other) now. A new one is kept."""
    known = await generations.list()
    number = 1
    while True:
        name = own_name if number == 1 else f"{own_name}~{number}"
        kept = known.get(name)
        if kept is None:
            kept = await generations.add(name, probe)
        if same_embedder(kept, probe):
            return name
        number += 1


def same_embedder(before: bytes, now: bytes) -> bool:
    """Whether two sets of probe vectors come from one model."""
    if len(before) != len(now):
        return False
    old, new = (np.frombuffer(each, dtype=np.float32).reshape(len(PROBES), -1) for each in (before, now))
    lengths = np.linalg.norm(old, axis=1) * np.linalg.norm(new, axis=1)
    return bool(((old * new).sum(axis=1) >= SAME_FROM * lengths).all())


def others(known: Mapping[str, bytes], present: str) -> list[str]:
    """The generations that are not in use any more, in order of their names."""
    return sorted(name for name in known if name != present)

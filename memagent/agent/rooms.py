"""What an agent is made of, wired by the composition root."""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime

from memagent.context.assemble import Offer
from memagent.events import Usage
from memagent.llm.client import ChatModel
from memagent.memory.embed import EmbeddingService
from memagent.memory.history import HistorySearch
from memagent.memory.indexing import Indexer
from memagent.memory.recall import Recaller
from memagent.memory.writing import FactWriter
from memagent.settings import Settings
from memagent.tools.approval import Approve, Later
from memagent.tools.definition import Tool
from stores.base import (
    BlobStore,
    Eraser,
    Jobs,
    Journal,
    Ledger,
    Manifests,
    MemoryFinder,
    MemoryTable,
    NeverList,
    Receipts,
)
from stores.indexes import HistoryIndex, LexicalIndex, Outbox, Upkeep, VectorIndex
from stores.records import Scope

DATABASE_NAME = "memagent.db"
VECTORS_NAME = "vectors"
BLOBS_NAME = "blobs"
"""What stands in the data folder."""
Clock = Callable[[], datetime]
"""The time, as an aware datetime."""
NewId = Callable[[], str]
"""A new id each time, unique for ever."""


@dataclass(frozen=True, slots=True)
class Stores:
    """Where everything is kept. ``close`` releases all of it."""

    journal: Journal
    memories: MemoryTable
    finder: MemoryFinder
    lexical: LexicalIndex
    history: HistoryIndex
    outbox: Outbox
    jobs: Jobs
    never: NeverList
    vectors: VectorIndex
    ledger: Ledger
    manifests: Manifests
    eraser: Eraser
    receipts: Receipts
    upkeep: Upkeep
    blobs: BlobStore
    close: Callable[[], Awaitable[None]]


@dataclass(slots=True)
class Rooms:
    """One agent's rooms. ``open_model`` may take seconds and raise a ModelError; everything else is ready.

    ``notices`` holds lines for the person that came up in the background; the next exchange delivers them.
    """

    settings: Settings
    scope: Scope
    zone: str
    clock: Clock
    new_id: NewId
    stores: Stores
    embedding: EmbeddingService
    indexer: Indexer
    recaller: Recaller
    history: HistorySearch
    writer: FactWriter
    open_model: Callable[[], Awaitable[ChatModel]]
    host_tools: dict[str, Tool]
    offer: Offer
    approve: Approve | Later | None
    cost_usd: Callable[[str, str, Usage], float | None]
    """What model calls cost, by model, endpoint and tokens; None if the price is not known."""
    notices: deque[str] = field(default_factory=lambda: deque(maxlen=50))

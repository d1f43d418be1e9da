"""The composition root: settings in, a wired agent out. The only place that names concrete stores."""

from __future__ import annotations

import asyncio
import uuid
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import tzlocal

from memagent import prompts
from memagent.agent.assistant import Assistant
from memagent.agent.rooms import BLOBS_NAME, DATABASE_NAME, VECTORS_NAME, Clock, Rooms, Stores
from memagent.agent.sessions import LAST
from memagent.context.assemble import Offer
from memagent.errors import DiskFullError, SettingsError, StoreError, ToolError
from memagent.events import Usage
from memagent.llm.client import ChatModel
from memagent.memory.embed import Embedder, EmbeddingService
from memagent.memory.embedders import open_embedder
from memagent.memory.generations import named
from memagent.memory.history import HistorySearch
from memagent.memory.indexing import Indexer
from memagent.memory.recall import Recaller
from memagent.memory.writing import FactWriter
from memagent.sanitize import checked_name, clean_text
from memagent.settings import Settings, load_settings
from memagent.tools.approval import Approve, Later
from memagent.tools.definition import Tool, tool
from stores.base import BlobStore
from stores.blobs import open_blobs
from stores.indexes import VectorIndex
from stores.records import scope_of
from stores.sql import SqlStores, open_sql
from stores.vectors import DeferredVectorIndex

LOCK_NAME = "vectors.lock"


async def build_assistant(
    *,
    settings: Settings | None = None,
    given: Mapping[str, Any] | None = None,
    session: str | None = None,
    tools: Sequence[Callable[..., Any] | Tool] = (),
    embedder: str | Embedder | None = None,
    approve: Approve | Later | None = None,
    clock: Clock | None = None,
    model: ChatModel | None = None,
    warm_up: bool = True,
    private: bool = False,
) -> Assistant:
    """Wires an agent and starts it. ``given`` overrides ``settings`` where it is not None; ``model`` is
    used as it is, without looking for one. Raises SettingsError, ToolError, StoreError, NotFoundError."""
    chosen = _settings(settings, given or {})
    host_tools = _host_tools(tools)
    zone = _zone(chosen)
    now: Clock = clock or _utc_now
    sql = await asyncio.to_thread(_open_data, chosen.data_dir)
    blobs = await asyncio.to_thread(open_blobs, chosen.blob_url or chosen.data_dir / BLOBS_NAME)
    vectors = DeferredVectorIndex(lambda: _chroma(chosen.data_dir / VECTORS_NAME))
    embedding = EmbeddingService(_embedder_loader(embedder, chosen), partial(named, sql.generations))
    notices: deque[str] = deque(maxlen=50)
    indexer = Indexer(
        journal=sql.journal,
        memories=sql.memories,
        outbox=sql.outbox,
        finder=sql.finder,
        never=sql.never,
        vectors=vectors,
        embedding=embedding,
        generations=sql.generations,
        told=sql.told,
        lock_path=chosen.data_dir / LOCK_NAME,
        clock=now,
        notify=notices.append,
    )
    recaller = recaller_over(
        sql,
        vectors,
        embedding,
        holds_lock=lambda: indexer.holds_lock,
        on_damage=indexer.report_damage,
        clock=now,
        zone=zone,
    )
    rooms = Rooms(
        settings=chosen,
        scope=scope_of(checked_name("user", chosen.user)),
        zone=zone,
        clock=now,
        new_id=_new_id,
        stores=_stores(sql, vectors, blobs),
        embedding=embedding,
        indexer=indexer,
        recaller=recaller,
        history=_history_search(sql, blobs, recaller, chosen),
        writer=FactWriter(sql.memories, sql.finder, recaller, new_id=_new_id, clock=now),
        open_model=(lambda: _given(model)) if model else (lambda: _open_model(chosen)),
        host_tools=host_tools,
        offer=Offer(
            instructions=clean_text(chosen.instructions or ""),
            host_tools=tuple(t.schema() for t in host_tools.values()),
            own_text=prompts.text("system"),
        ),
        approve=approve,
        cost_usd=_cost_usd,
        notices=notices,
    )
    # a host's own name for a session is taken exactly
    assistant = Assistant(rooms, checked_name("session", session) if session != LAST else None, private=private)
    if warm_up:
        assistant.warm_up()
    if session == LAST:
        await assistant.resume_last()
    return assistant


def recaller_over(
    sql: SqlStores,
    vectors: VectorIndex,
    embedding: EmbeddingService,
    *,
    holds_lock: Callable[[], bool] = lambda: True,
    on_damage: Callable[[], None] = lambda: None,
    clock: Clock,
    zone: str,
) -> Recaller:
    """Recall in these stores, see `Recaller`. By default nobody else writes the vectors."""
    return Recaller(
        memories=sql.memories,
        talk=sql.talk,
        lexical=sql.lexical,
        vectors=vectors,
        outbox=sql.outbox,
        embedding=embedding,
        holds_lock=holds_lock,
        on_damage=on_damage,
        clock=clock,
        zone=zone,
    )


def _history_search(sql: SqlStores, blobs: BlobStore, recaller: Recaller, settings: Settings) -> HistorySearch:
    return HistorySearch(
        journal=sql.journal,
        history=sql.history,
        blobs=blobs,
        memories=sql.memories,
        never=sql.never,
        recaller=recaller,
        deadline_seconds=settings.recall_deadline_seconds,
    )


def _settings(settings: Settings | None, given: Mapping[str, Any]) -> Settings:
    wanted = {name: value for name, value in given.items() if value is not None}
    if settings is None:
        return load_settings(**wanted)
    return load_settings(**{**settings.model_dump(exclude_unset=True), **wanted})


def _host_tools(tools: Sequence[Callable[..., Any] | Tool]) -> dict[str, Tool]:
    made: dict[str, Tool] = {}
    for item in tools:
        one = item if isinstance(item, Tool) else tool(item)
        if one.name in made:
            raise ToolError(f"two tools are called {one.name!r}; give one of them another name: @tool(name=…)")
        made[one.name] = one
    return made


def _zone(settings: Settings) -> str:
    zone = settings.zone or tzlocal.get_localzone_name() or "UTC"
    try:
        return ZoneInfo(zone).key
    except (ZoneInfoNotFoundError, ValueError) as error:
        if settings.zone:
            raise SettingsError(f"zone: {zone!r} is no IANA time zone; write for example Europe/Berlin") from error
        return "UTC"


def _open_data(data_dir: Path) -> SqlStores:
    try:
        data_dir.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError as error:
        kind = DiskFullError if error.errno == 28 else StoreError
        raise kind(
            f"the data folder {data_dir} cannot be made: {error.strerror}; set another with --data-dir"
        ) from error
    return open_sql(data_dir / DATABASE_NAME)


def _chroma(path: Path) -> VectorIndex:
    from stores.chroma import ChromaVectorIndex  # takes more than a second; nobody waits for it here

    return ChromaVectorIndex(path)


def _embedder_loader(embedder: str | Embedder | None, settings: Settings) -> Callable[[], Embedder]:
    if embedder is None or isinstance(embedder, str):
        name = embedder or settings.embedder
        return lambda: open_embedder(name)
    return lambda: embedder


def _stores(sql: SqlStores, vectors: VectorIndex, blobs: BlobStore) -> Stores:
    async def close() -> None:
        await vectors.close()
        await sql.close()

    return Stores(
        journal=sql.journal,
        memories=sql.memories,
        finder=sql.finder,
        lexical=sql.lexical,
        history=sql.history,
        outbox=sql.outbox,
        jobs=sql.jobs,
        never=sql.never,
        vectors=vectors,
        ledger=sql.ledger,
        manifests=sql.manifests,
        eraser=sql.eraser,
        receipts=sql.receipts,
        upkeep=sql.upkeep,
        blobs=blobs,
        close=close,
    )


async def _open_model(settings: Settings) -> ChatModel:
    from memagent.llm.opening import open_model  # brings the openai SDK, which takes half a second

    return await open_model(settings)


def _cost_usd(model: str, endpoint: str, usage: Usage) -> float | None:
    from memagent.llm.prices import cost_usd  # loading it takes a quarter of a second, and few set a limit

    return cost_usd(model, endpoint, usage)


async def _given(model: ChatModel) -> ChatModel:
    return model


def _utc_now() -> datetime:
    return datetime.now(UTC)


def _new_id() -> str:
    return uuid.uuid4().hex[:20]

"""The stores over SQL: SQLite (default) and PostgreSQL. Import late: SQLAlchemy takes a tenth of a second."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from stores.base import (
    Eraser,
    Jobs,
    Journal,
    Ledger,
    Manifests,
    MemoryFinder,
    MemoryTable,
    NeverList,
    Receipts,
    Talk,
    Told,
)
from stores.indexes import Generations, HistoryIndex, LexicalIndex, Outbox, Upkeep
from stores.sql.database import Database, open_database
from stores.sql.erasing import SqlEraser
from stores.sql.finding import SqlMemoryFinder
from stores.sql.generations import SqlGenerations
from stores.sql.history import SqlHistoryIndex
from stores.sql.jobs import SqlJobs
from stores.sql.journal import SqlJournal
from stores.sql.ledger import SqlLedger
from stores.sql.lexical import SqlLexicalIndex
from stores.sql.manifests import SqlManifests
from stores.sql.memories import SqlMemoryTable
from stores.sql.never import SqlNeverList
from stores.sql.outbox import SqlOutbox
from stores.sql.receipts import SqlReceipts
from stores.sql.talk import SqlTalk
from stores.sql.told import SqlTold
from stores.sql.upkeep import SqlUpkeep

__all__ = ["Database", "SqlStores", "open_sql"]


@dataclass(frozen=True, slots=True)
class SqlStores:
    """All stores of one database."""

    journal: Journal
    memories: MemoryTable
    finder: MemoryFinder
    talk: Talk
    lexical: LexicalIndex
    history: HistoryIndex
    outbox: Outbox
    generations: Generations
    told: Told
    jobs: Jobs
    never: NeverList
    ledger: Ledger
    manifests: Manifests
    eraser: Eraser
    receipts: Receipts
    upkeep: Upkeep
    database: Database

    async def close(self) -> None:
        """Finishes what was asked for, then releases the files. Later calls raise StoreClosedError."""
        await self.database.close()


def open_sql(location: str | Path) -> SqlStores:
    """Opens the stores of a SQLite file (path or sqlite:///path), of memory (sqlite://) or of
    PostgreSQL (postgresql://…, extra "postgres"), and makes or upgrades the tables where needed.

    Blocks (about 10 ms for an existing file). Raises StoreVersionError for a newer memagent's data,
    StoreCorruptError for a file that is no database of ours, StoreBusyError, StoreError.
    """
    database = open_database(location)
    return SqlStores(
        journal=SqlJournal(database),
        memories=SqlMemoryTable(database),
        finder=SqlMemoryFinder(database),
        talk=SqlTalk(database),
        lexical=SqlLexicalIndex(database),
        history=SqlHistoryIndex(database),
        outbox=SqlOutbox(database),
        generations=SqlGenerations(database),
        told=SqlTold(database),
        jobs=SqlJobs(database),
        never=SqlNeverList(database),
        ledger=SqlLedger(database),
        manifests=SqlManifests(database),
        eraser=SqlEraser(database),
        receipts=SqlReceipts(database),
        upkeep=SqlUpkeep(database),
        database=database,
    )

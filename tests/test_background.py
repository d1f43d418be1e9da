"""Work that nobody waits for."""

from __future__ import annotations

import asyncio
from pathlib import Path

from memagent import load_settings
from memagent.agent import background
from memagent.agent.background import Background
from memagent.events import Notice
from stores.errors import StoreError
from tests.agents import agent_on
from tests.scripted_server import ScriptedServer, say


class Index:
    """Counts how often it was asked to index."""

    def __init__(self) -> None:
        self.count = 0

    async def __call__(self) -> None:
        self.count += 1


def test_line_after_line_is_indexed_once() -> None:
    async def main() -> None:
        index = Index()
        work = Background(notify=print, index=index)
        for _ in range(20):
            work.index_soon()
            await asyncio.sleep(0.005)
        assert index.count == 0
        await asyncio.sleep(background.QUIET_SECONDS + 0.2)
        await work.finished()
        assert index.count == 1

    asyncio.run(main())


def test_a_stream_of_lines_is_indexed_meanwhile() -> None:
    async def main() -> None:
        index = Index()
        work = Background(notify=print, index=index)
        loop = asyncio.get_running_loop()
        end = loop.time() + background.AT_LATEST_SECONDS + 1.0
        while loop.time() < end and not index.count:
            work.index_soon()
            await asyncio.sleep(0.02)
        assert index.count == 1
        await work.finished()

    asyncio.run(main())


def test_an_import_is_indexed_while_it_goes_on() -> None:
    async def main() -> None:
        index = Index()
        work = Background(notify=print, index=index)
        work.index_soon(background.MANY - 1)
        await asyncio.sleep(0.02)
        assert index.count == 0
        work.index_soon()
        await asyncio.sleep(0.02)
        assert index.count == 1
        await work.finished()

    asyncio.run(main())


def test_who_waits_for_it_waits_for_no_quiet_moment() -> None:
    async def main() -> None:
        index = Index()
        work = Background(notify=print, index=index)
        work.index_soon()
        await asyncio.wait_for(work.finished(), background.QUIET_SECONDS / 2)
        assert index.count == 1
        work.index_soon()  # and once more after that
        await work.finished()
        assert index.count == 2

    asyncio.run(main())


def test_what_cannot_be_indexed_is_told() -> None:
    async def main() -> None:
        async def failing() -> None:
            raise StoreError("the disk is full")

        said: list[str] = []
        work = Background(notify=said.append, index=failing)
        work.index_soon()
        await work.finished()
        assert said == ["what was said could not be indexed yet: the disk is full"]

    asyncio.run(main())


def test_what_went_wrong_in_the_background_is_told_once(scripted: ScriptedServer, tmp_path: Path) -> None:
    scripted.default = say("ok")
    scripted.facts = say("I would rather talk about the sea.")
    settings = load_settings(extract="on")
    with agent_on(scripted, tmp_path, settings=settings) as agent:
        agent.ask("My sister Maya lives in Lisbon")
        agent.settle(20)
        (warning,) = [event for event in agent.happened() if isinstance(event, Notice)]
        assert "nothing was learned" in warning.text
        assert agent.happened() == []

"""The part of the facade that is about all that is kept; see `memagent.agent.facade`."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Coroutine
from pathlib import Path
from typing import Any, TypeVar

from memagent.agent.assistant import Assistant
from memagent.agent.data.erase_planning import Target
from memagent.agent.data.exporting import Exported
from memagent.agent.data.restoring import Imported
from memagent.memory.erase import Receipt

T = TypeVar("T")


def _place(path: str | Path) -> Path:
    return Path(path).expanduser().absolute()


class DataFace:
    """For ordinary code."""

    _assistant: Assistant

    @abstractmethod
    def _call(self, work: Coroutine[Any, Any, T]) -> T: ...

    def erase(
        self,
        *,
        text: str | None = None,
        memory_id: str | None = None,
        entry_id: str | None = None,
        session: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """Erases for good: all that holds a text, a memory with the messages it came from, a message (or another
        journal entry), or a session; and whatever memagent made of these. Nothing brings it back. Ids and times
        stay, with the receipt's id. ``dry_run``: only says what would go (`Receipt.matches`). What a crash breaks
        off is finished at the next start. Raises NotFoundError, MemagentError, StoreError."""
        target = Target(text=text, memory_id=memory_id, entry_id=entry_id, session=session)
        return self._call(self._assistant.data.erase(target, dry_run))

    def receipts(self) -> list[Receipt]:
        """What was erased when, newest first, without its content."""
        return self._call(self._assistant.data.receipts())

    def export(self, path: str | Path, *, session: str | None = None, with_secrets: bool = False) -> Exported:
        """Writes all of this user's data, or one session, to a new folder, or a zip file where the name ends in
        .zip: `import_file` elsewhere then holds the same (`Exported.lossless`). Keys, tokens and passwords are taken
        out unless ``with_secrets``. Of sent prompts the manifests stay here. Raises MemagentError, StoreError."""
        return self._call(self._assistant.data.export(_place(path), session, with_secrets))

    def import_file(self, path: str | Path) -> Imported:
        """Takes in an export of memagent, ChatGPT's or Claude's export, or messages as JSON (lines), by what the
        file holds. What is there already is left as it is. No language model. All is read before anything is
        written. Raises MemagentError, StoreError."""
        return self._call(self._assistant.data.take(_place(path)))


class AsyncDataFace:
    """For coroutines."""

    _assistant: Assistant

    @abstractmethod
    async def _call(self, work: Coroutine[Any, Any, T]) -> T: ...

    async def erase(
        self,
        *,
        text: str | None = None,
        memory_id: str | None = None,
        entry_id: str | None = None,
        session: str | None = None,
        dry_run: bool = False,
    ) -> Receipt:
        """See `Agent.erase`."""
        target = Target(text=text, memory_id=memory_id, entry_id=entry_id, session=session)
        return await self._call(self._assistant.data.erase(target, dry_run))

    async def receipts(self) -> list[Receipt]:
        """See `Agent.receipts`."""
        return await self._call(self._assistant.data.receipts())

    async def export(self, path: str | Path, *, session: str | None = None, with_secrets: bool = False) -> Exported:
        """See `Agent.export`."""
        return await self._call(self._assistant.data.export(_place(path), session, with_secrets))

    async def import_file(self, path: str | Path) -> Imported:
        """See `Agent.import_file`."""
        return await self._call(self._assistant.data.take(_place(path)))

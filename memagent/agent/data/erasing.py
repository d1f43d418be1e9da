"""Erasing: a durable job with a fixed list of steps, each of which may be done again.

What the person typed goes first, before anything is promised; from then on the job is kept, by ids only,
and whoever opens this user's data finishes it. The last step searches every file that memagent wrote.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from memagent.agent.data.erase_planning import BATCH, ERASE, ErasePlanner, Planned, Target, place_of, sorted_places
from memagent.agent.data.input_lines import erase_lines
from memagent.agent.data.remaking import Remaker
from memagent.agent.rooms import BLOBS_NAME, DATABASE_NAME, VECTORS_NAME, Rooms
from memagent.memory.erase import (
    ErasePlan,
    Needles,
    Receipt,
    cleaned,
    covers,
    memory_texts,
    texts_of,
    tombstone,
    without_arguments,
)
from memagent.memory.residue import MOST_PIECES, Piece, pieces_of, residues, search, too_short
from memagent.settings import INPUT_HISTORY_NAME
from stores.base import Basis
from stores.errors import StoreBusyError, StoreCorruptError, StoreError
from stores.records import Job, Mark, MarkKind, Message, Source
from stores.sameness import folded

LOCK_NAME = "erase.lock"
LOCK_SECONDS = 60.0
WRITER_SECONDS = 30.0
WRITER_POLL_SECONDS = 0.1
ROUNDS = 3
"""Another process may put something back that it had read before: then all steps are done again."""
TOO_SHORT = (
    "the records hold no short text of those that were erased; the bytes of the files were not searched for texts so"
    " short that they stand there by chance"
)
OUT_OF_REACH = (
    "what the model's provider keeps of the prompts that were sent",
    "what was copied, printed or exported, and the history of the shell",
    "backups and snapshots of the disk, and blocks that the system has not used again",
)


class Erasing:
    """Erases within the rooms' scope."""

    def __init__(self, rooms: Rooms) -> None:
        self._rooms = rooms
        self._stores = rooms.stores
        self._scope = rooms.scope
        self._planner = ErasePlanner(rooms)
        self._remaker = Remaker(rooms)
        # not thread-local: it is taken in one thread and given back in another
        path = str(rooms.settings.data_dir / LOCK_NAME)
        self._lock = FileLock(path, is_singleton=False, thread_local=False, mode=0o600)
        self._one_at_a_time = asyncio.Lock()
        self._typed_gone = 0

    async def erase(self, target: Target, *, dry_run: bool) -> Receipt:
        """Erases, or says what would be erased. What is begun is finished in any case: by this call, or, where a
        step fails, later; the receipt then says so. Raises NotFoundError, MemagentError, and StoreError before
        anything is begun."""
        planned = await self._planner.plan(target)
        plan = planned.plan
        if dry_run or not (plan.entries or plan.memories or plan.hashes):
            return _receipt(plan).model_copy(update={"matches": tuple(planned.matches), "dry_run": dry_run})
        self._typed_gone = await asyncio.to_thread(self._forget_typed, planned)
        payload = json.loads(plan.model_dump_json())
        await self._stores.jobs.put(self._scope, ERASE, plan.receipt_id, payload, at=plan.at)
        await self._save(_receipt(plan))
        receipt = _receipt(plan)
        try:
            receipt = (await asyncio.shield(self._finish_all(planned))).get(plan.receipt_id, receipt)
        except (StoreError, OSError) as error:
            note = f"not finished yet: {error}. It goes on at the next start, or with `memagent doctor`"
            receipt = receipt.model_copy(update={"notes": (note,)})
        return receipt.model_copy(update={"matches": tuple(planned.matches)})

    async def receipts(self) -> list[Receipt]:
        """Of all erasures, newest first."""
        return [Receipt.model_validate_json(one) for one in await self._stores.receipts.list(self._scope)]

    async def resume(self) -> list[Receipt]:
        """Finishes what was begun and broke off, unless another process is at it. What fails is told, and tried
        again later."""
        if not await self._stores.jobs.list(self._scope, kind=ERASE):
            return []
        try:
            return list((await self._finish_all(None, wait_seconds=0.0)).values())
        except Timeout:
            return []
        except (StoreError, OSError) as error:
            self._rooms.notices.append(f"an erasure is not finished yet and is tried again: {error}")
            return []

    # --- the job -------------------------------------------------------------------------------

    async def _finish_all(self, planned: Planned | None, *, wait_seconds: float = LOCK_SECONDS) -> dict[str, Receipt]:
        """Does all open jobs of the scope, one after the other; no other process does meanwhile."""
        async with self._one_at_a_time:
            try:
                await asyncio.to_thread(self._lock.acquire, timeout=wait_seconds)
            except Timeout as error:
                if planned is None:
                    raise
                raise StoreBusyError("another process is erasing; this erasure follows it") from error
            try:
                return await self._finish_locked(planned)
            finally:
                self._lock.release()

    async def _finish_locked(self, planned: Planned | None) -> dict[str, Receipt]:
        done: dict[str, Receipt] = {}
        while job := await self._claim():
            texts = planned.texts if planned and planned.plan.receipt_id == job.key else None
            plan = ErasePlan.model_validate_json(json.dumps(job.payload))
            try:
                done[job.key] = await self._carry_out(plan, texts)
            except (StoreError, OSError) as error:
                # whoever opens these data next tries again
                await self._stores.jobs.failed(job.number, str(error), retry_at=self._rooms.clock())
                raise
            await self._stores.jobs.done(job.number)
        return done

    async def _claim(self) -> Job | None:
        # the file lock says who works; a lease would only keep the next start from going on at once
        return await self._stores.jobs.claim([ERASE], at=self._rooms.clock(), lease_seconds=0, scope=self._scope)

    async def _carry_out(self, plan: ErasePlan, texts: list[str] | None) -> Receipt:
        known = texts if texts is not None else await self._texts_left(plan)
        receipt = _receipt(plan)
        for _ in range(ROUNDS):
            await self._blank(plan)
            await self._announce(plan)
            plan = await self._with_latecomers(plan)
            await self._remaker.remake(plan)
            await self._forget(plan)
            await self._remove_outputs(plan)
            await asyncio.to_thread(self._remove_backups)
            await self._stores.eraser.purge()
            await self._rewrite_vectors(plan)
            receipt = await self._searched(plan, known)
            if not receipt.found:
                break
        receipt = receipt.model_copy(update={"finished": True})
        if texts is None:
            note = "the work was broken off in between: texts that were gone by then could not be searched for"
            receipt = receipt.model_copy(update={"notes": (*receipt.notes, note)})
        elif self._typed_gone:
            counts = {**receipt.counts, "typed lines": self._typed_gone}
            receipt = receipt.model_copy(update={"counts": counts})
        await self._save(receipt)
        return receipt

    async def _save(self, receipt: Receipt) -> None:
        await self._stores.receipts.put(self._scope, receipt.id, receipt.model_dump_json(), at=receipt.at)

    # --- the steps -----------------------------------------------------------------------------

    def _forget_typed(self, planned: Planned) -> int:
        needles, exact = Needles(planned.texts, planned.asked), set(map(folded, planned.texts))
        file = self._rooms.settings.data_dir / INPUT_HISTORY_NAME
        return erase_lines(file, lambda typed: folded(typed) in exact or needles.are_in(typed))

    async def _blank(self, plan: ErasePlan) -> None:
        """Entries, and what marks tell of them."""
        ids, memory_ids = sorted_places(plan.entries), set(plan.memories)

        def changed(entry: Message | Mark) -> Message | Mark:
            if entry.id in ids.get(entry.session_id, ()):
                return tombstone(entry, plan.receipt_id)
            if isinstance(entry, Message):
                return without_arguments(entry, plan.receipt_id)
            return cleaned(entry, ids.get(entry.session_id, ()), memory_ids, plan.receipt_id)

        for entries in await self._read((*plan.entries, *plan.calls, *plan.marks)):
            await self._stores.eraser.overwrite(self._scope, [changed(entry) for entry in entries])

    async def _read(self, places: Sequence[Source]) -> list[list[Message | Mark]]:
        wanted = set(places)
        found: list[list[Message | Mark]] = []
        for start in range(0, len(places), BATCH):
            ids = list({place.entry_id for place in places[start : start + BATCH]})
            entries = await self._stores.journal.get(self._scope, ids)
            found.append([e for e in entries if Source(session_id=e.session_id, entry_id=e.id) in wanted])
        return found

    async def _announce(self, plan: ErasePlan) -> None:
        """Whoever shows these sessions reads them anew."""
        counts = {session_id: len(ids) for session_id, ids in sorted_places(plan.entries).items()}
        for number, session_id in enumerate(plan.sessions, start=1):
            entry_id = f"{plan.receipt_id}.{number}"
            data = {"receipt": plan.receipt_id, "entries": counts.get(session_id, 0)}
            note = Mark(
                id=entry_id,
                session_id=session_id,
                exchange_id=entry_id,
                at=plan.at,
                zone=self._rooms.zone,
                what=MarkKind.ERASED,
                data=dict(data),
            )
            await self._stores.journal.append(self._scope, [note])

    async def _with_latecomers(self, plan: ErasePlan) -> ErasePlan:
        """The plan, and what was made of its entries while it was planned: memories and summaries. None come any
        more, since the entries are blank."""
        stores, scope = self._stores, self._scope
        memories = [memory.id for memory in await stores.finder.from_entries(scope, plan.entries)]
        summaries: list[Source] = []
        sequences: dict[str, set[int]] = {}
        for entries in await self._read(plan.entries):
            for entry in entries:
                sequences.setdefault(entry.session_id, set()).add(entry.sequence)
        for session_id, covered in sequences.items():
            marks = await stores.journal.marks(scope, session_id, MarkKind.SUMMARY)
            summaries += [place_of(mark) for mark in marks if covers(mark, covered)]
        return plan.model_copy(
            update={
                "memories": tuple(dict.fromkeys([*plan.memories, *memories])),
                "summaries": tuple(dict.fromkeys([*plan.summaries, *summaries])),
            }
        )

    async def _forget(self, plan: ErasePlan) -> None:
        """Memories, reasons, kept texts, what manifests say of candidates, and queued work."""
        stores, scope = self._stores, self._scope
        await stores.eraser.remove_memories(scope, plan.memories, history_of=plan.reasons)
        while telling := await stores.memories.get(scope, plan.reasons):
            silent = [memory.model_copy(update={"reason": ""}) for memory in telling]
            if await stores.memories.put(scope, silent, basis=Basis(memories=telling)):
                break
        self._rooms.indexer.wake()
        await stores.eraser.remove_texts(scope, plan.hashes, details=await self._details(set(plan.memories)))
        for number in plan.jobs:
            await stores.jobs.done(number)

    async def _details(self, memory_ids: set[str]) -> dict[tuple[str, int], str]:
        """Of manifests that quote one of these memories as a candidate: the details without its text."""
        changed: dict[tuple[str, int], str] = {}
        for session in await self._stores.journal.sessions(self._scope) if memory_ids else []:
            for kept in await self._stores.manifests.list(self._scope, session.id):
                details: dict[str, Any] = json.loads(kept.details) if kept.details else {}
                candidates: list[dict[str, Any]] = details.get("candidates") or []
                quoting = [one for one in candidates if one["memory_id"] in memory_ids and one["text"]]
                for one in quoting:
                    one["text"] = ""
                if quoting:
                    changed[session.id, kept.number] = json.dumps(details, ensure_ascii=False)
        return changed

    async def _remove_outputs(self, plan: ErasePlan) -> None:
        if plan.digests:
            used = await self._stores.journal.overflow_digests(self._scope)  # equal texts are kept once
            await self._stores.blobs.delete(self._scope, [digest for digest in plan.digests if digest not in used])

    def _remove_backups(self) -> None:
        """Copies made before an upgrade hold everything."""
        for file in self._rooms.settings.data_dir.glob(f"{DATABASE_NAME}.before-*"):
            file.unlink(missing_ok=True)

    async def _rewrite_vectors(self, plan: ErasePlan) -> None:
        folder = self._rooms.settings.data_dir / VECTORS_NAME
        if not plan.memories or not await asyncio.to_thread(folder.exists):
            return
        async with self._rooms.indexer.writing_stopped() as nobody_writes:
            if not nobody_writes:
                await self._await_other_writer(plan)
            try:
                await self._stores.vectors.rewrite(plan.memories)
            except StoreCorruptError:  # a crash ruined it: the memories that are left make it anew
                await self._stores.vectors.clear()
                await self._stores.outbox.requeue()
        self._rooms.indexer.wake()

    async def _await_other_writer(self, plan: ErasePlan) -> None:
        """Until the process that writes vectors has done what was queued for these memories: then it is at work
        on none of them any more."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(WRITER_SECONDS):
                # another process cannot set an event here
                while await self._stores.outbox.open_count(self._scope, memory_ids=plan.memories):  # noqa: ASYNC110
                    await asyncio.sleep(WRITER_POLL_SECONDS)

    # --- searching -----------------------------------------------------------------------------

    async def _texts_left(self, plan: ErasePlan) -> list[str]:
        """After a crash: what has not been erased yet of what was to be."""
        texts = [text for entries in await self._read(plan.entries) for entry in entries for text in texts_of(entry)]
        memories = await self._stores.memories.get(self._scope, plan.memories)
        return [*texts, *(text for memory in memories for text in memory_texts(memory))]

    async def _searched(self, plan: ErasePlan, texts: Sequence[str]) -> Receipt:
        """Looks through all files. What a record holds, of whoever it is, is said again there and no leftover."""
        folder = self._rooms.settings.data_dir
        pieces = [Piece.of_text(text, "a piece of an erased text") for text in pieces_of(texts)]
        step = max(1, len(plan.memories) // MOST_PIECES)
        ids = [Piece([[f"{i}#".lower().encode()]], "the vector of an erased memory") for i in plan.memories[::step]]
        vectors = folder / VECTORS_NAME
        files = await asyncio.to_thread(self._files)
        found = await asyncio.to_thread(search, files, pieces)
        ghosts = await asyncio.to_thread(search, [file for file in files if file.is_relative_to(vectors)], ids)
        left: dict[Path, list[Piece]] = dict(ghosts.found)
        explained: dict[Piece, bool] = {}
        for file, hits in found.found.items():
            if file.parent.parent == folder / BLOBS_NAME and file.name not in plan.digests:
                continue
            for piece in hits:
                if piece not in explained:
                    explained[piece] = await self._stores.eraser.anywhere(
                        lambda kept, p=piece: p.is_in(kept.encode().lower())
                    )
                if not explained[piece] or file.name == INPUT_HISTORY_NAME:
                    left.setdefault(file, []).append(piece)
        return _receipt(plan).model_copy(
            update={
                "searched_files": found.files,
                "searched_bytes": found.bytes,
                "searched_for": len(pieces) + len(ids),
                "found": residues(left, folder),
                "notes": (TOO_SHORT,) if any(map(too_short, texts)) else (),
            }
        )

    def _files(self) -> list[Path]:
        settings = self._rooms.settings
        files = [file for file in settings.data_dir.rglob("*") if file.is_file()]
        return [file for file in files if not file.is_relative_to(settings.models_dir)]


def _receipt(plan: ErasePlan) -> Receipt:
    counts = {
        "entries": len(plan.entries),
        "memories": len(plan.memories),
        "summaries": len(plan.summaries),
        "marks": len(plan.marks) + len(plan.calls) + len(plan.reasons),
        "kept texts": len(plan.hashes),
        "outputs": len(plan.digests),
        "queued work": len(plan.jobs),
    }
    return Receipt(
        id=plan.receipt_id,
        at=plan.at,
        asked=plan.asked,
        counts={name: count for name, count in counts.items() if count},
        also_in=plan.also_in,
        out_of_reach=OUT_OF_REACH,
    )

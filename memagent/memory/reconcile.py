"""A new fact beside what is known: the same, another, or a change. Pure.

Code decides what is the same by its words. Whether something in other words is the same, or no longer
true, only a judge may say, and the judge may touch only what it was shown, and nothing that is trusted more
than the new statement. Without a usable verdict both stay. Nothing is ever deleted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, cast
from zoneinfo import ZoneInfo

from memagent.memory.answers import listed
from memagent.memory.extract import Draft
from memagent.memory.profile import belongs
from memagent.memory.worth import content
from memagent.sanitize import clean_output
from stores.records import Memory, MemoryKind, MemoryState, Pin, Source, Trust
from stores.terms import query_terms

Verdict = Literal["add", "merge", "supersede", "ignore"]
KEY = "decisions"
_VERDICTS: dict[str, Verdict] = {"add": "add", "merge": "merge", "supersede": "supersede", "ignore": "ignore"}
_RANK = {Trust.USER: 3, Trust.ASSISTANT: 2, Trust.DOCUMENT: 1, Trust.TOOL: 0}
_NUMBER = re.compile(r"\d+")
_SIGN = re.compile(r"(?<![\w.,:/-])[+\-−]\s?(?=\d)|(?<=\w)[+\-−#]+(?!\w)")
"""What a sign changes: -5 and 5, O+ and O-, C and C++."""
_NEGATION = re.compile(r"\b(?:no|not|never|without|nicht|kein\w*|nie)\b|n['’]t\b|不|没", re.IGNORECASE)
REASON_CHARS = 300


@dataclass(frozen=True, slots=True)
class Decision:
    """A judge's verdict on one new fact. ``ids`` are memories it was shown; ``keep_new``: of a merge, the new
    wording is the clearer one."""

    verdict: Verdict
    ids: tuple[str, ...] = ()
    reason: str = ""
    keep_new: bool = False


def outranks(one: Trust, other: Trust) -> bool:
    """Whether a statement is trusted more than another."""
    return _RANK[one] > _RANK[other]


# --- the same words ----------------------------------------------------------------------------


def same_of(draft: Draft, with_its_words: Sequence[Memory]) -> Memory | None:
    """Of the facts with the draft's words the one it repeats: one that was made of the same message, else one
    that still holds; a forgotten one stands in its way. None: there is none, or it held until something
    else took its place, and is said again."""
    known = [memory for memory in with_its_words if memory.kind is MemoryKind.FACT]
    made_before = [memory for memory in known if set(memory.sources) & set(draft.sources)]
    holding = [memory for memory in known if memory.valid_to is None]
    ranked = sorted(made_before or holding, key=lambda memory: memory.state is not MemoryState.ACTIVE)
    return ranked[0] if ranked else None


def confirmed(memory: Memory, draft: Draft) -> Memory:
    """The same fact, said once more: one more source, a later "last confirmed". A new source alone is no new
    version. What only a tool or a document had said is the person's statement once they say it; what was
    forgotten stays so, and what is trusted more does not need the draft's word."""
    if memory.state is MemoryState.FORGOTTEN or outranks(memory.trust, draft.trust):
        return memory
    before = memory.confirmed_at or memory.said_at
    changes: dict[str, Any] = {
        "sources": joined(memory.sources, draft.sources),
        "confirmed_at": max(before, draft.said_at),
        "said_at": min(memory.said_at, draft.said_at),
        "subject": memory.subject or draft.subject,
        "attribute": memory.attribute or draft.attribute,
    }
    if outranks(draft.trust, memory.trust):
        changes |= {
            "trust": draft.trust,
            "state": MemoryState.ACTIVE if draft.trust is Trust.USER else memory.state,
            "version": memory.version + 1,
            "reason": "the person said it too",
        }
    return memory.model_copy(update=changes)


def joined(sources: Sequence[Source], more: Sequence[Source]) -> tuple[Source, ...]:
    """Both, each once."""
    return tuple(dict.fromkeys((*sources, *more)))


def fact_of_draft(draft: Draft, memory_id: str, now: datetime) -> Memory:
    """A new memory. What rests on a tool or a document waits until the person approves it."""
    doubtful = draft.trust in (Trust.TOOL, Trust.DOCUMENT)
    memory = Memory(
        id=memory_id,
        kind=MemoryKind.FACT,
        text=draft.text,
        trust=draft.trust,
        said_at=draft.said_at,
        recorded_at=now,
        confirmed_at=draft.said_at,
        zone=draft.zone,
        session_id=draft.sources[0].session_id if draft.sources else None,
        speaker=draft.speaker,
        subject=draft.subject,
        attribute=draft.attribute,
        sources=draft.sources,
        valid_from=draft.valid_from,
        state=MemoryState.QUARANTINED if doubtful else MemoryState.ACTIVE,
        reason=f"it rests on a {draft.trust.value}'s text; approve it if it is true" if doubtful else "",
    )
    return memory.model_copy(update={"pin": Pin.PROPOSED}) if belongs(memory) else memory


# --- the judge ---------------------------------------------------------------------------------


def material(new: Sequence[Memory], candidates: Mapping[str, Sequence[Memory]]) -> str:
    """The new facts with their numbers, from 1, and under each the known ones by id."""
    lines: list[str] = []
    for number, memory in enumerate(new, start=1):
        lines.append(f"new fact {number} ({_about(memory)}): {_flat(memory.text)}")
        lines += [f"  known {known.id} ({_about(known)}): {_flat(known.text)}" for known in candidates[memory.id]]
    return "\n".join(lines)


def _about(memory: Memory) -> str:
    day = memory.said_at.astimezone(ZoneInfo(memory.zone)).strftime("%Y-%m-%d")
    matter = ", ".join(_flat(part) for part in (memory.subject, memory.attribute) if part)
    return f"{matter}; said {day}" if matter else f"said {day}"


def _flat(text: str) -> str:
    return " ".join(text.split())


def decisions(reply: str, new: Sequence[Memory], candidates: Mapping[str, Sequence[Memory]]) -> dict[str, Decision]:
    """Verdicts by the new memory's id; those that name nothing they were shown, or say nothing known, are left
    out. Raises UnusableAnswerError."""
    found: dict[str, Decision] = {}
    for item in listed(reply, KEY):
        if not isinstance(item, dict):
            continue
        fields = cast(dict[str, Any], item)
        number = str(fields.get("new", fields.get("number", ""))).strip("[] ")
        verdict = _VERDICTS.get(str(fields.get("verdict", "")).strip().casefold())
        if verdict is None or not number.isdecimal() or not 0 < int(number) <= len(new):
            continue
        memory = new[int(number) - 1]
        shown = {known.id for known in candidates[memory.id]}
        given: Any = fields.get("ids", fields.get("id", []))
        named = [str(one) for one in (cast(list[Any], given) if isinstance(given, list) else [given])]
        ids = tuple(one for one in dict.fromkeys(named) if one in shown)
        if verdict != "add" and not ids:
            continue
        reason = _flat(clean_output(str(fields.get("reason", ""))))[:REASON_CHARS]
        found[memory.id] = Decision(verdict, ids, reason, str(fields.get("keep", "")).casefold() == "new")
    return found


def carried_out(new: Memory, decision: Decision, known: Mapping[str, Memory]) -> list[Memory]:
    """What is to be stored of the new fact and of those that the verdict names, which are in ``known``. Those
    it may not touch stay as they are, and the new one beside them."""
    targets = [known[i] for i in decision.ids if i in known and not outranks(known[i].trust, new.trust)]
    match decision.verdict:
        case "merge" if targets and not _differ(new, targets[0]):
            return [_merged(new, targets[0], decision)]
        case "ignore" if targets and not _differ(new, targets[0]):
            return [_repeated(new, targets[0])]
        case "supersede":
            return _superseding(new, targets, decision)
        case _:
            return [new]


def _repeated(new: Memory, known: Memory) -> Memory:
    before = known.confirmed_at or known.said_at
    changes = {"sources": joined(known.sources, new.sources), "confirmed_at": max(before, new.said_at)}
    return known.model_copy(update=changes)


def _merged(new: Memory, known: Memory, decision: Decision) -> Memory:
    """One record under the known one's id. The wording that is not kept stands in its reason or, if it was the
    record's, among its versions."""
    merged = _repeated(new, known)
    why = f": {decision.reason}" if decision.reason else ""
    if not decision.keep_new or known.trust is not new.trust:
        return merged.model_copy(update={"reason": f'also said as "{new.text}"{why}'})
    changes = {"text": new.text, "version": known.version + 1, "reason": f'also said as "{known.text}"{why}'}
    return merged.model_copy(update=changes)


def _superseding(new: Memory, targets: Sequence[Memory], decision: Decision) -> list[Memory]:
    """The old ones keep their text and are recalled for the time they held."""
    targets = [one for one in targets if one.said_at <= new.said_at and one.state is MemoryState.ACTIVE]
    if not targets:
        return [new]
    since = new.valid_from or new.said_at
    why = f": {decision.reason}" if decision.reason else ""
    closed = [
        old.model_copy(
            update={
                "valid_to": max(since, old.valid_from or old.said_at),
                "superseded_by": new.id,
                "pin": Pin.NONE,
                "version": old.version + 1,
                "reason": f'"{new.text}" took its place{why}',
            }
        )
        for old in targets
    ]
    was_shown = any(old.pin is not Pin.NONE for old in targets)
    changes: dict[str, Any] = {"valid_from": since, "reason": f'it took the place of "{targets[0].text}"{why}'}
    if was_shown:
        changes["pin"] = Pin.PROPOSED
    return [*closed, new.model_copy(update=changes)]


def _differ(one: Memory, other: Memory) -> bool:
    """Whether two texts cannot say the same: other numbers, a denial, or the same words in another order."""
    if sorted(_NUMBER.findall(one.text)) != sorted(_NUMBER.findall(other.text)):
        return True
    if _signs(one.text) != _signs(other.text):
        return True
    if bool(_NEGATION.search(one.text)) != bool(_NEGATION.search(other.text)):
        return True
    mine, theirs = _ordered(one.text), _ordered(other.text)
    return mine != theirs and sorted(mine) == sorted(theirs) and len(mine) > 1


def _signs(text: str) -> list[str]:
    return sorted(sign.replace("−", "-").strip() for sign in _SIGN.findall(text))


def _ordered(text: str) -> list[str]:
    said = content(text)
    return [term for term in query_terms(text) if term in said]

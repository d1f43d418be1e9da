"""Dialogues with questions whose evidence is known, as the LoCoMo data set writes them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast

from memagent.errors import MemagentError

CATEGORIES: Mapping[int, str] = {1: "multi-hop", 2: "time", 3: "open", 4: "single-hop"}
"""Questions of other categories have no answer in the dialogue."""
_ID = re.compile(r"D\d+:\d+")
_DATE = "%I:%M %p on %d %B, %Y"


@dataclass(frozen=True, slots=True)
class Question:
    """``evidence`` are the ids of the turns that answer it."""

    text: str
    category: int
    evidence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Sessions of turns as `ingest` takes them, by session id, and questions about them."""

    sessions: Mapping[str, Sequence[Mapping[str, Any]]]
    questions: tuple[Question, ...]

    @property
    def turns(self) -> int:
        return sum(len(turns) for turns in self.sessions.values())


def read_dialogues(path: Path) -> list[Dialogue]:
    """The dialogues of a file. Raises MemagentError for a file that cannot be read or is none of these."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(raw, list):
            raise ValueError("it holds no list of dialogues")
        return [_dialogue(item) for item in cast(list[Any], raw)]
    except OSError as error:
        raise MemagentError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise MemagentError(f"{path} is not in the format of LoCoMo: {type(error).__name__}: {error}") from error


def _dialogue(raw: Mapping[str, Any]) -> Dialogue:
    talk = raw["conversation"]
    numbers = sorted(int(name[8:]) for name in talk if re.fullmatch(r"session_\d+", name))
    sessions = {f"session {number}": _turns(talk, number) for number in numbers if talk[f"session_{number}"]}
    known = {turn["id"] for turns in sessions.values() for turn in turns}
    questions: list[Question] = []
    for item in raw["qa"]:
        found = known.intersection(_ID.findall(" ".join(map(str, item.get("evidence", ())))))
        if item["category"] in CATEGORIES and found:
            questions.append(Question(str(item["question"]), item["category"], frozenset(found)))
    return Dialogue(sessions, tuple(questions))


def _turns(talk: Mapping[str, Any], number: int) -> list[dict[str, Any]]:
    at = datetime.strptime(talk[f"session_{number}_date_time"], _DATE).replace(tzinfo=UTC)
    roles = {talk.get("speaker_b"): "assistant"}
    return [
        {
            "role": roles.get(turn["speaker"], "user"),
            "name": turn["speaker"],
            "content": _content(turn),
            "id": turn["dia_id"],
            "at": at,
        }
        for turn in talk[f"session_{number}"]
    ]


def _content(turn: Mapping[str, Any]) -> str:
    caption = turn.get("blip_caption")
    return " ".join(part for part in (turn["text"], f"[photo: {caption}]" if caption else "") if part)

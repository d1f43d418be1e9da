"""What the benches found, as values: figures, and what is below its floor."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

MEASURED_ELSEWHERE = (
    "Measured elsewhere on such a conversation: langchain-core trim_messages 0.22 reuse at 8k and 32k, 0 over, time "
    "grows linearly; llama-index Memory 0.93 / 0.95, but 65 and 168 of 500 turns over budget, no summary, no recall. "
    "Neither keeps what it drops."
)

JUDGED_FROM_EXCHANGES = 1_000
JUDGED_FROM_LENGTH = 10_000
FILL_FLOOR = 0.40
REUSE_FLOORS: Mapping[int, float] = {8_192: 0.88, 32_768: 0.95, 131_072: 0.98}
REUSE_AIMS: Mapping[int, float] = {8_192: 0.90, 32_768: 0.97, 131_072: 0.99}
ASSEMBLY_FLOOR_MS = 5.0
ASSEMBLY_GROWTH = 1.3
EXAM_FLOOR = 0.95
SUMMARIES_OF_WINDOW = 0.20
SUMMARY_OF_SOURCE = 0.25


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
    waited: int
    """Answers that had to wait for a compaction, because their prompt would not have fitted."""
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
        """What is below its floor, in words; [] if nothing. Only a long run is judged by fill, reuse
        and time: a short one has not filled a window yet, and a moment's load would decide."""
        found: list[str] = []
        for window in self.windows:
            name = f"window {window.window_tokens:,}"
            if window.over:
                found.append(f"{name}: {window.over} prompts over budget")
            if window.exchanges < JUDGED_FROM_EXCHANGES:
                continue
            if window.fill < FILL_FLOOR:
                found.append(f"{name}: fill {window.fill:.2f}, floor {FILL_FLOOR:.2f}")
            floor = REUSE_FLOORS.get(window.window_tokens, 0.0)
            if window.reuse < floor:
                found.append(f"{name}: prefix reuse {window.reuse:.3f}, floor {floor:.2f}")
        for one in self.assembly:
            if max(one.median_ms) < JUDGED_FROM_LENGTH:
                continue
            name = f"assembly in {one.window_tokens:,}"
            slowest = max(one.median_ms.values())
            if slowest >= ASSEMBLY_FLOOR_MS:
                found.append(f"{name}: {slowest:.1f} ms, floor {ASSEMBLY_FLOOR_MS:.0f} ms")
            if one.growth > ASSEMBLY_GROWTH:
                found.append(f"{name}: grows {one.growth:.2f} times, floor {ASSEMBLY_GROWTH} times")
        return found


class ExamRow(Figures):
    """How many of the asked facts were where, one way of keeping history. ``history_tokens`` is the mean of
    what a prompt holds besides instructions, tools and the question. ``read_back_tokens`` is the mean of what
    one call returned, ``any_call`` counts facts in the prompt or in the first 1,000 tokens of any one of
    the three calls."""

    strategy: str
    window_tokens: int
    asked: int
    prompt_tokens: float
    history_tokens: float
    in_prompt: int
    with_search: int
    with_recall: int
    with_read_output: int
    any_call: int
    read_back_tokens: float
    standing: int
    """Standing instructions that are verbatim in every prompt."""


class Miss(Figures):
    """A fact that was asked for and found neither in the prompt nor by one call."""

    identifier: str
    place: str
    exchange: int
    question: str


class SummaryFigures(Figures):
    """The largest shares that were seen, by the bench's own count: summaries of the window, a leaf and a
    condensed summary of what was said in the part of the conversation that it stands for."""

    leaves: int
    condensed: int
    of_window: float
    leaf_of_source: float
    condensed_of_source: float


class Exam(Figures):
    """One sitting of the exam. ``sections`` counts where in the prompt facts were found; ``by_place`` how
    many of those said in a place were found at all, and of how many. ``lost_standing`` are standing
    instructions that are not verbatim in the prompt at the end, ``kept_revoked`` and ``mistaken`` revoked
    ones and look-alikes that stand among them."""

    window_tokens: int
    seed: int
    exchanges: int
    rows: tuple[ExamRow, ...]
    sections: dict[str, int]
    by_place: dict[str, str]
    misses: tuple[Miss, ...]
    standing: int
    lost_standing: tuple[str, ...]
    revoked: int
    kept_revoked: tuple[str, ...]
    look_alikes: int
    mistaken: tuple[str, ...]
    summaries: SummaryFigures
    over: int
    unexplained_breaks: int
    seconds: float

    def missed(self) -> list[str]:
        """What is below its floor, in words; [] if nothing."""
        own, sums = self.rows[0], self.summaries
        found: list[str] = []
        if own.any_call < own.asked * EXAM_FLOOR:
            found.append(f"{own.any_call} of {own.asked} facts found, floor {EXAM_FLOOR:.0%}")
        found += [f"standing instruction lost: {text}" for text in self.lost_standing]
        found += [f"revoked but still standing: {text}" for text in self.kept_revoked]
        found += [f"taken for an instruction: {text}" for text in self.mistaken]
        if sums.of_window > SUMMARIES_OF_WINDOW:
            found.append(f"summaries take {sums.of_window:.0%} of the window, at most {SUMMARIES_OF_WINDOW:.0%}")
        for name, share in (("a leaf", sums.leaf_of_source), ("a condensed summary", sums.condensed_of_source)):
            if share > SUMMARY_OF_SOURCE:
                found.append(f"{name} takes {share:.0%} of its source, at most {SUMMARY_OF_SOURCE:.0%}")
        if self.over:
            found.append(f"{self.over} prompts over budget")
        return [f"window {self.window_tokens:,}: {line}" for line in found]


class ExamReport(Figures):
    """What `bench exam` found, a sitting a window."""

    exams: tuple[Exam, ...]

    def missed(self) -> list[str]:
        """What is below its floor, in words; [] if nothing."""
        return [line for exam in self.exams for line in exam.missed()]

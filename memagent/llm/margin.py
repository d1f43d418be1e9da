"""The learned margin: by how much a server's count of a prompt exceeds ours. Pure.

Compared are prompts that both have counted. Not every figure a server reports is a count of the whole
prompt: some report nothing, some add up all prompts of a session, some leave out what they had cached,
and one that silently cut the prompt counts what was left.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

MIN_MARGIN_PERCENT = 100
MAX_MARGIN_PERCENT = 200
SAMPLES = 200
"""How many of the newest requests are looked at."""
FEW_SAMPLES = 8
"""With fewer than this the margin is never below its start."""
NEWEST_SAMPLES = 4
LEAST_RAW = 64
"""In a smaller prompt the server's own template weighs more than the text, so its ratio says nothing of a large one."""
QUANTILE = 0.95
MIN_RATIO, MAX_RATIO = 0.3, 3.0
"""No two tokenizers differ more over a whole prompt; beyond, the figure counts something else."""
PARTIAL_SHARE = 0.6
"""A ratio below this share of the highest usual one counts a part of the prompt."""
CARRIED_SHARE = 1.3
STEP_TOLERANCE = 0.15

CUT_FROM_RAW = 1_000
CUT_SHARE = 0.6
CUT_ALONE_SHARE = 0.45
"""With nothing to compare with: fewer than any tokenizer we know needs."""
CUT_HISTORY = 3
CUT_LEAST_WINDOW = 1_024
CUT_ROUND_SHARE = 0.985
CUT_EQUAL_SHARE = 0.03
CUT_NEAR_SHARE = 0.3
"""Servers that drop whole messages until the rest fits end this far below their window at most."""
CUT_NOT_CACHED = 1.5


class Sample(NamedTuple):
    """One request. ``raw_tokens`` is our count of its prompt, ``reported_tokens`` the server's, of which
    it had ``cached_tokens``. Requests of one ``series`` continue one another: a session's talk."""

    raw_tokens: int
    reported_tokens: int
    series: str | None = None
    cached_tokens: int = 0

    @property
    def ratio(self) -> float:
        return self.reported_tokens / self.raw_tokens


class LearnedMargin(NamedTuple):
    """``requests`` is how many requests it rests on; 0: it is the start value."""

    percent: int
    requests: int

    @property
    def source(self) -> str:
        """Where it comes from, in words."""
        if not self.requests:
            return "start value"
        return f"learned from {self.requests} request{'s' if self.requests > 1 else ''}"


class MarginLearner:
    """Collects a model's requests at one endpoint, oldest first, and says what follows from them."""

    def __init__(self, start_percent: int) -> None:
        self._start_percent = start_percent
        self._samples: deque[Sample] = deque(maxlen=SAMPLES)
        self._cut_series: set[str | None] = set()

    def add(self, sample: Sample) -> bool:
        """Takes the newest request; one that holds no two counts changes nothing. True when it shows, for
        the first time in its series, that the server cut the prompt."""
        if sample.raw_tokens <= 0 or sample.reported_tokens <= 0:
            return False
        cut = sample.series not in self._cut_series and server_cut(sample, tuple(self._samples))
        self._samples.append(sample)
        if cut:
            self._cut_series.add(sample.series)
        return cut

    def learned(self) -> LearnedMargin:
        """The margin for the next exchange."""
        return learned_margin(tuple(self._samples), self._start_percent)


def learned_margin(samples: Sequence[Sample], start_percent: int) -> LearnedMargin:
    """The margin in hundredths (100 to 200) that ``samples``, oldest first, call for.

    It is the 95th percentile of the ratios and as far again above that as it lies above the median: the
    95th alone would let one full prompt in twenty through, the maximum of 200 would keep one odd request
    for all of them; the distance is what the ratios scatter by, and where they do not, nothing is added.
    It is never below the newest few, so that text of another kind raises it at once.
    """
    ratios = [sample.ratio for sample in counted(samples)]
    if not ratios:
        return LearnedMargin(_clamped(start_percent), 0)
    ordered = sorted(ratios)
    high = ordered[math.ceil(QUANTILE * len(ordered)) - 1]
    wanted = max(high + (high - median(ordered)), *ratios[-NEWEST_SAMPLES:])
    percent = _clamped(math.ceil(round(wanted * 100, 6)))
    if len(ratios) < FEW_SAMPLES and percent <= start_percent:
        return LearnedMargin(_clamped(start_percent), 0)
    return LearnedMargin(percent, len(ratios))


def counted(samples: Sequence[Sample]) -> list[Sample]:
    """Those of the samples, oldest first, whose reported figure counts the whole prompt and no more."""
    added_up = _added_up(samples)
    whole = [
        sample
        for index, sample in enumerate(samples)
        if index not in added_up and sample.raw_tokens >= LEAST_RAW and MIN_RATIO <= sample.ratio <= MAX_RATIO
    ]
    if not whole:
        return []
    ordered = sorted(sample.ratio for sample in whole)
    usual = ordered[math.ceil(0.9 * len(ordered)) - 1]
    return [sample for sample in whole if sample.ratio >= PARTIAL_SHARE * usual]


def _added_up(samples: Sequence[Sample]) -> set[int]:
    """Which samples report the sum of several prompts: about what was reported before, plus their own.

    Servers add up by conversation or over everything, so both orders are looked at. In each, the last honest
    ratio says what a prompt of its own would have added.
    """
    by_series: dict[str | None, list[int]] = {}
    for index, sample in enumerate(samples):
        by_series.setdefault(sample.series, []).append(index)
    found: set[int] = set()
    for indexes in (*by_series.values(), list(range(len(samples)))):
        found |= _added_up_in(samples, indexes)
    return found


def _added_up_in(samples: Sequence[Sample], indexes: Sequence[int]) -> set[int]:
    found: set[int] = set()
    own: float | None = None
    for before, index in zip([None, *indexes], indexes, strict=False):
        ratio = samples[index].ratio
        if before is not None and own is not None and _carries(samples, before, index, own):
            found.add(index)
        elif MIN_RATIO <= ratio <= MAX_RATIO:
            own = ratio
    # where the samples begin in the middle of a sum, the ones after give it away
    for index, after in reversed(list(pairwise(indexes))):
        goes_on = after in found or samples[after].ratio > MAX_RATIO
        if goes_on and MIN_RATIO <= _step(samples, index, after) < samples[index].ratio / CARRIED_SHARE:
            found.add(index)
    return found


def _carries(samples: Sequence[Sample], before: int, index: int, own: float) -> bool:
    """Whether what was reported before, and its own ``own`` for each token, make up what is reported."""
    step = _step(samples, before, index)
    return samples[index].ratio > CARRIED_SHARE * own and abs(step - own) <= STEP_TOLERANCE * own


def _step(samples: Sequence[Sample], before: int, index: int) -> float:
    """What was reported more than before, in our tokens of the prompt."""
    return (samples[index].reported_tokens - samples[before].reported_tokens) / samples[index].raw_tokens


def server_cut(sample: Sample, earlier: Sequence[Sample]) -> bool:
    """Whether the server's count is so far below ours that it must have cut the prompt.

    ``earlier`` are the requests before it, oldest first, of the same model and endpoint: what they tell of
    its tokenizer is what this one is measured against, for one made for Chinese may need half of what we
    count. Three signs: a count just below a power of two, as windows are; two prompts of different size
    that are counted alike; three in a row of about one size. A server that counts only what it had not
    cached gives small counts, too, but they follow what is new in each prompt.
    """
    known = [other.ratio for other in counted(earlier)]
    usual = median(known) if len(known) >= CUT_HISTORY else None
    series = [*(other for other in earlier if other.series == sample.series), sample][-4:]
    low: list[Sample] = []
    for before, one in reversed(list(zip([None, *series], series, strict=False))):
        if not _far_below(one, before, usual):
            break
        low.append(one)
    if not low:
        return False
    counts = [one.reported_tokens for one in low]
    if _is_round(counts[0]):
        return True
    if usual is None or len(series) == 1:
        return False
    alike = len(low) > 1 and low[0].raw_tokens != low[1].raw_tokens and _within(counts[:2], CUT_EQUAL_SHARE)
    return alike or (len(low) > 2 and _within(counts[:3], CUT_NEAR_SHARE))


def _far_below(sample: Sample, before: Sample | None, usual: float | None) -> bool:
    """Below what was to be expected, by more than a tokenizer or a cache explains."""
    if sample.raw_tokens <= CUT_FROM_RAW:
        return False
    share = CUT_SHARE * usual if usual is not None and before is not None else CUT_ALONE_SHARE
    if sample.reported_tokens + sample.cached_tokens >= share * sample.raw_tokens:
        return False
    if before is None or usual is None:
        return True
    new_raw = max(0, sample.raw_tokens - before.raw_tokens)
    return sample.reported_tokens > CUT_NOT_CACHED * usual * new_raw + LEAST_RAW


def _is_round(tokens: int) -> bool:
    window = 2 ** math.ceil(math.log2(max(tokens, CUT_LEAST_WINDOW)))
    return tokens >= CUT_ROUND_SHARE * window


def _within(counts: Sequence[int], share: float) -> bool:
    return min(counts) >= (1 - share) * max(counts)


def _clamped(percent: int) -> int:
    return min(MAX_MARGIN_PERCENT, max(MIN_MARGIN_PERCENT, percent))

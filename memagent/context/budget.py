"""How many tokens each part of a prompt may take. Integers only, no I/O.

Two units: *raw* tokens are what the counter says, *estimated* ones are raw times the margin, rounded
up. The window, the reserve and every figure shown to a person are estimated; packing is done in raw.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

MIN_REPLY_TOKENS = 256
MAX_REPLY_TOKENS = 4_096
RECALL_SHARE_PERCENT = 2
RECALL_TOTAL_PERCENT = 10
RECALL_FLOOR_TOKENS = 64
"""What one short memory and its heading take: small windows recall at least that."""
OWN_SHARE_PERCENT = 15
RESULT_SHARE_PERCENT = 15
TURN_SHARE_PERCENT = 30
PREVIEW_SHARE_PERCENT = 5
"""What the preview of an output that overflowed takes: enough to see what it is; the rest is a call away."""
PREVIEW_FLOOR_TOKENS = 192
"""In small windows: the notice alone takes about 80, and a preview must show something."""
DUE_PERCENT = 85
TARGET_PERCENT = 35
LEAST_SAVING_PERCENT = 10
"""A compaction that would free less of the budget is not worth a break of the prefix."""
CLOSED_TURNS_PERCENT = 40
"""The most that the tool turns of one closed exchange take of the window, so that the next message has room."""
SUMMARIES_PERCENT = 20
"""Of the window, for summaries and standing instructions together …"""
INSTRUCTIONS_PERCENT = 5
"""… of which the instructions take at most so much."""
PROFILE_PERCENT = 5
"""Of the window, the most that the profile takes."""
OWN_TEXT_FROM_WINDOW_TOKENS = 2_048
"""Smaller windows get none of memagent's own instructions and tools."""
ALL_TOOLS_FROM_WINDOW_TOKENS = 8_192


@dataclass(frozen=True, slots=True)
class Budget:
    """The shares of one model's window."""

    window_tokens: int
    reserve_tokens: int
    margin_percent: int
    """The margin in hundredths: 130 means that a raw count is multiplied by 1.3."""
    recall_limit_tokens: int | None = None
    """A person's own cap on the recalled text of one exchange; None: the default share."""
    margin_source: str = "start value"
    """Where the margin comes from, in words."""

    @property
    def budget_tokens(self) -> int:
        """What a prompt may be estimated at."""
        return self.window_tokens - self.reserve_tokens

    @property
    def limit_raw(self) -> int:
        """The largest raw count whose estimate is within the budget."""
        return self.budget_tokens * 100 // self.margin_percent

    def estimated(self, raw_tokens: int) -> int:
        """Raw tokens times the margin, rounded up."""
        return -(-raw_tokens * self.margin_percent // 100)

    def share_raw(self, percent: int) -> int:
        """A share of the window, in raw tokens."""
        return self.window_tokens * percent // self.margin_percent

    @property
    def due_raw(self) -> int:
        """From this prompt size on, a compaction is due."""
        return self.limit_raw * DUE_PERCENT // 100

    @property
    def target_raw(self) -> int:
        """The size that a compaction goes down to."""
        return self.limit_raw * TARGET_PERCENT // 100

    @property
    def least_saving_raw(self) -> int:
        """What a compaction that is not forced must free at least."""
        return self.limit_raw * LEAST_SAVING_PERCENT // 100

    def recall_raw(self, shown_raw: int) -> int:
        """Room for the recalled text of one exchange, headings included, when ``shown_raw`` tokens of
        recalled text stand in the prompt already."""
        if self.recall_limit_tokens is not None:
            share = self.recall_limit_tokens * 100 // self.margin_percent
        else:
            share = max(self.share_raw(RECALL_SHARE_PERCENT), RECALL_FLOOR_TOKENS)
        total = max(self.share_raw(RECALL_TOTAL_PERCENT), share)
        return max(0, min(share, total - shown_raw))

    def result_raw(self, results: int) -> int:
        """The cap of one tool result in a turn with so many results."""
        return min(self.share_raw(RESULT_SHARE_PERCENT), self.share_raw(TURN_SHARE_PERCENT) // max(1, results))

    @property
    def preview_raw(self) -> int:
        """The most that the preview of an output takes."""
        floor_raw = PREVIEW_FLOOR_TOKENS * 100 // self.margin_percent
        return max(floor_raw, self.share_raw(PREVIEW_SHARE_PERCENT))


def result_cap_raw(window_tokens: int, results: int) -> int:
    """The most that one of so many results of a turn takes in a prompt, in raw tokens. The cap at which
    outputs overflow (`Budget.result_raw`) is never above it."""
    return min(
        window_tokens * RESULT_SHARE_PERCENT // 100, window_tokens * TURN_SHARE_PERCENT // 100 // max(1, results)
    )


def reply_reserve(window_tokens: int, reply_tokens: int | None) -> int:
    """Room for the reply: as set, else an eighth of the window (256 to 4,096); at most half the window."""
    wanted = reply_tokens or min(max(window_tokens // 8, MIN_REPLY_TOKENS), MAX_REPLY_TOKENS)
    return min(wanted, window_tokens // 2)


def exchanges_that_fit(sums_raw: Sequence[int], room_raw: int) -> int:
    """How many of the oldest exchanges must leave so that the others take at most ``room_raw``.

    ``sums_raw[i]`` is the size of the first i exchanges (so ``sums_raw[0] == 0``); at most all leave.
    """
    total = sums_raw[-1]
    low, high = 0, len(sums_raw) - 1
    while low < high:
        middle = (low + high) // 2
        if total - sums_raw[middle] <= room_raw:
            high = middle
        else:
            low = middle + 1
    return low

"""Results that are still good: the same call need not run again."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable

MOST = 256
"""So many results are kept; those used longest ago go first."""


class ResultCache:
    """Results by tool and arguments, for as long as each tool says. ``now`` counts seconds from any start."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: OrderedDict[tuple[str, str], tuple[float, str]] = OrderedDict()

    def get(self, name: str, arguments: str) -> str | None:
        """A result that is still good; None if there is none."""
        until, text = self._kept.get((name, arguments), (0.0, ""))
        if self._now() >= until:
            self._kept.pop((name, arguments), None)
            return None
        self._kept.move_to_end((name, arguments))
        return text

    def put(self, name: str, arguments: str, text: str, seconds: float) -> None:
        """Keeps a result for so long."""
        self._kept[name, arguments] = (self._now() + seconds, text)
        self._kept.move_to_end((name, arguments))
        while len(self._kept) > MOST:
            self._kept.popitem(last=False)

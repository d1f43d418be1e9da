"""The moment: date, time zone and how long the person was away. Pure; stands in the newest user
message, never in the system text, which must not change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

GAP_FROM = timedelta(hours=1)
_UNITS = (("year", 365), ("month", 30), ("week", 7), ("day", 1))


def stale_lines(
    now: datetime, zone: str, results_at: Mapping[str, datetime], stale_after: Mapping[str, float]
) -> tuple[str, ...]:
    """A line for each tool whose newest result in the window is older than the tool vouches for
    (``stale_after``, seconds by name). In the newest message, since the results themselves must not change."""
    lines: list[str] = []
    for name, limit_seconds in stale_after.items():
        at = results_at.get(name)
        if at is not None and (now - at).total_seconds() > limit_seconds:
            here = f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
            lines.append(f"What {name} returned at {here} or before is possibly stale; call it again if it matters.")
    return tuple(lines)


def moment_lines(now: datetime, zone: str, last_at: datetime | None) -> tuple[str, ...]:
    """The date line, and after an hour or more of silence how long it lasted."""
    here = now.astimezone(ZoneInfo(zone))
    lines = [f"Today is {here:%A, %Y-%m-%d, %H:%M} ({zone})."]
    if last_at is not None and now - last_at >= GAP_FROM:
        then = last_at.astimezone(ZoneInfo(zone))
        lines.append(f"The last message was {_ago(now - last_at)} ago, on {then:%Y-%m-%d}.")
    return tuple(lines)


def _ago(gap: timedelta) -> str:
    for unit, days in _UNITS:
        # weeks and months from two on: "9 days" says more than "1 week"
        least = 2 * days if unit in ("week", "month") else days
        if gap.days >= least:
            return _plural(gap.days // days, unit)
    return _plural(max(1, gap.seconds // 3600), "hour")


def _plural(count: int, unit: str) -> str:
    return f"{count} {unit}" if count == 1 else f"{count} {unit}s"

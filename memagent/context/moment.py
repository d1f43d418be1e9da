"""The moment: date, time zone and how long the person was away. Pure; stands in the newest user
message, never in the system text, which must not change."""

from __future__ import annotations

from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

GAP_FROM = timedelta(hours=1)
_UNITS = (("year", 365), ("month", 30), ("week", 7), ("day", 1))


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

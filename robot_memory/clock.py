"""Instants: microseconds since 1970-01-01 UTC inside, ISO 8601 outside."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import datetime, timedelta, timezone

Clock = Callable[[], int]
"""Return the present instant in microseconds since 1970-01-01 UTC."""

DAY = 86_400_000_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)


def wall_clock() -> int:
    """Return the system's time."""
    return time.time_ns() // 1000


def iso(instant: int) -> str:
    """Return an instant as UTC, ISO 8601 with microseconds and without a zone."""
    moment = _EPOCH + instant * _MICROSECOND
    return moment.replace(tzinfo=None).isoformat(timespec='microseconds')


def instant(text: str) -> int:
    """
    Return the instant that an ISO 8601 text names; without a zone it is UTC.

    Raise ValueError for text that is not a date or a time.
    """
    moment = datetime.fromisoformat(text.strip().replace('Z', '+00:00'))
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=timezone.utc)
    return (moment - _EPOCH) // _MICROSECOND

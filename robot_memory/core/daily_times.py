"""Times of day, on some days of the week or on all, as people write them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

DAYS = ('mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun')
_MINUTES = 24 * 60
_TIMES = re.compile(r'(\d{1,2}):(\d{2})\s*(?:-|–)\s*(\d{1,2}):(\d{2})')
_ACCEPTED = (
    'accepted: 22:00-06:00, or with days mon-fri 08:00-12:00, sat sun 00:00-24:00; hours of the '
    'setting time_zone'
)


@dataclass(frozen=True)
class DailyTime:
    """
    Hold a time of day in minutes since midnight, and the days (0: Monday) on which it begins.

    One that ends at or before its begin goes over midnight. Begin and end belong to it.
    """

    begin: int
    end: int
    days: frozenset[int]
    text: str

    def covers(self, local: datetime) -> bool:
        """Say whether a local time lies in it."""
        at = local.hour * 60 + local.minute + (local.second + local.microsecond / 1e6) / 60
        day = local.weekday()
        if self.begin < self.end:
            at_midnight = at == 0 and self.end == _MINUTES and (day - 1) % 7 in self.days
            return at_midnight or (day in self.days and self.begin <= at <= self.end)
        began_yesterday = (day - 1) % 7 in self.days and at <= self.end
        return began_yesterday or (day in self.days and at >= self.begin)


def parse_daily_time(text: Any) -> DailyTime:
    """Return the time of day that a text tells; raise InvalidArgument."""
    whole = text.strip() if isinstance(text, str) else ''
    days_text, _, times = whole.rpartition(' ') if ' ' in whole else ('', '', whole)
    found = _TIMES.fullmatch(times)
    if found is None:
        raise InvalidArgument(f'{format_value(text)} is no daily time; {_ACCEPTED}')
    begin, end = (_parse_minutes(found[at], found[at + 1], whole) for at in (1, 3))
    if begin in (end, _MINUTES):
        raise InvalidArgument(
            f'{format_value(text)} has no length; write 00:00-24:00 for a whole day; {_ACCEPTED}'
        )
    days = _parse_days(days_text, whole) if days_text else frozenset(range(7))
    return DailyTime(begin, end, days, whole)


def _parse_minutes(hours: str, minutes: str, whole: str) -> int:
    found = int(hours) * 60 + int(minutes)
    if int(minutes) > 59 or found > _MINUTES:
        raise InvalidArgument(
            f'{hours}:{minutes} in {format_value(whole)} is no time of day; {_ACCEPTED}'
        )
    return found


def _parse_days(text: str, whole: str) -> frozenset[int]:
    found: set[int] = set()
    for word in re.split(r'[\s,]+', text.casefold().strip(', ')):
        first, dash, last = word.partition('-')
        if first not in DAYS or (dash and last not in DAYS):
            raise InvalidArgument(
                f'{format_value(word)} in {format_value(whole)} is no day; accepted: '
                f'{", ".join(DAYS)}, or two of them as mon-fri'
            )
        begin = DAYS.index(first)
        length = (DAYS.index(last) - begin) % 7 if dash else 0
        found |= {(begin + step) % 7 for step in range(length + 1)}
    return frozenset(found)

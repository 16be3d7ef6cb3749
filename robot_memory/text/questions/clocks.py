"""Clock times as questions tell them, in figures and words: 14:03, twenty to four, 两点差五分."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_table

_PARTS = {'half': 30, 'quarter': 15, 'a quarter': 15, '半': 30, '一刻': 15, '三刻': 45, '整': 0}
"""Parts of an hour as they are said, in minutes."""
_TO = ('to', 'before', 'till', 'of', '差', '还差', '欠')


@dataclass(frozen=True)
class Clock:
    """
    Hold a time of day.

    `exact` says that it is known to be before or after noon, `spoken` that it was rounded: half
    past two; `over` that it was a little later: 四点多.
    """

    hour: int
    minute: int | None = None
    second: int | None = None
    exact: bool = False
    spoken: bool = False
    over: bool = False


def get_whole(given: dict[str, Any], name: str) -> int | None:
    """Return a group of a pattern as a whole number, None where it is not there."""
    return int(parse_number(str(given[name]))) if name in given else None


def read_clock(given: dict[str, Any], calendar: Calendar) -> dict[str, Any]:
    """Return the fields of a moment that the groups of a clock time tell."""
    hour = int(parse_number(str(given['hour'])))
    minute, second = _read_minute(given), get_whole(given, 'second')
    away, side = given.get('away', ''), given.get('side', '')
    if away and side in _TO:
        hour, minute = (hour - 1) % 12 if hour <= 12 else hour - 1, 60 - _parse_minutes(away)
    elif away:
        minute = _parse_minutes(away)
    exact = 'exact' in given or hour > 12 or given.get('hour') in ('0', '00', '零')
    meridiem, part = given.get('meridiem', ''), given.get('part', '')
    if meridiem:
        if not 1 <= hour <= 12:
            raise ValueError(f'no hour {hour} {meridiem}')
        hour, exact = hour % 12 + 12 * meridiem.startswith('p'), True
    elif part:
        hour, exact = set_hour_in(part, hour), True
    if hour == 24 and not minute:
        hour = 0
    if hour > 23 or (minute or 0) > 59:
        raise ValueError(f'no hour {hour}')
    clock = Clock(hour, minute, second, exact, bool(away), 'over' in given)
    return {'clock': clock, 'part': part}


def _read_minute(given: dict[str, Any]) -> int | None:
    written = str(given.get('minute', '')).replace('oh ', '').replace('oh-', '')
    written = written.removeprefix('o ').removeprefix('零')
    return int(parse_number(written)) if written else None


def _parse_minutes(written: str) -> int:
    """Return the minutes before or after an hour: a quarter, twenty-five minutes, 五分."""
    words = written.removesuffix('钟').removesuffix('分').strip()
    for ending in (' minutes', ' minute', ' mins', ' min'):
        words = words.removesuffix(ending)
    return _PARTS[words] if words in _PARTS else int(parse_number(words))


def set_hour_in(part: str, hour: int) -> int:
    """Return an hour as a part of the day means it: 15 for three in the afternoon."""
    low, high = load_table('times')['parts'][part]
    if hour < 12 and not low <= hour <= high and low <= hour + 12 <= max(high, 24):
        return hour + 12
    return 0 if hour == 12 and high > 24 else hour

"""Time zones: IANA names, local times, and where a zone changes its offset."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from functools import lru_cache
from pathlib import Path
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError, available_timezones

from robot_memory.core.clock import LAST
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_MICROSECOND = timedelta(microseconds=1)
_DAY = 86_400 * 10**6
_FIRST = -62_135_596_800_000_000
_LOCALTIME = Path('/etc/localtime')


def get_zone(name: str) -> ZoneInfo:
    """
    Return the zone of an IANA name, the system's for an empty one; raise InvalidArgument.

    The system's is looked up once a process.
    """
    return _load_zone(name.strip(), os.environ.get('TZ', ''))


@lru_cache(maxsize=64)
def _load_zone(name: str, _: str) -> ZoneInfo:
    name = name or find_system_zone()
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise InvalidArgument(_describe_unknown(name)) from None


def _describe_unknown(name: str) -> str:
    known = sorted(available_timezones())
    if not known:
        return (
            f'time_zone {format_value(name)} is not known: this machine has no time zone data; '
            'install tzdata'
        )
    near = difflib.get_close_matches(name, known, 3, 0.5) or ['Europe/Berlin', 'UTC']
    return (
        f'time_zone must be an IANA name such as {", ".join(near)}, empty for the '
        f"system's, not {format_value(name)}"
    )


def find_system_zone() -> str:
    """Return the IANA name of the system's zone; UTC where it has none."""
    name = os.environ.get('TZ', '').lstrip(':')
    if not name and _LOCALTIME.is_symlink():
        name = str(_LOCALTIME.resolve()).partition('zoneinfo/')[2]
    try:
        return ZoneInfo(name).key if name else 'UTC'
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return 'UTC'


def parse_local(name: str, text: str, zone: ZoneInfo) -> int:
    """
    Return the instant of an ISO 8601 text in microseconds; without an offset it is of the zone.

    A date is its midnight. `name` is the argument, for messages; raise InvalidArgument.
    """
    try:
        moment = datetime.fromisoformat(text.strip().replace('Z', '+00:00'))
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=zone)
        return (moment - _EPOCH) // _MICROSECOND
    except (ValueError, OverflowError):
        raise InvalidArgument(
            f'{name} must be an ISO 8601 date or time, e.g. 2026-11-20 or 2026-11-20T14:03:00, '
            f'not {format_value(text)}'
        ) from None


def to_local(instant: int, zone: ZoneInfo) -> datetime:
    """Return an instant in microseconds as a time of the zone."""
    moment = _EPOCH + min(max(instant, _FIRST + _DAY), LAST - _DAY) * _MICROSECOND
    return moment.astimezone(zone)


def format_local(instant: int, zone: ZoneInfo) -> str:
    """Return an instant in microseconds as ISO 8601 with the offset of the zone."""
    return to_local(instant, zone).isoformat(timespec='microseconds')


class MeasuredTime(str):
    """A time as ISO 8601 with microseconds that knows its nanoseconds."""

    nanoseconds: int

    @classmethod
    def of(cls, text: str, nanoseconds: int) -> MeasuredTime:
        """Return the text of an instant that is so many nanoseconds after 1970 UTC."""
        made = cls(text)
        made.nanoseconds = nanoseconds
        return made


def format_measured(nanoseconds: int, zone: ZoneInfo) -> MeasuredTime:
    """Return an instant in nanoseconds as ISO 8601 with the offset of the zone."""
    return MeasuredTime.of(format_local(nanoseconds // 1000, zone), nanoseconds)


def get_offset(instant: int, zone: ZoneInfo) -> int:
    """Return what local time is ahead of UTC at an instant, both in microseconds."""
    offset = to_local(instant, zone).utcoffset() or timedelta(0)
    return offset // _MICROSECOND


def find_offsets(zone: ZoneInfo, first: int, last: int) -> tuple[tuple[int, int], ...]:
    """
    Return from when on the zone has which offset between two instants, all in microseconds.

    The first is in force before `first` as well.
    """
    return tuple(_iterate_offsets(zone, first, last))


def _iterate_offsets(zone: ZoneInfo, first: int, last: int) -> Iterator[tuple[int, int]]:
    at, offset = first, get_offset(first, zone)
    yield at, offset
    while at < last:
        later = min(at + _DAY, last)
        found = get_offset(later, zone)
        if found != offset:
            low, high = at, later
            while high - low > 1:
                middle = (low + high) // 2
                if get_offset(middle, zone) == offset:
                    low = middle
                else:
                    high = middle
            later, offset = high, get_offset(high, zone)
            yield later, offset
        at = later

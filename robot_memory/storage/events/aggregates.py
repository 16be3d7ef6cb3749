"""Counts, means, quantiles and histograms of events, in groups of a time or a name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

import apsw
import numpy as np
from numpy.typing import NDArray

from robot_memory.core.zones import find_offsets, format_local, to_local
from robot_memory.storage.events.conditions import Selection
from robot_memory.storage.events.fields import FARTHEST, TEXTS, Measure
from robot_memory.storage.events.windows import Rows, find_extent, find_rows, merge
from robot_memory.storage.tables import event_names

SUMS = ('count', 'min', 'max', 'mean', 'sum', 'std')
TIMES = ('hour', 'day', 'weekday')
NAMES = {
    name.removesuffix('_id'): TEXTS[name]
    for name in ('topic', 'kind', 'label', 'task', 'session_id', 'recording', 'robot')
}
MAX_GROUPS = 1000
_NS = 1_000_000_000
_HOUR, _DAY = 3600 * _NS, 86_400 * _NS
_SHIFT = 7000 * _DAY
"""Whole weeks that are added before a division, so that it rounds down in 1969, too."""
_NO_KEY = -(2**62)
"""In place of the key of events without a name."""
_WEEKDAYS = ('Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday', 'Sunday')


@dataclass(frozen=True)
class Group:
    """
    The events of one group: `values` by the names of aggregates, `bins` as low, high and count.

    `key` is a name, a weekday, a date or the beginning of an hour; empty where there is none.
    """

    key: str
    count: int
    values: dict[str, float] = field(default_factory=dict)
    bins: tuple[tuple[float, float, int], ...] = ()


def aggregate(
    connection: apsw.Connection,
    chosen: Selection,
    measure: Measure | None,
    names: Sequence[str],
    quantiles: dict[str, float],
    bins: int,
    group_by: str,
    zone: ZoneInfo,
) -> list[Group]:
    """
    Return the groups of a selection, of a figure those that have it.

    `names` are of `SUMS`, `quantiles` name shares from 0 to 1, `bins` is 0 or how many a histogram
    has. Times are in their order, names by how many events they have.
    """
    if measure is not None:
        chosen = chosen.having(measure)
    parts = find_rows(connection, chosen, may_scan=True)
    value = 'NULL' if measure is None else measure.sql_of_kinds
    key = _make_key(connection, chosen, group_by, zone)
    found: Iterable[tuple[Any, int, dict[str, float], Any]] = ()
    if parts:
        query = merge(parts, f'{key} AS key, {value} AS value')
        if quantiles or bins:
            data = _read_groups(connection, query, is_grouped=bool(group_by))
            found = _describe(data, names, quantiles, bins)
        else:
            found = _sum(connection, query, names, is_grouped=bool(group_by))
    groups = [
        Group(str(key), count, values, edges)
        for key, count, values, edges in _label(connection, found, group_by, zone)
    ]
    return groups or ([] if group_by else [Group('', 0)])


def _sum(
    connection: apsw.Connection, query: Rows, names: Sequence[str], *, is_grouped: bool
) -> list[tuple[Any, int, dict[str, float], Any]]:
    """Aggregate in the database, in one scan."""
    around = 0.0
    if 'std' in names:  # sums of squares around a value near the mean lose no digits
        row = connection.execute(
            f'SELECT value FROM ({query.sql}) LIMIT 1', query.values
        ).fetchone()
        around = float(row[0]) if row else 0.0
    wanted = {
        'min': 'min(value)',
        'max': 'max(value)',
        'sum': 'sum(value)',
        'mean': 'avg(value)',
        'std': 'sum((value - :around) * (value - :around))'.replace(':around', repr(around)),
    }
    columns = [name for name in wanted if name in names or (name == 'mean' and 'std' in names)]
    sql = ', '.join(['key', 'count(*)', *(wanted[name] for name in columns)])
    grouped = ' GROUP BY key' if is_grouped else ''
    rows: list[Any] = connection.execute(
        f'SELECT {sql} FROM ({query.sql}){grouped}', query.values
    ).fetchall()
    found = []
    for key, count, *values in rows:
        if count:
            given = dict(zip(columns, values, strict=True))
            if 'std' in given:
                spread = given['std'] / count - (given['mean'] - around) ** 2
                given['std'] = max(0.0, spread) ** 0.5
            kept = {name: float(given[name]) for name in names if name != 'count'}
            found.append((key, count, kept, ()))
    return found


def _describe(
    data: Mapping[Any, NDArray[np.float64]],
    names: Sequence[str],
    quantiles: dict[str, float],
    bins: int,
) -> list[tuple[Any, int, dict[str, float], Any]]:
    """Aggregate the values themselves, for what needs their order."""
    ends = (0.0, 0.0)
    if bins and data:
        ends = (min(one.min() for one in data.values()), max(one.max() for one in data.values()))
    found = []
    for key, column in data.items():
        kept = {name: float(getattr(np, name)(column)) for name in names if name != 'count'}
        shares = np.quantile(column, list(quantiles.values())) if quantiles else ()
        kept |= {name: float(one) for name, one in zip(quantiles, shares, strict=True)}
        edges: tuple[tuple[float, float, int], ...] = ()
        if bins:
            counts, limits = np.histogram(column, bins, ends)
            edges = tuple(
                (float(limits[place]), float(limits[place + 1]), int(count))
                for place, count in enumerate(counts)
            )
        found.append((key, len(column), kept, edges))
    return found


def _read_groups(
    connection: apsw.Connection, query: Rows, *, is_grouped: bool
) -> dict[Any, NDArray[np.float64]]:
    """Return the values of each key; a key is an integer or None."""
    if not is_grouped:
        plain = connection.execute(f'SELECT value FROM ({query.sql})', query.values)
        values = np.fromiter(chain.from_iterable(plain), np.float64)
        return {0: values} if len(values) else {}
    rows = connection.execute(
        f'SELECT coalesce(key, {_NO_KEY}), value FROM ({query.sql})', query.values
    )
    # Keys are ids, days or whole seconds in nanoseconds: a float holds each exactly.
    flat = np.fromiter(chain.from_iterable(rows), np.float64)
    keys, values = flat[::2], flat[1::2]
    order = np.argsort(keys, kind='stable')
    keys, values = keys[order], values[order]
    found = {}
    starts = np.flatnonzero(np.diff(keys, prepend=np.nan))
    for start, end in zip(starts, [*starts, len(keys)][1:], strict=True):
        key = int(keys[start])
        found[None if key == _NO_KEY else key] = values[start:end]
    return found


def _make_key(
    connection: apsw.Connection, chosen: Selection, group_by: str, zone: ZoneInfo
) -> str:
    """Return as SQL what the events of one group have in common."""
    if not group_by:
        return '0'
    if group_by in NAMES:
        return f'e.{NAMES[group_by]}'
    onset = chosen.fields.time('onset')
    offset = _make_offset(connection, chosen, onset, zone)
    if group_by == 'hour':
        return f'(({onset} + {offset} + {_SHIFT}) / {_HOUR} * {_HOUR} - {_SHIFT} - {offset})'
    day = f'(({onset} + {offset} + {_SHIFT}) / {_DAY})'
    # 1970-01-01 was a Thursday, and the shift is whole weeks.
    return day if group_by == 'day' else f'(({day} + 3) % 7)'


def _make_offset(
    connection: apsw.Connection, chosen: Selection, onset: str, zone: ZoneInfo
) -> str:
    """Return as SQL what local time is ahead of UTC, in nanoseconds."""
    first, last = (time // 1000 for time in find_extent(connection))
    # What overlaps a window may have begun before it.
    if chosen.low is not None:
        first = max(first, chosen.low // 1000)
    for end in (chosen.until, chosen.high):
        last = last if end is None else min(last, end // 1000)
    offsets = find_offsets(zone, first, max(first, last))
    if len(offsets) == 1:
        return str(1000 * offsets[0][1])
    cases = ' '.join(
        f'WHEN {onset} >= {max(-FARTHEST, 1000 * at)} THEN {1000 * offset}'
        for at, offset in reversed(offsets[1:])
    )
    return f'(CASE {cases} ELSE {1000 * offsets[0][1]} END)'


def _label(
    connection: apsw.Connection,
    found: Iterable[tuple[Any, int, dict[str, float], Any]],
    group_by: str,
    zone: ZoneInfo,
) -> list[tuple[str, int, dict[str, float], Any]]:
    """Give groups their words, and their order."""
    rows = list(found)
    if group_by in NAMES:
        known = event_names.read(connection, [row[0] for row in rows])
        named = [(known[row[0]] or '', *row[1:]) for row in rows]
        return sorted(named, key=lambda row: (-row[1], row[0]))
    rows.sort(key=lambda row: row[0])
    return [(_say_time(row[0], group_by, zone), *row[1:]) for row in rows]


def _say_time(key: int, group_by: str, zone: ZoneInfo) -> str:
    if group_by == 'hour':
        return to_local(key // 1000, zone).isoformat(timespec='minutes')
    if group_by == 'day':
        return format_local(key * (_DAY // 1000) - _SHIFT // 1000, ZoneInfo('UTC'))[:10]
    return _WEEKDAYS[key] if group_by == 'weekday' else ''

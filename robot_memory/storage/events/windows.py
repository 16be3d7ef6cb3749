"""
Where the rows of a selection are read from: short windows by an index, long ones in one scan.

An event belongs to a window that it overlaps. So the index of onsets is read from before the
window, by as much as the events of that hour last at most; those of more than an hour have an
index of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage.events.conditions import Selection
from robot_memory.storage.events.fields import FARTHEST
from robot_memory.storage.tables import event_hours
from robot_memory.storage.tables.event_hours import HOUR_NS, IS_LONG

_SHARE = 8
"""A window that holds more than this part of all events is read in one scan."""
_EACH = 40
"""Kinds up to which each has a part of its own, in the order of onsets."""
_SHIFTED = (
    'SELECT s.id FROM clock_epochs AS c CROSS JOIN events AS s INDEXED BY events_by_kind'
    ' ON {kinds} AND s.onset >= ? - 1000 * c.offset AND s.onset < ? - 1000 * c.offset'
    ' AND s.epoch = c.id'
    ' WHERE c.offset <> 0'
)


@dataclass(frozen=True)
class Rows:
    """A part of the rows `e` of a selection: SQL from FROM on, and its values."""

    sql: str
    values: tuple[Any, ...]


def find_rows(connection: apsw.Connection, chosen: Selection, *, may_scan: bool) -> list[Rows]:
    """
    Return the rows of a selection in parts that do not overlap, each by an index.

    Where it `may_scan`, what is a large part of all is one part, in no order.
    """
    if chosen.kinds is not None and not chosen.kinds:
        return []
    low, high, long_ones = find_span(connection, chosen)
    if (may_scan or chosen.fields.corrected) and _is_large(connection, chosen, low, high):
        return [_make(chosen, 'NOT INDEXED', _of_kinds('e', chosen.kinds), ())]
    if chosen.fields.corrected:
        return [_find_corrected(chosen, low, high, long_ones)]
    kinds = list_kinds(chosen)
    each = [f'e.kind = {kind}' for kind in kinds]
    if len(kinds) > _EACH:
        each = [_of_kinds('e', kinds)]
    parts = []
    for of_kind in each:
        span = f'{of_kind} AND e.onset >= ? AND e.onset < ?'
        parts.append(_make(chosen, 'INDEXED BY events_by_kind', span, (low, high)))
    if long_ones:
        span = f'{_of_kinds("e", chosen.kinds)} AND e.id IN (SELECT value FROM json_each(?))'
        parts.append(_make(chosen, 'NOT INDEXED', span, (dump_json(long_ones),)))
    return parts


def find_extent(connection: apsw.Connection) -> tuple[int, int]:
    """Return in nanoseconds between which onsets all events lie, whatever their clocks were."""
    first, last = event_hours.find_extent(connection)
    ((behind, ahead),) = connection.execute(
        'SELECT coalesce(min(offset), 0), coalesce(max(offset), 0) FROM clock_epochs'
    )
    return int(first + 1000 * min(behind, 0)), int(last + 1000 * max(ahead, 0))


def count_rows(connection: apsw.Connection, chosen: Selection) -> int:
    """Return about how many events lie in the window of a selection, to the hour."""
    low, high, long_ones = find_span(connection, chosen)
    return event_hours.count(connection, list_kinds(chosen), low, high) + len(long_ones)


def merge(parts: Sequence[Rows], columns: str) -> Rows:
    """Return as a query the columns of all rows."""
    sql = ' UNION ALL '.join(f'SELECT {columns} {part.sql}' for part in parts)
    return Rows(sql, tuple(value for part in parts for value in part.values))


def list_kinds(chosen: Selection) -> list[int]:
    """Return the kinds that the events of a selection may be of."""
    return sorted(chosen.fields.kinds if chosen.kinds is None else chosen.kinds)


def _make(chosen: Selection, index: str, span: str, values: tuple[Any, ...]) -> Rows:
    condition = ' AND '.join(('e.active', span, *chosen.sql))
    return Rows(f'FROM events AS e {index} WHERE {condition}', (*values, *chosen.values))


def _of_kinds(name: str, kinds: Iterable[int] | None) -> str:
    """Return as SQL that an event is of one of the kinds, of which None are any."""
    if kinds is None:
        return '1'
    return f'{name}.kind IN ({", ".join(map(str, sorted(kinds)))})'


def find_span(connection: apsw.Connection, chosen: Selection) -> tuple[int, int, list[int]]:
    """Return from when to when events began, and the ids of longer ones that began before."""
    low = -FARTHEST if chosen.low is None else chosen.low
    ends = [end for end in (chosen.until, chosen.high) if end is not None]
    high = min(ends, default=FARTHEST)
    if chosen.since is None or chosen.since <= low:
        return low, high, []
    longest = HOUR_NS
    if not chosen.fields.corrected:
        longest = event_hours.find_longest(connection, chosen.since, chosen.since)
    first = max(low, chosen.since - longest)
    return first, high, _find_before(connection, chosen, first) if first > low else []


def _find_before(connection: apsw.Connection, chosen: Selection, first: int) -> list[int]:
    """Return the ids of what began before a time and is long, or lasts."""
    time = chosen.fields.time
    found = connection.execute(
        f'SELECT e.id FROM events AS e INDEXED BY events_long WHERE {IS_LONG}'
        f' AND {_of_kinds("e", list_kinds(chosen))} AND e.active AND {time("onset")} < ?'
        f' AND (e."end" IS NULL OR {time("end")} >= ?)',
        (first, chosen.since),
    )
    return [row[0] for row in found]


def _is_large(connection: apsw.Connection, chosen: Selection, low: int, high: int) -> bool:
    ((last,),) = connection.execute('SELECT coalesce(max(id), 0) FROM events')
    counted = event_hours.count(connection, list_kinds(chosen), low, high)
    return counted > int(last) // _SHARE


def _find_corrected(chosen: Selection, low: int, high: int, long_ones: list[int]) -> Rows:
    """Return the rows of a window where the clock of some epochs was wrong."""
    kinds = _of_kinds('s', list_kinds(chosen))
    span = (
        f'e.id IN (SELECT s.id FROM events AS s INDEXED BY events_by_kind WHERE {kinds}'
        f' AND s.onset >= ? AND s.onset < ? UNION ALL {_SHIFTED.format(kinds=kinds)}'
        ' UNION ALL SELECT value FROM json_each(?))'
    )
    # Sums with an offset must not leave what SQLite counts in integers.
    bounds = max(low, -FARTHEST // 2), min(high, FARTHEST // 2)
    values = (low, high, *bounds, dump_json(long_ones))
    return _make(chosen, 'NOT INDEXED', f'{_of_kinds("e", chosen.kinds)} AND {span}', values)

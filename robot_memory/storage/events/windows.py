"""
Where the rows of a selection are read from: short windows by an index, long ones in one scan.

An event belongs to a window that it overlaps. Few events are long, so the index of onsets is read
from a little before the window, and those that began even earlier are looked up by duration.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage.events.conditions import Selection
from robot_memory.storage.events.fields import FARTHEST

_LONG_ONES = 500
"""Events of a kind that are looked up by their duration, whenever they began."""
_SHARE = 8
"""A window that holds more than this part of all events is read in one scan."""
COUNTED = 50_000
"""Events of a window that are counted; more than that are many."""
_SHIFTED = (
    'SELECT s.id FROM clock_epochs AS c CROSS JOIN events AS s INDEXED BY {index}'
    ' ON s.onset >= ? - 1000 * c.offset AND s.onset < ? - 1000 * c.offset AND s.epoch = c.id{also}'
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
    low, high, long_ones = _find_span(connection, chosen)
    if (may_scan or chosen.fields.corrected) and _is_large(connection, chosen, low, high):
        return [_make(chosen, 'NOT INDEXED', _of_kinds('e', chosen.kinds), ())]
    if chosen.fields.corrected:
        return [_find_corrected(chosen, low, high, long_ones)]
    index, each = 'INDEXED BY events_by_onset', ['1']
    parts = []
    if chosen.kinds is not None:
        index = 'INDEXED BY events_by_kind'
        each = [f'e.kind = {kind}' for kind in sorted(chosen.kinds)]
    for of_kind in each:
        span = f'{of_kind} AND e.onset >= ? AND e.onset < ?'
        parts.append(_make(chosen, index, span, (low, high)))
    if long_ones:
        span = f'{_of_kinds("e", chosen.kinds)} AND e.id IN (SELECT value FROM json_each(?))'
        parts.append(_make(chosen, 'NOT INDEXED', span, (dump_json(long_ones),)))
    return parts


def find_extent(connection: apsw.Connection) -> tuple[int, int]:
    """Return in nanoseconds between which onsets all events lie, whatever their clocks were."""
    ((first, last, behind, ahead),) = connection.execute(
        'SELECT coalesce((SELECT min(onset) FROM events), 0),'
        ' coalesce((SELECT max(onset) FROM events), 0),'
        ' coalesce(min(offset), 0), coalesce(max(offset), 0) FROM clock_epochs'
    )
    return int(first + 1000 * min(behind, 0)), int(last + 1000 * max(ahead, 0))


def count_rows(connection: apsw.Connection, chosen: Selection, most: int) -> int:
    """Return about how many events lie in the window of a selection, at most one over `most`."""
    low, high, long_ones = _find_span(connection, chosen)
    return _count(connection, chosen, low, high, most) + len(long_ones)


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


def _of_kinds(name: str, kinds: frozenset[int] | None) -> str:
    """Return as SQL that an event is of one of the kinds, none of which is any."""
    if not kinds:
        return '1'
    return f'{name}.kind IN ({", ".join(map(str, sorted(kinds)))})'


def _find_span(connection: apsw.Connection, chosen: Selection) -> tuple[int, int, list[int]]:
    """Return from when to when events began, and the ids of longer ones that began before."""
    low = -FARTHEST if chosen.low is None else chosen.low
    ends = [end for end in (chosen.until, chosen.high) if end is not None]
    high = min(ends, default=FARTHEST)
    if chosen.since is None or chosen.since <= low:
        return low, high, []
    kinds = list_kinds(chosen)
    longest = max((_find_long(connection, kind) for kind in kinds), default=0)
    first = max(low, chosen.since - longest)
    found: list[int] = []
    for kind in kinds if first > low else ():
        found += _find_before(connection, chosen, kind, longest, first)
    return first, high, found


def _find_long(connection: apsw.Connection, kind: int) -> int:
    """Return the duration in nanoseconds that only a few events of a kind exceed."""
    row = connection.execute(
        'SELECT e."end" - e.onset FROM events AS e INDEXED BY events_by_duration'
        ' WHERE e.active AND e.kind = ? ORDER BY e."end" - e.onset DESC LIMIT 1 OFFSET ?',
        (kind, _LONG_ONES),
    ).fetchone()
    return max(0, row[0] or 0) if row else 0


def _find_before(
    connection: apsw.Connection, chosen: Selection, kind: int, longest: int, first: int
) -> list[int]:
    """Return the ids of what began before a time and is longer, or lasts."""
    time = chosen.fields.time
    rows = 'SELECT e.id FROM events AS e INDEXED BY events_by_duration WHERE e.active AND e.kind'
    found = connection.execute(
        f'{rows} = ?1 AND e."end" - e.onset > ?2 AND {time("onset")} < ?3 AND {time("end")} >= ?4'
        f' UNION ALL {rows} = ?1 AND e."end" - e.onset IS NULL AND {time("onset")} < ?3',
        (kind, longest, first, chosen.since),
    )
    return [row[0] for row in found]


def _is_large(connection: apsw.Connection, chosen: Selection, low: int, high: int) -> bool:
    ((last,),) = connection.execute('SELECT coalesce(max(id), 0) FROM events')
    most = int(last) // _SHARE
    return _count(connection, chosen, low, high, most) > most


def _count(connection: apsw.Connection, chosen: Selection, low: int, high: int, most: int) -> int:
    """Count the events that began in a span by the clocks as they were, up to one over `most`."""
    index = 'events_by_onset' if chosen.kinds is None else 'events_by_kind'
    active = '1' if chosen.kinds is None else f'e.active AND {_of_kinds("e", chosen.kinds)}'
    ((number,),) = connection.execute(
        f'SELECT count(*) FROM (SELECT 1 FROM events AS e INDEXED BY {index}'
        f' WHERE {active} AND e.onset >= ? AND e.onset < ? LIMIT ?)',
        (low, high, most + 1),
    )
    return int(number)


def _find_corrected(chosen: Selection, low: int, high: int, long_ones: list[int]) -> Rows:
    """Return the rows of a window where the clock of some epochs was wrong."""
    index = 'events_by_onset' if chosen.kinds is None else 'events_by_kind'
    of = '' if chosen.kinds is None else f' AND s.active AND {_of_kinds("s", chosen.kinds)}'
    shifted = _SHIFTED.format(index=index, also=of)
    span = (
        f'e.id IN (SELECT s.id FROM events AS s INDEXED BY {index} WHERE s.onset >= ?'
        f' AND s.onset < ?{of} UNION ALL {shifted} UNION ALL SELECT value FROM json_each(?))'
    )
    # Sums with an offset must not leave what SQLite counts in integers.
    bounds = max(low, -FARTHEST // 2), min(high, FARTHEST // 2)
    values = (low, high, *bounds, dump_json(long_ones))
    return _make(chosen, 'NOT INDEXED', f'{_of_kinds("e", chosen.kinds)} AND {span}', values)

"""
Rows of hours: how many events of a kind began in one, and between which bounds they lie.

Triggers of the table of events widen them as events come and end. Bounds narrow only where events
are erased; hours are of the clock that an event was measured with.
"""

from __future__ import annotations

from collections.abc import Iterable

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage import remembered
from robot_memory.storage.tables.figures import SLOTS

_TABLE, _KINDS = 'event_hours', 'kinds'
HOUR_NS = 3600 * 10**9
IS_LONG = f'("end" IS NULL OR "end" - onset > {HOUR_NS})'
"""SQL of events that the index `events_long` has: longer than an hour, or lasting."""
_SLOTS = range(1, SLOTS + 1)
_NAMES = ', '.join(f'low_{slot}, high_{slot}' for slot in _SLOTS)
_BOUNDS = ', '.join(f'min(value_{slot}), max(value_{slot})' for slot in _SLOTS)
_COLUMNS = f'kind, hour, number, shortest, longest, {_NAMES}'
COMPUTED = (
    f'WITH hours ({_COLUMNS}) AS (SELECT kind, onset / {HOUR_NS}, count(*), min("end" - onset),'
    f' max("end" - onset), {_BOUNDS} FROM main.events NOT INDEXED GROUP BY 1, 2)'
    f' SELECT {_COLUMNS} FROM hours'
)
"""SQL of all rows, from the events alone."""
KINDS = (
    '(WITH RECURSIVE found (kind) AS (SELECT min(kind) FROM event_hours UNION ALL'
    ' SELECT (SELECT min(kind) FROM event_hours WHERE kind > found.kind)'
    ' FROM found WHERE found.kind IS NOT NULL) SELECT kind FROM found WHERE kind IS NOT NULL)'
)
"""SQL of the kinds that there are events of."""


def write_kinds(connection: apsw.Connection) -> str:
    """Return SQL of the kinds that there are events of: a list of them where it is remembered."""
    if not remembered.is_on():
        return KINDS
    known = remembered.look_up(_TABLE, _KINDS, lambda: _select_kinds(connection))
    # SQLite finds no way through a partial index for an empty list.
    return f'({", ".join(map(str, sorted(known)))})' if known else KINDS


def _select_kinds(connection: apsw.Connection) -> set[int]:
    return {row[0] for row in connection.execute(f'SELECT kind FROM {KINDS}')}


def note_kind(kind: int) -> None:
    """Add the kind of a new event to those that are remembered."""
    known: set[int] | None = remembered.get(_TABLE, _KINDS)
    if known is not None:
        known.add(kind)


def find_hour(onset: int) -> int:
    """Return the hour of an onset in nanoseconds, rounded towards 1970 as SQLite divides."""
    return onset // HOUR_NS if onset >= 0 else -(-onset // HOUR_NS)


def find_onsets(hour: int) -> tuple[int, int]:
    """Return the first and the last onset of an hour; that of 1970 is two hours long."""
    first = hour * HOUR_NS if hour > 0 else (hour - 1) * HOUR_NS + 1
    last = (hour + 1) * HOUR_NS - 1 if hour >= 0 else hour * HOUR_NS
    return first, last


def find_extent(connection: apsw.Connection) -> tuple[int, int]:
    """Return onsets between which all events lie as measured, to the hour."""
    ((first, last),) = connection.execute(
        'SELECT coalesce(min((SELECT min(hour) FROM event_hours WHERE kind = k.kind)), 0),'
        ' coalesce(max((SELECT max(hour) FROM event_hours WHERE kind = k.kind)), 0)'
        f' FROM {KINDS} AS k'
    )
    return find_onsets(first)[0], find_onsets(last)[1]


def find_longest(connection: apsw.Connection, since: int, until: int) -> int:
    """
    Return how long events last at most that began from an hour before one time until another.

    In nanoseconds; of those that are not in the index of long ones.
    """
    ((longest,),) = connection.execute(
        f'SELECT max(longest) FROM event_hours WHERE kind IN {write_kinds(connection)}'
        ' AND hour BETWEEN ? AND ?',
        (find_hour(since - HOUR_NS), find_hour(until)),
    )
    return max(0, min(longest or 0, HOUR_NS))


def count(connection: apsw.Connection, kinds: Iterable[int], low: int, high: int) -> int:
    """Return how many events of some kinds began in the hours from one onset to another."""
    ((number,),) = connection.execute(
        'SELECT coalesce(sum(number), 0) FROM event_hours WHERE kind IN'
        ' (SELECT value FROM json_each(?)) AND hour BETWEEN ? AND ?',
        (dump_json(list(kinds)), find_hour(low), find_hour(high)),
    )
    return int(number)


def compute(connection: apsw.Connection, kind: int, hour: int) -> None:
    """Compute the row of an hour anew from the events of a kind that are there."""
    connection.execute('DELETE FROM event_hours WHERE kind = ? AND hour = ?', (kind, hour))
    connection.execute(
        f'INSERT INTO event_hours ({_COLUMNS})'
        ' SELECT ?1, ?2, count(*), min("end" - onset), max("end" - onset),'
        f' {_BOUNDS} FROM events INDEXED BY events_by_kind WHERE kind = ?1'
        ' AND onset BETWEEN ?3 AND ?4 HAVING count(*) > 0',
        (kind, hour, *find_onsets(hour)),
    )


def compute_all(connection: apsw.Connection) -> None:
    """Compute all rows anew from the events that are there."""
    connection.execute('DELETE FROM event_hours')
    connection.execute(f'INSERT INTO event_hours ({_COLUMNS}) {COMPUTED}')

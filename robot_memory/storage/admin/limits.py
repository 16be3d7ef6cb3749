"""How much of its limit each kind of content takes, and how long that will last; it only reads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.clock import DAY
from robot_memory.storage import epochs
from robot_memory.storage.indexes.filters import TIMES
from robot_memory.storage.tables import audit, counts, sizes

_WEEK = 7 * DAY
_HOUR = DAY / 24


@dataclass(frozen=True)
class Limit:
    """
    Say what takes how many MB of its limit (None: it has none), and how many come a day.

    `days_left` is how long the limit lasts at the rate of the last seven days: 0 once it is
    reached, None where there is no limit or nothing comes.
    """

    name: str
    limit_mb: float | None
    used_mb: float
    mb_a_day: float
    days_left: float | None

    def describe(self) -> str:
        """Say it in words: '12.3 of 1000.0 MB, 4.2 MB a day, full in 235 days'."""
        if self.limit_mb is None:
            return f'{self.used_mb:.1f} MB, {self.mb_a_day:.1f} MB a day, no limit'
        text = f'{self.used_mb:.1f} of {self.limit_mb:.1f} MB, {self.mb_a_day:.1f} MB a day'
        if self.days_left is None:
            return text
        if not self.days_left:
            return f'{text}, full: the oldest are {_WHAT_GOES[self.name]}'
        if self.days_left < 2:
            return f'{text}, full in {self.days_left * 24:.0f} hours'
        return f'{text}, full in {self.days_left:.0f} days'


_WHAT_GOES = {'payloads': 'evicted', 'perceptions': 'folded'}
_ALMOST = 0.94
"""The share to which what is full is emptied, and a little less."""


def measure_payloads(connection: apsw.Connection, limit: float | None, now: int) -> Limit:
    """Measure signals and images against a limit in bytes."""
    ((new, since),) = connection.execute(
        f'SELECT coalesce(sum(p.size), 0), min({TIMES["created_at"]}) FROM memories AS m'
        ' JOIN parts AS p ON p.memory_id = m.id WHERE m.created_at >= ?',
        (now - _WEEK,),
    )
    used = sizes.get_payloads(connection)
    return _make('payloads', limit, used, new, since, now)


def measure_perceptions(connection: apsw.Connection, limit: float | None, now: int) -> Limit:
    """Measure texts, terms, vectors and contexts of perceptions against a limit in bytes."""
    used, _ = sizes.measure_perceptions(connection)
    whole = sum(
        counts.by_type(connection, status)['perception']
        for status in ('active', 'invalidated', 'superseded')
    )
    line, until = audit.find_last(connection, now - _WEEK)
    ((new,),) = connection.execute('SELECT count(*) FROM events WHERE id > ?', (until,))
    since = now - _WEEK if line else _find_beginning(connection)
    return _make('perceptions', limit, used, new * used / max(whole, 1), since, now)


def _find_beginning(connection: apsw.Connection) -> int | None:
    """Return when the store was first written to, else when it was opened by a clock."""
    row: Any = connection.execute(
        f'SELECT {epochs.correct("at", "epoch")} FROM audit WHERE id = 1 UNION ALL'
        ' SELECT * FROM (SELECT wall + offset FROM clock_epochs ORDER BY id LIMIT 1)'
    ).fetchone()
    return None if row is None else row[0]


def _make(
    name: str, limit: float | None, used: int, new: float, since: int | None, now: int
) -> Limit:
    days = max(now - (since or now), _HOUR) / DAY
    a_day = new / days
    left = None
    if limit:
        if used >= limit * _ALMOST:
            left = 0.0
        elif a_day:
            left = (limit - used) / a_day
    return Limit(
        name,
        limit / 1e6 if limit else None,
        round(used / 1e6, 3),
        round(a_day / 1e6, 3),
        None if left is None else round(left, 2),
    )

"""The first events in the order of a figure: hours are read in the order of their bounds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage.events.conditions import Selection
from robot_memory.storage.events.fields import FARTHEST, LENGTH, Measure
from robot_memory.storage.events.windows import find_span, list_kinds
from robot_memory.storage.tables.event_hours import find_hour, find_onsets

Key = tuple[float, int]
"""Where a page ends: the value that orders it, and the id of the event."""
LENGTH_NS = '(e."end" - e.onset)'


def make_beyond(value: str, descending: bool, after: Key) -> tuple[str, float, float, int]:
    """Return as SQL that a row comes after another, with the values."""
    sign = '<' if descending else '>'
    return f'({value} {sign}= ? AND ({value} {sign} ? OR e.id {sign} ?))', *after[:1], *after


@dataclass(frozen=True)
class Page:
    """Say what a page is of: events in the order of a duration, or of a figure with columns."""

    chosen: Selection
    order: Measure
    descending: bool
    limit: int
    after: Key | None

    def read(self, connection: apsw.Connection, most: int) -> list[Key] | None:
        """
        Return the ids of the page, with the values that order them.

        An hour is read unless the page is full of what comes before all that it may hold. None
        where more than `most` events would be looked at.
        """
        low, high, long_ones = -FARTHEST, FARTHEST, list[int]()
        if not self.chosen.fields.corrected:  # hours are of the clocks as they were
            low, high, long_ones = find_span(connection, self.chosen)
        found: list[Key] = []
        for kind in list_kinds(self.chosen) if long_ones else ():
            ids = 'e.id IN (SELECT value FROM json_each(?))'
            found += self._read(connection, kind, 'NOT INDEXED', ids, dump_json(long_ones))
        looked = 0
        for bound, kind, hour, number in self._read_hours(connection, low, high):
            found = self._cut(found)
            if len(found) == self.limit and self._is_before(found[-1][0], bound):
                break
            looked += number
            if looked > most:
                return None
            first, last = find_onsets(hour)
            span = 'e.onset BETWEEN ? AND ?'
            index = 'INDEXED BY events_by_kind'
            found += self._read(connection, kind, index, span, max(first, low), last)
        return self._cut(found)

    def _cut(self, found: list[Key]) -> list[Key]:
        return sorted(found, reverse=self.descending)[: self.limit]

    def _is_before(self, value: float, bound: float) -> bool:
        return value > bound if self.descending else value < bound

    def _read_hours(
        self, connection: apsw.Connection, low: int, high: int
    ) -> Iterator[tuple[float, int, int, int]]:
        """Give bound, kind, hour and number of events of hours, the best bound first."""
        parts = []
        for kind in list_kinds(self.chosen):
            slot = self.order.columns.get(kind)
            pair = ('shortest', 'longest') if slot is None else (f'low_{slot}', f'high_{slot}')
            worst, best = pair if self.descending else pair[::-1]
            # Where the page before ended bounds what an hour still holds.
            sign, nearest = ('<=', 'min') if self.descending else ('>=', 'max')
            parts.append(
                f'SELECT {nearest}({best}, coalesce(?1, {best})) AS bound, kind, hour, number'
                f' FROM event_hours WHERE kind = {kind} AND hour BETWEEN ?2 AND ?3'
                f' AND {best} IS NOT NULL AND (?1 IS NULL OR {worst} {sign} ?1)'
            )
        sql = f'{" UNION ALL ".join(parts)} ORDER BY bound {self._sign}'
        last = None if self.after is None else self.after[0]
        yield from connection.execute(sql, (last, find_hour(low), find_hour(high)))

    def _read(
        self, connection: apsw.Connection, kind: int, index: str, span: str, *values: int | str
    ) -> list[Key]:
        """Return the first events of a kind and a span."""
        value = LENGTH_NS if self.order is LENGTH else f'e.value_{self.order.columns[kind]}'
        conditions = ['e.active', f'e.kind = {kind}', span, f'{value} IS NOT NULL']
        conditions += self.chosen.sql
        bounds: tuple[float, ...] = ()
        if self.after is not None:
            condition, *numbers = make_beyond(value, self.descending, self.after)
            conditions.append(condition)
            bounds = tuple(numbers)
        rows = connection.execute(
            f'SELECT {value} AS value, e.id AS id FROM events AS e {index}'
            f' WHERE {" AND ".join(conditions)}'
            f' ORDER BY value {self._sign}, id {self._sign} LIMIT ?',
            (*values, *self.chosen.values, *bounds, self.limit),
        )
        return [(row[0], row[1]) for row in rows]

    @property
    def _sign(self) -> str:
        return 'DESC' if self.descending else 'ASC'

"""Memories by when they occurred: pages by key, and how many there were when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.storage import epochs
from robot_memory.storage.indexes.candidates import choose, restrict_to
from robot_memory.storage.indexes.filters import ACTIVE, TIMES, Where

Key = tuple[int, int]
"""When a memory occurred, in microseconds, and its id."""
_STORED = 'coalesce(m.stamp / 1000, m.created_at)'
"""SQL of the index's key: when a memory occurred, by clocks as they were."""
_CORRECTED = TIMES['occurred_at']
_FEW = 20_000
"""Memories that are rather all looked at and sorted than looked for in the order of time."""
_MANY = 200_000


@dataclass(frozen=True)
class Span:
    """Hold a window in microseconds: from `first` on, before `end`; None where it is open."""

    first: int | None = None
    end: int | None = None

    def restrict(self, key: str) -> Where:
        """Return the condition that a key lies in the window."""
        where = Where('1')
        if self.first is not None:
            where &= Where(f'{key} >= ?', (self.first,))
        if self.end is not None:
            where &= Where(f'{key} < ?', (self.end,))
        return where


class Timeline:
    """
    Look at the memories that pass a condition, in the order in which they occurred.

    With `only_active`, the condition is on active memories, of which an index knows the order.
    Where a clock was wrong and has been corrected, that order is not the index's, and those that
    pass are sorted.
    """

    def __init__(self, connection: apsw.Connection, where: Where, *, only_active: bool) -> None:
        """Choose how they are found."""
        self._connection = connection
        self._where = where & ACTIVE if only_active else where
        in_order = only_active and not epochs.has_corrected(connection)
        query = choose(connection, where.candidates, _FEW if in_order else _MANY)
        self._key = _STORED if in_order else _CORRECTED
        self._values: tuple[Any, ...] = ()
        self._is_walked = in_order and query is None
        if query is not None:
            self._source, self._values = f'{restrict_to(query)} AND', query.values
        elif self._is_walked:
            self._source = 'memories AS m INDEXED BY memories_by_occurrence WHERE'
        else:
            self._source = 'memories AS m WHERE'

    def list_keys(
        self, span: Span, after: Key | None, limit: int, *, descending: bool
    ) -> list[Key]:
        """Return the keys of a page: those in a window that come after a key in the order."""
        where = span.restrict(self._key) & self._where
        if after is not None:
            sign = '<' if descending else '>'
            # The first comparison is the one that an index on an expression serves.
            where &= Where(
                f'{self._key} {sign}= ? AND ({self._key} {sign} ? OR m.id {sign} ?)',
                (after[0], after[0], after[1]),
            )
        order = 'DESC' if descending else 'ASC'
        rows = self._connection.execute(
            f'SELECT {self._key}, m.id FROM {self._source} {where.sql}'
            f' ORDER BY {self._key} {order}, m.id {order} LIMIT ?',
            (*self._values, *where.values, limit),
        )
        return [(at, memory_id) for at, memory_id in rows]

    def find_end(self, span: Span, *, last: bool) -> int | None:
        """Return when the first or the last in a window occurred; None: there is none."""
        keys = self.list_keys(span, None, 1, descending=last)
        return keys[0][0] if keys else None

    def count(self, first: int, width: int, buckets: int) -> list[int]:
        """Return how many occurred in each bucket of so many microseconds from an instant on."""
        if self._is_walked:
            return self._count_ranges(first, width, buckets)
        where = Span(first, first + width * buckets).restrict(self._key) & self._where
        counts = [0] * buckets
        rows: Sequence[Any] = self._connection.execute(
            f'SELECT ({self._key} - ?) / ? AS bucket, count(*) FROM {self._source} {where.sql}'
            ' GROUP BY bucket',
            (first, width, *self._values, *where.values),
        ).fetchall()
        for bucket, number in rows:
            counts[bucket] = number
        return counts

    def _count_ranges(self, first: int, width: int, buckets: int) -> list[int]:
        """Count ranges of the index: without another condition, no row is looked at."""
        counts = []
        for start in range(first, first + width * buckets, width):
            where = Span(start, start + width).restrict(self._key) & self._where
            ((number,),) = self._connection.execute(
                f'SELECT count(*) FROM {self._source} {where.sql}', where.values
            )
            counts.append(number)
        return counts

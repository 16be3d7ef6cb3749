"""Memories by when they occurred: pages by key, and how many there were when."""

from __future__ import annotations

import re
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
_WORTH = 3
"""What part of all memories is rather looked at row by row than found by an index, one by one."""
_FINE = 4096
"""Ranges that are counted in one look at all rows, while it is not known when the first was."""
_COLUMN = re.compile(r'\bm\.(\w+)')
_INDEXED = frozenset({'id', 'type', 'perception_type'})
"""Columns whose values the index has: what is asked of them alone is told without any row."""


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


@dataclass(frozen=True)
class Density:
    """Hold how many there are in each bucket of so many microseconds from `first` on."""

    first: int
    width: int
    counts: list[int]


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
        self._is_covered = _INDEXED.issuperset(_COLUMN.findall(where.sql))
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

    def measure_density(
        self, span: Span, buckets: int, since: int, last: int | None = None
    ) -> Density | None:
        """
        Return how many in a window occurred in each of so many equal parts of it.

        Where the window is open it begins or ends with the first or last; None: there is none. If
        any occurred after the instant `since`, the first is one that did. `last` is when the last
        occurred, where that is known.
        """
        if last is None:
            last = self.find_end(span, last=True)
        if last is None:
            return None
        end = last + 1 if span.end is None else span.end
        looks_at_all = self._is_walked and not self._is_covered and self._is_most(span)
        if span.first is not None:
            width = max(1, -(-(end - span.first) // buckets))
            counts = self._count(span.first, width, buckets, looks_at_all)
            return Density(span.first, width, counts)
        window = Span(since if last >= since else None, end)
        if looks_at_all:
            return self._count_finely(window, end, buckets)
        first = self.find_end(window, last=False)
        assert first is not None, 'the last one is in the window'
        width = max(1, -(-(end - first) // buckets))
        return Density(first, width, self._count(first, width, buckets, looks_at_all))

    def _is_most(self, span: Span) -> bool:
        """Say whether a window has a good part of all memories, whatever else they must pass."""
        if span == Span():
            return True
        where = span.restrict(self._key) & ACTIVE
        ((inside, whole),) = self._connection.execute(
            f'SELECT count(*), (SELECT max(id) FROM memories) FROM {self._source} {where.sql}',
            where.values,
        )
        return int(inside) * _WORTH > int(whole or 0)

    def _count(self, first: int, width: int, buckets: int, looks_at_all: bool) -> list[int]:
        """Return how many occurred in each bucket of so many microseconds from an instant on."""
        spans = [Span(at, at + width) for at in range(first, first + width * buckets, width)]
        if self._is_walked and not looks_at_all:
            return [self._count_one(one) for one in spans]
        counts = [0] * buckets
        for bucket, number in self._group(first, width, Span(first, first + width * buckets)):
            counts[bucket] = number
        return counts

    def _count_one(self, span: Span) -> int:
        """Count a range of the index; no row is looked at where it has all that is asked."""
        where = span.restrict(self._key) & self._where
        ((number,),) = self._connection.execute(
            f'SELECT count(*) FROM {self._source} {where.sql}', where.values
        )
        return int(number)

    def _group(self, first: int, width: int, span: Span) -> list[tuple[int, int]]:
        """Return buckets and how many are in each, by one look at all that may pass."""
        where = self._where & span.restrict(self._key)  # what few pass is looked at first
        source = 'memories AS m NOT INDEXED WHERE' if self._is_walked else self._source
        rows: Any = self._connection.execute(
            f'SELECT ({self._key} - ?) / ? AS bucket, count(*) FROM {source} {where.sql}'
            ' GROUP BY bucket',
            (first, width, *self._values, *where.values),
        )
        return list(rows)

    def _count_finely(self, window: Span, end: int, buckets: int) -> Density:
        """
        Count in a window, by one look at all rows, though the first is not known.

        They are counted in fine ranges, of which those across two buckets are counted once more.
        """
        inside = window.restrict(self._key) & ACTIVE
        ((begin,),) = self._connection.execute(
            f'SELECT min({self._key}) FROM {self._source} {inside.sql}', inside.values
        )
        fine = max(1, -(-(end - begin) // _FINE))
        grouped = sorted(self._group(begin, fine, window))
        lowest = begin + grouped[0][0] * fine
        first = self.find_end(Span(lowest, lowest + fine), last=False)
        assert first is not None, 'the range was counted'
        width = max(1, -(-(end - first) // buckets))
        counts = [0] * buckets
        for number, found in grouped:
            low = max(first, begin + number * fine)
            high = min(end, begin + (number + 1) * fine)
            own = range((low - first) // width, (high - 1 - first) // width + 1)
            for bucket in own:
                at = first + bucket * width
                counts[bucket] += (
                    found
                    if len(own) == 1
                    else self._count_one(Span(max(low, at), min(high, at + width)))
                )
        return Density(first, width, counts)

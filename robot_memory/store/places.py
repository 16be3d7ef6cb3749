"""
The positions in the memories' contexts, in a grid: nearest first without measuring them all.

A position is an array of 1 to 16 finite numbers that names alone lead to. The grid lies over its
first three numbers: cubes of half a micrometre (2^-21 of its unit), 2^48 along an axis; what lies
beyond is in the outermost. A cell is its three numbers with their bits interleaved, so that the
cells of any larger cube stand in one range. The grid holds the active memories and only narrows:
distances are those of the contexts' own numbers.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.json_text import finite
from robot_memory.store.filters import Where, few

MAX_DIMENSIONS = 16
MOST = 16
"""Positions that are kept of a memory; one of more is a candidate under each path."""
_NO_PATH = 0
_BITS = 48
_PER_UNIT = 2.0**21
_MIDDLE = 2.0 ** (_BITS - 1)
_SPANNED = 4
"""Cubes along an axis that cover a box, at most."""
_FIRST = 64
"""Candidates of a first look; each further one takes four times as many."""


def make(connection: apsw.Connection) -> None:
    """Make the tables."""
    connection.execute("""
        CREATE TABLE place_paths (
            id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            path TEXT NOT NULL,
            length INTEGER NOT NULL,
            UNIQUE (collection, path, length)
        );
        CREATE TABLE places (
            path_id INTEGER NOT NULL,
            cell BLOB NOT NULL,
            memory_id INTEGER NOT NULL,
            PRIMARY KEY (path_id, cell, memory_id)
        ) WITHOUT ROWID;
    """)


def put(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Index the positions in a memory's context."""
    for path, position in _kept(context):
        path_id = _path_id(connection, collection, path, len(position))
        if path_id is None:
            connection.execute(
                'INSERT INTO place_paths (collection, path, length) VALUES (?, ?, ?)',
                (collection, path, len(position)),
            )
            path_id = connection.last_insert_rowid()
        connection.execute(
            'INSERT INTO places VALUES (?, ?, ?)', (path_id, _cell(position), memory_id)
        )


def remove(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Take a memory out of the index; `context` is what it was put in with."""
    for path, position in _kept(context):
        path_id = _path_id(connection, collection, path, len(position))
        connection.execute(
            'DELETE FROM places WHERE path_id = ? AND cell = ? AND memory_id = ?',
            (path_id, _cell(position), memory_id),
        )


def _path_id(connection: apsw.Connection, collection: str, path: str, length: int) -> int | None:
    """Return the id of a collection's positions of a path and length; None if there are none."""
    if not path:
        return _NO_PATH
    row = connection.execute(
        'SELECT id FROM place_paths WHERE collection = ? AND path = ? AND length = ?',
        (collection, path, length),
    ).fetchone()
    return int(row[0]) if row else None


def _kept(context: Mapping[str, Any]) -> list[tuple[str, list[float]]]:
    """Return the positions in a context under their JSON paths; too many, as one of no path."""
    found = list(itertools.islice(_positions_in(context, '$'), MOST + 1))
    return found if len(found) <= MOST else [('', [])]


def _positions_in(part: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[float]]]:
    for key, value in part.items():
        if any(mark in key for mark in '."\\'):  # No path of a question leads there.
            continue
        if isinstance(value, dict):
            yield from _positions_in(value, f'{path}."{key}"')
        elif position := _position(value):
            yield f'{path}."{key}"', position


def _position(value: Any) -> list[float] | None:
    """Return a JSON value as a position, if it is one."""
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_DIMENSIONS:
        return None
    numbers = [number for number in map(finite, value) if number is not None]
    return numbers if len(numbers) == len(value) else None


def _step(x: float) -> int:
    """Return the step of the grid along an axis that a number is in."""
    return math.floor(min(max(x * _PER_UNIT, -_MIDDLE), _MIDDLE - 1) + _MIDDLE)


def _cell(position: Sequence[float]) -> bytes:
    return _bytes(_code([_step(x) for x in (*position, 0.0, 0.0, 0.0)[:3]]))


def _code(steps: Sequence[int]) -> int:
    """Interleave the bits of three numbers."""
    bits = (format(step, f'0{_BITS}b') for step in steps)
    return int(''.join(itertools.chain.from_iterable(zip(*bits, strict=True))), 2)


def _bytes(code: int) -> bytes:
    return code.to_bytes(3 * _BITS // 8, 'big')


def _ranges(low: Sequence[int], high: Sequence[int]) -> list[tuple[str, str]]:
    """Return as hexadecimal the ranges of cells, ends included, that cover a box of steps."""
    shift = 0
    while any((b >> shift) - (a >> shift) >= _SPANNED for a, b in zip(low, high, strict=True)):
        shift += 1
    cubes = itertools.product(
        *(range(a >> shift, (b >> shift) + 1) for a, b in zip(low, high, strict=True))
    )
    ranges: list[tuple[int, int]] = []
    for code in sorted(map(_code, cubes)):
        begin = ranges.pop()[0] if ranges and ranges[-1][1] == code else code
        ranges.append((begin, code + 1))
    return [
        (_bytes(begin << 3 * shift).hex(), _bytes((end << 3 * shift) - 1).hex())
        for begin, end in ranges
    ]


@dataclass(frozen=True)
class _Grid:
    """Look around a target among the positions of one path and length."""

    connection: apsw.Connection
    path_id: int | None
    target: Sequence[float]

    def ids(self, radius: float, most: int = -1) -> list[int]:
        """Return all ids within a radius, and others near it; of more than `most`, only some."""
        rows = self.connection.execute(
            'SELECT p.memory_id FROM json_each(?) AS r CROSS JOIN places AS p ON p.path_id = ?'
            ' AND p.cell BETWEEN unhex(r.value ->> 0) AND unhex(r.value ->> 1) LIMIT ?',
            (json.dumps(self._cover(radius)), self.path_id, most),
        )
        return [row[0] for row in rows]

    def radius(self, wanted: int, last: float, within: float) -> float:
        """
        Return a radius of `wanted` to four times as many candidates, if there is one.

        `last` is a radius of fewer; `within` is returned where that has fewer, too.
        """
        low, high, radius = last, math.inf, min(2 * last or 1.0, within)
        while True:
            number = len(self.ids(radius, 4 * wanted))
            if wanted <= number < 4 * wanted or (number < wanted and radius == within):
                return radius
            if number < wanted:
                low = radius
            else:
                high = radius
            if high <= max(low * 1.001, 1 / _PER_UNIT):
                return high
            if high < math.inf:
                radius = math.sqrt(low) * math.sqrt(high) or high / 16
            else:
                radius = min(4 * low, within) if low < 1e9 else within

    def _cover(self, radius: float) -> list[tuple[str, str]]:
        # The distances that are compared are rounded; so are the sums here.
        reach = math.nextafter(radius * (1 + 1e-12), math.inf)
        low, high = (
            [_step(math.nextafter(x + way, way)) for x in self.target[:3]]
            + [_step(0.0)] * (3 - len(self.target))
            for way in (-reach, reach)
        )
        return _ranges(low, high)


def nearest(
    connection: apsw.Connection,
    where: Where,
    collection: str,
    place: str,
    target: Sequence[float],
    max_distance: float | None,
) -> Iterator[list[tuple[int, float]]]:
    """
    Yield (id, distance) of all memories that pass and have a position, nearest first, ties by id.

    They come in lists, the nearer ones sooner and at less cost. `where` leaves only active
    memories of the collection; `place` is a JSON path to an array of as many numbers as `target`
    has, in the same unit and frame.
    """
    within = sys.float_info.max if max_distance is None else max_distance
    path_id = _path_id(connection, collection, place, len(target))
    grid = _Grid(connection, path_id, target)
    wanted, radius = _FIRST, 0.0
    found = _unplaced(connection)
    seen: set[int] = set()
    beyond: list[tuple[float, int]] = []
    while True:
        among = few(connection, where, wanted)
        if among is None and _is_kept(place):
            radius = grid.radius(wanted, radius, within)
            among = found + grid.ids(radius)
        else:
            radius = within
        new = None if among is None else set(among) - seen
        for memory_id, position in _positions(connection, where, place, new):
            if len(position) == len(target):
                beyond.append((math.dist(position, target), memory_id))
        beyond.sort()
        inside = bisect.bisect_right(beyond, (radius, sys.maxsize))
        yield [(memory_id, distance) for distance, memory_id in beyond[:inside]]
        if radius == within:
            return
        seen.update(new or ())
        beyond = beyond[inside:]
        wanted *= 4


def other_lengths(
    connection: apsw.Connection, where: Where, collection: str, place: str, length: int
) -> set[int]:
    """Return which other lengths than that the positions of a path have that pass."""
    among = few(connection, where, _FIRST)
    if among is None and _is_kept(place):
        among = _unplaced(connection)
        rows = connection.execute(
            'SELECT id, length FROM place_paths WHERE collection = ? AND path = ? AND length <> ?',
            (collection, place, length),
        )
        others = {row[1] for row in list(rows) if _any_passes(connection, where, row[0])}
    else:
        others = set()
    others |= {len(found) for _, found in _positions(connection, where, place, among)}
    return others - {length}


def _any_passes(connection: apsw.Connection, where: Where, path_id: int) -> bool:
    """Say whether any memory with a position of a path and length passes."""
    rows = connection.execute(
        'SELECT 1 FROM places AS p CROSS JOIN memories AS m ON m.id = p.memory_id'
        f' WHERE p.path_id = ? AND {where.sql} LIMIT 1',
        (path_id, *where.values),
    )
    return rows.fetchone() is not None


def _positions(
    connection: apsw.Connection, where: Where, place: str, among: Iterable[int] | None
) -> Iterator[tuple[int, list[float]]]:
    """Return the positions of a path that pass, among ids or (None) all."""
    source, asked = 'memories AS m', []
    if among is not None:
        source = 'json_each(?) AS asked CROSS JOIN memories AS m ON m.id = asked.value'
        asked = [json.dumps(list(among))]
    rows = connection.execute(
        f'SELECT m.id, json_extract(m.context, ?) FROM {source}'
        f" WHERE json_type(m.context, ?) = 'array' AND {where.sql}",
        (place, *asked, place, *where.values),
    )
    for memory_id, text in rows:
        if position := _position(json.loads(text)):
            yield memory_id, position


def _unplaced(connection: apsw.Connection) -> list[int]:
    """Return the memories of too many positions."""
    rows = connection.execute('SELECT memory_id FROM places WHERE path_id = ?', (_NO_PATH,))
    return [row[0] for row in rows]


def _is_kept(place: str) -> bool:
    """Say whether a JSON path leads by names alone, so that the grid holds its positions."""
    return not any(mark in place for mark in ('$[', '"[', ']['))

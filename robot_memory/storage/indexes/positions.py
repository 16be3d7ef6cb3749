"""
The positions in the memories' contexts, in a grid: nearest first without measuring them all.

A position is an array of 1 to 16 finite numbers that names alone lead to. The grid (`cells`) lies
over its first three numbers. It holds the active memories and only narrows: distances are those of
the contexts' own numbers.
"""

from __future__ import annotations

import bisect
import itertools
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from robot_memory.core.json_text import parse_finite
from robot_memory.storage.indexes.cells import make_cell
from robot_memory.storage.indexes.filters import Where, find_few
from robot_memory.storage.indexes.set_aside import CONTEXTS, is_avoided

MAX_DIMENSIONS = 16
MOST = 16
"""Positions that are kept of a memory; one of more is a candidate under each path."""
_NO_PATH = 0
_FIRST = 32
"""Candidates of a first look; each further one takes twice as many."""
_LATEST = (
    'coalesce((SELECT json_extract(o.context, ?) FROM observations AS o'
    ' WHERE o.memory_id = m.id AND o.ended_by IS NULL AND o.newer'
    " AND json_type(o.context, ?) = 'array' ORDER BY o.id DESC LIMIT 1),"
    " iif(json_type(m.context, ?) = 'array', json_extract(m.context, ?), NULL))"
)
"""SQL of the array at a path (bound four times) in the newest context that has one there."""


def put(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Index the positions in a memory's context."""
    for path, position in _select(context):
        path_id = intern_path(connection, collection, path, len(position))
        connection.execute(
            'INSERT OR IGNORE INTO places (path_id, cell, memory_id) VALUES (?, ?, ?)',
            (path_id, make_cell(position), memory_id),
        )


def remove(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Take a memory out of the index; `context` is what it was put in with."""
    for path, position in _select(context):
        path_id = find_path_id(connection, collection, path, len(position))
        connection.execute(
            'DELETE FROM places WHERE path_id = ? AND cell = ? AND memory_id = ?',
            (path_id, make_cell(position), memory_id),
        )


def intern_path(connection: apsw.Connection, collection: str, path: str, length: int) -> int:
    """Return the id of a collection's positions of a path and length, a new one if need be."""
    found = find_path_id(connection, collection, path, length)
    if found is not None:
        return found
    connection.execute(
        'INSERT INTO place_paths (collection, path, length) VALUES (?, ?, ?)',
        (collection, path, length),
    )
    return connection.last_insert_rowid()


def find_path_id(
    connection: apsw.Connection, collection: str, path: str, length: int
) -> int | None:
    """Return the id of a collection's positions of a path and length; None if there are none."""
    if not path:
        return _NO_PATH
    row = connection.execute(
        'SELECT id FROM place_paths WHERE collection = ? AND path = ? AND length = ?',
        (collection, path, length),
    ).fetchone()
    return int(row[0]) if row else None


def _select(context: Mapping[str, Any]) -> list[tuple[str, list[float]]]:
    """Return the positions in a context under their JSON paths; too many, as one of no path."""
    found = list(itertools.islice(_walk_positions(context, '$'), MOST + 1))
    return found if len(found) <= MOST else [('', [])]


def _walk_positions(part: Mapping[str, Any], path: str) -> Iterator[tuple[str, list[float]]]:
    for key, value in part.items():
        if '.' in key or '"' in key or '\\' in key:  # No path of a question leads there.
            continue
        if isinstance(value, dict):
            yield from _walk_positions(value, f'{path}."{key}"')
        elif position := _parse_position(value):
            yield f'{path}."{key}"', position


def _parse_position(value: Any) -> list[float] | None:
    """Return a JSON value as a position, if it is one."""
    if not isinstance(value, list) or not 1 <= len(value) <= MAX_DIMENSIONS:
        return None
    numbers = [number for number in map(parse_finite, value) if number is not None]
    return numbers if len(numbers) == len(value) else None


def find_nearest(
    connection: apsw.Connection,
    where: Where,
    collection: str,
    place: str,
    target: Sequence[float],
    max_distance: float | None,
) -> Iterator[list[tuple[int, float]]]:
    """
    Yield (id, distance) of all memories that pass and have a position, nearest first, ties by id.

    They come in lists, so that whoever wants only the nearest waits only for them. `where` leaves
    active memories of the collection; `place` is a JSON path to an array of as many numbers as
    `target` has, in the same unit and frame.
    """
    from robot_memory.storage.indexes.outward import walk_outward  # here: it needs numpy

    within = sys.float_info.max if max_distance is None else max_distance
    path_id = find_path_id(connection, collection, place, len(target))
    outward = itertools.takewhile(
        lambda found: found[0] <= within, walk_outward(connection, [(path_id, target)], within)
    )
    asked = _list_overfull(connection)
    seen: set[int] = set()
    beyond: list[tuple[float, int]] = []
    wanted, reached = _FIRST, 0.0
    while reached <= within:
        among = find_few(connection, where, wanted)
        reached = math.inf
        if among is None and _is_in_grid(place):
            batch = list(itertools.islice(outward, wanted))
            among = asked + [memory_id for _, memory_id in batch]
            reached = batch[-1][0] if len(batch) == wanted else math.inf
        new = None if among is None else set(among) - seen
        for memory_id, position in _read_positions(connection, where, place, new):
            distance = math.dist(position, target) if len(position) == len(target) else math.inf
            if distance <= within:
                beyond.append((distance, memory_id))
        beyond.sort()
        # Another memory may be as far as the last one that was looked at.
        inside = bisect.bisect_left(beyond, (reached,))
        yield [(memory_id, distance) for distance, memory_id in beyond[:inside]]
        beyond = beyond[inside:]
        seen.update(new or ())
        wanted *= 2


def find_other_lengths(
    connection: apsw.Connection, where: Where, collection: str, place: str, length: int
) -> set[int]:
    """Return which other lengths than that the positions of a path have that pass."""
    among = find_few(connection, where, _FIRST)
    if among is None and _is_in_grid(place):
        among = _list_overfull(connection)
        rows = connection.execute(
            'SELECT id, length FROM place_paths WHERE collection = ? AND path = ? AND length <> ?',
            (collection, place, length),
        )
        others = {row[1] for row in list(rows) if _any_passes(connection, where, row[0])}
    else:
        others = set()
    others |= {len(found) for _, found in _read_positions(connection, where, place, among)}
    return others - {length}


def _any_passes(connection: apsw.Connection, where: Where, path_id: int) -> bool:
    """Say whether any memory with a position of a path and length passes."""
    rows = connection.execute(
        'SELECT 1 FROM places AS p CROSS JOIN memories AS m ON m.id = p.memory_id'
        f' WHERE p.path_id = ? AND {where.sql} LIMIT 1',
        (path_id, *where.values),
    )
    return rows.fetchone() is not None


def _read_positions(
    connection: apsw.Connection, where: Where, place: str, among: Iterable[int] | None
) -> Iterator[tuple[int, list[float]]]:
    """Return the positions of a path that pass, among ids or (None) all."""
    source, asked = 'memories AS m', []
    if among is not None:
        source = 'json_each(?) AS asked CROSS JOIN memories AS m ON m.id = asked.value'
        asked = [json.dumps(list(among))]
    rows = connection.execute(
        f'SELECT m.id, {_LATEST} FROM {source} WHERE {where.sql}',
        (place, place, place, place, *asked, *where.values),
    )
    for memory_id, text in rows:
        if text is not None and (position := _parse_position(json.loads(text))):
            yield memory_id, position


def _list_overfull(connection: apsw.Connection) -> list[int]:
    """Return the memories of too many positions."""
    if is_avoided(CONTEXTS):
        return []
    rows = connection.execute('SELECT memory_id FROM places WHERE path_id = ?', (_NO_PATH,))
    return [row[0] for row in rows]


def _is_in_grid(place: str) -> bool:
    """Say whether the grid is whole and holds a path's positions: names alone lead there."""
    return not is_avoided(CONTEXTS) and not any(mark in place for mark in ('$[', '"[', ']['))

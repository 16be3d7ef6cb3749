"""
The places of memories by the frame they are in, and the nearest of several frames at once.

Each active memory has one place at most (`core.places`). Each frame of a collection, and each
revision of a map in it, has a path in the grid of `positions`, so that what is near is looked for
in each frame with the target that was brought there. Distances are computed in the asked frame.
"""

from __future__ import annotations

import heapq
import itertools
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.core.places import Place, read_place
from robot_memory.storage.indexes import positions
from robot_memory.storage.indexes.cells import make_cell
from robot_memory.storage.indexes.filters import Where, find_few
from robot_memory.storage.indexes.set_aside import CONTEXTS, is_avoided

if TYPE_CHECKING:
    from robot_memory.detectors import Pose

_SPREAD = struct.Struct('<6d')
FIRST = 8
"""Candidates of a first look, which are as near as the grid says but for half a micrometre."""
_SLACK = 1e-6
"""Metres that a bound of the grid may be off by: it was computed in another frame."""
_UNTURNED = (0.0, 0.0, 0.0, 1.0)


@dataclass(frozen=True)
class PlaceFrame:
    """Hold a frame in which memories of a collection are, and which revision of which map."""

    id: int
    name: str
    map: str
    revision: int


@dataclass(frozen=True)
class Placement:
    """Hold a memory's position in the asked frame, and its covariance in `frame_id`'s own."""

    memory_id: int
    distance: float
    position: tuple[float, float, float]
    frame_id: int
    spread: tuple[float, ...] | None


def put(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Index the place of a memory that has its row; a context without one changes nothing."""
    ((frame_id, pose),) = connection.execute(
        'SELECT frame_id, pose FROM memories WHERE id = ?', (memory_id,)
    )
    place = read_place(context, frame_id, None if pose is None else json.loads(pose))
    if place is not None:
        remove(connection, memory_id)
        _insert(connection, memory_id, collection, place)


def put_new(
    connection: apsw.Connection,
    memory_id: int,
    collection: str,
    context: Mapping[str, Any],
    frame_id: str | None,
    pose: str | None,
) -> None:
    """Index the place of a memory that is new; `pose` is the JSON text of its row."""
    place = read_place(context, frame_id, None if pose is None else json.loads(pose))
    if place is not None:
        _insert(connection, memory_id, collection, place)


def _insert(connection: apsw.Connection, memory_id: int, collection: str, place: Place) -> None:
    frame = _intern_frame(connection, collection, place)
    spread = None if place.spread is None else _SPREAD.pack(*place.spread)
    connection.execute(
        'INSERT INTO placed (memory_id, frame_id, x, y, z, spread) VALUES (?, ?, ?, ?, ?, ?)',
        (memory_id, frame, *place.position, spread),
    )
    connection.execute(
        'INSERT OR IGNORE INTO places (path_id, cell, memory_id) VALUES (?, ?, ?)',
        (frame, make_cell(place.position), memory_id),
    )


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Take a memory's place out of the index, where it has one."""
    rows: list[Any] = connection.execute(
        'DELETE FROM placed WHERE memory_id = ? RETURNING frame_id, x, y, z', (memory_id,)
    ).fetchall()
    for frame, *position in rows:
        connection.execute(
            'DELETE FROM places WHERE path_id = ? AND cell = ? AND memory_id = ?',
            (frame, make_cell(position), memory_id),
        )


def _intern_frame(connection: apsw.Connection, collection: str, place: Place) -> int:
    key = (collection, place.frame, place.map, place.revision)
    row: Any = connection.execute(
        'SELECT id FROM place_frames WHERE collection = ? AND frame = ? AND map = ?'
        ' AND revision = ?',
        key,
    ).fetchone()
    if row is not None:
        return int(row[0])
    # A path that no question can name: those begin with '$'.
    path = f'@{json.dumps(key[1:])}'
    found = positions.intern_path(connection, collection, path, 3)
    connection.execute(
        'INSERT INTO place_frames (id, collection, frame, map, revision) VALUES (?, ?, ?, ?, ?)',
        (found, *key),
    )
    return found


def list_frames(connection: apsw.Connection, collection: str | None) -> list[PlaceFrame]:
    """
    Return the frames that places of a collection are in, or of all (None).

    Raise Unavailable while the index of places is damaged.
    """
    _refuse_damaged()
    rows = connection.execute(
        'SELECT id, frame, map, revision FROM place_frames'
        ' WHERE ?1 IS NULL OR collection = ?1 ORDER BY id',
        (collection,),
    )
    return [PlaceFrame(*row) for row in rows]


def count_in_frame(connection: apsw.Connection, where: Where, frame: PlaceFrame) -> int:
    """Return how many memories that pass are in a frame."""
    ((count,),) = connection.execute(
        'SELECT count(*) FROM placed AS p CROSS JOIN memories AS m ON m.id = p.memory_id'
        f' WHERE p.frame_id = ? AND {where.sql}',
        (frame.id, *where.values),
    )
    return int(count)


def get_place(connection: apsw.Connection, memory_id: int) -> tuple[PlaceFrame, Placement] | None:
    """Return the frame and the place (in that frame) of an active memory; None: it has none."""
    _refuse_damaged()
    row: Any = connection.execute(
        'SELECT f.id, f.frame, f.map, f.revision, p.x, p.y, p.z, p.spread FROM placed AS p'
        ' JOIN place_frames AS f ON f.id = p.frame_id WHERE p.memory_id = ?',
        (memory_id,),
    ).fetchone()
    if row is None:
        return None
    position = (row[4], row[5], row[6])
    return PlaceFrame(*row[:4]), Placement(memory_id, 0.0, position, row[0], _unpack(row[7]))


def find_object(connection: apsw.Connection, name: str) -> int | None:
    """Return the newest active memory with a place whose spatial.object is `name`."""
    _refuse_damaged()
    row: Any = connection.execute(
        'SELECT f.memory_id FROM facets AS f'
        ' JOIN facet_paths AS n ON n.id = f.path_id AND n.path = ?'
        ' CROSS JOIN placed AS p ON p.memory_id = f.memory_id'
        ' CROSS JOIN memories AS m ON m.id = f.memory_id'
        " WHERE f.value = substr(?, 1, 32) AND json_extract(m.context, '$.spatial.object') = ?"
        ' ORDER BY m.created_at DESC, m.id DESC LIMIT 1',
        ('spatial.object', name, name),
    ).fetchone()
    return None if row is None else int(row[0])


def find_nearest(
    connection: apsw.Connection,
    where: Where,
    target: tuple[float, float, float],
    frames: Mapping[int, Pose],
    within: float,
    seen: dict[int, Placement],
    wanted: int = FIRST,
) -> Iterator[list[tuple[int, float]]]:
    """
    Yield (id, distance) of what passes and can be brought, nearest first, ties by id, in lists.

    `frames` has the pose of each frame in the asked one, `target` is in the asked one. What was
    looked at is put into `seen`. The first list is of so many as are `wanted`, the next of twice
    as many.
    """
    # Here: most recalls need neither, nor numpy.
    from robot_memory.detectors import Pose
    from robot_memory.storage.indexes.outward import walk_outward

    brought_back = [
        (frame, (pose.invert() @ Pose(target, _UNTURNED)).position)
        for frame, pose in frames.items()
    ]
    turns = {frame: (pose.position, *pose.axes) for frame, pose in frames.items()}
    outward = walk_outward(connection, brought_back, within + _SLACK, wanted)
    beyond: list[tuple[float, int]] = []
    looked: set[int] = set()
    reached = 0.0
    while reached <= within:
        among = find_few(connection, where, wanted)
        reached = math.inf
        if among is None:
            batch = list(itertools.islice(outward, wanted))
            among = [memory_id for _, memory_id in batch]
            reached = batch[-1][0] - _SLACK if len(batch) == wanted else math.inf
        for memory_id, frame, position, spread in _read(connection, where, among):
            if frame not in frames or memory_id in looked:
                continue
            looked.add(memory_id)
            x, y, z = position
            origin, first, second, third = turns[frame]
            brought = (
                origin[0] + first[0] * x + first[1] * y + first[2] * z,
                origin[1] + second[0] * x + second[1] * y + second[2] * z,
                origin[2] + third[0] * x + third[1] * y + third[2] * z,
            )
            distance = math.dist(brought, target)
            seen[memory_id] = Placement(memory_id, distance, brought, frame, spread)
            if distance <= within:
                heapq.heappush(beyond, (distance, memory_id))
        ready = []
        while beyond and beyond[0][0] < reached:
            distance, memory_id = heapq.heappop(beyond)
            ready.append((memory_id, distance))
        yield ready
        wanted *= 2


def _read(
    connection: apsw.Connection, where: Where, among: Iterable[int]
) -> Iterator[tuple[int, int, tuple[float, float, float], tuple[float, ...] | None]]:
    rows = connection.execute(
        'SELECT p.memory_id, p.frame_id, p.x, p.y, p.z, p.spread FROM json_each(?) AS asked'
        ' CROSS JOIN placed AS p ON p.memory_id = asked.value'
        f' CROSS JOIN memories AS m ON m.id = p.memory_id WHERE {where.sql}',
        (json.dumps(list(among)), *where.values),
    )
    for memory_id, frame, x, y, z, spread in rows:
        yield memory_id, frame, (x, y, z), _unpack(spread)


def _refuse_damaged() -> None:
    if is_avoided(CONTEXTS):
        raise Unavailable(
            'the index of places is damaged, and is being made anew; ask again later, or without '
            'a frame'
        )


def _unpack(spread: bytes | None) -> tuple[float, ...] | None:
    return None if spread is None else _SPREAD.unpack(spread)

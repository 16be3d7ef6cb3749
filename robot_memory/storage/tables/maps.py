"""Revisions of maps: which one holds in a frame since when, and what brings one into another."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.maps import NO_MAP, CurrentMap, MapRevision, describe_place
from robot_memory.core.places import read_place
from robot_memory.core.records import Record
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers

if TYPE_CHECKING:
    from robot_memory.detectors import Pose

NUMBERS = struct.Struct('<7d')
_AT = epochs.correct('maps.at', 'maps.epoch')


@dataclass(frozen=True)
class Anchor:
    """Hold the pose of an older revision in a newer one, with its residual in metres."""

    old: MapRevision
    new: MapRevision
    pose: Pose
    residual: float
    landmarks: int = 0


def put(
    connection: apsw.Connection,
    frame: str,
    current: CurrentMap,
    writer: Writer,
    at: int,
    digest: bytes | None = None,
) -> None:
    """Have a revision hold in a frame from now on; `digest` is that of the map's file."""
    connection.execute(
        'INSERT INTO maps (frame, name, revision, mapping, digest, at, epoch, writer_id)'
        f' VALUES (?, ?, ?, ?, ?, ?, {epochs.NEWEST}, ?)',
        (
            frame,
            *current.of,
            int(current.is_mapping),
            digest,
            at,
            writers.get_id(connection, writer),
        ),
    )


def put_anchor(connection: apsw.Connection, anchor: Anchor, writer: Writer, at: int) -> None:
    """Keep what brings an older revision into a newer one."""
    connection.execute(
        'INSERT INTO map_anchors (old_name, old_revision, name, revision, numbers, residual,'
        f' landmarks, at, epoch, writer_id) VALUES (?, ?, ?, ?, ?, ?, ?, ?, {epochs.NEWEST}, ?)',
        (
            *anchor.old,
            *anchor.new,
            NUMBERS.pack(*anchor.pose.position, *anchor.pose.orientation),
            anchor.residual,
            anchor.landmarks,
            at,
            writers.get_id(connection, writer),
        ),
    )


def find_current(
    connection: apsw.Connection, frame: str, at: int | None = None
) -> CurrentMap | None:
    """Return what holds in a frame, or held at an instant (microseconds); None: nothing named."""
    row: Any = connection.execute(
        'SELECT name, revision, mapping FROM maps WHERE frame = ?1'
        f' AND (?2 IS NULL OR {_AT} <= ?2) ORDER BY id DESC LIMIT 1',
        (frame, at),
    ).fetchone()
    return None if row is None else _make(*row)


def list_current(connection: apsw.Connection, at: int | None = None) -> dict[str, CurrentMap]:
    """Return what holds by frame, or held at an instant (microseconds)."""
    rows = connection.execute(
        'SELECT frame, name, revision, mapping FROM maps WHERE id IN'
        f' (SELECT max(id) FROM maps WHERE ?1 IS NULL OR {_AT} <= ?1 GROUP BY frame)',
        (at,),
    )
    return {frame: _make(*rest) for frame, *rest in rows}


def describe_each(connection: apsw.Connection, records: Iterable[Record]) -> dict[int, str]:
    """
    Return by id of which map the places of records are, where that does not go without saying.

    That is where another revision holds in the frame now, or it was stored while mapping.
    """
    current = list_current(connection)
    found = {}
    for record in records:
        if not (current or _names_map(record)):  # so are most stores: without any map
            continue
        place = read_place(record.context, record.frame_id, record.pose)
        holds = None if place is None else current.get(place.frame)
        described = place and describe_place(place, NO_MAP if holds is None else holds.of)
        if described:
            found[record.id] = described
    return found


def _names_map(record: Record) -> bool:
    spatial = record.context.get('spatial')
    holders = (record.pose, spatial if isinstance(spatial, Mapping) else None)
    return any('map' in one for one in holders if one)


def find_last_revision(connection: apsw.Connection, name: str) -> int:
    """Return the highest revision of a map that there was, 0 where there was none."""
    ((last,),) = connection.execute(
        'SELECT coalesce(max(revision), 0) FROM maps WHERE name = ?', (name,)
    )
    return int(last)


def count_changes(connection: apsw.Connection) -> int:
    """Return how often another map or revision began to hold, in all frames."""
    ((number,),) = connection.execute('SELECT count(*) FROM maps')
    return int(number)


def count_anchors(connection: apsw.Connection) -> int:
    """Return how many anchors there are."""
    ((number,),) = connection.execute('SELECT count(*) FROM map_anchors')
    return int(number)


def is_known(connection: apsw.Connection, of: MapRevision) -> bool:
    """Say whether a revision of a map held in any frame."""
    ((known,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM maps WHERE name = ? AND revision = ?)', of
    )
    return bool(known)


def find_by_digest(
    connection: apsw.Connection, frame: str, name: str, digest: bytes
) -> MapRevision | None:
    """Return the newest revision of a map whose file had a digest; None: there is none."""
    row: Any = connection.execute(
        'SELECT name, revision FROM maps WHERE frame = ? AND name = ? AND digest = ?'
        ' ORDER BY id DESC LIMIT 1',
        (frame, name, digest),
    ).fetchone()
    return None if row is None else MapRevision(*row)


def list_anchors(connection: apsw.Connection) -> list[Anchor]:
    """Return what brings revisions into others, the newest first."""
    from robot_memory.detectors import Pose  # here: most recalls need none

    rows = connection.execute(
        'SELECT old_name, old_revision, name, revision, numbers, residual, landmarks'
        ' FROM map_anchors ORDER BY id DESC'
    )
    found = []
    for old_name, old_revision, name, revision, numbers, residual, landmarks in rows:
        x, y, z, *turn = NUMBERS.unpack(numbers)
        pose = Pose((x, y, z), (turn[0], turn[1], turn[2], turn[3]))
        of = MapRevision(old_name, old_revision), MapRevision(name, revision)
        found.append(Anchor(*of, pose, residual, landmarks))
    return found


def _make(name: str, revision: int, mapping: int) -> CurrentMap:
    return CurrentMap(MapRevision(name, revision), bool(mapping))

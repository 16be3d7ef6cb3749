"""Named regions that a tool set, beside those of the file of regions."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_json
from robot_memory.core.maps import MapRevision
from robot_memory.core.regions import Region, fold_name, parse_region
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers

_SELECT = (
    f'SELECT r.name, r.frame, r.map, r.revision, r.shape, {writers.COLUMNS} FROM regions AS r'
    ' JOIN writers AS w ON w.id = r.writer_id'
)


@dataclass(frozen=True)
class StoredRegion:
    """Hold a region, its shape as it was given, and who set it."""

    region: Region
    shape: dict[str, Any]
    writer: Writer


def put(
    connection: apsw.Connection, region: Region, shape: dict[str, Any], writer: Writer, at: int
) -> None:
    """Keep a region, in place of one of the same name."""
    of = region.of or MapRevision()
    connection.execute(
        'INSERT OR REPLACE INTO regions (key, name, frame, map, revision, shape, at, epoch,'
        f' writer_id) VALUES (?, ?, ?, ?, ?, ?, ?, {epochs.NEWEST}, ?)',
        (
            fold_name(region.name),
            region.name,
            region.frame,
            *of,
            dump_json(shape, 'shape'),
            at,
            writers.get_id(connection, writer),
        ),
    )


def remove(connection: apsw.Connection, name: str) -> None:
    """Remove a region by its name."""
    connection.execute('DELETE FROM regions WHERE key = ?', (fold_name(name),))


def find(connection: apsw.Connection, name: str) -> StoredRegion | None:
    """Return the region of a name; None: there is none."""
    row = connection.execute(f'{_SELECT} WHERE r.key = ?', (fold_name(name),)).fetchone()
    return None if row is None else _make(row)


def count(connection: apsw.Connection) -> int:
    """Return how many regions there are."""
    ((number,),) = connection.execute('SELECT count(*) FROM regions')
    return int(number)


def list_all(connection: apsw.Connection) -> list[StoredRegion]:
    """Return all regions, by name."""
    return [_make(row) for row in connection.execute(f'{_SELECT} ORDER BY r.key')]


def _make(row: Any) -> StoredRegion:
    name, frame, map_name, revision, text, *writer = row
    shape: dict[str, Any] = json.loads(text)
    region = parse_region(name, {'frame': frame, **shape})
    whose = Writer(*writer)
    return StoredRegion(replace(region, of=MapRevision(map_name, revision)), shape, whose)

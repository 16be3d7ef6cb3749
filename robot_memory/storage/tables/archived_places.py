"""Rows of maps, anchors and regions as an archive holds them; times are corrected."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_json
from robot_memory.core.maps import MapRevision
from robot_memory.core.regions import fold_name
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers
from robot_memory.storage.tables.maps import NUMBERS

Row = dict[str, Any]
_MAPS = ('frame', 'name', 'revision', 'mapping', 'at', 'digest')
_ANCHORS = ('old_name', 'old_revision', 'name', 'revision', 'residual', 'landmarks', 'at')
_REGIONS = ('name', 'frame', 'map', 'revision', 'at')


def rows(connection: apsw.Connection) -> Iterator[tuple[str, Row]]:
    """Give the maps and anchors in their order and the regions by name, each with its kind."""
    for row in list_maps(connection):
        yield 'map', row
    for row in list_anchors(connection):
        yield 'anchor', row
    for row in list_regions(connection):
        yield 'region', row


def list_maps(connection: apsw.Connection, frame: str | None = None) -> list[Row]:
    """Return what held in which frame since when, in its order; of one frame, or of all."""
    columns = ', '.join(('frame', 'name', 'revision', 'mapping', _at('maps')))
    found = connection.execute(
        f'SELECT {columns}, lower(hex(digest)) FROM maps WHERE ?1 IS NULL OR frame = ?1'
        ' ORDER BY id',
        (frame,),
    )
    made = [dict(zip(_MAPS, values, strict=True)) for values in found]
    return [
        {**row, 'mapping': bool(row['mapping']), 'digest': row['digest'] or None} for row in made
    ]


def put_map(connection: apsw.Connection, row: Row, writer: Writer) -> None:
    """Keep a map that held since a time that no clock of this store told."""
    digest = None if row['digest'] is None else bytes.fromhex(row['digest'])
    connection.execute(
        'INSERT INTO maps (frame, name, revision, mapping, at, digest, epoch, writer_id)'
        ' VALUES (?, ?, ?, ?, ?, ?, NULL, ?)',
        (
            *(row[name] for name in _MAPS[:3]),
            int(row['mapping']),
            row['at'],
            digest,
            writers.get_id(connection, writer),
        ),
    )


def list_anchors(
    connection: apsw.Connection, between: tuple[MapRevision, MapRevision] | None = None
) -> list[Row]:
    """Return the poses of older revisions in newer ones, in their order; of two, or of all."""
    pair = (*between[0], *between[1]) if between else (None,) * 4
    found = connection.execute(
        f'SELECT {", ".join(_ANCHORS[:-1])}, {_at("map_anchors")}, numbers FROM map_anchors'
        ' WHERE ?1 IS NULL OR (old_name, old_revision, name, revision) = (?1, ?2, ?3, ?4)'
        ' ORDER BY id',
        pair,
    )
    made = []
    for *values, numbers in found:
        unpacked = NUMBERS.unpack(numbers)
        made.append(
            {
                **dict(zip(_ANCHORS, values, strict=True)),
                'position': list(unpacked[:3]),
                'orientation': list(unpacked[3:]),
            }
        )
    return made


def put_anchor(connection: apsw.Connection, row: Row, writer: Writer) -> None:
    """Keep an anchor of a time that no clock of this store told."""
    connection.execute(
        f'INSERT INTO map_anchors ({", ".join(_ANCHORS)}, numbers, epoch, writer_id)'
        f' VALUES ({", ".join("?" * len(_ANCHORS))}, ?, NULL, ?)',
        (
            *(row[name] for name in _ANCHORS),
            NUMBERS.pack(*row['position'], *row['orientation']),
            writers.get_id(connection, writer),
        ),
    )


def list_regions(connection: apsw.Connection) -> list[Row]:
    """Return the regions that callers set, by name."""
    columns = (*_REGIONS[:-1], _at('regions'), 'shape')
    found = connection.execute(f'SELECT {", ".join(columns)} FROM regions ORDER BY key')
    return [
        {**dict(zip(_REGIONS, values, strict=True)), 'shape': json.loads(shape)}
        for *values, shape in found
    ]


def put_region(connection: apsw.Connection, row: Row, writer: Writer) -> None:
    """Keep a region of a time that no clock of this store told."""
    connection.execute(
        f'INSERT INTO regions (key, {", ".join(_REGIONS)}, shape, epoch, writer_id)'
        ' VALUES (?, ?, ?, ?, ?, ?, ?, NULL, ?)',
        (
            fold_name(row['name']),
            *(row[name] for name in _REGIONS),
            dump_json(row['shape'], 'shape'),
            writers.get_id(connection, writer),
        ),
    )


def _at(table: str) -> str:
    return epochs.correct(f'{table}.at', f'{table}.epoch')

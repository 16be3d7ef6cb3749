"""
Merging the full-text index in steps, so that other writes need not wait for the whole.

FTS5 keeps an index as segments; merging leaves out what rows that are gone had in them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import apsw

from robot_memory.core.varints import read_varint

_STRUCTURE = 10
"""Row of `memories_fts_data` that lists the segments (fts5_index.c, FTS5_STRUCTURE_ROWID)."""
_HAS_ORIGINS = b'\xff\x00\x00\x01'


class Segment(NamedTuple):
    """
    Identify a segment: its number, and the first and last transaction that its terms are from.

    A number is used again once its segment is gone, but not for terms of the same transactions.
    """

    number: int
    first: int
    last: int


def list_segments(connection: apsw.Connection) -> set[Segment]:
    """Return the segments that the index consists of, those that are being written too."""
    ((block,),) = connection.execute(
        'SELECT block FROM memories_fts_data WHERE id = ?', (_STRUCTURE,)
    )
    data = bytes(block) if isinstance(block, bytes) else b''
    at = 4
    if data[at : at + 4] != _HAS_ORIGINS:
        raise ValueError('the full-text index was not created with contentless_delete')
    (levels, _, _), at = _read(data, at + 4, 3)
    found = set()
    for _ in range(levels):
        (_, count), at = _read(data, at, 2)
        for _ in range(count):
            # number, first and last page, origins, pages and entries that are deleted, entries
            (number, _, _, first, last, *_), at = _read(data, at, 8)
            found.add(Segment(number, first, last))
    return found


def _read(data: bytes, at: int, count: int) -> tuple[list[int], int]:
    values = []
    for _ in range(count):
        value, at = read_varint(data, at)
        values.append(value)
    return values, at


def merge(connection: apsw.Connection, pages: int, *, again: bool) -> bool:
    """
    Write about so many pages of the merged index; say whether there was anything to merge.

    `again` begins with all segments that there are; else what was begun goes on.
    """
    before: Any = connection.total_changes()
    connection.execute(
        "INSERT INTO memories_fts (memories_fts, rank) VALUES ('merge', ?)",
        (-pages if again else pages,),
    )
    return bool(connection.total_changes() - before > 1)

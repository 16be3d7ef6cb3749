"""
The mark in the file of indexes that are being made anew, in batches, beside readers and writers.

It says of each group (`set_aside`) up to which memory it has been filled. While it stands, reads
of every process do without the group; who writes keeps entries of what is written in it all the
same.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

import apsw

from robot_memory.storage.tables import meta

KEY = 'mending'
"""The fact of the store that holds the mark."""
FIND = f"SELECT value FROM meta WHERE key = '{KEY}'"
"""SQL of the mark; no row where all indexes are whole."""


def read(connection: apsw.Connection) -> dict[str, int]:
    """Return up to which memory each group has been filled of those that are being made anew."""
    row = connection.execute(FIND).fetchone()
    return {} if row is None else dict(json.loads(row[0]))


def begin(connection: apsw.Connection, groups: Iterable[str]) -> None:
    """Mark groups that were emptied, in the same transaction."""
    _write(connection, {**read(connection), **dict.fromkeys(groups, 0)})


def advance(connection: apsw.Connection, group: str, last: int) -> None:
    """Note up to which memory a group has been filled now."""
    _write(connection, {**read(connection), group: last})


def end(connection: apsw.Connection, groups: Iterable[str]) -> None:
    """Note that groups are whole."""
    left = read(connection)
    for group in groups:
        left.pop(group, None)
    _write(connection, left)


def _write(connection: apsw.Connection, marks: Mapping[str, int]) -> None:
    if marks:
        meta.put(connection, KEY, json.dumps(marks))
    else:
        connection.execute('DELETE FROM meta WHERE key = ?', (KEY,))


def describe(marks: Mapping[str, int]) -> str:
    """Return in words what is being made anew, '' where nothing is."""
    return ', '.join(f'{group} up to memory {last}' for group, last in sorted(marks.items()))

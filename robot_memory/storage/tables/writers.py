"""Rows of writers: one for each distinct origin of writes."""

from __future__ import annotations

import apsw

from robot_memory.core.authority import Writer
from robot_memory.storage import remembered

FIELDS = ('face', 'client', 'principal', 'actor', 'authority')
COLUMNS = ', '.join(f'w.{name}' for name in FIELDS)
"""SQL of the columns that make a Writer, of the table `writers AS w`."""
_TABLE = 'writers'
_NAMES = ', '.join(FIELDS)


def get_id(connection: apsw.Connection, writer: Writer) -> int:
    """Return the id of a writer; insert the row where there is none."""
    return remembered.look_up(_TABLE, writer.names, lambda: _intern(connection, writer))


def _intern(connection: apsw.Connection, writer: Writer) -> int:
    row = connection.execute(
        f'SELECT id FROM writers WHERE ({_NAMES}) = (?, ?, ?, ?, ?)', writer.names
    ).fetchone()
    if row is not None:
        return int(row[0])
    connection.execute(f'INSERT INTO writers ({_NAMES}) VALUES (?, ?, ?, ?, ?)', writer.names)
    return connection.last_insert_rowid()

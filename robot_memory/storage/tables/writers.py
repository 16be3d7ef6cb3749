"""Rows of writers: one for each distinct origin of writes."""

from __future__ import annotations

import apsw

from robot_memory.core.authority import Writer

FIELDS = ('face', 'client', 'principal', 'actor', 'authority')
_VALUES = tuple[str, str, str, str, str]


def get_id(connection: apsw.Connection, writer: Writer) -> int:
    """Return the id of a writer; insert the row where there is none."""
    values: _VALUES = (
        writer.face,
        writer.client,
        writer.principal,
        writer.actor,
        writer.authority,
    )
    row = connection.execute(
        'SELECT id FROM writers WHERE face = ? AND client = ? AND principal = ? AND actor = ?'
        ' AND authority = ?',
        values,
    ).fetchone()
    if row is not None:
        return int(row[0])
    connection.execute(
        'INSERT INTO writers (face, client, principal, actor, authority) VALUES (?, ?, ?, ?, ?)',
        values,
    )
    return connection.last_insert_rowid()


def get(connection: apsw.Connection, writer_id: int) -> Writer:
    """Return the writer of an id."""
    ((*values,),) = connection.execute(
        'SELECT face, client, principal, actor, authority FROM writers WHERE id = ?', (writer_id,)
    )
    return Writer(*values)

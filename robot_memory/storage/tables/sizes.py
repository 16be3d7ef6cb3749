"""
What payloads and whole perceptions take, in bytes: added up as they come and go, never counted.

And how many perceptions were folded. The vectors of forms are no perception's.

Of a perception it is an estimate by the lengths of what is stored, within a tenth of what SQLite's
`dbstat` finds: text, words, vector, context and indexes, without its event and its audit line.
"""

from __future__ import annotations

import apsw

from robot_memory.storage.indexes import vectors

_PAYLOADS = 'payloads'
_PERCEPTIONS = 'perceptions'
_FOLDED = 'folded'
_UNTIL = 'perceptions until'
"""The highest id of a memory that was looked at for the sum."""
_FIXED = 480
"""Bytes of a perception's columns and index entries that hardly differ."""
_OF_ROW = (
    f'{_FIXED} + 2 * length(CAST(m.content AS BLOB)) + 2 * length(CAST(m.context AS BLOB))'
    ' + coalesce((SELECT length(terms) + iif(form IS NULL, ?1, 0) FROM indexed'
    ' WHERE memory_id = m.id), 0)'
    ' + coalesce((SELECT coalesce(length(CAST(data AS BLOB)), 0)'
    ' + coalesce(length(CAST(metadata AS BLOB)), 0) FROM payloads WHERE memory_id = m.id), 0)'
)


def get_payloads(connection: apsw.Connection) -> int:
    """Return how many bytes signals and pictures take."""
    return _get(connection, _PAYLOADS)


def add_payloads(connection: apsw.Connection, by: int) -> None:
    """Note that signals and pictures take more bytes, or fewer."""
    _add(connection, _PAYLOADS, by)


def get_perceptions(connection: apsw.Connection) -> int:
    """Return how many bytes perceptions took when new ones were last taken into the sum."""
    return _get(connection, _PERCEPTIONS)


def measure_perceptions(connection: apsw.Connection) -> tuple[int, int]:
    """Return how many bytes perceptions take, and how many memories came since the last sum."""
    added, until, last = _add_up_new(connection)
    return _get(connection, _PERCEPTIONS) + added, last - until


def advance_perceptions(connection: apsw.Connection) -> int:
    """Take new perceptions into the sum; return it."""
    added, until, last = _add_up_new(connection)
    _add(connection, _PERCEPTIONS, added)
    _add(connection, _UNTIL, last - until)
    return _get(connection, _PERCEPTIONS)


def recount(connection: apsw.Connection) -> None:
    """Add up anew what payloads and perceptions take: updates and vectors change it a little."""
    connection.execute('DELETE FROM sizes WHERE name <> ?', (_FOLDED,))
    connection.execute(
        'INSERT INTO sizes (name, value) SELECT ?, coalesce(sum(size), 0) FROM parts'
        ' WHERE content IS NOT NULL',
        (_PAYLOADS,),
    )
    advance_perceptions(connection)


def measure(connection: apsw.Connection, memory_id: int) -> int:
    """Return how many bytes a perception takes."""
    ((size,),) = connection.execute(
        f'SELECT {_OF_ROW} FROM memories AS m WHERE m.id = ?2',
        (_vector_bytes(connection), memory_id),
    )
    return int(size)


def note_erased(connection: apsw.Connection, memory_id: int) -> None:
    """Take a perception that is about to be erased off the sum, if it is in it."""
    if memory_id <= _get(connection, _UNTIL):
        _add(connection, _PERCEPTIONS, -measure(connection, memory_id))


def note_folded(connection: apsw.Connection, number: int, size: int) -> None:
    """Note that perceptions which were in the sum, with so many bytes, were folded."""
    _add(connection, _PERCEPTIONS, -size)
    _add(connection, _FOLDED, number)


def count_folded(connection: apsw.Connection) -> int:
    """Return how many perceptions were folded."""
    return _get(connection, _FOLDED)


def _add_up_new(connection: apsw.Connection) -> tuple[int, int, int]:
    """Return bytes of the perceptions not in the sum, up to which id it goes, and the last id."""
    until = _get(connection, _UNTIL)
    ((size,),) = connection.execute(
        f'SELECT coalesce(sum({_OF_ROW}), 0) FROM memories AS m'
        " WHERE m.id > ?2 AND m.type = 'perception'",
        (_vector_bytes(connection), until),
    )
    ((last,),) = connection.execute('SELECT max(coalesce(max(id), 0), ?) FROM memories', (until,))
    return int(size), until, int(last)


def _vector_bytes(connection: apsw.Connection) -> int:
    """Return what the vector of a memory takes, once it is computed."""
    return 2 * vectors.get_dimension(connection)


def _get(connection: apsw.Connection, name: str) -> int:
    row = connection.execute('SELECT value FROM sizes WHERE name = ?', (name,)).fetchone()
    return 0 if row is None else int(row[0])


def _add(connection: apsw.Connection, name: str, by: int) -> None:
    connection.execute(
        'INSERT INTO sizes (name, value) VALUES (?1, ?2)'
        ' ON CONFLICT (name) DO UPDATE SET value = value + ?2',
        (name, by),
    )

"""
What the indexes hold of each active memory: its collection, its terms, its vector.

A row here is all that a score needs. `changes` tells other processes which rows to look at again;
only its latest lines are kept, and who comes later than that reads everything anew.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

_ROWS = (
    'SELECT i.memory_id, i.collection, i.real, i.terms, i.coarse, v.coarse, i.form'
    ' FROM indexed AS i'
    ' LEFT JOIN other_vectors AS v ON v.memory_id = i.memory_id AND v.model = (SELECT'
    " value ->> 'id' FROM meta WHERE key = 'second_vectors')"
)
_MODELS = (
    "(SELECT value FROM meta WHERE key = 'vectors'),"
    " (SELECT json_remove(value, '$.scanned') FROM meta WHERE key = 'second_vectors')"
)
KEPT_CHANGES = 65_536
_PRUNE_EVERY = 4096


class Row(NamedTuple):
    """
    Hold what is indexed of a memory.

    `terms` are the hashes of its stems and of neighbouring ones, little-endian uint32, ascending;
    `real` says that it is of the real world; `coarse` is the coarse plane of its vector, `second`
    that of the second model's; None where it has none of its own. `form` is the form whose
    vectors it has then.
    """

    memory_id: int
    collection: str
    real: bool
    terms: bytes
    coarse: bytes | None
    second: bytes | None = None
    form: int | None = None


PlainRow = tuple[int, str, bool, bytes, bytes | None, bytes | None, int | None]
"""A row without names, where there are many."""


def put(
    connection: apsw.Connection,
    memory_id: int,
    collection: str,
    real: bool,
    terms: bytes,
    vector: tuple[bytes, bytes] | None,
    form: int | None = None,
) -> None:
    """Add an active memory, with its form, or the two planes of a vector of its own if any."""
    connection.execute(
        'INSERT INTO indexed (memory_id, collection, real, terms, coarse, fine, form)'
        ' VALUES (?, ?, ?, ?, ?, ?, ?)',
        (memory_id, collection, real, terms, *(vector or (None, None)), form),
    )
    connection.execute(
        'INSERT INTO collections (name, memories) VALUES (?, 1) ON CONFLICT (name) DO UPDATE'
        ' SET memories = memories + 1',
        (collection,),
    )
    record_change(connection, memory_id, collection)


def set_real(connection: apsw.Connection, memory_id: int) -> None:
    """Note that a memory that is there is of the real world."""
    changed = connection.execute(
        'UPDATE indexed SET real = 1 WHERE memory_id = ? AND NOT real RETURNING collection',
        (memory_id,),
    ).fetchone()
    if changed:
        record_change(connection, memory_id, changed[0])


def remove(connection: apsw.Connection, memory_id: int) -> int | None:
    """Take a memory out, its own vector included; return its form if it has one."""
    removed = connection.execute(
        'DELETE FROM indexed WHERE memory_id = ? RETURNING collection, form', (memory_id,)
    ).fetchone()
    if removed is None:
        return None
    collection, form = removed
    connection.execute(
        'UPDATE collections SET memories = memories - 1 WHERE name = ?', (collection,)
    )
    record_change(connection, memory_id, collection)
    return None if form is None else int(form)


def record_change(connection: apsw.Connection, memory_id: int, collection: str) -> None:
    """Tell other processes that the row of a memory has changed, or of a form: -id."""
    connection.execute(
        'INSERT INTO changes (memory_id, collection) VALUES (?, ?)', (memory_id, collection)
    )
    seq = connection.last_insert_rowid()
    if seq % _PRUNE_EVERY == 0:
        connection.execute('DELETE FROM changes WHERE seq <= ?', (seq - KEPT_CHANGES,))


def sizes(connection: apsw.Connection) -> dict[str, int]:
    """Return how many active memories each collection holds."""
    rows = connection.execute('SELECT name, memories FROM collections WHERE memories > 0')
    return dict(rows)


def size(connection: apsw.Connection, collection: str) -> int:
    """Return how many active memories a collection holds."""
    return sizes(connection).get(collection, 0)


def last_change(connection: apsw.Connection) -> int:
    """Return the number of the latest change."""
    ((seq,),) = connection.execute('SELECT coalesce(max(seq), 0) FROM changes')
    return int(seq)


class Changes(NamedTuple):
    """
    Hold the latest change, and ids and collections of what changed after another one.

    A form has its negative id. `models` describes the first and the second model, and changes
    with either.
    """

    models: tuple[str | None, str | None]
    latest: int
    changed: dict[int, str]


def read_changes(connection: apsw.Connection, seq: int) -> Changes | None:
    """Return what changed after a change; None where too much did: not all of it is kept."""
    (first, *models), *rows = connection.execute(
        f'SELECT coalesce(min(seq), 0), {_MODELS} FROM changes'
        ' UNION ALL SELECT seq, memory_id, collection FROM changes WHERE seq > ?',
        (seq,),
    )
    if first > seq + 1:
        return None
    latest = max((row[0] for row in rows), default=seq)
    changed = {memory_id: collection for _, memory_id, collection in rows}
    return Changes((models[0], models[1]), latest, changed)


def fetch(connection: apsw.Connection, ids: Sequence[int]) -> list[Row]:
    """Return the rows that there are among the ids, by id."""
    found = connection.execute(
        f'{_ROWS} WHERE i.memory_id IN (SELECT value FROM json_each(?)) ORDER BY i.memory_id',
        (json.dumps(list(ids)),),
    )
    return [Row(*row) for row in found]


def read_all(connection: apsw.Connection, batch: int) -> Iterator[list[PlainRow]]:
    """Give all rows in batches, by id."""
    last = 0
    while True:
        rows: list[Any] = connection.execute(
            f'{_ROWS} WHERE i.memory_id > ? ORDER BY i.memory_id LIMIT ?',
            (last, batch),
        ).fetchall()
        if not rows:
            return
        yield rows
        last = rows[-1][0]

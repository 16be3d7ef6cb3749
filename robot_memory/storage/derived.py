"""
Rows that follow from the records alone: full-text index, terms, guards, hashes, facets, places.

They are written with each record. `RULES` says by which rules; a store whose derived rows were
made by other rules is rebuilt when it is upgraded. Vectors are not among them: they belong to a
model.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import apsw

from robot_memory.storage.indexes import entries, facets, forms
from robot_memory.storage.tables import memories, meta, observations

RULES = 3
"""Raise it when the same record would give other terms, stems, guards, hashes, facets or cells;
a test holds samples of them."""
_BATCH = 500


def is_current(connection: apsw.Connection) -> bool:
    """Say whether the derived rows of a store were made by these rules."""
    return bool(meta.get(connection, 'derived_rules') == RULES)


def set_current(connection: apsw.Connection) -> None:
    """Note that the derived rows are made by these rules."""
    meta.put(connection, 'derived_rules', RULES)


def rebuild(connection: apsw.Connection, progress: Callable[[int, int], None]) -> None:
    """
    Make all derived rows anew from the records, in the caller's transaction.

    `progress` is told how many memories of how many are done.
    """
    ((total,),) = connection.execute('SELECT count(*) FROM memories')
    connection.execute("""
        INSERT INTO memories_fts (memories_fts) VALUES ('delete-all');
        DELETE FROM facets;
        DELETE FROM facet_paths;
        DELETE FROM places;
        DELETE FROM place_paths;
        DELETE FROM placed;
        DELETE FROM place_frames;
        DELETE FROM collections;
        DELETE FROM counts;
        INSERT INTO counts SELECT type, status, count(*) FROM memories GROUP BY type, status;
        CREATE TEMP TABLE kept_vectors AS
            SELECT memory_id, coarse, fine FROM indexed WHERE coarse IS NOT NULL;
        CREATE UNIQUE INDEX temp.kept_vectors_by_memory ON kept_vectors (memory_id);
        DELETE FROM indexed;
    """)
    last = done = 0
    while batch := _records(connection, last):
        for row in batch:
            _derive(connection, *row)
        last, done = batch[-1][0], done + len(batch)
        progress(done, total)
    for memory_id in observations.list_observed(connection):
        observations.index(connection, memory_id)
    connection.execute("""
        UPDATE indexed SET coarse = v.coarse, fine = v.fine, form = NULL
            FROM kept_vectors AS v WHERE v.memory_id = indexed.memory_id;
        DROP TABLE kept_vectors;
    """)
    forms.release_all(connection)
    set_current(connection)


def _records(connection: apsw.Connection, last: int) -> list[tuple[Any, ...]]:
    """Return a batch of the records after an id."""
    return connection.execute(
        'SELECT id, type, collection, content, context, status FROM memories'
        ' WHERE id > ? ORDER BY id LIMIT ?',
        (last, _BATCH),
    ).fetchall()


def _derive(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    context_text: str,
    status: str,
) -> None:
    connection.execute(
        'UPDATE memories SET content = ?, content_hash = ?, guard = ?, token_count = ?'
        ' WHERE id = ?',
        (*memories.derive_columns(content), memory_id),
    )
    context: dict[str, Any] = json.loads(context_text)
    facets.put(connection, memory_id, context)
    if status == 'active':
        entries.add(connection, memory_id, type, collection, content, context)

"""
Rows that follow from the records alone: full-text index, terms, guards, hashes, facets, places.

They are written with each record. `RULES` says by which rules; a store whose derived rows were
made by other rules is rebuilt when it is upgraded. Vectors are not among them: they belong to a
model.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import apsw

from robot_memory.storage.tables import mending, meta

RULES = 5
"""Raise it when the same record would give other terms, stems, facets or cells, or the same fact
other guards or hashes; a test holds samples of them."""
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
    from robot_memory.storage.indexes import entries

    ((total,),) = connection.execute('SELECT count(*) FROM memories')
    entries.clear_words(connection)
    entries.clear_contexts(connection)
    connection.execute("""
        DELETE FROM collections;
        CREATE TEMP TABLE kept_vectors AS
            SELECT memory_id, coarse, fine FROM indexed WHERE coarse IS NOT NULL;
        CREATE UNIQUE INDEX temp.kept_vectors_by_memory ON kept_vectors (memory_id);
        DELETE FROM indexed;
    """)
    recount(connection)
    done = 0
    for batch in read_batches(connection):
        for row in batch:
            _derive(connection, *row)
        done += len(batch)
        progress(done, total)
    index_observed(connection)
    restore_vectors(connection)
    mending.end(connection, mending.read(connection))
    set_current(connection)


def read_batches(
    connection: apsw.Connection, status: str | None = None
) -> Iterator[Sequence[Any]]:
    """
    Give id, type, collection, text, context (JSON) and status of the records, by their ids.

    They are read from the table alone, since its indexes may be damaged, and in batches, so that
    what is made of them can be written meanwhile.
    """
    sql = (
        'SELECT id, type, collection, content, context, status FROM memories NOT INDEXED'
        ' WHERE id > ?1 AND (?2 IS NULL OR status = ?2) ORDER BY id LIMIT ?3'
    )
    last = 0
    while True:
        batch: list[Any] = connection.execute(sql, (last, status, _BATCH)).fetchall()
        if not batch:
            return
        yield batch
        last = batch[-1][0]


def recount(connection: apsw.Connection) -> None:
    """Count the memories of each type and status anew."""
    connection.execute("""
        DELETE FROM counts;
        INSERT INTO counts (type, status, memories)
            SELECT type, status, count(*) FROM memories GROUP BY type, status;
    """)


def index_observed(connection: apsw.Connection) -> None:
    """Index the observations of all memories that have any."""
    from robot_memory.storage.tables import observations

    for memory_id in observations.list_observed(connection):
        observations.index(connection, memory_id)


def restore_vectors(connection: apsw.Connection) -> None:
    """Put vectors back from the temporary table `kept_vectors` (memory_id, coarse, fine)."""
    from robot_memory.storage.indexes import forms

    connection.execute("""
        UPDATE indexed SET coarse = v.coarse, fine = v.fine, form = NULL
            FROM kept_vectors AS v WHERE v.memory_id = indexed.memory_id;
        DROP TABLE kept_vectors;
    """)
    forms.release_all(connection)


def _derive(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    context_text: str,
    status: str,
) -> None:
    from robot_memory.storage.indexes import entries, facets
    from robot_memory.storage.tables import memories

    connection.execute(
        'UPDATE memories SET content = ?, content_hash = ?, guard = ?, token_count = ?'
        ' WHERE id = ?',
        (*memories.derive_columns(type, content), memory_id),
    )
    context: dict[str, Any] = json.loads(context_text)
    facets.put(connection, memory_id, context)
    if status == 'active':
        entries.add(connection, memory_id, type, collection, content, context)

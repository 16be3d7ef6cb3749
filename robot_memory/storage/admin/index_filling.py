"""
Filling emptied indexes from the rows in batches, beside readers and writers.

What is costly is made of a batch's rows before the transaction that writes it, which takes over
what has changed meanwhile. A mark in the file (`tables.mending`) says how far each group is
filled: whatever ends this, the next call goes on from there, in any process.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from robot_memory.storage.connection import Database
from robot_memory.storage.indexes import (
    entries,
    facets,
    indexed,
)
from robot_memory.storage.indexes.set_aside import CONTEXTS, WORDS
from robot_memory.storage.tables import mending, observations
from robot_memory.text import tokenizer

FILLED = frozenset((WORDS, CONTEXTS))
"""The groups that are filled so."""
_LAST = 2**63 - 1
_BATCH = 250
"""Memories of one transaction, which other writes wait for: some hundredths of a second."""


class _Row(NamedTuple):
    id: int
    type: str
    collection: str
    content: str
    context: str
    status: str


def fill(db: Database) -> list[str]:
    """
    Fill the next batch of one group; return the groups that are whole by that.

    None is left where `list_left` says so. Raise Unavailable where the store cannot be written.
    """
    with db.read() as connection:
        marks = mending.read(connection)
        group = min(marks, default=None)
        if group is None:
            return []
        last = marks[group]
        rows = _read(connection, last, None)
    if group not in FILLED:  # of a release that knows more groups
        raise ValueError(f'{group} is not filled in batches')
    made = _make_terms(rows) if group == WORDS else {}
    until = rows[-1].id if rows else None
    with db.write() as connection:
        if mending.read(connection).get(group) != last:
            return []  # another process went on
        rows = _read(connection, last, until)
        if not rows:
            mending.end(connection, [group])
            return [group]
        if group == WORDS:
            _fill_words(connection, rows, made)
        else:
            _fill_contexts(connection, rows)
        mending.advance(connection, group, rows[-1].id)
    return []


def list_left(db: Database) -> dict[str, int]:
    """Return up to which memory each group is filled that is not whole yet."""
    with db.read() as connection:
        return mending.read(connection)


def empty(connection: apsw.Connection, group: str) -> None:
    """Empty a group and mark it, in the caller's transaction."""
    if group == WORDS:
        entries.clear_words(connection)
    else:
        entries.clear_contexts(connection)
    mending.begin(connection, [group])


def _read(connection: apsw.Connection, last: int, until: int | None) -> list[_Row]:
    """Return the memories after one, until another (None: a batch), from the table alone."""
    rows = connection.execute(
        'SELECT id, type, collection, content, context, status FROM memories NOT INDEXED'
        ' WHERE id > ? AND id <= ? ORDER BY id LIMIT ?',
        (last, _LAST if until is None else until, _BATCH if until is None else -1),
    )
    return [_Row(*row) for row in rows]


def fill_all(db: Database) -> None:
    """Fill all groups that are marked."""
    while list_left(db):
        fill(db)


def complete_vectors(db: Database) -> int:
    """
    Give the index of vectors the rows that it lacks, and take those away that no memory has.

    Return how many. New rows wait for their vectors.
    """
    last = done = 0
    while True:
        with db.read() as connection:
            wrong: list[int] = [row[0] for row in connection.execute(_WRONG, (last, _BATCH))]
        if not wrong:
            break
        with db.write() as connection:
            for memory_id in wrong:
                done += _complete_vector(connection, memory_id)
        last = wrong[-1]
    if done:
        with db.write() as connection:
            connection.execute(
                'DELETE FROM collections;'
                'INSERT INTO collections (name, memories)'
                ' SELECT collection, count(*) FROM indexed GROUP BY collection'
            )
    return done


_WRONG = (
    "SELECT id FROM (SELECT id FROM memories NOT INDEXED WHERE id > ?1 AND status = 'active'"
    ' AND NOT EXISTS (SELECT 1 FROM indexed WHERE memory_id = memories.id) ORDER BY id LIMIT ?2)'
    ' UNION SELECT memory_id FROM (SELECT memory_id FROM indexed NOT INDEXED WHERE memory_id > ?1'
    " AND NOT EXISTS (SELECT 1 FROM memories WHERE id = memory_id AND status = 'active')"
    ' ORDER BY memory_id LIMIT ?2) ORDER BY 1 LIMIT ?2'
)


def _complete_vector(connection: apsw.Connection, memory_id: int) -> bool:
    """Make the row of a memory in the index of vectors fit; say whether it did not."""
    rows = _read(connection, memory_id - 1, memory_id)
    is_active = bool(rows) and rows[0].status == 'active'
    is_there = bool(indexed.fetch(connection, [memory_id]))
    if is_active == is_there:
        return False
    if is_there:
        entries.remove_vectors(connection, memory_id)
    else:
        row = rows[0]
        context = json.loads(row.context)
        entries.add_vectors(connection, memory_id, row.type, row.collection, row.content, context)
        observations.index(connection, memory_id)
    return True


def _make_terms(rows: Sequence[_Row]) -> dict[str, list[str]]:
    """Return the terms of each text of the active memories."""
    return {
        row.content: tokenizer.extract_terms(row.content) for row in rows if row.status == 'active'
    }


def _fill_words(
    connection: apsw.Connection, rows: Sequence[_Row], made: Mapping[str, list[str]]
) -> None:
    there = connection.execute(
        'SELECT id FROM memories_fts_docsize WHERE id BETWEEN ? AND ?', (rows[0].id, rows[-1].id)
    )
    known = {row[0] for row in there}
    for row in rows:
        if row.status == 'active' and row.id not in known:
            terms = made.get(row.content)
            if terms is None:
                terms = tokenizer.extract_terms(row.content)
            entries.add_words(connection, row.id, row.type, row.collection, terms)


def _fill_contexts(connection: apsw.Connection, rows: Sequence[_Row]) -> None:
    contexts: list[Any] = [json.loads(row.context) for row in rows]
    facets.put_all(connection, zip((row.id for row in rows), contexts, strict=True))
    for row, context in zip(rows, contexts, strict=True):
        if row.status == 'active':
            entries.add_places(connection, row.id, row.collection, context)
    for memory_id in observations.list_observed(connection, rows[0].id, rows[-1].id):
        observations.index(connection, memory_id)

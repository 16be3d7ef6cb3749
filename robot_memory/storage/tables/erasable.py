"""Looking up rows that an erasure takes: in the store, in a backup, and whether any are left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from robot_memory.storage.tables.erasing import TABLES

OWNED = (
    *TABLES,
    *'parts trials indexed other_vectors places placed facets events'.split(),
)
"""Tables whose rows belong to a memory by their column `memory_id`."""


def find_copies(connection: apsw.Connection, ids: Sequence[int]) -> list[int]:
    """Return the observations of other memories that merges made of what some memories said."""
    rows: Any = connection.execute(
        'SELECT o.id FROM observations AS o JOIN audit AS a ON a.id = o.audit_id'
        ' WHERE a.memory_id IN (SELECT value FROM json_each(?1))'
        ' AND o.memory_id NOT IN (SELECT value FROM json_each(?1)) ORDER BY o.id',
        (json.dumps(list(ids)),),
    )
    return [row[0] for row in rows]


def find_owned(connection: apsw.Connection, ids: Sequence[int]) -> dict[str, list[int]]:
    """Return the observations, earlier states and payload parts of some memories, by table."""
    asked = json.dumps(list(ids))
    owned: dict[str, list[int]] = {}
    for table in ('observations', 'revisions', 'parts'):
        rows: Any = connection.execute(
            f'SELECT id FROM {table} WHERE memory_id IN (SELECT value FROM json_each(?))', (asked,)
        )
        owned[table] = [row[0] for row in rows]
    return owned


def find_left(connection: apsw.Connection, ids: Sequence[int]) -> list[str]:
    """Return the tables that still have a row of one of some memories."""
    asked = json.dumps(list(ids))
    queries = [(table, 'memory_id') for table in OWNED]
    queries += [('memories', 'id'), ('memories', 'superseded_by'), ('events', 'id')]
    queries += [('replacements', 'replacing_id'), ('replacements', 'replaced_id')]
    queries += [('proposals', 'replacing_id'), ('memories_fts', 'rowid')]
    return [
        table
        for table, column in queries
        if connection.execute(
            f'SELECT 1 FROM {table} WHERE {column} IN (SELECT value FROM json_each(?)) LIMIT 1',
            (asked,),
        ).fetchone()
    ]


def find_created(connection: apsw.Connection, created: Mapping[int, int]) -> list[int]:
    """Return those memories that are there and were stored when it is said."""
    rows: Any = connection.execute(
        'SELECT m.id FROM json_each(?) AS c JOIN memories AS m ON m.id = c.key'
        ' AND m.created_at = c.value ORDER BY m.id',
        (json.dumps(created),),
    )
    return [row[0] for row in rows]


def find_whole(connection: apsw.Connection, events: Sequence[int]) -> list[int]:
    """Return the events whose memories are there."""
    rows: Any = connection.execute(
        'SELECT m.id FROM memories AS m JOIN events AS e ON e.id = m.id AND e.memory_id = e.id'
        ' WHERE m.id IN (SELECT value FROM json_each(?))',
        (json.dumps(list(events)),),
    )
    return [row[0] for row in rows]


def find_unobserved(connection: apsw.Connection, kept: Mapping[int, int]) -> list[int]:
    """Return the memories that are there without the observations that they take over."""
    rows: Any = connection.execute(
        'SELECT m.id FROM json_each(?) AS k JOIN memories AS m ON m.id = k.key'
        ' WHERE NOT EXISTS (SELECT 1 FROM observations WHERE id = k.value AND memory_id = m.id)',
        (json.dumps(kept),),
    )
    return [row[0] for row in rows]


def find_unrevised(connection: apsw.Connection, revised: Mapping[int, int]) -> list[int]:
    """Return the memories that are there without the earlier states to be removed."""
    rows: Any = connection.execute(
        'SELECT m.id FROM json_each(?) AS k JOIN memories AS m ON m.id = k.value'
        ' WHERE NOT EXISTS (SELECT 1 FROM revisions WHERE id = k.key)',
        (json.dumps(revised),),
    )
    return [row[0] for row in rows]

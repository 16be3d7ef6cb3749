"""
The store as it was at an audit line, rebuilt from rows and revisions in a temporary database.

Its tables and indexes are those of a store, so whatever searches a store searches it: term counts,
and with them the ranking, are those of then. Tables without revisions are views of the present.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import apsw

from robot_memory.storage import schema_runner
from robot_memory.storage.connection import Database
from robot_memory.storage.indexes import entries, facets, set_aside
from robot_memory.storage.tables import mending, observations
from robot_memory.storage.tables.revisions import STATE

_FULL_TEXT = ('data', 'idx', 'docsize')
"""The tables that hold the full-text index."""
_REBUILT = (
    'memories memories_fts memories_vocabulary indexed collections facets facet_paths places '
    'place_paths placed place_frames counts changes forms form_vectors other_vectors'
).split()
_BY_LINE = {
    'audit': 'id',
    'revisions': 'audit_id',
    'observations': 'audit_id',
    'replacements': 'audit_id',
}
"""The tables whose rows have an audit line; later ones are left out."""
_ENDED = ('observations', 'replacements')
"""Those whose rows a line may have ended; what ended later stands."""


@contextmanager
def open_past(db: Database, line: int) -> Iterator[apsw.Connection]:
    """Give a connection to the store as it was when an audit line had been written."""
    with db.connect_scratch(schema_runner.create) as connection:
        connection.execute('BEGIN')
        _copy_memories(connection, line)
        _copy_indexes(connection)
        _add_views(connection, line)
        _rebuild_changed(connection)
        with set_aside.use_all():
            yield connection


def _copy_memories(connection: apsw.Connection, line: int) -> None:
    """Copy the memories that there were, in the state of then; list those that have changed."""
    columns = [row[1] for row in connection.execute('PRAGMA main.table_info(memories)')]
    values = [
        f'iif(r.id IS NULL, m.{name}, r.{name})' if name in STATE else f'm.{name}'
        for name in columns
    ]
    connection.execute(
        'CREATE TEMP TABLE changed AS SELECT memory_id, min(audit_id) AS audit_id'
        ' FROM now.revisions WHERE audit_id > ? GROUP BY memory_id',
        (line,),
    )
    connection.execute('CREATE UNIQUE INDEX temp.changed_by_memory ON changed (memory_id)')
    connection.execute(
        f'INSERT INTO main.memories ({", ".join(columns)}) SELECT {", ".join(values)}'
        ' FROM now.memories AS m LEFT JOIN temp.changed AS c ON c.memory_id = m.id'
        ' LEFT JOIN now.revisions AS r ON r.memory_id = m.id AND r.audit_id = c.audit_id'
        ' WHERE m.id <= coalesce((SELECT last_memory_id FROM now.audit WHERE id <= ?'
        ' ORDER BY id DESC LIMIT 1), 0)',
        (line,),
    )
    # What did not exist, or has changed since, has other entries in the indexes.
    connection.execute(
        'INSERT OR IGNORE INTO temp.changed SELECT id, 0 FROM now.memories'
        ' WHERE id > (SELECT coalesce(max(id), 0) FROM main.memories)'
    )
    # What is being made anew (`tables.mending`) lacks entries: all of them are made.
    connection.execute(
        'INSERT OR IGNORE INTO temp.changed SELECT id, 0 FROM main.memories'
        ' WHERE EXISTS (SELECT 1 FROM now.meta WHERE key = ?)',
        (mending.KEY,),
    )


def _copy_indexes(connection: apsw.Connection) -> None:
    """Copy the index entries of all memories that have not changed."""
    others = 'memory_id NOT IN (SELECT memory_id FROM temp.changed)'
    for name in _FULL_TEXT:
        connection.execute(f'DELETE FROM main.memories_fts_{name}')
        connection.execute(
            f'INSERT INTO main.memories_fts_{name} SELECT * FROM now.memories_fts_{name}'
        )
    # Rolling back makes FTS5 read anew what it holds of its tables.
    connection.execute('SAVEPOINT index_read')
    connection.execute("INSERT INTO main.memories_fts (rowid, terms) VALUES (-1, 'x')")
    connection.execute('ROLLBACK TO index_read')
    connection.execute('RELEASE index_read')
    connection.execute(
        'DELETE FROM main.memories_fts WHERE rowid IN (SELECT c.memory_id FROM temp.changed AS c'
        ' JOIN now.indexed AS i ON i.memory_id = c.memory_id)'
    )
    connection.execute(f"""
        INSERT INTO main.indexed (memory_id, collection, real, terms)
            SELECT memory_id, collection, real, terms FROM now.indexed WHERE {others};
        INSERT INTO main.collections (name, memories)
            SELECT collection, count(*) FROM main.indexed GROUP BY collection;
        INSERT INTO main.facet_paths (id, path) SELECT id, path FROM now.facet_paths;
        INSERT INTO main.facets (path_id, value, memory_id)
            SELECT path_id, value, memory_id FROM now.facets WHERE {others};
        INSERT INTO main.place_paths (id, collection, path, length)
            SELECT id, collection, path, length FROM now.place_paths;
        INSERT INTO main.places (path_id, cell, memory_id)
            SELECT path_id, cell, memory_id FROM now.places WHERE {others};
        INSERT INTO main.place_frames (id, collection, frame, map, revision)
            SELECT id, collection, frame, map, revision FROM now.place_frames;
        INSERT INTO main.placed (memory_id, frame_id, x, y, z, spread)
            SELECT memory_id, frame_id, x, y, z, spread FROM now.placed WHERE {others};
    """)


def _rebuild_changed(connection: apsw.Connection) -> None:
    """Make the index entries of the memories that have changed."""
    rows: list[Any] = connection.execute(
        'SELECT id, type, collection, content, context, status FROM main.memories'
        ' WHERE id IN (SELECT memory_id FROM temp.changed)'
    ).fetchall()
    for memory_id, type, collection, content, text, status in rows:
        context = json.loads(text)
        facets.put(connection, memory_id, context)
        if status == 'active':
            entries.add(connection, memory_id, type, collection, content, context)
        observations.index(connection, memory_id)


def _add_views(connection: apsw.Connection, line: int) -> None:
    """Show the other tables of the present under their names."""
    names = [
        row[0]
        for row in connection.execute(
            "SELECT name FROM now.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
        )
    ]
    for name in names:
        if name not in _REBUILT and not name.startswith('memories_fts_'):
            until = f' WHERE {_BY_LINE[name]} <= {line:d}' if name in _BY_LINE else ''
            columns = ', '.join(_list_columns(connection, name, line))
            connection.execute(
                f'CREATE TEMP VIEW "{name}" AS SELECT {columns} FROM now."{name}"{until}'
            )


def _list_columns(connection: apsw.Connection, name: str, line: int) -> list[str]:
    """Return as SQL the columns of a table, as they were at an audit line."""
    names = [row[1] for row in connection.execute(f'PRAGMA now.table_info("{name}")')]
    ended = f'iif(ended_by > {line:d}, NULL, ended_by) AS ended_by'
    return [ended if each == 'ended_by' and name in _ENDED else f'"{each}"' for each in names]

"""Rows of observations: occasions on which the text of a memory was said again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record, read_outcome
from robot_memory.storage import epochs
from robot_memory.storage.tables import audit, writers

FIELDS = ('at', 'session_id', 'text', 'context', 'stamp', 'outcome', 'simulated')
"""What an observation holds of the occasion, the speaker aside."""
_CORRECTED = {'at': epochs.correct('at', 'epoch')}
_READ = ', '.join(_CORRECTED.get(name, name) for name in FIELDS)


def insert(
    connection: apsw.Connection, memory_id: int, content: str, said: Record, audit_id: int
) -> int:
    """
    Insert what was said when the text of a memory was stated again; return the row's id.

    `content` is the text of the memory: one that differs from it is stored. `audit_id` is the line
    of the call.
    """
    env = said.context.get('env')
    kind = env.get('sim_or_real') if isinstance(env, dict) else None
    simulated = {'sim': 1, 'real': 0}.get(kind) if isinstance(kind, str) else None
    connection.execute(
        'INSERT INTO observations (memory_id, at, writer_id, session_id, text, context, stamp,'
        ' outcome, simulated, audit_id, epoch)'
        f' VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, {epochs.NEWEST})',
        (
            memory_id,
            said.updated_at,
            writers.get_id(connection, said.writer or THE_STORE),
            said.session_id,
            None if said.content == content else said.content,
            dump_json(said.context, 'context'),
            said.stamp,
            read_outcome(said.context),
            simulated,
            audit_id,
        ),
    )
    return connection.last_insert_rowid()


def insert_imported(
    connection: apsw.Connection, memory_id: int, values: Mapping[str, Any]
) -> None:
    """Insert an observation of another store, whose speaker is known by name only."""
    writer = Writer('import', values['said_by'], authority='imported')
    line = audit.record(
        connection, memory_id, 'observed', writer, '', {}, values['at'], is_now=False
    )
    stored = {
        **{name: values[name] for name in FIELDS},
        'context': dump_json(values['context'], 'context'),
        'writer_id': writers.get_id(connection, writer),
        'audit_id': line,
    }
    connection.execute(
        f'INSERT INTO observations (memory_id, {", ".join(stored)})'
        f' VALUES ({", ".join("?" * (len(stored) + 1))})',
        (memory_id, *stored.values()),
    )


def read(connection: apsw.Connection, memory_id: int) -> list[dict[str, Any]]:
    """Return the observations of a memory with their FIELDS and `said_by`, oldest first."""
    rows: list[Any] = connection.execute(
        f'SELECT {_READ}, {writers.COLUMNS} FROM observations'
        ' JOIN writers AS w ON w.id = writer_id WHERE memory_id = ? ORDER BY observations.id',
        (memory_id,),
    ).fetchall()
    found = []
    for row in rows:
        values = dict(zip(FIELDS, row, strict=False))
        said_by = Writer(*row[len(FIELDS) :]).label
        found.append({**values, 'context': json.loads(values['context']), 'said_by': said_by})
    return found


def count(connection: apsw.Connection, memory_id: int) -> int:
    """Return how many observations a memory has."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM observations WHERE memory_id = ?', (memory_id,)
    )
    return int(number)


def has_stamp(connection: apsw.Connection, memory_id: int, stamp: int) -> bool:
    """Say whether a memory has an observation with that stamp (ns)."""
    sql = 'SELECT 1 FROM observations WHERE memory_id = ? AND stamp = ? LIMIT 1'
    return connection.execute(sql, (memory_id, stamp)).fetchone() is not None


def list_contexts(connection: apsw.Connection, memory_id: int) -> list[tuple[Any, ...]]:
    """Return text and context of the observations of a memory, oldest first."""
    return list(
        connection.execute(
            'SELECT text, context FROM observations WHERE memory_id = ? ORDER BY id', (memory_id,)
        )
    )

"""Rows of observations: occasions on which the text of a memory was said again."""

from __future__ import annotations

from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record, read_outcome
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers


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


def count(connection: apsw.Connection, memory_id: int) -> int:
    """Return how many observations a memory has."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM observations WHERE memory_id = ?', (memory_id,)
    )
    return int(number)


def list_contexts(connection: apsw.Connection, memory_id: int) -> list[tuple[Any, ...]]:
    """Return text and context of the observations of a memory, oldest first."""
    return list(
        connection.execute(
            'SELECT text, context FROM observations WHERE memory_id = ? ORDER BY id', (memory_id,)
        )
    )

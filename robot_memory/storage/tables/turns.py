"""Rows of turns: which side of a session's conversation spoke, and in which order."""

from __future__ import annotations

from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.records import Record
from robot_memory.storage.tables import revisions


def insert(connection: apsw.Connection, memory_id: int, record: Record) -> None:
    """Insert which turn of its session a memory is."""
    connection.execute(
        'INSERT INTO turns (memory_id, session_id, number, role) VALUES (?, ?, ?, ?)',
        (memory_id, record.session_id, record.turn_id, record.role),
    )


def has(connection: apsw.Connection, session_id: str, number: int) -> bool:
    """Say whether a session has a turn of a number."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM turns WHERE session_id = ? AND number = ?)',
        (session_id, number),
    )
    return bool(found)


def next_number(connection: apsw.Connection, session_id: str) -> int:
    """Return the number of a session's next turn; forgotten ones keep theirs."""
    ((last,),) = connection.execute(
        'SELECT coalesce(max(number), 0) FROM turns WHERE session_id = ?', (session_id,)
    )
    return int(last) + 1


def list_topics(connection: apsw.Connection) -> list[tuple[str, Any]]:
    """Return the sessions with the topics that their active turns were kept under."""
    rows = connection.execute(
        "SELECT DISTINCT t.session_id, m.context ->> 'topic'"
        ' FROM facet_paths AS p CROSS JOIN facets AS f ON f.path_id = p.id'
        ' CROSS JOIN turns AS t ON t.memory_id = f.memory_id'
        " CROSS JOIN memories AS m ON m.id = t.memory_id AND m.status = 'active'"
        " WHERE p.path = 'topic'"
    )
    return [(row[0], row[1]) for row in rows]


def count(connection: apsw.Connection, session_id: str) -> int:
    """Return how many active turns a session has."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM turns AS t JOIN memories AS m ON m.id = t.memory_id'
        " WHERE t.session_id = ? AND m.status = 'active'",
        (session_id,),
    )
    return int(number)


def confirm_statement(
    connection: apsw.Connection, memory_id: int, writer: Writer, at: int
) -> None:
    """Set when the statement of a memory was last made: it was true at this time, too."""
    with revisions.changing(connection, memory_id, 'repeated', writer, '', {}, at):
        connection.execute(
            'UPDATE memories SET updated_at = max(updated_at, ?) WHERE id = ?', (at, memory_id)
        )

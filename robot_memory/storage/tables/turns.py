"""Rows of turns: which side of a session's conversation spoke, and in which order."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.records import Record
from robot_memory.storage.tables import revisions

Place = tuple[str, int]
"""A session, and the number of a turn in it."""


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


def find_statements(
    connection: apsw.Connection, turn_ids: Sequence[int], fact_ids: Sequence[int]
) -> list[tuple[int, int]]:
    """Return pairs of a turn and a fact that states a part of it, among the ids."""
    stated = "iif(f.content LIKE '%...', substr(f.content, 1, length(f.content) - 3), f.content)"
    rows = connection.execute(
        'SELECT t.id, f.id FROM memories AS t JOIN memories AS f'
        ' ON f.id IN (SELECT value FROM json_each(?2)) AND f.event_id = t.event_id'
        f' AND f.session_id IS t.session_id AND instr(t.content, {stated})'
        " WHERE t.id IN (SELECT value FROM json_each(?1)) AND t.type = 'turn'"
        " AND f.type = 'fact'",
        (json.dumps(list(turn_ids)), json.dumps(list(fact_ids))),
    )
    return [(turn, fact) for turn, fact in rows]


def find_actors(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, str]:
    """Return who said or did each of some memories, where that is known."""
    rows = connection.execute(
        'SELECT id, actor_id FROM memories WHERE actor_id IS NOT NULL'
        ' AND id IN (SELECT value FROM json_each(?))',
        (json.dumps(list(ids)),),
    )
    return dict(rows)


def find_places(connection: apsw.Connection, ids: Sequence[int]) -> dict[int, Place]:
    """Return where some memories stand in their sessions, as far as they are turns."""
    return _read_places(
        connection,
        'SELECT memory_id, session_id, number FROM turns'
        ' WHERE memory_id IN (SELECT value FROM json_each(?))',
        ids,
    )


def find_beside(connection: apsw.Connection, places: Collection[Place]) -> dict[int, Place]:
    """Return the turns right before and after some places, those there aside."""
    known = set(places)
    wanted = {(session, number + step) for session, number in known for step in (-1, 1)}
    return _read_places(
        connection,
        'SELECT t.memory_id, t.session_id, t.number FROM json_each(?) AS w'
        ' JOIN turns AS t ON t.session_id = w.value ->> 0 AND t.number = w.value ->> 1',
        sorted(wanted - known),
    )


def _read_places(connection: apsw.Connection, sql: str, wanted: Sequence[Any]) -> dict[int, Place]:
    rows: list[Any] = connection.execute(sql, (json.dumps(wanted),)).fetchall()
    return {row[0]: (row[1], row[2]) for row in rows}

"""How many memories there are of each type and status: kept as they change, not counted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import apsw

from robot_memory.core.files import measure_file
from robot_memory.storage import epochs
from robot_memory.storage.indexes.candidates import restrict_to
from robot_memory.storage.indexes.filters import TIMES, find_between
from robot_memory.storage.store_files import LOG, name_file

_LATEST = 2**62


def change(connection: apsw.Connection, type: str, status: str, by: int) -> None:
    """Note that there are more or fewer memories, in the transaction that makes it so."""
    connection.execute(
        'INSERT INTO counts (type, status, memories) VALUES (?1, ?2, ?3)'
        ' ON CONFLICT (type, status) DO UPDATE SET memories = memories + ?3',
        (type, status, by),
    )


def by_type(connection: apsw.Connection, status: str = 'active') -> Counter[str]:
    """Return how many memories of a status there are, by type."""
    rows = connection.execute(
        'SELECT type, memories FROM counts WHERE status = ? AND memories > 0', (status,)
    )
    return Counter(dict(rows))


def active_since(connection: apsw.Connection, instant: int) -> int:
    """Return how many memories stored from an instant on are active still."""
    if epochs.has_corrected(connection):
        query = find_between('created_at', instant, _LATEST)
        ((stored,),) = connection.execute(
            f'SELECT count(*) FROM {restrict_to(query)}'
            f" AND m.status = 'active' AND {TIMES['created_at']} >= ?",
            (*query.values, instant),
        )
        return int(stored)
    # Both are answered by an index alone or by few rows; a count of the active ones would look
    # every row of the span up.
    ((stored,),) = connection.execute(
        'SELECT count(*) FROM memories INDEXED BY memories_by_time WHERE created_at >= ?',
        (instant,),
    )
    ((ended,),) = connection.execute(
        'SELECT count(*) FROM memories INDEXED BY memories_ended'
        " WHERE status <> 'active' AND created_at >= ?",
        (instant,),
    )
    return int(stored) - int(ended)


def talked(connection: apsw.Connection) -> int:
    """Return how many sessions hold an active turn."""
    ((sessions,),) = connection.execute(
        'SELECT count(*) FROM sessions AS s WHERE EXISTS (SELECT 1 FROM turns AS t'
        " JOIN memories AS m ON m.id = t.memory_id AND m.status = 'active'"
        ' WHERE t.session_id = s.id)'
    )
    return int(sessions)


def sessions(connection: apsw.Connection) -> Counter[str]:
    """Return how many sessions there are, by status."""
    rows = connection.execute('SELECT status, count(*) FROM sessions GROUP BY status')
    return Counter(dict(rows))


def open_sessions(connection: apsw.Connection) -> int:
    """Return how many sessions have not ended."""
    ((number,),) = connection.execute(
        "SELECT count(*) FROM sessions INDEXED BY sessions_open WHERE status = 'open'"
    )
    return int(number)


def bytes_of(path: Path) -> int:
    """Return the size of a store's file and its log (WAL)."""
    return measure_file(path) + measure_file(name_file(path, LOG))

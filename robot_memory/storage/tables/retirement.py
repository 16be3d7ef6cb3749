"""Rows of memories that go by their age, and their return where the clock was ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.clock import STEP
from robot_memory.storage.indexes import entries
from robot_memory.storage.tables import clock_log, counts, memories, revisions

REASON = 'retention'
_STORED = clock_log.instant_of('created_at', 'created_clock', '?2')
_RETURNED = 'the clock was ahead when this was retired by its age'


def find_expired(
    connection: apsw.Connection,
    instant: int,
    now: int,
    protected: Sequence[str],
    collection: str | None,
    limit: int,
) -> list[int]:
    """
    Return the oldest active perceptions and turns stored before, those protected aside.

    What was stored by a clock that was wrong is as young as it may be; see `clocks`.
    """
    marks = ', '.join('?' * len(protected))
    rows = connection.execute(
        'SELECT id FROM memories INDEXED BY memories_by_time'
        f' WHERE created_at < ?1 AND {_STORED} < ?1'
        " AND status = 'active' AND type IN ('perception', 'turn')"
        f" AND perception_type IS NOT 'procedural' AND category NOT IN ({marks})"
        ' AND collection = coalesce(?, collection) ORDER BY created_at, id LIMIT ?',
        (instant, now, *protected, collection, limit),
    )
    return [row[0] for row in rows]


def retire(connection: apsw.Connection, memory_id: int, writer: Writer, at: int) -> None:
    """Retire a memory softly because of its age."""
    memories.retire(connection, memory_id, 'invalidated', writer, REASON, at)
    connection.execute(
        'INSERT OR REPLACE INTO retired_by_age (memory_id, at) VALUES (?, ?)', (memory_id, at)
    )


def reinstate(connection: apsw.Connection, now: int, writer: Writer, limit: int) -> int:
    """Reinstate what was retired at a time that lies in the future; return how many were."""
    rows: list[Any] = connection.execute(
        'SELECT r.memory_id, m.status, (SELECT reason FROM audit WHERE memory_id = m.id'
        ' ORDER BY id DESC LIMIT 1) FROM retired_by_age AS r'
        ' JOIN memories AS m ON m.id = r.memory_id WHERE r.at > ? LIMIT ?',
        (now + STEP, limit),
    ).fetchall()
    for memory_id, status, reason in rows:
        connection.execute('DELETE FROM retired_by_age WHERE memory_id = ?', (memory_id,))
        if (status, reason) == ('invalidated', REASON):
            _reinstate(connection, memory_id, writer, now)
    return len(rows)


def is_ahead(connection: apsw.Connection, now: int) -> bool:
    """Say whether something was retired at a time that lies in the future."""
    row = connection.execute(
        'SELECT 1 FROM retired_by_age WHERE at > ? LIMIT 1', (now + STEP,)
    ).fetchone()
    return row is not None


def _reinstate(connection: apsw.Connection, memory_id: int, writer: Writer, at: int) -> None:
    """Take back a retirement: the memory is found again, its trail tells of both."""
    record = memories.get(connection, [memory_id])[memory_id]
    with revisions.changing(connection, memory_id, 'reinstated', writer, _RETURNED, {}, at):
        connection.execute(
            "UPDATE memories SET status = 'active', updated_at = ? WHERE id = ?", (at, memory_id)
        )
        counts.change(connection, record.type, record.status, -1)
        counts.change(connection, record.type, 'active', 1)
        entries.add(
            connection, memory_id, record.type, record.collection, record.content, record.context
        )

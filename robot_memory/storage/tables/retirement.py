"""Rows of memories that go by their age, and their return where the clock was ahead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.storage import epochs
from robot_memory.storage.indexes import entries
from robot_memory.storage.indexes.candidates import restrict_to
from robot_memory.storage.indexes.filters import TIMES, find_between
from robot_memory.storage.tables import counts, events, memories, revisions

REASON = 'retention'
_RETURNED = 'the clock was ahead when this was retired by its age'
_EARLIEST = -(2**62)


def find_expired(
    connection: apsw.Connection,
    instant: int,
    protected: Sequence[str],
    collection: str | None,
    limit: int,
) -> list[int]:
    """
    Return the oldest active perceptions and turns stored before, those protected aside.

    What no trusted clock dated is as young as it may be.
    """
    source, created = 'memories AS m INDEXED BY memories_by_time WHERE 1', 'm.created_at'
    values: tuple[Any, ...] = ()
    if epochs.has_corrected(connection):
        query = find_between('created_at', _EARLIEST, instant)
        source, created, values = restrict_to(query), TIMES['created_at'], query.values
    marks = ', '.join('?' * len(protected))
    rows = connection.execute(
        f'SELECT m.id FROM {source} AND {created} < ?'
        " AND m.status = 'active' AND m.type IN ('perception', 'turn')"
        f" AND m.perception_type IS NOT 'procedural' AND m.category NOT IN ({marks})"
        f' AND m.collection = coalesce(?, m.collection) ORDER BY {created}, m.id LIMIT ?',
        (*values, instant, *protected, collection, limit),
    )
    return [row[0] for row in rows]


def retire(
    connection: apsw.Connection, memory_id: int, writer: Writer, at: int, epoch: int | None = None
) -> None:
    """Retire a memory softly because of its age, judged in a clock epoch: else the present one."""
    memories.retire(connection, memory_id, 'invalidated', writer, REASON, at)
    connection.execute(
        'INSERT OR REPLACE INTO retired_by_age (memory_id, at, epoch)'
        f' VALUES (?1, ?2, coalesce(?3, {epochs.NEWEST}))',
        (memory_id, at, epoch),
    )


def reinstate(connection: apsw.Connection, at: int, writer: Writer, limit: int) -> int:
    """Reinstate what was retired in epochs that are suspect by now; return how many were."""
    rows: list[Any] = connection.execute(
        'SELECT r.memory_id, m.status, (SELECT reason FROM audit WHERE memory_id = m.id'
        ' ORDER BY id DESC LIMIT 1) FROM retired_by_age AS r'
        ' JOIN memories AS m ON m.id = r.memory_id'
        ' JOIN clock_epochs AS e ON e.id = r.epoch WHERE NOT e.trusted LIMIT ?',
        (limit,),
    ).fetchall()
    for memory_id, status, reason in rows:
        connection.execute('DELETE FROM retired_by_age WHERE memory_id = ?', (memory_id,))
        if (status, reason) == ('invalidated', REASON):
            _reinstate(connection, memory_id, writer, at)
    return len(rows)


def _reinstate(connection: apsw.Connection, memory_id: int, writer: Writer, at: int) -> None:
    """Take back a retirement: the memory is found again, its trail tells of both."""
    record = memories.get(connection, [memory_id])[memory_id]
    with revisions.changing(connection, memory_id, 'reinstated', writer, _RETURNED, {}, at):
        connection.execute(
            "UPDATE memories SET status = 'active', updated_at = ?,"
            f' updated_epoch = {epochs.NEWEST} WHERE id = ?',
            (at, memory_id),
        )
        counts.change(connection, record.type, record.status, -1)
        counts.change(connection, record.type, 'active', 1)
        entries.add(
            connection, memory_id, record.type, record.collection, record.content, record.context
        )
        events.set_active(connection, memory_id, True)

"""Rows of changes of protected memories that no operator has confirmed, or who has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, NotFound
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers


@dataclass(frozen=True)
class ProtectedChange:
    """Hold what a protected memory said before someone changed it; `at` is in microseconds."""

    id: int
    memory_id: int
    action: str
    content: str
    at: int
    writer: Writer


def record(
    connection: apsw.Connection,
    memory_id: int,
    action: str,
    content: str,
    category: str,
    writer: Writer,
    at: int,
) -> None:
    """
    Insert a change that anyone but an operator made to a protected fact, if it was one.

    `content` and `category` are those before; the row is as the change left it.
    """
    from robot_memory.text.categories import PROTECTED

    if category not in PROTECTED or writer.authority == 'operator':
        return
    row = connection.execute(
        "SELECT content, category, status FROM memories WHERE id = ? AND type = 'fact'"
        " AND context -> '$.sense' IS NULL",
        (memory_id,),
    ).fetchone()
    if row is None or (row[0] == content and row[1] in PROTECTED and row[2] == 'active'):
        return
    connection.execute(
        'INSERT INTO protected_changes (memory_id, action, content, writer_id, at, epoch)'
        f' VALUES (?, ?, ?, ?, ?, {epochs.NEWEST})',
        (memory_id, action, content, writers.get_id(connection, writer), at),
    )


def list_unconfirmed(
    connection: apsw.Connection, collection: str | None, limit: int
) -> list[ProtectedChange]:
    """Return the changes that wait for an operator, in one collection or all, newest first."""
    rows = connection.execute(
        'SELECT c.id, c.memory_id, c.action, c.content, c.at,'
        f' {writers.COLUMNS}'
        ' FROM protected_changes AS c JOIN memories AS m ON m.id = c.memory_id'
        ' JOIN writers AS w ON w.id = c.writer_id'
        ' WHERE c.confirmed_by IS NULL AND (?1 IS NULL OR m.collection = ?1)'
        ' ORDER BY c.id DESC LIMIT ?2',
        (collection, limit),
    )
    return [_make_change(row) for row in rows]


def count_unconfirmed(connection: apsw.Connection, collection: str | None = None) -> int:
    """Return how many changes wait for an operator."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM protected_changes AS c JOIN memories AS m ON m.id = c.memory_id'
        ' WHERE c.confirmed_by IS NULL AND (?1 IS NULL OR m.collection = ?1)',
        (collection,),
    )
    return int(number)


def confirm(connection: apsw.Connection, memory_id: int, writer: Writer, at: int) -> int:
    """
    Confirm the changes of a memory; return their number.

    Raise NotFound for a memory that does not exist, Conflict where no change waits.
    """
    if connection.execute('SELECT 1 FROM memories WHERE id = ?', (memory_id,)).fetchone() is None:
        raise NotFound(f'no memory {memory_id}; review lists the changes')
    connection.execute(
        'UPDATE protected_changes SET confirmed_by = ?, confirmed_at = ?,'
        f' confirmed_epoch = {epochs.NEWEST} WHERE memory_id = ? AND confirmed_by IS NULL',
        (writers.get_id(connection, writer), at, memory_id),
    )
    changed = connection.changes()
    if not changed:
        raise Conflict(
            f'memory {memory_id} has no change that waits for an operator; nothing was changed'
        )
    return changed


def _make_change(row: Sequence[Any]) -> ProtectedChange:
    change_id, memory_id, action, content, at, *writer = row
    return ProtectedChange(change_id, memory_id, action, content, at, Writer(*writer))

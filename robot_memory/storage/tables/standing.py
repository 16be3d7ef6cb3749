"""Rows of memories from before authorities were recorded: they stay where they stood."""

from __future__ import annotations

from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict
from robot_memory.core.records import Record
from robot_memory.storage.tables import memories, revisions, writers


def list_standing(connection: apsw.Connection, limit: int) -> tuple[int, list[Record]]:
    """Return how many active memories are not confirmed, and some of them, facts first."""
    ((total,),) = connection.execute(
        "SELECT count(*) FROM memories WHERE stands AND status = 'active'"
    )
    rows = connection.execute(
        "SELECT id FROM memories WHERE stands AND status = 'active' ORDER BY type, id LIMIT ?",
        (limit,),
    )
    ids = [row[0] for row in rows]
    records = memories.get(connection, ids)
    return int(total), [records[memory_id] for memory_id in ids]


def confirm(
    connection: apsw.Connection, memory_id: int | None, authority: str, writer: Writer, at: int
) -> int:
    """
    Give an active memory from before an authority, or (None) all of them; return how many.

    Raise NotFound, or Conflict for a memory that has one.
    """
    if memory_id is not None and not memories.get_active(connection, memory_id).stands:
        raise Conflict(f'memory {memory_id} already has an authority; nothing was changed')
    ids: list[Any] = connection.execute(
        "SELECT id FROM memories WHERE stands AND status = 'active' AND id = coalesce(?, id)",
        (memory_id,),
    ).fetchall()
    reason = f'stands on the authority {authority}'
    writer_id = writers.get_id(connection, writer)
    for (confirmed,) in ids:
        with revisions.changing(connection, confirmed, 'confirmed', writer, reason, {}, at):
            connection.execute(
                'UPDATE memories SET stands = 0, authority = ?, writer_id = ? WHERE id = ?',
                (authority, writer_id, confirmed),
            )
    return len(ids)

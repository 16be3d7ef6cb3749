"""Rows of the audit trail: who did what to a memory, when and why."""

from __future__ import annotations

import json
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.storage.tables import writers


def record(
    connection: apsw.Connection,
    memory_id: int,
    action: str,
    writer: Writer,
    reason: str,
    detail: dict[str, Any],
    at: int,
) -> None:
    """Append a line to the audit trail of a memory; `at` is in microseconds."""
    # Not dump_json: a detail holds what a memory had, each as large and deep as that may be.
    text = json.dumps(detail, ensure_ascii=False, separators=(',', ':'), sort_keys=True)
    connection.execute(
        'INSERT INTO audit (memory_id, action, actor, reason, detail, at, writer_id)'
        ' VALUES (?, ?, ?, ?, ?, ?, ?)',
        (
            memory_id,
            action,
            writer.label,
            reason,
            text,
            at,
            writers.get_id(connection, writer),
        ),
    )


def read_trail(connection: apsw.Connection, memory_id: int) -> list[dict[str, Any]]:
    """Return the audit trail of a memory, oldest first."""
    rows = connection.execute(
        'SELECT action, actor, reason, detail, at FROM audit WHERE memory_id = ? ORDER BY id',
        (memory_id,),
    )
    keys = ('action', 'actor', 'reason', 'detail', 'at')
    return [dict(zip(keys, (*row[:3], json.loads(row[3]), row[4]), strict=True)) for row in rows]

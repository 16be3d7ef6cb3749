"""Rows of payloads: what perceptions measured, and how, where it is short."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import apsw


def put(
    connection: apsw.Connection, memory_id: int, data: str | None, metadata: str | None
) -> None:
    """Keep what a perception measured, and how, as JSON text."""
    connection.execute(
        'INSERT INTO payloads (memory_id, data, metadata) VALUES (?, ?, ?)',
        (memory_id, data, metadata),
    )


def get(connection: apsw.Connection, memory_id: int) -> tuple[Any, Any]:
    """Return what a perception measured and how, both None where there is nothing."""
    row = connection.execute(
        'SELECT data, metadata FROM payloads WHERE memory_id = ?', (memory_id,)
    ).fetchone()
    data, metadata = (None if text is None else json.loads(text) for text in row or (None, None))
    return data, metadata


def get_with_frame(connection: apsw.Connection, memory_id: int) -> tuple[Any, Any, str | None]:
    """Return what a perception measured, how, and in which frame."""
    row: Any = connection.execute(
        'SELECT frame_id FROM memories WHERE id = ?', (memory_id,)
    ).fetchone()
    return *get(connection, memory_id), row[0]


def set_metadata(connection: apsw.Connection, memory_id: int, metadata: str) -> None:
    """Replace how a perception was measured, as JSON text."""
    connection.execute(
        'UPDATE payloads SET metadata = ? WHERE memory_id = ?', (metadata, memory_id)
    )


def list_short_data(connection: apsw.Connection, ids: Iterable[int], most: int) -> dict[int, str]:
    """Return as JSON text what the perceptions among the ids measured, where it is short."""
    rows = connection.execute(
        'SELECT memory_id, data FROM payloads'
        ' WHERE memory_id IN (SELECT value FROM json_each(?)) AND length(data) <= ?',
        (json.dumps(list(ids)), most),
    )
    return {row[0]: row[1] for row in rows}

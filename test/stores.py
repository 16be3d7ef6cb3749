"""Stores in memory that hold given contexts, for tests of what leads to them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.records import Record
from robot_memory.storage import schema_runner
from robot_memory.storage.tables import memories

Row = tuple[Any, ...]


def store() -> apsw.Connection:
    """Return an empty store in memory."""
    connection = apsw.Connection(':memory:')
    schema_runner.create(connection)
    return connection


def keep(connection: apsw.Connection, context: dict[str, Any], at: int = 0, **fields: Any) -> int:
    """Keep a fact of a context, made at an instant in microseconds; return its id."""
    values = {'collection': 'default', 'content': 'a fact', **fields}
    record = Record(
        type='fact',
        category='observation',
        confidence=0.9,
        context=context,
        created_at=at,
        **values,
    )
    return memories.insert(connection, record, None)


def replace(connection: apsw.Connection, memory_id: int, context: dict[str, Any]) -> None:
    """Give a memory another context."""
    old = memories.get(connection, [memory_id])[memory_id]
    new = {**vars(old), 'context': context, 'updated_at': old.created_at + 1}
    memories.rewrite(connection, old, Record(**new), None, THE_STORE)


def index_rows(connection: apsw.Connection) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return what the indexes of facets and of places hold, by their paths' names."""
    facets = connection.execute(
        'SELECT path, value, memory_id FROM facets LEFT JOIN facet_paths AS p ON p.id = path_id'
        ' ORDER BY 1, 2, 3'
    )
    places = connection.execute(
        'SELECT collection, path, length, cell, memory_id FROM places'
        ' LEFT JOIN place_paths AS p ON p.id = path_id ORDER BY 1, 2, 3, 4, 5'
    )
    return list(facets), list(places)

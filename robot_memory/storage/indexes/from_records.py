"""What the index of vectors holds of memories, but for vectors: made of their rows, for a read."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import apsw

from robot_memory.core.records import is_simulated
from robot_memory.storage.indexes import fulltext, partitions
from robot_memory.storage.indexes.indexed import Row
from robot_memory.text import tokenizer


def fetch(connection: apsw.Connection, ids: Sequence[int]) -> list[Row]:
    """Return the rows that `indexed.fetch` would, without vectors."""
    rows: list[Any] = connection.execute(
        'SELECT id, type, collection, content, context FROM memories'
        " WHERE id IN (SELECT value FROM json_each(?)) AND status = 'active' ORDER BY id",
        (json.dumps(list(ids)),),
    ).fetchall()
    return [
        Row(
            memory_id,
            partitions.of(collection, type),
            is_simulated(json.loads(context)) == 0,
            fulltext.pack(connection, tokenizer.extract_terms(content)),
            None,
        )
        for memory_id, type, collection, content, context in rows
    ]


def sizes(connection: apsw.Connection) -> dict[str, int]:
    """Return how many active memories each partition holds, by counting them."""
    found: dict[str, int] = {}
    for collection, type, number in connection.execute(
        "SELECT collection, type, count(*) FROM memories WHERE status = 'active' GROUP BY 1, 2"
    ):
        name = partitions.of(collection, type)
        found[name] = found.get(name, 0) + number
    return found

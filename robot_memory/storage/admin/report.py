"""What the store holds, counted; it only reads."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import apsw

from robot_memory.storage.indexes import other_vectors, vectors
from robot_memory.storage.tables import audit, counts, parts, sizes
from robot_memory.storage.tables.meta import get_store_id


@dataclass(frozen=True)
class Report:
    """
    Say what a store holds; `active` counts memories by type, `bytes` includes the WAL.

    `vectors_of` is the first model, `other_models` are those whose vectors stand beside its.
    """

    store_id: str
    path: str
    bytes: int
    active: dict[str, int]
    invalidated: int
    superseded: int
    folded: int
    collections: dict[str, int]
    open_sessions: int
    ended_sessions: int
    parts: int
    part_bytes: int
    parts_removed: int
    waiting_for_vector: int
    vectors_of: str | None
    other_models: dict[str, dict[str, int]]
    audit_line: int
    audit_head: str


def report(connection: apsw.Connection, path: Path) -> Report:
    """Count what the store in the file `path` holds."""
    sessions = counts.sessions(connection)
    model = vectors.model_of(connection)
    kept, part_bytes, removed = parts.counts(connection)
    head = audit.get_head(connection)
    return Report(
        store_id=get_store_id(connection),
        path=str(path),
        bytes=counts.bytes_of(path),
        active=dict(counts.by_type(connection)),
        invalidated=counts.by_type(connection, 'invalidated').total(),
        superseded=counts.by_type(connection, 'superseded').total(),
        folded=sizes.count_folded(connection),
        collections=_counts(
            connection,
            'SELECT collection, count(*) FROM memories INDEXED BY memories_by_collection'
            " WHERE status = 'active' GROUP BY collection ORDER BY count(*) DESC, collection",
        ),
        open_sessions=sessions['open'],
        ended_sessions=sessions['ended'],
        parts=kept,
        part_bytes=part_bytes,
        parts_removed=removed,
        waiting_for_vector=vectors.count_missing(connection),
        vectors_of=model[0] if model else None,
        other_models={
            name: {'vectors': made, 'waiting': waiting}
            for name, (made, waiting) in other_vectors.count(connection).items()
        },
        audit_line=head.id,
        audit_head=head.chain,
    )


def _counts(connection: apsw.Connection, sql: str) -> dict[str, int]:
    """Return name and count of each row."""
    return {str(name): count for name, count in connection.execute(sql)}

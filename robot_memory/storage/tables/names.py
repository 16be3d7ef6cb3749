"""Names that memories bear, each once: found by stepping over an index, not by reading rows."""

from __future__ import annotations

import apsw


def list_actors(connection: apsw.Connection, after: str, limit: int) -> list[str]:
    """Return the actors of memories in order, those that come after one."""
    rows = connection.execute(
        'WITH RECURSIVE known (name) AS ('
        ' SELECT min(actor_id) FROM memories WHERE actor_id > ?1 UNION ALL'
        ' SELECT (SELECT min(actor_id) FROM memories WHERE actor_id > known.name)'
        ' FROM known WHERE known.name IS NOT NULL)'
        ' SELECT name FROM known WHERE name IS NOT NULL LIMIT ?2',
        (after, limit),
    )
    return [name for (name,) in rows]

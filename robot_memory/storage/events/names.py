"""Which names the newest events have: kinds, topics, tasks, robots."""

from __future__ import annotations

from typing import Any

import apsw

MOST = 10_000


def count_names(connection: apsw.Connection, column: str) -> dict[str, int]:
    """Return the values of a column of names among the newest `MOST` events, commonest first."""
    rows: list[Any] = connection.execute(
        f'SELECT n.name, count(*) FROM (SELECT {column} AS named FROM events WHERE active'
        f' ORDER BY id DESC LIMIT {MOST}) AS e JOIN event_names AS n ON n.id = e.named'
        ' GROUP BY n.id ORDER BY 2 DESC, 1'
    ).fetchall()
    return dict(rows)

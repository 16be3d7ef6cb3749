"""What was written after an audit line: kinds of new events, and memories that changed."""

from __future__ import annotations

from dataclasses import dataclass

import apsw

MOST = 1000
"""Changed memories that are named; of more only the latest are."""
NEWEST = 20_000
"""Memories that are looked at for a place: no index knows which have one."""


@dataclass(frozen=True)
class News:
    """
    Hold what was written up to an audit line, which is the last.

    `highest` is the highest id of a memory then. `kinds` are those of new events, sessions that
    began or ended included; `changed` are memories that were written or changed.
    """

    line: int
    highest: int
    kinds: frozenset[str]
    changed: frozenset[int]


def read_news(connection: apsw.Connection, since: News | None) -> News:
    """Return what was written after earlier news; after None nothing, but where the store is."""
    row = connection.execute(
        'SELECT id, last_memory_id FROM audit ORDER BY id DESC LIMIT 1'
    ).fetchone()
    last, newest = row or (0, 0)
    if since is None or last <= since.line:
        return News(last, newest, frozenset(), frozenset())
    kinds = {
        name
        for (name,) in connection.execute(
            'SELECT DISTINCT n.name FROM events AS e JOIN event_names AS n ON n.id = e.kind'
            ' WHERE e.id > ? AND e.id <= ?',
            (since.highest, newest),
        )
    }
    changed = set()
    for memory_id, action in connection.execute(
        f'SELECT memory_id, action FROM audit WHERE id > ? ORDER BY id DESC LIMIT {MOST}',
        (since.line,),
    ):
        if memory_id is not None:
            changed.add(memory_id)
        elif action.startswith('session_'):
            kinds.add('session')
    return News(last, newest, frozenset(kinds), frozenset(changed))


def find_newest(connection: apsw.Connection) -> int:
    """Return the highest id of a memory; 0: there is none."""
    row = connection.execute('SELECT max(id) FROM memories').fetchone()
    return (row and row[0]) or 0


def list_kept(connection: apsw.Connection, after: int, limit: int) -> list[int]:
    """Return the ids of memories that came after one, in the order in which they were kept."""
    rows = connection.execute(
        'SELECT id FROM memories WHERE id > ? ORDER BY id LIMIT ?', (after, limit)
    )
    return [memory_id for (memory_id,) in rows]


def list_placed(connection: apsw.Connection, limit: int) -> list[int]:
    """Return the ids of the newest active memories with a pose, among the newest 20,000."""
    rows = connection.execute(
        'SELECT id FROM (SELECT id, pose, status FROM memories ORDER BY id DESC LIMIT ?)'
        " WHERE pose IS NOT NULL AND status = 'active' LIMIT ?",
        (NEWEST, limit),
    )
    return [memory_id for (memory_id,) in rows]

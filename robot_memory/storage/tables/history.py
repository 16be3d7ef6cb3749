"""How far back the history goes, which audit line an instant is, and which change undo takes."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.storage import epochs
from robot_memory.storage.tables import folding, meta, revisions
from robot_memory.storage.tables.audit import CREATIONS, Line

_FROM = 'history_from'
_TIME = epochs.correct('at', 'epoch')
_LOCAL = 'epoch IS NOT NULL'
"""SQL of lines whose time is of a clock of this store."""


@dataclass(frozen=True)
class Horizon:
    """Name the first audit line at which the state is known, and when the next was written."""

    line: int
    at: int | None


def get_horizon(connection: apsw.Connection) -> Horizon:
    """Return how far back the history goes."""
    line = int(meta.get(connection, _FROM) or 0)
    found = connection.execute(
        f'SELECT {_TIME} FROM audit WHERE id > ? AND {_LOCAL} ORDER BY id LIMIT 1', (line,)
    ).fetchone()
    return Horizon(line, None if found is None else found[0])


def get_time(connection: apsw.Connection, line: int) -> int | None:
    """
    Return when an audit line was written, in microseconds; None where no clock here says so.

    Of a line that was removed as its memory was folded, when the one before it was.
    """
    row: Any = connection.execute(
        f'SELECT iif({_LOCAL}, {_TIME}, NULL) FROM audit WHERE id <= ? ORDER BY id DESC LIMIT 1',
        (line,),
    ).fetchone()
    return None if row is None else row[0]


def find_line(connection: apsw.Connection, instant: int) -> int:
    """Return the last line written by an instant; -1 where the history begins later."""
    line = _find_last(connection, instant)
    if line is not None:
        return line
    return -1 if get_horizon(connection).line else 0


def _find_last(connection: apsw.Connection, instant: int) -> int | None:
    row = connection.execute(
        f'SELECT id FROM audit WHERE {_LOCAL} AND {_TIME} <= ? ORDER BY id DESC LIMIT 1',
        (instant,),
    ).fetchone()
    return None if row is None else int(row[0])


def count_gone(connection: apsw.Connection, line: int, horizon: int) -> int:
    """Return how many memories, stored since the horizon, were there at a line and are not now."""
    marks = ', '.join('?' * len(CREATIONS))
    ((stored, first, last),) = connection.execute(
        "SELECT coalesce(sum(iif(action = 'detected', last_memory_id - memory_id + 1, 1)), 0),"
        ' min(memory_id), max(last_memory_id) FROM audit'
        f' WHERE id > ? AND id <= ? AND action IN ({marks})',
        (horizon, line, *CREATIONS),
    )
    ((there,),) = connection.execute(
        'SELECT count(*) FROM memories WHERE id BETWEEN ? AND ?', (first, last)
    )
    # Folded ones of which a line is left, as releases up to schema 14 did.
    ((audited,),) = connection.execute(
        f'SELECT count(*) FROM events AS e WHERE e.id BETWEEN ? AND ? AND {folding.IS_FOLDED}'
        f' AND EXISTS (SELECT 1 FROM audit WHERE memory_id = e.id AND action IN ({marks}))',
        (first, last, *CREATIONS),
    )
    return int(stored - there - audited) + _count_folded(connection, line, horizon)


def _count_folded(connection: apsw.Connection, line: int, horizon: int) -> int:
    """Return how many memories that were stored since the horizon were folded after a line."""
    highest = '(SELECT last_memory_id FROM audit WHERE id <= ? ORDER BY id DESC LIMIT 1)'
    ((number,),) = connection.execute(
        f'SELECT count(*) FROM events AS e WHERE e.id > coalesce({highest}, 0)'
        f' AND e.id <= {highest} AND {folding.IS_FOLDED} AND e.memory_id > {highest}',
        (horizon, line, line),
    )
    return int(number)


def pair_undone(lines: Sequence[Line], changes: Collection[int]) -> dict[int, int]:
    """
    Return which lines are undone, each with the line that undid it.

    Undo takes the newest change that stands, so each undo pairs with the nearest before it.
    `changes` are the lines that have a revision.
    """
    undoing: list[int] = []
    found: dict[int, int] = {}
    for line in reversed(lines):
        if line.action == 'undo':
            undoing.append(line.id)
        elif line.id in changes and undoing:
            found[line.id] = undoing.pop()
    return found


def find_later_on(
    connection: apsw.Connection, memory_id: int, line: int, before: dict[str, Any], hash: bytes
) -> int | None:
    """
    Return a memory that rests on a change of another, made by an audit line; None if none does.

    It is one that was merged into the changed memory since, or an active fact that was given the
    text of before, which the state `before` would repeat.
    """
    since = 'EXISTS (SELECT 1 FROM revisions AS r WHERE r.memory_id = m.id AND r.audit_id > ?1)'
    row = connection.execute(
        "SELECT id FROM memories AS m WHERE superseded_by = ?2 AND status = 'superseded'"
        f' AND {since} ORDER BY id LIMIT 1',
        (line, memory_id),
    ).fetchone()
    if row is None and before['status'] == 'active':
        row = connection.execute(
            'SELECT m.id FROM memories AS m JOIN memories AS changed ON changed.id = ?2'
            " WHERE m.content_hash = ?3 AND m.status = 'active' AND m.type = 'fact'"
            " AND changed.type = 'fact' AND m.collection = changed.collection"
            ' AND m.actor_id IS changed.actor_id AND m.id <> ?2 AND'
            f' (m.id > (SELECT last_memory_id FROM audit WHERE id = ?1) OR {since})'
            ' ORDER BY m.id LIMIT 1',
            (line, memory_id, hash),
        ).fetchone()
    return None if row is None else int(row[0])


def remove_before(connection: apsw.Connection, instant: int) -> int:
    """Remove the revisions that ended before an instant; return how many there were."""
    line = _find_last(connection, instant - 1)
    if line is None or line <= get_horizon(connection).line:
        return 0
    meta.put(connection, _FROM, line)
    return revisions.remove_until(connection, line)

"""Rows of sessions."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from robot_memory.core.errors import Conflict, NotFound
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.core.records import INHERITED, Session
from robot_memory.storage import epochs
from robot_memory.storage.tables import events

_COLUMNS = (
    'id collection context status created_at title tags metadata updated_at saved_at ended_at '
    'outcome_score'
).split()
_TIMES = {
    f'{name}_at': epochs.correct(f'{name}_at', f'{name}_epoch')
    for name in ('created', 'updated', 'saved', 'ended')
}
_SELECT = f'SELECT {", ".join(_TIMES.get(name, name) for name in _COLUMNS)} FROM sessions'
_OF_SOURCE = "(? = '' OR coalesce(json_extract(context, '$.robot.id'), ?) = ?)"
_OF = (
    '(?1 IS NULL OR collection = ?1 OR id IN'
    ' (SELECT session_id FROM memories WHERE collection = ?1))'
)
_CREATED, _UPDATED = _TIMES['created_at'], _TIMES['updated_at']


def insert(connection: apsw.Connection, session: Session, *, is_now: bool = True) -> None:
    """Insert a new session; `is_now`: its times are of the clock that the store is written by."""
    marks = ', '.join('?' * len(_COLUMNS))
    epoch = epochs.NEWEST if is_now else 'NULL'
    connection.execute(
        f'INSERT INTO sessions ({", ".join(_COLUMNS)}, created_epoch, updated_epoch, saved_epoch,'
        f' ended_epoch) VALUES ({marks}, {epoch}, {epoch}, {epoch}, {epoch})',
        (
            session.id,
            session.collection,
            dump_json(session.context),
            session.status,
            session.created_at,
            session.title,
            json.dumps(session.tags, ensure_ascii=False),
            dump_json(session.metadata, 'metadata'),
            session.updated_at or session.created_at,
            session.saved_at,
            session.ended_at,
            session.outcome_score,
        ),
    )
    events.insert_session(connection, session, is_now=is_now)


def get(connection: apsw.Connection, session_id: str) -> Session:
    """Return a session, or raise NotFound."""
    row = connection.execute(f'{_SELECT} WHERE id = ?', (session_id,)).fetchone()
    if row is None:
        raise NotFound(f'no session {format_value(session_id)}; start_session returns session ids')
    return _session(row)


def exists(connection: apsw.Connection, session_id: str) -> bool:
    """Say whether there is such a session."""
    row = connection.execute('SELECT 1 FROM sessions WHERE id = ?', (session_id,)).fetchone()
    return row is not None


def get_open(connection: apsw.Connection, session_id: str) -> Session:
    """Return an open session; raise NotFound, or Conflict where it has ended."""
    session = get(connection, session_id)
    if session.status != 'open':
        raise Conflict(
            f'session {format_value(session_id)} has already ended; nothing was changed'
        )
    return session


def find_open(connection: apsw.Connection, collection: str | None = None) -> Session | None:
    """Return the newest open session, of one collection or of all; None where none is open."""
    row = connection.execute(
        f"{_SELECT} INDEXED BY sessions_open WHERE status = 'open'"
        ' AND (?1 IS NULL OR collection = ?1)'
        ' ORDER BY created_epoch DESC, sessions.created_at DESC, id LIMIT 1',
        (collection,),
    ).fetchone()
    return None if row is None else _session(row)


def find_running(
    connection: apsw.Connection, source: str, since: int, at: int, *, is_open: bool
) -> Session | None:
    """
    Return the newest session that was open at an instant and begun since another one.

    Both are in microseconds. Of a `source` it is one whose robot has that id, or none; '' is of
    any robot. With `is_open` it is open still.
    """
    # Written out, the status leads to the index of the few that are open.
    status = "status = 'open'" if is_open else '1'
    row = connection.execute(
        f'{_SELECT} WHERE {status} AND {_CREATED} BETWEEN ? AND ?'
        f' AND coalesce({_TIMES["ended_at"]}, ?) >= ? AND {_OF_SOURCE}'
        f' ORDER BY {_CREATED} DESC, id LIMIT 1',
        (since, at, at, at, source, source, source),
    ).fetchone()
    return None if row is None else _session(row)


def find_last_end(connection: apsw.Connection, source: str, at: int) -> int:
    """Return when the last session of a source ended by an instant; 0 where none did."""
    ((last,),) = connection.execute(
        f'SELECT coalesce(max({_TIMES["ended_at"]}), 0) FROM sessions'
        f' WHERE {_TIMES["ended_at"]} <= ? AND {_OF_SOURCE}',
        (at, source, source, source),
    )
    return int(last)


def list_recent(connection: apsw.Connection, limit: int) -> list[Session]:
    """Return the sessions that changed last, the latest first."""
    rows = connection.execute(f'{_SELECT} ORDER BY {_UPDATED} DESC, id LIMIT ?', (limit,))
    return [_session(row) for row in rows]


def read_all(connection: apsw.Connection, collection: str | None) -> Iterator[Session]:
    """Give all sessions, the oldest first; of a collection, or that its memories are of."""
    rows = connection.execute(f'{_SELECT} WHERE {_OF} ORDER BY {_CREATED}, id', (collection,))
    return map(_session, rows)


def count(connection: apsw.Connection, collection: str | None) -> int:
    """Return how many sessions there are; of a collection, or that its memories are of."""
    ((found,),) = connection.execute(f'SELECT count(*) FROM sessions WHERE {_OF}', (collection,))
    return int(found)


def list_titles(
    connection: apsw.Connection, collection: str, limit: int
) -> list[tuple[str, str, str]]:
    """Return the id, title and surroundings of the newest sessions of a collection."""
    rows = connection.execute(
        "SELECT id, title, coalesce(json_extract(context, '$.env.name'), ''),"
        " coalesce(json_extract(context, '$.env.location'), '') FROM sessions"
        f' WHERE collection = ? ORDER BY {_CREATED} DESC, id LIMIT ?',
        (collection, limit),
    )
    return [(row[0], row[1] or '', f'{row[2]} {row[3]}'.strip()) for row in rows]


def list_started(connection: apsw.Connection, start: int, end: int, limit: int) -> list[Session]:
    """Return the newest sessions begun in a span, in microseconds; the oldest of them first."""
    rows = connection.execute(
        f'{_SELECT} WHERE {_CREATED} BETWEEN ? AND ? ORDER BY {_CREATED} DESC, id LIMIT ?',
        (start, end, limit),
    )
    return [_session(row) for row in rows][::-1]


def list_active(connection: apsw.Connection, start: int, end: int, limit: int) -> list[Session]:
    """Return the sessions that something was done in within a span, the latest first."""
    rows = connection.execute(
        f'{_SELECT} WHERE {_CREATED} <= ? AND {_UPDATED} >= ?'
        f' ORDER BY {_UPDATED} DESC, id LIMIT ?',
        (end, start, limit),
    )
    return [_session(row) for row in rows]


def list_rated(connection: apsw.Connection, low: float, high: float) -> list[str]:
    """Return the ids of the sessions whose outcome score is from `low` up to under `high`."""
    rows = connection.execute(
        'SELECT id FROM sessions WHERE outcome_score >= ? AND outcome_score < ? ORDER BY id',
        (low, high),
    )
    return [session_id for (session_id,) in rows]


def list_named(connection: apsw.Connection) -> list[Session]:
    """Return the sessions that have a title, tags or metadata."""
    rows = connection.execute(f"{_SELECT} WHERE title <> '' OR tags <> '[]' OR metadata <> '{{}}'")
    return [_session(row) for row in rows]


def inherit(
    connection: apsw.Connection, session_id: str | None, context: dict[str, object]
) -> dict[str, object]:
    """Return a memory's context with the partitions of its session that it does not set."""
    if session_id is None:
        return context
    session = get(connection, session_id)
    inherited = {key: session.context[key] for key in INHERITED if key in session.context}
    return {**inherited, **context}


def update(connection: apsw.Connection, session: Session) -> None:
    """Update the title, tags, metadata and times of a session."""
    connection.execute(
        'UPDATE sessions SET title = ?, tags = ?, metadata = ?, updated_at = ?, saved_at = ?,'
        f' updated_epoch = {epochs.NEWEST}, saved_epoch = {epochs.NEWEST} WHERE id = ?',
        (
            session.title,
            json.dumps(session.tags, ensure_ascii=False),
            dump_json(session.metadata, 'metadata'),
            session.updated_at,
            session.saved_at,
            session.id,
        ),
    )


def end(
    connection: apsw.Connection, session_id: str, outcome_score: float | None, at: int
) -> None:
    """Mark a session as ended."""
    connection.execute(
        "UPDATE sessions SET status = 'ended', outcome_score = ?, ended_at = ?, updated_at = ?,"
        f' updated_epoch = {epochs.NEWEST}, ended_epoch = {epochs.NEWEST} WHERE id = ?',
        (outcome_score, at, at, session_id),
    )
    events.end_session(connection, session_id, at)


def _session(row: Sequence[Any]) -> Session:
    values = dict(zip(_COLUMNS, row, strict=True))
    for name in ('context', 'tags', 'metadata'):
        values[name] = json.loads(values[name])
    values['tags'] = tuple(values['tags'])
    return Session(**values)

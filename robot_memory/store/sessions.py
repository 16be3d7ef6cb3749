"""Rows of sessions."""

from __future__ import annotations

import json

import apsw

from robot_memory.errors import Conflict, NotFound
from robot_memory.json_text import dump_json, shown
from robot_memory.model import INHERITED, Session


def insert(connection: apsw.Connection, session: Session) -> None:
    """Keep a new session."""
    connection.execute(
        'INSERT INTO sessions (id, collection, context, status, created_at)'
        ' VALUES (?, ?, ?, ?, ?)',
        (
            session.id,
            session.collection,
            dump_json(session.context),
            session.status,
            session.created_at,
        ),
    )


def get(connection: apsw.Connection, session_id: str) -> Session:
    """Return a session, or raise NotFound."""
    row = connection.execute(
        'SELECT id, collection, context, status, created_at FROM sessions WHERE id = ?',
        (session_id,),
    ).fetchone()
    if row is None:
        raise NotFound(
            f'there is no session {shown(session_id)}; start_session returns the id to use'
        )
    return Session(row[0], row[1], json.loads(row[2]), row[3], row[4])


def get_open(connection: apsw.Connection, session_id: str) -> Session:
    """Return an open session; raise NotFound, or Conflict where it has ended."""
    session = get(connection, session_id)
    if session.status != 'open':
        raise Conflict(f'session {shown(session_id)} has ended already; nothing was changed')
    return session


def inherit(
    connection: apsw.Connection, session_id: str | None, context: dict[str, object]
) -> dict[str, object]:
    """Return a memory's context with the partitions of its session that it does not set."""
    if session_id is None:
        return context
    session = get(connection, session_id)
    inherited = {key: session.context[key] for key in INHERITED if key in session.context}
    return {**inherited, **context}


def end(
    connection: apsw.Connection, session_id: str, outcome_score: float | None, at: int
) -> None:
    """Mark a session as ended."""
    connection.execute(
        "UPDATE sessions SET status = 'ended', outcome_score = ?, ended_at = ? WHERE id = ?",
        (outcome_score, at, session_id),
    )

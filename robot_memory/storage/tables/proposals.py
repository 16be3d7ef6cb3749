"""Rows of proposals: changes that a lower authority asked for, for an operator to decide."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, NotFound
from robot_memory.core.json_text import dump_json
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers

_SELECT = (
    'SELECT p.id, p.memory_id, p.action, p.content, p.context, p.reason, p.at, p.state,'
    ' p.replacing_id,'
    f' {writers.COLUMNS}'
    ' FROM proposals AS p JOIN writers AS w ON w.id = p.writer_id'
)


@dataclass(frozen=True)
class Proposal:
    """
    Hold an update, a forgetting or a replacement that was asked for; `at` is in microseconds.

    Of an update, `content` is the new text and `context` the new context; None keeps the old. Of
    a replacement, `content` is the text of the memory `replacing_id`, which would stand first.
    """

    id: int
    memory_id: int
    action: str
    content: str | None
    context: dict[str, Any] | None
    reason: str
    at: int
    state: str
    replacing_id: int | None
    writer: Writer


def insert(
    connection: apsw.Connection,
    memory_id: int,
    action: str,
    writer: Writer,
    at: int,
    *,
    content: str | None = None,
    context: Mapping[str, Any] | None = None,
    reason: str = '',
    replacing_id: int | None = None,
) -> int:
    """Insert a proposal; return its id, or that of the same one that is open."""
    text = dump_json(dict(context), 'context') if context else None
    writer_id = writers.get_id(connection, writer)
    row = connection.execute(
        "SELECT id FROM proposals WHERE memory_id = ? AND action = ? AND state = 'open'"
        ' AND writer_id = ? AND content IS ? AND context IS ? AND replacing_id IS ?',
        (memory_id, action, writer_id, content, text, replacing_id),
    ).fetchone()
    if row is not None:
        return int(row[0])
    connection.execute(
        'INSERT INTO proposals (memory_id, action, content, context, reason, writer_id, at,'
        f' replacing_id, epoch) VALUES (?, ?, ?, ?, ?, ?, ?, ?, {epochs.NEWEST})',
        (memory_id, action, content, text, reason, writer_id, at, replacing_id),
    )
    return connection.last_insert_rowid()


def list_open(connection: apsw.Connection, limit: int) -> list[Proposal]:
    """Return the open proposals, oldest first."""
    rows = connection.execute(f"{_SELECT} WHERE p.state = 'open' ORDER BY p.id LIMIT ?", (limit,))
    return [_make_proposal(row) for row in rows]


def count_open(connection: apsw.Connection) -> int:
    """Return the number of open proposals."""
    ((number,),) = connection.execute("SELECT count(*) FROM proposals WHERE state = 'open'")
    return int(number)


def get_open(connection: apsw.Connection, proposal_id: int) -> Proposal:
    """Return an open proposal; raise NotFound, or Conflict where it is decided."""
    row = connection.execute(f'{_SELECT} WHERE p.id = ?', (proposal_id,)).fetchone()
    if row is None:
        raise NotFound(f'no proposal {proposal_id}; review lists the open ones')
    proposal = _make_proposal(row)
    if proposal.state != 'open':
        raise Conflict(f'proposal {proposal_id} is already {proposal.state}; nothing was changed')
    return proposal


def decide(
    connection: apsw.Connection, proposal_id: int, state: str, writer: Writer, at: int
) -> None:
    """Set an open proposal to accepted or rejected."""
    connection.execute(
        'UPDATE proposals SET state = ?, decided_by = ?, decided_at = ?,'
        f' decided_epoch = {epochs.NEWEST} WHERE id = ?',
        (state, writers.get_id(connection, writer), at, proposal_id),
    )


def _make_proposal(row: Sequence[Any]) -> Proposal:
    number, memory_id, action, content, context, reason, at, state, replacing_id, *writer = row
    return Proposal(
        number,
        memory_id,
        action,
        content,
        None if context is None else json.loads(context),
        reason,
        at,
        state,
        replacing_id,
        Writer(*writer),
    )

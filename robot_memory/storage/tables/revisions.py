"""
Rows of revisions: the state of a memory before each change.

At audit line S a memory is its revision with the smallest `audit_id` above S, or its row where
there is none.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_ascii
from robot_memory.storage.tables import audit, protected_changes

DIGESTED = (
    'content actor_id category tags scope_files context strategy_name status superseded_by '
    'authority stands writer_id updated_at updated_epoch'
).split()
"""The columns whose values an audit line digests."""
STATE = [*DIGESTED, 'confidence', 'confidence_base', 'last_accessed', 'accessed_epoch']
"""The columns of memories that a revision keeps, the salt aside."""
_NAMES = ', '.join(STATE)
_READ = f'SELECT {_NAMES}, salt FROM memories WHERE id = ?'
_INSERT = (
    f'INSERT INTO revisions (memory_id, audit_id, {_NAMES}, salt)'
    f' VALUES ({", ".join("?" * (len(STATE) + 3))})'
)


def digest_state(salt: bytes, values: Sequence[Any]) -> bytes:
    """Return the digest of a salt and the values of the columns `DIGESTED`."""
    return hashlib.sha256(salt + dump_ascii(values).encode()).digest()


def seal(connection: apsw.Connection, memory_id: int) -> bytes:
    """Give the present state of a memory a salt of its own; return the digest of both."""
    salt = audit.make_salt()
    (values,) = connection.execute(
        f'UPDATE memories SET salt = ? WHERE id = ? RETURNING {", ".join(DIGESTED)}',
        (salt, memory_id),
    )
    return digest_state(salt, values)


@contextmanager
def changing(
    connection: apsw.Connection,
    memory_id: int,
    action: str,
    writer: Writer,
    reason: str,
    detail: dict[str, Any],
    at: int,
) -> Iterator[None]:
    """Keep the state of a memory from before the block, and append the audit line of its end."""
    (before,) = connection.execute(_READ, (memory_id,))
    yield
    digest = seal(connection, memory_id)
    line = audit.record(connection, memory_id, action, writer, reason, detail, at, digest=digest)
    connection.execute(_INSERT, (memory_id, line, *before))
    state = dict(zip(STATE, before, strict=False))
    content, category = state['content'], state['category']
    protected_changes.record(connection, memory_id, action, content, category, writer, at)


def get(connection: apsw.Connection, audit_id: int, memory_id: int) -> dict[str, Any] | None:
    """Return the state of a memory before an audit line, as its columns have it."""
    row = connection.execute(
        f'SELECT {_NAMES} FROM revisions WHERE audit_id = ? AND memory_id = ?',
        (audit_id, memory_id),
    ).fetchone()
    return None if row is None else dict(zip(STATE, row, strict=True))


def read(connection: apsw.Connection, memory_id: int) -> list[tuple[int, dict[str, Any]]]:
    """Return the states of a memory, each with the audit line that ended it, oldest first."""
    rows = connection.execute(
        f'SELECT audit_id, {_NAMES} FROM revisions WHERE memory_id = ? ORDER BY audit_id',
        (memory_id,),
    )
    return [(row[0], dict(zip(STATE, row[1:], strict=True))) for row in rows]


def remove_until(connection: apsw.Connection, audit_id: int) -> int:
    """Remove the revisions that audit lines up to one made; return how many there were."""
    connection.execute('DELETE FROM revisions WHERE audit_id <= ?', (audit_id,))
    return connection.changes()


def insert_imported(
    connection: apsw.Connection, memory_id: int, audit_id: int, state: dict[str, Any]
) -> None:
    """Keep the state before an audit line of another store; authority is that of the memory."""
    names = ', '.join(state)
    connection.execute(
        f'INSERT INTO revisions (memory_id, audit_id, {names}, authority, stands, writer_id)'
        f' SELECT id, ?, {", ".join("?" * len(state))}, authority, stands, writer_id'
        ' FROM memories WHERE id = ?',
        (audit_id, *state.values(), memory_id),
    )

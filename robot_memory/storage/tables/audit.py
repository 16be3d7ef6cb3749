"""
Rows of the audit: who wrote what, when and why, a line each, chained by SHA-256.

A line holds no text of a memory, but `digest`, of what it wrote and of a salt that lies with the
row, and `note`, of its reason, its detail and its own salt. `chain` covers the chain of the line
before and every other column, so that a line cannot be changed, removed or inserted unnoticed,
and what is erased together with its salt leaves the chain whole.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.storage import epochs
from robot_memory.storage.tables import writers

CREATIONS = ('created', 'detected', 'imported')
"""Actions of lines that tell of new memories: from `memory_id` to `last_memory_id`."""
DECISIONS = ('observed', 'proposed', 'accepted', 'rejected', 'confirmed')
"""Actions of lines that leave the text of a memory as it is."""
_INTERNAL = (*CREATIONS, *DECISIONS, 'linked')
_SALT_BYTES = 16
_EPOCH = epochs.NEWEST
_AT = epochs.correct('at', 'epoch')
_WRITER = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Head:
    """Name the last line of the audit: its id, 0 where there is none, and its chain in hex."""

    id: int
    chain: str


def record(
    connection: apsw.Connection,
    memory_id: int | None,
    action: str,
    writer: Writer,
    reason: str,
    detail: dict[str, Any],
    at: int,
    *,
    digest: bytes | None = None,
    is_now: bool = True,
) -> int:
    """
    Append a line and return its id; `at` is in microseconds.

    `memory_id` is None where it is of no memory, `digest` that of what was written. A line that
    was not written by a clock of this store (`is_now` False) has no epoch.
    """
    # Not dump_json: a detail holds what a memory had, each as large and deep as that may be.
    text = json.dumps(detail, ensure_ascii=False, separators=(',', ':'), sort_keys=True)
    line, before, highest, newest = _find_last(connection)
    epoch = newest if is_now else None
    writer_id = writers.get_id(connection, writer)
    salt = make_salt()
    note = digest_note(salt, reason.encode(), text.encode())
    highest = max(highest, memory_id or 0)
    fields = (memory_id, highest, action, writer.label)
    chain = extend_chain(before, (line + 1, *fields, writer.names, at, epoch, digest, note))
    connection.execute(
        'INSERT INTO audit (id, memory_id, last_memory_id, action, actor, reason, detail, at,'
        ' epoch, writer_id, digest, salt, note, chain)'
        ' VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (line + 1, *fields, reason, text, at, epoch, writer_id, digest, salt, note, chain),
    )
    return line + 1


def _find_last(connection: apsw.Connection) -> tuple[int, bytes, int, int]:
    """Return id and chain of the last line, the highest id of a memory then, and the epoch."""
    row = connection.execute(
        f'SELECT id, chain, last_memory_id, {_EPOCH} FROM audit ORDER BY id DESC LIMIT 1'
    ).fetchone()
    if row is not None:
        return row[0], row[1], row[2], row[3]
    ((highest, epoch),) = connection.execute(
        f'SELECT (SELECT coalesce(max(id), 0) FROM memories), {_EPOCH}'
    )
    return 0, b'', highest, epoch


def make_salt() -> bytes:
    """Return a new salt."""
    return secrets.token_bytes(_SALT_BYTES)


def digest_note(salt: bytes, *texts: bytes) -> bytes:
    """Return the digest of texts and a salt; the lengths tell where each text ends."""
    parts = (len(text).to_bytes(8, 'big') + text for text in texts)
    return hashlib.sha256(salt + b''.join(parts)).digest()


def extend_chain(before: bytes, columns: Sequence[Any]) -> bytes:
    """Return the chain of a line by that of the line before and the line's columns."""
    plain = [column.hex() if isinstance(column, bytes) else column for column in columns]
    text = json.dumps(plain, separators=(',', ':'))
    return hashlib.sha256(before + text.encode()).digest()


def forget_texts(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Remove salts, reasons and details of the lines of memories that go; the chain stays."""
    connection.executemany(
        "UPDATE audit SET salt = NULL, reason = '', detail = '{}' WHERE memory_id = ?",
        [(memory_id,) for memory_id in ids],
    )


@dataclass(frozen=True)
class Line:
    """Hold what a line says; `at` is in microseconds, `authority` that of the writer, if known."""

    id: int
    action: str
    actor: str
    reason: str
    detail: dict[str, Any]
    at: int
    authority: str | None


def read_lines(connection: apsw.Connection, memory_id: int) -> list[Line]:
    """Return the lines of a memory, oldest first."""
    rows = connection.execute(
        f'SELECT a.id, action, a.actor, reason, detail, {_AT}, authority FROM audit AS a'
        ' LEFT JOIN writers AS w ON w.id = a.writer_id WHERE memory_id = ? ORDER BY a.id',
        (memory_id,),
    )
    return [
        Line(line, action, actor, reason, json.loads(detail), at, authority)
        for line, action, actor, reason, detail, at, authority in rows
    ]


def read_changes(connection: apsw.Connection, memory_id: int) -> list[Line]:
    """Return the lines of what was done to a memory since it was stored, oldest first."""
    lines = read_lines(connection, memory_id)
    return [line for line in lines if line.action not in _INTERNAL]


def read_trail(connection: apsw.Connection, memory_id: int) -> list[dict[str, Any]]:
    """Return what was done to a memory since it was stored, with the texts of before."""
    rows: list[Any] = connection.execute(
        'SELECT audit_id, content, context FROM revisions WHERE memory_id = ?', (memory_id,)
    ).fetchall()
    before = {row[0]: {'old_content': row[1], 'old_context': json.loads(row[2])} for row in rows}
    trail = []
    for line in read_changes(connection, memory_id):
        texts = before.get(line.id, {}) if line.action == 'update' else {}
        values = {name: getattr(line, name) for name in ('action', 'actor', 'reason', 'at')}
        trail.append({**values, 'detail': {**line.detail, **texts}})
    return trail


def get_head(connection: apsw.Connection) -> Head:
    """Return the last line."""
    row = connection.execute('SELECT id, chain FROM audit ORDER BY id DESC LIMIT 1').fetchone()
    return Head(0, '') if row is None else Head(row[0], row[1].hex())

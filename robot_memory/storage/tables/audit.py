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
from dataclasses import dataclass, replace
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_ascii
from robot_memory.core.ranges import find_ranges, read_ranges
from robot_memory.storage import epochs, remembered
from robot_memory.storage.tables import meta, writers

CREATIONS = ('created', 'detected', 'imported')
"""Actions of lines that tell of new memories: from `memory_id` to `last_memory_id`."""
FOLDED = 'folded'
"""The action of a line that stands for those of the memories that one transaction folded."""
REMOVED = 'payload_removed'
"""The action of a line that tells which memories lost signals and images."""
DECISIONS = ('observed', 'proposed', 'accepted', 'rejected', 'confirmed')
"""Actions of lines that leave the text of a memory as it is."""
_INTERNAL = (*CREATIONS, *DECISIONS, 'linked')
CHECKPOINT = 'audit_checkpoint'
BACKUP = 'audit_backup'
"""The facts about the store that name, as JSON, the last verified line and that of a backup."""
_KEPT = 'audit_heads'
_RANGES = ('ids', 'lines', 'digests')
"""What the detail of a line of several memories lists."""
_SALT_BYTES = 16
_TABLE = 'audit'
_DETAIL = json.JSONEncoder(ensure_ascii=False, separators=(',', ':'), sort_keys=True)
_EPOCH = epochs.NEWEST
_AT = epochs.correct('at', 'epoch')
_WRITER = tuple[str, str, str, str, str]


@dataclass(frozen=True)
class Head:
    """Name the last line of the audit: its id, 0 where there is none, and its chain in hex."""

    id: int
    chain: str


@dataclass(frozen=True)
class Gap:
    """Name the first and the last of lines that were removed, and the chain behind them."""

    first: int
    last: int
    chain: bytes


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
    writer_id: int | None = None,
) -> int:
    """
    Append a line and return its id; `at` is in microseconds.

    `memory_id` is None where it is of no memory, `digest` that of what was written. A line that
    was not written by a clock of this store (`is_now` False) has no epoch. `writer_id` is that of
    the writer's row where the caller knows it.
    """
    # Not dump_json: a detail holds what a memory had, each as large and deep as that may be.
    text = _DETAIL.encode(detail) if detail else '{}'
    line, before, highest, newest = _find_last(connection)
    epoch = newest if is_now else None
    if writer_id is None:
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
    remembered.note(_TABLE, '', (line + 1, chain, highest, newest))
    return line + 1


def _find_last(connection: apsw.Connection) -> tuple[int, bytes, int, int]:
    """Return id and chain of the last line, the highest id of a memory then, and the epoch."""
    known: tuple[int, bytes, int, int] | None = remembered.get(_TABLE, '')
    if known is not None:
        return known
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
    text = dump_ascii(plain)
    return hashlib.sha256(before + text.encode()).digest()


def forget_texts(connection: apsw.Connection, ids: Sequence[int]) -> None:
    """Remove salts, reasons and details of the lines of memories that go; the chain stays."""
    connection.executemany(
        "UPDATE audit SET salt = NULL, reason = '', detail = '{}' WHERE memory_id = ?",
        [(memory_id,) for memory_id in ids],
    )


def find_lines(connection: apsw.Connection, ids: Sequence[int]) -> list[int]:
    """Return the lines that are of some memories alone, ascending; those that are kept aside."""
    rows = connection.execute(
        'SELECT id FROM audit WHERE memory_id IN (SELECT value FROM json_each(?))'
        " AND (action <> 'detected' OR last_memory_id = memory_id)"
        ' AND id NOT IN (SELECT value FROM json_each(?))'
        " AND id NOT IN (SELECT value ->> '$.id' FROM meta WHERE key IN (?, ?)) ORDER BY id",
        (json.dumps(list(ids)), _get_kept(connection), CHECKPOINT, BACKUP),
    )
    return [row[0] for row in rows]


def has_line(connection: apsw.Connection, line: int) -> bool:
    """Say whether a line is there."""
    ((found,),) = connection.execute('SELECT EXISTS (SELECT 1 FROM audit WHERE id = ?)', (line,))
    return bool(found)


def keep_line(connection: apsw.Connection, line: int) -> None:
    """Note a line as one whose head was given out: folding does not remove it."""
    kept = {*json.loads(_get_kept(connection)), line}
    meta.put(connection, _KEPT, json.dumps(sorted(kept)))


def _get_kept(connection: apsw.Connection) -> str:
    """Return as JSON the lines whose heads were given out."""
    return str(meta.get(connection, _KEPT) or '[]')


def remove_lines(connection: apsw.Connection, lines: Sequence[int]) -> None:
    """
    Remove lines that a later one tells of, and enter how the chain goes on behind them.

    The last line of the audit must not be among them.
    """
    for first, last in find_ranges(lines):
        ((chain,),) = connection.execute('SELECT chain FROM audit WHERE id = ?', (last,))
        gap = Gap(first, last, chain)
        before, after = find_gap(connection, first - 1), find_gap(connection, last + 1)
        if before is not None:
            gap = replace(gap, first=before.first)
        if after is not None:
            gap = replace(after, first=gap.first)
            connection.execute('DELETE FROM audit_gaps WHERE first = ?', (last + 1,))
        put_gap(connection, gap)
        connection.execute('DELETE FROM audit WHERE id BETWEEN ? AND ?', (first, last))


def put_gap(connection: apsw.Connection, gap: Gap) -> None:
    """Enter how the chain goes on behind lines that are not there."""
    connection.execute(
        'INSERT OR REPLACE INTO audit_gaps (first, last, chain) VALUES (?, ?, ?)',
        (gap.first, gap.last, gap.chain),
    )


def find_gap(connection: apsw.Connection, line: int) -> Gap | None:
    """Return the gap that a removed line lies in."""
    row: Any = connection.execute(
        'SELECT first, last, chain FROM audit_gaps WHERE first <= ? ORDER BY first DESC LIMIT 1',
        (line,),
    ).fetchone()
    return Gap(*row) if row is not None and line <= row[1] else None


def find_folding(connection: apsw.Connection, digest: int) -> int | None:
    """Return the line of the transaction that folded into a digest."""
    row: Any = connection.execute(
        'SELECT id FROM audit WHERE memory_id IS NULL AND action = ? AND id >'
        ' (SELECT min(id) FROM audit WHERE memory_id = ?) ORDER BY id LIMIT 1',
        (FOLDED, digest),
    ).fetchone()
    return None if row is None else row[0]


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
    removals = connection.execute(
        'SELECT a.id, detail FROM parts AS p CROSS JOIN audit AS a'
        f" ON a.at = p.removed_at AND a.action = '{REMOVED}' AND a.memory_id IS NULL"
        ' WHERE p.memory_id = ?',
        (memory_id,),
    )
    lines = {
        line
        for line, detail in removals
        if any(low <= memory_id <= high for low, high in read_ranges(json.loads(detail)['ids']))
    }
    return _read_lines(
        connection,
        'memory_id = ? OR a.id IN (SELECT value FROM json_each(?))',
        memory_id,
        json.dumps(sorted(lines)),
    )


def read_line(connection: apsw.Connection, line: int) -> Line:
    """Return a line by its id."""
    (found,) = _read_lines(connection, 'a.id = ?', line)
    return found


def _read_lines(connection: apsw.Connection, where: str, *values: Any) -> list[Line]:
    """Return lines, oldest first; what one says of several memories without the ids."""
    rows = connection.execute(
        f'SELECT a.id, action, a.actor, reason, detail, {_AT}, authority, memory_id'
        f' FROM audit AS a LEFT JOIN writers AS w ON w.id = a.writer_id WHERE {where}'
        ' ORDER BY a.id',
        values,
    )
    found = []
    for line, action, actor, reason, text, at, authority, memory_id in rows:
        detail = json.loads(text)
        if memory_id is None:
            detail = {name: detail[name] for name in detail if name not in _RANGES}
        found.append(Line(line, action, actor, reason, detail, at, authority))
    return found


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


def find_last(connection: apsw.Connection, instant: int) -> tuple[int, int]:
    """
    Return the last line before an instant, and the highest id of a memory then; 0 where none is.

    It is looked up by bisection: about right where a clock went back.
    """
    low, high, highest = 0, get_head(connection).id, 0
    while low < high:
        middle = (low + high + 1) // 2
        row: Any = connection.execute(
            f'SELECT id, last_memory_id, {_AT} FROM audit WHERE id <= ? ORDER BY id DESC LIMIT 1',
            (middle,),
        ).fetchone()
        if row is not None and row[2] < instant:
            low, highest = middle, row[1]
        else:
            high = middle - 1
    return low, highest


def get_head(connection: apsw.Connection) -> Head:
    """Return the last line."""
    row = connection.execute('SELECT id, chain FROM audit ORDER BY id DESC LIMIT 1').fetchone()
    return Head(0, '') if row is None else Head(row[0], row[1].hex())

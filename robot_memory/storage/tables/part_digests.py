"""
Digests of payload parts: whether the bytes that are read are those that were stored.

They find what checksums of pages cannot: pages that changed places, and what another program
wrote. A part of an earlier release has none until it is checked for the first time in the
background.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import apsw

MISMATCH = 'its bytes are not those that were stored: their digest does not match'
UNREADABLE = 'its bytes lie on a damaged page'
LOST = 'its bytes were lost by damage'
_KEPT = "typeof(content) <> 'null'"
"""Says whether bytes are there without reading them."""
_BATCH = 100


@dataclass(frozen=True)
class CheckedPart:
    """
    Say of the bytes of a part whether they are those that were stored.

    `damage` says why not, and is empty where they are. `digest` is theirs where they can be read;
    `is_new` of a part that had none to compare with.
    """

    id: int
    memory_id: int
    name: str
    size: int
    damage: str
    digest: bytes | None = None
    is_new: bool = False

    def __str__(self) -> str:
        """Name it in words, with its damage."""
        return f'part {self.name} of memory {self.memory_id}: {self.damage}'


def put(connection: apsw.Connection, part_id: int, content: bytes) -> None:
    """Keep the digest of the bytes of a part that is stored."""
    connection.execute(
        'INSERT INTO part_digests (part_id, digest) VALUES (?, ?)', (part_id, _compute(content))
    )


def read_content(connection: apsw.Connection, part_id: int) -> tuple[bytes | None, str]:
    """
    Return the bytes of a part and '', or None and why they cannot be had where they are damaged.

    A read transaction that an unreadable page ended is begun anew.
    """
    content, damage = _read_bytes(connection, part_id)
    if content is not None:
        digest, _ = _read_digest(connection, part_id)
        if digest is not None and _compute(content) != digest:
            return None, MISMATCH
    return content, damage


def check(connection: apsw.Connection, after: int = 0, count: int = -1) -> Iterator[CheckedPart]:
    """Check parts whose bytes are kept, by their ids beyond one, so many; -1: all of them."""
    rows = _list_kept(connection, after, count)
    while rows:
        for row in rows:
            yield _check(connection, *row)
        rows = _list_kept(connection, rows[-1][0], count) if count < 0 else []


def _list_kept(
    connection: apsw.Connection, after: int, count: int
) -> list[tuple[int, int, str, int]]:
    rows: list[Any] = connection.execute(
        'SELECT id, memory_id, name, size FROM parts'
        f' WHERE id > ? AND {_KEPT} ORDER BY id LIMIT ?',
        (after, _BATCH if count < 0 else count),
    ).fetchall()
    return rows


def _check(
    connection: apsw.Connection, part_id: int, memory_id: int, name: str, size: int
) -> CheckedPart:
    content, damage = _read_bytes(connection, part_id)
    if content is None:
        return CheckedPart(part_id, memory_id, name, size, damage)
    known, is_readable = _read_digest(connection, part_id)
    found = _compute(content)
    damage = MISMATCH if known is not None and known != found else ''
    is_new = is_readable and known is None
    return CheckedPart(part_id, memory_id, name, size, damage, found, is_new)


def add(connection: apsw.Connection, checked: CheckedPart) -> None:
    """Keep the digest of a part that had none, unless its bytes went meanwhile."""
    connection.execute(
        'INSERT OR IGNORE INTO part_digests (part_id, digest)'
        f' SELECT id, ? FROM parts WHERE id = ? AND {_KEPT}',
        (checked.digest, checked.id),
    )


def _read_bytes(connection: apsw.Connection, part_id: int) -> tuple[bytes | None, str]:
    """Return the bytes of a part, or why they cannot be read."""
    sql = 'SELECT content FROM parts WHERE id = ?'
    found, is_readable = _read_value(connection, sql, part_id)
    return found, '' if is_readable else UNREADABLE


def _read_digest(connection: apsw.Connection, part_id: int) -> tuple[bytes | None, bool]:
    """Return the digest of a part, None where it has none, and whether that can be read."""
    return _read_value(connection, 'SELECT digest FROM part_digests WHERE part_id = ?', part_id)


def _read_value(connection: apsw.Connection, sql: str, part_id: int) -> tuple[bytes | None, bool]:
    was_reading = connection.in_transaction
    try:
        row: Any = connection.execute(sql, (part_id,)).fetchone()
    except (apsw.IOError, apsw.CorruptError) as error:
        if not _is_damage(error) or connection.txn_state('main') == apsw.SQLITE_TXN_WRITE:
            raise
        if was_reading and not connection.in_transaction:
            connection.execute('BEGIN')
        return None, False
    return (row[0] if row else None), True


def _is_damage(error: apsw.Error) -> bool:
    """Say whether a page is wrong, rather than that the disk failed."""
    code = getattr(error, 'extendedresult', 0)
    return isinstance(error, apsw.CorruptError) or code == apsw.SQLITE_IOERR_DATA


def _compute(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()

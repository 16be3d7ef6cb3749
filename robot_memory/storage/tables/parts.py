"""Parts of payloads: signals and pictures as bytes, and the limit on the store's size."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.ranges import write_ranges
from robot_memory.storage.tables import audit, part_digests, sizes

PACKED = 'application/zlib'
"""Media type of data and metadata that are stored as parts: compressed JSON."""
_HEADROOM = 0.95
"""Full payloads are emptied to this share of their limit, so that not every write has to."""
_SHARE = 0.5
"""The share of the store that payloads always keep, however many rows there are."""
_STORE = 'the store reached its limit of {:g} MB'
_PAYLOADS = 'signals and images reached their limit of {:g} MB'


@dataclass(frozen=True)
class Limits:
    """
    Hold the limits in MB of the store and of its payloads, 0 where there is none.

    Without a limit of their own payloads may take what the rest leaves of the store's, and at
    least half of it.
    """

    store: float = 0.0
    payloads: float = 0.0

    def compute_bytes(self, connection: apsw.Connection, used: int) -> float | None:
        """Return how many bytes payloads may take, which take `used`; None: any number."""
        if self.payloads:
            return self.payloads * 1e6
        if not self.store:
            return None
        rest = bytes_used(connection) - used
        return max(_SHARE * self.store * 1e6, self.store * 1e6 - rest)

    def explain(self) -> str:
        """Say which limit makes payloads go."""
        return _PAYLOADS.format(self.payloads) if self.payloads else _STORE.format(self.store)


@dataclass(frozen=True)
class Part:
    """
    Hold one part of a memory's payload.

    `size` is that of the bytes; `content` is None where it was not asked for, where the part was
    removed, at `removed_at` (microseconds since 1970 UTC), and where it is damaged, as `damage`
    says then.
    """

    name: str
    media_type: str
    size: int
    content: bytes | None
    removed_at: int | None = None
    damage: str = ''


def put(
    connection: apsw.Connection,
    memory_id: int,
    parts: Sequence[Part],
    *,
    protected: bool,
    limits: Limits,
    at: int,
) -> None:
    """
    Keep parts of a memory within the limits.

    The oldest parts that are not protected make room; what finds none is noted as removed.
    """
    for part in parts:
        room = _make_room(connection, part.size, limits, at)
        connection.execute(
            'INSERT INTO parts (memory_id, name, media_type, size, protected, content, removed_at)'
            ' VALUES (?, ?, ?, ?, ?, ?, ?)',
            (
                memory_id,
                part.name,
                part.media_type,
                part.size,
                protected,
                part.content if room else None,
                None if room else at,
            ),
        )
        if room and part.content is not None:
            part_digests.put(connection, connection.last_insert_rowid(), part.content)
            sizes.add_payloads(connection, part.size)
        if not room:
            detail = {'part': part.name}
            reason = limits.explain()
            audit.record(connection, memory_id, audit.REMOVED, THE_STORE, reason, detail, at)


def _make_room(connection: apsw.Connection, size: int, limits: Limits, at: int) -> bool:
    """Remove the oldest parts until `size` bytes fit under the limit; say whether they do."""
    used = sizes.get_payloads(connection)
    limit = limits.compute_bytes(connection, used)
    if limit is None or used + size <= limit:
        return True
    wanted = used + size - limit * _HEADROOM
    freed = 0
    rows = connection.execute(
        'SELECT id, memory_id, size FROM parts INDEXED BY parts_to_remove'
        ' WHERE protected = 0 AND content IS NOT NULL ORDER BY id'
    )
    gone: list[tuple[int, int]] = []
    for part_id, memory_id, part_size in rows:
        gone.append((part_id, memory_id))
        freed += part_size
        if freed >= wanted:
            break
    _remove_contents(connection, [part_id for part_id, _ in gone], at)
    if gone:
        ids = {memory_id for _, memory_id in gone}
        detail = {'parts': len(gone), 'bytes': freed, 'ids': write_ranges(ids)}
        audit.record(connection, None, audit.REMOVED, THE_STORE, limits.explain(), detail, at)
    sizes.add_payloads(connection, -freed)
    return used - freed + size <= limit


def _remove_contents(connection: apsw.Connection, ids: Sequence[int], at: int) -> None:
    """Remove the contents of parts; what they were is still known."""
    columns = 'id, memory_id, name, media_type, size, protected'
    for part_id in ids:
        # An update would leave a page of the file to the row: SQLite joins pages on deletion only.
        row: Any = connection.execute(
            f'DELETE FROM parts WHERE id = ? RETURNING {columns}', (part_id,)
        ).fetchone()
        connection.execute(
            f'INSERT INTO parts ({columns}, removed_at) VALUES (?, ?, ?, ?, ?, ?, ?)', (*row, at)
        )


def remove_all(connection: apsw.Connection, memory_id: int) -> None:
    """Remove the parts of a memory with their rows."""
    rows: list[Any] = connection.execute(
        'DELETE FROM parts WHERE memory_id = ? RETURNING iif(content IS NULL, 0, size)',
        (memory_id,),
    ).fetchall()
    if rows:
        sizes.add_payloads(connection, -sum(row[0] for row in rows))


def bytes_used(connection: apsw.Connection) -> int:
    """Return how many bytes of the file hold something."""
    pages = connection.pragma('page_count') - connection.pragma('freelist_count')
    return int(pages * connection.pragma('page_size'))


def of(
    connection: apsw.Connection, ids: Sequence[int], *, with_content: bool = False
) -> dict[int, list[Part]]:
    """Return the parts of memories, in the order in which they were kept."""
    rows: list[Any] = connection.execute(
        "SELECT memory_id, id, typeof(content) <> 'null', name, media_type, size, removed_at"
        ' FROM parts WHERE memory_id IN (SELECT value FROM json_each(?)) ORDER BY id',
        (json.dumps(list(ids)),),
    ).fetchall()
    found: dict[int, list[Part]] = {}
    for memory_id, part_id, is_there, name, media_type, size, removed_at in rows:
        content, damage = None, ''
        if with_content and is_there:
            content, damage = part_digests.read_content(connection, part_id)
        elif not is_there and removed_at is None:
            damage = part_digests.LOST
        part = Part(name, media_type, size, content, removed_at, damage)
        found.setdefault(memory_id, []).append(part)
    return found


def newest(connection: apsw.Connection, limit: int) -> list[tuple[int, str, Part]]:
    """Return id and content of the memories that the newest parts belong to, and the parts."""
    rows = connection.execute(
        'SELECT m.id, m.content, p.name, p.media_type, p.size, NULL, NULL FROM parts AS p'
        ' JOIN memories AS m ON m.id = p.memory_id'
        " WHERE typeof(p.content) <> 'null' AND m.status = 'active' ORDER BY p.id DESC LIMIT ?",
        (limit,),
    )
    return [(row[0], row[1], Part(*row[2:])) for row in rows]


def counts(connection: apsw.Connection) -> tuple[int, int, int]:
    """Return how many parts are kept, their bytes, and how many were removed."""
    ((kept, size, removed),) = connection.execute(
        'SELECT count(content), coalesce(sum(size) FILTER (WHERE content IS NOT NULL), 0),'
        ' count(removed_at) FROM parts'
    )
    return int(kept), int(size), int(removed)

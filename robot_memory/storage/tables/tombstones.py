"""
Rows of tombstones: what was erased, so that neither an archive nor a recording brings it back.

They hold the origin of a memory, and source, topic and stamps of what a topic said or a detector
found; of a subject a digest, of a text nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import apsw

from robot_memory.storage import remembered
from robot_memory.storage.tables.event_keys import SEPARATOR, Identity
from robot_memory.storage.tables.meta import get_store_id

_TABLE = 'tombstones'
_DIGEST_BYTES = 16
_COLUMNS = 'erasure, store_id, first_id, created_at, source, topic, subject, onset, peak, "end"'
_OF_SENSE = (
    "coalesce({0}.context ->> '$.sense.source', ''), {0}.context ->> '$.sense.topic', NULL,"
    ' {0}.stamp, {0}.stamp, {0}.stamp'
)


class Tombstone(NamedTuple):
    """Hold a row: its erasure, the origin of a memory, and what tells an event apart."""

    erasure: int
    store_id: str | None
    first_id: int | None
    created_at: int | None
    source: str | None
    topic: str | None
    subject: bytes | None
    onset: int | None
    peak: int | None
    end: int | None

    @property
    def said(self) -> tuple[Any, ...]:
        """Return what it says, of whichever erasure it is."""
        return self[1:]

    @classmethod
    def make(cls, values: Mapping[str, Any]) -> Tombstone:
        """Make it of the columns of a row."""
        return cls(*(values[name] for name in cls._fields))


def read_all(connection: apsw.Connection) -> list[Tombstone]:
    """Return all tombstones."""
    return [Tombstone(*row) for row in connection.execute(f'SELECT {_COLUMNS} FROM tombstones')]


def put_all(connection: apsw.Connection, erasure: int, those: Iterable[Tombstone]) -> None:
    """Insert tombstones of another store as those of an erasure."""
    connection.executemany(
        f'INSERT INTO tombstones ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        [(erasure, *one.said) for one in those],
    )


def put(connection: apsw.Connection, erasure: int, memory_id: int) -> None:
    """Keep the origin of a memory that is to be erased, and when it and what observed it were."""
    origin = (
        'coalesce(o.store_id, ?3), coalesce(o.first_id, m.id),'
        ' coalesce(o.created_at, m.created_at)'
    )
    connection.execute(
        f'INSERT INTO tombstones ({_COLUMNS}) SELECT ?1, {origin},'
        f' {_OF_SENSE.format("m")} FROM memories AS m LEFT JOIN origins AS o ON o.memory_id = m.id'
        ' WHERE m.id = ?2',
        (erasure, memory_id, get_store_id(connection)),
    )
    connection.execute(
        f'INSERT INTO tombstones ({_COLUMNS}) SELECT ?1, NULL, NULL, NULL,'
        f' {_OF_SENSE.format("b")} FROM observations AS b WHERE b.memory_id = ?2'
        " AND b.stamp IS NOT NULL AND b.context ->> '$.sense.topic' IS NOT NULL",
        (erasure, memory_id),
    )
    put_events(connection, erasure, 'e.memory_id = ?', memory_id)


def put_observation(connection: apsw.Connection, erasure: int, observation: int) -> None:
    """Keep when an observation that is to be erased was made, where a topic made it."""
    connection.execute(
        f'INSERT INTO tombstones ({_COLUMNS}) SELECT ?1, NULL, NULL, NULL,'
        f' {_OF_SENSE.format("b")} FROM observations AS b WHERE b.id = ?2'
        " AND b.stamp IS NOT NULL AND b.context ->> '$.sense.topic' IS NOT NULL",
        (erasure, observation),
    )


def put_events(connection: apsw.Connection, erasure: int, where: str, value: int) -> None:
    """Keep what tells the events of a condition apart, and the origins of folded ones."""
    here = get_store_id(connection)
    rows: Any = connection.execute(
        'SELECT e.id, e.memory_id, o.store_id, o.first_id, o.created_at, s.name, t.name, j.name,'
        ' e.onset, e.peak, e."end" FROM events AS e LEFT JOIN event_names AS s ON s.id = e.source'
        ' LEFT JOIN event_names AS t ON t.id = e.topic'
        ' LEFT JOIN event_names AS j ON j.id = e.subject'
        f' LEFT JOIN origins AS o ON o.memory_id = e.id WHERE {where}',
        (value,),
    ).fetchall()
    for event, memory_id, store, first_id, created, source, topic, subject, *stamps in rows:
        folded = event > 0 and event != memory_id
        origin = (store or here, first_id or event, created or 0) if folded else (None,) * 3
        if folded or topic is not None:
            digest = None if subject is None else digest_subject(subject)
            connection.execute(
                f'INSERT INTO tombstones ({_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
                (erasure, *origin, source or '', topic, digest, *stamps),
            )


def digest_subject(subject: str) -> bytes:
    """Return what a subject is known by; one that lists things is one in any order."""
    head, _, things = subject.rpartition(' of ')
    text = json.dumps([head, sorted(things.split(SEPARATOR))])
    return hashlib.blake2b(text.encode(), digest_size=_DIGEST_BYTES).digest()


def has_origin(
    connection: apsw.Connection, store_id: str, first_id: int, created_at: int | None
) -> bool:
    """Say whether a memory of an origin was erased; None: a folded one of any time."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM tombstones WHERE first_id = ?1 AND store_id = ?2'
        ' AND (created_at = ?3 OR (?3 IS NULL) OR created_at = 0))',
        (first_id, store_id, created_at),
    )
    return bool(found)


def has_event(connection: apsw.Connection, identity: Identity) -> bool:
    """Say whether an event of a source, topic, subject and one of its stamps was erased."""
    if not remembered.look_up(_TABLE, '', lambda: _has_any(connection)):
        return False
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM tombstones WHERE id IN'
        ' (SELECT id FROM tombstones WHERE topic IS NOT NULL AND onset = ?4 UNION ALL'
        ' SELECT id FROM tombstones WHERE topic IS NOT NULL AND peak = ?5 UNION ALL'
        ' SELECT id FROM tombstones WHERE topic IS NOT NULL AND "end" = ?6)'
        ' AND source = ?1 AND topic = ?2 AND subject = ?3)',
        (
            identity.source,
            identity.topic,
            digest_subject(identity.subject),
            identity.onset,
            identity.peak,
            identity.end,
        ),
    )
    return bool(found)


def _has_any(connection: apsw.Connection) -> bool:
    ((found,),) = connection.execute('SELECT EXISTS (SELECT 1 FROM tombstones)')
    return bool(found)


def has_saying(connection: apsw.Connection, source: str, topic: str, stamp: int) -> bool:
    """Say whether what a topic said at a stamp (ns) was erased."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM tombstones WHERE topic = ? AND source = ? AND onset = ?'
        ' AND subject IS NULL)',
        (topic, source, stamp),
    )
    return bool(found)


def list_origins(connection: apsw.Connection, erasure: int) -> list[tuple[str, int, int]]:
    """Return the origins of what an erasure took."""
    rows: Any = connection.execute(
        'SELECT store_id, first_id, created_at FROM tombstones'
        ' WHERE erasure = ? AND store_id IS NOT NULL',
        (erasure,),
    )
    return [(row[0], row[1], row[2]) for row in rows]

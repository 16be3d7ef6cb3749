"""
Events of folded memories as an archive holds them: plain dicts with names in place of ids.

They are known among stores by the origin of the memory that was folded, and by their onset.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import apsw

from robot_memory.core.errors import InvalidArgument
from robot_memory.storage import epochs
from robot_memory.storage.tables import event_names, figures, folding, sizes
from robot_memory.storage.tables.archive_rows import refuse_misfits
from robot_memory.storage.tables.figures import SLOTS
from robot_memory.storage.tables.meta import get_store_id

_NAMES = 'kind label topic task session robot recording collection frame source subject'.split()
_TIMES = ('onset', 'peak', 'end')
_PLAIN = ('active', 'broken_off', 'look', 'recording_offset')
_SCOPE = f'{folding.IS_FOLDED} AND (?1 IS NULL OR s.name = ?1) AND (?2 IS NULL OR c.name = ?2)'
_FROM = (
    'events AS e JOIN event_names AS c ON c.id = e.collection'
    ' LEFT JOIN event_names AS s ON s.id = e.session LEFT JOIN origins AS o ON o.memory_id = e.id'
)
Row = dict[str, Any]


def count(connection: apsw.Connection, session: str | None, collection: str | None) -> int:
    """Return how many folded events a session and a collection have; None: any."""
    ((number,),) = connection.execute(
        f'SELECT count(*) FROM {_FROM} WHERE {_SCOPE}', (session, collection)
    )
    return int(number)


def rows(
    connection: apsw.Connection, session: str | None, collection: str | None
) -> Iterator[Row]:
    """Give the folded events of a session and a collection by id, their times corrected."""
    here = get_store_id(connection)
    names = dict(connection.execute('SELECT id, name FROM event_names'))
    known = figures.list_all(connection)
    times = ', '.join(f'e."{name}" + 1000 * {epochs.read_offset("e.epoch")}' for name in _TIMES)
    columns = ', '.join(f'e.{name}' for name in (*_PLAIN, *_NAMES))
    slots = ', '.join(f'e.value_{slot}' for slot in range(1, SLOTS + 1))
    found = connection.execute(
        f'SELECT e.id, e.memory_id, o.store_id, o.first_id, e.others, {times}, {columns},'
        f' {slots} FROM {_FROM} WHERE {_SCOPE} ORDER BY e.id',
        (session, collection),
    )
    for event_id, digest, store, first_id, others, *rest in found:
        fields = (*_TIMES, *_PLAIN, *_NAMES)
        row: Row = dict(zip(fields, rest, strict=False))
        values = figures.read_values(known, row['kind'], rest[len(fields) :], others)
        row |= {name: names.get(row[name]) for name in _NAMES}
        row |= {name: bool(row[name]) for name in ('active', 'broken_off')}
        row['event_kind'] = row.pop('kind')
        yield {
            'id': event_id,
            'origin': {'store_id': store or here, 'id': first_id or event_id},
            'digest': digest,
            **row,
            'figures': sorted([name, unit, value] for name, value, unit in values),
        }


def find_known(connection: apsw.Connection, store: str, first_id: int, onset: int) -> int | None:
    """Return the folded event that came from an origin with an onset, or is it; None if none."""
    own = ' OR e.id = ?2' if store == get_store_id(connection) else ''
    row: Any = connection.execute(
        'SELECT e.id FROM events AS e WHERE (e.id IN'
        f' (SELECT memory_id FROM origins WHERE store_id = ?1 AND first_id = ?2){own})'
        f' AND {folding.IS_FOLDED}'
        f' AND ?3 IN (e.onset, e.onset + 1000 * {epochs.read_offset("e.epoch")})',
        (store, first_id, onset),
    ).fetchone()
    return None if row is None else int(row[0])


def is_known(connection: apsw.Connection, store: str, first_id: int, onset: int) -> bool:
    """Say whether an event came from an origin, or is it, folded or whole."""
    if find_known(connection, store, first_id, onset) is not None:
        return True
    own = ' OR id = ?2' if store == get_store_id(connection) else ''
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM memories WHERE id IN'
        f' (SELECT memory_id FROM origins WHERE store_id = ?1 AND first_id = ?2){own})',
        (store, first_id),
    )
    return bool(found)


def put(connection: apsw.Connection, row: Mapping[str, Any], event_id: int, digest: int) -> int:
    """
    Insert a checked row as the event of an id (0: the next), of a digest; return its id.

    Raise InvalidArgument, having changed nothing, where the memory that is named as its digest is
    none, or the tables do not take it.
    """
    ((context,),) = connection.execute('SELECT context FROM memories WHERE id = ?', (digest,))
    if not folding.is_digest(json.loads(context)):
        raise InvalidArgument(f'memory {row["digest"]} of the archive is no digest')
    with refuse_misfits(connection):
        return _put(connection, row, event_id, digest)


def _put(connection: apsw.Connection, row: Mapping[str, Any], event_id: int, digest: int) -> int:
    event_id = _reserve_id(connection, event_id)
    ids = {
        name: event_names.intern(connection, row.get(name)) for name in _NAMES if name != 'kind'
    }
    ids['kind'] = kind = event_names.intern(connection, row['event_kind'])
    assert kind is not None
    given = {name: (float(value), unit) for name, unit, value in row['figures']}
    values, others = figures.store(connection, kind, given)
    columns: dict[str, Any] = {
        'id': event_id,
        'memory_id': digest,
        **ids,
        **{name: row[name] for name in (*_TIMES, *_PLAIN)},
        **{f'value_{slot}': value for slot, value in values.items()},
        'others': json.dumps(others, separators=(',', ':')) if others else None,
    }
    names, marks = ', '.join(f'"{name}"' for name in columns), ', '.join('?' * len(columns))
    connection.execute(f'INSERT INTO events ({names}) VALUES ({marks})', (*columns.values(),))
    connection.execute(
        'INSERT INTO origins (memory_id, store_id, first_id, created_at) VALUES (?, ?, ?, ?)',
        (event_id, row['origin']['store_id'], row['origin']['id'], row['onset'] // 1000),
    )
    sizes.note_folded(connection, 1, 0)
    return event_id


def _reserve_id(connection: apsw.Connection, event_id: int) -> int:
    """Let no memory take the id of an event; return it."""
    connection.execute(
        "INSERT INTO sqlite_sequence (name, seq) SELECT 'memories', 0"
        " WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'memories')"
    )
    ((reserved,),) = connection.execute(
        "UPDATE sqlite_sequence SET seq = max(seq + (?1 = 0), ?1) WHERE name = 'memories'"
        ' RETURNING iif(?1, ?1, seq)',
        (event_id,),
    )
    return int(reserved)

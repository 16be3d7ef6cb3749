"""
Rows as an archive holds them: plain dicts with all that is not made anew from the rest.

A memory is known among stores by its origin: the store where it was first kept, its id there and
when, as the clock told it there. The time tells copies of one file apart, which went on under one
identity. All other times are corrected: an archive has no clock epochs.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record
from robot_memory.storage import epochs
from robot_memory.storage.indexes.filters import STAMP, TIMES, Where
from robot_memory.storage.tables import (
    audit,
    event_keys,
    events,
    folding,
    memories,
    observations,
    part_digests,
    payloads,
    provenance,
    replacements,
    revisions,
    sizes,
)
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.meta import get_store_id

Row = dict[str, Any]
Origin = tuple[str, int, int]
_COLUMNS = (
    'id type collection session_id content category confidence confidence_base tags scope_files '
    'perception_type context actor_id event_id strategy_name stamp frame_id pose status '
    'superseded_by access_count last_accessed created_at updated_at'
).split()
_CORRECTED = {**TIMES, 'stamp': STAMP}
_JSON = ('tags', 'scope_files', 'context', 'pose')
_PART = ('name', 'media_type', 'size', 'protected', 'content', 'removed_at')
_EVENT = ('source', 'topic', 'subject', 'onset', 'peak', 'end', 'look', 'broken_off')
_AUDIT = ('action', 'actor', 'reason', 'detail', 'at')
_STATE_JSON = ('tags', 'scope_files', 'context')
_STATE_TIMES = {'updated_at': 'updated_epoch', 'last_accessed': 'accessed_epoch'}
_STATE = (
    *_STATE_JSON,
    *'content actor_id category strategy_name status superseded_by updated_at'.split(),
    *'confidence confidence_base last_accessed'.split(),
)
"""What an archive holds of the state before a change."""
IMPORTER = Writer('import', authority='imported')
_BATCH = 200


def rows(connection: apsw.Connection, where: Where) -> Iterator[Row]:
    """Give the memories that pass, by id, each with all that belongs to it."""
    here, key = get_store_id(connection), provenance.get_key(connection)
    last = 0
    while True:
        batch = list(
            connection.execute(
                f'SELECT {", ".join(_CORRECTED.get(name, f"m.{name}") for name in _COLUMNS)},'
                ' t.number, t.role, o.store_id, o.first_id,'
                ' coalesce(o.created_at, m.created_at)'
                ' FROM memories AS m LEFT JOIN turns AS t ON t.memory_id = m.id'
                ' LEFT JOIN origins AS o ON o.memory_id = m.id'
                f' WHERE m.id > ? AND {where.sql} ORDER BY m.id LIMIT {_BATCH}',
                (last, *where.values),
            )
        )
        for values in batch:
            row = _row(connection, here, values)
            said = None if key is None else provenance.describe(connection, key, row)
            yield row if said is None else {**row, 'provenance': said}
        if len(batch) < _BATCH:
            return
        last = batch[-1][0]


def _row(connection: apsw.Connection, here: str, values: tuple[Any, ...]) -> Row:
    row: Row = dict(zip(_COLUMNS, values, strict=False))
    for name in _JSON:
        row[name] = None if row[name] is None else json.loads(row[name])
    memory_id = row['id']
    number, role, store, first_id, created_at = values[len(_COLUMNS) :]
    row['origin'] = {'store_id': store or here, 'id': first_id or memory_id}
    if created_at != row['created_at']:
        row['origin']['created_at'] = created_at
    if role is not None:
        row['turn'] = {'number': number, 'role': role}
    identity = event_keys.get_corrected(connection, memory_id)
    if identity is not None:
        row['event'] = vars(identity)
    data, metadata = payloads.get(connection, memory_id)
    if data is not None or metadata is not None:
        row['payload'] = {'data': data, 'metadata': metadata}
    many = {
        'parts': _read_parts(connection, memory_id),
        'observations': observations.read(connection, memory_id),
        'audit': _read_trail(connection, memory_id),
        'replaced': replacements.list_replaced(connection, memory_id),
    }
    return {**row, **{name: values for name, values in many.items() if values}}


def _read_parts(connection: apsw.Connection, memory_id: int) -> list[Row]:
    """Return the parts of a memory; one that is damaged without its bytes."""
    rows: list[Any] = connection.execute(
        "SELECT id, typeof(content) <> 'null', name, media_type, size, protected, removed_at"
        ' FROM parts WHERE memory_id = ? ORDER BY id',
        (memory_id,),
    ).fetchall()
    found = []
    for part_id, is_there, name, media_type, size, protected, removed_at in rows:
        content, damage = None, ''
        if is_there:
            content, damage = part_digests.read_content(connection, part_id)
        elif removed_at is None:
            damage = part_digests.LOST
        given = None if content is None else base64.b64encode(content).decode()
        values = (name, media_type, size, bool(protected), given, removed_at)
        part = dict(zip(_PART, values, strict=True))
        found.append({**part, 'damage': damage} if damage else part)
    return found


def _read_trail(connection: apsw.Connection, memory_id: int) -> list[Row]:
    """Return the audit trail of a memory, each change with the state before it in its detail."""
    states = dict(revisions.read(connection, memory_id))
    trail = []
    for line in audit.read_changes(connection, memory_id):
        row: Row = {name: getattr(line, name) for name in _AUDIT}
        if line.id in states:
            state = {name: states[line.id][name] for name in _STATE}
            for name, epoch in _STATE_TIMES.items():
                if state[name] is not None:
                    at = state[name], states[line.id][epoch]
                    state[name] = epochs.correct_instant(connection, *at)
            parsed = {name: json.loads(state[name]) for name in _STATE_JSON}
            row['detail'] = {**line.detail, 'before': {**state, **parsed}}
        trail.append(row)
    return trail


def size(connection: apsw.Connection, where: Where) -> int:
    """Return about how many bytes the memories that pass take in an archive."""
    ((size,),) = connection.execute(
        'SELECT coalesce(sum(1000 + length(m.content) + length(m.context)'
        ' + coalesce((SELECT sum(length(content) * 4 / 3) FROM parts WHERE memory_id = m.id), 0)'
        ' + coalesce((SELECT length(data) + length(metadata) FROM payloads'
        f' WHERE memory_id = m.id), 0)), 0) FROM memories AS m WHERE {where.sql}',
        where.values,
    )
    return int(size)


def is_empty(connection: apsw.Connection) -> bool:
    """Say whether a store holds nothing that an archive's ids could meet."""
    ((found,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM memories) OR EXISTS (SELECT 1 FROM sessions)'
    )
    return not found


def known(connection: apsw.Connection, origin: Origin) -> int | None:
    """Return which memory came from an origin, or is it; None where none did."""
    store, first_id, created_at = origin
    row = connection.execute(
        'SELECT memory_id FROM origins WHERE store_id = ? AND first_id = ? AND created_at = ?',
        origin,
    ).fetchone()
    if row is None and store == get_store_id(connection):
        row = connection.execute(
            'SELECT id FROM memories WHERE id = ? AND created_at = ?', (first_id, created_at)
        ).fetchone()
    return None if row is None else int(row[0])


def put(
    connection: apsw.Connection, record: Record, origin: Origin, row: Mapping[str, Any], at: int
) -> int:
    """
    Keep a memory of a checked row with all that belongs to it, at a time; return its id.

    `superseded_by` is for `follow`, when all are there; until then its trail waits, too. Raise
    InvalidArgument, having changed nothing, where the tables do not take it.
    """
    with refuse_misfits(connection):
        return _put(connection, record, origin, row, at)


@contextmanager
def refuse_misfits(connection: apsw.Connection) -> Iterator[None]:
    """Undo a block, and raise InvalidArgument, where the tables do not take what it writes."""
    try:
        with connection:
            yield
    except (apsw.ConstraintError, apsw.MismatchError, OverflowError) as error:
        raise InvalidArgument(f'the store rejects it: {error}') from None


def _put(
    connection: apsw.Connection, record: Record, origin: Origin, row: Mapping[str, Any], at: int
) -> int:
    memory_id = memories.restore(connection, record, row['confidence_base'], at)
    connection.execute(
        'INSERT INTO origins (memory_id, store_id, first_id, created_at) VALUES (?, ?, ?, ?)',
        (memory_id, *origin),
    )
    if row.get('payload'):
        data, metadata = (_text(row['payload'].get(name)) for name in ('data', 'metadata'))
        payloads.put(connection, memory_id, data, metadata)
    event = row.get('event')
    # A digest stands for events that are there themselves.
    is_event = record.type == 'perception' and not folding.is_digest(record.context)
    if is_event or event:
        identity = Identity(**{name: event[name] for name in _EVENT}) if event else None
        events.insert(connection, memory_id, record, identity, is_now=False)
    for part in row.get('parts') or ():
        content = part['content']
        given = {**part, 'content': None if content is None else base64.b64decode(content)}
        connection.execute(
            f'INSERT INTO parts (memory_id, {", ".join(_PART)}) VALUES (?, ?, ?, ?, ?, ?, ?)',
            (memory_id, *(given[name] for name in _PART)),
        )
        if given['content'] is not None:
            part_digests.put(connection, connection.last_insert_rowid(), given['content'])
            sizes.add_payloads(connection, part['size'])
    for said in row.get('observations') or ():
        observations.insert_imported(connection, memory_id, said)
    if row.get('superseded_by') is None:
        _record_trail(connection, memory_id, row, None, same_ids=record.id != 0)
    return memory_id


def complete_trail(
    connection: apsw.Connection,
    memory_id: int,
    row: Mapping[str, Any],
    superseded_by: int | None,
    *,
    same_ids: bool,
) -> None:
    """Append the audit trail of a superseded memory, where an import has not done so before."""
    record = memories.get(connection, [memory_id])[memory_id]
    if record.status == 'superseded' and not audit.read_changes(connection, memory_id):
        _record_trail(connection, memory_id, row, superseded_by, same_ids=same_ids)


def _record_trail(
    connection: apsw.Connection,
    memory_id: int,
    row: Mapping[str, Any],
    superseded_by: int | None,
    *,
    same_ids: bool,
) -> None:
    """Append the audit trail of a row, with the states before its changes."""
    for line in row.get('audit') or ():
        rest = {name: line[name] for name in _AUDIT if name != 'actor'}
        detail = dict(rest.pop('detail'))
        before = detail.pop('before', None)
        if superseded_by is not None and 'superseded_by' in detail:
            detail['superseded_by'] = superseded_by
        writer = Writer('import', line['actor'], authority='imported')
        number = audit.record(
            connection, memory_id, writer=writer, detail=detail, is_now=False, **rest
        )
        if before is not None:
            state = {name: before.get(name) for name in _STATE}
            state |= {name: _text(state[name]) for name in _STATE_JSON}
            state['superseded_by'] = state['superseded_by'] if same_ids else None
            revisions.insert_imported(connection, memory_id, number, state)


def _text(value: Any) -> str | None:
    return None if value is None else dump_json(value)


def link(
    connection: apsw.Connection, memory_id: int, replaced_id: int, at: int, *, settled: bool
) -> None:
    """Let a memory of an archive replace another, unless they are linked already."""
    if not replacements.are_linked(connection, memory_id, replaced_id):
        line = audit.record(connection, replaced_id, 'linked', IMPORTER, '', {}, at, is_now=False)
        replacements.insert(connection, memory_id, replaced_id, line, settled=settled)


def follow(connection: apsw.Connection, memory_id: int, superseded_by: int, at: int) -> None:
    """Let a superseded memory say which one took its place, unless it says so already."""
    record = memories.get(connection, [memory_id])[memory_id]
    if record.status != 'superseded' or record.superseded_by == superseded_by:
        return
    with revisions.changing(connection, memory_id, 'linked', IMPORTER, '', {}, at):
        connection.execute(
            'UPDATE memories SET superseded_by = ? WHERE id = ?', (superseded_by, memory_id)
        )

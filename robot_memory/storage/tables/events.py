"""
Rows of events: what was perceived and which sessions there were, as narrow typed columns.

The row of a memory has its id, those of sessions count down from -1. It is written in the
transaction of the memory or session; what was measured never changes, status, robot and task
follow the memory. `memory_id` is NULL where there is none.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.core.json_text import parse_finite
from robot_memory.core.records import Record, Session
from robot_memory.storage import epochs
from robot_memory.storage.tables import figures
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.event_names import LONGEST, intern
from robot_memory.storage.tables.figures import DURATION, SLOTS

PERCEPTION = 'perception'
"""The kind of what no detector found: it was stored with save_perception."""
SESSION = 'session'
FAULT = 'fault'
"""The kind of a state that its detector calls a fault."""
SUCCESS = 'success'
"""The figure of what succeeded (1) or failed (0)."""
_LONGEST_S = 1e9


def insert(
    connection: apsw.Connection,
    memory_id: int,
    record: Record,
    identity: Identity | None,
    *,
    is_now: bool = True,
) -> None:
    """
    Insert the event of a new perception; `identity` tells one that a detector found.

    `is_now`: the clock that the store is written with gave the times of the record.
    """
    sense = _part(record.context, 'sense')
    detector = FAULT if sense.get('fault') is True else _text(sense.get('detector'))
    kind = intern(connection, detector or PERCEPTION)
    assert kind is not None
    params = figures.read_params(record.context)
    outcome = _part(record.context, 'task').get('success')
    if isinstance(outcome, bool):
        params.setdefault(SUCCESS, (float(outcome), ''))
    seconds, unit = params.pop(DURATION, (0.0, 's'))
    if identity is None:
        onset = 1000 * record.created_at if record.stamp is None else record.stamp
        lasted = round(seconds * 1e9) if unit == 's' and 0 < seconds < _LONGEST_S else 0
        identity = Identity('', '', '', onset, onset, onset + lasted)
        source, topic, subject = _text(sense.get('source')), _text(sense.get('topic')), None
    else:
        source, topic, subject = identity.source, identity.topic, identity.subject
    values, others = figures.store(connection, kind, params)
    is_local = is_now and (record.stamp is None or record.stamp_is_local)
    _insert(
        connection,
        is_local,
        {
            'id': memory_id,
            'kind': kind,
            'active': record.status == 'active',
            'onset': identity.onset,
            'end': identity.end,
            **{f'value_{slot}': values.get(slot) for slot in range(1, SLOTS + 1)},
            'label': intern(connection, _text(sense.get('kind'))),
            'topic': intern(connection, topic),
            'session': intern(connection, record.session_id),
            'collection': intern(connection, record.collection),
            'frame': intern(connection, record.frame_id),
            'recording': intern(connection, _text(sense.get('recording'))),
            'recording_offset': _read_offset(sense.get('offset_s')),
            'source': intern(connection, source),
            'subject': intern(connection, subject),
            'peak': identity.peak,
            'look': identity.look or None,
            'broken_off': identity.broken_off,
            'memory_id': memory_id,
            'others': json.dumps(others, separators=(',', ':')) if others else None,
            **_read_place(connection, record.context),
        },
    )


def set_active(connection: apsw.Connection, memory_id: int, active: bool) -> None:
    """Let the event of a memory, if it has one, be found or not."""
    connection.execute('UPDATE events SET active = ? WHERE id = ?', (active, memory_id))


def set_context(connection: apsw.Connection, memory_id: int, context: Mapping[str, Any]) -> None:
    """Give the event of a memory, if it has one, the robot and the task of a new context."""
    row = connection.execute('SELECT 1 FROM events WHERE id = ?', (memory_id,)).fetchone()
    if row is not None:
        place = _read_place(connection, context)
        connection.execute(
            'UPDATE events SET robot = ?, task = ? WHERE id = ?',
            (place['robot'], place['task'], memory_id),
        )


def insert_session(connection: apsw.Connection, session: Session, *, is_now: bool) -> None:
    """Insert the event of a session; it lasts until the session ends."""
    ((number,),) = connection.execute('SELECT min(0, coalesce(min(id), 0)) - 1 FROM events')
    onset = 1000 * session.created_at
    _insert(
        connection,
        is_now,
        {
            'id': number,
            'kind': intern(connection, SESSION),
            'active': True,
            'onset': onset,
            'end': None if session.ended_at is None else 1000 * session.ended_at,
            'session': intern(connection, session.id),
            'collection': intern(connection, session.collection),
            'peak': onset,
            'broken_off': False,
            **_read_place(connection, session.context),
        },
    )


def end_session(connection: apsw.Connection, session_id: str, at: int) -> None:
    """End the event of a session, at an instant of the present clock in microseconds."""
    # Both ends are told by the clock that the session began with.
    connection.execute(
        f'UPDATE events SET "end" = 1000 * (? + {epochs.read_offset(epochs.NEWEST)}'
        f' - {epochs.read_offset("events.epoch")})'
        ' WHERE id < 0 AND kind = ? AND session = ?',
        (at, intern(connection, SESSION), intern(connection, session_id)),
    )


def _insert(connection: apsw.Connection, is_now: bool, columns: Mapping[str, Any]) -> None:
    names = ', '.join(f'"{name}"' for name in columns)
    marks = ', '.join('?' * len(columns))
    epoch = epochs.NEWEST if is_now else 'NULL'
    connection.execute(
        f'INSERT INTO events ({names}, epoch) VALUES ({marks}, {epoch})', (*columns.values(),)
    )


def _read_place(connection: apsw.Connection, context: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the names of robot and task in a context."""
    return {
        'robot': intern(connection, _read_robot(context)),
        'task': intern(connection, _read_task(context)),
    }


def _read_robot(context: Mapping[str, Any]) -> str | None:
    found = _part(context, 'robot').get('id')
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return _text(str(found) if is_number else found)


def _read_task(context: Mapping[str, Any]) -> str | None:
    """Return the name of the task, else the first instruction under which it happened."""
    task = _part(context, 'task')
    for name in ('name', 'instruction'):
        found = task.get(name)
        found = found[0] if isinstance(found, list) and found else found
        if text := _text(found):
            return text
    return None


def _read_offset(seconds: Any) -> int | None:
    """Return an offset into a recording in nanoseconds."""
    number = parse_finite(seconds)
    return round(number * 1e9) if number is not None and 0 <= number < _LONGEST_S else None


def _part(context: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = context.get(name)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return value[:LONGEST] if isinstance(value, str) and value else None

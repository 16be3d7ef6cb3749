"""
Rows of events: what was perceived and which sessions there were, as narrow typed columns.

The row of a perception has its id, those of sessions, tasks and faults count down from -1: a text
that is said again is one memory, and each time an event. It is written in the
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
from robot_memory.storage.tables import event_hours, figures
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.event_names import LONGEST, intern
from robot_memory.storage.tables.figures import DURATION, SLOTS

PERCEPTION = 'perception'
"""The kind of what no detector found: it was stored with save_perception."""
SESSION = 'session'
TASK = 'task'
FAULT = 'fault'
"""The kind of a state that its detector calls a fault."""
SUCCESS = 'success'
"""The figure of what succeeded (1) or failed (0)."""
_LONGEST_S = 1e9
_RECENT = 20
"""Tasks among which the one that a new one ends is."""
_FARTHEST = (2**63 - 1) // 1000
"""The last instant in microseconds that the table holds in nanoseconds, in the year 2262."""


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
        onset = _to_ns(record.created_at) if record.stamp is None else record.stamp
        lasted = round(seconds * 1e9) if unit == 's' and 0 < seconds < _LONGEST_S else 0
        end = min(onset + lasted, 1000 * _FARTHEST)
        identity = Identity('', '', '', onset, onset, max(onset, end))
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
    connection.execute('UPDATE events SET active = ? WHERE memory_id = ?', (active, memory_id))


def set_context(connection: apsw.Connection, memory_id: int, context: Mapping[str, Any]) -> None:
    """Give the event of a perception, if it has one, the robot and the task of a new context."""
    row = connection.execute('SELECT 1 FROM events WHERE id = ?', (memory_id,)).fetchone()
    if row is not None:
        place = _read_place(connection, context)
        connection.execute(
            'UPDATE events SET robot = ?, task = ? WHERE id = ?',
            (place['robot'], place['task'], memory_id),
        )


def insert_said(connection: apsw.Connection, memory_id: int, record: Record, kind: str) -> None:
    """
    Insert the task or the fault that a text of a topic tells of; `memory_id` is that of the text.

    A task lasts until the next one of its topic, or the end of its session.
    """
    sense = _part(record.context, 'sense')
    onset = _to_ns(record.created_at) if record.stamp is None else record.stamp
    topic = intern(connection, _text(sense.get('topic')))
    source = intern(connection, _text(sense.get('source')))
    if kind == TASK:
        _end_task(connection, topic, source, onset)
    place = _read_place(connection, record.context)
    if kind == TASK:
        place['task'] = intern(connection, _text(record.content))
    _insert(
        connection,
        record.stamp is None or record.stamp_is_local,
        {
            'id': _find_next(connection),
            'kind': intern(connection, kind),
            'active': True,
            'onset': onset,
            'end': None if kind == TASK else onset,
            'label': intern(connection, _text(sense.get('level'))),
            'topic': topic,
            'session': intern(connection, record.session_id),
            'collection': intern(connection, record.collection),
            'source': source,
            'recording': intern(connection, _text(sense.get('recording'))),
            'recording_offset': _read_offset(sense.get('offset_s')),
            'peak': onset,
            'broken_off': False,
            'memory_id': memory_id,
            **place,
        },
    )


def _end_task(connection: apsw.Connection, topic: int | None, source: int | None, at: int) -> None:
    """End the task of a topic that lasts; `at` is in nanoseconds."""
    newest: list[Any] = connection.execute(
        'SELECT id, topic, source, "end" FROM events WHERE active AND kind = ? AND onset <= ?'
        f' ORDER BY onset DESC LIMIT {_RECENT}',
        (intern(connection, TASK), at),
    ).fetchall()
    for event_id, *of, end in newest:
        if of == [topic, source]:
            if end is None:
                connection.execute('UPDATE events SET "end" = ? WHERE id = ?', (at, event_id))
            return


def _find_next(connection: apsw.Connection) -> int:
    """Return the id of the next event that is no perception."""
    ((number,),) = connection.execute('SELECT min(0, coalesce(min(id), 0)) - 1 FROM events')
    return int(number)


def insert_session(connection: apsw.Connection, session: Session, *, is_now: bool) -> None:
    """Insert the event of a session; it lasts until the session ends."""
    onset = _to_ns(session.created_at)
    _insert(
        connection,
        is_now,
        {
            'id': _find_next(connection),
            'kind': intern(connection, SESSION),
            'active': True,
            'onset': onset,
            'end': None if session.ended_at is None else _to_ns(session.ended_at),
            'session': intern(connection, session.id),
            'collection': intern(connection, session.collection),
            'peak': onset,
            'broken_off': False,
            **_read_place(connection, session.context),
        },
    )


def end_session(connection: apsw.Connection, session_id: str, at: int) -> None:
    """End the events of a session and of its task, at an instant in microseconds."""
    # Both ends are told by the clock that it began with; a task by another clock goes on.
    connection.execute(
        f'UPDATE events SET "end" = 1000 * max(-{_FARTHEST}, min({_FARTHEST}, ?'
        f' + {epochs.read_offset(epochs.NEWEST)} - {epochs.read_offset("events.epoch")}))'
        ' WHERE id < 0 AND session = ? AND kind IN (?, ?) AND "end" IS NULL'
        ' AND (epoch IS NOT NULL OR kind = ?)',
        (
            at,
            intern(connection, session_id),
            session := intern(connection, SESSION),
            intern(connection, TASK),
            session,
        ),
    )


def _to_ns(instant: int) -> int:
    return 1000 * max(-_FARTHEST, min(instant, _FARTHEST))


def _insert(connection: apsw.Connection, is_now: bool, columns: Mapping[str, Any]) -> None:
    names = ', '.join(f'"{name}"' for name in columns)
    marks = ', '.join('?' * len(columns))
    epoch = epochs.NEWEST if is_now else 'NULL'
    connection.execute(
        f'INSERT INTO events ({names}, epoch) VALUES ({marks}, {epoch})', (*columns.values(),)
    )
    event_hours.note_kind(columns['kind'])


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

"""
Schema version 13: events as a narrow table of typed columns.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import json
import math
from typing import Any

import apsw

_FIGURES = (
    ('contact', 'peak_force', 'N'),
    ('contact', 'mean_force', 'N'),
    ('contact', 'peak_torque', 'N m'),
    ('contact', 'impulse', 'N s'),
    ('motion', 'peak_speed', 'rad/s'),
    ('motion', 'peak_effort', 'N m'),
    ('motion', 'travel', 'rad'),
    ('scene', 'changed_share', ''),
)
_SLOTS = 4
_MOST = 64
_LONGEST = 256
_FARTHEST = (2**63 - 1) // 1000


def upgrade(connection: apsw.Connection) -> None:
    """Create the tables of events, of their names and of their figures, and fill them."""
    connection.execute("""
        ALTER TABLE events RENAME TO old_events;
        DROP INDEX events_by_onset;
        DROP INDEX events_by_peak;

        CREATE TABLE event_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
        CREATE TABLE figures (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL REFERENCES event_names (id),
            name TEXT NOT NULL,
            unit TEXT NOT NULL,
            slot INTEGER,
            UNIQUE (kind, name, unit)
        );
        -- What an aggregate reads comes first: a row is decoded up to the last column read.
        CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            active INTEGER NOT NULL,
            onset INTEGER NOT NULL,
            "end" INTEGER,
            value_1 REAL,
            value_2 REAL,
            value_3 REAL,
            value_4 REAL,
            epoch INTEGER,
            label INTEGER,
            topic INTEGER,
            task INTEGER,
            session INTEGER,
            robot INTEGER,
            recording INTEGER,
            recording_offset INTEGER,
            collection INTEGER NOT NULL,
            frame INTEGER,
            source INTEGER,
            subject INTEGER,
            peak INTEGER NOT NULL,
            look TEXT,
            broken_off INTEGER NOT NULL,
            memory_id INTEGER,
            others TEXT
        );
    """)
    for kind, name, unit in _FIGURES:
        _figure(connection, _name(connection, kind), name, unit)
    rows = connection.execute(
        'SELECT m.id, m.status, m.collection, m.session_id, m.context, m.stamp, m.frame_id,'
        ' m.created_at, iif(m.stamp IS NULL OR m.stamp_is_local, m.created_epoch, NULL),'
        ' o.source, o.topic, o.subject, o.onset, o.peak, o."end", o.look, o.broken_off'
        ' FROM memories AS m LEFT JOIN old_events AS o ON o.memory_id = m.id'
        " WHERE m.type = 'perception' ORDER BY m.id"
    )
    for row in rows:
        _insert_perception(connection, *row)
    sessions = connection.execute(
        'SELECT id, collection, context, created_at, created_epoch,'
        ' ended_at + coalesce((SELECT offset FROM clock_epochs WHERE id = ended_epoch), 0)'
        ' - coalesce((SELECT offset FROM clock_epochs WHERE id = created_epoch), 0)'
        ' FROM sessions ORDER BY created_at, id'
    )
    for number, row in enumerate(sessions, 1):
        _insert_session(connection, -number, *row)
    connection.execute("""
        DROP TABLE old_events;
        CREATE INDEX events_by_onset ON events (onset);
        CREATE INDEX events_by_peak ON events (topic, peak);
        CREATE INDEX events_by_kind ON events (kind, onset) WHERE active;
        CREATE INDEX events_by_duration ON events (kind, "end" - onset) WHERE active;
        CREATE INDEX events_by_value_1 ON events (kind, value_1)
            WHERE active AND value_1 IS NOT NULL;
        CREATE INDEX events_by_value_2 ON events (kind, value_2)
            WHERE active AND value_2 IS NOT NULL;
        CREATE INDEX events_by_value_3 ON events (kind, value_3)
            WHERE active AND value_3 IS NOT NULL;
        CREATE INDEX events_by_value_4 ON events (kind, value_4)
            WHERE active AND value_4 IS NOT NULL;
        CREATE INDEX events_of_sessions ON events (session) WHERE id < 0;
        CREATE INDEX events_of_memories ON events (memory_id) WHERE memory_id IS NOT NULL;
    """)


def _insert_perception(
    connection: apsw.Connection,
    memory_id: int,
    status: str,
    collection: str,
    session: str | None,
    context_text: str,
    stamp: int | None,
    frame: str | None,
    created_at: int,
    epoch: int | None,
    source: str | None,
    topic: str | None,
    subject: str | None,
    onset: int | None,
    peak: int | None,
    end: int | None,
    look: str | None,
    broken_off: int | None,
) -> None:
    context = json.loads(context_text)
    sense = _part(context, 'sense')
    kind = _name(connection, _text(sense.get('detector')) or 'perception')
    figures = _read_figures(context)
    if onset is None or peak is None:
        onset = peak = _to_ns(created_at) if stamp is None else stamp
        seconds, unit = figures.get('duration_s', (0.0, 's'))
        lasted = round(seconds * 1e9) if unit == 's' and 0 < seconds < 1e9 else 0
        end = max(onset, min(onset + lasted, 1000 * _FARTHEST))
    values: dict[int, float] = {}
    others: dict[str, float] = {}
    for name, (value, unit) in figures.items():
        if name != 'duration_s':
            figure_id, slot = _figure(connection, kind, name, unit)
            if slot is None:
                others[str(figure_id)] = value
            else:
                values[slot] = value
    columns: dict[str, Any] = {
        'id': memory_id,
        'kind': kind,
        'active': status == 'active',
        'onset': onset,
        'end': end,
        **{f'value_{slot}': values.get(slot) for slot in range(1, _SLOTS + 1)},
        'epoch': epoch,
        'label': _name(connection, _text(sense.get('kind'))),
        'topic': _name(connection, _text(sense.get('topic')) if topic is None else topic),
        'task': _name(connection, _read_task(context)),
        'session': _name(connection, session),
        'robot': _name(connection, _read_robot(context)),
        'collection': _name(connection, collection),
        'frame': _name(connection, frame),
        'source': _name(connection, _text(sense.get('source')) if source is None else source),
        'subject': _name(connection, subject),
        'peak': peak,
        'look': look or None,
        'broken_off': broken_off or 0,
        'memory_id': memory_id,
        'others': json.dumps(others, separators=(',', ':')) if others else None,
    }
    _insert(connection, columns)


def _insert_session(
    connection: apsw.Connection,
    event_id: int,
    session: str,
    collection: str,
    context_text: str,
    created_at: int,
    epoch: int | None,
    ended_at: int | None,
) -> None:
    onset = _to_ns(created_at)
    context = json.loads(context_text)
    columns = {
        'id': event_id,
        'kind': _name(connection, 'session'),
        'active': 1,
        'onset': onset,
        'end': None if ended_at is None else _to_ns(ended_at),
        'epoch': epoch,
        'task': _name(connection, _read_task(context)),
        'session': _name(connection, session),
        'robot': _name(connection, _read_robot(context)),
        'collection': _name(connection, collection),
        'peak': onset,
        'broken_off': 0,
    }
    _insert(connection, columns)


def _to_ns(instant: int) -> int:
    return 1000 * max(-_FARTHEST, min(instant, _FARTHEST))


def _insert(connection: apsw.Connection, columns: dict[str, Any]) -> None:
    names = ', '.join(f'"{name}"' for name in columns)
    marks = ', '.join('?' * len(columns))
    connection.execute(f'INSERT INTO events ({names}) VALUES ({marks})', (*columns.values(),))


def _name(connection: apsw.Connection, name: str | None) -> Any:
    if name is None:
        return None
    found = connection.execute('SELECT id FROM event_names WHERE name = ?', (name,)).fetchone()
    if found is None:
        connection.execute('INSERT INTO event_names (name) VALUES (?)', (name,))
        return connection.last_insert_rowid()
    return found[0]


def _figure(connection: apsw.Connection, kind: int, name: str, unit: str) -> Any:
    found = connection.execute(
        'SELECT id, slot FROM figures WHERE kind = ? AND name = ? AND unit = ?', (kind, name, unit)
    ).fetchone()
    if found is not None:
        return found
    ((taken,),) = connection.execute('SELECT count(slot) FROM figures WHERE kind = ?', (kind,))
    slot = taken + 1 if taken < _SLOTS else None
    connection.execute(
        'INSERT INTO figures (kind, name, unit, slot) VALUES (?, ?, ?, ?)',
        (kind, name, unit, slot),
    )
    return connection.last_insert_rowid(), slot


def _part(context: Any, name: str) -> dict[str, Any]:
    found = context.get(name) if isinstance(context, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str | None:
    return value[:_LONGEST] if isinstance(value, str) and value else None


def _read_robot(context: Any) -> str | None:
    found = _part(context, 'robot').get('id')
    is_number = isinstance(found, int) and not isinstance(found, bool)
    return _text(str(found) if is_number else found)


def _read_task(context: Any) -> str | None:
    task = _part(context, 'task')
    for name in ('name', 'instruction'):
        found = task.get(name)
        found = found[0] if isinstance(found, list) and found else found
        if _text(found):
            return _text(found)
    return None


def _read_figures(context: Any) -> dict[str, tuple[float, str]]:
    """Return the numbers with a unit among the params, by name."""
    found: dict[str, tuple[float, str]] = {}
    for name, given in _part(context, 'params').items():
        value, unit = (
            (given.get('value'), given.get('unit')) if isinstance(given, dict) else (None, None)
        )
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            continue
        try:
            finite = math.isfinite(value)
        except OverflowError:
            continue
        if isinstance(unit, str) and finite and len(found) < _MOST:
            found[name] = float(value), unit
    return found

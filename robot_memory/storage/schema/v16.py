"""
Schema version 16: what lies between which bounds each hour, in place of an index a figure.

Frozen: stores of this version exist. It imports nothing of this package and never changes.
"""

from __future__ import annotations

import apsw

_BOUNDS = {'value_1': 1, 'value_2': 2, 'value_3': 3, 'value_4': 4}
_HOUR = 3_600_000_000_000


def upgrade(connection: apsw.Connection) -> None:
    """Bound the events of each kind and hour, kept by triggers; drop what that replaces."""
    columns = ', '.join(f'low_{n} REAL, high_{n} REAL' for n in _BOUNDS.values())
    connection.execute(f"""
        DROP INDEX events_by_onset;
        DROP INDEX events_by_peak;
        DROP INDEX events_by_kind;
        DROP INDEX events_by_duration;
        DROP INDEX events_by_value_1;
        DROP INDEX events_by_value_2;
        DROP INDEX events_by_value_3;
        DROP INDEX events_by_value_4;
        CREATE INDEX events_by_kind ON events (kind, onset);
        CREATE INDEX events_long ON events (kind, topic, onset, peak, "end")
            WHERE "end" IS NULL OR "end" - onset > {_HOUR};
        CREATE INDEX events_pictured ON events (topic, peak) WHERE look IS NOT NULL;
        CREATE TABLE event_hours (
            kind INTEGER NOT NULL,
            hour INTEGER NOT NULL,
            number INTEGER NOT NULL,
            shortest INTEGER,
            longest INTEGER,
            {columns},
            PRIMARY KEY (kind, hour)
        ) WITHOUT ROWID;
    """)
    lows = [f'min({name})' for name in _BOUNDS]
    highs = [f'max({name})' for name in _BOUNDS]
    bounds = ', '.join(f'{low}, {high}' for low, high in zip(lows, highs, strict=True))
    connection.execute(
        f'INSERT INTO event_hours SELECT kind, onset / {_HOUR}, count(*), min("end" - onset),'
        f' max("end" - onset), {bounds} FROM events GROUP BY 1, 2'
    )
    pairs = ', '.join(f'low_{n}, high_{n}' for n in _BOUNDS.values())
    names = f'kind, hour, number, shortest, longest, {pairs}'
    values = ', '.join(f'new.{name}, new.{name}' for name in _BOUNDS)
    row = f'new.kind, new.onset / {_HOUR}, 1, new."end" - new.onset, new."end" - new.onset'
    widened = ', '.join(
        f'{column} = {choose}(coalesce({column}, excluded.{column}),'
        f' coalesce(excluded.{column}, {column}))'
        for choose, bounds in (
            ('min', ['shortest', *(f'low_{n}' for n in _BOUNDS.values())]),
            ('max', ['longest', *(f'high_{n}' for n in _BOUNDS.values())]),
        )
        for column in bounds
    )
    changed = ', '.join(['kind', 'onset', '"end"', *_BOUNDS])
    for name, when, more in (('inserted', 'INSERT', 1), ('changed', f'UPDATE OF {changed}', 0)):
        connection.execute(
            f'CREATE TRIGGER events_{name} AFTER {when} ON events BEGIN'
            f' INSERT INTO event_hours ({names}) VALUES ({row}, {values})'
            f' ON CONFLICT (kind, hour) DO UPDATE SET number = number + {more}, {widened}; END'
        )

"""What tells one event from another: its source, its topic, its subject and its stamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.storage import epochs
from robot_memory.storage.tables.event_hours import IS_LONG, find_longest, write_kinds
from robot_memory.storage.tables.event_names import find_each


@dataclass(frozen=True)
class Identity:
    """
    Say which event of the world a memory is; `onset`, `peak` and `end` are in nanoseconds.

    `look` is a hash of the picture, if it is one. `broken_off` tells that its end was not seen.
    """

    source: str
    topic: str
    subject: str
    onset: int
    peak: int
    end: int
    look: str = ''
    broken_off: bool = False


SEPARATOR = ', '
"""What separates the things that a subject lists: "motion of elbow, wrist"."""
_READ = (
    "SELECT e.id, s.name, t.name, j.name, {onset}, {peak}, {end}, coalesce(e.look, ''),"
    ' e.broken_off FROM events AS e JOIN event_names AS s ON s.id = e.source'
    ' JOIN event_names AS t ON t.id = e.topic JOIN event_names AS j ON j.id = e.subject'
)
_AS_IT_CAME = _READ.format(onset='e.onset', peak='e.peak', end='e."end"')
_CORRECTED = _READ.format(
    **{
        name: f'e."{name}" + 1000 * {epochs.read_offset("e.epoch")}'
        for name in ('onset', 'peak', 'end')
    }
)


def get(connection: apsw.Connection, memory_id: int) -> Identity | None:
    """Return which event a memory is; None where it is none that the senses noticed."""
    row = connection.execute(f'{_AS_IT_CAME} WHERE e.id = ?', (memory_id,)).fetchone()
    return None if row is None else _identity(row)


def get_corrected(connection: apsw.Connection, memory_id: int) -> Identity | None:
    """Return which event a memory is, with its times as they are known now."""
    row = connection.execute(f'{_CORRECTED} WHERE e.id = ?', (memory_id,)).fetchone()
    return None if row is None else _identity(row)


def around(
    connection: apsw.Connection, identity: Identity, collection: str, slack_ns: int = 0
) -> list[tuple[int, Identity]]:
    """
    Return memories and identities of events nearby: of its source, topic, subject and collection.

    Nearby are those that begin at the same onset, and those whose peak lies in its extent, or in
    the nanoseconds `slack_ns` around it. A subject that lists things is one in any order.
    """
    ids = find_each(connection, (identity.source, identity.topic, collection))
    if ids is None:
        return []
    source, topic, place = ids
    kinds = write_kinds(connection)
    is_list = SEPARATOR in identity.subject
    subjects = '' if is_list else ' AND j.name = ?9'
    first, last = identity.onset - slack_ns, max(identity.onset, identity.end) + slack_ns
    rows = connection.execute(
        f'{_AS_IT_CAME} WHERE e.id IN ('
        f'SELECT id FROM events INDEXED BY events_by_kind WHERE kind IN {kinds}'
        ' AND onset BETWEEN ?1 AND ?2 AND topic = ?3 AND (onset = ?4 OR peak BETWEEN ?5 AND ?6)'
        f' UNION SELECT id FROM events INDEXED BY events_long WHERE kind IN {kinds} AND {IS_LONG}'
        ' AND topic = ?3 AND onset < ?1 AND peak BETWEEN ?5 AND ?6'
        f') AND e.source = ?7 AND e.collection = ?8{subjects} ORDER BY e.id',
        (
            first - find_longest(connection, first, last),
            last,
            topic,
            identity.onset,
            first,
            last,
            source,
            place,
            *(() if is_list else (identity.subject,)),
        ),
    )
    found = [(row[0], _identity(row)) for row in rows]
    wanted = _list_things(identity.subject)
    return [one for one in found if _list_things(one[1].subject) == wanted]


def _list_things(subject: str) -> tuple[str, list[str]]:
    """Return what a subject says of things, and the things in alphabetical order."""
    head, _, things = subject.rpartition(' of ')
    return head, sorted(things.split(SEPARATOR))


def list_overlapping(
    connection: apsw.Connection, identity: Identity, collection: str
) -> list[tuple[int, Identity]]:
    """
    Return active memories and identities of events of other topics that overlap one.

    They are of its source, subject and collection, and begin no earlier than its duration before
    it.
    """
    ids = find_each(connection, (identity.source, identity.subject, collection))
    if ids is None:
        return []
    kinds = write_kinds(connection)
    rows = connection.execute(
        f'{_AS_IT_CAME} WHERE e.id IN (SELECT id FROM events INDEXED BY events_by_kind'
        f' WHERE kind IN {kinds} AND onset BETWEEN ? AND ?) AND e.active AND e."end" >= ?'
        ' AND e.source = ? AND e.subject = ? AND e.collection = ? AND t.name <> ?'
        ' ORDER BY e.id',
        (
            2 * identity.onset - identity.end,
            identity.end,
            identity.onset,
            *ids,
            identity.topic,
        ),
    )
    return [(row[0], _identity(row)) for row in rows]


def find_last_look(
    connection: apsw.Connection, source: str, topic: str, collection: str, before_ns: int
) -> tuple[int, int, str] | None:
    """Return id, stamp and look of the last active picture of a topic before a stamp."""
    ids = find_each(connection, (source, topic, collection))
    if ids is None:
        return None
    of_source, of_topic, of_collection = ids
    row = connection.execute(
        'SELECT id, peak, look FROM events INDEXED BY events_pictured'
        ' WHERE topic = ? AND peak < ? AND look IS NOT NULL AND active'
        ' AND source = ? AND collection = ? ORDER BY peak DESC, id DESC LIMIT 1',
        (of_topic, before_ns, of_source, of_collection),
    ).fetchone()
    return None if row is None else (row[0], row[1], row[2])


def _identity(row: Sequence[Any]) -> Identity:
    source, topic, subject, onset, peak, end, look, broken_off = row[1:]
    return Identity(source, topic, subject, onset, peak, end, look, bool(broken_off))

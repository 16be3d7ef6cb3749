"""What tells one event from another: its source, its topic, its subject and its stamps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw


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


def put(connection: apsw.Connection, memory_id: int, identity: Identity) -> None:
    """Note which event a memory is."""
    connection.execute(
        'INSERT INTO events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (
            memory_id,
            identity.source,
            identity.topic,
            identity.subject,
            identity.onset,
            identity.peak,
            identity.end,
            identity.look,
            identity.broken_off,
        ),
    )


def get(connection: apsw.Connection, memory_id: int) -> Identity | None:
    """Return which event a memory is; None where it is none that the senses noticed."""
    row = connection.execute('SELECT * FROM events WHERE memory_id = ?', (memory_id,)).fetchone()
    return None if row is None else _identity(row)


def around(
    connection: apsw.Connection, identity: Identity, slack_ns: int = 0
) -> list[tuple[int, Identity]]:
    """
    Return memories and identities of the events of the same source, topic and subject nearby.

    Nearby are those that begin at the same onset, and those whose peak lies in its extent, or in
    the nanoseconds `slack_ns` around it.
    """
    of = (identity.topic, identity.subject)
    rows = connection.execute(
        'SELECT * FROM events WHERE topic = ? AND subject = ? AND onset = ? AND source = ?'
        ' UNION '
        'SELECT * FROM events WHERE topic = ? AND subject = ? AND peak BETWEEN ? AND ?'
        ' AND source = ? ORDER BY 1',
        (
            *of,
            identity.onset,
            identity.source,
            *of,
            identity.onset - slack_ns,
            identity.end + slack_ns,
            identity.source,
        ),
    )
    return [(row[0], _identity(row)) for row in rows]


def _identity(row: Sequence[Any]) -> Identity:
    source, topic, subject, onset, peak, end, look, broken_off = row[1:]
    return Identity(source, topic, subject, onset, peak, end, look, bool(broken_off))

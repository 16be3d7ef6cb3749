"""Names that events have in common: kinds, labels, topics, frames, robots, sessions, tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import apsw

from robot_memory.core.json_text import dump_json
from robot_memory.storage import remembered

_TABLE = 'event_names'
LONGEST = 256
"""Characters of a task's or robot's name that are stored."""


def intern(connection: apsw.Connection, name: str | None) -> int | None:
    """Return the id of a name, a new one where it has none; None for None."""
    if name is None:
        return None
    found = find_id(connection, name)
    if found is not None:
        return found
    connection.execute('INSERT INTO event_names (name) VALUES (?)', (name,))
    return connection.last_insert_rowid()


def find_id(connection: apsw.Connection, name: str) -> int | None:
    """Return the id of a name, None where it has none."""
    return remembered.look_up(_TABLE, name, lambda: _select_id(connection, name))


def _select_id(connection: apsw.Connection, name: str) -> int | None:
    found = connection.execute('SELECT id FROM event_names WHERE name = ?', (name,)).fetchone()
    return None if found is None else int(found[0])


def find_each(connection: apsw.Connection, names: Iterable[str]) -> list[int] | None:
    """Return the ids of names, in their order; None where one has none."""
    found = []
    for name in names:
        number = find_id(connection, name)
        if number is None:
            return None
        found.append(number)
    return found


def find_ids(connection: apsw.Connection, names: Iterable[str]) -> list[int]:
    """Return the ids that there are of names, ascending."""
    rows = connection.execute(
        'SELECT id FROM event_names WHERE name IN (SELECT value FROM json_each(?)) ORDER BY id',
        (dump_json(list(names)),),
    )
    return [row[0] for row in rows]


def list_all(connection: apsw.Connection) -> list[str]:
    """Return all names, in the order in which they came."""
    return [row[0] for row in connection.execute('SELECT name FROM event_names ORDER BY id')]


def read(connection: apsw.Connection, ids: Iterable[int | None]) -> dict[int | None, str | None]:
    """Return names by their ids; None has none."""
    rows: Any = connection.execute(
        'SELECT id, name FROM event_names WHERE id IN (SELECT value FROM json_each(?))',
        (dump_json([one for one in ids if one is not None]),),
    )
    return {None: None, **dict(rows)}

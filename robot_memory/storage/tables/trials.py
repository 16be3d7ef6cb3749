"""
Rows of trials: what a skill learns from, derived from the contexts of their memories.

A row holds for the version of the rules that it was made by. Where there is no such row the trial
is read anew from its memory's context, so a lost or stale row changes no answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import apsw

from robot_memory.core.amounts import Value
from robot_memory.core.trials import (
    TRIAL,
    Trial,
    read_circumstances,
    read_figures,
    read_trial,
    write_figures,
)
from robot_memory.storage.tables import event_names, situations
from robot_memory.storage.tables.trial_uses import IS_COUNTED

VERSION = 1
"""Raise it when the same context would give another row: stored ones are then read anew."""
_IS_TRIAL = f"m.type = 'perception' AND json_type(m.context, '$.{TRIAL}') = 'object'"
_COLUMNS = 'situation, figures, success, simulated, robot, surprise'


class Row(NamedTuple):
    """Hold a trial as it is learned from; figures are in SI units."""

    memory_id: int
    situation: int
    numbers: Mapping[str, Value]
    params: Mapping[str, Value]
    results: Mapping[str, Value]
    success: bool | None
    simulated: bool
    robot: str | None
    surprise: float | None


def put(
    connection: apsw.Connection,
    memory_id: int,
    kind: str,
    collection: str,
    context: Mapping[str, Any],
) -> None:
    """Write the row of a memory that tells of a trial, and remove that of one that does not."""
    if kind == 'perception':
        remove(connection, memory_id)
        insert(connection, memory_id, kind, collection, context)


def insert(
    connection: apsw.Connection,
    memory_id: int,
    kind: str,
    collection: str,
    context: Mapping[str, Any],
) -> None:
    """Write the row of a memory that is new, if it tells of a trial."""
    trial = read_trial(context) if kind == 'perception' and TRIAL in context else None
    if trial is None:
        return
    connection.execute(
        'INSERT INTO trials (memory_id, version, collection, skill, key, body, '
        f'{_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (
            memory_id,
            VERSION,
            collection,
            trial.skill,
            trial.key,
            trial.body,
            situations.intern(connection, trial.situation),
            write_figures(trial),
            trial.success,
            trial.simulated,
            trial.robot,
            trial.surprise,
        ),
    )
    connection.executemany(
        'INSERT OR IGNORE INTO trial_uses (used, trial) VALUES (?, ?)',
        [(used, memory_id) for used in trial.memory_ids],
    )


def remove(connection: apsw.Connection, memory_id: int) -> None:
    """Remove the row of a memory, if it has one."""
    removed = connection.execute(
        'DELETE FROM trials WHERE memory_id = ? RETURNING situation', (memory_id,)
    ).fetchone()
    if removed is not None:
        connection.execute('DELETE FROM trial_uses WHERE trial = ?', (memory_id,))
        situations.release(connection, removed[0])


def find_by_key(connection: apsw.Connection, collection: str, key: str) -> tuple[int, str] | None:
    """Return the first memory that was stored with a key, and the digest of what was given."""
    row = connection.execute(
        'SELECT memory_id, body FROM trials WHERE collection = ? AND key = ?'
        ' ORDER BY memory_id LIMIT 1',
        (collection, key),
    ).fetchone()
    return None if row is None else (int(row[0]), str(row[1]))


def count(connection: apsw.Connection, collection: str, skill: str, until: int = 2**62) -> int:
    """Return how many active trials of a skill there are, up to a memory."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM trials AS t JOIN memories AS m ON m.id = t.memory_id'
        " WHERE t.collection = ? AND t.skill = ? AND t.memory_id <= ? AND m.status = 'active'",
        (collection, skill, until),
    )
    return int(number)


def count_among(
    connection: apsw.Connection, collection: str, skill: str, ids: Iterable[int]
) -> int:
    """Return how many trials of a skill, active or not, there are among some ids."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM trials WHERE collection = ? AND skill = ?'
        ' AND memory_id IN (SELECT value FROM json_each(?))',
        (collection, skill, json.dumps(list(ids))),
    )
    return int(number)


def count_uncounted(connection: apsw.Connection, collection: str, skill: str) -> int:
    """Return how many active trials stand on an authority too low to be learned from."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM trials AS t JOIN memories AS m ON m.id = t.memory_id'
        f" WHERE t.collection = ? AND t.skill = ? AND m.status = 'active' AND NOT {IS_COUNTED}",
        (collection, skill),
    )
    return int(number)


def list_skills(connection: apsw.Connection, collection: str) -> list[str]:
    """Return the skills of a collection by name, whatever became of their trials."""
    rows = connection.execute(
        'WITH RECURSIVE known (skill) AS ('
        ' SELECT min(skill) FROM trials WHERE collection = ?1 UNION ALL'
        ' SELECT (SELECT min(skill) FROM trials WHERE collection = ?1 AND skill > known.skill)'
        ' FROM known WHERE known.skill IS NOT NULL)'
        ' SELECT skill FROM known WHERE skill IS NOT NULL',
        (collection,),
    )
    return [row[0] for row in rows]


def read_situations(connection: apsw.Connection, collection: str, skill: str) -> dict[int, str]:
    """Return the words of a skill's situations by their ids."""
    rows: Any = connection.execute(
        "SELECT t.situation, m.context ->> '$.trial.situation' FROM (SELECT situation,"
        ' max(memory_id) AS newest FROM trials WHERE collection = ? AND skill = ?'
        ' GROUP BY situation) AS t JOIN memories AS m ON m.id = t.newest',
        (collection, skill),
    )
    return {situation: words or '' for situation, words in rows}


def read(
    connection: apsw.Connection, collection: str, skill: str, ids: Iterable[int] | None = None
) -> list[Row]:
    """
    Return the active trials of a skill that are learned from, in the order of writing.

    Only those among some ids, where they are given.
    """
    some = '' if ids is None else ' AND t.memory_id IN (SELECT value FROM json_each(?4))'
    given = () if ids is None else (json.dumps(list(ids)),)
    rows: Any = connection.execute(
        'SELECT t.memory_id, '
        + ', '.join(f't.{name}' for name in _COLUMNS.split(', '))
        + ' FROM trials AS t CROSS JOIN memories AS m ON m.id = t.memory_id'
        " WHERE t.collection = ?1 AND t.skill = ?2 AND m.status = 'active'"
        f' AND {IS_COUNTED} AND t.version = ?3{some} ORDER BY t.memory_id',
        (collection, skill, VERSION, *given),
    )
    return [_make_row(*row) for row in rows]


def _make_row(
    memory_id: int,
    situation: int,
    figures: str,
    success: int | None,
    simulated: int,
    robot: str | None,
    surprise: float | None,
) -> Row:
    return Row(
        memory_id,
        situation,
        *read_figures(figures),
        None if success is None else bool(success),
        bool(simulated),
        robot,
        surprise,
    )


def make_row(
    connection: apsw.Connection, memory_id: int, trial: Trial, context: Mapping[str, Any]
) -> Row:
    """Return the row of a trial that was just inserted with its memory's context."""
    situation = situations.intern(connection, trial.situation)
    circumstances = read_circumstances(context)
    figures = trial.numbers, trial.params, trial.results
    return Row(memory_id, situation, *figures, *circumstances, trial.surprise)


def refresh(connection: apsw.Connection) -> int:
    """Write the rows that are missing or stale, remove those of no trial; return how many."""
    gone: list[Any] = connection.execute(
        'SELECT t.memory_id FROM trials AS t LEFT JOIN memories AS m'
        f' ON m.id = t.memory_id AND {_IS_TRIAL} WHERE m.id IS NULL'
    ).fetchall()
    for (memory_id,) in gone:
        remove(connection, memory_id)
    stale = _find_stale(connection)
    _put_each(connection, stale)
    return len(gone) + len(stale)


def restore(connection: apsw.Connection) -> None:
    """Write the rows of trials whose events are lost, which `refresh` finds no more."""
    lacking: list[Any] = connection.execute(
        'SELECT m.id, m.collection, m.context FROM memories AS m'
        f' WHERE {_IS_TRIAL} AND m.id NOT IN (SELECT memory_id FROM trials)'
    ).fetchall()
    _put_each(connection, lacking)


def _put_each(connection: apsw.Connection, rows: Iterable[Any]) -> None:
    """Write the rows of memories (id, collection, context as JSON) that tell of a trial."""
    for memory_id, collection, context in rows:
        put(connection, memory_id, 'perception', collection, json.loads(context))


def _find_stale(connection: apsw.Connection, also: str = '1') -> list[Any]:
    """
    Return memories `m` that tell of a trial and have no row of the present rules.

    With their ids, collections and contexts as JSON.
    """
    found = event_names.find_ids(connection, [TRIAL])
    return connection.execute(
        'SELECT m.id, m.collection, m.context FROM events AS e INDEXED BY events_whole'
        ' CROSS JOIN memories AS m ON m.id = e.id'
        ' LEFT JOIN trials AS t ON t.memory_id = e.id AND t.version = ?'
        ' WHERE e.kind = ? AND e.id = e.memory_id AND t.memory_id IS NULL'
        f' AND {_IS_TRIAL} AND {also}',
        (VERSION, found[0] if found else None),
    ).fetchall()


def read_stale(connection: apsw.Connection, collection: str, skill: str) -> list[tuple[Row, str]]:
    """
    Return the trials that are learned from and have no row of the present rules, with their words.

    Their situations have negative ids.
    """
    found = []
    is_learned = f"m.status = 'active' AND {IS_COUNTED}"
    for memory_id, place, context in _find_stale(connection, is_learned):
        trial = read_trial(json.loads(context))
        if trial is not None and (place, trial.skill) == (collection, skill):
            digest = situations.digest(trial.situation)
            row = Row(
                memory_id,
                -int.from_bytes(digest[:6], 'big'),
                trial.numbers,
                trial.params,
                trial.results,
                trial.success,
                trial.simulated,
                trial.robot,
                trial.surprise,
            )
            found.append((row, trial.situation))
    return found


def get(connection: apsw.Connection, memory_id: int) -> Trial | None:
    """Return the trial that a memory tells of; None where it tells of none."""
    row = connection.execute('SELECT context FROM memories WHERE id = ?', (memory_id,)).fetchone()
    return None if row is None else read_trial(json.loads(row[0]))


def get_state(
    connection: apsw.Connection, collection: str, skill: str
) -> tuple[int, dict[str, Any]] | None:
    """Return up to which memory a skill's state is, and the state."""
    row = connection.execute(
        'SELECT last, state FROM skill_states WHERE collection = ? AND skill = ?',
        (collection, skill),
    ).fetchone()
    return None if row is None else (int(row[0]), json.loads(row[1]))


def put_state(
    connection: apsw.Connection,
    collection: str,
    skill: str,
    trials: int,
    last: int,
    state: Mapping[str, Any],
) -> None:
    """Keep what was learned of a skill from so many trials, up to a memory."""
    connection.execute(
        'INSERT OR REPLACE INTO skill_states (collection, skill, trials, last, state)'
        ' VALUES (?, ?, ?, ?, ?)',
        (collection, skill, trials, last, json.dumps(state)),
    )

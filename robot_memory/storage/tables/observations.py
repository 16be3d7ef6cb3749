"""
Rows of observations: occasions on which the text of a memory was said again.

One that is `newer` stands before the memory's own context: it was said later, on no lower
authority. One that has `ended_by` is history: an audit line took it back, or gave the memory
another text. Facets and positions of those that stand lead to the memory as its own do.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import add
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.evidence import Evidence
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record, find_actor, is_simulated, read_outcome
from robot_memory.storage import epochs
from robot_memory.storage.indexes import facets, indexed, partitions, placements, positions
from robot_memory.storage.indexes.occasions import Occasion
from robot_memory.storage.tables import audit, writers

FIELDS = ('at', 'session_id', 'text', 'context', 'stamp', 'outcome', 'simulated', 'newer')
"""What an observation holds of the occasion, the speaker aside."""
RETRY = 600_000_000
"""Microseconds within which the same caller, session and context are a retry."""
_CORRECTED = {'at': epochs.correct('at', 'epoch')}
_READ = ', '.join(_CORRECTED.get(name, name) for name in FIELDS)
_KEPT = (
    'memory_id, at, epoch, writer_id, session_id, text, context, stamp, outcome, simulated,'
    ' actor_id'
)
STANDING = 'ended_by IS NULL'
"""SQL of observations that no audit line has ended."""


def insert(
    connection: apsw.Connection,
    memory_id: int,
    content: str,
    said: Record,
    audit_id: int,
    *,
    newer: bool,
) -> int:
    """
    Insert what was said when the text of a memory was stated again; return the row's id.

    `content` is the text of the memory: one that differs from it is stored. `audit_id` is the line
    of the call.
    """
    connection.execute(
        f'INSERT INTO observations ({_KEPT}, newer, audit_id)'
        f' VALUES (?, ?, {epochs.NEWEST}, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
        (
            memory_id,
            said.updated_at,
            writers.get_id(connection, said.writer or THE_STORE),
            said.session_id,
            None if said.content == content else said.content,
            dump_json(said.context, 'context'),
            said.stamp,
            read_outcome(said.context),
            is_simulated(said.context),
            said.actor_id,
            newer,
            audit_id,
        ),
    )
    number = connection.last_insert_rowid()
    _put(connection, memory_id, said.context, newer=newer)
    return number


def insert_imported(
    connection: apsw.Connection, memory_id: int, values: Mapping[str, Any]
) -> None:
    """Insert an observation of another store, whose speaker is known by name only."""
    writer = Writer('import', values['said_by'], authority='imported')
    line = audit.record(
        connection, memory_id, 'observed', writer, '', {}, values['at'], is_now=False
    )
    stored = {
        **{name: values[name] for name in FIELDS},
        'context': dump_json(values['context'], 'context'),
        'writer_id': writers.get_id(connection, writer),
        'actor_id': find_actor(values['context']),
        'audit_id': line,
        'ended_by': line if values['ended'] else None,
    }
    connection.execute(
        f'INSERT INTO observations (memory_id, {", ".join(stored)})'
        f' VALUES ({", ".join("?" * (len(stored) + 1))})',
        (memory_id, *stored.values()),
    )
    if not values['ended']:
        _put(connection, memory_id, values['context'], newer=bool(values['newer']))


def find_retry(
    connection: apsw.Connection, memory_id: int, said: Record
) -> tuple[bool, int | None]:
    """
    Say whether a text is a retry of what its caller just said, and of which observation.

    It is one if the same writer said it in the same session and context within ten minutes; with
    a stamp, at the same stamp. None is the memory's own statement.
    """
    writer = writers.get_id(connection, said.writer or THE_STORE)
    same = (
        'writer_id = ? AND session_id IS ? AND context = ? AND stamp IS ?'
        f' AND abs({{}} - ?) <= {RETRY}'
    )
    values = (
        memory_id,
        writer,
        said.session_id,
        dump_json(said.context, 'context'),
        said.stamp,
        said.updated_at,
    )
    row = connection.execute(
        f'SELECT id FROM observations WHERE memory_id = ? AND {same.format(_CORRECTED["at"])}'
        f' AND {STANDING} ORDER BY id DESC LIMIT 1',
        values,
    ).fetchone()
    if row is not None:
        return True, int(row[0])
    created = epochs.correct('created_at', 'created_epoch')
    row = connection.execute(
        f'SELECT 1 FROM memories WHERE id = ? AND {same.format(created)}', values
    ).fetchone()
    return row is not None, None


def read(connection: apsw.Connection, memory_id: int) -> list[dict[str, Any]]:
    """
    Return the observations of a memory with their FIELDS and `said_by`, oldest first.

    Those that were `ended` are among them.
    """
    rows: list[Any] = connection.execute(
        f'SELECT {_READ}, ended_by IS NOT NULL, {writers.COLUMNS} FROM observations'
        ' JOIN writers AS w ON w.id = writer_id WHERE memory_id = ? ORDER BY observations.id',
        (memory_id,),
    ).fetchall()
    found = []
    for row in rows:
        values = dict(zip((*FIELDS, 'ended'), row, strict=False))
        values['context'] = json.loads(values['context'])
        values['ended'] = bool(values['ended'])
        found.append({**values, 'said_by': Writer(*row[len(FIELDS) + 1 :]).label})
    return found


def has_stamp(connection: apsw.Connection, memory_id: int, stamp: int) -> bool:
    """Say whether a memory has an observation with that stamp (ns)."""
    sql = f'SELECT 1 FROM observations WHERE memory_id = ? AND stamp = ? AND {STANDING} LIMIT 1'
    return connection.execute(sql, (memory_id, stamp)).fetchone() is not None


_SUMS = ', '.join(
    f'sum({real} AND {what})'
    for real in ('o.simulated IS NOT 1', 'o.simulated IS 1')
    for what in ('1', 'o.outcome IS NOT NULL', "o.outcome IS 'true'")
)
_AT = epochs.correct('o.at', 'o.epoch')
_SUMMARY = (
    f'SELECT o.memory_id, min({_AT}), max({_AT}), min(o.newer), {_SUMS} FROM observations AS o'
    ' WHERE o.memory_id IN (SELECT value FROM json_each(?)) AND o.ended_by IS NULL'
    ' GROUP BY o.memory_id'
)


def summarize(
    connection: apsw.Connection, facts: Sequence[Mapping[str, Any]]
) -> tuple[dict[int, Evidence], list[int]]:
    """
    Return what the occasions of each of some facts come to, its own statement included.

    A fact is given by the fields of its record. Second come the ids of those said again.
    """
    ids = json.dumps([fact['id'] for fact in facts])
    again = {row[0]: row[1:] for row in connection.execute(_SUMMARY, (ids,))}
    found = {}
    for fact in facts:
        first = last = fact['created_at']
        outcome = read_outcome(fact['context'])
        own = (1, int(outcome is not None), int(outcome == 'true'))
        sums = [0, 0, 0, *own] if is_simulated(fact['context']) == 1 else [*own, 0, 0, 0]
        if fact['id'] in again:
            earliest, latest, newer, *more = again[fact['id']]
            # A takeover put what the memory had said before into an observation.
            said = last if newer else fact['updated_at']
            first, last = min(first, earliest), max(said, latest)
            sums = list(map(add, sums, more))
        found[fact['id']] = Evidence(sums[0], first, last, *sums[1:])
    return found, list(again)


def read_places(
    connection: apsw.Connection, ids: Iterable[int], path: str = '$.spatial'
) -> dict[int, dict[str, Any]]:
    """Return the newest context with a JSON path of the memories whose observations have it."""
    rows = connection.execute(
        'SELECT memory_id, context FROM observations WHERE id IN'
        ' (SELECT max(id) FROM observations WHERE memory_id IN (SELECT value FROM json_each(?))'
        f' AND {STANDING} AND newer AND json_type(context, ?) IS NOT NULL GROUP BY memory_id)',
        (json.dumps(list(ids)), path),
    )
    return {memory_id: json.loads(context) for memory_id, context in rows}


@dataclass(frozen=True)
class Occurred:
    """Hold the context, session and speaker of an observation."""

    context: dict[str, Any]
    session_id: str | None
    actor_id: str | None


def choose(
    connection: apsw.Connection, ids: Iterable[int], occasion: Occasion
) -> dict[int, Occurred]:
    """
    Return of each of some memories the newest observation that passes.

    A memory is left out whose own statement passes and is newer than any observation that does.
    """
    newest = (
        f'(SELECT o.id FROM observations AS o WHERE {occasion.observed} AND {{}}'
        ' ORDER BY o.id DESC LIMIT 1)'
    )
    chosen = (
        f'coalesce({newest.format("o.newer")}, iif({occasion.own}, NULL,'
        f' {newest.format("NOT o.newer")}))'
    )
    rows = connection.execute(
        'SELECT memory_id, context, session_id, actor_id FROM observations WHERE id IN'
        f' (SELECT {chosen} FROM memories AS m WHERE m.id IN (SELECT value FROM json_each(?)))',
        (*occasion.where.values * 3, json.dumps(list(ids))),
    )
    return {
        memory_id: Occurred(json.loads(context), session_id, actor_id)
        for memory_id, context, session_id, actor_id in rows
    }


def age(connection: apsw.Connection, memory_id: int, line: int) -> None:
    """Let the observations of a memory stand behind the context that an audit line gave it."""
    connection.execute(
        f'INSERT INTO observations ({_KEPT}, newer, audit_id) SELECT {_KEPT}, 0, ?2'
        f' FROM observations WHERE memory_id = ?1 AND {STANDING} AND newer',
        (memory_id, line),
    )
    connection.execute(
        f'UPDATE observations SET ended_by = ?2 WHERE memory_id = ?1 AND {STANDING} AND newer',
        (memory_id, line),
    )


def end(connection: apsw.Connection, memory_id: int, line: int) -> None:
    """End the observations of a memory: an audit line gave it a text that none of them said."""
    connection.execute(
        f'UPDATE observations SET ended_by = ? WHERE memory_id = ? AND {STANDING}',
        (line, memory_id),
    )


def adopt(connection: apsw.Connection, memory_id: int, merged_id: int, line: int) -> None:
    """Let what a merged memory said, and its observations, be observations of the kept one."""
    connection.execute(
        f'INSERT INTO observations ({_KEPT}, newer, audit_id)'
        ' SELECT ?1, m.created_at, m.created_epoch, m.writer_id, m.session_id,'
        ' nullif(m.content, k.content), m.context, m.stamp,'
        " nullif(m.context -> '$.task.success', 'null'),"
        " CASE m.context ->> '$.env.sim_or_real' WHEN 'sim' THEN 1 WHEN 'real' THEN 0 END,"
        ' m.actor_id, m.created_at > k.created_at, ?3 FROM memories AS m JOIN memories AS k'
        ' ON k.id = ?1 WHERE m.id = ?2 AND m.writer_id IS NOT NULL',
        (memory_id, merged_id, line),
    )
    connection.execute(
        f'INSERT INTO observations ({_KEPT}, newer, audit_id) SELECT'
        f' {_KEPT.replace("memory_id", "?1", 1)}, 0, ?3 FROM observations'
        f' WHERE memory_id = ?2 AND {STANDING} ORDER BY id',
        (memory_id, merged_id, line),
    )
    index(connection, memory_id)


def undo(connection: apsw.Connection, memory_id: int, line: int, undoing: int) -> None:
    """Let the observations stand again that an audit line ended, and end those that it made."""
    connection.execute(
        f'INSERT INTO observations ({_KEPT}, newer, audit_id) SELECT {_KEPT}, newer, ?3'
        ' FROM observations WHERE memory_id = ?1 AND ended_by = ?2 ORDER BY id',
        (memory_id, line, undoing),
    )
    connection.execute(
        f'UPDATE observations SET ended_by = ?2 WHERE audit_id = ?1 AND {STANDING}',
        (line, undoing),
    )
    index(connection, memory_id)


def list_observed(connection: apsw.Connection, first: int = 0, last: int = 2**63 - 1) -> list[int]:
    """Return the memories that have observations, of all or from one to another."""
    sql = (
        'SELECT DISTINCT memory_id FROM observations'
        f' WHERE memory_id BETWEEN ? AND ? AND {STANDING}'
    )
    return [row[0] for row in connection.execute(sql, (first, last))]


def index(connection: apsw.Connection, memory_id: int) -> None:
    """Have the facets and positions of a memory's observations lead to it."""
    for context, newer in _list_contexts(connection, memory_id):
        _put(connection, memory_id, json.loads(context), newer=bool(newer))


def remove_positions(connection: apsw.Connection, memory_id: int, collection: str) -> None:
    """Take a memory out of the index of positions under those of its observations."""
    for context, _ in _list_contexts(connection, memory_id):
        positions.remove(connection, memory_id, collection, json.loads(context))


def _list_contexts(connection: apsw.Connection, memory_id: int) -> list[tuple[str, int]]:
    rows: list[Any] = connection.execute(
        f'SELECT context, newer FROM observations WHERE memory_id = ? AND {STANDING}',
        (memory_id,),
    ).fetchall()
    return rows


def _put(
    connection: apsw.Connection, memory_id: int, context: Mapping[str, Any], *, newer: bool
) -> None:
    facets.put(connection, memory_id, context)
    row: Any = connection.execute(
        "SELECT collection, type FROM memories WHERE id = ? AND status = 'active'", (memory_id,)
    ).fetchone()
    if row is None:
        return
    if newer:
        positions.put(connection, memory_id, row[0], context)
        placements.put(connection, memory_id, row[0], context)
    # It can be found by a further context, which copies that remember what passes must learn.
    indexed.record_change(connection, memory_id, partitions.of(*row))
    if is_simulated(context) == 0:
        indexed.set_real(connection, memory_id)

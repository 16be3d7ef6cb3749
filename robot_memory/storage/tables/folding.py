"""
Folding: the event of a perception stays, and its memory goes, with all that belongs to it.

An event whose memory was folded has the id that it had, and as `memory_id` the digest that stands
for it: a perception of the events of one hour, kind, label, collection, session, actor, robot and
world (real or simulated). So what is done to a digest is done to its events, and what an actor did
is in digests of that actor alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.errors import Conflict, NotFound, RobotMemoryError
from robot_memory.core.ranges import write_ranges, write_steps
from robot_memory.storage import epochs
from robot_memory.storage.indexes import entries, facets
from robot_memory.storage.tables import (
    audit,
    counts,
    erasures,
    event_names,
    events,
    parts,
    sizes,
    trials,
)
from robot_memory.storage.tables.audit import FOLDED

IS_FOLDED = 'e.id > 0 AND e.memory_id <> e.id'
"""SQL of events `e` whose memory was folded."""
_REFERRED_TO = ' OR '.join(
    f'EXISTS (SELECT 1 FROM {table} WHERE {column} = m.id)'
    for table, column in (
        ('observations', 'memory_id'),
        ('proposals', 'memory_id'),
        ('protected_changes', 'memory_id'),
        ('memories', 'superseded_by'),
    )
)
_MAY_FOLD = (
    'NOT e.broken_off AND e.kind IS NOT ?3'
    " AND m.perception_type IS NOT 'procedural'"
    ' AND m.category NOT IN (SELECT value FROM json_each(?4))'
    f' AND NOT ({_REFERRED_TO})'
    # What was changed stays with its history, but for what only went by its age.
    " AND iif(m.status = 'active', 0, a.memory_id IS NULL) = 0"
    ' AND (SELECT count(*) FROM revisions WHERE memory_id = m.id) = (a.memory_id IS NOT NULL)'
)


class Sort(NamedTuple):
    """A sort of events, by the ids of its names, and how many of them are whole."""

    kind: int
    label: int | None
    whole: int


class Candidate(NamedTuple):
    """
    A perception that may be folded; `onset` is corrected, in nanoseconds.

    `world` is real, simulated or unknown; `retired` is the clock epoch in which its age did.
    """

    id: int
    onset: int
    collection: str
    session_id: str | None
    actor_id: str | None
    robot: str | None
    world: str | None
    authority: str
    confidence: float
    perception_type: str
    retired: int | None


def list_sorts(connection: apsw.Connection) -> list[Sort]:
    """Return the sorts of whole perceptions, the commonest first."""
    rows = connection.execute(
        'SELECT kind, label, count(*) FROM events INDEXED BY events_whole WHERE id = memory_id'
        ' GROUP BY kind, label ORDER BY count(*) DESC, kind, label'
    )
    return [Sort(*row) for row in rows]


def find_oldest(
    connection: apsw.Connection, sort: Sort, protected: Sequence[str], limit: int
) -> list[Candidate]:
    """Return the oldest perceptions of a sort that may be folded."""
    fault: list[int | None] = [*event_names.find_ids(connection, [events.FAULT])]
    rows = connection.execute(
        f'SELECT m.id, e.onset + 1000 * {epochs.read_offset("e.epoch")}, m.collection,'
        " m.session_id, m.actor_id, r.name, m.context ->> '$.env.sim_or_real', m.authority,"
        ' m.confidence, m.perception_type, iif(a.memory_id IS NULL, NULL, coalesce(a.epoch, 0))'
        ' FROM events AS e INDEXED BY events_whole JOIN memories AS m ON m.id = e.id'
        ' LEFT JOIN event_names AS r ON r.id = e.robot'
        ' LEFT JOIN retired_by_age AS a ON a.memory_id = m.id'
        f' WHERE e.id = e.memory_id AND e.kind = ?1 AND e.label IS ?2 AND {_MAY_FOLD}'
        ' ORDER BY e.onset LIMIT ?5',
        (sort.kind, sort.label, *(fault or [None]), json.dumps(list(protected)), limit),
    )
    return [Candidate(*row) for row in rows]


def fold(connection: apsw.Connection, memory_id: int, digest: int) -> int:
    """
    Remove a memory with all that belongs to it, and let its event belong to a digest.

    Return how many bytes of perceptions that takes off the sum.
    """
    size = sizes.measure(connection, memory_id)
    ((collection, status, text),) = connection.execute(
        'SELECT collection, status, context FROM memories WHERE id = ?', (memory_id,)
    )
    context = json.loads(text)
    if status == 'active':
        entries.remove(connection, memory_id, collection, context)
    facets.remove(connection, memory_id, context)
    parts.remove_all(connection, memory_id)
    trials.remove(connection, memory_id)
    for table in ('payloads', 'accesses', 'retired_by_age', 'revisions'):
        connection.execute(f'DELETE FROM {table} WHERE memory_id = ?', (memory_id,))
    connection.execute('DELETE FROM memories WHERE id = ?', (memory_id,))
    connection.execute('UPDATE events SET memory_id = ? WHERE id = ?', (digest, memory_id))
    counts.change(connection, 'perception', status, -1)
    return size


def note(
    connection: apsw.Connection,
    ids: Iterable[int],
    size: int,
    digests: Sequence[int],
    reason: str,
    at: int,
) -> None:
    """
    Note that a transaction folded memories, which took so many bytes, into digests, and why.

    Its audit line stands in place of their own.
    """
    found = sorted(ids)
    sizes.note_folded(connection, len(found), size)
    lines = audit.find_lines(connection, found)
    detail = {
        'events': len(found),
        'ids': write_ranges(found),
        'lines': write_steps(lines),
        'digests': write_ranges(digests),
    }
    audit.record(connection, None, FOLDED, THE_STORE, reason, detail, at)
    audit.remove_lines(connection, lines)
    audit.forget_texts(connection, found)


def is_digest(context: Mapping[str, Any]) -> bool:
    """Say whether a context is that of a digest."""
    digest = context.get('digest')
    return isinstance(digest, dict) and digest.get('count') is not None


def find_digest(connection: apsw.Connection, memory_id: int) -> int | None:
    """Return the digest that a memory was folded into; None where it was not."""
    row: Any = connection.execute(
        f'SELECT e.memory_id FROM events AS e WHERE e.id = ? AND {IS_FOLDED}', (memory_id,)
    ).fetchone()
    return None if row is None else row[0]


def explain_missing(connection: apsw.Connection, memory_id: int) -> RobotMemoryError:
    """Return why there is no memory of an id: it was folded (Conflict), erased, or never there."""
    digest = find_digest(connection, memory_id)
    if digest is None:
        erased = erasures.describe_erased(connection, memory_id)
        if erased:
            return NotFound(f'memory {memory_id} was erased {erased}')
        return NotFound(f'no memory {memory_id}; recall and query_records return ids')
    return Conflict(
        f'memory {memory_id} was folded into the digest, memory {digest}; nothing was changed, '
        'use that one: its events follow it'
    )

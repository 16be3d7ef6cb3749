"""Finding what an erasure takes: by memories, session, actor or filter; active or not."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import apsw

from robot_memory.storage.tables import folding


@dataclass
class Doomed:
    """
    Hold ids of all that goes.

    `created` is when each memory was stored (microseconds), which tells copies of a store apart;
    `kept` maps memories that stay to the observations that they take over. `revisions` are ids
    and memories, `events` folded ones, `lines` audit lines of memories that stay.
    """

    created: dict[int, int] = field(default_factory=dict)
    kept: dict[int, int] = field(default_factory=dict)
    observations: list[int] = field(default_factory=list)
    revisions: dict[int, int] = field(default_factory=dict)
    events: list[int] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    proposals: list[int] = field(default_factory=list)
    sessions: list[str] = field(default_factory=list)

    @property
    def memories(self) -> list[int]:
        """Return the memories that go, ascending."""
        return sorted(self.created)

    @property
    def touched(self) -> list[int]:
        """Return all memories that go or change, as far as they are known by their ids."""
        return sorted({*self.created, *self.kept, *self.revisions.values()})

    def is_empty(self) -> bool:
        """Say whether nothing goes."""
        return not any(asdict(self).values())

    def write(self) -> dict[str, Any]:
        """Return it as JSON."""
        return asdict(self)

    @classmethod
    def read(cls, plain: dict[str, Any]) -> Doomed:
        """Return what was written."""
        maps = ('created', 'kept', 'revisions')
        values: dict[str, Any] = {
            name: {int(one): two for one, two in value.items()} if name in maps else value
            for name, value in plain.items()
        }
        return cls(**values)


def add_memories(connection: apsw.Connection, doomed: Doomed, ids: Iterable[int]) -> None:
    """Add memories with the events that were folded into those that are digests."""
    rows: Any = connection.execute(
        'SELECT id, created_at FROM memories WHERE id IN (SELECT value FROM json_each(?))',
        (json.dumps(list(ids)),),
    ).fetchall()
    doomed.created.update(rows)
    folded: Any = connection.execute(
        f'SELECT e.id FROM events AS e WHERE {folding.IS_FOLDED}'
        ' AND e.memory_id IN (SELECT value FROM json_each(?))',
        (json.dumps([row[0] for row in rows]),),
    )
    doomed.events += [row[0] for row in folded]


def find_by_ids(connection: apsw.Connection, ids: Sequence[int]) -> Doomed:
    """Return memories of ids, or folded events; raise NotFound for another id."""
    doomed = Doomed()
    add_memories(connection, doomed, ids)
    for memory_id in ids:
        if memory_id not in doomed.created:
            if folding.find_digest(connection, memory_id) is None:
                raise folding.explain_missing(connection, memory_id)
            doomed.events.append(memory_id)
    return doomed


def add_emptied(connection: apsw.Connection, doomed: Doomed) -> None:
    """Add the digests of which no event is left; let no event stand there twice."""
    doomed.events = list(dict.fromkeys(doomed.events))
    rows: Any = connection.execute(
        'SELECT m.id, m.created_at FROM memories AS m WHERE m.id IN (SELECT e.memory_id FROM'
        f' events AS e WHERE {folding.IS_FOLDED} AND e.id IN (SELECT value FROM json_each(?1)))'
        f' AND NOT EXISTS (SELECT 1 FROM events AS e WHERE {folding.IS_FOLDED}'
        ' AND e.memory_id = m.id AND e.id NOT IN (SELECT value FROM json_each(?1)))',
        (json.dumps(doomed.events),),
    ).fetchall()
    doomed.created.update(rows)
    for memory_id, _ in rows:
        doomed.kept.pop(memory_id, None)


def find_by_session(connection: apsw.Connection, session_id: str) -> Doomed:
    """Return what was said, stored or observed in a session."""
    return _find(connection, 'session_id', session_id)


def find_by_actor(connection: apsw.Connection, actor_id: str) -> Doomed:
    """Return what an actor said or did, in earlier states and in reasons, too."""
    doomed = _find(connection, 'actor_id', actor_id)
    rows: Any = connection.execute(
        'SELECT id, memory_id FROM revisions WHERE actor_id = ?', (actor_id,)
    ).fetchall()
    doomed.revisions = {number: one for number, one in rows if one not in doomed.created}
    lines: Any = connection.execute(
        'SELECT a.id, a.memory_id FROM audit AS a JOIN writers AS w ON w.id = a.writer_id'
        " WHERE w.actor = ? AND a.reason <> '' AND a.memory_id IS NOT NULL",
        (actor_id,),
    ).fetchall()
    asked: Any = connection.execute(
        'SELECT p.id FROM proposals AS p JOIN writers AS w ON w.id = p.writer_id'
        ' WHERE w.actor = ?',
        (actor_id,),
    ).fetchall()
    doomed.proposals = [row[0] for row in asked]
    doomed.lines = [line for line, one in lines if one not in doomed.created]
    return doomed


def _find(connection: apsw.Connection, column: str, value: str) -> Doomed:
    """Return what has a value; what an observation of another value holds takes that over."""
    doomed = Doomed()
    rows: Any = connection.execute(
        'SELECT m.id, (SELECT max(o.id) FROM observations AS o WHERE o.memory_id = m.id'
        f' AND o.ended_by IS NULL AND o.{column} IS NOT ?1) FROM memories AS m'
        f' WHERE m.{column} = ?1',
        (value,),
    ).fetchall()
    doomed.kept = {memory_id: other for memory_id, other in rows if other is not None}
    add_memories(connection, doomed, [row[0] for row in rows if row[1] is None])
    own: Any = connection.execute(
        f'SELECT id, memory_id FROM observations WHERE {column} = ?', (value,)
    ).fetchall()
    doomed.observations = [number for number, one in own if one not in doomed.created]
    states = connection.execute(
        'SELECT id, memory_id FROM revisions WHERE memory_id IN (SELECT value FROM json_each(?))',
        (json.dumps(list(doomed.kept)),),
    )
    doomed.revisions = dict(states)
    return doomed


_FINGERPRINT = (
    "SELECT m.id, m.status || '/' || m.updated_at || '/' || coalesce(hex(m.salt), '') || '/' ||"
    " (SELECT count(*) || '/' || coalesce(max(id), 0) || '/' || count(ended_by)"
    ' FROM observations WHERE memory_id = m.id)'
    ' FROM memories AS m WHERE m.id IN (SELECT value FROM json_each(?))'
)


def read_fingerprints(connection: apsw.Connection, doomed: Doomed) -> dict[str, str]:
    """Return what tells the present state of each memory, by its id, from any other."""
    observed: Any = connection.execute(
        'SELECT memory_id FROM observations WHERE id IN (SELECT value FROM json_each(?))',
        (json.dumps(doomed.observations),),
    ).fetchall()
    ids = sorted({*doomed.touched, *(row[0] for row in observed)})
    rows: Any = connection.execute(_FINGERPRINT, (json.dumps(ids),)).fetchall()
    events: Any = connection.execute(
        f'SELECT e.id, e.memory_id FROM events AS e WHERE {folding.IS_FOLDED}'
        ' AND e.id IN (SELECT value FROM json_each(?))',
        (json.dumps(doomed.events),),
    ).fetchall()
    return {str(one): text for one, text in rows} | {f'e{one}': str(two) for one, two in events}

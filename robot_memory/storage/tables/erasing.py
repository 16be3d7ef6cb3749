"""
Removing rows for good: memories with all that belongs to them, observations, events, sessions.

Lines of the audit stay, without reason, detail and salt; each memory gets a line `erased`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.core.json_text import dump_json
from robot_memory.core.records import Record
from robot_memory.storage.indexes import entries, facets, placements, positions
from robot_memory.storage.tables import (
    audit,
    counts,
    event_hours,
    memories,
    observations,
    parts,
    revisions,
    sizes,
    tombstones,
    transforms,
    trials,
)

ERASED = 'erased'
TABLES = (
    'turns payloads accesses retired_by_age revisions rule_conditions proposals'
    ' protected_changes observations origins'
).split()
_FIRST_NAMES = 3
"""Names that a new file has: the kinds of detectors."""
_FIRST_FIGURES = 8


def remove_memory(connection: apsw.Connection, erasure: int, memory_id: int) -> None:
    """Remove a memory with all that belongs to it, and keep its tombstones."""
    tombstones.put(connection, erasure, memory_id)
    ((kind, collection, status, text),) = connection.execute(
        'SELECT type, collection, status, context FROM memories WHERE id = ?', (memory_id,)
    )
    if kind == 'perception':
        sizes.note_erased(connection, memory_id)
    _remove_entries(connection, memory_id, collection, status, json.loads(text))
    _forget_skill(connection, memory_id)
    trials.remove(connection, memory_id)
    parts.remove_all(connection, memory_id)
    _remove_events(connection, 'memory_id = ?', memory_id)
    for table in TABLES:
        connection.execute(f'DELETE FROM {table} WHERE memory_id = ?', (memory_id,))
    connection.execute('DELETE FROM proposals WHERE replacing_id = ?', (memory_id,))
    connection.execute(
        'DELETE FROM replacements WHERE replacing_id = ?1 OR replaced_id = ?1', (memory_id,)
    )
    connection.execute('DELETE FROM trial_uses WHERE used = ?', (memory_id,))
    connection.execute('DELETE FROM memories WHERE id = ?', (memory_id,))
    counts.change(connection, kind, status, -1)


def _remove_entries(
    connection: apsw.Connection,
    memory_id: int,
    collection: str,
    status: str,
    context: dict[str, Any],
) -> None:
    """Remove a memory from all indexes, under its own context and those of its observations."""
    if status == 'active':
        entries.remove(connection, memory_id, collection, context)
    facets.remove(connection, memory_id, context)
    rows: Any = connection.execute(
        'SELECT context FROM observations WHERE memory_id = ?1 UNION ALL'
        ' SELECT context FROM revisions WHERE memory_id = ?1',
        (memory_id,),
    ).fetchall()
    for (text,) in rows:
        facets.remove(connection, memory_id, json.loads(text))
        positions.remove(connection, memory_id, collection, json.loads(text))


def _forget_skill(connection: apsw.Connection, memory_id: int) -> None:
    """Remove what was learned of the skill of a trial: it is learned again without it."""
    connection.execute(
        'DELETE FROM skill_states WHERE (collection, skill) IN'
        ' (SELECT collection, skill FROM trials WHERE memory_id = ?)',
        (memory_id,),
    )


def unlink_superseded(
    connection: apsw.Connection, ids: Sequence[int], writer: Writer, at: int
) -> None:
    """Let memories that stay name no erased one as that which superseded them."""
    asked = json.dumps(list(ids))
    rows: Any = connection.execute(
        'SELECT id FROM memories WHERE superseded_by IN (SELECT value FROM json_each(?1))'
        ' AND id NOT IN (SELECT value FROM json_each(?1))',
        (asked,),
    ).fetchall()
    connection.execute(
        'UPDATE memories SET superseded_by = NULL'
        ' WHERE superseded_by IN (SELECT value FROM json_each(?))',
        (asked,),
    )
    for (memory_id,) in rows:
        seal(connection, memory_id, 'unlinked', writer, '', at)


def seal(
    connection: apsw.Connection,
    memory_id: int,
    action: str,
    writer: Writer,
    reason: str,
    at: int,
) -> None:
    """Append the audit line of a memory that is another now, without its state of before."""
    digest = revisions.seal(connection, memory_id)
    audit.record(connection, memory_id, action, writer, reason, {}, at, digest=digest)


def remove_observation(connection: apsw.Connection, observation: int) -> int | None:
    """Remove an observation; return its memory, whose indexes then have to be made anew."""
    row = connection.execute(
        'DELETE FROM observations WHERE id = ? RETURNING memory_id, context', (observation,)
    ).fetchone()
    if row is None:
        return None
    memory_id, text = row
    collection = _get_collection(connection, memory_id)
    facets.remove(connection, memory_id, json.loads(text))
    positions.remove(connection, memory_id, collection, json.loads(text))
    return int(memory_id)


def _get_collection(connection: apsw.Connection, memory_id: int) -> str:
    ((collection,),) = connection.execute(
        'SELECT collection FROM memories WHERE id = ?', (memory_id,)
    )
    return str(collection)


def take_over(connection: apsw.Connection, memory_id: int, observation: int) -> None:
    """Let a memory say what an observation of it said, by whom and when; remove that."""
    old = memories.get(connection, [memory_id])[memory_id]
    if old.status == 'active':
        entries.remove(connection, memory_id, old.collection, old.context)
    facets.remove(connection, memory_id, old.context)
    ((content,),) = connection.execute(
        'SELECT coalesce(text, ?) FROM observations WHERE id = ?', (old.content, observation)
    )
    names = 'content = ?, content_hash = ?, guard = ?, token_count = ?'
    connection.execute(
        f'UPDATE memories SET {names}, context = o.context, actor_id = o.actor_id,'
        ' session_id = o.session_id, stamp = o.stamp, writer_id = o.writer_id,'
        ' authority = (SELECT authority FROM writers WHERE id = o.writer_id), stands = 0,'
        ' event_id = NULL FROM observations AS o WHERE o.id = ? AND memories.id = ?',
        (*memories.derive_columns(old.type, content), observation, memory_id),
    )
    remove_observation(connection, observation)
    new = memories.get(connection, [memory_id])[memory_id]
    if new.status == 'active':
        entries.add(connection, memory_id, new.type, new.collection, new.content, new.context)


def rewrite_digest(connection: apsw.Connection, old: Record, new: Record) -> None:
    """Give a digest the text and the context of the events that are left; no state is kept."""
    if old.status == 'active':
        entries.remove(connection, old.id, old.collection, old.context)
    facets.remove(connection, old.id, old.context)
    connection.execute(
        'UPDATE memories SET content = ?, content_hash = ?, guard = ?, token_count = ?,'
        ' context = ?, stamp = ? WHERE id = ?',
        (
            *memories.derive_columns(old.type, new.content),
            dump_json(new.context, 'context'),
            new.stamp,
            old.id,
        ),
    )
    connection.execute('DELETE FROM revisions WHERE memory_id = ?', (old.id,))
    facets.put(connection, old.id, new.context)
    if old.status == 'active':
        entries.add(connection, old.id, old.type, old.collection, new.content, new.context)


def forget_lines(connection: apsw.Connection, lines: Iterable[int]) -> list[int]:
    """Remove reason, detail and salt of audit lines; return the memories that they are of."""
    rows: Any = connection.execute(
        "UPDATE audit SET salt = NULL, reason = '', detail = '{}'"
        ' WHERE id IN (SELECT value FROM json_each(?)) AND memory_id IS NOT NULL'
        ' RETURNING memory_id',
        (json.dumps(list(lines)),),
    ).fetchall()
    return sorted({row[0] for row in rows})


def index_again(connection: apsw.Connection, memory_id: int) -> None:
    """Have the contexts of a memory and of its observations lead to it again."""
    record = memories.get(connection, [memory_id])[memory_id]
    facets.put(connection, memory_id, record.context)
    if record.status == 'active':
        positions.put(connection, memory_id, record.collection, record.context)
        placements.remove(connection, memory_id)
        placements.put(connection, memory_id, record.collection, record.context)
    observations.index(connection, memory_id)


def remove_revisions(connection: apsw.Connection, ids: Sequence[int]) -> list[int]:
    """Remove earlier states, and what was noted of them; return the memories that they were of."""
    connection.execute(
        'DELETE FROM protected_changes WHERE (memory_id, content) IN (SELECT memory_id, content'
        ' FROM revisions WHERE id IN (SELECT value FROM json_each(?)))',
        (json.dumps(list(ids)),),
    )
    rows: Any = connection.execute(
        'DELETE FROM revisions WHERE id IN (SELECT value FROM json_each(?)) RETURNING memory_id',
        (json.dumps(ids),),
    ).fetchall()
    return sorted({row[0] for row in rows})


def remove_proposals(connection: apsw.Connection, ids: Iterable[int]) -> None:
    """Remove changes that were asked for, and the texts of their lines."""
    connection.execute(
        'DELETE FROM proposals WHERE id IN (SELECT value FROM json_each(?))',
        (json.dumps(list(ids)),),
    )


def remove_folded(connection: apsw.Connection, erasure: int, event: int) -> int | None:
    """Remove a folded event and keep its tombstone; return the digest that it was in."""
    row = connection.execute(
        'SELECT memory_id FROM events WHERE id = ? AND id > 0 AND memory_id <> id', (event,)
    ).fetchone()
    if row is None:
        return None
    tombstones.put_events(connection, erasure, 'e.id = ?', event)
    _remove_events(connection, 'id = ?', event)
    connection.execute('DELETE FROM origins WHERE memory_id = ?', (event,))
    return int(row[0])


def list_folded(connection: apsw.Connection, digest: int) -> list[int]:
    """Return the events that a digest stands for, as they began."""
    rows: Any = connection.execute(
        'SELECT id FROM events WHERE memory_id = ? AND id > 0 AND id <> memory_id'
        ' ORDER BY onset, id',
        (digest,),
    )
    return [row[0] for row in rows]


def _remove_events(connection: apsw.Connection, where: str, value: Any) -> None:
    """Remove events of a condition; compute the bounds of their hours anew."""
    rows: Any = connection.execute(
        f'DELETE FROM events WHERE {where} RETURNING kind, onset, peak, "end", source, id',
        (value,),
    ).fetchall()
    for event in {row[-1] for row in rows}:
        connection.execute('DELETE FROM origins WHERE memory_id = ?', (event,))
    for kind, hour in {(row[0], event_hours.find_hour(row[1])) for row in rows}:
        event_hours.compute(connection, kind, hour)
    for source, stamp in {(row[4], stamp) for row in rows for stamp in row[1:4]}:
        _remove_transforms(connection, source, stamp)


def _remove_transforms(connection: apsw.Connection, source: int | None, stamp: int | None) -> None:
    """Remove the tree of tf that was kept with an event, unless another one is of that instant."""
    ((used, name),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM collections AS c JOIN memories AS m INDEXED BY'
        " memories_by_stamp ON m.collection = c.name AND m.stamp = ?1 AND m.status = 'active'"
        ' WHERE EXISTS (SELECT 1 FROM events AS e WHERE e.memory_id = m.id AND e.source IS ?2)),'
        " coalesce((SELECT name FROM event_names WHERE id = ?2), '')",
        (stamp, source),
    )
    if stamp is not None and not used:
        transforms.remove_instant(connection, name, stamp)


def remove_session(connection: apsw.Connection, session_id: str) -> bool:
    """Remove a session that nothing refers to any more, and its event; say whether it was."""
    ((used,),) = connection.execute(
        'SELECT EXISTS (SELECT 1 FROM memories WHERE session_id = ?1)'
        ' OR EXISTS (SELECT 1 FROM observations WHERE session_id = ?1)'
        ' OR EXISTS (SELECT 1 FROM turns WHERE session_id = ?1)',
        (session_id,),
    )
    name = '(SELECT id FROM event_names WHERE name = ?)'
    if used:
        connection.execute(
            "UPDATE sessions SET title = '', tags = '[]', metadata = '{}', context = '{}'"
            ' WHERE id = ?',
            (session_id,),
        )
        return False
    _remove_events(connection, f'id < 0 AND session = {name}', session_id)
    connection.execute('DELETE FROM sessions WHERE id = ?', (session_id,))
    return True


def remove_orphans(connection: apsw.Connection) -> None:
    """Remove the names that nothing has any more: of paths, collections and events."""
    connection.execute("""
        DELETE FROM facet_paths WHERE NOT EXISTS
            (SELECT 1 FROM facets WHERE path_id = facet_paths.id);
        DELETE FROM place_paths WHERE NOT EXISTS
            (SELECT 1 FROM places WHERE path_id = place_paths.id);
        DELETE FROM place_frames WHERE id NOT IN (SELECT id FROM place_paths);
        DELETE FROM collections WHERE memories <= 0;
    """)
    _remove_figures(connection)
    columns = 'kind label topic task session robot recording collection frame source subject'
    used = ' UNION '.join(f'SELECT {name} FROM events' for name in columns.split())
    connection.execute(
        f'DELETE FROM event_names WHERE id > {_FIRST_NAMES} AND id NOT IN'
        f' (SELECT kind FROM figures UNION SELECT * FROM ({used}) AS u WHERE u.kind IS NOT NULL)'
    )


def _remove_figures(connection: apsw.Connection) -> None:
    """Remove the figures that no event has: their names may be what was erased."""
    for number, kind, slot in connection.execute(
        'SELECT id, kind, slot FROM figures WHERE id > ?', (_FIRST_FIGURES,)
    ).fetchall():
        has = f"others ->> '$.{number}' IS NOT NULL" if slot is None else f'value_{slot} NOT NULL'
        connection.execute(
            'DELETE FROM figures WHERE id = ? AND NOT EXISTS (SELECT 1 FROM events'
            f' INDEXED BY events_by_kind WHERE kind = ? AND {has})',
            (number, kind),
        )


def note_erased(
    connection: apsw.Connection, ids: Sequence[int], writer: Writer, reason: str, at: int
) -> None:
    """Remove the texts of the lines of memories that are gone, and append a line of each."""
    audit.forget_texts(connection, ids)
    for memory_id in ids:
        audit.record(connection, memory_id, ERASED, writer, reason, {}, at)

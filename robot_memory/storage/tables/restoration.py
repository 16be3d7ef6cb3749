"""Give a memory back the state that it had before a change, in its row and in the indexes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.storage.indexes import entries, facets
from robot_memory.storage.tables import (
    accesses,
    audit,
    counts,
    events,
    memories,
    observations,
    replacements,
    revisions,
    trials,
)
from robot_memory.storage.tables.revisions import STATE

_DERIVED = ('content', 'content_hash', 'guard', 'token_count')
_OTHERS = [name for name in STATE if name != 'content']


def restore(
    connection: apsw.Connection,
    memory_id: int,
    state: Mapping[str, Any],
    vector: TextVectors | None,
    writer: Writer,
    reason: str,
    undone: int,
    at: int,
) -> None:
    """Undo the audit line `undone`: make a memory what the state says, with its index entries."""
    old = memories.get(connection, [memory_id])[memory_id]
    context = json.loads(state['context'])
    detail = {'undone': undone}
    with revisions.changing(connection, memory_id, 'undo', writer, reason, detail, at):
        names = ', '.join(f'{name} = ?' for name in (*_DERIVED, *_OTHERS))
        connection.execute(
            f'UPDATE memories SET {names} WHERE id = ?',
            (
                *memories.derive_columns(old.type, state['content']),
                *(state[name] for name in _OTHERS),
                memory_id,
            ),
        )
        if old.status == 'active':
            entries.remove(connection, memory_id, old.collection, old.context)
        if state['status'] == 'active':
            entries.add(
                connection,
                memory_id,
                old.type,
                old.collection,
                state['content'],
                context,
                vector,
            )
        counts.change(connection, old.type, old.status, -1)
        counts.change(connection, old.type, state['status'], 1)
        facets.remove(connection, memory_id, old.context)
        facets.put(connection, memory_id, context)
        events.set_context(connection, memory_id, context)
        trials.put(connection, memory_id, old.type, old.collection, context)
        events.set_active(connection, memory_id, state['status'] == 'active')
        accesses.forget(connection, memory_id)
        observations.remove_positions(connection, memory_id, old.collection)
        connection.execute('DELETE FROM retired_by_age WHERE memory_id = ?', (memory_id,))
    line = audit.get_head(connection).id
    observations.undo(connection, memory_id, undone, line)
    replacements.undo(connection, memory_id, undone, line)

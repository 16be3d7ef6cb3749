"""Undoing changes of a memory, the newest first, and forgetting states that are too old."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from robot_memory.core.authority import Writer, is_higher
from robot_memory.core.clock import DAY
from robot_memory.core.errors import Conflict
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import audit, history, memories, restoration, revisions
from robot_memory.storage.tables.audit import Line
from robot_memory.storage.tables.folding import explain_missing
from robot_memory.text.tokenizer import hash_content

UNDOABLE = ('update', 'invalidated', 'superseded', 'reclassify', 'replaced')
"""The actions that can be undone."""


@dataclass(frozen=True)
class Undone:
    """Hold the line that was undone, and the memory before and after."""

    line: Line
    old: Record
    new: Record


def undo(memory: Memory, memory_id: int, reason: str, line: int | None = None) -> Undone:
    """
    Undo the newest change of a memory that stands: an update, a soft deletion or a merge.

    `line` names the audit line that is meant. Raise NotFound for an unknown memory, and Conflict
    where nothing is left to undo, where `line` is not the newest, where the memory or the change
    stands on a higher authority, and where something that was written later rests on the change.
    """
    with memory.db.read() as connection:
        content = _find(connection, memory_id, line, memory.caller)[1]['content']
    vector = memory.embed_passage(content)
    with memory.db.write() as connection:
        undone, state = _find(connection, memory_id, line, memory.caller)
        old = memories.get(connection, [memory_id])[memory_id]
        fits = state['content'] == content and memory.match_embedder(connection) is not None
        restoration.restore(
            connection,
            memory_id,
            state,
            vector if fits else None,
            memory.caller,
            reason,
            undone.id,
            memory.clock(),
        )
        new = memories.get(connection, [memory_id])[memory_id]
    return Undone(undone, old, new)


def _find(
    connection: Connection, memory_id: int, asked: int | None, writer: Writer
) -> tuple[Line, dict[str, Any]]:
    """Return the change to undo and the state before it; raise NotFound or Conflict."""
    record = memories.get(connection, [memory_id]).get(memory_id)
    if record is None:
        raise explain_missing(connection, memory_id)
    lines = audit.read_lines(connection, memory_id)
    states = dict(revisions.read(connection, memory_id))
    undone = history.pair_undone(lines, states)
    standing = [
        line
        for line in lines
        if line.id in states and line.action != 'undo' and line.id not in undone
    ]
    if not standing:
        raise Conflict(f'memory {memory_id} has no change to undo; nothing was changed')
    newest = standing[-1]
    if asked is not None and asked != newest.id:
        if asked not in {line.id for line in standing}:
            raise Conflict(
                f'audit line {asked} is no change of memory {memory_id} that stands; its newest '
                f'is line {newest.id} ({newest.action})'
            )
        raise Conflict(
            f'line {newest.id} ({newest.action}) rests on line {asked} of memory {memory_id}; '
            f'undo line {newest.id} first'
        )
    if newest.action not in UNDOABLE:
        raise Conflict(
            f'line {newest.id} ({newest.action}) of memory {memory_id} cannot be undone, and what '
            'is older rests below it; nothing was changed'
        )
    for name, authority in (
        (f'memory {memory_id} stands', record.authority),
        (f'line {newest.id} ({newest.action}) of memory {memory_id} stands', newest.authority),
    ):
        if authority is not None and is_higher(authority, writer.authority):
            raise Conflict(
                f'{name} on the authority {authority}, and {writer.authority} is lower: nothing '
                'was changed'
            )
    state = states[newest.id]
    later = history.find_later_on(
        connection, memory_id, newest.id, state, hash_content(state['content'])
    )
    if later is not None:
        raise Conflict(
            f'memory {later} rests on line {newest.id} ({newest.action}) of memory {memory_id}: '
            f'it was written or merged later; forget or undo memory {later} first'
        )
    return newest, state


def prune_history(memory: Memory) -> int:
    """Remove the states that ended over `history_days` ago; return how many there were."""
    days = memory.settings.history_days
    if not days:
        return 0
    with memory.db.write() as connection:
        if not memory.timekeeper.judge_now(connection).trusted:
            return 0
        return history.remove_before(connection, memory.clock() - days * DAY)

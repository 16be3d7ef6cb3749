"""Soft deletion: memories leave the indexes; their rows and audit trails are kept."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import NotFound
from robot_memory.core.records import Record, Session
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes.filters import (
    ACTIVE,
    Where,
    active_in,
    compile_filter,
    in_session,
)
from robot_memory.storage.tables import memories, sessions
from robot_memory.text.categories import PROTECTED


@dataclass(frozen=True)
class Cleared:
    """Count the soft-deleted memories of a collection, and the protected ones that are kept."""

    deleted: int
    protected: int


def soft_delete(memory: Memory, memory_id: int, reason: str) -> Record:
    """Soft-delete an active memory; raise NotFound or Conflict for any other."""
    with memory.db.write() as connection:
        record = memories.get_active(connection, memory_id)
        memories.retire(
            connection, record.id, 'invalidated', memory.caller, reason, memory.clock()
        )
    return record


def soft_delete_session(
    memory: Memory, session_id: str | None, reason: str
) -> tuple[Session, int]:
    """
    Soft-delete the active memories of a session; return it and their number.

    None names the newest open session; an empty `reason` becomes one that names the session. Raise
    NotFound where there is no such session.
    """
    with memory.db.write() as connection:
        if session_id is None:
            newest = sessions.find_open(connection)
            if newest is None:
                raise NotFound('no session is open; pass a session_id')
            session = newest
        else:
            session = sessions.get(connection, session_id)
        reason = reason or f'session {session.id} was cleared'
        deleted = _soft_delete_all(memory, connection, in_session(session.id) & ACTIVE, reason)
    return session, deleted


def soft_delete_collection(memory: Memory, collection: str, reason: str) -> Cleared:
    """Soft-delete the active memories of a collection whose category is not protected."""
    unprotected = compile_filter('category', {'category': {'$nin': sorted(PROTECTED)}})
    active = active_in(collection)
    with memory.db.write() as connection:
        deleted = _soft_delete_all(memory, connection, active & unprotected, reason)
        return Cleared(deleted, memories.count(connection, active))


def _soft_delete_all(memory: Memory, connection: Connection, where: Where, reason: str) -> int:
    ids = memories.find_ids(connection, where)
    now = memory.clock()
    for memory_id in ids:
        memories.retire(connection, memory_id, 'invalidated', memory.caller, reason, now)
    return len(ids)

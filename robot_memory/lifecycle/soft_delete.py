"""Soft deletion: memories leave the indexes; their rows and audit trails are kept."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.errors import NotFound
from robot_memory.core.records import Record, Session
from robot_memory.lifecycle.authority import propose
from robot_memory.lifecycle.described import redeem
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes.filters import (
    ACTIVE,
    Where,
    active_in,
    at_most,
    compile_filter,
    in_session,
)
from robot_memory.storage.tables import memories, sessions
from robot_memory.text.categories import PROTECTED


@dataclass(frozen=True)
class Cleared:
    """
    Count the soft-deleted memories of a collection, and the protected ones that are kept.

    `higher` counts what is kept because it stands on a higher authority than the caller's.
    """

    deleted: int
    protected: int
    higher: int


def soft_delete(memory: Memory, memory_id: int, reason: str, token: str = '') -> Record:
    """
    Soft-delete an active memory; raise NotFound or Conflict for any other.

    With a token it is the memory of that preview. Raise Conflict where it stands on a higher
    authority, too: the deletion is then a proposal.
    """
    with memory.db.write() as connection:
        if token:
            memory_id = redeem(connection, memory, 'forget', token, memory_id, reason)
        record = memories.get_active(connection, memory_id)
        now, writer = memory.clock(), memory.caller
        refused = propose(connection, record, 'forget', writer, now, reason=reason)
        if refused is None:
            memories.retire(connection, record.id, 'invalidated', writer, reason, now)
    if refused is not None:
        raise refused
    return record


def soft_delete_session(
    memory: Memory, session_id: str | None, reason: str
) -> tuple[Session, int, int]:
    """
    Soft-delete the active memories of a session; return it and their number.

    What stands on a higher authority than the caller's is kept, and counted third. None names the
    newest open session; an empty `reason` becomes one that names the session. Raise NotFound
    where there is no such session.
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
        where = in_session(session.id) & ACTIVE
        deleted = _soft_delete_all(memory, connection, where, reason)
        return session, deleted, memories.count(connection, where)


def soft_delete_collection(memory: Memory, collection: str, reason: str) -> Cleared:
    """Soft-delete the active memories of a collection whose category is not protected."""
    unprotected = compile_filter('category', {'category': {'$nin': sorted(PROTECTED)}})
    active = active_in(collection)
    with memory.db.write() as connection:
        deleted = _soft_delete_all(memory, connection, active & unprotected, reason)
        higher = memories.count(connection, active & unprotected)
        return Cleared(deleted, memories.count(connection, active) - higher, higher)


def _soft_delete_all(memory: Memory, connection: Connection, where: Where, reason: str) -> int:
    writer = memory.caller
    changeable = where & at_most(writer.authority)
    ids = memories.find_ids(connection, changeable)
    now = memory.clock()
    for memory_id in ids:
        memories.retire(connection, memory_id, 'invalidated', writer, reason, now)
    return len(ids)

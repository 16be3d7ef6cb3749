"""Sessions: started, saved under a title, and ended with decay and consolidation."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from robot_memory.core.errors import NotFound
from robot_memory.core.records import Record, Session
from robot_memory.lifecycle.authority import may_change
from robot_memory.lifecycle.consolidation import Merge, find_merges
from robot_memory.lifecycle.no_record import refuse_unrecorded
from robot_memory.lifecycle.retention import retire_expired
from robot_memory.lifecycle.undo import prune_history
from robot_memory.memory import Memory
from robot_memory.storage import Connection, epochs
from robot_memory.storage.indexes import partitions
from robot_memory.storage.indexes.filters import ACTIVE, in_session
from robot_memory.storage.tables import (
    audit,
    decay,
    memories,
    observations,
    replacements,
    sessions,
    turns,
)
from robot_memory.text.categories import PROTECTED

logger = logging.getLogger(__name__)

_UNLIMITED = 1_000_000


@dataclass(frozen=True)
class Ended:
    """Hold an ended session, its memories of before, and what its end changed."""

    session: Session
    records: Sequence[Record]
    merges: Sequence[Merge]
    decayed: int


def start_session(
    memory: Memory,
    collection: str,
    context: Mapping[str, Any],
    title: str = '',
    tags: tuple[str, ...] = (),
) -> tuple[Session, int]:
    """
    Start a session; return it and the number of active memories of its collection.

    Raise Conflict where nothing is recorded now.
    """
    refuse_unrecorded(memory, 'start_session')
    session = Session(
        id=str(uuid.uuid4()),
        collection=collection,
        context=dict(context),
        status='open',
        created_at=memory.clock(),
        title=title.strip(),
        tags=tags,
    )
    with memory.db.write() as connection:
        _insert(memory, connection, session)
        active = partitions.size(connection, collection)
    return session, active


def get_or_start_session(
    memory: Memory, connection: Connection, session_id: str | None, collection: str | None
) -> Session:
    """
    Return the open session of an id, or (None) the newest open one; start one if there is none.

    Raise NotFound for an unknown id, Conflict for a session that has ended.
    """
    if session_id is not None:
        return sessions.get_open(connection, session_id)
    newest = sessions.find_open(connection, collection)
    if newest is not None:
        return newest
    session = Session(str(uuid.uuid4()), collection or 'default', {}, 'open', memory.clock())
    _insert(memory, connection, session)
    return session


def _insert(memory: Memory, connection: Connection, session: Session) -> None:
    sessions.insert(connection, session)
    _record(memory, connection, 'session_started', session.id, session.created_at)


def _record(memory: Memory, connection: Connection, action: str, session_id: str, at: int) -> None:
    """Append the audit line of what was done to a session."""
    audit.record(connection, None, action, memory.caller, '', {'session': session_id}, at)


def save_session(
    memory: Memory,
    title: str = '',
    session_id: str | None = None,
    collection: str | None = None,
) -> tuple[Session, int]:
    """
    Mark an open session as saved and give it a title; return it and the number of its turns.

    Without a `session_id` it is the newest open one, of a collection if one is named. It stays
    open. Raise NotFound where no open session has a turn, Conflict where the named one has ended,
    or where nothing is recorded now.
    """
    refuse_unrecorded(memory, 'save_session')
    with memory.db.write() as connection:
        if session_id is None:
            session = sessions.find_open(connection, collection)
        else:
            session = sessions.get_open(connection, session_id)
        said = 0 if session is None else turns.count(connection, session.id)
        if session is None or not said:
            raise NotFound(
                'there is nothing to save: no turn in an open session; '
                'save_conversation stores turns'
            )
        now = memory.clock()
        saved = replace(
            session, title=title.strip() or session.title, updated_at=now, saved_at=now
        )
        sessions.update(connection, saved)
        _record(memory, connection, 'session_saved', saved.id, now)
    return saved, said


def end_session(memory: Memory, session_id: str, outcome_score: float | None) -> Ended:
    """
    End an open session: merge its repeated memories, decay the unused ones of its collection.

    Raise NotFound for an unknown session and Conflict for one that has ended.
    """
    memory.accesses.flush()
    where = in_session(session_id) & ACTIVE
    with memory.db.read() as connection:
        session = sessions.get_open(connection, session_id)
        records = memories.list_newest(connection, where, _UNLIMITED)
    # Found before the transaction, which others wait for; what has changed since is left out.
    writer = memory.caller
    changeable = [record for record in records if may_change(record, writer)]
    merges = find_merges(changeable, memory.settings.consolidate_jaccard)
    with memory.db.write() as connection:
        now = memory.clock()
        sessions.get_open(connection, session_id)
        sessions.end(connection, session_id, outcome_score, now)
        _record(memory, connection, 'session_ended', session_id, now)
        merges = [
            merge
            for merge in _select_unchanged(connection, session_id, records, merges)
            if not replacements.are_linked(connection, merge.kept, merge.superseded)
        ]
        for merge in merges:
            reason = (
                f'consolidation of session {session_id}: similarity '
                f'{merge.similarity:.2f} to memory {merge.kept}'
            )
            line = memories.retire(
                connection, merge.superseded, 'superseded', writer, reason, now, merge.kept
            )
            observations.adopt(connection, merge.kept, merge.superseded, line)
        decay.note_rate(connection, memory.settings.decay_rate, now)
        decay.note_end(connection, session.collection, now)
        decayed = 0
        if memory.timekeeper.judge_now(connection).trusted:
            decayed = decay.recompute(
                connection, session.collection, sorted(PROTECTED), falls_only=True
            )
        else:
            epochs.unsettle_newest(connection)
    expired = retire_expired(memory, session.collection)
    prune_history(memory)
    if expired:
        logger.info('session %s ended; %d soft-deleted by retention_days', session.id, expired)
    return Ended(session, records, merges, decayed)


def _select_unchanged(
    connection: Connection, session_id: str, records: Sequence[Record], merges: Sequence[Merge]
) -> list[Merge]:
    """Return the merges whose memories are as they were read."""
    before = {record.id: record.updated_at for record in records}
    now = memories.list_newest(connection, in_session(session_id) & ACTIVE, _UNLIMITED)
    same = {record.id for record in now if before.get(record.id) == record.updated_at}
    return [merge for merge in merges if {merge.kept, merge.superseded} <= same]

"""Rows of memories: each is written with its words, its vector and its trail, or not at all."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.errors import Conflict
from robot_memory.core.json_text import dump_json, dump_texts
from robot_memory.core.records import Record
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.storage import epochs
from robot_memory.storage.indexes import entries, facets
from robot_memory.storage.tables import (
    accesses,
    audit,
    counts,
    events,
    observations,
    revisions,
    rule_conditions,
    trials,
    turns,
    writers,
)
from robot_memory.storage.tables.folding import explain_missing
from robot_memory.storage.tables.lookup import CREATED as CREATED
from robot_memory.storage.tables.lookup import count as count
from robot_memory.storage.tables.lookup import find_ids as find_ids
from robot_memory.storage.tables.lookup import get as get
from robot_memory.storage.tables.lookup import list_newest as list_newest
from robot_memory.storage.tables.lookup import list_newest_ids as list_newest_ids
from robot_memory.storage.tables.lookup import list_page as list_page
from robot_memory.storage.tables.lookup import list_turns as list_turns
from robot_memory.storage.tables.lookup import read_ids as read_ids
from robot_memory.storage.tables.lookup import read_statements as read_statements
from robot_memory.text.categories import Classification
from robot_memory.text.duplicate_keys import derive_keys


def insert(
    connection: apsw.Connection,
    record: Record,
    vector: TextVectors | None,
    detail: dict[str, Any] | None = None,
) -> int:
    """
    Keep a new memory with its words, and its vector where there is one; return its id.

    A record without an id is given the next one. `detail` is what its audit line says of it.
    """
    writer, at = record.writer or THE_STORE, record.created_at
    writer_id = None if record.writer is None else writers.get_id(connection, writer)
    memory_id, digest = _insert(connection, record, vector, writer_id, is_now=True)
    action = 'detected' if writer.face == 'tap' else 'created'
    audit.record(
        connection,
        memory_id,
        action,
        writer,
        '',
        detail or {},
        at,
        digest=digest,
        writer_id=writer_id,
    )
    return memory_id


def _insert(
    connection: apsw.Connection,
    record: Record,
    vector: TextVectors | None,
    writer_id: int | None,
    *,
    is_now: bool,
) -> tuple[int, bytes]:
    """
    Insert a memory; return its id and the digest of its state.

    `is_now`: the clock that the store is written with gave its times.
    """
    salt = audit.make_salt()
    epoch = epochs.NEWEST if is_now else 'NULL'
    context = dump_json(record.context, 'context')
    pose = None if record.pose is None else dump_json(record.pose, 'pose')
    ((memory_id, *state),) = connection.execute(
        'INSERT INTO memories (id, type, collection, session_id, content, content_hash, guard,'
        ' token_count, category, confidence, confidence_base, tags, scope_files,'
        ' perception_type, context, actor_id, event_id, strategy_name, stamp, frame_id, pose,'
        ' created_at, updated_at, stamp_is_local, authority, stands, writer_id, salt,'
        f' created_epoch, updated_epoch) VALUES ({", ".join("?" * 28)}, {epoch}, {epoch})'
        f' RETURNING id, {", ".join(revisions.DIGESTED)}',
        (
            record.id or None,
            record.type,
            record.collection,
            record.session_id,
            *derive_columns(record.type, record.content),
            record.category,
            record.confidence,
            record.confidence,
            dump_texts(record.tags),
            dump_texts(record.scope_files),
            record.perception_type,
            context,
            record.actor_id,
            record.event_id,
            record.strategy_name,
            record.stamp,
            record.frame_id,
            pose,
            record.created_at,
            record.created_at,
            record.stamp_is_local,
            record.authority,
            record.stands,
            writer_id,
            salt,
        ),
    )
    counts.change(connection, record.type, 'active', 1)
    if record.type == 'turn':
        turns.insert(connection, memory_id, record)
    entries.add_new(connection, memory_id, record, pose, vector)
    facets.put(connection, memory_id, record.context)
    rule_conditions.put(connection, memory_id, record)
    trials.insert(connection, memory_id, record.type, record.collection, record.context)
    return memory_id, revisions.digest_state(salt, state)


def restore(connection: apsw.Connection, record: Record, confidence_base: float, at: int) -> int:
    """Keep a memory of an archive as it was, superseded_by aside, at a time; return its id."""
    writer_id = None if record.writer is None else writers.get_id(connection, record.writer)
    memory_id, _ = _insert(connection, record, None, writer_id, is_now=False)
    connection.execute(
        'UPDATE memories SET confidence_base = ?, status = ?, access_count = ?,'
        ' last_accessed = ?, updated_at = ? WHERE id = ?',
        (
            confidence_base,
            record.status,
            record.access_count,
            record.last_accessed,
            record.updated_at,
            memory_id,
        ),
    )
    if record.status != 'active':
        counts.change(connection, record.type, 'active', -1)
        counts.change(connection, record.type, record.status, 1)
        entries.remove(connection, memory_id, record.collection, record.context)
    writer = record.writer or THE_STORE
    digest = revisions.seal(connection, memory_id)
    audit.record(connection, memory_id, 'imported', writer, '', {}, at, digest=digest)
    return memory_id


def derive_columns(type: str, content: str) -> tuple[str, bytes, str, int]:
    """
    Return the columns that follow from a text alone.

    Only facts are looked up as duplicates; of others the keys are empty, but where an earlier
    release wrote them.
    """
    if type != 'fact':
        return content, b'', '', 0
    keys = derive_keys(content)
    return content, keys.hash, keys.duplicate_key, len(keys.tokens)


def get_active(connection: apsw.Connection, memory_id: int) -> Record:
    """Return an active memory; raise NotFound, or Conflict where it is forgotten or superseded."""
    record = get(connection, [memory_id]).get(memory_id)
    if record is None:
        raise explain_missing(connection, memory_id)
    if record.status == 'superseded':
        raise Conflict(
            f'memory {memory_id} was superseded by memory {record.superseded_by}; nothing was '
            'changed, use that one'
        )
    if record.status != 'active':
        raise Conflict(f'memory {memory_id} is already forgotten; nothing was changed')
    return record


def rewrite(
    connection: apsw.Connection,
    old: Record,
    new: Record,
    vector: TextVectors | None,
    writer: Writer,
) -> int:
    """Give a memory new text and the writer who stands behind it; return the audit line."""
    at = new.updated_at
    with revisions.changing(connection, new.id, 'update', writer, 'new content', {}, at):
        connection.execute(
            'UPDATE memories SET content = ?, content_hash = ?, guard = ?, token_count = ?,'
            ' category = ?, confidence = ?, confidence_base = ?, tags = ?, scope_files = ?,'
            ' context = ?, strategy_name = ?, updated_at = max(?, iif(updated_epoch IS'
            f' {epochs.NEWEST}, updated_at + 1, 0)), last_accessed = ?,'
            f' updated_epoch = {epochs.NEWEST}, accessed_epoch = {epochs.NEWEST},'
            ' actor_id = ?, authority = ?, stands = 0, writer_id = ? WHERE id = ?',
            (
                *derive_columns(new.type, new.content),
                new.category,
                new.confidence,
                new.confidence,
                dump_texts(new.tags),
                dump_texts(new.scope_files),
                dump_json(new.context, 'context'),
                new.strategy_name,
                new.updated_at,
                new.last_accessed,
                new.actor_id,
                writer.authority,
                writers.get_id(connection, writer),
                new.id,
            ),
        )
        accesses.forget(connection, new.id)
        entries.remove(connection, new.id, new.collection, old.context)
        observations.remove_positions(connection, new.id, new.collection)
        entries.add(connection, new.id, new.type, new.collection, new.content, new.context, vector)
        facets.remove(connection, new.id, old.context)
        facets.put(connection, new.id, new.context)
        rule_conditions.replace(connection, new.id, new)
        trials.put(connection, new.id, new.type, new.collection, new.context)
        events.set_context(connection, new.id, new.context)
    return audit.get_head(connection).id


def set_category(
    connection: apsw.Connection,
    record: Record,
    inferred: Classification,
    strategy_name: str,
    writer: Writer,
    at: int,
) -> None:
    """Give a memory the category and tags that were inferred anew from its text."""
    detail = {'old_category': record.category, 'new_category': inferred.category}
    with revisions.changing(
        connection, record.id, 'reclassify', writer, 'present rules', detail, at
    ):
        connection.execute(
            'UPDATE memories SET category = ?, tags = ?, strategy_name = ? WHERE id = ?',
            (
                inferred.category,
                dump_texts(inferred.tags),
                strategy_name,
                record.id,
            ),
        )
        rule_conditions.replace(
            connection,
            record.id,
            replace(record, category=inferred.category),
            may_be_rule=inferred.may_be_rule,
        )


def retire(
    connection: apsw.Connection,
    memory_id: int,
    status: str,
    writer: Writer,
    reason: str,
    at: int,
    superseded_by: int | None = None,
) -> int:
    """Take a memory out of recall's indexes, its row and trail stay; return the audit line."""
    detail = {} if superseded_by is None else {'superseded_by': superseded_by}
    with revisions.changing(connection, memory_id, status, writer, reason, detail, at):
        ((type, collection, context),) = connection.execute(
            'UPDATE memories SET status = ?, superseded_by = ?, updated_at = ?,'
            f' updated_epoch = {epochs.NEWEST} WHERE id = ?'
            ' RETURNING type, collection, context',
            (status, superseded_by, at, memory_id),
        )
        counts.change(connection, type, 'active', -1)
        counts.change(connection, type, status, 1)
        entries.remove(connection, memory_id, collection, json.loads(context))
        observations.remove_positions(connection, memory_id, collection)
        events.set_active(connection, memory_id, False)
    return audit.get_head(connection).id

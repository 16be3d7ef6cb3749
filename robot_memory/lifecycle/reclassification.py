"""Categories inferred anew by the present rules: previewed first, applied on demand only."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from robot_memory.core.records import Record, infer_strategy
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.authority import may_change
from robot_memory.lifecycle.classification import classify_measured, classify_text
from robot_memory.lifecycle.conversations import classify_turn
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes import vectors
from robot_memory.storage.indexes.filters import ACTIVE
from robot_memory.storage.tables import memories
from robot_memory.text.categories import Classification

_BATCH = 500
_One = TypeVar('_One')


@dataclass(frozen=True)
class Change:
    """Name a memory whose category the present rules infer otherwise."""

    memory_id: int
    old_category: str
    new_category: str


def preview(memory: Memory) -> list[Change]:
    """Return what reclassifying the active memories would change, by id; nothing is written."""
    return [
        Change(record.id, record.category, inferred.category)
        for record, inferred in _list_changed(memory)
    ]


def apply(memory: Memory) -> list[Change]:
    """
    Give active memories the category, tags and strategy that the present rules infer.

    Confidence, text and times stay as they are; the audit trail has the old category. Others write
    between two batches, and while texts are read: no model runs in a write transaction.
    """
    changes = []
    for batch in _split(_list_changed(memory)):
        with memory.db.write() as connection:
            present = memories.get(connection, [before.id for before, _ in batch])
            for before, inferred in batch:
                record = present.get(before.id)
                if record is None or not _is_as_before(record, before):
                    continue
                if not may_change(record, memory.caller):
                    continue
                strategy = record.strategy_name
                if record.type == 'fact':
                    strategy = infer_strategy(record.context, inferred.category, record.actor_id)
                memories.set_category(
                    connection, record, inferred, strategy, memory.caller, memory.clock()
                )
                changes.append(Change(record.id, record.category, inferred.category))
    return changes


def _is_as_before(record: Record, before: Record) -> bool:
    """Say whether a memory is active with what its category was inferred from; else it has one."""
    return record.status == 'active' and (record.content, record.category, record.context) == (
        before.content,
        before.category,
        before.context,
    )


def describe(changes: Sequence[Change], *, applied: bool) -> str:
    """Return changes in words: how many of each kind, with the ids of the first of each."""
    if not changes:
        return 'every category is as the present rules infer it'
    ids = defaultdict(list)
    for change in changes:
        ids[f'{change.old_category} -> {change.new_category}'].append(change.memory_id)
    shown = '; '.join(
        f'{kind}: {count} ({", ".join(map(str, ids[kind][:5]))}{", ..." if count > 5 else ""})'
        for kind, count in Counter({kind: len(found) for kind, found in ids.items()}).most_common()
    )
    verb = 'changed' if applied else 'would change; nothing was written, confirm applies it'
    return f'{len(changes)} {verb}: {shown}'


def _list_changed(memory: Memory) -> list[tuple[Record, Classification]]:
    with memory.db.read() as connection:
        return [
            changed
            for batch in _read_batches(connection, memories.find_ids(connection, ACTIVE))
            for changed in _find_changed(memory, connection, batch)
        ]


def _find_changed(
    memory: Memory, connection: Connection, records: Sequence[Record]
) -> Iterator[tuple[Record, Classification]]:
    """Yield records whose category the present rules infer otherwise, by their stored vectors."""
    known = {}
    if memory.match_embedder(connection) is not None:
        known = vectors.fetch(connection, [record.id for record in records])
    for record in records:
        if record.type == 'fact' and record.context.get('limits'):
            continue  # it is a constraint by its context, whatever the words are
        vector = TextVectors(known[record.id]) if record.id in known else None
        if record.type == 'perception' and 'sense' in record.context:
            inferred = classify_measured(record.content)
        elif record.type == 'turn':
            inferred = classify_turn(record)
        else:
            inferred = classify_text(memory, record.content, vector)
        if inferred.category != record.category:
            yield record, inferred


def _read_batches(connection: Connection, ids: Sequence[int]) -> Iterator[list[Record]]:
    for batch in _split(ids):
        yield list(memories.get(connection, batch).values())


def _split(those: Sequence[_One]) -> Iterator[Sequence[_One]]:
    for start in range(0, len(those), _BATCH):
        yield those[start : start + _BATCH]

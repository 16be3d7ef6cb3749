"""
What the indexes hold of each active memory: full text, terms and vector, positions.

New, rewritten, reinstated and re-derived memories all get their entries here, so that they cannot
differ. Facets are kept of every memory, active or not, and are no part of it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import apsw

from robot_memory.core.records import Record, is_simulated
from robot_memory.embedding import quantisation
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.storage import remembered
from robot_memory.storage.indexes import (
    forms,
    fulltext,
    indexed,
    other_vectors,
    partitions,
    placements,
    positions,
)
from robot_memory.text import tokenizer


def add(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    context: Mapping[str, Any],
    vectors: TextVectors | None = None,
) -> None:
    """Add the entries of an active memory, in its collection's partition for its type."""
    _add_texts(connection, memory_id, type, collection, content, context, vectors)
    add_places(connection, memory_id, collection, context)


def add_new(
    connection: apsw.Connection,
    memory_id: int,
    record: Record,
    pose: str | None,
    vectors: TextVectors | None,
) -> None:
    """Add the entries of a memory that is new; `pose` is the JSON text of its row."""
    collection, context = record.collection, record.context
    _add_texts(connection, memory_id, record.type, collection, record.content, context, vectors)
    positions.put(connection, memory_id, collection, context)
    placements.put_new(connection, memory_id, collection, context, record.frame_id, pose)


def _add_texts(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    context: Mapping[str, Any],
    vectors: TextVectors | None,
) -> None:
    terms = tokenizer.extract_terms(content)
    add_words(connection, memory_id, type, collection, terms)
    _add_vectors(connection, memory_id, type, collection, content, terms, context, vectors)


def add_words(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    terms: Sequence[str],
) -> None:
    """Add the full text of an active memory alone, by the terms of its text."""
    fulltext.put(connection, memory_id, partitions.of(collection, type), terms)


def add_vectors(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    context: Mapping[str, Any],
) -> None:
    """Add the terms of an active memory alone; it waits for its vectors."""
    terms = tokenizer.extract_terms(content)
    _add_vectors(connection, memory_id, type, collection, content, terms, context, None)


def _add_vectors(
    connection: apsw.Connection,
    memory_id: int,
    type: str,
    collection: str,
    content: str,
    terms: Sequence[str],
    context: Mapping[str, Any],
    vectors: TextVectors | None,
) -> None:
    partition, stems = partitions.of(collection, type), fulltext.pack(connection, terms)
    is_real = is_simulated(context) == 0
    text = forms.find_form(type, content, context, vectors)
    if text is None:
        planes = None if vectors is None else quantisation.pack(vectors.first)
        indexed.put(connection, memory_id, partition, is_real, stems, planes)
        other_vectors.put(connection, memory_id, type, partition, content, vectors)
    else:
        form = _intern_form(connection, partition, type, text, vectors)
        indexed.put(connection, memory_id, partition, is_real, stems, None, form)


def add_places(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Add the positions of an active memory alone."""
    positions.put(connection, memory_id, collection, context)
    placements.put(connection, memory_id, collection, context)


def _intern_form(
    connection: apsw.Connection,
    partition: str,
    type: str,
    text: str,
    vectors: TextVectors | None,
) -> int:
    """Return the id of a form, which has those of its vectors that are known now."""
    key = partition, text
    interned: int | None = remembered.get(forms.TABLE, key) if vectors is None else None
    if interned is not None:
        return interned
    found = forms.find_id(connection, partition, text)
    form = forms.insert(connection, partition, text) if found is None else found
    known = forms.find_known(connection, form)
    if forms.FIRST not in known:
        first = None if vectors is None else vectors.first
        forms.put(connection, form, forms.FIRST, first)
    other_vectors.put_form(connection, form, known, type, text, vectors)
    is_new = found is None or vectors is None  # then no vector became known of a known form
    if not is_new and forms.find_known(connection, form) != known:
        forms.note_change(connection, form)
    return remembered.note(forms.TABLE, key, form)


def knows_vectors(
    connection: apsw.Connection,
    type: str,
    collection: str,
    content: str,
    context: Mapping[str, Any],
) -> bool:
    """Say whether a memory to be stored has a form whose vectors of all models are there."""
    text = forms.find_form(type, content, context, None)
    if text is None:
        return False
    form = forms.find_id(connection, partitions.of(collection, type), text)
    known = set() if form is None else forms.find_known(connection, form)
    second = other_vectors.find_second(connection)
    lacks_second = second is not None and second.id not in known and second.takes(type, text)
    return forms.FIRST in known and not lacks_second


def remove(
    connection: apsw.Connection, memory_id: int, collection: str, context: Mapping[str, Any]
) -> None:
    """Remove the entries of a memory; `context` is what they were added with."""
    fulltext.remove(connection, memory_id)
    remove_vectors(connection, memory_id)
    positions.remove(connection, memory_id, collection, context)
    placements.remove(connection, memory_id)


def remove_vectors(connection: apsw.Connection, memory_id: int) -> None:
    """Remove the terms and vectors of a memory alone."""
    form = indexed.remove(connection, memory_id)
    if form is None:
        other_vectors.remove(connection, memory_id)
    else:
        forms.release(connection, form)


def clear_words(connection: apsw.Connection) -> None:
    """Remove the full text of all memories."""
    connection.execute("INSERT INTO memories_fts (memories_fts) VALUES ('delete-all')")


def clear_contexts(connection: apsw.Connection) -> None:
    """Remove the facets and the positions of all memories."""
    connection.execute("""
        DELETE FROM facets;
        DELETE FROM facet_paths;
        DELETE FROM places;
        DELETE FROM place_paths;
        DELETE FROM placed;
        DELETE FROM place_frames;
    """)

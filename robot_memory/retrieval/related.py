"""What other sessions know about the same things as one session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence

from robot_memory.core.records import Record
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.retrieval.relevance import open_partitions
from robot_memory.retrieval.sessions import mean_vector
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext
from robot_memory.storage.indexes.filters import active_in, not_in_session
from robot_memory.storage.indexes.partitions import Partition
from robot_memory.storage.tables.records import get_whole
from robot_memory.text import tokenizer

_RELATED = 5
_TERMS = 12
_ABOUT = 0.25
"""Least score of a related memory where vectors are compared; below it, it is about another
thing."""
_SHARED = 2
"""Terms that a related memory shares where words alone are compared, or half of its own."""


def find_related(
    memory: Memory, session_id: str, collection: str, records: Sequence[Record]
) -> list[tuple[Record, float]]:
    """
    Return what other sessions of a collection know about the same, with scores, best first.

    It is found by the commonest terms of a session's memories and by their mean vector.
    """
    if not records:
        return []
    counts = Counter(
        term
        for record in records
        for term in set(tokenizer.extract_query_terms(record.content)[0])
    )
    terms = [term for term, _ in counts.most_common(_TERMS)]
    where = active_in(collection) & not_in_session(session_id)
    with memory.db.read() as connection:
        embedder = memory.match_embedder(connection)
        vector = None
        if embedder is not None:
            mean = mean_vector(connection, [record.id for record in records])
            vector = None if mean is None else QueryVector.of(mean, embedder)
        words = tokenizer.parse_query(' '.join(terms))
        (search,) = open_partitions(memory, connection, [Partition(collection)], words, vector)
        hits = search.select_best(where, _RELATED, narrow=False)
        found = get_whole(connection, [hit.id for hit in hits])
        if search.mode == 'bm25_only':
            about = _share_terms(connection, terms, found.values())
        else:
            about = {hit.id for hit in hits if hit.score >= _ABOUT}
    return [(found[hit.id], hit.score) for hit in hits if hit.id in about]


def _share_terms(
    connection: Connection, terms: Sequence[str], records: Collection[Record]
) -> set[int]:
    """Return the ids of the records that share enough of the terms."""
    ids = [record.id for record in records]
    shared = Counter(
        memory_id
        for term in terms
        for memory_id in fulltext.select_matching(connection, [term], ids)
    )
    return {record.id for record in records if shared[record.id] >= _enough(record)}


def _enough(record: Record) -> float:
    return min(_SHARED, len(tokenizer.extract_query_terms(record.content)[0]) / 2)

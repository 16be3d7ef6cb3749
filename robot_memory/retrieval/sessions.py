"""Which sessions a query leads to: by all of its words, or by what is remembered of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_memory.core.records import Record
from robot_memory.embedding.quantisation import Vector
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Retriever
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, indexed, partitions, vectors
from robot_memory.storage.indexes.filters import ACTIVE, in_session, with_session
from robot_memory.storage.tables import memories
from robot_memory.text import tokenizer

_CANDIDATES = 50
"""Memories of a collection that a query leads to; their sessions are compared as a whole."""


@dataclass(frozen=True)
class SessionHit:
    """Name a session, its score from 0 to 1, and the memories that led to it, oldest first."""

    id: str
    score: float
    records: tuple[Record, ...]


def find_sessions_by_meaning(memory: Memory, query: str, limit: int) -> list[SessionHit]:
    """
    Return the sessions whose mean vector is nearest to a query's, best first.

    Only sessions that the query leads to by recall are compared. Without vectors a session scores
    as its best memory does.
    """
    with memory.db.read() as connection:
        names = indexed.sizes(connection)
    plans = [
        RecallPlan.of(
            collection=collection,
            limit=_CANDIDATES,
            query=query,
            where=with_session(),
            real_weight=1.0,
            turn_weight=1.0,
        )
        for collection in sorted({partitions.collection_of(name) for name in names})
    ]
    best: dict[str, float] = {}
    known: dict[str, list[Record]] = {}
    for found in Retriever(memory).find_each(plans):
        for hit in found.hits:
            record = found.records[hit.id]
            if record.session_id is not None:
                best[record.session_id] = max(best.get(record.session_id, 0.0), hit.score)
                known.setdefault(record.session_id, []).append(record)
    scores = _score_means(memory, memory.embed_query(query), list(best)) or best
    ordered = sorted(scores, key=lambda session_id: (-scores[session_id], session_id))
    return [
        SessionHit(
            session_id,
            scores[session_id],
            tuple(sorted(known[session_id], key=lambda record: record.id)),
        )
        for session_id in ordered[:limit]
    ]


def _score_means(
    memory: Memory, query: QueryVector | None, sessions: Sequence[str]
) -> dict[str, float]:
    """Return how near the mean of each session is, 0 to 1; nothing where there are no vectors."""
    if query is None:
        return {}
    scores = {}
    with memory.db.read() as connection:
        embedder = memory.match_embedder(connection)
        if embedder is None:
            return {}
        for session_id in sessions:
            ids = memories.find_ids(connection, ACTIVE & in_session(session_id))
            mean = mean_vector(connection, ids)
            if mean is not None:
                relevance = query.calibration.to_relevance(float(mean @ query.vector))
                scores[session_id] = round(float(relevance), 6)
    return scores


def mean_vector(connection: Connection, ids: Sequence[int]) -> Vector | None:
    """Return the mean direction of the vectors of some memories; None where none has one."""
    known = list(vectors.fetch(connection, ids).values())
    if not known:
        return None
    mean: Vector = np.mean(known, axis=0)
    return mean / max(float(np.linalg.norm(mean)), 1e-9)


def find_sessions_by_keywords(connection: Connection, query: str) -> set[str]:
    """Return the ids of the sessions in whose turns all words of a query were said."""
    terms, characters = tokenizer.extract_query_terms(query)
    # A run of Chinese need not stand there as it is: all of its characters, one of its pairs.
    pairs = [term for term in terms if characters and set(term) <= set(characters)]
    groups = [[term] for term in (*terms, *characters) if term not in pairs]
    groups += [pairs] if pairs else []
    of_turns = [name for name in indexed.sizes(connection) if partitions.is_of_turns(name)]
    found = [fulltext.find_sessions(connection, group, of_turns) for group in groups]
    return set.intersection(*found) if found else set()


def select_turns(connection: Connection, session_id: str, query: str) -> list[Record]:
    """Return the turns of a session in which any word of a query was said, oldest first."""
    terms, _ = tokenizer.extract_query_terms(query)
    turns = memories.list_turns(connection, session_id)
    matching = fulltext.select_matching(connection, terms, [turn.id for turn in turns])
    return [turn for turn in turns if turn.id in matching]

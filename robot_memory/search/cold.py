"""Answering from the file alone: for a process that just started, or that ends soon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from robot_memory.embedding.calibration import Calibration
from robot_memory.search import ranking
from robot_memory.search.query import Hit, Query, mode_of, weigh
from robot_memory.store import Connection, indexed, vectors, words

_POOL = 200
"""Candidates by words, and by meaning, at least."""


class ColdSearch:
    """Answer one question: candidates by FTS5 and sqlite-vec, then the same score as ever."""

    def __init__(
        self,
        connection: Connection,
        collection: str,
        query: Query,
        scale: Calibration | None,
        real_weight: float,
    ) -> None:
        """Ask how rare the words are; `scale` is that of the model of the query's vector."""
        self._connection = connection
        self._collection = collection
        self._scale = scale
        self._weight = real_weight
        by_meaning = query.vector is not None and vectors.has_any(connection, collection)
        self._vector = query.vector if by_meaning else None
        sizes = indexed.sizes(connection)
        self.size = sizes.get(collection, 0)
        only = collection if len(sizes) > 1 else None
        self._worth = weigh(
            connection,
            query.words,
            self.size,
            lambda terms: [words.frequency(connection, [t], only) for t in terms.values()],
            lambda terms: words.frequency(connection, list(terms.values()), only),
        )
        self._asked = self._worth.asked
        self._terms = self._worth.said
        by_words = bool(words.candidates(connection, self._terms, collection, 1))
        self.mode = mode_of(by_words, by_meaning)

    def about(self, limit: int) -> list[int]:
        """Return the ids of the best of the collection."""
        return [hit.id for hit in self._found(max(_POOL, 2 * limit), limit, None)]

    def among(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories of the collection."""
        return self._found(len(ids), limit, ids)

    def _found(self, pool: int, limit: int, among: Sequence[int] | None) -> list[Hit]:
        connection, collection = self._connection, self._collection
        found = words.candidates(connection, self._terms, collection, pool, among)
        if self._vector is not None:
            found += vectors.nearest(connection, collection, self._vector, pool, among)
        rows = indexed.fetch(connection, found)
        coverage = np.array([self._coverage(row.terms) for row in rows], np.float32)
        relevance = np.zeros(len(rows), np.float32)
        if self._vector is not None and self._scale is not None:
            known = vectors.fetch(connection, found)
            for place, row in enumerate(rows):
                if row.memory_id in known:
                    cosine = float(known[row.memory_id] @ self._vector)
                    relevance[place] = self._scale.relevance(cosine)
        scores = ranking.fuse(relevance, coverage)
        hits = [
            Hit(row.memory_id, float(score) * (self._weight if row.real else 1))
            for row, score in zip(rows, scores, strict=True)
        ]
        hits.sort(key=lambda hit: (-hit.score, -hit.id))
        return hits[:limit]

    def _coverage(self, terms: bytes) -> float:
        """Return how much of the question a memory's terms cover, 0 to 1."""
        held = set(np.frombuffer(terms, '<u4').tolist())
        found = sum(worth for term, worth in self._worth.terms.items() if term in held)
        if not found:
            return 0.0
        found += sum(worth for term, worth in self._worth.more.items() if term in held)
        return float(ranking.coverage(found, self._asked))

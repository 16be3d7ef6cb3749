"""Answering from the file alone: for a process that just started, or that ends soon."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from robot_memory import ranking
from robot_memory.search.query import Hit, Query, counted, mode_of
from robot_memory.store import Connection, indexed, vectors, words

_POOL = 200
"""Candidates by words, and by meaning, at least."""


class ColdSearch:
    """Answer one question: candidates by FTS5 and sqlite-vec, then the same score as ever."""

    def __init__(
        self, connection: Connection, collection: str, query: Query, real_weight: float
    ) -> None:
        """Ask how rare the words are."""
        self._connection = connection
        self._collection = collection
        self._weight = real_weight
        by_meaning = query.vector is not None and vectors.has_any(connection, collection)
        self._vector = query.vector if by_meaning else None
        self._terms = list(query.terms)
        sizes = indexed.sizes(connection)
        self._memories, length = sizes.get(collection, (0, 0))
        self._mean = length / max(self._memories, 1)
        only = collection if len(sizes) > 1 else None
        counts = words.frequencies(connection, self._terms, only)
        if sum(counts) < query.enough and query.spare:
            self._terms += query.spare
            counts += words.frequencies(connection, query.spare, only)
        self._asked = counted(words.hashes(connection, self._terms))
        self._idfs = self._weigh(counts)
        self._total = sum(times * self._idfs[term] for term, times in self._asked.items())
        self.mode = mode_of(any(counts), self._vector is not None)

    def _weigh(self, counts: Sequence[int]) -> dict[int, float]:
        """Return the idf of each stem; a term of several stems has one count."""
        found = {}
        for term, count in zip(self._terms, counts, strict=True):
            for stem in words.hashes(self._connection, [term]):
                found[stem] = ranking.idf(count, self._memories)
        return found

    def best(self, limit: int) -> list[Hit]:
        """Return the best of the collection."""
        return self._found(max(_POOL, 2 * limit), limit, None)

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
        cosines = np.zeros(len(rows), np.float32)
        if self._vector is not None:
            known = vectors.fetch(connection, found)
            for place, row in enumerate(rows):
                if row.memory_id in known:
                    cosines[place] = float(known[row.memory_id] @ self._vector)
        scores = ranking.weighted(
            ranking.fuse(cosines, coverage),
            np.array([row.real for row in rows], np.bool_),
            self._weight,
        )
        hits = [Hit(row.memory_id, float(score)) for row, score in zip(rows, scores, strict=True)]
        hits.sort(key=lambda hit: (-hit.score, -hit.id))
        return hits[:limit]

    def _coverage(self, terms: bytes) -> float:
        """Return how much of the question a memory's terms cover, 0 to 1."""
        hashes = np.frombuffer(terms, '<u4')
        held = Counter(hashes[np.isin(hashes, list(self._asked))].tolist())
        if not held:
            return 0.0
        times = np.array(list(held.values()), np.float32)
        weights = np.array([self._asked[term] * self._idfs[term] for term in held], np.float32)
        lengths = np.full(len(times), len(hashes), np.float32)
        found = ranking.bm25(times, lengths, self._mean) @ weights
        return float(found) / ranking.most(self._total)

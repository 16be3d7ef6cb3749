"""Answering from the file alone: for a process that just started, or that ends soon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from robot_memory.embedding.quantisation import Vector
from robot_memory.search import ranking
from robot_memory.search.query import Hit, Query, Search
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, indexed, vectors
from robot_memory.text.tokenizer import ENOUGH

_POOL = 200
"""Candidates by words, and by meaning, at least."""
_FEW = 2000
"""Memories that are scored one by one in the time of asking the indexes about them."""


class FileSearch(Search):
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
        sizes = indexed.sizes(connection)
        self.size = sizes.get(collection, 0)
        only = collection if len(sizes) > 1 else None  # else all memories are of this one

        def count(terms: Iterable[str]) -> int:
            return fulltext.frequency(connection, list(terms), only)

        terms = query.terms
        if terms.fallback and count(terms.terms.values()) < ENOUGH:
            terms = terms.add_fallback()
        counts = {key: count([term]) for key, term in terms.counted.items()}
        self._worth = ranking.weigh(terms, self.size, counts)
        self._terms = list(terms.terms.values())
        by_words = fulltext.holds_any(connection, self._terms, collection)
        self.mode = ranking.name_mode(by_words, by_meaning)

    def rank(self, limit: int) -> list[int]:
        """Return the ids of the best of the collection."""
        return [hit.id for hit in self._score_best(max(_POOL, 2 * limit), limit, None)]

    def score(self, ids: Sequence[int], limit: int) -> list[Hit]:
        """Return the best of some memories of the collection."""
        return self._score_best(len(ids), limit, ids)

    def _score_best(self, pool: int, limit: int, among: Sequence[int] | None) -> list[Hit]:
        connection, collection = self._connection, self._collection
        if among is None or len(among) > _FEW:
            found = fulltext.candidates(connection, self._terms, collection, pool, among)
            if self._vector is not None:
                coarse = self._vector.coarse
                found += vectors.find_nearest(connection, collection, coarse, pool, among)
        else:
            found = list(among)
        known = {} if self._vector is None else vectors.fetch(connection, found)
        rows, coverage, cosines = [], [], []
        for row in indexed.fetch(connection, found):
            covered = self._cover(row.terms)
            vector = known.get(row.memory_id)
            if row.collection == collection and (covered or vector is not None):
                rows.append(row)
                coverage.append(covered)
                cosines.append(self._compare(vector))
        scores = ranking.score(
            np.array(coverage, np.float32),
            np.array(cosines, np.float32),
            None if self._vector is None else self._vector.calibration,
            np.array([row.real for row in rows], np.bool_),
            self._weight,
        )
        ids = np.array([row.memory_id for row in rows], np.int64)
        best = ranking.select_best(scores, ids, limit)
        return list(map(Hit, ids[best].tolist(), scores[best].tolist()))

    def _compare(self, vector: Vector | None) -> float:
        if vector is None or self._vector is None:
            return ranking.NO_VECTOR
        return float(vector @ self._vector.vector)

    def _cover(self, terms: bytes) -> float:
        """Return how much of the question a memory's terms cover, 0 to 1."""
        held = set(np.frombuffer(terms, '<u4').tolist())
        found = sum(worth for term, worth in self._worth.terms.items() if term in held)
        if not found:
            return 0.0
        found += sum(worth for term, worth in self._worth.more.items() if term in held)
        return float(ranking.coverage(found, self._worth.asked))

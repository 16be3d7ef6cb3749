"""Answering from the file alone: for a process that just started, or that ends soon."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from robot_memory.search import scoring
from robot_memory.search.query import Hit, Query, Search
from robot_memory.storage import Connection
from robot_memory.storage.indexes import from_records, fulltext, indexed, other_vectors, vectors
from robot_memory.storage.indexes.set_aside import VECTORS, is_avoided
from robot_memory.text.tokenizer import ENOUGH

if TYPE_CHECKING:
    from robot_memory.embedding.quantisation import Vector
    from robot_memory.embedding.vectorizer import QueryVector

_POOL = 200
"""Candidates by words, and by meaning, at least."""
_FEW = 2000
"""Memories that are scored one by one in the time of asking the indexes about them."""


class FileSearch(Search):
    """Answer one question: candidates by FTS5 and sqlite-vec, then the same score as ever."""

    def __init__(
        self,
        connection: Connection,
        collection: str,
        query: Query,
        real_weight: float,
        *,
        trusts_words: bool = False,
    ) -> None:
        """Ask how rare the words are; with `trusts_words` they count however few are held."""
        self._connection = connection
        self._collection = collection
        self._weight = real_weight
        self._lacks_vectors = is_avoided(VECTORS)
        by_meaning = (
            query.vector is not None
            and not self._lacks_vectors
            and vectors.has_any(connection, collection)
        )
        self._vector = query.vector if by_meaning else None
        self._trusts_words = trusts_words
        second = query.second_model if by_meaning else None
        if second is not None and not other_vectors.has_any(connection, second, collection):
            second = None
        self._second_model, self._second = second, None if second is None else query.second
        self.models = scoring.name_models(self._vector, self._second)
        sizes = count_partitions(connection)
        self.size = sizes.get(collection, 0)
        only = collection if len(sizes) > 1 else None  # else all memories are of this one

        def count(terms: Iterable[str]) -> int:
            return fulltext.frequency(connection, list(terms), only)

        terms = query.terms
        if terms.fallback and count(terms.terms.values()) < ENOUGH:
            terms = terms.add_fallback()
        counts = {key: count([term]) for key, term in terms.counted.items()}
        self._worth = scoring.weigh(terms, self.size, counts)
        self._terms = list(terms.terms.values())
        by_words = fulltext.holds_any(connection, self._terms, collection)
        self.mode = scoring.name_mode(by_words, by_meaning)

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
            if self._second is not None and self._second_model is not None:
                coarse = self._second.coarse
                found += other_vectors.find_nearest(
                    connection, self._second_model, collection, coarse, pool, among
                )
        else:
            found = list(among)
        if self._vector is not None:
            return self._score_by_meaning(self._vector, found, limit)
        rows = (
            (row.memory_id, covered, row.real)
            for row in self._fetch(found)
            if row.collection == collection and (covered := self._cover(row.terms))
        )
        return scoring.list_best(rows, self._weight, limit)

    def _score_by_meaning(
        self, vector: QueryVector, found: Sequence[int], limit: int
    ) -> list[Hit]:
        """Return the best of some memories by meaning and words; without one, no numpy loads."""
        import numpy as np

        from robot_memory.embedding.calibration import Cosines, share_relevance
        from robot_memory.search.ranking import Scorer

        known, others = vectors.fetch_both(self._connection, self._second_model, found)
        rows, coverage, first, second = [], [], [], []
        for row in self._fetch(found):
            covered, near = self._cover(row.terms), known.get(row.memory_id)
            if row.collection == self._collection and (covered or near is not None):
                rows.append(row)
                coverage.append(covered)
                first.append(_compare(vector, near))
                second.append(_compare(self._second, others.get(row.memory_id)))
        cosines = Cosines(np.array(first, np.float32), np.array(second, np.float32))
        scale = None if self._second is None else self._second.calibration
        meanings = share_relevance(cosines, vector.calibration, scale)
        held = np.array(coverage, np.float32)
        real = np.array([row.real for row in rows], np.bool_)
        ids = np.array([row.memory_id for row in rows], np.int64)
        return Scorer(self._weight, self._trust).list_best(ids, held, meanings, real, limit)

    def _fetch(self, ids: Sequence[int]) -> list[indexed.Row]:
        fetch = from_records.fetch if self._lacks_vectors else indexed.fetch
        return fetch(self._connection, ids)

    @cached_property
    def _trust(self) -> float:
        """Return how much words count beside the meaning."""
        if self._vector is None or self._trusts_words:
            return 1.0
        found = fulltext.candidates(self._connection, self._terms, self._collection, _POOL, None)
        rows = self._fetch(found)
        return scoring.trust_words(max((self._cover(row.terms) for row in rows), default=0.0))

    def _cover(self, terms: bytes) -> float:
        """Return how much of the question a memory's terms cover, 0 to 1."""
        held = fulltext.unpack(terms)
        found = sum(worth for term, worth in self._worth.terms.items() if term in held)
        if not found:
            return 0.0
        found += sum(worth for term, worth in self._worth.more.items() if term in held)
        return scoring.coverage(found, self._worth.asked)


def count_partitions(connection: Connection) -> dict[str, int]:
    """Return how many memories each partition holds, of its rows where the index is damaged."""
    return from_records.sizes(connection) if is_avoided(VECTORS) else indexed.sizes(connection)


def _compare(asked: QueryVector | None, vector: Vector | None) -> float:
    from robot_memory.embedding.calibration import NO_VECTOR

    if asked is None or vector is None:
        return NO_VECTOR
    return float(vector @ asked.vector)

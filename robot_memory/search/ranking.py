"""The formulas of `scoring` for all rows of a shard at once, and the best of these rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.search.query import Hit, Parts
from robot_memory.search.scoring import TermWeights, fuse, share_words

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]

_BLOCK = 256
"""Values whose greatest is found before any of them is looked at."""


def cover(
    holding: Mapping[int, Sequence[NDArray[np.int32]]], worth: TermWeights, count: int
) -> Floats:
    """
    Return what the terms of a question are worth that each row holds, 0: it is not found.

    `holding` has the rows, of so many, that hold each term.
    """
    sums = np.zeros(count, np.float32)
    for term, value in worth.terms.items():
        for rows in holding[term]:
            np.add.at(sums, rows, np.float32(value))  # no row is there twice
    for term, value in worth.more.items():
        for rows in holding[term]:
            np.add.at(sums, rows[sums[rows] > 0], np.float32(value))
    return sums


def cover_each(sums: Floats, asked: float) -> Floats:
    """Return the `scoring.coverage` of each row, 0 to 1."""
    covered: Floats = np.minimum(sums / max(asked, 1e-9), 1.0)
    return covered.astype(np.float32, copy=False)


@dataclass(frozen=True)
class Scorer:
    """Score memories: what is real times a `weight`; `trust` says how much words count."""

    weight: float
    trust: float = 1.0

    def score(self, coverage: Floats, relevance: Floats | None, real: NDArray[np.bool_]) -> Floats:
        """Return the scores of some memories; without a relevance the words alone count."""
        if relevance is None:
            relevance = np.zeros(len(coverage), np.float32)
        scores = fuse(relevance, coverage, self.trust)
        weighted: Floats = np.where(real, scores * np.float32(self.weight), scores)
        return weighted.astype(np.float32, copy=False)

    def list_best(
        self,
        ids: Rows,
        coverage: Floats,
        meanings: Sequence[Floats],
        real: NDArray[np.bool_],
        limit: int,
    ) -> list[Hit]:
        """
        Return the best of some memories as hits, best first, the newer of equals first.

        `meanings` has for each model what it adds to the relevance.
        """
        relevance = sum_relevance(meanings, len(ids))
        scores = self.score(coverage, relevance, real)
        best = select_best(scores, ids, limit)
        words = share_words(relevance, coverage, self.trust)
        weights = np.where(real, self.weight, 1.0)
        columns = (column[best].tolist() for column in (ids, scores, relevance, coverage))
        parts = zip(
            np.transpose([one[best] for one in meanings]).tolist() or [[]] * len(best),
            words[best].tolist(),
            weights[best].tolist(),
            strict=True,
        )
        return [
            Hit(
                memory_id,
                score,
                relevance=near,
                coverage=covered,
                parts=Parts(tuple(by_model), by_words, weight),
            )
            for memory_id, score, near, covered, (by_model, by_words, weight) in zip(
                *columns, parts, strict=True
            )
        ]


def sum_relevance(meanings: Sequence[Floats], count: int) -> Floats:
    """Return the relevance of so many memories: the sum of what each model adds."""
    if not meanings:
        return np.zeros(count, np.float32)
    total: Floats = np.sum(meanings, axis=0, dtype=np.float32)
    return total


def join_rows(*parts: Rows) -> Rows:
    """Return the rows of ascending parts, each once, ascending; sorting is quick, hashing not."""
    if len(parts) == 1:
        return parts[0]
    joined = np.sort(np.concatenate(parts))
    rows: Rows = joined[np.flatnonzero(np.diff(joined, prepend=-1))]
    return rows


def select_newest(values: Floats, limit: int) -> Rows:
    """Return the places of the greatest above 0, of equals the last, so many; ascending."""
    least = np.float32(0)
    blocks = len(values) // _BLOCK
    if blocks >= limit:  # each of so many blocks has one at least as great
        greatest = values[: blocks * _BLOCK].reshape(blocks, _BLOCK).max(axis=1)
        least = np.partition(greatest, blocks - limit)[blocks - limit]
    places = np.flatnonzero(values >= least) if least > 0 else np.flatnonzero(values > 0)
    if len(places) <= limit:
        return places
    found = values[places]
    last = np.partition(found, len(found) - limit)[len(found) - limit]
    above = places[found > last]
    equal = places[found == last][len(above) - limit :]
    return np.sort(np.concatenate([above, equal]))


def select_top(scores: Floats, limit: int) -> Rows:
    """Return the places of the best, and of all that equal the last of them, in any order."""
    if len(scores) <= limit:
        return np.arange(len(scores))
    least = np.partition(scores, len(scores) - limit)[len(scores) - limit]
    return np.flatnonzero(scores >= least)


def select_best(scores: Floats, ids: Rows, limit: int) -> Rows:
    """Return the places of the best, best first, the newer of equals first."""
    top = select_top(scores, limit)
    best: Rows = top[np.lexsort((-ids[top], -scores[top]))[:limit]]
    return best

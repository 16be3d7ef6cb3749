"""
Pure functions that decide what comes first: how words and meaning make one score.

They take numbers or numpy arrays. docs/decisions/fusion.md has the figures behind the constants.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.search.query import Hit, Parts, QueryTerms

Rows = NDArray[np.int64]
Floats = NDArray[np.float32]
Number = TypeVar('Number', float, NDArray[np.floating[Any]])

WORDS_SHARE = 0.8
"""What covering all of a question's words is worth: of what the meaning leaves open."""

WORDS_FROM, WORDS_FULLY_FROM = 0.2, 0.35
"""The best coverage from which on words count beside the meaning, and from which on fully."""

IMAGINED = 100
"""Memories that are imagined beside those of a store."""

PAIRS_SHARE = 0.6
"""The weight of two words that stand side by side in both, beside the mean of their own."""

TURNED_SHARE = 0.25
"""The part of that which they keep where they stand the other way round."""

TWICE_SHARE = 0.05
"""What a word counts more that a memory holds more than once."""

_BLOCK = 256
"""Values whose greatest is found before any of them is looked at."""


def bm25_idf(count: float, n: Number) -> Number:
    """Return what a term is worth that n of count memories hold, above 0 (Lucene's idf)."""
    idf: Number = np.log(1 + (count - n + 0.5) / (n + 0.5))
    return idf


def term_worth(count: float, n: Number) -> Number:
    """
    Return what a term is worth that n of count memories hold, where count may be small.

    To a young store a hundred imagined memories are added of which one holds the term, for in
    three memories nothing is rare yet; among thousands they do not count.
    """
    return bm25_idf(count + IMAGINED, n + 1)


@dataclass(frozen=True)
class TermWeights:
    """
    Say what each term of a question is worth, by the hashes of `indexed`.

    What holds none of `terms` is not found; `more` counts where something else was found.
    `asked` is the sum that all of the question is worth.
    """

    terms: dict[int, float]
    more: dict[int, float]
    asked: float


def weigh(asked: QueryTerms, memories: int, counts: Mapping[int, int]) -> TermWeights:
    """Return what terms are worth; `counts` has how many of the memories hold each."""
    numbers = np.fromiter(counts.values(), np.float64, len(counts))
    worths: list[float] = term_worth(memories, numbers).tolist()
    worth = dict(zip(counts, worths, strict=True))
    more = {term: worth[term] for term in asked.kinds}
    besides = {
        twice: TWICE_SHARE * worth[stem]
        for twice, stem in asked.twice.items()
        if stem in asked.terms
    }
    for straight, turned, stems in asked.pairs:
        share = PAIRS_SHARE * sum(worth[stem] for stem in stems) / 2
        more[straight] = share
        besides[turned] = TURNED_SHARE * share
    terms = {term: worth[term] for term in asked.terms}
    return TermWeights(terms, besides | more, sum(terms.values()) + sum(more.values()))


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


def coverage(found: Number, asked: float) -> Number:
    """
    Return how much of a question the words cover, 0 to 1.

    `asked` is the sum of what the question's terms (those that no memory holds, too), kinds and
    pairs are worth: `term_worth` of each, of a pair PAIRS_SHARE x the mean of its two. `found` is
    the sum of those that a memory holds, of pairs that it holds the other way round and of
    words that it holds again. Its length does not count.
    """
    covered: Number = np.minimum(found / max(asked, 1e-9), 1.0)
    return covered


def cover_each(sums: Floats, asked: float) -> Floats:
    """Return how much of a question each row covers, 0 to 1."""
    return coverage(sums, asked).astype(np.float32, copy=False)


def trust_words(best: float) -> float:
    """
    Return how much words count beside the meaning, 0 to 1, by a question's best coverage.

    Where no memory holds more than a fifth of what a question's words are worth, the answer is in
    other words, and what memories share with the question says nothing.
    """
    return min(max((best - WORDS_FROM) / (WORDS_FULLY_FROM - WORDS_FROM), 0.0), 1.0)


def fuse(relevance: Number, coverage: Number, trust: float = 1.0) -> Number:
    """
    Return one score, 0 to 1, of the meaning and the words, each 0 to 1; 0 where one is absent.

    Words add to what the meaning leaves open, as the chance that either is right does, so the
    better half decides; `trust` is what of that is counted. It grows with both, and is one scale
    for every mode: with the meaning alone it is the relevance, with words alone
    0.8 x coverage^1.25.
    """
    fused: Number = relevance + share_words(relevance, coverage, trust)
    return fused


def share_words(relevance: Number, coverage: Number, trust: float = 1.0) -> Number:
    """Return what the words add to the meaning."""
    share: Number = trust * WORDS_SHARE * _sharpened(coverage * (1 - relevance))
    return share


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


def _sharpened(x: Number) -> Number:
    """Return x^1.25, by roots: a little in common says little. 0.8 x 1.25 is no more than 1."""
    sharp: Number = x * np.sqrt(np.sqrt(x))
    return sharp


def name_mode(by_words: bool, by_meaning: bool) -> str:
    """Return the mode of a search by what found anything: hybrid, vec_only or bm25_only."""
    if by_meaning:
        return 'hybrid' if by_words else 'vec_only'
    return 'bm25_only'


def name_models(*vectors: QueryVector | None) -> tuple[str, ...]:
    """Return the names of the models of a question's vectors."""
    return tuple(vector.model for vector in vectors if vector is not None)


def find_least_coverage(least: float, relevance: float, trust: float) -> float:
    """Return the coverage from which on a relevance makes a score so high; over 1: none does."""
    missing = least - relevance
    if missing <= 0:
        return 0.0
    if trust <= 0 or relevance >= 1:
        return math.inf
    return float((missing / (trust * WORDS_SHARE)) ** 0.8 / (1 - relevance))


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

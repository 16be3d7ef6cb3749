"""
Formulas that decide what comes first: how words and meaning make one score.

They take numbers, some of them numpy arrays as well, and import no numpy: a process that asks
once, for words alone, ends before that is imported. docs/decisions/fusion.md has the figures
behind the constants.
"""

from __future__ import annotations

import heapq
import math
import struct
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from robot_memory.search.query import Hit, Parts, QueryTerms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from robot_memory.embedding.vectorizer import QueryVector

Number = TypeVar('Number', float, 'NDArray[np.floating[Any]]')

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

_SINGLE = struct.Struct('f')


def bm25_idf(count: float, n: float) -> float:
    """Return what a term is worth that n of count memories hold, above 0 (Lucene's idf)."""
    return math.log(1 + (count - n + 0.5) / (n + 0.5))


def term_worth(count: float, n: float) -> float:
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
    worth = {term: term_worth(memories, number) for term, number in counts.items()}
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


def coverage(found: float, asked: float) -> float:
    """
    Return how much of a question the words cover, 0 to 1.

    `asked` is the sum of what the question's terms (those that no memory holds, too), kinds and
    pairs are worth: `term_worth` of each, of a pair PAIRS_SHARE x the mean of its two. `found` is
    the sum of those that a memory holds, of pairs that it holds the other way round and of
    words that it holds again. Its length does not count.
    """
    return min(found / max(asked, 1e-9), 1.0)


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


def share_words(
    relevance: Number,
    coverage: Number,
    trust: float = 1.0,
    rounded: Callable[[Any], Any] = lambda number: number,
) -> Number:
    """Return what the words add to the meaning; steps are `rounded`, as those of arrays are."""
    sharp = _sharpened(coverage * (1 - relevance), rounded)
    share: Number = rounded(rounded(trust * WORDS_SHARE) * sharp)
    return share


def _sharpened(x: Number, rounded: Callable[[Any], Any]) -> Number:
    """Return x^1.25, by roots: a little in common says little. 0.8 x 1.25 is no more than 1."""
    sharp: Number = rounded(x * rounded(rounded(x**0.5) ** 0.5))
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


def list_best(rows: Iterable[tuple[int, float, bool]], weight: float, limit: int) -> list[Hit]:
    """
    Return the best memories as hits by words alone, best first, the newer of equals first.

    Each row is an id, its coverage, and whether it is real: that is worth times the weight. All
    is rounded as `ranking` has it, so that who asks the file is told the same.
    """
    scored = []
    for memory_id, covered, real in rows:
        coverage, factor = _round(covered), weight if real else 1.0
        words = share_words(0.0, coverage, rounded=_round)
        scored.append((_round(words * _round(factor)), memory_id, coverage, words, factor))
    return [
        Hit(memory_id, score, coverage=coverage, parts=Parts((), words, factor))
        for score, memory_id, coverage, words, factor in heapq.nlargest(limit, scored)
    ]


def _round(number: float) -> float:
    """Return the nearest number of single precision."""
    rounded: float = _SINGLE.unpack(_SINGLE.pack(number))[0]
    return rounded

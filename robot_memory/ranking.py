"""Pure functions that decide what comes first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

WORDS_SHARE = 0.5
"""Weight of the words beside the meaning; docs/decisions/fusion.md has the figures."""


LEAST_COVERAGE = 0.05
"""What any shared word is worth: in a store of a few memories, BM25 gives nearly nothing."""


def coverage(score: float, possible: float) -> float:
    """Return how much of a query the words cover, 0 to 1, from BM25 and the most it can give."""
    return LEAST_COVERAGE + (1 - LEAST_COVERAGE) * min(score / possible, 1.0)


@dataclass(frozen=True)
class Candidate:
    """Say how well a memory answers: by words and by meaning, each 0 to 1."""

    id: int
    coverage: float = 0.0
    relevance: float = 0.0


def merge(coverage: Mapping[int, float], relevance: Mapping[int, float]) -> list[Candidate]:
    """Join what the words and the meaning found."""
    return [
        Candidate(memory_id, coverage.get(memory_id, 0.0), relevance.get(memory_id, 0.0))
        for memory_id in dict.fromkeys((*relevance, *coverage))
    ]


def fuse(candidate: Candidate, mode: str) -> float:
    """
    Return one score, 0 to 1, for a candidate that a mode of recall found.

    A convex combination of calibrated scores: plain reciprocal ranks lose to the better of
    their halves on most sets.
    """
    if mode == 'bm25_only':
        return candidate.coverage
    if mode == 'vec_only':
        return candidate.relevance
    return (candidate.relevance + WORDS_SHARE * candidate.coverage) / (1 + WORDS_SHARE)

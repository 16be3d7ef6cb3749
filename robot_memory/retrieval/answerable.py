"""Whether what was found answers the question, or is only about something alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from robot_memory.retrieval.contradictions import find_current, put_first
from robot_memory.retrieval.retriever import Found
from robot_memory.search.query import Hit, sort_by_score
from robot_memory.text.slots import Agreement, compare, find_slots

_BEST = 3
"""Memories at the top that may answer."""
_NEAR = 0.3
"""The relevance from which on a text is about what is asked; more says nothing of an answer."""
_ABOUT, _OTHER, _SWAPPED, _UNFIT, _PARTIAL, _BIAS = 4.7, 4.0, 0.44, 2.6, 1.2, -2.55
"""Weights of a logistic regression; docs/recall.md says on what it was fitted."""


def estimate(relevance: float, coverage: float, agreement: Agreement) -> float:
    """
    Return the chance that a text answers a question, 0 to 1.

    A text that holds some of the question's words and not the others is rather about the same
    thing than about what is asked of it.
    """
    partial = 4 * coverage * (1 - coverage)
    evidence = _ABOUT * min(relevance / _NEAR, 1.0) - _PARTIAL * partial + _BIAS
    evidence -= _OTHER * min(agreement.other, 1)
    evidence -= _SWAPPED * agreement.swapped + _UNFIT * agreement.unfit
    return 1 / (1 + math.exp(-evidence))


def judge(found: Found, question: str) -> float:
    """Return the chance that any memory at the top answers a question, 0 where there is none."""
    hits = found.hits[:_BEST]
    agreements = _compare_each(found, hits, question)
    chances = (_estimate_hit(found, hit, agreements[hit.id]) for hit in hits)
    return round(max(chances, default=0.0), 4)


def rate(found: Found, question: str, least: float, limit: int) -> Found:
    """
    Return what was found with scores that tell answers from what is only alike.

    A memory that cannot answer keeps little of its score, one that surely does at least half.
    Where only words were compared, which says little of an answer, that is done only to what names
    another person, thing, number or time.
    """
    agreements = _compare_each(found, found.hits, question)
    rated = []
    for hit in found.hits:
        agreement = agreements[hit.id]
        if found.models or agreement.other:
            chance = _estimate_hit(found, hit, agreement)
            hit = replace(hit, score=round(chance * (1 + min(hit.score, 1.0)) / 2, 6))
        rated.append(hit)
    kept = sort_by_score(hit for hit in rated if hit.score >= least)
    current = find_current({hit.id: found.records[hit.id] for hit in kept})
    return replace(found, hits=tuple(put_first(kept, current)[:limit]))


def _compare_each(found: Found, hits: Sequence[Hit], question: str) -> dict[int, Agreement]:
    """Return how what is named in each memory agrees with what a question names."""
    asked = find_slots(question)
    return {hit.id: compare(asked, find_slots(found.records[hit.id].content)) for hit in hits}


def _estimate_hit(found: Found, hit: Hit, agreement: Agreement) -> float:
    """Return the chance that a memory answers; of one found by keywords alone, by coverage."""
    relevance = hit.relevance if found.models else hit.coverage
    return estimate(relevance, hit.coverage, agreement)

"""Whether what was found answers the question, or is only about something alike."""

from __future__ import annotations

import math
from dataclasses import replace

from robot_memory.retrieval.contradictions import find_current, put_first
from robot_memory.retrieval.retriever import Found
from robot_memory.search.query import Hit
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


def estimate_each(found: Found, question: str, most: int | None = None) -> dict[int, float]:
    """Return the chance of each memory at the top that it answers; keyword hits by coverage."""
    asked = find_slots(question)
    chances = {}
    for hit in found.hits[:most]:
        relevance = hit.relevance if found.models else hit.coverage
        agreement = compare(asked, find_slots(found.records[hit.id].content))
        chances[hit.id] = estimate(relevance, hit.coverage, agreement)
    return chances


def judge(found: Found, question: str) -> float:
    """Return the chance that any memory at the top answers a question, 0 where there is none."""
    return round(max(estimate_each(found, question, _BEST).values(), default=0.0), 4)


def rate(found: Found, question: str, least: float, limit: int) -> Found:
    """
    Return what was found with scores that tell answers from what is only alike.

    A memory that cannot answer keeps little of its score, one that surely does at least half.
    Where only words were compared, which says little of an answer, that is done only to what names
    another person, thing, number or time.
    """
    asked = find_slots(question)
    chances = estimate_each(found, question)
    rated = [
        replace(hit, score=round(chances[hit.id] * (1 + min(hit.score, 1.0)) / 2, 6))
        if found.models or compare(asked, find_slots(found.records[hit.id].content)).other
        else hit
        for hit in found.hits
    ]
    kept: list[Hit] = [hit for hit in rated if hit.score >= least]
    kept.sort(key=lambda hit: (-hit.score, -hit.id))
    current = find_current({hit.id: found.records[hit.id] for hit in kept})
    return replace(found, hits=tuple(put_first(kept, current)[:limit]))

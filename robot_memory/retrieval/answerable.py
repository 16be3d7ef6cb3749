"""Whether what was found answers the question, or is only about something alike."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from robot_memory.retrieval.contradictions import find_current, put_first
from robot_memory.retrieval.retriever import Found
from robot_memory.search.query import Hit, sort_by_score
from robot_memory.text.agreement import Agreement, compare
from robot_memory.text.slots import find_slots

_BEST = 3
"""Memories at the top that may answer."""
_SURE = 0.7
"""The relevance from which on more says nothing of an answer."""
_RELEVANT, _BEHIND, _COVERED, _OTHER, _UNFIT, _BIAS = 6.4, 7.0, 1.2, 4.1, 3.0, -2.5
"""Weights of a logistic regression; docs/recall.md says on what it was fitted."""


def estimate(relevance: float, most: float, coverage: float, agreement: Agreement) -> float:
    """
    Return the chance that a text answers a question, 0 to 1.

    One that is less relevant than another, of which `most` is the relevance, hardly does. Of two
    that are as relevant, one that has more of the question's words is rather only like it.
    """
    evidence = _RELEVANT * min(relevance, _SURE) - _BEHIND * (most - relevance)
    evidence -= _COVERED * coverage - _BIAS
    evidence -= _OTHER * min(agreement.other, 1) + _UNFIT * agreement.unfit
    return 1 / (1 + math.exp(-evidence))


def judge(found: Found, question: str) -> float:
    """Return the chance that any memory at the top answers a question, 0 where there is none."""
    judged = _judge_each(found, found.hits[:_BEST], question)
    return round(max((chance for chance, _ in judged), default=0.0), 4)


def rate(found: Found, question: str, least: float, limit: int) -> Found:
    """
    Return what was found with scores that tell answers from what is only alike.

    A score is the geometric mean of the chance that the memory answers and of its score, which
    counts as a half at least. Where only words were compared, which says little of an answer,
    that is done only to what names another person, thing, number or time.
    """
    rated = []
    judged = _judge_each(found, found.hits, question)
    for hit, (chance, agreement) in zip(found.hits, judged, strict=True):
        if found.models or agreement.other:
            score = math.sqrt(chance * (1 + min(hit.score, 1.0)) / 2)
            hit = replace(hit, score=round(score, 6))
        rated.append(hit)
    kept = sort_by_score(hit for hit in rated if hit.score >= least)
    current = find_current({hit.id: found.records[hit.id] for hit in kept})
    return replace(found, hits=tuple(put_first(kept, current)[:limit]))


def _judge_each(found: Found, hits: Sequence[Hit], question: str) -> list[tuple[float, Agreement]]:
    """
    Return of each memory the chance that it answers, and whether it names what a question does.

    Where only words were compared, coverage is all that is known of relevance.
    """
    asked = find_slots(question)
    relevances = [hit.relevance if found.models else hit.coverage for hit in hits]
    most = max(relevances, default=0.0)
    judged = []
    for hit, relevance in zip(hits, relevances, strict=True):
        agreement = compare(asked, find_slots(found.records[hit.id].content))
        judged.append((estimate(relevance, most, hit.coverage, agreement), agreement))
    return judged

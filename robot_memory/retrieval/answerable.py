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
_RELEVANT, _BEHIND, _OTHER, _UNFIT, _BIAS = 6.3, 10.3, 4.8, 3.3, -1.4
"""Weights of a logistic regression; docs/recall.md says on what it was fitted."""
_ACROSS = 1.3
"""By how much a relevance counts more between Chinese and others, where all are lower."""


def estimate(relevance: float, most: float, agreement: Agreement) -> float:
    """
    Return the chance that a text answers a question, 0 to 1, where as many are answered as not.

    One that is less relevant than another, of which `most` is the relevance, hardly does.
    """
    evidence = _RELEVANT * min(relevance, _SURE) - _BEHIND * (most - relevance) + _BIAS
    evidence -= _OTHER * agreement.other + _UNFIT * agreement.unfit
    return 1 / (1 + math.exp(-evidence))


def judge(found: Found, question: str) -> float:
    """Return the chance that any memory at the top answers a question, 0 where there is none."""
    judged = _judge_each(found, found.hits[:_BEST], question)
    return round(max((chance for chance, _ in judged), default=0.0), 4)


def rate(found: Found, question: str, least: float, limit: int) -> Found:
    """
    Return what was found with scores that tell answers from what is only alike.

    A memory that cannot answer keeps little of its score, one that surely does at least half.
    Where only words were compared, which says little of an answer, that is done only to what names
    another person, thing, number or time. What stands before a memory that is kept is kept, too.
    """
    rated = []
    judged = _judge_each(found, found.hits, question)
    for hit, (chance, agreement) in zip(found.hits, judged, strict=True):
        if found.models or agreement.other:
            hit = replace(hit, score=round(chance * (1 + min(hit.score, 1.0)) / 2, 6))
        rated.append(hit)
    current = find_current({hit.id: found.records[hit.id] for hit in rated})
    passing = {hit.id for hit in rated if hit.score >= least}
    while not passing.issuperset(newer := {current[one] for one in passing & current.keys()}):
        passing |= newer
    kept = sort_by_score(hit for hit in rated if hit.id in passing)
    current = {old: new for old, new in current.items() if old in passing}
    return replace(found, hits=tuple(put_first(kept, current)[:limit]))


def _judge_each(found: Found, hits: Sequence[Hit], question: str) -> list[tuple[float, Agreement]]:
    """Return of each memory the chance that it answers, and whether it names what is asked."""
    asked = find_slots(question)
    texts = [find_slots(found.records[hit.id].content) for hit in hits]
    relevances = [
        _find_relevance(found, hit, is_across=text.is_han != asked.is_han)
        for hit, text in zip(hits, texts, strict=True)
    ]
    most = max(relevances, default=0.0)
    agreements = [compare(asked, text) for text in texts]
    return [
        (estimate(relevance, most, agreement), agreement)
        for relevance, agreement in zip(relevances, agreements, strict=True)
    ]


def _find_relevance(found: Found, hit: Hit, *, is_across: bool) -> float:
    """Return a relevance; where only words were compared, coverage is all that is known of it."""
    if not found.models:
        return hit.coverage
    return hit.relevance * (_ACROSS if is_across else 1.0)

"""
What a model that reads both texts says of the facts that a new one may correct.

It reads them before the transaction that stores the new one, for a pair takes some 10 ms. Where
there is no such model, or it read no pair, words decide alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from robot_memory.core.records import Record, is_quoted
from robot_memory.embedding.correction_judge import has_judge, load_judge
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.memory import Memory
from robot_memory.search.neighbours import open_neighbours
from robot_memory.storage.tables import memories
from robot_memory.text.relations import corrects, is_asserted, may_concern

logger = logging.getLogger(__name__)

ALONE, WITNESSED = 2.4, 1.0
"""The least log odds of a correction: by itself, and where the words say it is one."""
NEAREST, LEAST = 12, 0.1
"""How many of the nearest memories may be corrected, and how similar they are at least."""
LEAST_ALONE = 0.25
"""Similarity below which a fact is not judged that the words do not say is corrected."""
_SAID = 2
"""Facts that words say are corrected that are judged; where they say so of none, it is one."""


@dataclass(frozen=True)
class Verdict:
    """Hold the text of a known fact, and the log odds that a new one replaces it."""

    content: str
    score: float


@dataclass(frozen=True)
class Verdicts:
    """Hold the verdicts of known facts by id; none where nothing was judged."""

    found: Mapping[int, Verdict] = field(default_factory=dict)

    def tell(self, old: Record, by_words: bool) -> bool:
        """Say whether a known fact is corrected, which the words say or do not."""
        verdict = self.found.get(old.id)
        if verdict is None or verdict.content != old.content:
            return by_words
        return verdict.score >= (WITNESSED if by_words else ALONE)


NO_VERDICTS = Verdicts()


def judge_statement(
    memory: Memory, text: str, collection: str, vectors: TextVectors | None
) -> Verdicts:
    """Return what the judge says of the facts of a collection that a new text may correct."""
    embedder = memory.embedder.get_if_loaded()
    if vectors is None or not has_judge(embedder) or not is_asserted(text):
        return NO_VERDICTS
    with memory.db.read() as connection:
        if memory.match_embedder(connection) is None:
            return NO_VERDICTS
        neighbours = open_neighbours(
            connection, collection, vectors.first, embedder, memory.resident_index
        )
        near = neighbours.find_nearest(NEAREST, LEAST)
        known = memories.get(connection, [memory_id for memory_id, _ in near])
    facts = [
        (known[each], similarity)
        for each, similarity in near
        if each in known and _may_be_read(known[each], text)
    ]
    if any(old.content == text for old, _ in facts):
        return NO_VERDICTS  # it is known, so it will not be stored
    said = [old for old, similarity in facts if corrects(old.content, text, similarity)]
    near_enough = [old for old, similarity in facts if similarity >= LEAST_ALONE]
    return _read(embedder, said or near_enough[:1], text)


def _may_be_read(old: Record, text: str) -> bool:
    return old.type == 'fact' and not is_quoted(old) and may_concern(old.content, text)


def _read(embedder: OnnxEmbedder, facts: Sequence[Record], text: str) -> Verdicts:
    """Have the judge read facts, the first; of those that it does not read none is corrected."""
    judge = load_judge(embedder) if facts else None
    if judge is None:
        return NO_VERDICTS
    found = {old.id: Verdict(old.content, -math.inf) for old in facts}
    try:
        for old in facts[:_SAID]:
            found[old.id] = Verdict(old.content, judge.score(old.content, text))
    except Exception:  # whatever onnxruntime raises, learn goes on by words
        logger.exception('the judge of corrections failed')
        return NO_VERDICTS
    return Verdicts(found)

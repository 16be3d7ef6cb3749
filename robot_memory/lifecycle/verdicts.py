"""
What a model that reads both texts says of the facts that a new one may correct, or restate.

It reads them before the transaction that stores the new one, for a pair takes some 10 ms. Where
there is no such model, or it read no pair, words decide alone.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from robot_memory.embedding.cross_encoder import Scores, has_cross_encoder, load_cross_encoder
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.lifecycle.classification import takes_back, tells_danger
from robot_memory.memory import Memory
from robot_memory.search.neighbours import open_neighbours
from robot_memory.storage.tables import memories
from robot_memory.text.relations import (
    asks,
    corrects,
    hints_at_change,
    is_asserted,
    is_of_another_person,
    may_concern,
    overlap,
)
from robot_memory.text.restated import rate_restated
from robot_memory.text.statement_reader import read_statement
from robot_memory.text.statements import drop_request

logger = logging.getLogger(__name__)

ALONE, HINTED, SAID, DOUBTED = 1.25, 0.0, -0.5, 2.5
"""
The least log odds of a correction: by itself, where words say it may be one, or is, and where the
text looks like a question, a plan or hearsay.
"""
RESTATED, RESTATED_DOUBTED = 0.0, 1.0
"""
Log odds, by all that is known, that a text says the same as a known one: from the first on it may;
where it looks like a question, a plan or hearsay, from the second on.
"""
DISTINCT = -2.5
"""The cross-encoder's log odds up to which two texts do not say the same."""
SURE = 3.0
"""The least log odds of a correction of a fact that the words say is the same."""
NEAREST, LEAST = 12, -1.0
"""
How many of the nearest memories may be corrected; the bar of similarity is under any, since a
correction may be worded so differently that nothing likens it to the fact.
"""
_JUDGED = 2
"""Facts that are judged where words say, or hint, that something changed; else it is one."""
_SHARED = 0.5
"""What the share of words in common adds to similarity, in the order in which facts are read."""


class Fact(NamedTuple):
    """Hold the id and the text of a known fact."""

    id: int
    content: str


_Near = tuple[Fact, float]
"""A fact, and how similar it is."""


class Bars(NamedTuple):
    """Hold the least log odds of a fact that a text corrects, and of one that it restates."""

    corrected: float
    restated: float


@dataclass(frozen=True)
class Verdict:
    """
    Hold the text of a known fact, the log odds that a new one replaces it, and if it does.

    `restates` are the log odds that the new one says the same; `is_distinct` where it surely does
    not. A fact that is corrected, and tells what may harm somebody, `endangers`.
    """

    content: str
    score: float
    replaced: bool
    restates: float
    is_distinct: bool = False
    endangers: bool = False


@dataclass(frozen=True)
class Verdicts:
    """
    Hold the verdicts of known facts by id; none where nothing was judged.

    `least_restated` are the log odds from which on a fact is restated. With `retracts` the text
    takes back what was said just before.
    """

    found: Mapping[int, Verdict] = field(default_factory=dict)
    least_restated: float = RESTATED
    retracts: bool = False

    def tell(self, memory_id: int, content: str) -> bool | None:
        """Say whether a known fact of a text is corrected; None where that was not judged."""
        verdict = self.found.get(memory_id)
        return None if verdict is None or verdict.content != content else verdict.replaced

    def tells_danger(self, memory_id: int, content: str) -> bool:
        """Say whether a known fact that is corrected tells what may harm somebody."""
        verdict = self.found.get(memory_id)
        return verdict is not None and verdict.content == content and verdict.endangers

    @property
    def surely_corrects(self) -> bool:
        """Say whether a known fact is corrected, as surely as if no word said so."""
        return any(one.replaced and one.score >= ALONE for one in self.found.values())

    def list_restated(self) -> list[tuple[int, str, float]]:
        """Return the id and text of known facts that a new one restates, with the log odds."""
        found = [
            (memory_id, one.content, one.restates)
            for memory_id, one in self.found.items()
            if one.restates >= self.least_restated and not one.replaced
        ]
        return sorted(found, key=lambda one: -one[2])

    def list_distinct(self) -> dict[tuple[int, str], bool]:
        """Return the id and text of known facts that a new one is not, and if it replaces them."""
        return {
            (memory_id, one.content): is_replaced
            for memory_id, one in self.found.items()
            if (is_replaced := one.replaced and one.score >= SURE) or one.is_distinct
        }

    def sort(self, near: Iterable[tuple[int, float]]) -> list[tuple[int, float]]:
        """Return memories with their similarity, those that were judged by their score first."""
        scores = {each: verdict.score for each, verdict in self.found.items()}
        return sorted(near, key=lambda one: -scores.get(one[0], -math.inf))


NO_VERDICTS = Verdicts()


def judge_statement(
    memory: Memory, text: str, collection: str, vectors: TextVectors | None
) -> Verdicts:
    """
    Return what is said of the facts of a collection that a new text may correct or restate.

    Nothing is said where it ends as a question does; what only looks like one, like a plan or
    hearsay, must be surer.
    """
    found = _judge(memory, text, collection, vectors)
    return replace(found, retracts=True) if takes_back(memory, text, vectors) else found


def _judge(memory: Memory, text: str, collection: str, vectors: TextVectors | None) -> Verdicts:
    embedder = memory.embedder.get_if_loaded()
    if vectors is None or not has_cross_encoder(embedder) or asks(text):
        return NO_VERDICTS
    with memory.db.read() as connection:
        if memory.match_embedder(connection) is None:
            return NO_VERDICTS
        neighbours = open_neighbours(
            connection, collection, vectors.first, embedder, memory.resident_index
        )
        near = neighbours.find_nearest(NEAREST, LEAST)
        known = memories.read_statements(
            connection, collection, [memory_id for memory_id, _ in near]
        )
    facts = [
        (Fact(each, known[each]), similarity)
        for each, similarity in near
        if each in known and may_concern(known[each], text)
    ]
    if any(old.content == text for old, _ in facts):
        return NO_VERDICTS  # it is known, so it will not be stored
    said = [fact for fact in facts if corrects(fact[0].content, text, fact[1])]
    rest: list[_Near] = []
    if not said:
        rest = [fact for fact in facts if not is_of_another_person(fact[0].content, text)]
        rest.sort(key=lambda fact: -fact[1] - _SHARED * _share_words(fact[0].content, text))
        rest = rest[: _JUDGED if hints_at_change(text) else 1]
    return _read(memory, embedder, said or rest, text, find_bars(text, is_said=bool(said)))


def find_bars(text: str, *, is_said: bool) -> Bars:
    """Return the bars of a text; words say of it that it corrects a fact, or not (`is_said`)."""
    if not is_asserted(text):
        return Bars(DOUBTED, RESTATED_DOUBTED)
    return Bars(SAID if is_said else HINTED if hints_at_change(text) else ALONE, RESTATED)


def is_corrected(scores: Scores, bars: Bars) -> bool:
    """Say whether a fact is corrected: it is likelier than that it is restated."""
    return scores.replaces >= bars.corrected and scores.replaces > scores.restates


def _share_words(old: str, new: str) -> float:
    """Return the share of words in common, half of them where the texts are of two scripts."""
    one, other = read_statement(old), read_statement(new)
    return overlap(one, other) if one.is_han == other.is_han else 0.5


def _read(
    memory: Memory, embedder: OnnxEmbedder, facts: Sequence[_Near], text: str, bars: Bars
) -> Verdicts:
    """Have the first facts read; of those that are not read none is corrected or restated."""
    encoder = load_cross_encoder(embedder) if facts else None
    if encoder is None:
        return NO_VERDICTS
    found = {old.id: Verdict(old.content, -math.inf, False, -math.inf) for old, _ in facts}
    told = drop_request(text)
    try:
        for old, similarity in facts[:_JUDGED]:
            scores = encoder.score(old.content, told)
            replaced = is_corrected(scores, bars)
            found[old.id] = Verdict(
                old.content,
                scores.replaces,
                replaced,
                -math.inf if replaced else rate_restated(old.content, told, similarity, *scores),
                is_distinct=scores.restates <= DISTINCT,
                endangers=replaced and tells_danger(memory, old.content),
            )
    except Exception:  # whatever onnxruntime raises, learn goes on by words
        logger.exception('the cross-encoder failed')
        return NO_VERDICTS
    return Verdicts(found, bars.restated)

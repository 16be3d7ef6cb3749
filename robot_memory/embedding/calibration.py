"""
The scale on which similarities meet a threshold or are shown.

Models differ in what a cosine means: with raw e5 any two texts reach 0.7. The documented
thresholds (0.85 for a duplicate, 0.5 for a search hit) are meant on a scale where unrelated
texts score near 0 and paraphrases near 1, so each model is measured once with the sentences in
`sentences.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.quantisation import Vector
from robot_memory.embedding.sentences import CHINESE, ENGLISH, PARAPHRASES, QUESTIONS

PARAPHRASE_QUANTILE = 0.65
"""
The share of the paraphrase pairs below the cosine that maps to 1.

0.85 then lies at a cosine that most rewordings of a fact reach. So do facts of the same form about
another thing ('the milk is in the fridge', 'the eggs are in the fridge'), which no cosine tells
apart: they are for `guards.names_another`.
"""

LEAST_RELEVANCE = 0.05
"""Where `relevance` begins to fade: texts farther than unrelated ones still have an order."""

SCALE_VERSION = 2
"""Raised with every change of the sentences or of `measure`: kept measurements are then old."""

LANGUAGES = ('en', 'zh')
"""The languages of the sentences, whose halves are in this order."""

LEAST_SPREAD = 0.01
"""The least distance of two anchors, so that a model that tells nothing apart divides by no 0."""


NO_VECTOR = -2.0
"""The cosine of what has no vector; less than any cosine."""

Floats = NDArray[np.float32]


class Vectors(Protocol):
    """The half of an embedder that measuring needs."""

    def embed_passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed kept texts; shape (n, dimension)."""

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Embed one searched text; shape (dimension,)."""


@dataclass(frozen=True)
class Calibration:
    """
    Map cosines of one model to 0..1.

    `unrelated` is the cosine of texts that have nothing to do with each other (0 on the scale),
    `paraphrase` the cosine of texts that say the same (1), `stray` the cosine of questions with
    texts that do not answer them (None: as `unrelated`).
    """

    unrelated: float
    paraphrase: float
    stray: float | None = None

    @overload
    def to_similarity(self, cosine: float) -> float: ...
    @overload
    def to_similarity(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def to_similarity(self, cosine: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """Scale the cosine of two passages to 0..1, linear between the anchors."""
        scaled = np.clip((cosine - self.unrelated) / (self.paraphrase - self.unrelated), 0, 1)
        return scaled if isinstance(cosine, np.ndarray) else float(scaled)

    def to_cosine(self, similarity: float) -> float:
        """Return the cosine of two passages with a similarity from 0 to 1."""
        return self.unrelated + similarity * (self.paraphrase - self.unrelated)

    @overload
    def to_relevance(self, cosine: float) -> float: ...
    @overload
    def to_relevance(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def to_relevance(self, cosine: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """
        Scale the cosine of a query and a passage to 0..1.

        Linear from LEAST_RELEVANCE to 1, and never 0 under that: no two cosines below the
        paraphrase's change their order.
        """
        low = self.unrelated if self.stray is None else self.stray
        scaled = np.minimum((cosine - low) / (self.paraphrase - low), 1)
        faded = LEAST_RELEVANCE / (2 - np.minimum(scaled / LEAST_RELEVANCE, 1))
        relevance = np.where(scaled > LEAST_RELEVANCE, scaled, faded)
        return relevance if isinstance(cosine, np.ndarray) else float(relevance)


@dataclass(frozen=True)
class Cosines:
    """Hold the cosines of some rows by the first model, and by the second where it is asked."""

    first: Floats
    second: Floats | None = None

    def take(self, places: NDArray[np.int64]) -> Cosines:
        """Return those of some places."""
        return Cosines(self.first[places], None if self.second is None else self.second[places])

    def refine(
        self, ids: Sequence[int], *exact: tuple[Mapping[int, Vector], Vector | None]
    ) -> None:
        """
        Replace the cosines of memories, one of each row, by those of their exact vectors.

        These come by model, with that of the question, None where the model is not asked.
        """
        for cosines, (vectors, asked) in zip((self.first, self.second), exact, strict=True):
            if cosines is None or asked is None:
                continue
            for place, memory_id in enumerate(ids):
                if memory_id in vectors:
                    cosines[place] = float(vectors[memory_id] @ asked)


def compute_relevance(cosines: Cosines, first: Calibration, second: Calibration | None) -> Floats:
    """Return the relevance of memories by the models that have a vector of them, else 0."""
    by_model = share_relevance(cosines, first, second)
    found: Floats = by_model[0] if len(by_model) == 1 else by_model[0] + by_model[1]
    return found


def share_relevance(
    cosines: Cosines, first: Calibration, second: Calibration | None
) -> tuple[Floats, ...]:
    """
    Return what each model adds to the relevance of memories.

    By two models the relevance is the mean, for each errs where the other does not.
    """
    relevance = first.to_relevance(cosines.first).astype(np.float32, copy=False)
    relevance[cosines.first <= NO_VECTOR] = 0
    if cosines.second is None or second is None:
        return (relevance,)
    both = (cosines.first > NO_VECTOR) & (cosines.second > NO_VECTOR)
    half = np.float32(0.5)
    other = np.where(both, half * second.to_relevance(cosines.second), np.float32(0))
    return np.where(both, half * relevance, relevance), other.astype(np.float32, copy=False)


def measure_calibration(embedder: Vectors, languages: Sequence[str] = LANGUAGES) -> Calibration:
    """
    Derive the calibration of any model; 60 short texts, a quarter of a second.

    Texts of a language that a model does not know look alike to it and would shift the anchors:
    only those of `languages` count.
    """
    tables = [_cosines(embedder, LANGUAGES.index(language)) for language in languages]
    unrelated, paraphrases, strays = (np.concatenate(found) for found in zip(*tables, strict=True))
    low, stray = float(unrelated.mean()), float(strays.mean())
    high = float(np.quantile(paraphrases, PARAPHRASE_QUANTILE))
    return Calibration(low, max(high, low + LEAST_SPREAD, stray + LEAST_SPREAD), stray)


def _cosines(embedder: Vectors, side: int) -> tuple[NDArray[np.float32], ...]:
    """Return the cosines of unrelated texts, of paraphrases, and of questions that do not fit."""
    texts = embedder.embed_passages((ENGLISH, CHINESE)[side])
    half = len(PARAPHRASES) // 2
    chosen = PARAPHRASES[side * half : (side + 1) * half]
    pairs = embedder.embed_passages([text for pair in chosen for text in pair])
    half = len(QUESTIONS) // 2
    chosen_questions = QUESTIONS[side * half : (side + 1) * half]
    asked = np.stack([embedder.embed_query(question) for question in chosen_questions]) @ texts.T
    paraphrases: NDArray[np.float32] = (pairs[::2] * pairs[1::2]).sum(axis=1)
    strays: NDArray[np.float32] = asked[np.eye(len(asked), asked.shape[1]) == 0]
    return _take_off_diagonal(texts @ texts.T), paraphrases, strays


def _take_off_diagonal(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    upper: NDArray[np.float32] = cosines[np.triu_indices(len(cosines), 1)]
    return upper

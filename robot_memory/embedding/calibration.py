"""
The scale on which similarities meet a threshold or are shown.

Models differ in what a cosine means: with raw e5 any two texts reach 0.7. The documented
thresholds (0.85 for a duplicate, 0.5 for a search hit) are meant on a scale where unrelated
texts score near 0 and paraphrases near 1, so each model is measured once with the sentences in
`sentences.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, overload

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.sentences import CHINESE, ENGLISH, PARAPHRASES, QUESTIONS

PARAPHRASE_QUANTILE = 0.9
"""
The share of the paraphrase pairs below the cosine that maps to 1.

A missed duplicate costs a row, a false one loses a memory: so 1 is a close paraphrase, and 0.85
lies above pairs such as 'the milk is in the fridge' and 'the eggs are in the fridge'.
"""

STRAY_QUANTILE = 0.95
"""The share of the pairs of question and other text below the cosine taken as their upper end."""

SCALE_VERSION = 1
"""Raised with every change of the sentences or of `measure`: kept measurements are then old."""

LEAST_SPREAD = 0.01
"""The least distance of two anchors, so that a model that tells nothing apart divides by no 0."""


class Vectors(Protocol):
    """The half of an embedder that measuring needs."""

    def passages(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed kept texts; shape (n, dimension)."""

    def query(self, text: str) -> NDArray[np.float32]:
        """Embed one searched text; shape (dimension,)."""


@dataclass(frozen=True)
class Calibration:
    """
    Map cosines of one model to 0..1.

    `unrelated` is the cosine of texts that have nothing to do with each other (0 on the scale),
    `paraphrase` the cosine of texts that say the same (1), `related` the cosine between what
    questions reach with other texts and with their answers (0.5 in `relevance`; None: half way).
    """

    unrelated: float
    paraphrase: float
    related: float | None = None

    @overload
    def similarity(self, cosine: float) -> float: ...
    @overload
    def similarity(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def similarity(self, cosine: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """Scale the cosine of two passages to 0..1, linear between the anchors."""
        return _interpolate(cosine, (self.unrelated, self.paraphrase), (0.0, 1.0))

    def cosine(self, similarity: float) -> float:
        """Return the cosine of two passages with a similarity from 0 to 1."""
        return self.unrelated + similarity * (self.paraphrase - self.unrelated)

    @overload
    def relevance(self, cosine: float) -> float: ...
    @overload
    def relevance(self, cosine: NDArray[np.float32]) -> NDArray[np.float32]: ...
    def relevance(self, cosine: float | NDArray[np.float32]) -> float | NDArray[np.float32]:
        """
        Scale the cosine of a query and a passage to 0..1, linear on each side of `related`.

        A question is never as close to its answer as two passages that say the same.
        """
        if self.related is None:
            return self.similarity(cosine)
        anchors = (self.unrelated, self.related, self.paraphrase)
        return _interpolate(cosine, anchors, (0.0, 0.5, 1.0))


def measure(embedder: Vectors) -> Calibration:
    """Derive the calibration of any model; 60 short texts, a quarter of a second."""
    english, chinese = embedder.passages(ENGLISH), embedder.passages(CHINESE)
    unrelated = np.concatenate([_off_diagonal(side @ side.T) for side in (english, chinese)])
    pairs = embedder.passages([text for pair in PARAPHRASES for text in pair])
    paraphrases = (pairs[::2] * pairs[1::2]).sum(axis=1)
    half = len(QUESTIONS) // 2
    asked = np.stack([embedder.query(question) for question in QUESTIONS])
    tables = (asked[:half] @ english.T, asked[half:] @ chinese.T)
    answers = np.concatenate([table.diagonal() for table in tables])
    strays = np.concatenate([table[np.eye(*table.shape) == 0] for table in tables])

    low = float(unrelated.mean())
    high = max(float(np.quantile(paraphrases, PARAPHRASE_QUANTILE)), low + 2 * LEAST_SPREAD)
    middle = float(np.median(answers) + np.quantile(strays, STRAY_QUANTILE)) / 2
    middle = min(max(middle, low + LEAST_SPREAD), high - LEAST_SPREAD)
    return Calibration(unrelated=low, paraphrase=high, related=middle)


def _off_diagonal(cosines: NDArray[np.float32]) -> NDArray[np.float32]:
    upper: NDArray[np.float32] = cosines[np.triu_indices(len(cosines), 1)]
    return upper


def _interpolate(
    cosine: float | NDArray[np.float32], anchors: tuple[float, ...], values: tuple[float, ...]
) -> float | NDArray[np.float32]:
    if isinstance(cosine, np.ndarray):
        return np.interp(cosine, anchors, values).astype(np.float32)
    return float(np.interp(cosine, anchors, values))

"""
What a sentence is for: does it state what lasts, a rule, one that holds always, a harm, a caution.

A score is the sum of two parts: kernel ridge regression (RBF) over the sentence's vector, and
ridge regression over its n-grams. The weights are for vectors of one model; with another model, or
none, patterns decide alone. bench/planner/train.py makes the weights from labelled sentences;
docs/conversations.md has what they reach.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.int8 import compute_dots

Floats = NDArray[np.float32]

DIMENSION = 1 << 14
"""Buckets that n-grams are hashed into."""
GAMMA = 1.0
"""Width of the kernel: exp(-GAMMA * squared distance of two unit vectors)."""
WEIGHTS = Path(__file__).with_name('sentence_classifiers.npz')
_HAN = re.compile('[\u3400-\u9fff]')
_NUMBER = re.compile(r'\d+(?:\.\d+)?')
_TOKEN = re.compile(r"[a-z0-9']+|[^\w\s]")


class Trait(Enum):
    """What a sentence may be judged to be."""

    LASTING = 'lasting'
    RULE = 'rule'
    ALWAYS = 'always'
    HARMS = 'harms'
    CAUTION = 'caution'
    """One must know it before one acts on what it is about, whether or not it is a rule."""
    RETRACTS = 'retracts'
    """It takes back what was said just before, and does not say in full of what it speaks."""


@dataclass(frozen=True)
class _Weights:
    """
    Hold the weights of one trait, and its threshold.

    `known` are the vectors of the training sentences as `pack` makes them, shape (sentences,
    dimension), and `lengths` their lengths; `duals` their weights, `ngrams` those of the buckets.
    """

    known: NDArray[np.int8]
    lengths: Floats
    duals: Floats
    ngrams: Floats
    threshold: float


class SentenceClassifier:
    """Judge sentences, in English and Chinese."""

    def __init__(self, weights: Path = WEIGHTS) -> None:
        """Read which model the weights are of; those of a trait are read when it is asked for."""
        self._path = weights
        self._traits: dict[Trait, _Weights] = {}
        with np.load(weights) as stored:
            self.model = str(stored['model'])

    def _find_weights(self, trait: Trait) -> _Weights:
        if trait not in self._traits:  # two threads may both read them: they read the same
            with np.load(self._path) as stored:
                known = stored[f'{trait.value}_known']
                self._traits[trait] = _Weights(
                    known,
                    measure_lengths(known),
                    stored[f'{trait.value}_duals'],
                    stored[f'{trait.value}_ngrams'].astype(np.float32),
                    float(stored[f'{trait.value}_threshold']),
                )
        return self._traits[trait]

    def has_trait(self, trait: Trait, text: str, vector: Floats, lead: float = 0.0) -> bool:
        """
        Say whether a text has a trait; the threshold is lower by a `lead`.

        `vector`, shape (dimension,), is of the model named `model`.
        """
        return bool(self.rate(trait, [text], vector[None])[0] >= -lead)

    def rate(self, trait: Trait, texts: Sequence[str], vectors: Floats) -> Floats:
        """
        Return by how much each text is over the threshold of a trait, shape (texts,).

        `vectors`, shape (texts, dimension), are of the model named `model`.
        """
        weights = self._find_weights(trait)
        packed = pack(vectors)
        scores = np.empty(len(texts), np.float32)
        for place, (text, vector, length) in enumerate(
            zip(texts, packed, measure_lengths(packed), strict=True)
        ):
            # As whole numbers they take a quarter of the memory and of the time.
            cosines = np.asarray(compute_dots(vector, weights.known)) / (weights.lengths * length)
            buckets = hash_ngrams(text)
            scores[place] = (
                apply_kernel(cosines) @ weights.duals
                - weights.threshold
                + weights.ngrams[buckets].sum() / np.sqrt(len(buckets))
            )
        return scores


@cache
def load_classifier() -> SentenceClassifier:
    """Return the classifier that comes with the package."""
    return SentenceClassifier()


def apply_kernel(cosines: Floats) -> Floats:
    """Return the RBF kernel of unit vectors of some cosines."""
    found: Floats = np.exp(2 * GAMMA * (cosines - 1), dtype=np.float32)
    return found


def pack(vectors: Floats) -> NDArray[np.int8]:
    """Return unit vectors as whole numbers."""
    largest = np.abs(vectors).max(axis=1, keepdims=True)
    packed: NDArray[np.int8] = np.round(vectors * (127 / largest)).astype(np.int8)
    return packed


def unpack(packed: NDArray[np.int8]) -> Floats:
    """Return the unit vectors that `pack` made whole numbers of."""
    found: Floats = packed.astype(np.float32) / measure_lengths(packed)[:, None]
    return found


def measure_lengths(packed: NDArray[np.int8]) -> Floats:
    """Return the lengths of the vectors that `pack` made, shape (vectors,)."""
    lengths: Floats = np.linalg.norm(packed.astype(np.float32), axis=1)
    return lengths


def count_ngrams(texts: Sequence[str]) -> Floats:
    """Return which n-grams texts have, hashed, each row of length 1; shape (texts, DIMENSION)."""
    rows = np.zeros((len(texts), DIMENSION), np.float32)
    for row, text in zip(rows, texts, strict=True):
        places = hash_ngrams(text)
        row[places] = 1 / np.sqrt(len(places))
    return rows


def hash_ngrams(text: str) -> list[int]:
    """Return the buckets of the n-grams of a text, once each."""
    return list({zlib.crc32(ngram.encode()) % DIMENSION for ngram in _list_ngrams(text)})


def _list_ngrams(text: str) -> set[str]:
    """Return words, pairs, triples and parts of words; of Chinese one to three characters."""
    folded = text.lower().strip()
    if _HAN.search(folded):
        whole = f'^{"".join(folded.split())}$'
        return {whole[i : i + n] for n in (1, 2, 3) for i in range(len(whole) - n + 1)}
    words = ['^', *_TOKEN.findall(_NUMBER.sub('0', folded)), '$']
    groups = {' '.join(words[i : i + n]) for n in (1, 2, 3) for i in range(len(words) - n + 1)}
    parts = {f'<{word}>'[i : i + 4] for word in words for i in range(len(word) - 1)}
    return groups | {f'-{part}' for part in parts}

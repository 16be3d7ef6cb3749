"""By how much the classifier rates texts for a trait, kept by their hash: rules come again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from threading import Lock

import cachetools
import numpy as np

from robot_memory.embedding.sentence_classifier import (
    Floats,
    SentenceClassifier,
    Trait,
    load_classifier,
)

MOST = 8192
"""Ratings that are kept; each takes some 200 bytes."""


class KeptRatings:
    """Rate texts for a trait, each once; safe to call from several threads."""

    def __init__(self, classifier: SentenceClassifier, trait: Trait) -> None:
        """Keep what a classifier says of a trait."""
        self.model = classifier.model
        self._classifier, self._trait = classifier, trait
        self._kept: cachetools.Cache[bytes, float] = cachetools.LRUCache(MOST)
        self._lock = Lock()

    def get(self, hashes: Sequence[bytes]) -> dict[bytes, float]:
        """Return by how much texts are over the threshold, of those that were rated."""
        with self._lock:
            return {one: self._kept[one] for one in hashes if one in self._kept}

    def rate(self, texts: Mapping[bytes, tuple[str, Floats]]) -> dict[bytes, float]:
        """Return the same of texts, given by their hash with their vector of `model`."""
        if not texts:
            return {}
        vectors = np.array([vector for _, vector in texts.values()], np.float32)
        found = self._classifier.rate(self._trait, [text for text, _ in texts.values()], vectors)
        ratings = dict(zip(texts, found.tolist(), strict=True))
        with self._lock:
            self._kept.update(ratings)
        return ratings


@cache
def load_rule_scopes() -> KeptRatings:
    """Return what rates rules for holding in any task."""
    return KeptRatings(load_classifier(), Trait.ALWAYS)

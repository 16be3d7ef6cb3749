"""Phrases whose meaning is compared with questions: each is embedded once."""

from __future__ import annotations

import threading
from collections.abc import Sequence

from robot_memory.embedding.quantisation import Vector
from robot_memory.embedding.vectorizer import Vectorizer


class Vocabulary:
    """Keep the vectors of phrases; safe to share between threads."""

    def __init__(self, vectorizer: Vectorizer) -> None:
        """Embed with this."""
        self._vectorizer = vectorizer
        self._lock = threading.Lock()
        self._vectors: dict[str, Vector] = {}

    def embed(self, phrases: Sequence[str]) -> Vector | None:
        """Return the vectors of phrases, shape (n, dimension); None while there is no model."""
        import numpy as np

        with self._lock:
            new = [one for one in dict.fromkeys(phrases) if one not in self._vectors]
            if new:
                made = self._vectorizer.embed_first(new)
                if made is None:
                    return None
                self._vectors.update(zip(new, made, strict=True))
            return np.stack([self._vectors[one] for one in phrases]) if phrases else None

    def compare(self, question: str, phrases: Sequence[str]) -> list[float] | None:
        """Return how near each phrase is to a question, 0 to 1; None while there is no model."""
        asked, vectors = self._vectorizer.embed_query(question), self.embed(phrases)
        if asked is None or vectors is None:
            return None
        near: list[float] = asked.calibration.to_relevance(vectors @ asked.vector).tolist()
        return near

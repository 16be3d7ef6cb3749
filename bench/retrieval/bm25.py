"""Plain BM25 as in a textbook: what a search by words alone gives without any care."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

import numpy as np

_CJK = r'\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af'
_TOKEN = re.compile(rf'[{_CJK}]|[^\W_{_CJK}]+')


def tokenize(text: str) -> list[str]:
    """Return the lowercase words, and each character of Chinese, Japanese and Korean."""
    return _TOKEN.findall(text.lower())


class BM25:
    """Rank texts by their words: k1 = 1.2, b = 0.75, the idf of Lucene, no stop words."""

    def __init__(self, texts: Sequence[str], k1: float = 1.2, b: float = 0.75) -> None:
        """Index the texts."""
        counts = [Counter(tokenize(text)) for text in texts]
        lengths = np.array([sum(count.values()) for count in counts], float)
        self._saturation = k1 * (1 - b + b * lengths / max(lengths.mean(), 1e-9))
        self._k1 = k1
        self._found: dict[str, list[tuple[int, int]]] = {}
        for place, count in enumerate(counts):
            for token, times in count.items():
                self._found.setdefault(token, []).append((place, times))

    def find_best(self, query: str, limit: int) -> list[tuple[int, float]]:
        """Return the places and scores of the best texts that share a word with the query."""
        scores = np.zeros(len(self._saturation))
        for token, asked in Counter(tokenize(query)).items():
            found = self._found.get(token, [])
            idf = math.log(1 + (len(scores) - len(found) + 0.5) / (len(found) + 0.5))
            for place, times in found:
                scores[place] += (
                    asked * idf * times * (self._k1 + 1) / (times + self._saturation[place])
                )
        order = np.argsort(-scores, kind='stable')[:limit]
        return [(int(place), float(scores[place])) for place in order if scores[place] > 0]

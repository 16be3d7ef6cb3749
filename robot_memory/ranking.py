"""Pure functions that decide what comes first."""

from __future__ import annotations

import math
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float32]
Number = TypeVar('Number', float, Floats)

K1 = 1.2
B = 0.75
WORDS_SHARE = 1.25
"""Weight of the words beside the meaning; docs/decisions/fusion.md has the figures."""
MEANING_ENOUGH = 0.9
"""The cosine from which on shared words say nothing more."""


def idf(holding: int, memories: int) -> float:
    """Return the inverse document frequency of a term that so many of the memories hold."""
    return math.log(1 + (memories - holding + 0.5) / (holding + 0.5))


def most(idfs: float) -> float:
    """Return what BM25 can give at most to a query whose terms' idfs have this sum."""
    return (K1 + 1) * idfs


def bm25(times: Floats, length: Floats, mean_length: float) -> Floats:
    """Return BM25 of a term with idf 1 that memories of some lengths hold so many times."""
    norm = K1 * (1 - B + B / mean_length * length)
    return ((K1 + 1) * times / (times + norm)).astype(np.float32, copy=False)


def fuse(cosine: Floats, coverage: Floats) -> Floats:
    """
    Return one score for each memory from its meaning and its words.

    `cosine` is that of question and memory, 0 where there is none; `coverage`, 0 to 1, how much
    of the question the memory's words cover.
    """
    room = 1 - np.clip(cosine / MEANING_ENOUGH, 0, 1)
    score: Floats = cosine + WORDS_SHARE * coverage * room * np.sqrt(room)
    return score


def weighted(scores: Floats, real: NDArray[np.bool_], weight: float) -> Floats:
    """Return the scores with the real world counting more than a simulation."""
    found: Floats = np.where(real & (scores > 0), scores * np.float32(weight), scores)
    return found

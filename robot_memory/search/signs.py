"""
A coarse first look at many vectors: the sign of each component, in one bit.

Two vectors are the nearer the fewer of their signs differ, taken around the mean of the store's
vectors. That is counted eight times sooner than int8 planes are multiplied, and finds nearly all
that is near among the first hundredths (docs/decisions/indexes.md says how much): those are
compared by their planes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.quantisation import Plane

Slots = NDArray[np.int64]
Words = NDArray[np.uint64]
Counts = NDArray[np.uint16]

ENOUGH = 50_000
"""Vectors from which on signs are looked at first; fewer are compared in a millisecond."""
CAN_COUNT = hasattr(np, 'bitwise_count')
"""Whether numpy counts bits, as it does from version 2 on; with an older one all are compared."""
_SAMPLE = 65_536
"""Vectors that the means are taken of, at most."""
_BLOCK = 32_768
"""Vectors that are counted at once: they stay in the processor's cache."""
_NEVER = np.iinfo(np.uint16).max
"""The difference of what is not to be found."""
_EVERY = 8
"""One of so many differences is looked at to see how many are small."""


class Signs:
    """
    Hold the signs of vectors in slots, 64 in a word; words of one place lie side by side.

    Slots change in place, as those of a `Matrix` do; where there is no room, the words are
    replaced.
    """

    def __init__(self, planes: Plane, room: int = 0) -> None:
        """
        Take the signs of int8 planes, shape (slots, dimension), around their means.

        There is `room` for so many slots: pages that nothing was written to take no memory.
        """
        step = max(1, len(planes) // _SAMPLE)
        self._means = np.rint(planes[::step].mean(axis=0)).astype(np.int8)
        words = -(-planes.shape[1] // 64)
        self._words = np.zeros((words, max(len(planes), room)), np.uint64)
        for start in range(0, len(planes), _BLOCK):
            block = planes[start : start + _BLOCK]
            self._words[:, start : start + len(block)] = self._pack(block)

    def put(self, slots: Slots, planes: Plane, room: int) -> None:
        """Set the signs of some slots, of so many that there is room for."""
        known = self._words.shape[1]
        if known < room:
            words = np.zeros((len(self._words), room), np.uint64)
            words[:, :known] = self._words
            self._words = words
        self._words[:, slots] = self._pack(planes)

    def _pack(self, planes: Plane) -> Words:
        """Return the words of planes, shape (words, planes)."""
        bits = np.packbits(planes > self._means, axis=1)
        padded = np.zeros((len(planes), 8 * len(self._words)), np.uint8)
        padded[:, : bits.shape[1]] = bits
        words: Words = padded.view(np.uint64).T
        return words

    def pack(self, plane: Plane) -> Words:
        """Return the words of one plane, shape (words,)."""
        return self._pack(plane[None])[:, 0]

    def take(self, slots: NDArray[np.int32] | Slots) -> Words:
        """Return the words of some slots side by side, shape (words, slots)."""
        return self._words[:, slots]

    def find_likely(
        self, plane: Plane, used: int, many: int, passing: NDArray[np.bool_] | None = None
    ) -> Slots:
        """Return about so many of the slots used whose signs differ least from a query's."""
        asked, words = self.pack(plane), self._words
        differ = np.zeros(used, np.uint16)
        differing = np.empty(_BLOCK, np.uint64)
        counted = np.empty(_BLOCK, np.uint8)
        for start in range(0, used, _BLOCK):
            here = slice(start, min(start + _BLOCK, used))
            size = here.stop - start
            for word, of_query in zip(words, asked, strict=True):
                np.bitwise_xor(word[here], of_query, out=differing[:size])
                np.bitwise_count(differing[:size], out=counted[:size])
                differ[here] += counted[:size]
        if passing is not None:
            differ[~passing] = _NEVER
        return np.flatnonzero(differ <= _find_bound(differ, many))

    def find_likely_among(self, plane: Plane, slots: Slots, many: int) -> Slots:
        """Return about so many of some slots whose signs differ least from a query's."""
        if len(slots) <= many:
            return slots
        differ = count_differing(self._words[:, slots], self.pack(plane))
        return slots[differ <= _find_bound(differ, many)]


def _find_bound(differ: Counts, many: int) -> int:
    """Return a count up to which about so many differ."""
    below = np.cumsum(np.bincount(differ[::_EVERY])[:_NEVER])
    return int(np.searchsorted(below, min(many // _EVERY, below[-1])))


def count_differing(words: Words, asked: Words) -> Counts:
    """Return in how many signs words (words, places) differ from a query's, by place."""
    differ = np.zeros(words.shape[1], np.uint16)
    for word, of_query in zip(words, asked, strict=True):
        differ += np.bitwise_count(word ^ of_query)
    return differ


def select_likely(words: Words, asked: Words, many: int) -> Slots:
    """Return so many places whose words (words, places) differ least from a query's, ascending."""
    return np.sort(np.argpartition(count_differing(words, asked), many)[:many])

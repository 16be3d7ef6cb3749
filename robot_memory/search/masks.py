"""Which rows may pass conditions that were asked before: it saves reading an index again."""

from __future__ import annotations

import threading
from collections import OrderedDict

import numpy as np
from numpy.typing import NDArray

from robot_memory.storage.indexes.candidates import CandidateQuery

Mask = NDArray[np.bool_]

MOST, LONGEST = 16, 1000
"""Conditions that are known at most, a byte a row each, and characters of the values of one."""


class Masks:
    """
    Hold for candidate queries which rows they give, of the rows that there were.

    A row that has changed since, and one that came later, may be given by any: a mask has all
    rows that a query gives now, and a few more. None stands for a query that gives too many to be
    worth a mask. Snapshots of a shard share it: it only grows wider.
    """

    def __init__(self) -> None:
        """Know nothing."""
        self._lock = threading.Lock()
        self._known: OrderedDict[CandidateQuery, Mask | None] = OrderedDict()
        self.version = 0

    def touch(self, row: int) -> None:
        """Note that a row has changed."""
        with self._lock:
            self.version += 1
            for mask in self._known.values():
                if mask is not None and row < len(mask):
                    mask[row] = True

    def clear(self) -> None:
        """Forget all: what they were read from was damaged."""
        with self._lock:
            self.version += 1
            self._known.clear()

    def find(self, query: CandidateQuery) -> tuple[bool, Mask | None]:
        """Say whether a query is known, and return its mask."""
        with self._lock:
            if query not in self._known:
                return False, None
            self._known.move_to_end(query)
            return True, self._known[query]

    def put(self, query: CandidateQuery, mask: Mask | None, version: int) -> None:
        """Keep what a query gave at a version, unless a row has changed since."""
        is_long = sum(len(str(value)) for value in query.values) > LONGEST
        with self._lock:
            if version == self.version and not is_long:
                self._known[query] = mask
                while len(self._known) > MOST:
                    self._known.popitem(last=False)

"""For each term the rows that hold it: compressed sparse rows, and what came in since."""

from __future__ import annotations

import copy

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Hashes = NDArray[np.uint32]
_LEAST_TAIL = 1 << 16


class Postings:
    """
    Hold which rows have which terms, of which each row has every one once.

    Rows that come in are kept as they came, and asked one after the other; `tidy` sorts them in.
    Arrays are never changed where a snapshot may look at them, only appended to and replaced.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self._terms: Hashes = np.empty(0, np.uint32)
        self._starts = np.zeros(1, np.int32)
        self._rows: Rows = np.empty(0, np.int32)
        self._sorted_rows = 0
        self._moved: NDArray[np.bool_] | None = None
        self._new_terms: Hashes = np.empty(0, np.uint32)
        self._new_rows: Rows = np.empty(0, np.int32)
        self._new = 0
        self._moves = 0

    def snapshot(self) -> Postings:
        """Return what is here now; it stays as it is."""
        return copy.copy(self)

    def add(self, row: int, hashes: Hashes) -> None:
        """Take in the new terms of a known row."""
        self._moves += 1
        if row < self._sorted_rows:
            moved = np.zeros(self._sorted_rows, np.bool_)
            if self._moved is not None:
                moved[:] = self._moved
            moved[row] = True
            self._moved = moved
        if (self._new_rows[: self._new] == row).any():
            self._new_rows = np.where(self._new_rows == row, -1, self._new_rows)
        self._append(hashes, np.full(len(hashes), row, np.int32))

    def extend(self, hashes: Hashes, rows: Rows) -> None:
        """Take in the terms of many rows that are all new, ascending."""
        self._append(hashes, rows)

    def _append(self, hashes: Hashes, rows: Rows) -> None:
        end = self._new + len(hashes)
        if end > len(self._new_terms):
            room = max(1024, end + end // 2)
            held, more = slice(self._new), room - self._new
            self._new_terms = np.concatenate([self._new_terms[held], np.empty(more, np.uint32)])
            self._new_rows = np.concatenate([self._new_rows[held], np.empty(more, np.int32)])
        self._new_terms[self._new : end] = hashes
        self._new_rows[self._new : end] = rows
        self._new = end

    @property
    def is_untidy(self) -> bool:
        """Say whether so much came in that it should be sorted in."""
        return self._new > max(_LEAST_TAIL, len(self._rows) // 8)

    def followed(self, snapshot: Postings, tidied: Postings) -> Postings | None:
        """
        Return what was made of a snapshot with what came in since.

        None where a row has got other terms meanwhile.
        """
        if self._moves != snapshot._moves:
            return None
        since = slice(snapshot._new, self._new)
        tidied._append(self._new_terms[since], self._new_rows[since])
        return tidied

    def tidied(self, count: int, alive: NDArray[np.bool_]) -> Postings:
        """Return postings of the first `count` rows, those that are alive, all of it sorted."""
        keys = [self._sorted_keys(alive)]
        rows, terms = self._new_rows[: self._new], self._new_terms[: self._new]
        held = (rows >= 0) & alive[rows]
        keys.append(_keys(terms[held], rows[held]))
        made = Postings()
        made._sort(np.concatenate(keys))
        made._sorted_rows = count
        return made

    def _sorted_keys(self, alive: NDArray[np.bool_]) -> NDArray[np.uint64]:
        """Return the sorted part as term and row in one number."""
        terms = np.repeat(self._terms, np.diff(self._starts))
        rows = self._rows
        held = alive[rows]
        if self._moved is not None:
            held &= ~self._moved[rows]
        return _keys(terms[held], rows[held])

    def _sort(self, keys: NDArray[np.uint64]) -> None:
        keys.sort()
        self._rows = (keys & np.uint64(0xFFFFFFFF)).astype(np.int32)
        terms = (keys >> np.uint64(32)).astype(np.uint32)
        begins = np.flatnonzero(np.diff(terms, prepend=~terms[:1]))
        self._terms = terms[begins]
        self._starts = np.append(begins, len(terms)).astype(np.int32)

    def find(self, term: int) -> Rows:
        """Return the rows that hold a term."""
        place = int(np.searchsorted(self._terms, np.uint32(term)))
        rows = self._rows[:0]
        if place < len(self._terms) and self._terms[place] == term:
            rows = self._rows[self._starts[place] : self._starts[place + 1]]
            if self._moved is not None:
                rows = rows[~self._moved[rows]]
        new = self._new_rows[: self._new][self._new_terms[: self._new] == term]
        return np.concatenate([rows, new[new >= 0]]) if len(new) else rows


def _keys(terms: Hashes, rows: Rows) -> NDArray[np.uint64]:
    """Return terms and rows in one number each, ordered by term, then by row."""
    keys: NDArray[np.uint64] = (terms.astype(np.uint64) << np.uint64(32)) | rows.astype(np.uint64)
    return keys

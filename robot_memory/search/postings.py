"""For each term the rows that hold it: sorted segments, and what came in since."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Rows = NDArray[np.int32]
Hashes = NDArray[np.uint32]
Mask = NDArray[np.bool_]
_TAIL = 1 << 13
"""Entries that are asked one after the other; more are sorted into a segment."""
_OVERSIZE = 1 << 22
"""Entries that are sorted in at once, whoever waits: no more come in but by a loading."""
_RATIO = 4
"""A segment is at least so many times as large as the one after it."""
_SIEVE = np.uint32((1 << 12) - 1)
"""Bits of terms by which most of those that are not asked for are passed over."""
_PARTS = 16
"""Parts that are sorted one after the other, which bounds the memory that sorting takes."""


@dataclass(frozen=True)
class _Segment:
    """
    Hold rows by term, in compressed sparse rows.

    `terms` are ascending; `rows[starts[i] : starts[i + 1]]` hold terms[i]. `moved` are rows whose
    terms are no longer those.
    """

    terms: Hashes
    starts: Rows
    rows: Rows
    moved: Mask | None = None

    def find_each(self, terms: Hashes) -> Iterator[tuple[int, Rows]]:
        """Yield those of some terms that there are, each with the rows that hold it."""
        if not len(self.terms):
            return
        places = self.terms.searchsorted(terms)
        held = np.flatnonzero(self.terms.take(places, mode='clip') == terms)
        places = places[held]
        bounds = zip(self.starts[places].tolist(), self.starts[places + 1].tolist(), strict=True)
        for term, (start, end) in zip(terms[held].tolist(), bounds, strict=True):
            rows = self.rows[start:end]
            yield term, rows if self.moved is None else rows[~self.moved[rows]]

    def without(self, row: int, count: int) -> _Segment:
        """Return the segment with the terms of a row, of so many, no longer holding."""
        moved = np.zeros(count, np.bool_)
        if self.moved is not None:
            moved[: len(self.moved)] = self.moved
        moved[row] = True
        return replace(self, moved=moved)

    def entries(self) -> tuple[Hashes, Rows]:
        """Return the terms and the rows that hold them, entry by entry."""
        terms = np.repeat(self.terms, np.diff(self.starts))
        if self.moved is None:
            return terms, self.rows
        stays = ~self.moved[self.rows]
        return terms[stays], self.rows[stays]


def _sort(parts: list[tuple[Hashes, Rows]]) -> _Segment:
    """Return a segment of entries; the memory that sorting takes is taken once."""
    sizes = np.zeros(_PARTS, np.int64)  # by the first four bits of the terms
    for some_terms, _ in parts:
        sizes += np.bincount(some_terms >> np.uint32(28), minlength=_PARTS)
    rows = np.empty(int(sizes.sum()), np.int32)
    room = np.empty(int(sizes.max()), np.uint64)
    terms, starts = [], []
    done = 0
    for part, size in enumerate(sizes.tolist()):
        key, filled = room[:size], 0
        for some_terms, some_rows in parts:
            here = np.flatnonzero((some_terms >> np.uint32(28)) == part)
            taken = key[filled : filled + len(here)]
            taken[:] = some_terms[here]
            taken <<= np.uint64(32)
            taken |= some_rows[here].astype(np.uint32)
            filled += len(here)
        key.sort()
        rows[done : done + size] = key & np.uint64(0xFFFFFFFF)
        found = (key >> np.uint64(32)).astype(np.uint32)
        begins = np.flatnonzero(np.diff(found, prepend=~found[:1]))
        terms.append(found[begins])
        starts.append(done + begins)
        done += size
    begun = np.concatenate([*starts, [done]]).astype(np.int32)
    return _Segment(np.concatenate(terms), begun, rows)


class Postings:
    """
    Hold which rows have which terms, of which each row has every one once.

    Rows that come in are kept as they came, and asked one after the other; `merged` sorts them
    in. Arrays are never changed where a copy may look at them, only appended to and replaced.
    """

    def __init__(self) -> None:
        """Hold nothing."""
        self._segments: tuple[_Segment, ...] = ()
        self._new_terms: Hashes = np.empty(0, np.uint32)
        self._new_rows: Rows = np.empty(0, np.int32)
        self._new = 0
        self._moves = 0

    def change(self, row: int, hashes: Hashes, count: int) -> None:
        """Take in the new terms of a known row, of so many."""
        self._moves += 1
        self._segments = tuple(segment.without(row, count) for segment in self._segments)
        self._new_rows = np.where(self._new_rows == row, np.int32(-1), self._new_rows)
        self.extend(hashes, np.full(len(hashes), row, np.int32))

    def extend(self, hashes: Hashes, rows: Rows) -> None:
        """Take in the terms of rows that are new."""
        end = self._new + len(hashes)
        if end > len(self._new_terms):
            held, more = slice(self._new), max(1024, end // 2) + len(hashes)
            self._new_terms = np.concatenate([self._new_terms[held], np.empty(more, np.uint32)])
            self._new_rows = np.concatenate([self._new_rows[held], np.empty(more, np.int32)])
        self._new_terms[self._new : end] = hashes
        self._new_rows[self._new : end] = rows
        self._new = end

    @property
    def needs_merge(self) -> bool:
        """Say whether so much came in that it should be sorted in."""
        return self._new > _TAIL

    @property
    def is_oversized(self) -> bool:
        """Say whether so much came in that it takes more memory than sorted."""
        return self._new > _OVERSIZE

    def merge(self, alive: Mask) -> Postings:
        """Return the same with all that came in sorted in, without rows that are not alive."""
        segments = list(self._segments)
        terms, rows = self._new_terms[: self._new], self._new_rows[: self._new]
        held = (rows >= 0) & alive[rows]
        parts, size = [(terms[held], rows[held])], int(held.sum())
        while segments and len(segments[-1].rows) < _RATIO * size:
            terms, rows = segments.pop().entries()
            held = alive[rows]
            parts.append((terms[held], rows[held]))
            size += int(held.sum())
        made = Postings()
        made._segments = (*segments, _sort(parts))
        return made

    def catch_up(self, snapshot: Postings, merged: Postings) -> Postings | None:
        """
        Return what was made of a snapshot with what came in since.

        None where a row has got other terms meanwhile.
        """
        if self._moves != snapshot._moves:
            return None
        since = slice(snapshot._new, self._new)
        merged.extend(self._new_terms[since], self._new_rows[since])
        merged._moves = self._moves
        return merged

    def find_each(self, terms: Collection[int]) -> dict[int, list[Rows]]:
        """Return the rows that hold each of some terms, in parts as they are kept."""
        asked = np.fromiter(terms, np.uint32, len(terms))
        found: dict[int, list[Rows]] = {term: [] for term in terms}
        for segment in self._segments:
            for term, rows in segment.find_each(asked):
                found[term].append(rows)
        for term, rows in self._find_new(np.sort(asked)):
            found[term].append(rows)
        return found

    def _find_new(self, asked: Hashes) -> Iterator[tuple[int, Rows]]:
        """Yield those of some ascending terms that came in, each with the rows that hold it."""
        if not self._new or not len(asked):
            return
        held, rows = self._new_terms[: self._new], self._new_rows[: self._new]
        sieve = np.zeros(_SIEVE + 1, np.bool_)
        sieve[asked & _SIEVE] = True
        likely = np.flatnonzero(sieve[held & _SIEVE])  # few besides those that are asked for
        held, rows = held[likely], rows[likely]
        known = asked.take(asked.searchsorted(held), mode='clip') == held
        places = np.flatnonzero(known & (rows >= 0))
        places = places[held[places].argsort(kind='stable')]
        held, rows = held[places], rows[places]
        starts = np.flatnonzero(np.diff(held, prepend=~held[:1]))
        bounds = [*starts.tolist(), len(held)]
        for term, (start, end) in zip(held[starts].tolist(), pairwise(bounds), strict=True):
            yield term, rows[start:end]

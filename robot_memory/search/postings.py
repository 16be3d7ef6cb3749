"""For each term the rows that hold it: sorted segments, and what came in since."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
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
_AT_ONCE = 1 << 22
"""Entries of a segment that are moved at once, but for those of one term."""


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

    def without_dead(self, alive: Mask) -> _Segment:
        """Return the segment without the rows that are not alive, or have moved."""
        stays = alive[self.rows]
        if self.moved is not None:
            stays &= ~self.moved[self.rows]
        if stays.all():
            return replace(self, moved=None)
        before = np.concatenate([[0], np.cumsum(stays)]).astype(np.int32)
        starts = before[self.starts]
        held = np.flatnonzero(np.diff(starts))
        bounds = np.append(starts[held], starts[-1])
        return _Segment(self.terms[held], bounds, self.rows[stays])


def _sort(terms: Hashes, rows: Rows) -> _Segment:
    """Return a segment of entries in any order."""
    keys = terms.astype(np.uint64)
    keys <<= np.uint64(32)
    keys |= rows.astype(np.uint32)
    keys.sort()
    found = (keys >> np.uint64(32)).astype(np.uint32)
    begins = np.flatnonzero(np.diff(found, prepend=~found[:1]))
    starts = np.append(begins, len(keys)).astype(np.int32)
    return _Segment(found[begins], starts, (keys & np.uint64(0xFFFFFFFF)).astype(np.int32))


def _join(segments: Sequence[_Segment]) -> _Segment:
    """Return segments as one; of each term the rows stand in the order of the segments."""
    if len(segments) == 1:
        return segments[0]
    terms = np.concatenate([segment.terms for segment in segments])
    terms.sort()
    terms = terms[np.flatnonzero(np.diff(terms, prepend=~terms[:1]))]
    sizes = np.zeros(len(terms), np.int32)
    for segment in segments:
        sizes[terms.searchsorted(segment.terms)] += np.diff(segment.starts)
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32)
    rows = np.empty(int(starts[-1]), np.int32)
    free = starts[:-1].copy()
    for segment in segments:
        places = terms.searchsorted(segment.terms)
        shifts = free[places] - segment.starts[:-1]
        free[places] += np.diff(segment.starts)
        # A part at a time, which bounds the memory that it takes.
        parts = segment.starts.searchsorted(np.arange(0, len(segment.rows), _AT_ONCE))
        for first, last in pairwise([*parts.tolist(), len(segment.terms)]):
            start, end = segment.starts[[first, last]].tolist()
            moved_by = np.repeat(shifts[first:last], np.diff(segment.starts[first : last + 1]))
            rows[np.arange(start, end, dtype=np.int32) + moved_by] = segment.rows[start:end]
    return _Segment(terms, starts, rows)


def digest_each(hashes: Hashes, lengths: NDArray[np.int64]) -> Hashes:
    """Return what tells the terms of rows from others: of so many hashes each, one by one."""
    digests = np.zeros(len(lengths), np.uint32)
    held = np.flatnonzero(lengths)
    if len(held):
        starts = np.cumsum(lengths)[held] - lengths[held]
        digests[held] = np.bitwise_xor.reduceat(hashes, starts)
    return digests


def digest_terms(terms: bytes) -> np.uint32:
    """Return what tells the terms of a row from others."""
    digest: np.uint32 = np.bitwise_xor.reduce(np.frombuffer(terms, '<u4'))
    return digest


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
        terms, rows = self._new_terms[: self._new], self._new_rows[: self._new]
        held = (rows >= 0) & alive[rows]
        segments, joined = list(self._segments), [_sort(terms[held], rows[held])]
        size = len(joined[0].rows)
        while segments and len(segments[-1].rows) < _RATIO * size:
            joined.append(segments.pop().without_dead(alive))
            size += len(joined[-1].rows)
        made = Postings()
        made._segments = (*segments, _join(joined[::-1]))
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

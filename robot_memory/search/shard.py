"""One collection in memory: its terms as postings, the vectors of each model as a matrix."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from operator import itemgetter
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding import quantisation
from robot_memory.embedding.calibration import Cosines
from robot_memory.embedding.quantisation import Vector
from robot_memory.search.ivf import LARGE, Cells, assign_cells
from robot_memory.search.masks import Mask, Masks
from robot_memory.search.matrix import Matrix, NearRows
from robot_memory.search.postings import Postings, digest_each, digest_terms
from robot_memory.search.ranking import Floats, Rows, join_rows
from robot_memory.storage.indexes.forms import Form
from robot_memory.storage.indexes.indexed import PlainRow, Row

_COUNTED = 255
"""Terms that are counted at most."""
_ENTRIES = 3000
"""Entries of postings that are counted in the time of comparing one memory."""
_NEAR, _NEAR_SHARE = 4096, 64
"""Vectors whose signs are most like a query's that are compared until there are cells."""
_OUTSIDE = 4096
"""Vectors outside of all cells that are compared one by one; more are put into theirs."""

_Holder = TypeVar('_Holder')


def _copy(one: _Holder) -> _Holder:
    """Return what `copy.copy` does of plain attributes, in a tenth of its time."""
    made = object.__new__(type(one))
    made.__dict__.update(one.__dict__)
    return made


class Shard:
    """
    Hold the active memories of one collection, a row each, ids ascending.

    A row stays where it is: what changes is replaced in place, what is forgotten is marked. A
    snapshot keeps the rows it had.
    """

    def __init__(self, expected: int = 32) -> None:
        """Hold nothing, but have room for twice as many rows as are expected."""
        self._expected = expected
        self.count = 0
        self.dead = 0
        self.ids = np.empty(0, np.int64)
        self.alive = np.empty(0, np.bool_)
        self.real = np.empty(0, np.bool_)
        self._digests = np.empty(0, np.uint32)
        self._first = Matrix()
        self._second = Matrix()
        self._postings = Postings()
        self._cells: Cells | None = None
        self._outside: Rows = np.empty(0, np.int64)
        self.masks = Masks()
        self.version = 0
        self.followed = -1

    def snapshot(self, followed: int = -1) -> Shard:
        """Return what is here now, for one question, up to the change that was followed last."""
        taken = _copy(self)
        taken.version, taken.followed = self.masks.version, followed
        taken._postings = _copy(self._postings)
        taken._first, taken._second = _copy(self._first), _copy(self._second)
        return taken

    # Following the file

    def extend(self, rows: Sequence[PlainRow]) -> None:
        """Take in rows that are all new, by ascending id."""
        start, end = self.count, self.count + len(rows)
        self._reserve(end)
        here = slice(start, end)
        self.ids[here], _, self.real[here], terms, *planes, forms = zip(*rows, strict=True)
        self.alive[here] = True
        hashes = np.frombuffer(b''.join(terms), '<u4')
        lengths = np.fromiter(map(len, terms), np.int64, len(rows)) // 4
        self._digests[here] = digest_each(hashes, lengths)
        for matrix, coarse in zip((self._first, self._second), planes, strict=True):
            known = [plane for plane in coarse if plane]
            if known:
                matrix.put(start + np.flatnonzero([bool(plane) for plane in coarse]), known)
        self._share(start, forms)
        numbers = np.repeat(np.arange(start, end, dtype=np.int32), lengths)
        self._postings.extend(hashes, numbers)
        self.count = end
        if self._postings.is_oversized:
            self.sort_terms()

    def _append(self, row: Row) -> None:
        """Take in one row that is new, as `extend` does."""
        place = self.count
        self._reserve(place + 1)
        self.ids[place], self.alive[place], self.real[place] = row.memory_id, True, row.real
        self._digests[place] = digest_terms(row.terms)
        for matrix, (plane,) in self._pair([row]):
            if plane:
                matrix.put(np.array([place]), [plane])
        self._share(place, [row.form])
        hashes = np.frombuffer(row.terms, '<u4')
        self._postings.extend(hashes, np.full(len(hashes), place, np.int32))
        self.count = place + 1
        if self._postings.is_oversized:
            self.sort_terms()

    def put(self, row: Row) -> None:
        """Take in a row that is new, or has changed."""
        is_last = not self.count or row.memory_id > self.ids[self.count - 1]
        place = None if is_last else self.row_of(row.memory_id)
        if place is None:
            self._append(row)
            self.take_signs()
            return
        self.masks.touch(place)
        returns = not self.alive[place]
        if returns:
            self.alive[place] = True
            self.dead -= 1
        self.real[place] = row.real
        digest = digest_terms(row.terms)
        if returns or digest != self._digests[place]:  # what was dead may have been sorted out
            self._digests[place] = digest
            self._postings.change(place, np.frombuffer(row.terms, '<u4'), self.count)
        for matrix, (plane,) in self._pair([row]):
            matrix.clear(place)
            slots = matrix.put(np.array([place]), [plane]).tolist() if plane else []
            if matrix is self._first:
                self._note_outside(slots)
        self._share(place, [row.form])

    def put_form(self, form: Form) -> None:
        """Take in a form, or vectors that it has got since."""
        slot = self._first.put_form(form.id, form.coarse)
        self._second.put_form(form.id, form.second)
        self._note_outside([slot] if form.coarse else [])

    def knows(self, form: int) -> bool:
        """Say whether a form was taken in."""
        return self._first.knows(form)

    def _share(self, start: int, forms: Sequence[int | None]) -> None:
        """Give rows from a place on the vectors of their forms, if they have any."""
        known = [(start + i, form) for i, form in enumerate(forms) if form is not None]
        if known:
            places = np.array([place for place, _ in known])
            for matrix in (self._first, self._second):
                matrix.share(places, [form for _, form in known])

    def _note_outside(self, slots: list[int]) -> None:
        """Note that slots have other vectors than those by which they are in cells."""
        if self._cells is not None:
            changed = [slot for slot in slots if slot < self._cells.covered]
            self._outside = np.append(self._outside, changed).astype(np.int64)

    def drop(self, memory_id: int) -> None:
        """Take a row out, if it is there."""
        place = self.row_of(memory_id)
        if place is not None and self.alive[place]:
            self.alive[place] = False
            self._first.clear(place)
            self._second.clear(place)
            self.dead += 1

    def row_of(self, memory_id: int) -> int | None:
        """Return the row of a memory, alive or not."""
        place = int(np.searchsorted(self.ids[: self.count], memory_id))
        known = place < self.count and self.ids[place] == memory_id
        return place if known else None

    def _pair(self, rows: Sequence[Row]) -> list[tuple[Matrix, list[bytes | None]]]:
        """Return each model's matrix with its planes of some rows."""
        return [
            (self._first, [row.coarse for row in rows]),
            (self._second, [row.second for row in rows]),
        ]

    def _reserve(self, room: int) -> None:
        """
        Make room for so many rows; arrays are replaced, so that snapshots keep theirs.

        There is room for twice as many: pages that nothing was written to take no memory, and
        copying what is there takes a second for a million rows.
        """
        if room <= len(self.ids):
            return
        room = 2 * max(self._expected, room)
        for name in ('ids', 'alive', 'real', '_digests'):
            known = getattr(self, name)
            made = np.empty(room, known.dtype)
            made[: self.count] = known[: self.count]
            setattr(self, name, made)
        self._first.reserve(room)
        self._second.reserve(room)

    # Keeping it quick

    @property
    def needs_merge(self) -> bool:
        """Say whether what came in should be sorted in."""
        return self._postings.needs_merge or self._lacks_cells

    @property
    def _lacks_cells(self) -> bool:
        used = self._first.used
        if used < LARGE or not self.has_vectors:
            return False
        if self._cells is None:
            return True
        outside = used - self._cells.covered + len(self._outside)
        return outside > max(_OUTSIDE, used // 64)

    def take_signs(self) -> None:
        """Take the signs of vectors, where there are enough for a first look at them."""
        self._first.take_signs()
        self._second.take_signs()

    @property
    def is_wasteful(self) -> bool:
        """Say whether so many rows are dead that it should be loaded anew."""
        return self.dead > 1024 and self.dead > self.count // 3

    def sort_terms(self) -> None:
        """Sort in the terms that came in."""
        self._postings = self._postings.merge(self.alive)

    def merge(self) -> Shard:
        """Return a shard with all that came in sorted in; it takes seconds for a million rows."""
        made = _copy(self)
        if self._postings.needs_merge:
            made._postings = self._postings.merge(self.alive)
        if self._lacks_cells:
            slots = slice(self._first.used)
            has_vector = self._first.norms[slots] > 0
            made._cells = assign_cells(
                self._first.planes[slots],
                has_vector,
                self._cells,
                self._outside,
                self._first.signs,
            )
            made._outside = np.empty(0, np.int64)
        return made

    def adopt(self, snapshot: Shard, merged: Shard) -> None:
        """Take over what was made of a snapshot, with what came in since."""
        if merged._postings is not snapshot._postings:
            postings = self._postings.catch_up(snapshot._postings, merged._postings)
            self._postings = postings or self._postings.merge(self.alive)
        if merged._cells is not snapshot._cells:
            self._cells = merged._cells
            self._outside = self._outside[len(snapshot._outside) :]

    # Answering, on a snapshot

    @property
    def has_vectors(self) -> bool:
        """Say whether any row has a vector of the first model."""
        return self._first.held > 0

    @property
    def has_second(self) -> bool:
        """Say whether any row has a vector of the second model."""
        return self._second.held > 0

    def find_embedded(self) -> Rows:
        """Return the rows that have a vector of the first model."""
        return self._first.find_embedded(self.count)

    def rows_of(self, ids: Sequence[int] | NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the rows of those of the ids that are here and alive."""
        asked = np.asarray(ids, np.int64)
        known = self.ids[: self.count]
        if len(known) and known[-1] - known[0] == len(known) - 1:  # none is missing between
            rows: Rows = asked - known[0]
            rows = rows[(rows >= 0) & (rows < self.count)]
        else:
            found = np.searchsorted(known, asked)
            here = found < self.count
            rows = found[here][self.ids[found[here]] == asked[here]]
        return rows[self.alive[rows]]

    def find_holding(self, terms: Collection[int]) -> dict[int, list[NDArray[np.int32]]]:
        """Return the rows that hold each of some terms, in parts; none is in two."""
        found = self._postings.find_each(terms)
        if not self.dead:
            return found
        return {term: [rows[self.alive[rows]] for rows in parts] for term, parts in found.items()}

    def find_sharing(self, terms: Sequence[int], lacking: int) -> list[int]:
        """
        Return the ids of rows, among them all that lack at most so many of the terms.

        The rarest terms are counted first, until counting the next would take longer than
        comparing what is left.
        """
        counts = np.zeros(self.count, np.uint8)
        left: NDArray[np.bool_] = np.zeros(self.count, np.bool_)
        holding = self._postings.find_each(set(terms)).values()
        rarest = sorted(((sum(map(len, found)), found) for found in holding), key=itemgetter(0))
        rarest = rarest[:_COUNTED]
        for taken, (number, found) in enumerate(rarest):
            if taken > lacking:
                left = counts >= taken - lacking
                if int(np.count_nonzero(left)) * _ENTRIES < number:
                    break
            for held in found:
                counts[held] += 1
        else:
            left = counts >= max(1, len(rarest) - lacking)
        rows = np.flatnonzero(left)
        found_ids: list[int] = self.ids[rows[self.alive[rows]]].tolist()
        return found_ids

    def compare_near(self, query: Vector) -> NearRows:
        """Compare a query with all rows that may be near it."""
        coarse, _ = quantisation.split(query)
        if self._cells is None:
            slots = self._first.find_likely(coarse, max(_NEAR, self.count // _NEAR_SHARE), None)
        else:
            signs = self._first.signs
            near = self._cells.probe(query, None if signs is None else signs.pack(coarse))
            since = np.arange(self._cells.covered, self._first.used)
            slots = join_rows(near, self._outside, since)
        return NearRows(coarse, self._first, self.count, slots)

    def find_likely(
        self,
        first: quantisation.Plane,
        second: quantisation.Plane | None,
        many: int,
        among: Mask | None = None,
    ) -> Rows | None:
        """
        Return rows that are likely near a query, by any of its planes; None: all may be.

        `among` says which rows are meant.
        """
        found = []
        for matrix, plane in ((self._first, first), (self._second, second)):
            if plane is not None:
                slots = matrix.find_likely(plane, many, among)
                if slots is None:
                    return None
                found.append(matrix.find_rows(slots, self.count))
        rows = join_rows(*found)
        return rows if among is None else rows[among[rows]]

    def cosines(self, coarse: quantisation.Plane, rows: Rows | None = None) -> Floats:
        """Return the cosines of a query's coarse plane with those of the rows, or of all rows."""
        return self._first.compare(coarse, slice(self.count) if rows is None else rows)

    def compare(
        self,
        first: quantisation.Plane,
        second: quantisation.Plane | None,
        rows: Rows | None,
        known: Cosines | None = None,
    ) -> Cosines:
        """
        Return the cosines of a query's coarse planes with those of the rows, or of all rows.

        Those of the second model are NO_VECTOR where it was not asked about a row. Where those of
        all rows are `known`, they are looked up.
        """
        if known is not None and rows is not None:
            return known.take(rows)
        among = slice(self.count) if rows is None else rows
        found = self._first.compare(first, among)
        return Cosines(found, None if second is None else self._second.compare(second, among))

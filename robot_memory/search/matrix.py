"""The coarse planes of one model's vectors in memory, for the memories of a collection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.calibration import NO_VECTOR
from robot_memory.embedding.int8 import compute_dots
from robot_memory.embedding.quantisation import Plane
from robot_memory.search.ranking import Floats, Rows, join_rows, select_top
from robot_memory.search.signs import CAN_COUNT, ENOUGH, Signs

_NONE = 0
"""The slot of rows without a vector."""
_SHARED = -1
"""The owner of a slot that rows share."""
_FIRST_ROOM = 64
_NO_ROWS: Rows = np.empty(0, np.int64)
_SCATTERED = 4
"""Counting all signs in order takes as long as so many times fewer that are looked up."""
_MANY = 8
"""Comparing all slots in order takes as long as so many times fewer that are looked up."""


class Matrix:
    """
    Hold int8 planes in slots: one for each row's own vector, one for each form's.

    `norms` has one over the length of each, 0: no vector. `slots` has the slot of each row.
    `held` counts the rows that have a vector.

    Slots change in place, and are never given to another row or form. Where there is no room
    arrays are replaced; a copy of this object has only the slots that it had when it was made.
    """

    def __init__(self) -> None:
        """Hold nothing but the slot of rows without a vector."""
        self.planes: Plane = np.empty((1, 0), np.int8)
        self.norms: Floats = np.zeros(1, np.float32)
        self.slots: NDArray[np.int32] = np.zeros(0, np.int32)
        self.used = 1
        self.held = 0
        self._owners: NDArray[np.int32] = np.full(1, _SHARED, np.int32)
        self._forms: dict[int, int] = {}
        self._signs: Signs | None = None

    def reserve(self, room: int) -> None:
        """Make room for so many rows; they have no vector until one is put."""
        if len(self.slots) < room:
            slots = np.zeros(room, np.int32)
            slots[: len(self.slots)] = self.slots
            self.slots = slots

    def clear(self, place: int) -> None:
        """Take the vector of a row out; it keeps a slot of its own."""
        slot = int(self.slots[place])
        self.held -= bool(self.norms[slot])
        if self._owners[slot] == _SHARED:
            self.slots[place] = _NONE
        else:
            self.norms[slot] = 0

    def put(self, places: Rows, coarse: list[bytes]) -> Rows:
        """Set the planes of some rows that have none; return their slots."""
        planes = np.frombuffer(b''.join(coarse), np.int8).reshape(len(places), -1)
        slots = self.slots[places].astype(np.int64)
        new = slots == _NONE
        slots[new] = self._take_slots(int(np.count_nonzero(new)), planes.shape[1])
        self._owners[slots] = places
        self._set_planes(slots, planes)
        self.slots[places] = slots
        self.held += len(places)
        return slots

    def put_form(self, form: int, coarse: bytes | None) -> int:
        """Set the plane of a form, None where it has no vector yet; return its slot."""
        slot = self._forms.get(form)
        if slot is None:
            slot = int(self._take_slots(1, len(coarse or b''))[0])
            self._forms[form] = slot
            self._owners[slot] = _SHARED
        if coarse and not self.norms[slot]:
            self._take_slots(0, len(coarse))
            self._set_planes(np.array([slot]), np.frombuffer(coarse, np.int8)[None])
            self.held += int(np.count_nonzero(self.slots == slot))
        return slot

    def knows(self, form: int) -> bool:
        """Say whether a form was put."""
        return form in self._forms

    def share(self, places: Rows, forms: list[int]) -> None:
        """Give some rows that have no vector those of their forms."""
        slots = np.array([self._forms[form] for form in forms], np.int32)
        self.slots[places] = slots
        self.held += int(np.count_nonzero(self.norms[slots]))

    def _take_slots(self, number: int, dimension: int) -> Rows:
        """Return new slots; dimension 0: not known yet."""
        used, end = self.used, self.used + number
        if end > len(self.norms):
            # Pages that nothing was written to take no memory; copying millions takes a second.
            room = max(_FIRST_ROOM, 2 * end, len(self.slots))
            for name in ('norms', '_owners'):
                known = getattr(self, name)
                made = np.zeros(room, known.dtype)
                made[: len(known)] = known
                setattr(self, name, made)
        if dimension and self.planes.shape[1] not in (0, dimension):
            self.norms = np.zeros_like(self.norms)
            self.held = 0
            self._signs = None
        if dimension and self.planes.shape != (len(self.norms), dimension):
            planes = np.empty((len(self.norms), dimension), np.int8)
            if self.planes.shape[1] == dimension:
                planes[: len(self.planes)] = self.planes
            self.planes = planes
        self.used = end
        return np.arange(used, end)

    def _set_planes(self, slots: Rows, planes: Plane) -> None:
        self.planes[slots] = planes
        floats = planes.astype(np.float32)
        self.norms[slots] = 1 / np.sqrt(np.einsum('ij,ij->i', floats, floats))
        if self._signs is not None:
            self._signs.put(slots, planes, len(self.norms))

    def take_signs(self) -> None:
        """Take the signs of all that is here, if that is worth while; later ones are added."""
        if self._signs is None and CAN_COUNT and self.used >= ENOUGH and self.planes.shape[1]:
            self._signs = Signs(self.planes[: self.used], len(self.norms))

    @property
    def signs(self) -> Signs | None:
        """Return the signs of the vectors here, None where they were not taken."""
        return self._signs

    def find_likely(
        self, coarse: Plane, many: int, among: NDArray[np.bool_] | None = None
    ) -> Rows | None:
        """
        Return about so many slots that are likely near a query; None where all are to be.

        Of rows' own vectors only those `among` some rows are looked at.
        """
        if self._signs is None or _MANY * many > self.used:
            return None
        passing = None
        if among is not None:
            rows = np.flatnonzero(among)
            if len(rows) * _SCATTERED < self.used:
                slots = join_rows(self._slots_of(rows), _NO_ROWS)
                slots = self._signs.find_likely_among(coarse, slots, many)
                return slots[self.norms[slots] > 0]
            owners = self._owners[: self.used]
            passing = among.take(owners, mode='clip') | (owners == _SHARED)
        slots = self._signs.find_likely(coarse, self.used, many, passing)
        return slots[self.norms[slots] > 0]

    def find_embedded(self, count: int) -> Rows:
        """Return the rows, of so many, that have a vector."""
        return np.flatnonzero(self.norms[self._slots_of(slice(count))])

    def find_rows(self, slots: Rows, count: int) -> Rows:
        """Return the rows, of so many, whose vectors are in some slots, ascending."""
        owners = self._owners[slots].astype(np.int64)
        own = owners[(owners >= 0) & (owners < count)]
        shared = slots[owners == _SHARED]
        if not len(shared):
            return np.sort(own)
        is_shared = np.zeros(self.used + 1, np.bool_)
        is_shared[shared] = True
        # Clipped to the last, a slot that came later is as none.
        sharing = np.flatnonzero(is_shared.take(self.slots[:count], mode='clip'))
        return np.sort(np.concatenate([own, sharing]))

    def compare(self, coarse: Plane, rows: Rows | slice) -> Floats:
        """Return the cosines of a query's coarse plane and some rows; NO_VECTOR: has no vector."""
        slots = self.slots[rows]
        if not len(slots) or not self.planes.shape[1]:
            return np.full(len(slots), NO_VECTOR, np.float32)
        if _MANY * len(slots) > self.used:
            # Clipped to the last, a slot that came later is as none.
            found = np.append(self.compare_slots(coarse, slice(self.used)), np.float32(NO_VECTOR))
            return found.take(slots, mode='clip')
        asked, places = np.unique(self._slots_of(rows), return_inverse=True)
        return self.compare_slots(coarse, asked)[places]

    def _slots_of(self, rows: Rows | slice) -> Rows:
        """Return the slots of some rows; in a copy, one that came later is as none."""
        slots = self.slots[rows]
        return np.where(slots < self.used, slots, _NONE).astype(np.int64, copy=False)

    def compare_slots(self, coarse: Plane, slots: Rows | slice) -> Floats:
        """Return the cosines of a query's coarse plane and those in some slots."""
        norms = self.norms[slots]
        norm = 1 / float(np.linalg.norm(coarse.astype(np.float32)))
        planes = self.planes[slots]
        found: Floats = np.asarray(compute_dots(coarse, planes)) * (norms * np.float32(norm))
        found[norms == 0] = NO_VECTOR
        return found


class NearRows:
    """Compare a query once with all that may be near it in a shard; bars are asked for later."""

    def __init__(self, coarse: Plane, matrix: Matrix, count: int, slots: Rows | None) -> None:
        """Compare a query's coarse plane with some slots, or with all of so many rows."""
        self._coarse = coarse
        self._matrix, self._count, self._slots = matrix, count, slots
        self._cosines = (
            matrix.compare(coarse, slice(count))
            if slots is None
            else matrix.compare_slots(coarse, slots)
        )

    def find_above(self, least: float, limit: int | None = None) -> tuple[Rows, Floats]:
        """
        Return the rows whose cosine lies above a least, which must be high, and these.

        With a limit, the nearest so many are among them, and those farther are not.
        """
        near = np.flatnonzero(self._cosines > least)
        if limit is not None:
            near = near[select_top(self._cosines[near], limit)]
        if self._slots is None:
            return near, self._cosines[near]
        rows = self._matrix.find_rows(self._slots[near], self._count)
        return rows, self._matrix.compare(self._coarse, rows)

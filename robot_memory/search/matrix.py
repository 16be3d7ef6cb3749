"""The coarse planes of one model's vectors in memory, a row for each memory of a collection."""

from __future__ import annotations

import numkong
import numpy as np

from robot_memory.embedding.calibration import NO_VECTOR
from robot_memory.embedding.quantisation import Plane
from robot_memory.search.ranking import Floats, Rows


class Matrix:
    """
    Hold rows of int8, shape (room, dimension), and one over the length of each; 0: no vector.

    `held` counts the rows that have one.

    Rows change in place. Where there is no room arrays are replaced, so that a copy of this
    object keeps its own.
    """

    def __init__(self) -> None:
        """Hold nothing; pages that nothing is written to take no memory."""
        self.planes: Plane = np.empty((0, 0), np.int8)
        self.norms: Floats = np.empty(0, np.float32)
        self.held = 0

    def reserve(self, room: int, dimension: int, count: int) -> None:
        """Make room for so many rows, of which `count` are kept; dimension 0: not known yet."""
        if len(self.norms) < room:
            norms = np.zeros(room, np.float32)
            norms[:count] = self.norms[:count]
            self.norms = norms
            self.held = int(np.count_nonzero(norms))
        if dimension and self.planes.shape[1] != dimension:
            self.planes = np.empty((room, dimension), np.int8)
            self.norms = np.zeros(len(self.norms), np.float32)
            self.held = 0
        elif len(self.planes) < room and self.planes.shape[1]:
            planes = np.empty((room, self.planes.shape[1]), np.int8)
            planes[:count] = self.planes[:count]
            self.planes = planes

    def clear(self, places: Rows | slice | int) -> None:
        """Take the vectors of some rows out."""
        self.held -= int(np.count_nonzero(self.norms[places]))
        self.norms[places] = 0

    def put(self, places: Rows, coarse: list[bytes]) -> None:
        """Set the planes of some rows that have none."""
        rows = np.frombuffer(b''.join(coarse), np.int8).reshape(len(places), -1)
        self.planes[places] = rows
        self.norms[places] = 1 / np.linalg.norm(rows.astype(np.float32), axis=1)
        self.held += len(places)

    def compare(self, coarse: Plane, rows: Rows | slice) -> Floats:
        """Return the cosines of a query's coarse plane and some rows; NO_VECTOR: has no vector."""
        norms = self.norms[rows]
        if not len(norms) or not self.planes.shape[1]:
            return np.full(len(norms), NO_VECTOR, np.float32)
        norm = 1 / float(np.linalg.norm(coarse.astype(np.float32)))
        planes = self.planes[rows]
        found: Floats = np.asarray(numkong.dot(coarse, planes)) * (norms * np.float32(norm))
        found[norms == 0] = NO_VECTOR
        return found

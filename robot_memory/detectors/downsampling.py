"""Fewer rows for the same picture: a shape within tolerances, or the extremes in between."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.ring_buffer import Row

BLOCK = 1024


class MinMaxDownsampler:
    """Hold rows in time: all while they fit in a limit, else two of each so many: the extremes."""

    def __init__(self, limit: int) -> None:
        """Take the greatest number of rows to hold."""
        self._limit = limit
        self._span = 2
        self._kept: list[tuple[float, Row]] = []
        self._open: list[tuple[float, Row]] = []

    def add(self, size: float, row: Row) -> None:
        """Take the next row; `size` is what the extremes are of."""
        self._open.append((size, row))
        if len(self._open) < self._span:
            return
        self._kept += _select_extremes(self._open)
        self._open.clear()
        if len(self._kept) >= self._limit:
            starts = range(0, len(self._kept), 4)
            self._kept = [
                end for at in starts for end in _select_extremes(self._kept[at : at + 4])
            ]
            self._span *= 2

    def collect_rows(self) -> list[Row]:
        """Return the rows that are held, in time."""
        return [
            row for _, row in self._kept + (_select_extremes(self._open) if self._open else [])
        ]


def _select_extremes(group: list[tuple[float, Row]]) -> list[tuple[float, Row]]:
    """Return the least and the greatest, in time; of one, or of equals, the first and the last."""
    sizes = [size for size, _ in group]
    low, high = sizes.index(min(sizes)), sizes.index(max(sizes))
    if low == high:
        low, high = 0, len(group) - 1
    return [group[at] for at in sorted({low, high})]


class Trajectory:
    """Hold the shape of rows, however many, in a bounded number of them; and what they cover."""

    def __init__(self, tolerances: Sequence[float], limit: int) -> None:
        """Take the greatest error of each column, and the greatest number of rows to hold."""
        self.error = 1.0
        self._tolerances = np.array(tolerances)
        self._limit = limit
        self._coarse = 1.0
        self._kept: list[Row] = []
        self._block: list[Row] = []
        columns = len(tolerances)
        self._travel = np.zeros(columns)
        self._low, self._high = np.full(columns, np.inf), np.full(columns, -np.inf)

    @property
    def travel(self) -> list[float]:
        """Return the way that each column went, to and fro, without what stays in tolerance."""
        travel: list[float] = self._travel.tolist()
        return travel

    @property
    def extent(self) -> list[float]:
        """Return how far apart the extremes of each column are."""
        extent: list[float] = (self._high - self._low).tolist()
        return extent

    def extend(self, rows: Sequence[Row]) -> None:
        """Take the next rows."""
        at = 0
        while at < len(rows):
            room = BLOCK - len(self._block)
            self._block += rows[at : at + room]
            at += room
            if len(self._block) >= BLOCK:
                self._simplify_block()

    def collect_rows(self) -> list[Row]:
        """Return what is held: within `error` times the tolerances of every row."""
        self._simplify_block()
        return self._kept + self._block

    def _simplify_block(self) -> None:
        values = np.array([values for _, values in self._block])
        self._low = np.minimum(self._low, values.min(axis=0))
        self._high = np.maximum(self._high, values.max(axis=0))
        chosen = simplify(self._block, self._tolerances)
        corners = np.array([values for _, values in chosen])
        self._travel += np.abs(np.diff(corners, axis=0)).sum(axis=0)
        self._kept += chosen[:-1]
        self._block = chosen[-1:]
        while len(self._kept) >= self._limit:
            self._coarse *= 2
            self.error += self._coarse
            thinned = simplify(self._kept + self._block, self._coarse * self._tolerances)
            self._kept = thinned[:-1]


def simplify(rows: list[Row], tolerances: NDArray[np.float64]) -> list[Row]:
    """
    Return the rows that straight lines in time need to come within tolerance of all others.

    Ramer (1972), Douglas and Peucker (1973), with the error of a row measured at its time and in
    its worst column.
    """
    if len(rows) < 3:
        return rows[:]
    times = np.array([stamp_ns - rows[0][0] for stamp_ns, _ in rows], float)
    values = np.array([values for _, values in rows]) / tolerances
    keep = np.zeros(len(rows), bool)
    keep[0] = keep[-1] = True
    spans = [(0, len(rows) - 1)]
    while spans:
        first, last = spans.pop()
        if last - first < 2:
            continue
        share = (times[first + 1 : last] - times[first]) / (times[last] - times[first])
        line = values[first] + share[:, None] * (values[last] - values[first])
        errors = np.abs(values[first + 1 : last] - line).max(axis=1)
        worst = int(errors.argmax())
        if errors[worst] > 1.0:
            split = first + 1 + worst
            keep[split] = True
            spans += [(first, split), (split, last)]
    return [rows[index] for index in np.flatnonzero(keep)]

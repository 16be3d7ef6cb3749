"""What trials are told apart by: situation, numbers and params, as squared distances."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.trials import Floats, Indices, Points, Trials

MISSING = 1.0
"""Squared distance that a value's being there makes, in units of the column's spread."""


@dataclass(frozen=True)
class Space:
    """
    Hold what the columns of the distances are: the situation first, then the values by name.

    `vectors` has a row of unit length a situation, shape (situations, dimension); `apart` is what
    is known of their distances, shape (1 + situations, 1 + situations), the first of no words, or
    None. `spreads` (columns,) are the standard deviations of figures over the trials, NaN of
    categories, and `centers` (columns,) the means, where a trial is that does not have the value.
    """

    vectors: NDArray[Any]
    spreads: Floats
    centers: Floats
    apart: Floats | None = None

    @classmethod
    def of(cls, trials: Trials) -> Space:
        """Return the space that trials span, with the spreads of `find_spreads`."""
        return cls(trials.vectors, *trials.find_spreads(), trials.apart)

    @property
    def columns(self) -> int:
        """How many there are, of the situation and of values."""
        return 1 + len(self.spreads)

    def measure(self, some: Points, others: Points) -> Floats:
        """
        Return the squared distances in each column, shape (columns, some, others).

        That of situations is one minus the cosine, that of two categories 0 or 1.
        """
        found = np.empty((self.columns, len(some.situations), len(others.situations)))
        found[0] = self.measure_situations(some.situations, others.situations)
        one, lacks_one = self._scale(some)
        other, lacks_other = (one, lacks_one) if some is others else self._scale(others)
        apart = found[1:]
        np.subtract(one[:, :, None], other[:, None, :], out=apart)
        np.square(apart, out=apart)
        if lacks_one.any() or lacks_other.any():
            apart += MISSING * (lacks_one[:, :, None] != lacks_other[:, None, :])
        for column in np.flatnonzero(np.isnan(self.spreads)):
            code, another = some.values[:, column, None], others.values[None, :, column]
            apart[column] = code != another
            apart[column][np.isnan(code) & np.isnan(another)] = 0
        return found

    def _scale(self, points: Points) -> tuple[Floats, NDArray[np.bool_]]:
        """Return the values of points in spreads, and which they lack, (columns, points) each."""
        lacks = np.isnan(points.values)
        known = np.where(lacks, self.centers, points.values) if lacks.any() else points.values
        return (known / self.spreads).T, lacks.T

    def measure_situations(self, some: Indices, others: Indices) -> Floats:
        """Return one minus the cosines of situations, shape (some, others); 1 to none at all."""
        if not (len(self.vectors) and len(some) and len(others)):
            return np.zeros((len(some), len(others)))
        if self.apart is not None:
            return self.apart.take(some + 1, axis=0).take(others + 1, axis=1)
        columns, column_of = _find_distinct(others)
        rows, row_of = (columns, column_of) if some is others else _find_distinct(some)
        cosines = (self.vectors[rows] @ self.vectors[columns].T).astype(float)
        # They are in order: only the first may be of a trial without words.
        if rows[0] < 0:
            cosines[0] = 0
        if columns[0] < 0:
            cosines[:, 0] = rows < 0
        apart: Floats = np.clip(1 - cosines, 0, 2)
        return apart.take(row_of, axis=0).take(column_of, axis=1)


def _find_distinct(situations: Indices) -> tuple[Indices, Indices]:
    """Return some situations in order, once each, and where each of them is there."""
    if len(situations) == 1:
        return situations, np.zeros(1, int)
    return np.unique(situations, return_inverse=True)

"""A signal as curves to draw: by unit, with the length of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.plot.drawn import Drawn

Numbers = NDArray[np.float64]

FORCES = ('N', 'N m')
PREFERRED = ('N', 'rad/s', 'm/s', 'N m')


@dataclass(frozen=True, eq=False)
class Curves:
    """
    Columns of one unit: `stamps_ns` (n,), `values` (n, k) and their `size` (n,).

    The size is the norm of a force or torque vector, else the largest absolute value. Non-finite
    values are NaN; a column has at least one finite value.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    stamps_ns: NDArray[np.int64]
    values: Numbers
    size: Numbers
    is_vector: bool

    def find_row(self, stamp_ns: int) -> int:
        """Return the row nearest in time that has a number."""
        numbered = np.flatnonzero(~np.isnan(self.size))
        return int(numbered[np.argmin(np.abs(self.stamps_ns[numbered] - stamp_ns))])

    def find_peak(self, stamp_ns: int) -> tuple[int, float, str]:
        """Return the stamp and the value of what is largest at a time, and which of many it is."""
        row = self.find_row(stamp_ns)
        if self.is_vector:
            return int(self.stamps_ns[row]), float(self.size[row]), ''
        column = int(np.nanargmax(np.abs(self.values[row])))
        label = self.labels[column] if len(self.labels) > 1 else ''
        return int(self.stamps_ns[row]), float(self.values[row, column]), label


def split_by_unit(event: Drawn) -> list[Curves]:
    """Return the curves of each unit against the baseline, in the order of the columns."""
    signal = event.signal
    if signal is None or not len(signal.stamps_ns):
        return []
    values = signal.values.astype(np.float64)
    values[:, : len(event.baseline)] -= event.baseline[: values.shape[1]]
    values[~np.isfinite(values)] = np.nan
    numbered = np.any(np.isfinite(values), axis=0)
    found = []
    for unit in dict.fromkeys(signal.units):
        chosen = [i for i, own in enumerate(signal.units) if own == unit and numbered[i]]
        if chosen:
            name, labels = _split_names([signal.columns[i] for i in chosen])
            of_unit = values[:, chosen]
            size, is_vector = np.fmax.reduce(np.abs(of_unit), axis=1), False
            if labels == ('x', 'y', 'z') and unit in FORCES:
                norm = np.linalg.norm(of_unit, axis=1)
                is_vector = not np.isnan(norm).all()
                size = norm if is_vector else size
            stamps = signal.stamps_ns
            found.append(Curves(name, unit, labels, stamps, of_unit, size, is_vector))
    return found


def _split_names(columns: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Take the name that all columns begin or end with, 'force' of 'force.x', off from them."""
    heads = [column.partition('.') for column in columns]
    tails = [column.rpartition('.')[::-1] for column in columns]
    for parts in (heads, tails):
        if all(shared == parts[0][0] and own for shared, _, own in parts):
            return parts[0][0], tuple(own for _, _, own in parts)
    return '', tuple(columns)


def find_peaking(found: Sequence[Curves], event: Drawn) -> Curves:
    """Return the curves that are at their largest at the peak of an event."""

    def rank(curves: Curves) -> tuple[float, int]:
        during = (curves.stamps_ns >= event.stamp_ns) & (curves.stamps_ns <= event.end_ns)
        # Plain floats: numpy rounds by a product that overflows in float32.
        largest = float(np.fmax.reduce(curves.size[during], initial=0.0))
        share = float(curves.size[curves.find_row(event.peak_ns)]) / largest if largest else 0.0
        known = curves.unit in PREFERRED
        return round(share, 2), -PREFERRED.index(curves.unit) if known else -len(PREFERRED)

    return max(found, key=rank)

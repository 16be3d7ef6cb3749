"""A signal as curves to draw: by unit, with the length of a vector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.signal import Signal

Numbers = NDArray[np.float64]

FORCES = ('N', 'N m')
PREFERRED = ('N', 'rad/s', 'm/s', 'N m')


@dataclass(frozen=True, eq=False)
class Curves:
    """
    Columns of one unit: `seconds` (n,), `values` (n, k) and their `size` (n,).

    The size is the norm of a force or torque vector, else the largest absolute value. Non-finite
    values are NaN; a column has at least one finite value.
    """

    name: str
    unit: str
    labels: tuple[str, ...]
    seconds: Numbers
    values: Numbers
    size: Numbers
    is_vector: bool

    def find_row(self, seconds: float) -> int:
        """Return the row nearest in time that has a number."""
        away = np.where(np.isnan(self.size), np.inf, np.abs(self.seconds - seconds))
        return int(np.argmin(away))

    def find_peak(self, seconds: float) -> tuple[float, float, str]:
        """Return the time and the value of what is largest at a time, and which of many it is."""
        row = self.find_row(seconds)
        if self.is_vector:
            return float(self.seconds[row]), float(self.size[row]), ''
        column = int(np.nanargmax(np.abs(self.values[row])))
        label = self.labels[column] if len(self.labels) > 1 else ''
        return float(self.seconds[row]), float(self.values[row, column]), label


def split_by_unit(
    signal: Signal | None, zero_ns: int, baseline: Sequence[float] = ()
) -> list[Curves]:
    """Return the curves of each unit, in the order of the columns, in s from an instant."""
    if signal is None or not len(signal.stamps_ns):
        return []
    seconds = (signal.stamps_ns - np.int64(zero_ns)) / 1e9
    values = signal.values.astype(np.float64)
    values[:, : len(baseline)] -= baseline[: values.shape[1]]
    values[~np.isfinite(values)] = np.nan
    found = []
    for unit in dict.fromkeys(signal.units):
        numbered = np.any(np.isfinite(values), axis=0)
        chosen = [i for i, own in enumerate(signal.units) if own == unit and numbered[i]]
        if chosen:
            name, labels = _split_names([signal.columns[i] for i in chosen])
            found.append(_make_curves(name, unit, labels, seconds, values[:, chosen]))
    return found


def _make_curves(
    name: str, unit: str, labels: tuple[str, ...], seconds: Numbers, values: Numbers
) -> Curves:
    is_vector = labels == ('x', 'y', 'z') and unit in FORCES
    if is_vector:
        size = np.sqrt(np.square(values).sum(axis=1))
        is_vector = bool(np.isfinite(size).any())
    if not is_vector:
        size = np.fmax.reduce(np.abs(values), axis=1)
    return Curves(name, unit, labels, seconds, values, size, is_vector)


def _split_names(columns: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Take the name that all columns begin or end with, 'force' of 'force.x', off from them."""
    heads = [column.partition('.') for column in columns]
    if all(head[0] == heads[0][0] and head[2] for head in heads):
        return heads[0][0], tuple(head[2] for head in heads)
    tails = [column.rpartition('.') for column in columns]
    if all(tail[2] == tails[0][2] and tail[0] for tail in tails):
        return tails[0][2], tuple(tail[0] for tail in tails)
    return '', tuple(columns)


def find_peaking(found: Sequence[Curves], begin: float, peak: float, end: float) -> Curves:
    """Return the curves that are at their largest at the peak of an event, times in s."""

    def rank(curves: Curves) -> tuple[float, int]:
        during = curves.size[(curves.seconds >= begin) & (curves.seconds <= end)]
        # Plain floats: numpy rounds by a product that overflows in float32.
        largest = float(np.fmax.reduce(during, initial=0.0))
        share = float(curves.size[curves.find_row(peak)]) / largest if largest > 0 else 0.0
        known = curves.unit in PREFERRED
        return round(share, 2), -PREFERRED.index(curves.unit) if known else -len(PREFERRED)

    return max(found, key=rank)

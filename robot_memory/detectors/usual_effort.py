"""What effort is usual of a joint at a speed: learned from the joint itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

SAMPLES = 512
STORED_SAMPLES = 128
"""Of so many samples of a range the usual effort is restored."""
MIN_READINGS = 200
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
SPEED_STEPS = np.array([1.0, 4.0, 16.0, 64.0])
"""Where the ranges of speeds begin, over the speed at rest."""

Floats: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int64]


class UsualRange(NamedTuple):
    """Hold the range in which 98 of 100 readings lie, and its median."""

    low: float
    high: float
    median: float

    def measure(self, efforts: Floats) -> Floats:
        """Return how far beyond the range efforts are, in widths of the range; 0 within."""
        beyond = np.maximum(self.low - efforts, efforts - self.high)
        return np.maximum(beyond, 0.0) / (self.high - self.low)


class Unusual(NamedTuple):
    """Hold an effort that is unusual: of which reading, what is usual, and how far beyond it."""

    reading: int
    effort: float
    usual: UsualRange
    level: float


def sort_speeds(speeds: Floats, rest_speed: float) -> Numbers:
    """Return the numbers of the ranges of speeds: negative backwards, 0 slower than at rest."""
    numbers = (rest_speed * SPEED_STEPS).searchsorted(np.abs(speeds), 'right')
    return np.where(speeds > 0, numbers, -numbers)


class UsualEffort:
    """
    Learn the effort of one joint, by its speed.

    Speeds are sorted into rest and four ranges of either direction, each four times as fast as the
    one before. Of each, readings are sampled evenly over all the time that was seen.
    """

    def __init__(self) -> None:
        """Begin without a reading."""
        self._bins: dict[int, _Samples] = {}

    def take(self, speed_bins: Numbers, efforts: Floats, margin: float) -> list[Unusual]:
        """
        Learn from readings (n) those that are not `margin` or more beyond the usual range.

        Return the others. A range is known from 200 readings at such a speed on.
        """
        found: list[Unusual] = []
        present = sorted(set(speed_bins.tolist()))
        for speed_bin in present:
            samples = self._bins.get(speed_bin)
            if samples is None:
                samples = self._bins[speed_bin] = _Samples()
            readings = None if len(present) == 1 else (speed_bins == speed_bin).nonzero()[0]
            values = efforts if readings is None else efforts[readings]
            for at, usual, level in samples.take(values, margin):
                reading = at if readings is None else int(readings[at])
                found.append(Unusual(reading, float(values[at]), usual, level))
        return found

    def forget(self) -> None:
        """Learn anew what is usual."""
        self._bins.clear()

    def dump(self) -> dict[str, Any]:
        """Return what was learned as plain JSON."""
        return {str(number): samples.dump() for number, samples in self._bins.items()}

    def restore(self, dumped: Mapping[str, Any]) -> None:
        """Go on from what `dump` returned."""
        self._bins = {int(number): _Samples(one) for number, one in dumped.items()}


class _Samples:
    def __init__(self, dumped: Mapping[str, Any] | None = None) -> None:
        given = dumped or {}
        usual = given.get('range')
        self._range = None if usual is None else UsualRange(*usual)
        self._values: list[float] = list(given.get('values', ()))
        self._readings: int = given.get('readings', 0)
        self._stride: int = given.get('stride', 1)
        self._next: int = given.get('next', MIN_READINGS)

    def dump(self) -> dict[str, Any]:
        """Return what makes the same samples, up to 128 of them."""
        values, stride = self._values, self._stride
        while len(values) > STORED_SAMPLES:
            values, stride = values[1::2], 2 * stride
        return {
            'range': self._range,
            'values': [float(f'{value:.5g}') for value in values],
            'readings': self._readings,
            'stride': stride,
            'next': self._next,
        }

    def take(self, efforts: Floats, margin: float) -> Iterator[tuple[int, UsualRange, float]]:
        """Take readings; yield which are unusual, of what range, and how far beyond it."""
        at = 0
        while at < len(efforts):
            # At most so many that the range is measured anew after the last one.
            part = efforts[at : at + self._next - self._readings]
            usual = self._range
            if usual is not None:
                levels = usual.measure(part)
                rejected = levels >= margin
                for number in rejected.nonzero()[0].tolist():
                    yield at + number, usual, float(levels[number])
                self._add(part[~rejected])
            else:
                self._add(part)
            at += len(part)

    def _add(self, efforts: Floats) -> None:
        at = 0
        while at < len(efforts):
            first = at + self._stride - 1 - self._readings % self._stride
            end = first + (SAMPLES - 1 - len(self._values)) * self._stride + 1
            part = efforts[at:end]
            self._values += efforts[first : end : self._stride].tolist()
            self._readings += len(part)
            at += len(part)
            if len(self._values) >= SAMPLES:
                self._values = self._values[1::2]
                self._stride *= 2
        if self._readings >= self._next:
            self._next = self._readings + self._readings // 10
            self._measure()

    def _measure(self) -> None:
        values = sorted(self._values)
        last = len(values) - 1
        low, middle, high = (
            values[round(share * last)] for share in (LEAST_SHARE, 0.5, MOST_SHARE)
        )
        if high > low:
            self._range = UsualRange(low, high, middle)

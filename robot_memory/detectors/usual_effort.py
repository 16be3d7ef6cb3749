"""What effort is usual of a joint at a speed: learned from the joint itself."""

from __future__ import annotations

from math import log2
from typing import NamedTuple

SAMPLES = 512
MIN_READINGS = 200
LEAST_SHARE, MOST_SHARE = 0.01, 0.99
SPEED_BINS = 4


class UsualRange(NamedTuple):
    """Hold the range in which 98 of 100 readings lie, and its median."""

    low: float
    high: float
    median: float

    def measure(self, effort: float) -> float:
        """Return how far beyond the range an effort is, in widths of the range; 0 within."""
        beyond = max(self.low - effort, effort - self.high)
        return beyond / (self.high - self.low) if beyond > 0 else 0.0


class UsualEffort:
    """
    Learn the effort of one joint, by its speed.

    Speeds are sorted into rest and four ranges of either direction, each four times as fast as the
    one before. Of each, readings are sampled evenly over all the time that was seen.
    """

    def __init__(self, rest_speed: float) -> None:
        """Begin without a reading; slower than `rest_speed` is at rest."""
        self._rest_speed = rest_speed
        self._bins: dict[int, _Samples] = {}

    def sort_speed(self, speed: float) -> int:
        """Return the number of the range in which a speed is, negative backwards, 0 at rest."""
        size = abs(speed)
        if size < self._rest_speed:
            return 0
        number = min(SPEED_BINS, 1 + int(log2(size / self._rest_speed) / 2))
        return number if speed > 0 else -number

    def find(self, speed_bin: int) -> UsualRange | None:
        """Return the usual range at a speed; None before 200 readings."""
        samples = self._bins.get(speed_bin)
        return None if samples is None else samples.range

    def add(self, speed_bin: int, effort: float) -> None:
        """Take in a reading."""
        samples = self._bins.get(speed_bin)
        if samples is None:
            samples = self._bins[speed_bin] = _Samples()
        samples.add(effort)

    def forget(self) -> None:
        """Learn anew what is usual."""
        self._bins.clear()


class _Samples:
    def __init__(self) -> None:
        self.range: UsualRange | None = None
        self._values: list[float] = []
        self._readings = 0
        self._stride = 1
        self._next = MIN_READINGS

    def add(self, effort: float) -> None:
        self._readings += 1
        if self._readings % self._stride == 0:
            self._values.append(effort)
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
            self.range = UsualRange(low, high, middle)

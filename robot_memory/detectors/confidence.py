"""Confidence of an event: how far what was measured carries it."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf, nan

LEAST, MOST = 0.3, 0.98
"""LEAST is what `recall` asks for by default: no event is hidden for its confidence alone."""
WEAKNESS = 0.4
FLAW = 0.8
CLIPPED_READINGS = 8


def rate_evidence(margin: float, readings: int = 0, flaws: int = 0) -> float:
    """
    Return the confidence of an event, 0.3 to 0.98.

    `margin` is the peak over the threshold: at 1 the confidence is 0.6, at 2 it is 0.8, at 10 it
    is 0.96. Few `readings` take from it (a third of three; 0: they do not count), each of `flaws`
    a fifth: broken off, clipped, not compared with a settled rest.
    """
    strength = 1 - WEAKNESS / max(1.0, margin)
    share = 1 - 1 / readings if readings > 1 else (0.0 if readings else 1.0)
    return round(max(LEAST, min(MOST, strength * share * FLAW**flaws)), 2)


class ClippingMeter:
    """Tell whether a sensor was at the end of its range: it stands still, and trembles else."""

    def __init__(self) -> None:
        """Begin without a reading."""
        self._axes = [_Axis() for _ in range(3)]

    def add(self, force: Sequence[float]) -> None:
        """Take the next reading, as the sensor gave it; x, y and z in N."""
        for axis, value in zip(self._axes, force, strict=False):
            axis.add(value)

    def is_clipped(self, noise: float, rest: Sequence[float], least: float) -> bool:
        """Tell whether an axis stood still at an extreme, `least` N or more away from its rest."""
        if min(axis.step for axis in self._axes) > noise:
            return False
        pairs = zip(self._axes, rest, strict=True)
        return any(abs(end - calm) >= least for axis, calm in pairs for end in axis.flat_ends)


class _Axis:
    """Follow one axis: its extremes, and those at which it stood still."""

    def __init__(self) -> None:
        self.step = inf
        self._last = nan
        self._run = 0
        self._low = self._flat_low = inf
        self._high = self._flat_high = -inf

    def add(self, value: float) -> None:
        if value == self._last:
            self._run += 1
            if self._run >= CLIPPED_READINGS:
                self._flat_low = min(self._flat_low, value)
                self._flat_high = max(self._flat_high, value)
            return
        if self._run:
            self.step = min(self.step, abs(value - self._last))
        self._last, self._run = value, 1
        self._low, self._high = min(self._low, value), max(self._high, value)

    @property
    def flat_ends(self) -> list[float]:
        """Return the extremes at which it stood still."""
        pairs = ((self._flat_low, self._low), (self._flat_high, self._high))
        return [flat for flat, end in pairs if flat == end]

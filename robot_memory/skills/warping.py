"""
The scale on which a result is predicted: itself, or a root of it.

A slide grows with the square of a speed, and what scatters it multiplies: on a root's scale the
noise is even. Which root, the marginal likelihood tells (Snelson, Rasmussen and Ghahramani, Warped
Gaussian Processes, 2004).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from robot_memory.skills.trials import Floats

POWERS = (1.0, 0.5, 0.25)


@dataclass(frozen=True)
class Warp:
    """Raise a result to a power; `offset`, in the result's unit, keeps the slope at 0 finite."""

    power: float = 1.0
    offset: float = 0.0

    @classmethod
    def fit(cls, power: float, results: Floats) -> Warp:
        """Return the warp of a power for results, none of them negative."""
        return cls() if power == 1 else cls(power, 0.01 * float(np.median(results)))

    def apply(self, results: Any) -> Floats:
        """Return results on the scale, where what is negative is as 0."""
        given = np.asarray(results, float)
        if self.power == 1:
            return given
        found: Floats = np.maximum(given + self.offset, 0.0) ** self.power
        return found

    def invert(self, warped: Any) -> Floats:
        """Return results by their places on the scale."""
        given = np.asarray(warped, float)
        if self.power == 1:
            return given
        found: Floats = np.maximum(given, 0.0) ** (1 / self.power) - self.offset
        return np.maximum(found, 0.0)

    def sum_slopes(self, results: Floats) -> float:
        """Return the sum of the logarithms of the slopes at results."""
        if self.power == 1:
            return 0.0
        there = np.log(results + self.offset)
        return float((np.log(self.power) + (self.power - 1) * there).sum())


def list_warps(results: Floats) -> list[Warp]:
    """Return the warps that suit results: no root where some are negative, or most are 0."""
    if results.min() < 0 or np.median(results) <= 0:
        return [Warp()]
    return [Warp.fit(power, results) for power in POWERS]

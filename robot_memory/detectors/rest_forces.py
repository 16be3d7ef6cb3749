"""The weight of a tool, learned from the forces of different poses at rest."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.baseline import compute_norm

PERIOD_NS = 250_000_000
STILL_NS = 10**9
STILL_N, STILL_NOISES = 0.15, 2.0
"""A force at rest stays within this, in N and in the noise of the sensor, for a second."""
APART_N = 1.0
"""Rests that are nearer to each other, in N, are of one pose: the newer counts."""
MOST, LEAST = 40, 8
FITTING = 0.8
"""The share of the rests that must fit: the others were contacts."""
FLAT = 0.05
"""Of the greatest spread of the rests, in which direction they tell no more of the bias."""
TOLERANCE = 0.02
"""How far a force may be off the weight, as a share of it."""
NOISES, WORST = 2.0, 2.5
"""The same for noise, in its standard deviation; and the worst reading, in tolerances."""
SAGITTA = 4.0
"""An arc rises by so many tolerances over its chord, along which a push would go."""
MIDDLE, LEAST_IN_MIDDLE = 0.2, 8

Floats: TypeAlias = NDArray[np.float64]


class Weight(NamedTuple):
    """Hold what a sensor shows without weight, x, y, z in N, and the weight of the tool in N."""

    bias: Floats
    weight: float

    def measure_turn(self, forces: Floats, noise: float) -> float:
        """
        Return by how much a tool turned whose forces (n, 3) are its weight throughout, in rad.

        0: they are not, or turn too little to tell. `noise` is that of a reading, in N.
        """
        over = forces - self.bias
        lengths = np.linalg.norm(over, axis=1)
        tolerance = float(np.hypot(TOLERANCE * self.weight, NOISES * noise))
        errors = np.abs(lengths - self.weight)
        if not lengths.all() or errors.max() > WORST * tolerance:
            return 0.0
        directions = over / lengths[:, None]
        angles = np.arccos(np.clip(directions @ directions[0], -1.0, 1.0))
        turned = float(angles.max())
        if self.weight * (1 - np.cos(turned / 2)) < SAGITTA * tolerance:
            return 0.0
        middle = (angles > MIDDLE * turned) & (angles < (1 - MIDDLE) * turned)
        if np.count_nonzero(middle) < LEAST_IN_MIDDLE:
            return 0.0
        return turned if float(np.sqrt((errors[middle] ** 2).mean())) <= tolerance else 0.0


class RestForces:
    """
    Remember forces at rest, and find the weight that explains them.

    A tool that is turned shows its weight from all sides: at rest the force is on a sphere round
    the bias of the sensor. A force that someone holds still is off it, as a rule.
    """

    def __init__(self) -> None:
        """Begin without a force."""
        self._rests: list[list[float]] = []
        self._still: list[float] = []
        self._since_ns = self._looked_ns = 0
        self._weight: Weight | None = None

    @property
    def weight(self) -> Weight | None:
        """Return the weight; None where it is not known, or not one."""
        return self._weight

    def watch(self, stamp_ns: int, force: list[float], noise: float) -> bool:
        """Look at the mean force of a moment, a few times a second; say whether it is at rest."""
        if 0 <= stamp_ns - self._looked_ns < PERIOD_NS:
            return False
        self._looked_ns = stamp_ns
        if not self._still or _measure_distance(self._still, force) > max(
            STILL_N, STILL_NOISES * noise
        ):
            self._still, self._since_ns = force, stamp_ns
            return False
        if stamp_ns - self._since_ns < STILL_NS:
            return False
        self._add(force)
        return True

    def _add(self, force: list[float]) -> None:
        distances = [_measure_distance(rest, force) for rest in self._rests]
        near = [rest for rest, far in zip(self._rests, distances, strict=True) if far < APART_N]
        if near and near[-1] is self._rests[-1]:
            return
        others = [rest for rest in self._rests if rest not in near]
        self._rests = [*others, force][-MOST:]
        self._weight = _fit_weight(np.array(self._rests))


def _fit_weight(rests: Floats) -> Weight | None:
    """Return the sphere on which most rests are; those that fit worst are left out."""
    least = max(LEAST, FITTING * len(rests))
    while len(rests) >= least:
        centre = rests.mean(axis=0)
        points = rests - centre
        squares = (points**2).sum(axis=1)
        u, spreads, axes = np.linalg.svd(points, full_matrices=False)
        clear = spreads > FLAT * spreads[0]
        shares = np.divide(1.0, spreads, out=np.zeros(3), where=clear)
        offset = axes.T @ (shares * (u.T @ (squares - squares.mean()))) / 2
        lengths = np.linalg.norm(points - offset, axis=1)
        weight = float(lengths.mean())
        errors = np.abs(lengths - weight)
        if errors.max() <= max(TOLERANCE * weight, STILL_N):
            return Weight(centre + offset, weight)
        rests = np.delete(rests, int(errors.argmax()), axis=0)
    return None


def _measure_distance(one: list[float], other: list[float]) -> float:
    return compute_norm([a - b for a, b in zip(one, other, strict=True)])

"""What a force and torque sensor shows while nothing is touched, and how much that trembles."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import copy
from math import sqrt
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.ring_buffer import Row

Vector: TypeAlias = tuple[float, float, float]

ZERO: Vector = (0.0, 0.0, 0.0)
MIN_READINGS = 10
BLOCK_S = 0.1
BLOCK_READINGS = 4
SETTLED_BLOCKS = 10
HISTORY_BLOCKS = 50
LAG_BLOCKS = 20
HOLD_S = 5.0
LITTLE = 0.03
DRIFT = 0.4
"""The fastest change of the rest, in N/s; of a torque, in as many onsets a second."""
FIRST_SLOPE = 0.05
"""The slope to expect of a rest before anything is known of it, in N/s."""
BEND = 0.0007
"""How much the slope changes: the growth of its variance, in (N/s)^2 a second."""
BEND_SIGMAS = 3.0
LIKELY_SLOPE, LIKELY_BEND = 0.15, 0.05
"""Of a rest that bends, in N/s and N/s^2: what a parabola through a few blocks is drawn to."""
NOISE_S = 2.0
NOISE_FACTOR = 8.0
OUTLIER = 16.0


class _Block(NamedTuple):
    """Hold the rest as it was before a block of readings, and the block, also above that rest."""

    before_ns: int
    rest: list[float]
    slope: list[float]
    squares: tuple[float, float]
    over: list[float]
    stamp_ns: int
    mean: list[float]


class Baseline:
    """
    Follow a sensor at rest, and say how far a reading is from that.

    The rest is a value and a slope: the mean of the first blocks of a tenth of a second, then a
    filter of time constant `baseline_s` that moves by at most DRIFT. A row holds force (x, y, z
    in N) and torque (x, y, z in N m). Its level is 1 at the onset: `onset_n` or `onset_nm`, or
    eight times the noise where the sensor is noisier than that.
    """

    def __init__(self, onset_n: float, onset_nm: float, baseline_s: float) -> None:
        """Start without knowing anything: there is no level before ten readings."""
        self.onset_n, self.onset_nm = onset_n, onset_nm
        self._asked = (onset_n, onset_nm)
        self._slow_s = baseline_s
        self._readings = self._blocks = 0
        self._rest = self._slope = [0.0] * 6
        self._stamp_ns = 0
        self._sum = [0.0] * 6
        self._origin = self._sum
        self._count = self._first_ns = 0
        self._history: deque[_Block] = deque(maxlen=HISTORY_BLOCKS)
        self._square_sum = [0.0] * 6
        self._squares = (0.0, 0.0)
        self._variances = (0.0, 0.0, 0.0)

    def retune(self, onset_n: float, onset_nm: float, baseline_s: float) -> None:
        """Take other settings from now on; what is known of the rest and its noise stays."""
        self._asked = (onset_n, onset_nm)
        self._slow_s = baseline_s
        self._set_onsets()

    @property
    def is_known(self) -> bool:
        """Tell whether there were enough readings to know it."""
        return self._readings >= MIN_READINGS

    @property
    def is_settled(self) -> bool:
        """Tell whether it was followed for long enough to tell a weak contact from it."""
        return self._blocks >= SETTLED_BLOCKS

    @property
    def noise(self) -> float:
        """Return the standard deviation of the force on one axis, in N."""
        return sqrt(self._squares[0] / 3)

    @property
    def force(self) -> list[float]:
        """Return the force at rest, in N."""
        return self._rest[:3]

    @property
    def torque(self) -> list[float]:
        """Return the torque at rest, in N m."""
        return self._rest[3:]

    @property
    def is_still(self) -> bool:
        """Tell whether the rest is known and hardly moves."""
        return self.is_settled and self._measure(self._slope) * self.onset_n < DRIFT / 4

    def measure_age(self, stamp_ns: int) -> float:
        """Return how many seconds before a stamp the rest was seen last."""
        return (stamp_ns - self._stamp_ns) / 1e9

    def compare(self, row: Row) -> tuple[Vector, Vector, float]:
        """Return the force and the torque of a reading above the baseline, and its level."""
        stamp_ns, values = row
        seconds = max(-HOLD_S, min(HOLD_S, (stamp_ns - self._stamp_ns) / 1e9))
        rest, slope = self._rest, self._slope
        f = (
            values[0] - rest[0] - slope[0] * seconds,
            values[1] - rest[1] - slope[1] * seconds,
            values[2] - rest[2] - slope[2] * seconds,
        )
        t = (
            values[3] - rest[3] - slope[3] * seconds,
            values[4] - rest[4] - slope[4] * seconds,
            values[5] - rest[5] - slope[5] * seconds,
        )
        if self._readings < MIN_READINGS:
            return f, t, 0.0
        return f, t, max(compute_norm(f) / self.onset_n, compute_norm(t) / self.onset_nm)

    def measure_levels(
        self, stamps_ns: NDArray[np.int64], values: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        """Return the levels of readings, as `compare` does; there must have been ten before."""
        seconds = np.clip((stamps_ns - self._stamp_ns) / 1e9, -HOLD_S, HOLD_S)
        over = values - self._rest - seconds[:, None] * self._slope
        squares = over * over
        force = np.sqrt(squares[:, 0] + squares[:, 1] + squares[:, 2])
        torque = np.sqrt(squares[:, 3] + squares[:, 4] + squares[:, 5])
        levels: NDArray[np.float64] = np.maximum(force / self.onset_n, torque / self.onset_nm)
        return levels

    def move_to(self, row: Row) -> Baseline:
        """Return a copy whose rest is at a row, and which otherwise knows as much."""
        other = self.remember()
        other._rest, other._stamp_ns = row[1], row[0]
        return other

    def remember(self) -> Baseline:
        """Return a copy that stays as this is now."""
        other = copy(self)
        other._history = deque(maxlen=HISTORY_BLOCKS)
        other._drop_block()
        return other

    def hold_still(self, stamp_ns: int) -> None:
        """Forget which way the rest moved, as after a silence."""
        self._slope = [0.0] * 6
        self._variances = (self._variances[0], 0.0, FIRST_SLOPE**2)
        self._stamp_ns = stamp_ns
        self._history.clear()
        self._drop_block()

    def rewind(self, row: Row) -> None:
        """
        Go back to before the force began to rise to that of a row.

        That is the last block that was not above the rest in the direction of the rise, or no
        more than the rest is behind anyway, or so little that it does not count.
        """
        force, torque, _ = self.compare(row)
        rise = [*force, *torque]
        history = self._history
        along = [self._project(block.over, rise) for block in history]
        older = along[: len(along) // 2] if len(along) >= LAG_BLOCKS else [0.0]
        lag = max(0.0, sum(older) / len(older))
        while len(history) > 1 and not (
            self._measure(history[-1].over) <= LITTLE or along[len(history) - 1] <= lag
        ):
            history.pop()
        if history:
            self._stamp_ns, self._rest, self._slope, self._squares = history.pop()[:4]
            self._set_onsets()
            self._straighten()
        self._drop_block()

    def forget_course(self) -> None:
        """Begin the course of the rest anew, as after a contact: no rise goes back beyond it."""
        self._history.clear()

    def _straighten(self) -> None:
        """
        Put the rest where its course of the last seconds leads, where it bends.

        The filter lags behind a drift that bends: then its errors have a mean. A parabola through
        the blocks does not, but trembles more, so it is taken only where that mean is no noise.
        """
        blocks = self._history
        if len(blocks) < SETTLED_BLOCKS:
            return
        count = len(blocks)
        mean = [sum(axis) / count for axis in zip(*(one.over for one in blocks), strict=True)]
        variance = self._squares[0] / 3 * self._blocks / self._readings
        if self._measure(mean) * self.onset_n < BEND_SIGMAS * sqrt(3 * variance / count):
            return
        seconds = np.array([one.stamp_ns - self._stamp_ns for one in blocks]) / 1e9
        powers = np.stack([np.ones(count), seconds, seconds**2 / 2])
        prior = np.diag([0.0, variance / LIKELY_SLOPE**2, variance / LIKELY_BEND**2])
        over = np.array([one.mean for one in blocks]) - self._rest
        shift, slope, _ = np.linalg.solve(powers @ powers.T + prior, powers @ over).tolist()
        self._rest = [a + b for a, b in zip(self._rest, shift, strict=True)]
        self._slope = self._limit(slope)

    def _limit(self, slope: list[float]) -> list[float]:
        excess = max(1.0, self._measure(slope) * self.onset_n / DRIFT)
        return [value / excess for value in slope]

    def update(self, row: Row) -> None:
        """Come closer to a reading."""
        stamp_ns, values = row
        if not self._count:
            self._first_ns, self._origin = stamp_ns, values
        self._readings += 1
        self._count += 1
        sums, squares = self._sum, self._square_sum
        for axis, value in enumerate(values):
            over = value - self._origin[axis]
            sums[axis] += over
            squares[axis] += over * over
        if self._readings <= MIN_READINGS and not self._blocks:
            is_full = self._readings == MIN_READINGS and self._count > 1
        else:
            is_full = stamp_ns - self._first_ns >= BLOCK_S * 1e9 and self._count >= BLOCK_READINGS
        if is_full:
            self._take_block((self._first_ns + stamp_ns) // 2, (stamp_ns - self._first_ns) / 1e9)

    @property
    def full_ns(self) -> int:
        """Return from which stamp on a reading may fill the open block; 0: there is none."""
        is_open = self._blocks and self._count
        return self._first_ns + round(BLOCK_S * 1e9) if is_open else 0

    def update_within_block(self, values: NDArray[np.float64]) -> None:
        """Take readings of before `full_ns`, as `update` does."""
        self._readings += len(values)
        self._count += len(values)
        over = values - self._origin
        # Summed up one after the other, as single readings are: so the result is the same.
        self._sum = np.add.accumulate(np.vstack((self._sum, over)))[-1].tolist()
        squares = np.vstack((self._square_sum, over * over))
        self._square_sum = np.add.accumulate(squares)[-1].tolist()

    def _take_block(self, stamp_ns: int, seconds: float) -> None:
        count, sums = self._count, self._sum
        mean = [a + total / count for a, total in zip(self._origin, sums, strict=True)]
        found = [
            max(0.0, (square - total * total / count) / (count - 1))
            for total, square in zip(sums, self._square_sum, strict=True)
        ]
        self._drop_block()
        self._blocks += 1
        before = self._stamp_ns, self._rest, self._slope, self._squares
        self._learn_noise((sum(found[:3]), sum(found[3:])), count, seconds)
        if self._blocks == 1:
            self._rest, self._stamp_ns = mean, stamp_ns
            self._variances = (self._estimate_error(count), 0.0, FIRST_SLOPE**2)
            return
        elapsed = min(HOLD_S, (stamp_ns - self._stamp_ns) / 1e9)
        rest = [a + b * elapsed for a, b in zip(self._rest, self._slope, strict=True)]
        over = [a - b for a, b in zip(mean, rest, strict=True)]
        level = self._measure(over)
        self._history.append(_Block(*before, over, stamp_ns, mean))
        share, turn = self._weigh(elapsed, count)
        drift = DRIFT / self.onset_n
        if self.is_settled:
            free = max(drift / 4, drift - self._measure(self._slope))
            share = min(share, free * elapsed / max(level, 1e-9))
        self._rest = [a + share * b for a, b in zip(rest, over, strict=True)]
        slope = [a + turn * b for a, b in zip(self._slope, over, strict=True)]
        self._slope = self._limit(slope)
        self._stamp_ns = stamp_ns

    def _weigh(self, elapsed: float, count: int) -> tuple[float, float]:
        """Return how much of its distance a block moves the rest, and its slope (Kalman)."""
        rest, both, slope = self._variances
        rest += elapsed * (2 * both + elapsed * slope)
        both += elapsed * slope
        slope += BEND * elapsed
        noise = self._estimate_error(count)
        share, turn = rest / (rest + noise), both / (rest + noise)
        self._variances = ((1 - share) * rest, (1 - share) * both, slope - turn * both)
        return share, turn

    def _estimate_error(self, count: int) -> float:
        """Return the variance of a block's mean, or what gives the least time constant."""
        return max(self._squares[0] / 3 / count, BEND * self._slow_s**4 / BLOCK_S)

    def _project(self, over: list[float], rise: list[float]) -> float:
        """Return how far a level goes in the direction of a rise, in onsets."""
        scale = [self.onset_n] * 3 + [self.onset_nm] * 3
        length = sqrt(sum((value / one) ** 2 for value, one in zip(rise, scale, strict=True)))
        total = sum(a * b / c**2 for a, b, c in zip(over, rise, scale, strict=True))
        return total / max(length, 1e-9)

    def _drop_block(self) -> None:
        self._sum, self._square_sum, self._count = [0.0] * 6, [0.0] * 6, 0

    def _measure(self, values: list[float]) -> float:
        """Return a force and torque in onsets."""
        return max(
            compute_norm(values[:3]) / self.onset_n, compute_norm(values[3:]) / self.onset_nm
        )

    def _learn_noise(self, variances: tuple[float, float], readings: int, seconds: float) -> None:
        """Take in the variances of a block, those far above the usual in part only."""
        if readings < self._readings:
            force, torque = self._squares
            share = max(readings / self._readings, seconds / (seconds + NOISE_S))
            variances = (
                force + share * (min(variances[0], OUTLIER * force + 1e-6) - force),
                torque + share * (min(variances[1], OUTLIER * torque + 1e-6) - torque),
            )
        self._squares = variances
        self._set_onsets()

    def _set_onsets(self) -> None:
        asked_n, asked_nm = self._asked
        force, torque = self._squares
        self.onset_n = max(asked_n, NOISE_FACTOR * sqrt(force / 3))
        self.onset_nm = max(asked_nm, NOISE_FACTOR * sqrt(torque / 3))


def compute_norm(vector: Sequence[float]) -> float:
    """Return the length of a vector of three."""
    x, y, z = vector
    return sqrt(x * x + y * y + z * z)

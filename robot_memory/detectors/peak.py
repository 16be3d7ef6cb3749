"""The peak of a force in noise: the greatest mean over as many readings as the noise asks for."""

from __future__ import annotations

from collections import deque
from math import log, sqrt

from robot_memory.detectors.baseline import ZERO, Vector, compute_norm

WINDOWS = (1, 2, 4, 8, 16, 32, 64)


class PeakEstimator:
    """
    Find the peak of a force from its readings, x, y and z in N.

    The greatest reading is a peak too high by several times the noise. The mean over a window is
    not, but cuts off a peak that is shorter. So the greatest means are compared: the longest
    window is taken that lowers no shorter one's by more than noise alone does (Lepski 1990).
    """

    def __init__(self) -> None:
        """Begin without a reading."""
        self._sums: deque[Vector] = deque([ZERO], maxlen=WINDOWS[-1] + 1)
        self._best: list[tuple[float, Vector]] = [(0.0, ZERO)] * len(WINDOWS)
        self._readings = 0

    def add(self, force: Vector) -> None:
        """Take the next reading."""
        self._readings += 1
        sums = self._sums
        last = sums[-1]
        total = (last[0] + force[0], last[1] + force[1], last[2] + force[2])
        sums.append(total)
        for number, window in enumerate(WINDOWS):
            if window > self._readings:
                break
            before = sums[-1 - window]
            x, y, z = total[0] - before[0], total[1] - before[1], total[2] - before[2]
            square = (x * x + y * y + z * z) / (window * window)
            if square > self._best[number][0]:
                mean = (x / window, y / window, z / window)
                self._best[number] = (square, mean)

    def estimate(self, noise: float) -> Vector:
        """Return the force at the peak, where one axis has `noise` N of noise."""
        found = self._best[0][1]
        allowed: list[float] = []
        for number, window in enumerate(WINDOWS):
            if window > self._readings:
                break
            size = sqrt(self._best[number][0])
            if any(size < least for least in allowed):
                break
            found = self._best[number][1]
            extreme = sqrt(2 * log(max(2.0, self._readings / window))) + 0.5
            allowed.append(size - noise * extreme / sqrt(window))
        return found

    @property
    def top(self) -> Vector:
        """Return the greatest reading, in N."""
        return self._best[0][1]

    @property
    def greatest(self) -> float:
        """Return the greatest reading, in N."""
        return compute_norm(self._best[0][1])

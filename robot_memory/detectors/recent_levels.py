"""How fast a force has come to its level: what tells a contact from a drift."""

from __future__ import annotations

from collections import deque

from robot_memory.detectors.baseline import Baseline
from robot_memory.detectors.contact_event import SMOOTH_S
from robot_memory.detectors.ring_buffer import Row


class RecentLevels:
    """Remember the level of a force of the last two seconds, while it is lifted."""

    def __init__(self, period_ns: int) -> None:
        """Take how long after the last level the next is remembered."""
        self._period_ns = period_ns
        self._levels: deque[tuple[int, float]] = deque(maxlen=8)

    def clear(self) -> None:
        """Forget them: the force is at rest."""
        self._levels.clear()

    def follow(self, stamp_ns: int, mean: float, *, is_lifted: bool) -> None:
        """Take the level of the mean at a stamp."""
        levels = self._levels
        if not is_lifted:
            levels.clear()
        elif not levels or stamp_ns - levels[-1][0] >= self._period_ns:
            levels.append((stamp_ns, mean))

    def measure_rate(self, baseline: Baseline, row: Row, mean: float) -> float:
        """Return the greatest rate in N/s at which the mean has come to its level, noise aside."""
        stamp_ns, noise = row[0], baseline.noise / baseline.onset_n
        jump = baseline.compare(row)[2] - mean - 4 * noise
        since = [(stamp_ns - then_ns, mean - then - noise) for then_ns, then in self._levels]
        rates = [level * 1e9 / max(10**6, elapsed) for elapsed, level in since]
        age = baseline.measure_age(stamp_ns)
        return max([mean / max(1e-3, age), jump / SMOOTH_S, *rates]) * baseline.onset_n

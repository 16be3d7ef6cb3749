"""The covariances of the poses of a topic, by their stamps."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import TypeAlias

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.places import check_covariance
from robot_memory.detectors.event import REWIND_S
from robot_memory.detectors.poses import LIMIT

Covariance: TypeAlias = 'tuple[float, ...]'
"""36 numbers, row by row, in ROS's order; empty: that of the pose is none."""
_REWIND_NS = round(REWIND_S * 1e9)


class CovarianceHistory:
    """
    Keep the covariances that came with the poses of a topic, as PoseHistory keeps the poses.

    It is bounded: the oldest go first. A pose without one has None; all zeros are none.
    """

    def __init__(self) -> None:
        """Start empty."""
        self._stamps: list[int] = []
        self._covariances: list[Sequence[float] | None] = []

    def add(self, stamp_ns: int, covariance: Sequence[float] | None) -> None:
        """Take what came with a pose; the first one of a stamp counts."""
        if self._stamps and self._stamps[-1] - stamp_ns > _REWIND_NS:
            self.__init__()  # type: ignore[misc]
        at = bisect_left(self._stamps, stamp_ns)
        if at < len(self._stamps) and self._stamps[at] == stamp_ns:
            return
        self._stamps.insert(at, stamp_ns)
        self._covariances.insert(at, covariance)
        if len(self._stamps) > LIMIT:
            self.drop_before(self._stamps[LIMIT // 2])

    def look_up(self, stamp_ns: int) -> list[Covariance]:
        """Return those of the poses before and after a stamp, or that of the stamp itself."""
        after = bisect_left(self._stamps, stamp_ns)
        is_exact = after < len(self._stamps) and self._stamps[after] == stamp_ns
        found = self._covariances[after if is_exact else max(0, after - 1) : after + 1]
        return [one for one in map(_check, found) if one is not None]

    def estimate(self, stamp_ns: int, tolerance_ns: int) -> Covariance | None:
        """
        Return that of the pose which PoseHistory tells of a stamp; None: it has none.

        Between two poses it is interpolated as they are, which leaves it a covariance. Empty: the
        pose, or one of the two, came with what is none.
        """
        after = bisect_left(self._stamps, stamp_ns)
        if not self._stamps:
            return None
        after = min(after, len(self._stamps) - 1)
        before = max(0, after - 1) if self._stamps[after] > stamp_ns else after
        gap = self._stamps[after] - self._stamps[before]
        share = (stamp_ns - self._stamps[before]) / gap if gap else 0.0
        if gap > 2 * tolerance_ns:
            before = after = before if share <= 0.5 else after
        pair = _check(self._covariances[before]), _check(self._covariances[after])
        if not all(pair):
            return () if () in pair else None
        return tuple(a + share * (b - a) for a, b in zip(*pair, strict=True))  # type: ignore[arg-type]

    def drop_before(self, stamp_ns: int) -> None:
        """Drop what is not needed to answer for this stamp and later ones."""
        needless = bisect_right(self._stamps, stamp_ns) - 1
        if needless > 0:
            del self._stamps[:needless]
            del self._covariances[:needless]


def _check(covariance: Sequence[float] | None) -> Covariance | None:
    if covariance is None:
        return None
    numbers = [float(one) for one in covariance]
    if not any(numbers):
        return None
    try:
        check_covariance('covariance', numbers)
    except InvalidArgument:
        return ()
    return tuple(numbers)

"""The speeds of joints as they are reported, checked against how the positions change."""

from __future__ import annotations

from collections import Counter

import numpy as np

from robot_memory.detectors.readings import JointBlock, Mask, Stamps, Table, find_usable
from robot_memory.detectors.ring_buffer import MAX_ROWS


class SpeedEstimator:
    """Estimate the speeds of a group of joints from readings in order of their stamps."""

    def __init__(self, joints: int, difference_s: float, ignored: Counter[str]) -> None:
        """Take over which time positions are compared, in seconds."""
        self._difference_ns = round(difference_s * 1e9)
        self._ignored = ignored
        self._silent: Mask = np.ones(joints, np.bool_)
        self.clear()

    def clear(self) -> None:
        """Forget the positions, as after a break in the stream."""
        self._stamps_ns: Stamps = np.empty(0, np.int64)
        self._positions: Table = np.empty((0, len(self._silent)))

    def estimate(self, block: JointBlock) -> tuple[Table, Table, Mask]:
        """
        Return for the next readings the speeds to go by, those by the positions, and if known.

        The former are as they are reported, where they are. The latter are 0 until two positions
        are far enough apart to tell.
        """
        covered, known = self._compare_positions(block)
        return self._choose_speeds(block.velocity, covered), covered, known

    def _compare_positions(self, block: JointBlock) -> tuple[Table, Mask]:
        """Return the speeds over `difference_s`, and which are known."""
        stamps_ns = np.concatenate((self._stamps_ns, block.stamps_ns))
        positions = np.concatenate((self._positions, block.position))
        new = np.arange(len(self._stamps_ns), len(stamps_ns))
        before = stamps_ns.searchsorted(block.stamps_ns - self._difference_ns, 'right') - 1
        before = np.maximum(np.minimum(before, new - 1), np.maximum(new + 1 - MAX_ROWS, 0))
        elapsed_ns = block.stamps_ns - stamps_ns[before]
        known = 2 * elapsed_ns >= self._difference_ns
        seconds = np.where(known, elapsed_ns, 1) / 1e9
        covered = (block.position - positions[before]) / seconds[:, None]
        covered[~known] = 0.0
        self._stamps_ns, self._positions = stamps_ns[before[-1] :], positions[before[-1] :]
        return covered, known

    def _choose_speeds(self, velocity: Table, covered: Table) -> Table:
        """Return each speed as it is reported; of a joint that reports none, by its positions."""
        if velocity.shape != covered.shape:
            return covered
        numbers, usable = find_usable(velocity)
        if len(numbers) < len(usable):
            self._ignored['velocity is not a number'] += len(usable) - len(numbers)
            velocity = np.where(usable[:, None], velocity, covered)
        if not self._silent.any():
            return velocity
        spoken = np.logical_or.accumulate((velocity != 0) & usable[:, None], axis=0)
        silent = self._silent & ~spoken
        self._silent = silent[-1]
        return np.where(silent, covered, velocity)

"""The speeds of joints as they are reported, else those of the positions over some 0.1 s."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from robot_memory.detectors.readings import JointBlock, Mask, Table, find_usable
from robot_memory.detectors.resting import smooth, smooth_axis

SMOOTH_S = 0.1


class RecentSpeeds:
    """Estimate the speeds of joints, reading by reading, in blocks."""

    def __init__(self, joints: int) -> None:
        """Begin at rest, in an unknown position."""
        self._last = [0.0] * joints
        self._position: list[float] = []

    def forget_position(self) -> None:
        """Have the next reading compared with none before it."""
        self._position = []

    def estimate(self, block: JointBlock, elapsed: list[float]) -> Table:
        """
        Return the speeds of the next readings, which have an effort of each joint.

        `elapsed` is the time since the reading before each, in s; 0: there was none.
        """
        shape = block.effort.shape
        speeds: Table = np.zeros(shape)
        reported: Mask = np.zeros(shape[0], np.bool_)
        if block.velocity.shape == shape:
            reported = find_usable(block.velocity)[1] & block.velocity.any(axis=1)
            speeds[reported] = block.velocity[reported]
        placed: Mask = np.zeros(shape[0], np.bool_)
        if block.position.shape == shape:
            placed = find_usable(block.position)[1]
        if not reported.all():
            if self._position and placed.all() and all(elapsed):
                self._fill_in(block.position, elapsed, speeds, reported)
            else:
                self._fill_in_one_by_one(block, elapsed, speeds, reported, placed)
        self._last = speeds[-1].tolist()
        self._position = block.position[-1].tolist() if placed[-1] else []
        return speeds

    def _fill_in(
        self, position: Table, elapsed: list[float], speeds: Table, reported: Mask
    ) -> None:
        """Set the speeds that are not reported, where all positions are known."""
        seconds = np.array(elapsed)
        rates = np.diff(position, axis=0, prepend=[self._position]) / seconds[:, None]
        shares = (seconds / (seconds + SMOOTH_S)).tolist()
        for begin, end in _list_runs(~reported):
            last = speeds[begin - 1].tolist() if begin else self._last
            if not any(last) and not rates[begin:end].any():
                continue
            columns = rates[begin:end].transpose().tolist()
            smoothed = [
                smooth_axis(*one, shares[begin:end]) for one in zip(last, columns, strict=True)
            ]
            speeds[begin:end] = np.array(smoothed).transpose()

    def _fill_in_one_by_one(
        self,
        block: JointBlock,
        elapsed: list[float],
        speeds: Table,
        reported: Mask,
        placed: Mask,
    ) -> None:
        """Set the speeds that are not reported, where positions are missing."""
        places = [
            row if known else []
            for row, known in zip(block.position.tolist(), placed.tolist(), strict=True)
        ]
        for number in (~reported).nonzero()[0].tolist():
            speed = speeds[number - 1].tolist() if number else self._last
            before, place = places[number - 1] if number else self._position, places[number]
            if before and place and elapsed[number]:
                seconds = elapsed[number]
                share = seconds / (seconds + SMOOTH_S)
                rates = [(now - then) / seconds for now, then in zip(place, before, strict=True)]
                speeds[number] = smooth(speed, rates, share)
            elif place or block.velocity.shape != speeds.shape:
                speeds[number] = speed


def _list_runs(chosen: Mask) -> Iterator[tuple[int, int]]:
    """Yield where each run of chosen readings begins and ends."""
    edges = np.diff(np.concatenate(([False], chosen, [False])).astype(np.int8)).nonzero()[0]
    yield from zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True)

"""The pose of one map in another, fitted to landmarks that are known in both."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors.poses import Pose, Quaternion

Matrix = NDArray[np.float64]
LEAST = 3
_FLAT = 0.01
"""Points whose second extent is less than this share of their first lie on a line."""
_MISFIT = 0.5
"""A residual of this share of the landmarks' own extent says that nothing fits."""


def fit_landmarks(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> Pose:
    """
    Return the pose of the old map in the new one that fits landmarks best, in least squares.

    Both hold x, y, z in metres of the same landmarks in the same order. By Kabsch's method
    (Kabsch 1976), without scale. Raise InvalidArgument for fewer than three, and for those on a
    line, about which the turn is unknown.
    """
    if len(old) < LEAST:
        raise InvalidArgument(
            f'landmarks must be at least {LEAST} that do not lie on a line, not {len(old)}'
        )
    before, after = np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64)
    middles = before.mean(axis=0), after.mean(axis=0)
    for which, points, middle in zip(('from', 'to'), (before, after), middles, strict=True):
        extents = np.linalg.svd(points - middle, compute_uv=False)
        if extents[1] < max(_FLAT * extents[0], 1e-6):
            raise InvalidArgument(
                f'landmarks lie on a line, or all in one point, by {which}: how the maps are '
                'turned about it is unknown; give one that lies aside'
            )
    left, _, right = np.linalg.svd((after - middles[1]).T @ (before - middles[0]))
    flip = np.diag([1.0, 1.0, np.sign(np.linalg.det(left @ right))])
    turn = left @ flip @ right
    x, y, z = (float(one) for one in middles[1] - turn @ middles[0])
    return Pose((x, y, z), _read_quaternion(turn))


def measure_residual(
    pose: Pose, old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]
) -> float:
    """
    Return the root of the mean square of what landmarks are off after a fit, in metres.

    Raise InvalidArgument where that is half of their own extent: they are not the same ones.
    """
    before, after = np.asarray(old, dtype=np.float64), np.asarray(new, dtype=np.float64)
    brought = before @ np.asarray(pose.axes).T + pose.position
    off = float(np.sqrt(np.square(after - brought).sum(axis=1).mean()))
    extent = float(np.sqrt(np.square(after - after.mean(axis=0)).sum(axis=1).mean()))
    if off > _MISFIT * extent:
        raise InvalidArgument(
            f'landmarks do not fit: they are {off:.3g} m off in the mean after the best fit, and '
            f'{extent:.3g} m apart; check their order and that both are in metres'
        )
    return off


def _read_quaternion(turn: Matrix) -> Quaternion:
    """Return a rotation as a quaternion: the widest axis of the matrix that has it four times."""
    (a, b, c), (d, e, f), (g, h, i) = turn.tolist()
    four = np.array(
        [
            [a - e - i, b + d, c + g, h - f],
            [b + d, e - a - i, f + h, c - g],
            [c + g, f + h, i - a - e, d - b],
            [h - f, c - g, d - b, a + e + i],
        ]
    )
    x, y, z, w = (float(one) for one in np.linalg.eigh(four)[1][:, -1])
    return x, y, z, w

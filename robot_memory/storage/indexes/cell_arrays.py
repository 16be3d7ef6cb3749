"""Cells of the grid over positions as arrays: their steps, and how far they are from places."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_memory.storage.indexes.cells import BITS, CELL_BYTES, HALF, MIDDLE, PER_UNIT

Steps = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.float64]
_ROUNDED = 2.0**-5
"""Steps that a position may be outside of its cell by, as its step was rounded."""


def find_steps(positions: Numbers) -> Steps:
    """Return the step of the grid along each axis that each number is in, of the same shape."""
    inside = np.clip(positions, -HALF, HALF) * PER_UNIT
    return np.floor(np.minimum(inside, MIDDLE - 1) + MIDDLE).astype(np.int64)


def join_steps(steps: Steps) -> list[bytes]:
    """Return the cells of steps (n, 3)."""
    octets = np.ascontiguousarray(steps, '>i8').view(np.uint8).reshape(-1, 3, 8)
    bits = np.unpackbits(octets[:, :, 2:], axis=2)
    joined = np.packbits(bits.transpose(0, 2, 1).reshape(-1, 3 * BITS), axis=1).tobytes()
    return [joined[at : at + CELL_BYTES] for at in range(0, len(joined), CELL_BYTES)]


def split_cells(cells: Sequence[bytes]) -> Steps:
    """Return the steps (n, 3) of cells."""
    bits = np.unpackbits(np.frombuffer(b''.join(cells), np.uint8)).reshape(-1, BITS, 3)
    octets = np.zeros((len(cells), 3, 8), np.uint8)
    octets[:, :, 2:] = np.packbits(bits.transpose(0, 2, 1), axis=2)
    return octets.view('>i8')[:, :, 0].astype(np.int64)


def measure(places: Numbers, steps: Steps, widths: Steps) -> Numbers:
    """
    Return how far cubes are from places at least (n), whatever the rounding.

    `places` (n, 3) has a place for each cube, `steps` (n, 3) their least corners, `widths` (n, 1)
    their sides in steps. The outermost cubes hold what lies beyond, too.
    """
    low, high = _find_sides(steps, widths)
    return _measure(np.maximum(np.maximum(low - places, places - high), 0.0)) * (1 - 1e-9)


def measure_farthest(places: Numbers, steps: Steps, widths: Steps) -> Numbers:
    """Return how far what is in cubes is from places at most (n), infinity of the outermost."""
    low, high = _find_sides(steps, widths)
    return _measure(np.maximum(places - low, high - places)) * (1 + 1e-9)


def _find_sides(steps: Steps, widths: Steps) -> tuple[Numbers, Numbers]:
    low, high = steps.astype(float), (steps + widths).astype(float)
    low = np.where(low > 0, (low - MIDDLE - _ROUNDED) / PER_UNIT, -np.inf)
    return low, np.where(high < 2 * MIDDLE, (high - MIDDLE + _ROUNDED) / PER_UNIT, np.inf)


def _measure(apart: Numbers) -> Numbers:
    with np.errstate(over='ignore'):
        away: Numbers = np.hypot(np.hypot(apart[:, 0], apart[:, 1]), apart[:, 2])
    return away

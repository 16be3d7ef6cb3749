"""Light: a change of brightness that leaves what is lit as it was."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors.image_change import (
    CLIPPED,
    CellGrid,
    Levels,
    Mask,
    count_neighbours,
)

DARKEST = 8.0
LEAST_RATIO = 0.1
LEAST_AGREEMENT = 0.9
STEEPEST = 97
MOST_STEP = 0.3
LEAST_STRUCTURE, LEAST_STRUCTURE_OF_VIEW = 0.05, 0.01
MOST_TINT = 0.35
LEAST_LIKENESS = 0.8
LEAST_CELLS = 12

Floats = NDArray[np.floating[Any]]


def measure_light(region: Mask, now: CellGrid, then: CellGrid, *, is_view: bool = False) -> float:
    """
    Return the logarithm of how much brighter a region became, where that is light; else 0.

    Light scales what it falls on: the ratio of both pictures changes from cell to cell by little
    of what it is (light has soft edges), or the edges within are the same as before. An object
    brings edges of its own. Of most of a view (`is_view`) only the edges count.
    """
    before, after = _to_log(then.levels), _to_log(now.levels)
    ratio = after - before
    size = float(np.median(ratio[region]))
    grown = count_neighbours(region) > 0
    clipped = (now.levels.max(axis=0) >= CLIPPED) | (then.levels.max(axis=0) >= CLIPPED)
    usable = grown & ~clipped
    if abs(size) < LEAST_RATIO or np.count_nonzero(usable) < LEAST_CELLS:
        return 0.0
    if np.mean(ratio[region] * size > 0) < LEAST_AGREEMENT or _is_tinted(region, now, then):
        return 0.0
    extreme = float(np.percentile(np.abs(ratio[usable]), STEEPEST))
    steps = np.abs(_collect_steps(ratio, usable))
    if not is_view and np.percentile(steps, STEEPEST) < MOST_STEP * extreme:
        return size
    inner = region & ~clipped & (count_neighbours(region) == 9)
    least = LEAST_STRUCTURE_OF_VIEW if is_view else LEAST_STRUCTURE
    return size if _is_alike(before, after, inner, least) else 0.0


def _is_tinted(region: Mask, now: CellGrid, then: CellGrid) -> bool:
    """Tell whether the colours of a region changed by more than light does, each on its own."""
    after, before = (np.log(one.levels[:, region] + DARKEST) for one in (now, then))
    return bool(np.ptp(np.median(after - before, axis=1)) > MOST_TINT)


def _is_alike(before: Floats, after: Floats, inner: Mask, least: float) -> bool:
    """Tell whether there are edges in a region, and the same in both pictures."""
    one, other = _collect_steps(before, inner), _collect_steps(after, inner)
    if len(one) < LEAST_CELLS:
        return False
    if min(one.std(), other.std()) < least:
        return False
    return bool(np.corrcoef(one, other)[0, 1] >= LEAST_LIKENESS)


def _collect_steps(values: Floats, within: Mask) -> Floats:
    """Return the differences between neighbouring cells that are both within a mask."""
    across = np.diff(values, axis=1)[within[:, 1:] & within[:, :-1]]
    down = np.diff(values, axis=0)[within[1:] & within[:-1]]
    found: Floats = np.concatenate([across, down])
    return found


def _to_log(levels: Levels) -> Floats:
    found: Floats = np.log(levels.mean(axis=0, dtype=np.float32) + DARKEST)
    return found

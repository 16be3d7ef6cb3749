"""What differs between two pictures, apart from noise and exposure, and how sharp one is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import hypot
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from robot_memory.detectors.images import shrink, split_planes

Levels: TypeAlias = NDArray[np.uint8]
Mask: TypeAlias = NDArray[np.bool_]

CELLS_ACROSS = 160
SIGMA = 0.6745
NOISE_SIGMAS = 2.5
INNER = 7
CLIPPED = 250
CLIPPED_TOLERANCE = 30.0
MAX_GAIN = 2.0
STEEPEST = 99.5
STEEPEST_SIGMAS = 4.2


@dataclass(frozen=True, eq=False)
class CellGrid:
    """
    Hold a picture in about 160 cells on its longer side, as arrays of (colour, row, column).

    `levels` are the cells' means, 0 to 255.
    """

    levels: Levels

    @classmethod
    def from_image(cls, image: Image.Image) -> CellGrid:
        """Reduce an RGB or grey image."""
        return cls(split_planes(shrink(image, CELLS_ACROSS)))

    def to_image(self) -> Image.Image:
        """Return the cells as the pixels of an image."""
        pixels = self.levels[0] if len(self.levels) == 1 else self.levels.transpose(1, 2, 0)
        return Image.fromarray(np.ascontiguousarray(pixels))

    @cached_property
    def brightness(self) -> float:
        """Return the mean of all levels, 0 to 255."""
        return int(self.levels.sum(dtype=np.uint32)) / self.levels.size

    @cached_property
    def low(self) -> Levels:
        """Return the least among each cell and its neighbours: a trembling camera shows that."""
        return _spread(self.levels, np.minimum)

    @cached_property
    def high(self) -> Levels:
        """Return the greatest among each cell and its neighbours."""
        return _spread(self.levels, np.maximum)


def _spread(levels: Levels, extreme: np.ufunc) -> Levels:
    wide = levels.copy()
    extreme(wide[:, :, 1:], levels[:, :, :-1], out=wide[:, :, 1:])
    extreme(wide[:, :, :-1], levels[:, :, 1:], out=wide[:, :, :-1])
    spread: Levels = wide.copy()
    extreme(spread[:, 1:], wide[:, :-1], out=spread[:, 1:])
    extreme(spread[:, :-1], wide[:, 1:], out=spread[:, :-1])
    return spread


def find_changes(now: CellGrid, then: CellGrid, min_level: float) -> Mask:
    """
    Return the cells (row, column) that differ between two pictures by more than `min_level`.

    Exposure, noise and a shift of up to a cell do not count, nor do single cells and thin lines.
    The exposure is the median ratio of each colour, which an object does not move as long as it
    covers less than half of the picture.
    """
    gain = _estimate_gain(now.levels[:, ::4, ::4], then.levels[:, ::4, ::4])
    apart = np.maximum(now.levels, then.levels) - np.minimum(now.levels, then.levels)
    if apart.max() + 255 * np.abs(gain - 1).max() <= min_level:  # as most are: nothing is beyond
        return np.zeros(apart.shape[1:], np.bool_)
    levels = now.levels * gain
    if now.levels.max() * gain.max() > 255:
        np.minimum(levels, 255, out=levels)
    difference = levels - then.levels
    np.abs(difference, out=difference)
    if difference.max() <= min_level:
        nothing: Mask = np.zeros(difference.shape[1:], np.bool_)
        return nothing
    noise = float(np.median(difference[:, ::4, ::4])) / SIGMA
    if NOISE_SIGMAS * noise > min_level:
        noise = min(noise, hypot(estimate_noise(now.levels), estimate_noise(then.levels)))
    low, high = np.minimum(now.low * gain, 255), np.minimum(now.high * gain, 255)
    beyond = np.maximum(levels - then.high, then.low - levels)
    beyond = np.maximum(beyond, np.maximum(low - then.levels, then.levels - high))
    beyond -= CLIPPED_TOLERANCE * (np.maximum(now.high, then.high) >= CLIPPED)
    mask: Mask = beyond.max(axis=0) > max(min_level, NOISE_SIGMAS * noise)
    inner = mask & (count_neighbours(mask) >= INNER)
    return mask & (count_neighbours(inner) > 0)


def count_neighbours(mask: Mask) -> NDArray[np.uint8]:
    """Count the marked cells among each and its eight neighbours."""
    padded = np.pad(mask, 1).view(np.uint8)
    across = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    counts: NDArray[np.uint8] = across[:-2] + across[1:-1] + across[2:]
    return counts


def _estimate_gain(now: Levels, then: Levels) -> NDArray[np.float32]:
    """Return the factor of each colour that makes one picture as bright as the other."""
    low, high = np.minimum(now, then), np.maximum(now, then)
    gains: list[float] | NDArray[np.float64]
    if low.min() > 8 and high.max() < CLIPPED:
        gains = find_medians((then / now).reshape(len(now), -1))
    else:
        fit = (low > 8) & (high < CLIPPED)
        gains = [
            find_median(b[kept] / a[kept]) if kept.any() else 1.0
            for a, b, kept in zip(now, then, fit, strict=True)
        ]
    return np.clip(np.array(gains, np.float32), 1 / MAX_GAIN, MAX_GAIN)[:, None, None]


def find_median(values: NDArray[np.float64]) -> float:
    """Return what np.median does, in a fraction of its time where there are few values."""
    return float(find_medians(values[None])[0])


def find_medians(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the median of each row."""
    count = values.shape[1]
    middle = count // 2
    ordered = np.partition(values, (middle - 1, middle), axis=1)
    upper: NDArray[np.float64] = ordered[:, middle]
    return upper if count % 2 else (ordered[:, middle - 1] + upper) / 2


def estimate_noise(levels: NDArray[Any]) -> float:
    """Return the noise of a cell as its standard deviation; fine texture counts as noise, too."""
    cells = levels.astype(np.float32)
    steps = np.diff(cells[:, 1::4] - cells[:, :-1:4], axis=2)
    return float(np.median(np.abs(steps))) / (2 * SIGMA)


def measure_sharpness(cells: CellGrid) -> float:
    """
    Return how steep the steepest edges are: 1 is the whole contrast from one cell to the next.

    What noise adds to it is taken off. An even picture has no edges: 0.
    """
    grey = cells.levels.mean(axis=0, keepdims=True, dtype=np.float32)
    across, down = np.abs(np.diff(grey, axis=2)), np.abs(np.diff(grey, axis=1))
    steps = np.maximum(across[:, :-1], down[:, :, :-1])
    edge = float(np.percentile(steps, STEEPEST))
    noise = STEEPEST_SIGMAS * estimate_noise(grey)
    low, high = np.percentile(grey, (1, 99))
    return float(max(0.0, edge**2 - noise**2) ** 0.5 / (high - low + 1))

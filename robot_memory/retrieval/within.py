"""The probability that something lies within a radius, of a normally distributed position."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
_POINTS = 512
_LEAST = 1e-9
"""Metres of standard deviation below which a position is a point."""


def compute_within(offset: Sequence[float], covariance: Array, radius: float) -> float:
    """
    Return P(|X| <= radius) of X ~ N(offset, covariance); metres, 3 numbers and 3 x 3.

    The widest axis is integrated in closed form, the two others over fixed points of equal weight.
    """
    variances, axes = np.linalg.eigh(covariance)
    mean = axes.T @ np.asarray(offset, dtype=np.float64)
    deviations = np.sqrt(np.maximum(variances, 0.0))
    if deviations[2] < _LEAST:
        return float(np.linalg.norm(mean) <= radius)
    narrow = mean[:2] + _make_points() * deviations[:2]
    rest = radius**2 - np.square(narrow).sum(axis=1)
    half = np.sqrt(rest[rest >= 0])
    scale = deviations[2] * np.sqrt(2.0)
    shares = _erf((half - mean[2]) / scale) - _erf((-half - mean[2]) / scale)
    return float(np.clip(shares.sum() / (2 * len(rest)), 0.0, 1.0))


@functools.cache
def _make_points() -> Array:
    """Return fixed points of two standard normals: a lattice of equal areas, as a sunflower's."""
    at = np.arange(_POINTS)
    angle = 2 * np.pi * ((at * 0.6180339887498949) % 1.0)
    length = np.sqrt(-2 * np.log1p(-(at + 0.5) / _POINTS))
    return np.stack([length * np.cos(angle), length * np.sin(angle)], axis=1)


def _erf(x: Array) -> Array:
    """Return the error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26); numpy has none."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = t * (
        0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))
    )
    found: Array = np.sign(x) * (1 - series * np.exp(-x * x))
    return found

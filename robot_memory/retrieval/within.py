"""The probability that something lies within a radius or in a region, of a normal position."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from robot_memory.core.regions import Region

Array = npt.NDArray[np.float64]
_POINTS = 512
_AT_ONCE = 256
"""Positions of which the points are in memory: 6 MB."""
_LEAST = 1e-9
"""Metres of standard deviation below which a position is a point."""
_HEIGHTS = 256
"""Heights of a region that are looked at; each has less than 0.016 of what is to be found."""
_WIDEST = 5.0
"""Deviations beyond which nothing is looked for: 6e-7 is there."""


def compute_within(offset: Sequence[float], covariance: Array, radius: float) -> float:
    """Return P(|X| <= radius) of X ~ N(offset, covariance); metres, 3 numbers and 3 x 3."""
    offsets = np.asarray(offset, dtype=np.float64)[None]
    return float(compute_all_within(offsets, np.asarray(covariance)[None], radius)[0])


def compute_all_within(offsets: Array, covariances: Array, radius: float) -> Array:
    """
    Return the same of many: n x 3 and n x 3 x 3.

    The widest axis is integrated in closed form, the two others over fixed points of equal weight.
    """
    found: Array = np.empty(len(offsets))
    for begin in range(0, len(offsets), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        found[part] = _integrate(offsets[part], covariances[part], radius)
    return found


def _integrate(offsets: Array, covariances: Array, radius: float) -> Array:
    variances, axes = np.linalg.eigh(covariances)
    means = np.einsum('nji,nj->ni', axes, offsets)
    deviations = np.sqrt(np.maximum(variances, 0.0))
    narrow = means[:, None, :2] + _make_points() * deviations[:, None, :2]
    half = np.sqrt(np.maximum(radius**2 - np.square(narrow).sum(axis=2), 0.0))
    scale = (np.maximum(deviations[:, 2], _LEAST) * np.sqrt(2.0))[:, None]
    middle = means[:, 2:]
    shares = _erf((half - middle) / scale) - _erf((-half - middle) / scale)
    found: Array = np.clip(shares.sum(axis=1) / (2 * _POINTS), 0.0, 1.0)
    is_point = deviations[:, 2] < _LEAST
    found[is_point] = np.linalg.norm(means[is_point], axis=1) <= radius
    return found


def bound_within(offsets: Array, covariances: Array, radius: float) -> Array:
    """Return what P(|X| <= radius) is at most: that it lies on the near side of a plane."""
    away = np.linalg.norm(offsets, axis=1)
    along = offsets / np.maximum(away, _LEAST)[:, None]
    variances = np.einsum('ni,nij,nj->n', along, covariances, along)
    deviations = np.maximum(np.sqrt(np.maximum(variances, 0.0)), _LEAST)
    bounds: Array = (1 + _erf((radius - away) / (deviations * np.sqrt(2.0)))) / 2
    bounds[(deviations <= _LEAST) & (away <= radius + _LEAST)] = 1.0
    return bounds


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


def compute_inside(position: Sequence[float], covariance: Array, region: Region) -> float:
    """
    Return P(X in region) of X ~ N(position, covariance) in the region's frame; metres.

    At a height the two others are normal again, with a mean that depends on it: the share of each
    height is exact but for the error function, and heights are summed by a rule.
    """
    mean = np.asarray(position, dtype=np.float64)
    height = math.sqrt(max(float(covariance[2, 2]), 0.0))
    flat = np.asarray(covariance[:2, :2])
    if height < _LEAST or (math.isinf(region.bottom) and math.isinf(region.top)):
        is_beside = not region.bottom <= mean[2] <= region.top and height < _LEAST
        return 0.0 if is_beside else float(_measure_shares(mean[None, :2], flat, region)[0])
    low = max((region.bottom - mean[2]) / height, -_WIDEST)
    high = min((region.top - mean[2]) / height, _WIDEST)
    if low >= high:
        return 0.0
    steps = low + (np.arange(_HEIGHTS) + 0.5) * ((high - low) / _HEIGHTS)
    density = np.exp(-steps * steps / 2) * ((high - low) / _HEIGHTS / np.sqrt(2 * np.pi))
    slope = covariance[:2, 2] / height
    means = mean[:2] + steps[:, None] * slope
    rest = flat - np.outer(slope, slope)
    return float(np.clip(density @ _measure_shares(means, rest, region), 0.0, 1.0))


def _measure_shares(means: Array, covariance: Array, region: Region) -> Array:
    """
    Return P(X in the region's polygon) of X ~ N(mean, covariance) for each mean; 2 and 2 x 2.

    Measured in deviations the normal is round, and a polygon is the sum of the triangles that its
    edges span with the mean, each a difference of angles and of Owen's T.
    """
    variances, axes = np.linalg.eigh(covariance)
    deviations = np.sqrt(np.maximum(variances, _LEAST * _LEAST))
    corners = np.asarray(region.corners, dtype=np.float64)
    seen = (corners[None] - means[:, None]) @ axes / deviations
    ahead = np.roll(seen, -1, axis=1)
    length = np.linalg.norm(ahead - seen, axis=2)
    along = (ahead - seen) / length[..., None]
    away = seen[..., 0] * along[..., 1] - seen[..., 1] * along[..., 0]
    starts, ends = (seen * along).sum(axis=2), (ahead * along).sum(axis=2)
    near, sign = np.abs(away), np.sign(away)
    angles = (np.arctan2(ends, near) - np.arctan2(starts, near)) / (2 * np.pi)
    shares = sign * (angles - _compute_owen(near, ends) + _compute_owen(near, starts))
    found: Array = np.clip(np.abs(shares.sum(axis=1)), 0.0, 1.0)
    return found


@functools.cache
def _make_rule() -> tuple[Array, Array]:
    """Return nodes and weights of Gauss and Legendre's rule: 1e-6 where T is smooth."""
    return np.polynomial.legendre.leggauss(8)


def _compute_owen(near: Array, along: Array) -> Array:
    """Return Owen's T(h, a) of h = near and h * a = along, odd in `along`."""
    far = np.abs(along)
    is_steep = far > near
    short, ratio = np.where(is_steep, far, near), np.where(is_steep, near, far)
    ratio = np.divide(ratio, short, out=np.zeros_like(ratio), where=short > 0)
    nodes, weights = _make_rule()
    at = (nodes + 1) / 2 * ratio[..., None]
    square = np.square(short)[..., None] * (1 + at * at)
    flat = (np.exp(-square / 2) / (1 + at * at)) @ weights * ratio / (4 * np.pi)
    low, high = (0.5 * (1 + _erf(one / np.sqrt(2))) for one in (near, far))
    steep = 0.5 * (low + high) - low * high - flat
    found: Array = np.sign(along) * np.where(is_steep, steep, flat)
    return found

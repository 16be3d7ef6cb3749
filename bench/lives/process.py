"""A Gaussian process over params, by situation known by name: the most a memory can do."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from lives.worlds import Floats

_LENGTHS = (0.15, 0.3, 0.6, 1.2)
_NOISES = (0.1, 0.2, 0.4, 0.7)
_SHARED = (0.0, 0.3, 0.7)
_EVERY = 15


@dataclass(frozen=True)
class Scales:
    """Hold the scales of the process; noise in units of the spread of the results."""

    length: float = 0.3
    noise: float = 0.3
    shared: float = 0.3
    """How alike the results of two situations are."""


class NamedProcess:
    """Predict a result from params and the name of the situation."""

    def __init__(self) -> None:
        """Start with scales that nothing is known of."""
        self.scales = Scales()
        self._learned_at = 0

    def predict(
        self, tried: Floats, names: list[str], values: Floats, choices: Floats, name: str
    ) -> tuple[Floats, Floats]:
        """Return mean and spread of the result of each choice; scales are learned now and then."""
        center, unit = float(values.mean()), float(values.std()) or 1.0
        known = (values - center) / unit
        same = np.array([[one == other for other in names] for one in names])
        if len(values) - self._learned_at >= _EVERY:
            self.scales = _learn(tried, same, known)
            self._learned_at = len(values)
        asked = np.array([one == name for one in names])
        mean, variance = _predict(tried, same, known, choices, asked, self.scales)
        return mean * unit + center, np.sqrt(variance) * unit


def _compute_kernel(one: Floats, other: Floats, same: Floats, scales: Scales) -> Floats:
    squares = ((one[:, None, :] - other[None, :, :]) ** 2).sum(axis=2)
    alike = np.where(same, 1.0, scales.shared)
    found: Floats = alike * np.exp(-squares / (2 * scales.length**2))
    return found


def _predict(
    tried: Floats, same: Floats, known: Floats, choices: Floats, asked: Floats, scales: Scales
) -> tuple[Floats, Floats]:
    among = _compute_kernel(tried, tried, same, scales)
    factor = np.linalg.cholesky(among + scales.noise**2 * np.eye(len(known)))
    across = _compute_kernel(tried, choices, asked[:, None], scales)
    half = np.linalg.solve(factor, across)
    mean = half.T @ np.linalg.solve(factor, known)
    variance = 1.0 - (half**2).sum(axis=0) + scales.noise**2
    return mean, np.maximum(variance, 1e-6)


def _learn(tried: Floats, same: Floats, known: Floats) -> Scales:
    """Return the scales under which what came is most probable."""

    def measure(scales: Scales) -> float:
        among = _compute_kernel(tried, tried, same, scales)
        factor = np.linalg.cholesky(among + scales.noise**2 * np.eye(len(known)))
        half = np.linalg.solve(factor, known)
        return float(-half @ half / 2 - np.log(np.diag(factor)).sum())

    return max(
        itertools.starmap(Scales, itertools.product(_LENGTHS, _NOISES, _SHARED)), key=measure
    )

"""
A Gaussian process over the trials of a skill.

The kernel of two trials is variance * exp(-sum of rate * distance) over the columns of a `Space`:
an exponential of one minus the cosine of their situations, and a squared exponential of each
number and parameter. Each trial has a noise of its own. Rasmussen and Williams, Gaussian
Processes for Machine Learning (2006), equations 2.25, 2.26 and 5.9.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from robot_memory.skills.trials import Floats
from robot_memory.skills.warping import Warp
from robot_memory.skills.whitening import find_root, whiten

_ROUNDING = 1e-9
"""Of the variance: what keeps the covariance of points that are alike definite."""


@dataclass(frozen=True)
class Scales:
    """
    Hold the scales of a result: variances in the square of its warped unit, a rate a column.

    A rate is the inverse of a length, in units of the column's distance. The noise of a simulated
    trial is `simulated` times that of a real one.
    """

    variance: float
    noise: float
    simulated: float
    rates: Floats
    warp: Warp = field(default_factory=Warp)

    @classmethod
    def from_logs(cls, logs: Floats, warp: Warp) -> Scales:
        """Return scales by their logarithms: variance, noise, simulated less 1, rates."""
        variance, noise, simulated = map(float, np.exp(logs[:3]))
        return cls(variance, noise, 1 + simulated, np.exp(logs[3:]), warp)

    def to_logs(self) -> Floats:
        """Return the logarithms."""
        found: Floats = np.log(
            [self.variance, self.noise, max(self.simulated - 1, 1e-6), *self.rates]
        )
        return found

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Scales:
        """Return the scales that `to_plain` gave."""
        rest = {name: float(plain[name]) for name in ('variance', 'noise', 'simulated')}
        warp = Warp(float(plain['power']), float(plain['offset']))
        return cls(**rest, rates=np.array(plain['rates'], float), warp=warp)

    def to_plain(self) -> dict[str, Any]:
        """Return them fit for JSON."""
        names = ('variance', 'noise', 'simulated')
        plain = {name: getattr(self, name) for name in names}
        return {**plain, 'rates': self.rates.tolist(), **asdict(self.warp)}

    def compute_likeness(self, distances: Floats) -> Floats:
        """Return the kernel without its variance, 0 to 1; distances (columns, ...)."""
        found: Floats = (self.rates @ distances.reshape(len(distances), -1)).reshape(
            distances.shape[1:]
        )
        np.negative(found, out=found)
        np.exp(found, out=found)
        return found


class Process:
    """Predict results from trials whose results are known."""

    def __init__(self, scales: Scales, distances: Floats, noise: Floats, results: Floats) -> None:
        """
        Take trials: their distances (columns, n, n), noise variances (n,) and results (n,).

        Far from all of them the mean is that of the results, each by its noise.
        """
        self._scales = scales
        self._results = results
        self._noise = noise
        kernel = scales.variance * scales.compute_likeness(distances)
        kernel.ravel()[:: len(kernel) + 1] += noise
        self._whitener, _ = whiten(kernel)
        self._doubted = np.zeros((len(results), 0))
        self._weigh()
        self._by_all = self._mean, self._weights

    def add_noise(self, more: Floats) -> None:
        """
        Trust some trials less: add variances (n,), none negative, to the noise; once.

        By the formula of Sherman, Morrison and Woodbury, which costs less the fewer they are.
        """
        some = np.flatnonzero(more > 0)
        if not len(some):
            return
        held = self._whitener[:, some]
        inner = held.T @ held
        inner.ravel()[:: len(inner) + 1] += 1 / more[some]
        self._doubted = held @ whiten(inner)[0].T
        self._noise = self._noise + more
        self._weigh()

    def _weigh(self) -> None:
        trust = 1 / self._noise
        self._mean = float(self._results @ trust / trust.sum())
        white = self._whitener @ (self._results - self._mean)
        self._weights = (white - self._doubted @ (white @ self._doubted)) @ self._whitener

    def _get_precision(self) -> Floats:
        """Return the diagonal of the covariance's inverse, shape (n,)."""
        doubted = self._doubted.T @ self._whitener
        known = np.einsum('ij,ij->j', self._whitener, self._whitener)
        found: Floats = known - np.einsum('ij,ij->j', doubted, doubted)
        return found

    def compute_surprises(self) -> Floats:
        """
        Return by how many deviations each trial lies from what the others predict, shape (n,).

        Rasmussen and Williams (2006), equation 5.12.
        """
        found: Floats = self._weights / np.sqrt(self._get_precision())
        return found

    def compare_single(self, noise: float) -> Floats:
        """
        Return by how many deviations of a single trial each result lies off, shape (n,).

        Off what the others predict, for a trial whose own noise is a variance `noise`: old and
        outlying trials are compared as new ones.
        """
        left = 1 / self._get_precision()
        found: Floats = self._weights * left / np.sqrt(np.maximum(left - self._noise, 0.0) + noise)
        return found

    def predict(self, distances: Floats) -> tuple[Floats, Floats]:
        """
        Return means and variances of the results without noise, at points each for itself.

        `distances` are of the points to the trials, shape (columns, m, n).
        """
        return self.predict_alike(self._scales.compute_likeness(distances))

    def predict_alike(self, likeness: Floats) -> tuple[Floats, Floats]:
        """Return what `predict` does, by how like the points are to the trials, shape (m, n)."""
        cross = self._scales.variance * likeness
        white = cross @ self._whitener.T
        known = np.square(white).sum(axis=1) - np.square(white @ self._doubted).sum(axis=1)
        return self._mean + cross @ self._weights, np.maximum(self._scales.variance - known, 0.0)

    def predict_by_all(self, distances: Floats) -> Floats:
        """Return the means of `predict` with outliers trusted as all others are, shape (m,)."""
        mean, weights = self._by_all
        cross = self._scales.variance * self._scales.compute_likeness(distances)
        found: Floats = mean + cross @ weights
        return found

    def sample(self, distances: Floats, among: Floats, generator: np.random.Generator) -> Floats:
        """Draw results without noise at all points at once; among (columns, m, m)."""
        cross = self._scales.variance * self._scales.compute_likeness(distances)
        white = cross @ self._whitener.T
        prior = self._scales.variance * self._scales.compute_likeness(among)
        doubted = white @ self._doubted
        covariance = prior - white @ white.T + doubted @ doubted.T
        covariance.ravel()[:: len(covariance) + 1] += _ROUNDING * self._scales.variance
        drawn = find_root(covariance) @ generator.standard_normal(len(covariance))
        found: Floats = self._mean + cross @ self._weights + drawn
        return found

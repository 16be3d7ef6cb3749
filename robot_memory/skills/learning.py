"""
Scales of a result, learned from its trials by the marginal likelihood.

What few trials cannot tell, a prior does: on the logarithm of each scale a normal distribution.
The maximum is found by steps of Adam (Kingma and Ba, 2015) along the gradient (Rasmussen and
Williams 2006, equation 5.9), which needs no library.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from robot_memory.skills.process import Scales
from robot_memory.skills.trials import SUCCESS, Floats
from robot_memory.skills.warping import Warp, list_warps
from robot_memory.skills.whitening import whiten

_FIRST_STEPS, _STEPS = 30, 90
"""Of each warp, and of the likeliest one after that."""
_RATE = 0.08
_MOMENTS = (0.9, 0.99)
_TYPICAL_NOISE = 0.05
"""Of the variance of all results."""
_TYPICAL_SIMULATED = 1.5
SITUATION_RATE = 3.0
"""e5's cosines of sentences about one situation are some .12 above those of others."""
_VALUE_RATE = 0.5
"""A squared exponential whose length is one standard deviation of the value."""
_DEVIATIONS = {'variance': 0.7, 'noise': 1.2, 'simulated': 0.5, 'situation': 0.8, 'value': 1.2}
"""Of the logarithms."""


@dataclass(frozen=True)
class Evidence:
    """
    Hold trials to learn from: distances (columns, n, n), results (n,), and what is known of noise.

    `ages` (n,) are factors of the noise by age and by changes; `simulated` (n,) is true of
    simulated trials.
    """

    result: str
    distances: Floats
    results: Floats
    ages: Floats
    simulated: np.ndarray[tuple[int], np.dtype[np.bool_]]

    def list_warps(self) -> list[Warp]:
        """Return the scales that the result may be even on."""
        return [Warp()] if self.result == SUCCESS else list_warps(self.results)


@dataclass
class _Ascent:
    """Climb to the most probable scales of a warp; the best so far are kept."""

    evidence: Evidence
    warp: Warp
    logs: Floats
    prior: Floats
    spread: Floats
    highest: float = -np.inf

    def __post_init__(self) -> None:
        warped = self.warp.apply(self.evidence.results)
        self._centred = warped - warped.mean()
        self._slopes = self.warp.sum_slopes(self.evidence.results)
        self._moments = np.zeros((2, len(self.logs)))
        self._taken = 0
        self.best = self.logs

    def climb(self, steps: int) -> None:
        for _ in range(steps):
            self._taken += 1
            slope = self._judge()
            for row, (kept, one) in enumerate(zip(_MOMENTS, (slope, slope**2), strict=True)):
                self._moments[row] = kept * self._moments[row] + (1 - kept) * one
            first, second = (
                moment / (1 - kept**self._taken)
                for moment, kept in zip(self._moments, _MOMENTS, strict=True)
            )
            self.logs = self.logs + _RATE * first / (np.sqrt(second) + 1e-9)

    def _judge(self) -> Floats:
        """Return the slope where it is, and keep the place if it is the highest so far."""
        scales = Scales.from_logs(self.logs, self.warp)
        value, slope = compute_likelihood(scales, self.evidence, self._centred)
        away = (self.logs - self.prior) / self.spread
        value += self._slopes - 0.5 * float(away @ away)
        if value > self.highest:
            self.best, self.highest = self.logs, value
        return slope - away / self.spread


def guess_scales(columns: int, results: Floats, warp: Warp | None = None) -> Scales:
    """Return the scales that are expected of results, before any is learned."""
    warp = warp or Warp()
    variance = float(np.var(warp.apply(results))) or 1.0
    rates = np.array([SITUATION_RATE] + [_VALUE_RATE] * (columns - 1))
    return Scales(variance, _TYPICAL_NOISE * variance, _TYPICAL_SIMULATED, rates, warp)


def learn_scales(evidence: Evidence, begin: Scales | None = None) -> Scales:
    """Return the most probable scales; `begin` where they were learned from fewer trials."""
    spread = np.array(
        [_DEVIATIONS[name] for name in ('variance', 'noise', 'simulated', 'situation')]
        + [_DEVIATIONS['value']] * (len(evidence.distances) - 1)
    )
    ascents = []
    for warp in evidence.list_warps():
        prior = guess_scales(len(evidence.distances), evidence.results, warp).to_logs()
        goes_on = begin is not None and begin.warp.power == warp.power
        logs = begin.to_logs() if begin is not None and goes_on else prior
        ascents.append(_Ascent(evidence, warp, logs, prior, spread))
    for ascent in ascents:
        ascent.climb(_FIRST_STEPS)
    likeliest = max(ascents, key=lambda one: one.highest)
    likeliest.climb(_STEPS)
    return Scales.from_logs(likeliest.best, likeliest.warp)


def compute_likelihood(
    scales: Scales, evidence: Evidence, centred: Floats
) -> tuple[float, Floats]:
    """Return the log marginal likelihood, and its slope by the logarithm of each scale."""
    likeness = scales.variance * scales.compute_likeness(evidence.distances)
    noise = scales.noise * evidence.ages * np.where(evidence.simulated, scales.simulated, 1.0)
    kernel = likeness + np.diag(noise)
    whitener, determinant = whiten(kernel)
    inverse = whitener.T @ whitener
    weights = inverse @ centred
    value = -0.5 * float(centred @ weights) - 0.5 * determinant
    pull = np.outer(weights, weights) - inverse
    along = pull * likeness
    on_noise = np.diag(pull) * noise
    share = 1 - 1 / scales.simulated  # the logarithm is of what exceeds 1
    on_rates = -scales.rates * np.tensordot(evidence.distances, along, 2)
    slope = np.array(
        [along.sum(), on_noise.sum(), share * on_noise[evidence.simulated].sum(), *on_rates]
    )
    return value, 0.5 * slope

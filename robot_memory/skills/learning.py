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
from robot_memory.skills.trials import Floats

_STEPS = 120
_RATE = 0.08
_MOMENTS = (0.9, 0.99)
_TYPICAL_NOISE = 0.05
"""Of the variance of all results."""
_TYPICAL_SIMULATED = 1.5
SITUATION_RATE = 8.0
"""Sentences of one situation have cosines of some 0.8, of others 0.5: e**(-0.3 * 8) is 0.1."""
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

    distances: Floats
    results: Floats
    ages: Floats
    simulated: np.ndarray[tuple[int], np.dtype[np.bool_]]


def guess_scales(columns: int, variance: float) -> Scales:
    """Return the scales that are expected of a result with a variance, before any is learned."""
    rates = np.array([SITUATION_RATE] + [_VALUE_RATE] * (columns - 1))
    return Scales(variance, _TYPICAL_NOISE * variance, _TYPICAL_SIMULATED, rates)


def learn_scales(evidence: Evidence, begin: Scales | None = None) -> Scales:
    """Return the most probable scales; `begin` where they were learned from fewer trials."""
    centred = evidence.results - evidence.results.mean()
    variance = float(centred @ centred) / len(centred) or 1.0
    expected = guess_scales(len(evidence.distances), variance)
    prior = expected.to_logs()
    spread = np.array(
        [_DEVIATIONS[name] for name in ('variance', 'noise', 'simulated', 'situation')]
        + [_DEVIATIONS['value']] * (len(evidence.distances) - 1)
    )
    logs = prior.copy() if begin is None else begin.to_logs()
    first, second = np.zeros_like(logs), np.zeros_like(logs)
    best, highest = logs, -np.inf
    for step in range(1, _STEPS + 1):
        value, slope = _compute_likelihood(Scales.from_logs(logs), evidence, centred)
        away = (logs - prior) / spread
        value -= 0.5 * float(away @ away)
        if value > highest:
            best, highest = logs.copy(), value
        slope -= away / spread
        first = _MOMENTS[0] * first + (1 - _MOMENTS[0]) * slope
        second = _MOMENTS[1] * second + (1 - _MOMENTS[1]) * slope**2
        along = first / (1 - _MOMENTS[0] ** step)
        logs = logs + _RATE * along / (np.sqrt(second / (1 - _MOMENTS[1] ** step)) + 1e-9)
    return Scales.from_logs(best)


def _compute_likelihood(
    scales: Scales, evidence: Evidence, centred: Floats
) -> tuple[float, Floats]:
    """Return the log marginal likelihood, and its slope by the logarithm of each scale."""
    likeness = scales.variance * scales.compute_likeness(evidence.distances)
    noise = scales.noise * evidence.ages * np.where(evidence.simulated, scales.simulated, 1.0)
    kernel = likeness + np.diag(noise)
    inverse = np.linalg.inv(kernel)
    weights = inverse @ centred
    _, determinant = np.linalg.slogdet(kernel)
    value = -0.5 * float(centred @ weights) - 0.5 * float(determinant)
    pull = np.outer(weights, weights) - inverse
    along = pull * likeness
    on_noise = np.diag(pull) * noise
    slope = np.array(
        [along.sum(), on_noise.sum(), on_noise[evidence.simulated].sum()]
        + [-rate * float((along * one).sum()) for rate, one in _pair(scales, evidence)]
    )
    return value, 0.5 * slope


def _pair(scales: Scales, evidence: Evidence) -> zip[tuple[float, Floats]]:
    return zip(map(float, scales.rates), evidence.distances, strict=True)

"""What one method gains over another on the same questions, with an interval."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_RESAMPLES = 2000


def compare_paired(one: Sequence[float], other: Sequence[float]) -> tuple[float, float, float]:
    """
    Return the mean difference of paired values and its 95 % interval, by bootstrap.

    Questions are drawn, each with the values of both methods, so that what makes a question hard
    for both does not widen the interval. Each sequence must have the same length, at least 1.
    """
    differences = np.asarray(one, float) - np.asarray(other, float)
    chance = np.random.default_rng(0)
    drawn = chance.integers(len(differences), size=(_RESAMPLES, len(differences)))
    means = differences[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(differences.mean()), float(low), float(high)

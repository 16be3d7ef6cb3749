"""What the report computes of lives: shares, paired differences, calibration."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from lives.worlds import Floats

_RESAMPLES = 5000
LEAST_OF_BIN = 100


@dataclass(frozen=True)
class Difference:
    """Hold a mean difference of paired values, its 95 % interval, and who is ahead."""

    mean: float
    low: float
    high: float
    ahead: int
    pairs: int


def compare_paired(one: Sequence[float], other: Sequence[float]) -> Difference:
    """Compare the values of the same seeds, by bootstrap over seeds; each has one at least."""
    differences = np.asarray(one, float) - np.asarray(other, float)
    chance = np.random.default_rng(0)
    drawn = chance.integers(len(differences), size=(_RESAMPLES, len(differences)))
    low, high = np.quantile(differences[drawn].mean(axis=1), [0.025, 0.975])
    ahead = int((differences > 0).sum())
    mean = float(differences.mean())
    return Difference(mean, float(low), float(high), ahead, len(differences))


def bootstrap_ratio(counts: Sequence[float], of: Sequence[float]) -> tuple[float, float, float]:
    """
    Return the sum of counts by the sum of what they are of, and its 95 % interval.

    By bootstrap over lives; where all counts are 0, or all are full, by the rule of three.
    """
    some, all_of = np.asarray(counts, float), np.asarray(of, float)
    if not all_of.sum():
        return math.nan, math.nan, math.nan
    chance = np.random.default_rng(0)
    drawn = chance.integers(len(some), size=(_RESAMPLES, len(some)))
    sums = all_of[drawn].sum(axis=1)
    ratios = some[drawn].sum(axis=1)[sums > 0] / sums[sums > 0]
    low, high = np.quantile(ratios, [0.025, 0.975])
    total = all_of.sum()
    # Hanley and Lippman-Hand (1983): with none in n, at most 3 in n.
    if not some.any():
        high = 3 / total
    elif (some == all_of).all():
        low = 1 - 3 / total
    return float(some.sum() / total), float(low), float(high)


def compute_gap(value: float, nothing: float, most: float) -> float | None:
    """Return the share of the gap between no memory and the ceiling; None where there is none."""
    return (value - nothing) / (most - nothing) if most > nothing else None


def measure_calibration(probability: Floats, success: Floats) -> float | None:
    """
    Return the expected calibration error over ten bins of as many trials each.

    There are fewer bins where one would hold less than LEAST_OF_BIN trials; None where not even
    one is full.
    """
    bins = min(10, len(probability) // LEAST_OF_BIN)
    if not bins:
        return None
    order = np.argsort(probability, kind='stable')
    parts = np.array_split(order, bins)
    off = [len(one) * abs(probability[one].mean() - success[one].mean()) for one in parts]
    return float(sum(off) / len(probability))

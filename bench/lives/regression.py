"""What a memory makes of the rows that it finds: kernel regression, and a choice by it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from lives.worlds import Floats, Want


@dataclass(frozen=True)
class Kernel:
    """Hold the scales of the regression, tuned on the phrases for tuning; see README.md."""

    width: float
    """Of the params, each from 0 to 1."""
    prior: float
    """Rows that the mean and spread of all found count for."""


@dataclass(frozen=True)
class Guess:
    """Hold a choice and how probable its success is said to be."""

    choice: int
    probability: float


def compute_success(mean: Floats, spread: Floats, want: Want) -> Floats:
    """Return the probability that a normal result is within what is wanted."""
    scale = np.sqrt(2.0) * np.maximum(spread, 1e-9)
    edges = np.array([(want.high - mean) / scale, (want.low - mean) / scale])
    high, low = np.vectorize(math.erf)(edges)
    found: Floats = (high - low) / 2
    return found


def regress(
    choices: Floats, tried: Floats, values: Floats, weights: Floats, kernel: Kernel
) -> tuple[Floats, Floats]:
    """
    Return mean and spread of the result of each choice.

    `choices` has shape (choices, params) and `tried` (rows, params), both from 0 to 1; `values`
    and `weights`, of what was said, have shape (rows,).
    """
    squares = ((choices[:, None, :] - tried[None, :, :]) ** 2).sum(axis=2)
    near = weights * np.exp(-squares / (2 * kernel.width**2))
    common = float(np.average(values, weights=weights))
    scatter = float(np.average((values - common) ** 2, weights=weights)) + 1e-4
    total = near.sum(axis=1) + kernel.prior
    mean = (near @ values + kernel.prior * common) / total
    around = (near * (values[None, :] - mean[:, None]) ** 2).sum(axis=1)
    around += kernel.prior * (scatter + (common - mean) ** 2)
    return mean, np.sqrt(around / total)


def choose_by_kernel(
    choices: Floats,
    tried: Floats,
    values: Floats,
    weights: Floats,
    want: Want,
    kernel: Kernel,
) -> Guess:
    """Return the choice that most probably succeeds."""
    mean, spread = regress(choices, tried, values, weights, kernel)
    chances = compute_success(mean, spread, want)
    best = int(chances.argmax())
    return Guess(best, float(chances[best]))

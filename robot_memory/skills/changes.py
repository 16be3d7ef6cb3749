"""
Changes of the world, noticed from how far the latest results lie from what was predicted.

A CUSUM over the surprises of like trials (Page, 1954): each one speaks for a change by the
logarithm of how much likelier it is if results are spread `_SPREAD` times as wide as predicted.
What one trial can say is bounded, so that an outlier alone is no change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from robot_memory.skills.trials import Floats

_SPREAD = 3.0
_MOST, _LEAST = 2.5, -1.5
"""What one trial can say for a change, and against it."""
_ALARM = 6.0
"""The sum at which a change is noticed: three trials far off, or more that are somewhat off."""
LIKE = 0.5
"""Likeness of situations under which a change of one says nothing of the other."""
_DISCOUNT = 1000.0
"""Factor of the noise of trials from before a change."""


@dataclass(frozen=True)
class Change:
    """
    Hold that trials of a situation from `begin` on differ from those before.

    Indices count the trials of a skill. Those of the stretch `resumed` hold again: the world has
    changed back.
    """

    situation: int
    begin: int
    resumed: tuple[int, int] | None = None


def weigh_surprise(surprise: float) -> float:
    """Return what a surprise, in standard deviations, says for a change."""
    found = 0.5 * surprise**2 * (1 - _SPREAD**-2) - np.log(_SPREAD)
    return float(np.clip(found, _LEAST, _MOST))


def find_begin(surprises: Sequence[float], likeness: Floats, since: int) -> int | None:
    """
    Return from which trial on the world has changed for the newest, None where it has not.

    `likeness` (n,) are of the trials' situations to that of the newest one; only trials from
    `since` on are looked at.
    """
    total, highest, begin = 0.0, 0.0, None
    for index in range(len(surprises) - 1, since - 1, -1):
        if likeness[index] < LIKE:
            continue
        total += likeness[index] * weigh_surprise(surprises[index])
        if total > highest:
            highest, begin = total, index
    return begin if highest >= _ALARM else None


def discount(changes: Sequence[Change], likeness: Floats) -> Floats:
    """
    Return by how much the noise of each trial is greater for changes since, shape (n,).

    Of several changes of a situation the newest says which trials hold. `likeness` (changes, n)
    are of the trials' situations to those of the changes.
    """
    factors = np.ones(likeness.shape[1])
    for change, like in zip(changes, likeness, strict=True):
        outdated = np.arange(len(factors)) < change.begin
        if change.resumed is not None:
            outdated[slice(*change.resumed)] = False
        said = np.where(outdated, 1 + _DISCOUNT * like, 1.0)
        factors = np.where(like >= LIKE, said, factors)
    return factors

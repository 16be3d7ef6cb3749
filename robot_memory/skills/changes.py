"""
Changes of the world, noticed from how far the latest results lie from what was predicted.

A CUSUM over the surprises of trials (Page, 1954): each speaks for a change by the logarithm of how
much likelier it is if results are spread widely than if the prediction holds, whose errors have a
Student's t distribution, so that an outlier alone is no change. Whether another trial was in the
same situation is not known but probable by its words, and it speaks as loud as that.

Which situations have changed, and whether they have changed back, is then followed for each by a
filter of two regimes, before and after, from how well each trial fits what was known before.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.trials import Floats

_SPREAD = 3.0
"""Standard deviations, in those of the prediction, of results in a world that has changed."""
_ALARM = np.log(1000.0 * 2)
"""One false alarm in 1,000 trials (Lorden, 1971), by two likenesses of situations."""
_HAZARD = 1 / 500
"""How probable it is, at each trial of a situation, that it has changed back or again."""
_FIRST = 0.3
"""How probable it is that a situation has changed, where one has and no more is known."""
_BASE, _SLOPE = -2.2, 1.5
"""Log odds that words of average likeness tell of one situation, and by standard deviation."""
_SAME = 0.9999
"""Cosine of a situation to itself, but for rounding."""
_LONGEST = 200
"""Trials that are looked back at."""


@dataclass(frozen=True)
class Change:
    """
    Hold that the world has changed: the results of a situation from the trial `begin` on.

    `situation` is a row of the skill's vectors, of the words whose trials said most. `back` is the
    trial from which on what was known before holds again, None where it does not.
    """

    situation: int
    begin: int
    back: int | None = None


def weigh_surprises(surprises: Any) -> Floats:
    """Return what surprises, in standard deviations, say for a change: a log of likelihoods."""
    z = np.asarray(surprises, float)
    changed = -0.5 * (z / _SPREAD) ** 2 - np.log(_SPREAD * np.sqrt(2 * np.pi))
    # Student's t of 6 degrees of freedom.
    held = np.log(0.38273) - 3.5 * np.log1p(z**2 / 6)
    found: Floats = np.clip(changed - held, -1.5, 3.0)
    return found


@dataclass(frozen=True)
class Likeness:
    """Hold how like the situations of a skill are told: mean and deviation of their cosines."""

    mean: float = 0.0
    spread: float = 0.0

    @classmethod
    def of(cls, vectors: NDArray[Any]) -> Likeness:
        """Return that of some situations, vectors of unit length (situations, dimension)."""
        cosines = (vectors @ vectors.T).astype(float)
        others = cosines[~np.eye(len(cosines), dtype=bool)]
        return cls(float(others.mean()), float(others.std())) if len(others) > 2 else cls()

    def estimate_members(self, vector: NDArray[Any], vectors: NDArray[Any]) -> Floats:
        """Return how probably each of some phrasings tells of the situation that one tells of."""
        cosines = (vectors @ vector).astype(float)
        away = (
            (cosines - self.mean) / self.spread if self.spread > 1e-6 else np.zeros_like(cosines)
        )
        found = 1 / (1 + np.exp(-np.minimum(_BASE + _SLOPE * away, 2.0)))
        return np.where(cosines > _SAME, 1.0, found)


def blend(weights: Floats, members: Floats) -> Floats:
    """Return what trials say that are of the situation as probably as `members` says."""
    found: Floats = np.log1p(members * np.expm1(weights))
    return found


def find_begin(weights: Floats, members: Floats, since: int) -> int | None:
    """
    Return from which trial on the world has changed for the newest, None where it has not.

    `weights` (n,) are what the trials say for a change, `members` (n,) how probably each is of the
    newest one's situation; only trials from `since` on are looked at.
    """
    since = max(since, len(weights) - _LONGEST)
    for like in (members, np.where(members > 0.5, members, 0.0)):
        said = blend(weights[since:], like[since:])
        totals = np.cumsum(said[::-1])
        if len(totals) and totals.max() >= _ALARM and weights[-1] > 0:
            return len(weights) - 1 - int(totals.argmax())
    return None


class Regimes:
    """
    Follow which situations are in the new regime of a change: a filter for each phrasing.

    What a phrasing's own trials say is added up; how probable a change is before that, the
    phrasings say that may tell of the same situation.
    """

    def __init__(self) -> None:
        """Begin with no trials."""
        self.weights: list[float] = []
        self.phrasings: list[int] = []
        self.then: list[float] = []
        """How probably the situation of each trial was in the new regime, after that trial."""
        self.now: Floats = np.zeros(0)
        """The same of each phrasing, after the newest trial."""
        self.peaks: Floats = np.zeros(0)
        """The highest so far."""
        self._told: list[int] = []
        self._own: dict[int, float] = {}
        self._members = np.zeros((0, 0))

    def append(
        self, weight: float, phrasing: int, vectors: NDArray[Any], likeness: Likeness
    ) -> None:
        """
        Take in a trial since the change.

        `weight` says how much better it fits what is new than what was known before, `vectors`
        (phrasings, dimension) are those of all phrasings.
        """
        self._widen(phrasing, vectors, likeness)
        self._own[phrasing] = _step(self._own.get(phrasing, 0.0), weight)
        own = np.array([self._own[one] for one in self._told])
        said = self._members @ (1 / (1 + np.exp(-own)))
        prior = (_FIRST + said) / (1 + self._members.sum(axis=1))
        odds = np.log(prior / (1 - prior))
        odds[self._told] += own
        self.now = 1 / (1 + np.exp(-odds))
        self.peaks = np.maximum(self.peaks, self.now)
        self.weights.append(weight)
        self.phrasings.append(phrasing)
        self.then.append(float(self.now[phrasing]))

    def compare(self, begin: int, phrasings: NDArray[np.int64]) -> Floats:
        """
        Return how probably each trial was in another regime than its situation is in now.

        `phrasings` (n,) are those of all trials, of which the change was at `begin`. Shape (n,).
        """
        now = self.now[phrasings]
        then = np.zeros(len(phrasings))
        then[begin:] = self.then
        found: Floats = then * (1 - now) + now * (1 - then)
        return found

    def _widen(self, phrasing: int, vectors: NDArray[Any], likeness: Likeness) -> None:
        more = np.zeros((len(vectors) - len(self._members), len(self._told)))
        for row, vector in enumerate(vectors[len(self._members) :]):
            more[row] = likeness.estimate_members(vector, vectors[self._told])
        self._members = np.concatenate([self._members, more])
        self.peaks = np.append(self.peaks, np.zeros(len(more)))
        if phrasing not in self._own:
            self._told.append(phrasing)
            column = likeness.estimate_members(vectors[phrasing], vectors)
            column[phrasing] = 0.0
            self._members = np.column_stack([self._members, column])


def _step(own: float, weight: float) -> float:
    """Return the log odds of the new regime after one more trial, from even odds at first."""
    new = 1 / (1 + np.exp(-own))
    new = new * (1 - _HAZARD) + (1 - new) * _HAZARD
    return float(np.clip(np.log(new / (1 - new)) + weight, -6, 6))

"""
Changes of the world, noticed from how well results still fit what was known before.

A result speaks for a change by the logarithm of how much likelier it would be in a situation of
which nothing is known than it is in its own; both predictions' errors have a Student's t
distribution, so that an outlier alone is no change. Once a sum of these (a CUSUM: Page, 1954) is
suspicious, what was known before it is held fast, and each result since is judged by that, as long
as the suspicion lasts: a process that goes on learning would soon be surprised no more. What the
phrasings of situations say is put together in two ways: for each with those that may tell of the
same situation, and for an unknown share of all (Xie and Siegmund, 2013).

Which situations have changed, and whether they have changed back, is then followed for each by a
filter of two regimes, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.trials import Floats

_FREEDOM = 6.0
"""Of the errors of predictions."""
_LEAST, _MOST = -1.5, 3.0
"""What one trial can say."""
_SUSPICION = 2.5
"""Sum of weights from which on what was known is held fast; some of each hundred trials."""
_SHARE = 0.3
"""Of all phrasings, which a change is expected to concern."""
_HAZARD = 1 / 100
"""How probable it is, at each trial of a situation, that it has changed back or again."""
_SUREST = 4.0
"""Log odds of a phrasing's regime at most: some trials are enough to think again."""
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


@dataclass(frozen=True)
class Fitness:
    """
    Hold how likely the results of a trial were: logarithms of likelihoods.

    `held` by what was known of its situation, `strange` in a situation of which nothing is known.
    """

    held: float = 0.0
    strange: float = 0.0
    results: int = 1

    @classmethod
    def of(cls, apart: Floats, spreads: Floats) -> Fitness:
        """
        Return that of one result, held and strange.

        `apart` (2,) is by how many standard deviations it lies from the predictions, `spreads`
        (2,) are those deviations.
        """
        held, strange = -(_FREEDOM + 1) / 2 * np.log1p(apart**2 / _FREEDOM) - np.log(spreads)
        return cls(float(held), float(strange))

    @classmethod
    def sum(cls, some: Sequence[Fitness]) -> Fitness:
        """Return that of all results of a trial, as if they were independent."""
        held, strange = np.sum([(one.held, one.strange) for one in some], axis=0)
        return cls(float(held), float(strange), len(some))

    @property
    def weight(self) -> float:
        """
        What the trial says for a change; no single one is proof.

        Its results are no independent witnesses: they count as one.
        """
        return float(np.clip((self.strange - self.held) / self.results, _LEAST, _MOST))


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
    Return from which trial on the world may have changed, None where nothing speaks for it.

    `weights` (n,) are what the trials say for a change, `members` (n,) how probably each is of the
    newest one's situation; only trials from `since` on are looked at.
    """
    since = max(since, len(weights) - _LONGEST)
    if since >= len(weights) or weights[-1] <= 0:
        return None
    everywhere = np.maximum(members, _SHARE)
    for like in (members, np.where(members > 0.5, members, 0.0), everywhere):
        said = blend(weights[since:], like[since:])
        totals = np.cumsum(said[::-1])
        if totals.max() >= _SUSPICION:
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
        self._was_new: Floats = np.zeros((2, 0))
        """How probably each trial was in the new regime, if its phrasing now is or is not."""
        self._used: list[int] = []
        self._own: dict[int, float] = {}
        self._sums: dict[int, float] = {}
        self._members = np.zeros((0, 0))

    def compare_worlds(self, before: Fitness, now: Fitness, phrasing: int) -> float:
        """
        Return how much better a trial fits what is new than what was known before.

        `now` is by what is known of its situation, in so far as that is known to be changed.
        """
        changed = float(self.now[phrasing]) if phrasing < len(self.now) else 0.0
        new = np.logaddexp(
            np.log(changed + 1e-9) + now.held, np.log(1 - changed + 1e-9) + before.strange
        )
        return float(np.clip(new - before.held, -_MOST, _MOST))

    def append(
        self, weight: float, phrasing: int, vectors: NDArray[Any], likeness: Likeness
    ) -> None:
        """
        Take in a trial since the change.

        `weight` says how much better it fits what is new than what was known before, `vectors`
        (phrasings, dimension) are those of all phrasings.
        """
        self._widen(phrasing, vectors, likeness)
        self._tie(phrasing)
        self._own[phrasing] = _step(self._own.get(phrasing, 0.0), weight)
        self._sums[phrasing] = self._sums.get(phrasing, 0.0) + weight
        own = np.array([self._own[one] for one in self._used])
        said = self._members @ (1 / (1 + np.exp(-own)))
        prior = (_FIRST + said) / (1 + self._members.sum(axis=1))
        odds = np.log(prior / (1 - prior))
        odds[self._used] += own
        self.now = 1 / (1 + np.exp(-odds))
        self.peaks = np.maximum(self.peaks, self.now)
        self.weights.append(weight)
        self.phrasings.append(phrasing)
        self.then.append(float(self.now[phrasing]))

    def sum_evidence(self) -> float:
        """Return what all trials say for a change: a log of likelihoods."""
        sums = np.array([self._sums[one] for one in self._used])
        alike = blend(sums, self._members[self._used]).sum(axis=1)
        return float(max((sums + alike).max(), blend(sums, np.full(len(sums), _SHARE)).sum()))

    def find_most(self) -> int:
        """Return the phrasing whose trials say most for a change."""
        return max(self._used, key=lambda one: self._sums[one])

    def compare(self, begin: int, phrasings: NDArray[np.int64]) -> Floats:
        """
        Return how probably each trial was in another regime than its situation is in now.

        `phrasings` (n,) are those of all trials, of which the change was at `begin`. Shape (n,).
        """
        now = self.now[phrasings]
        new, old = np.zeros((2, len(phrasings)))
        new[begin:], old[begin:] = self._was_new
        found: Floats = now * (1 - new) + (1 - now) * old
        return found

    def _tie(self, phrasing: int) -> None:
        """
        Tie the regimes of a phrasing's earlier trials to that of a new one, whichever it is.

        They are seldom apart, however little is known of them: a smoother, not two guesses.
        """
        same = np.array(self.phrasings, int) == phrasing
        new, old = self._was_new[:, same]
        steps = _step_back(self._own.get(phrasing, 0.0))
        self._was_new[:, same] = [one * new + (1 - one) * old for one in steps]
        self._was_new = np.append(self._was_new, [[1.0], [0.0]], axis=1)

    def _widen(self, phrasing: int, vectors: NDArray[Any], likeness: Likeness) -> None:
        more = np.zeros((len(vectors) - len(self._members), len(self._used)))
        for row, vector in enumerate(vectors[len(self._members) :]):
            more[row] = likeness.estimate_members(vector, vectors[self._used])
        self._members = np.concatenate([self._members, more])
        self.peaks = np.append(self.peaks, np.zeros(len(more)))
        if phrasing not in self._own:
            self._used.append(phrasing)
            column = likeness.estimate_members(vectors[phrasing], vectors)
            column[phrasing] = 0.0
            self._members = np.column_stack([self._members, column])


def _step_back(own: float) -> tuple[float, float]:
    """Return how probably the regime was the new one a trial ago, if it now is or is not."""
    new = 1 / (1 + np.exp(-own))
    stays, comes = new * (1 - _HAZARD), (1 - new) * _HAZARD
    goes, is_out = new * _HAZARD, (1 - new) * (1 - _HAZARD)
    return float(stays / (stays + comes)), float(goes / (goes + is_out))


def _step(own: float, weight: float) -> float:
    """Return the log odds of the new regime after one more trial, from even odds at first."""
    new = 1 / (1 + np.exp(-own))
    new = new * (1 - _HAZARD) + (1 - new) * _HAZARD
    return float(np.clip(np.log(new / (1 - new)) + weight, -_SUREST, _SUREST))

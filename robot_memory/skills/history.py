"""The changes of the world that trials tell of, and which trials are outdated by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.changes import Change, Likeness, Regimes, find_begin, weigh_surprises
from robot_memory.skills.trials import Floats, Indices

FOLLOWED = 400
"""Trials after a change for which it is followed where it holds; then that is settled."""
_SURE = 0.9
"""Probability of a regime that is told."""
_LOOKED_BACK = 200
_COMPARED = 64
"""Phrasings by which the likeness of all is judged."""
_LEARNING = 30
"""First trials, which tell of no change."""

Judge = Callable[[Indices, int, Floats], Floats]
"""Gives surprises of trials by what was known before one, of which some are outdated."""


@dataclass
class _Followed:
    """Hold a change that is followed; `outdated` of the trials before it, as it was noticed."""

    change: Change
    outdated: Floats
    regimes: Regimes = field(default_factory=Regimes)


@dataclass(frozen=True)
class Told:
    """Hold what the trials of a skill tell of change: surprises (n,), and their situations."""

    surprises: Floats
    phrasings: Indices
    """Rows of the vectors, shape (n,)."""
    vectors: NDArray[Any]
    scale: float
    """How much wider than predicted results have been."""
    likeness: Likeness

    @classmethod
    def of(cls, surprises: Floats, situations: Indices, vectors: NDArray[Any]) -> Told:
        """Take them from a skill, whose situations are -1 where no words were said."""
        held = np.concatenate([np.zeros((1, vectors.shape[1]), vectors.dtype), vectors])
        phrasings = situations + 1
        latest = np.unique(phrasings[-_LOOKED_BACK:])[-_COMPARED:]
        likeness = Likeness.of(held[latest])
        return cls(surprises, phrasings, held, _calibrate(surprises), likeness)

    def weigh(self, surprises: Floats) -> Floats:
        """Return what surprises say for a change."""
        return weigh_surprises(surprises / self.scale)

    def get_members(self) -> Floats:
        """Return how probably each trial is of the newest one's situation, shape (n,)."""
        newest = self.phrasings[-1]
        found = np.zeros(len(self.phrasings))
        latest = self.phrasings[-_LOOKED_BACK:]
        found[-_LOOKED_BACK:] = self.likeness.estimate_members(
            self.vectors[newest], self.vectors[latest]
        )
        found[self.phrasings == newest] = 1.0
        return found


class History:
    """Follow the changes of a skill."""

    def __init__(self, count: int = 0) -> None:
        """Begin with some trials of which no change is known."""
        self.changes: list[Change] = []
        self._followed: list[_Followed] = []
        self._settled: Floats = np.zeros(count)
        self.outdated: Floats = np.zeros(count)
        """How probably each trial was in another world than now, shape (trials,)."""

    def note(self, told: Told, judge: Judge) -> Change | None:
        """Take in the newest trial, and return the change that it tells, None where none."""
        newest = len(told.surprises) - 1
        self._settled = np.append(self._settled, 0.0)
        for one in self._followed:
            self._follow(one, np.array([newest]), told, judge)
        found = self._notice(told, judge)
        back = self._find_back(int(told.phrasings[-1]), newest)
        self.outdated = self._combine(told)
        return found or back

    def _follow(self, one: _Followed, trials: Indices, told: Told, judge: Judge) -> None:
        surprises = judge(trials, one.change.begin, one.outdated)
        for trial, weight in zip(trials, told.weigh(surprises), strict=True):
            phrasing = int(told.phrasings[trial])
            one.regimes.append(float(weight), phrasing, told.vectors, told.likeness)

    def _notice(self, told: Told, judge: Judge) -> Change | None:
        since = max((one.begin + 1 for one in self.changes), default=_LEARNING)
        begin = find_begin(told.weigh(told.surprises), told.get_members(), since)
        if begin is None:
            return None
        said = np.bincount(told.phrasings[begin:], told.weigh(told.surprises[begin:]))
        change = Change(int(said.argmax()) - 1, begin)
        self.changes.append(change)
        followed = _Followed(change, np.append(self.outdated, 0.0)[:begin])
        self._follow(followed, np.arange(begin, len(told.surprises)), told, judge)
        self._followed.append(followed)
        return change

    def _find_back(self, phrasing: int, newest: int) -> Change | None:
        """Return a change that no longer holds for the newest trial, once."""
        for one in self._followed:
            regimes = one.regimes
            was_new = regimes.peaks[phrasing] > _SURE
            if one.change.back is not None or not was_new or regimes.then[-1] > 1 - _SURE:
                continue
            same = np.array(regimes.phrasings) == phrasing
            last = np.flatnonzero(same & (np.array(regimes.then) > 0.5))
            begin = one.change.begin
            back = replace(one.change, back=begin + int(last[-1]) + 1 if len(last) else newest)
            self.changes[self.changes.index(one.change)] = back
            one.change = back
            return back
        return None

    def _combine(self, told: Told) -> Floats:
        """Return how probably each trial is outdated, by all changes; settle those long ago."""
        held = 1 - self._settled
        for one in [*self._followed]:
            outdated = one.regimes.compare(one.change.begin, told.phrasings)
            held = held * (1 - outdated)
            if len(one.regimes.then) >= FOLLOWED:
                self._settled = 1 - (1 - self._settled) * (1 - outdated)
                self._followed.remove(one)
        found: Floats = 1 - held
        return found

    def to_plain(self) -> dict[str, Any]:
        """Return it fit for JSON."""
        return {
            'changes': [asdict(one) for one in self.changes],
            'followed': [
                [
                    self.changes.index(one.change),
                    one.regimes.weights,
                    one.regimes.phrasings,
                    _thin(one.outdated),
                ]
                for one in self._followed
            ],
            'settled': _thin(self._settled),
            'outdated': _thin(self.outdated),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], told: Told) -> History:
        """Return the history of some trials that `to_plain` gave."""
        history, count = cls(), len(told.phrasings)
        history.changes = [Change(**one) for one in plain['changes']]
        for place, weights, phrasings, outdated in plain['followed']:
            change = history.changes[place]
            known = _Followed(change, _fill(outdated, change.begin))
            for weight, phrasing in zip(weights, phrasings, strict=True):
                known.regimes.append(weight, phrasing, told.vectors, told.likeness)
            history._followed.append(known)
        history._settled = _fill(plain['settled'], count)
        history.outdated = _fill(plain['outdated'], count)
        return history


def _calibrate(surprises: Floats) -> float:
    """Return how much wider than predicted most results have been; at least 0.8."""
    known = surprises[-_LOOKED_BACK - 1 : -1]
    known = known[known != 0]
    if len(known) < 10:
        return 1.5
    # The median of squares of a normal distribution is 0.455.
    return max(0.8, float(np.sqrt(np.median(known**2) / 0.455)))


def _thin(values: Floats) -> list[list[float]]:
    return [[int(i), round(float(values[i]), 3)] for i in np.flatnonzero(values > 0.02)]


def _fill(thin: Iterable[tuple[float, float]], count: int) -> Floats:
    found = np.zeros(count)
    for place, value in thin:
        found[int(place)] = value
    return found

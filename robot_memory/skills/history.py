"""The changes of the world that trials tell of, and which trials are outdated by them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.changes import Change, Fitness, Likeness, Regimes, find_begin
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

_ALARM = 6.8
"""Log of likelihoods from which on a change is told: at most one false alarm in 1,000 trials."""
_REFUTED = 0.5
_PATIENCE = 120
"""Trials after which a suspicion that was neither confirmed nor refuted is given up."""
_CALM = 60
"""Trials after a change in which no other is suspected: other situations may follow it."""


@dataclass
class Before:
    """
    Hold what is known before a trial: `begin`, and how probably each earlier one is outdated.

    `kept` is for what is made of it, so that it need not be made again.
    """

    begin: int
    outdated: Floats
    kept: dict[Any, Any] = field(default_factory=dict)


Judge = Callable[[Sequence[int], Before], list[Fitness]]
"""Gives how well trials fit what was known before one."""


@dataclass
class _Suspected:
    """Hold from when on the world may have changed, and what speaks for it."""

    before: Before
    regimes: Regimes = field(default_factory=Regimes)

    def append(self, weight: float, phrasing: int, indexed: SituationIndex) -> None:
        """Take in what a trial says."""
        self.regimes.append(weight, phrasing, indexed.vectors, indexed.likeness)


@dataclass
class _Followed(_Suspected):
    """Hold a change that is followed."""

    change: Change = field(kw_only=True)


@dataclass(frozen=True)
class SituationIndex:
    """Hold in which words the situations of a skill's trials were told."""

    phrasings: Indices
    """Rows of the vectors, shape (n,)."""
    vectors: NDArray[Any]
    _judged: dict[bytes, Likeness] = field(default_factory=dict)
    """The likeness of the phrasings of late, which seldom are others."""

    @classmethod
    def of(
        cls, situations: Indices, vectors: NDArray[Any], known: SituationIndex | None = None
    ) -> SituationIndex:
        """
        Take them from a skill, whose situations are -1 where no words were said.

        What was `known` of the same skill is taken over where it is the same.
        """
        phrasings = situations + 1
        if known is not None and len(known.vectors) == 1 + len(vectors):
            return cls(phrasings, known.vectors, known._judged)
        return cls(phrasings, np.pad(vectors, ((1, 0), (0, 0))))

    @property
    def likeness(self) -> Likeness:
        """How like the phrasings of late are told."""
        latest = np.unique(self.phrasings[-_LOOKED_BACK:])[-_COMPARED:]
        key = latest.tobytes()
        if key not in self._judged:
            self._judged.clear()
            self._judged[key] = Likeness.of(self.vectors[latest])
        return self._judged[key]

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
        self._suspected: _Suspected | None = None
        self._since = _LEARNING
        self._weights: Floats = np.zeros(count)
        self._settled: Floats = np.zeros(count)
        self.outdated: Floats = np.zeros(count)
        """How probably each trial was in another world than now, shape (trials,)."""

    def note(self, indexed: SituationIndex, fitness: Fitness, judge: Judge) -> Change | None:
        """
        Take in the newest trial, and return the change that it tells, None where none.

        `fitness` is by all that was known before it.
        """
        newest = len(indexed.phrasings) - 1
        for one in self._followed:
            (before,) = judge([newest], one.before)
            phrasing = int(indexed.phrasings[newest])
            one.append(one.regimes.compare_worlds(before, fitness, phrasing), phrasing, indexed)
        weight = min(fitness.weight, self._find_least(newest))
        self._weights = np.append(self._weights, weight)
        found = self._notice(indexed, judge)
        back = self._find_back(int(indexed.phrasings[-1]), newest)
        self._settled = np.append(self._settled, 0.0)
        self.outdated = self._combine(indexed) if self._followed else self._settled
        return found or back

    def _notice(self, indexed: SituationIndex, judge: Judge) -> Change | None:
        newest = len(indexed.phrasings) - 1
        if self._suspected is not None:
            self._suspect([newest], self._suspected, indexed, judge)
        elif self._weights[-1] <= 0:
            return None
        else:
            begin = find_begin(self._weights, indexed.get_members(), self._since)
            if begin is None:
                return None
            self._suspected = _Suspected(Before(begin, np.append(self.outdated, 0.0)[:begin]))
            self._suspect(range(begin, newest + 1), self._suspected, indexed, judge)
        return self._decide(self._suspected, newest)

    def _suspect(
        self, trials: Sequence[int], one: _Suspected, indexed: SituationIndex, judge: Judge
    ) -> None:
        for trial, fitness in zip(trials, judge(trials, one.before), strict=True):
            weight = min(fitness.weight, self._find_least(trial))
            one.append(weight, int(indexed.phrasings[trial]), indexed)

    def _find_least(self, trial: int) -> float:
        """Return what a trial says for the change that is followed for which it says least."""
        said = [
            one.regimes.weights[trial - one.before.begin]
            for one in self._followed
            if trial >= one.before.begin
        ]
        return min(said, default=np.inf)

    def _decide(self, one: _Suspected, newest: int) -> Change | None:
        """Return the change that is no mere suspicion any more; drop one that is refuted."""
        begin, said = one.before.begin, one.regimes.sum_evidence()
        if said >= _ALARM:
            change = Change(one.regimes.find_most() - 1, begin)
            self.changes.append(change)
            self._followed.append(_Followed(one.before, one.regimes, change=change))
            self._suspected, self._since = None, begin + _CALM
            return change
        if said < _REFUTED or newest - begin > _PATIENCE:
            self._suspected, self._since = None, begin + 1
        return None

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

    def _combine(self, indexed: SituationIndex) -> Floats:
        """Return how probably each trial is outdated, by all changes; settle those long ago."""
        held = 1 - self._settled
        judged = np.zeros(len(held), bool)
        for one in [*self._followed]:
            begin = one.before.begin
            outdated = one.regimes.compare(begin, indexed.phrasings)
            held[~judged] *= 1 - outdated[~judged]
            # Whether its oldest trials hold, the first change of a situation tells best.
            judged[:begin] |= one.regimes.peaks[indexed.phrasings[:begin]] > _SURE
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
                    _thin(one.before.outdated),
                ]
                for one in self._followed
            ],
            'weights': _thin(self._weights, len(self._weights) - _LOOKED_BACK),
            'settled': _thin(self._settled),
            'outdated': _thin(self.outdated),
        }

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], indexed: SituationIndex) -> History:
        """Return the history of some trials that `to_plain` gave."""
        history, count = cls(), len(indexed.phrasings)
        history.changes = [Change(**one) for one in plain['changes']]
        for place, weights, phrasings, outdated in plain['followed']:
            change = history.changes[place]
            before = Before(change.begin, _fill(outdated, change.begin))
            known = _Followed(before, change=change)
            for weight, phrasing in zip(weights, phrasings, strict=True):
                known.append(weight, phrasing, indexed)
            history._followed.append(known)
        history._since = max((one.begin + _CALM for one in history.changes), default=_LEARNING)
        # States of earlier releases have no weights.
        history._weights = _fill(plain.get('weights', ()), count)
        history._settled = _fill(plain['settled'], count)
        history.outdated = _fill(plain['outdated'], count)
        return history


def _thin(values: Floats, since: int = 0) -> list[list[float]]:
    chosen = np.flatnonzero(np.abs(values) > 0.02)
    return [[int(i), round(float(values[i]), 3)] for i in chosen if i >= since]


def _fill(thin: Iterable[tuple[float, float]], count: int) -> Floats:
    found = np.zeros(count)
    for place, value in thin:
        found[int(place)] = value
    return found

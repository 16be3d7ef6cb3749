"""What is known of a skill: its trials, the scales of its results, and when the world changed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from robot_memory.skills.changes import Change, Fitness
from robot_memory.skills.history import Before, History, SituationIndex
from robot_memory.skills.learning import SITUATION_RATE, Evidence, guess_scales, learn_scales
from robot_memory.skills.process import Process, Scales
from robot_memory.skills.space import Space
from robot_memory.skills.trials import SUCCESS, Floats, Growing, Indices, Points, Trial, Trials

NEIGHBOURS = 200
"""Trials that a prediction rests on: those whose situation is likest, weighed by age."""
WITNESSES = 80
"""Trials that the surprise of a trial rests on when it is recorded: more tell little more."""
LEARNED = 250
"""Of the newest trials, from which scales are learned."""
REPLAYED = 2000
"""Of the newest trials, whose surprises are computed again where they are lost."""
HALF_LIFE = 160
"""Trials after which the noise of a trial counts twice."""
OLDEST = 8.0
"""Factor of the noise of trials long ago: what is seldom met is not forgotten."""
_FREEDOM = 4.0
"""Degrees of freedom of the noise: an outlier is a noisy witness, not the law."""
_STRANGE = 1.0
"""Distance, in lengths of its scale, of a situation of which nothing is known."""
_KEPT = 32
"""Processes over what was known before a change that are kept: some 10 MB."""


@dataclass(frozen=True)
class Noticed:
    """
    Hold what a trial told when it was recorded.

    `surprise` is by how many standard deviations its result lay from what was predicted before,
    as the root mean square over results; None where nothing could be predicted. `change` is the
    change of the world that was noticed with it, None where there is none.
    """

    surprise: float | None
    change: Change | None


@dataclass(frozen=True)
class Past:
    """Say what is known before the trial `until`, and how probably each is outdated, (until,)."""

    until: int
    outdated: Floats

    def compute_odds(self, trials: Indices) -> Floats:
        """Return the odds that each of some trials is outdated."""
        found: Floats = 1 / (1 - np.minimum(self.outdated[trials], 0.995)) - 1
        return found


@dataclass(frozen=True)
class Learning:
    """
    Hold all that scales are learned from: a copy, so that it may run in another thread.

    It takes up to some seconds of processor; BLAS threads are the caller's to limit.
    """

    evidence: Mapping[str, Evidence]
    known: Mapping[str, Scales]

    def run(self) -> dict[str, Scales]:
        """Return the scales of each result."""
        return {
            name: learn_scales(evidence, self.known.get(name))
            for name, evidence in self.evidence.items()
        }


class Skill:
    """
    Hold the trials of one skill, and predict from them; not safe for threads.

    Only `Learning.run` may run beside other calls.
    """

    def __init__(self) -> None:
        """Begin with no trials."""
        self.trials = Trials()
        self.surprises = Growing((), float, 0.0)
        """Of each trial, in standard deviations; 0 where nothing could be predicted."""
        self.history = History()
        self.scales: dict[str, Scales] = {}
        self._learned_at = 0
        self._situations: SituationIndex | None = None

    @classmethod
    def restore(
        cls,
        trials: Iterable[Trial],
        surprises: Iterable[float | None],
        state: Mapping[str, Any] | None,
    ) -> Skill:
        """
        Return the skill as it was when `get_state` was called and `record` gave the surprises.

        With no state, scales are guessed until they are learned and no change is known.
        """
        skill = cls()
        for trial, surprise in zip(trials, surprises, strict=True):
            skill.trials.append(trial)
            skill.surprises.append(surprise or 0.0)
        skill.history = History(len(skill.trials))
        if state is not None:
            skill.history = History.from_plain(state['history'], skill._tell())
            skill.scales = {name: Scales.from_plain(one) for name, one in state['scales'].items()}
            skill._learned_at = int(state['learned_at'])
        return skill

    @classmethod
    def replay(cls, trials: Sequence[Trial]) -> Skill:
        """Return the skill of trials whose surprises and state are lost: some ms a trial."""
        begin = max(len(trials) - REPLAYED, 0)
        skill = cls.restore(trials[:begin], [None] * begin, None)
        for trial in trials[begin:]:
            skill.record(trial)
            if skill.is_due:
                skill.learn()
        return skill

    @property
    def changes(self) -> Sequence[Change]:
        """The changes of the world that were noticed, in the order in which they were."""
        return self.history.changes

    def get_state(self) -> dict[str, Any]:
        """Return what was learned, fit for JSON; small."""
        return {
            'history': self.history.to_plain(),
            'scales': {name: one.to_plain() for name, one in self.scales.items()},
            'learned_at': self._learned_at,
        }

    # -- trials in --

    def record(self, trial: Trial) -> Noticed:
        """Add a trial, and say how it compares with what was predicted."""
        surprise, fitness = self._compare(trial)
        self.trials.append(trial)
        self.surprises.append(surprise or 0.0)
        change = self.history.note(self._tell(), fitness, self._judge)
        return Noticed(surprise, change)

    @property
    def is_due(self) -> bool:
        """Whether scales should be learned again: at 5 trials, and after each tenth more."""
        count = len(self.trials)
        return count >= 5 and count >= self._learned_at + max(5, min(self._learned_at // 10, 200))

    def prepare_learning(self) -> Learning:
        """Return what is to be learned from; run it anywhere, then `take` what it returns."""
        evidence = {}
        for name, column in self.trials.results.items():
            holds = ~np.isnan(column.rows) & (self.history.outdated < 0.5)
            chosen = np.flatnonzero(holds)[-LEARNED:]
            if len(chosen) > 2:
                evidence[name] = self._collect(name, chosen)
        return Learning(
            evidence, {name: one for name in evidence if (one := self._get_known(name))}
        )

    def take(self, scales: Mapping[str, Scales]) -> None:
        """Predict by scales that were learned, from here on."""
        self.scales = dict(scales)
        self._learned_at = len(self.trials)

    def learn(self) -> None:
        """Learn scales here and now."""
        self.take(self.prepare_learning().run())

    def _collect(self, name: str, chosen: Indices) -> Evidence:
        points = self.trials.points.pick(chosen)
        return Evidence(
            name,
            Space.of(self.trials).measure(points, points),
            self.trials.get_result(name)[chosen].copy(),
            _age(len(self.trials), chosen),
            self.trials.simulated[chosen].copy(),
        )

    # -- predictions out --

    def fit(self, result: str, situation: int, past: Past | None = None) -> Fit | None:
        """Return a process over the trials that tell most of a situation; None where none does."""
        past = past or Past(len(self.trials), self.history.outdated)
        return self._fit(result, self._choose(result, situation, past), past)

    def _fit(self, result: str, chosen: Indices, past: Past) -> Fit | None:
        if not len(chosen):
            return None
        space = Space.of(self.trials)
        scales = self._get_known(result) or self._guess(result, space)
        points = self.trials.points.pick(chosen)
        results = scales.warp.apply(self.trials.get_result(result)[chosen])
        simulated = np.where(self.trials.simulated[chosen], scales.simulated, 1.0)
        noise = scales.noise * _age(past.until, chosen) * simulated
        noise += 2 * scales.variance * past.compute_odds(chosen)
        process = Process(scales, space.measure(points, points), noise, results)
        outliers = process.compute_surprises()
        process.add_noise(noise * np.maximum((outliers**2 - 1) / (_FREEDOM + 1), 0.0))
        return Fit(process, scales, space, points, chosen, 1 - past.outdated[chosen])

    def _compare(self, trial: Trial) -> tuple[float | None, Fitness]:
        """Return by how many deviations its results lie off, and how likely they were."""
        measured = {one: trial.results[one] for one in trial.results if one in self.trials.results}
        if not measured and trial.success is not None and SUCCESS in self.trials.results:
            measured[SUCCESS] = float(trial.success)
        point = self._place(trial)
        past = Past(len(self.trials), self.history.outdated)
        fits = {
            name: self._fit(
                name, self._choose(name, int(point.situations[0]), past, WITNESSES), past
            )
            for name in measured
        }
        return _compare(fits, point, measured)

    def _place(self, trial: Trial) -> Points:
        situation = self.trials.add_situation(trial.situation)
        return Points(np.array([situation]), self.trials.encode_all(trial).reshape(1, -1))

    def _choose(self, result: str, situation: int, past: Past, most: int = NEIGHBOURS) -> Indices:
        known = np.flatnonzero(~np.isnan(self.trials.get_result(result)[: past.until]))
        if len(known) > most:
            counts = (1 - past.outdated) / _age_all(past.until)
            like = self._compute_likeness(situation)[: past.until] * counts
            if len(known) < len(like):
                like = like[known]
            known = known[_find_highest(like, most)]
        return known

    def _compute_likeness(self, situation: int) -> Floats:
        """Return how like the situations of all trials are to one, shape (trials,)."""
        rates = [float(scales.rates[0]) for scales in self.scales.values()]
        rate = max(rates) if rates else SITUATION_RATE
        places = self.trials.points.situations
        if not len(self.trials.vectors):
            return np.ones(len(places))
        apart = self.trials.measure_from(situation)
        found: Floats = np.exp(-rate * apart).take(places + 1)
        return found

    def _tell(self) -> SituationIndex:
        trials = self.trials
        self._situations = SituationIndex.of(
            trials.points.situations, trials.vectors, self._situations
        )
        return self._situations

    def _judge(self, trials: Sequence[int], before: Before) -> list[Fitness]:
        """Return how well trials fit what was known before one."""
        found = []
        for trial in trials:
            point = self.trials.points.pick(np.array([trial]))
            measured = {
                name: float(column.rows[trial])
                for name, column in self.trials.results.items()
                if not np.isnan(column.rows[trial])
            }
            if len(measured) > 1:
                measured.pop(SUCCESS, None)
            fits = {name: self._fit_before(name, point, before) for name in measured}
            found.append(_compare(fits, point, measured)[1])
        return found

    def _fit_before(self, result: str, point: Points, before: Before) -> Fit | None:
        """Return a process over what was known before a trial, which is fitted once."""
        past = Past(before.begin, before.outdated)
        chosen = self._choose(result, int(point.situations[0]), past)
        key = result, self._learned_at, len(self.trials.names), chosen.tobytes()
        if key not in before.kept:
            if len(before.kept) >= _KEPT:
                before.kept.pop(next(iter(before.kept)))
            before.kept[key] = self._fit(result, chosen, past)
        fit: Fit | None = before.kept[key]
        return None if fit is None else replace(fit, space=Space.of(self.trials))

    def _get_known(self, result: str) -> Scales | None:
        """Return scales that were learned, where they are of as many columns as there are now."""
        known = self.scales.get(result)
        if known is None or len(known.rates) != 1 + len(self.trials.names):
            return None
        return known

    def _guess(self, result: str, space: Space) -> Scales:
        values = self.trials.get_result(result)
        return guess_scales(space.columns, values[~np.isnan(values)])


def _age(until: int, trials: Indices) -> Floats:
    """Return by how much the noise of trials is greater for their age, before one."""
    ages: Floats = np.exp2((until - 1 - trials) / HALF_LIFE)
    return np.minimum(ages, OLDEST)


def _age_all(until: int) -> Floats:
    """Return what `_age` does of all trials before one; the oldest are all alike."""
    found = np.full(until, OLDEST)
    begin = max(0, until - 1 - round(HALF_LIFE * np.log2(OLDEST)))
    found[begin:] = _age(until, np.arange(begin, until))
    return found


def _find_highest(values: Floats, count: int) -> Indices:
    """Return the places of the highest values in their order; of equal ones, the last."""
    least = np.partition(values, -count)[-count]
    above = np.flatnonzero(values > least)
    equal = np.flatnonzero(values == least)[len(above) - count :]
    return np.sort(np.concatenate([above, equal]))


def _compare(
    fits: Mapping[str, Fit | None], point: Points, measured: Mapping[str, float]
) -> tuple[float | None, Fitness]:
    """Return by how many deviations results lie off, and how likely they were."""
    found, fitness = [], []
    for name, fit in fits.items():
        if fit is not None and len(fit.trials) > 2:
            apart, spreads = fit.compare(point, measured[name])
            found.append(float(apart[0]))
            fitness.append(Fitness.of(apart, spreads))
    if not found:
        return None, Fitness()
    surprise = float(np.sqrt(np.mean(np.square(found))) * np.sign(max(found, key=abs)))
    return surprise, Fitness.sum(fitness)


@dataclass(frozen=True)
class Fit:
    """
    Hold a process over some trials of a skill, `trials` (n,) by their indices.

    `held` (n,) is how probably what each of them tells still holds.
    """

    process: Process
    scales: Scales
    space: Space
    points: Points
    trials: Indices
    held: Floats

    @property
    def noise(self) -> float:
        """The standard deviation of a single trial."""
        return float(self.scales.noise**0.5)

    def compare(self, point: Points, value: float) -> tuple[Floats, Floats]:
        """
        Return by how many deviations a result lies off what is predicted, and the deviations.

        Both of the situation of the point and of one of which nothing is known, shapes (2,).
        """
        distances = self.space.measure(point, self.points)
        rates = self.scales.rates
        values = np.exp(-(rates[1:] @ distances[1:, 0]))
        held = values * np.exp(-rates[0] * distances[0, 0])
        strange = values * np.exp(-_STRANGE)
        means, variances = self.process.predict_alike(np.stack([held, strange]))
        spreads = np.sqrt(variances + self.scales.noise)
        return (self.scales.warp.apply(value) - means) / spreads, spreads

    def predict(self, points: Points) -> tuple[Floats, Floats]:
        """
        Return means and standard deviations of a result without noise, shapes (points,).

        They are on the scale of `scales.warp`, as are samples.
        """
        means, variances = self.process.predict(self.space.measure(points, self.points))
        return means, np.sqrt(variances)

    def compare_trials(self) -> Floats:
        """Return by how many deviations each trial lies off what the others predict, (trials,)."""
        return self.process.compare_single(self.scales.noise)

    def sample(self, points: Points, generator: np.random.Generator) -> Floats:
        """Draw what a result without noise may be at all points (Thompson sampling)."""
        among = self.space.measure(points, points)
        return self.process.sample(self.space.measure(points, self.points), among, generator)

    def weigh(self, points: Points) -> Floats:
        """Return how like each of its trials is to points, 0 to 1, shape (points, trials)."""
        return self.scales.compute_likeness(self.space.measure(points, self.points))

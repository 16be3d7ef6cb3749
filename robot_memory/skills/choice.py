"""Choose the params of the next trial of a skill, for what is wanted of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from robot_memory.skills.model import Fit, Skill
from robot_memory.skills.trials import NUMBER, PARAM, SUCCESS, Floats, Points, Value
from robot_memory.skills.warping import Warp

_MOST_CANDIDATES = 400
_OUT_OF_REACH = 0.01
"""Probability of all candidates below which the nearest expected result is chosen."""
_TIE, _EQUAL = 0.01, 1e-6
"""
By how much less probable success may be with what is about as good; and by how much less a result
may be so, or by how many deviations less good: with more of it results are aimed at less well.
"""
_EVIDENCE = 20
"""Trials that are told, the weightiest first."""
_DOUBT = 2.0
"""Trials like this one that the normal distribution counts for, beside how like ones came out."""
_SMOOTH = 0.3
"""Deviations over which each of these is smoothed."""
_LEAST_RATES = {True: 3.0, False: 0.5}
"""Of params that are names, and of figures, by which trials count for a belief: see `_count`."""
_ALIKE = 0.5
"""Likeness of situations from which on what was tried in one is said to be tried in the other."""
_INTERVAL = 1.645
"""Standard deviations on either side that 90 % of a normal distribution lie within."""


@dataclass(frozen=True)
class Range:
    """Say that a param may be any figure from `low` to `high`, both included."""

    low: float
    high: float


Among = Mapping[str, Range | Sequence[Value]]
"""What each param may be; all combinations are allowed."""


@dataclass(frozen=True)
class Want:
    """
    Say what is wanted: a result from `low` to `high`, or as little or as much of it as can be.

    `result` is SUCCESS, or the name of one that was measured. Of success, and of a result to be
    in bounds, the probability is what is chosen by; of `least` and `most` the mean.
    """

    result: str = SUCCESS
    low: float = -math.inf
    high: float = math.inf
    aim: Literal['within', 'least', 'most'] = 'within'

    def warp(self, warp: Warp) -> Want:
        """Return the same with bounds on the scale of a warp."""
        low, high = map(float, warp.apply([self.low, self.high]))
        below = -math.inf if warp.power != 1 and self.low <= 0 else low
        above = -math.inf if warp.power != 1 and self.high < 0 else high
        return replace(self, low=below, high=above)


@dataclass(frozen=True)
class Choice:
    """
    Hold the params to try, and what is predicted of them.

    `params` are empty where nothing is known and there is no default, or where no candidate is
    left. `probability` is of what is wanted (of success, where a result is to be least or most and
    success was recorded); None where nothing is known. `interval` holds 90 % of what a single
    trial's result may be. `trials` is the effective number of trials like this one. `evidence`
    has (index of the trial, weight from 0 to 1), the weightiest first. `nearest` is the index of
    the trial in a like situation whose params are nearest; None where there are no params.
    """

    params: Mapping[str, Value]
    probability: float | None = None
    predicted: float | None = None
    interval: tuple[float, float] | None = None
    trials: float = 0.0
    evidence: Sequence[tuple[int, float]] = ()
    default_used: bool = False
    explored: bool = False
    nearest: int | None = None


def list_tried(skill: Skill) -> dict[str, Range | Sequence[Value]]:
    """
    Return the range of each param that was tried with success: what `among` is without one.

    Where success was never recorded, of all trials; trials that are known to have failed aside.
    """
    success = skill.trials.get_result(SUCCESS)
    chosen = success == 1
    if not chosen.any():
        chosen = success != 0
    found: dict[str, Range | Sequence[Value]] = {}
    values = skill.trials.points.values
    for column, name in enumerate(skill.trials.names):
        if not name.startswith(PARAM):
            continue
        tried = values[chosen, column]
        tried = tried[~np.isnan(tried)]
        if not len(tried):
            continue
        if name in skill.trials.categories:
            codes = {code: said for said, code in skill.trials.categories[name].items()}
            found[name[len(PARAM) :]] = [codes[int(code)] for code in np.unique(tried)]
        else:
            found[name[len(PARAM) :]] = Range(float(tried.min()), float(tried.max()))
    return found


def choose(
    skill: Skill,
    situation: NDArray[Any] | None,
    want: Want,
    candidates: Among | Sequence[Mapping[str, Value]],
    *,
    numbers: Mapping[str, Value] | None = None,
    explore: float = 0.0,
    seed: int = 0,
    default: Mapping[str, Value] | None = None,
) -> Choice:
    """
    Return what to try next in a situation (the unit vector of its words, None for none).

    `candidates` are what is allowed after all limits: what each param may be (all combinations),
    or the allowed combinations one by one. `explore` over 0 draws from what may be so (Thompson
    sampling), at 1 from all that is plausible. Where no trial has the wanted result the default
    is returned. Raises ValueError for an `explore` that is not from 0 to 1.
    """
    if not 0 <= explore <= 1:
        raise ValueError(f'explore is from 0 to 1, not {explore}')
    generator = np.random.default_rng(seed)
    listed = list_candidates(candidates, generator)
    if not listed:
        return Choice({})
    with skill.trials.place(situation) as row:
        fit = skill.fit(want.result, row)
        if fit is None:
            return Choice(dict(default or {}), default_used=default is not None)
        points = _place(skill, row, numbers or {}, listed)
        best = _find_best(skill, fit, points, want, explore, generator)
        point = points.pick(np.array([best]))
        return _tell(skill, fit, point, want, listed[best], explore > 0)


def _find_best(
    skill: Skill,
    fit: Fit,
    points: Points,
    want: Want,
    explore: float,
    generator: np.random.Generator,
) -> int:
    """
    Return which point is the best by what is known, or by what is drawn of it.

    Of those that are known to be about as good it is the one that most trials are near.
    """
    means, deviations = fit.predict(points)
    warped = want.warp(fit.scales.warp)
    if explore:
        believed = means + explore * (fit.sample(points, generator) - means)
        return int(_rate_all(warped, believed, np.full(len(means), fit.noise)).argmax())
    rated = _rate_all(warped, means, np.hypot(deviations, fit.noise))
    counts = _count(skill, fit, points)
    tried, alike = counts.sum(axis=1), _EQUAL * (1.0 if want.aim == 'within' else fit.noise)
    if want == Want() and rated.max() < _OUT_OF_REACH:
        tried = -tried  # all failed: what failed most is not what to try again
    elif want == Want():
        rated, alike = np.minimum(rated, limit_belief(counts)), _TIE
    near = np.flatnonzero(rated >= rated.max() - alike)
    return int(near[tried[near].argmax()])


def _rate_all(want: Want, means: Floats, spreads: Floats) -> Floats:
    """Return how good points are; where all are out of reach, how near results are expected."""
    rated = rate(want, means, spreads)
    if want.aim == 'within' and want.result != SUCCESS and rated.max() < _OUT_OF_REACH:
        # So far out the tails of a normal distribution favour what is least known.
        return -measure_gaps(want, means)
    return rated


def measure_gaps(want: Want, means: Floats) -> Floats:
    """Return how far results lie outside of the bounds that are wanted, 0 within them."""
    gaps: Floats = np.maximum(np.maximum(want.low - means, means - want.high), 0.0)
    return gaps


def _tell(
    skill: Skill, fit: Fit, point: Points, want: Want, params: Mapping[str, Value], explored: bool
) -> Choice:
    means, deviations = fit.predict(point)
    mean, spread = float(means[0]), max(float(np.hypot(deviations[0], fit.noise)), 1e-12)
    weights, counts = fit.weigh(point)[0], _count(skill, fit, point)[0]
    order = np.argsort(-weights, kind='stable')[:_EVIDENCE]
    evidence = [(int(fit.trials[i]), float(weights[i])) for i in order]
    probability = None
    if want.aim == 'within':
        if want.result == SUCCESS:
            probability = _compute_success(fit, point, counts)
        else:
            warped = want.warp(fit.scales.warp)
            likely = _compute_probability(
                warped, mean, spread, fit.compare_trials(), weights * fit.held
            )
            probability = min(likely, float(limit_belief(counts)))
    elif (of_success := skill.fit(SUCCESS, int(point.situations[0]))) is not None:
        probability = _compute_success(of_success, point, _count(skill, of_success, point)[0])
    low, mean, high = map(
        float, fit.scales.warp.invert(mean + spread * np.array([-_INTERVAL, 0.0, _INTERVAL]))
    )
    return Choice(
        params,
        probability,
        mean,
        (low, high),
        float(counts.sum()),
        evidence,
        explored=explored,
        nearest=_find_nearest(skill, fit, point),
    )


def _compute_success(fit: Fit, point: Points, counts: Floats) -> float:
    """
    Return how probable success is, by the share of trials like this that succeeded.

    A failure among successes is no outlier to be doubted: two of three are two thirds.
    """
    mean = fit.process.predict_by_all(fit.space.measure(point, fit.points))[0]
    return float(np.clip(mean, 0.0, limit_belief(counts)))


def _count(skill: Skill, fit: Fit, points: Points) -> Floats:
    """
    Return for how much of a trial like some each one counts, shape (points, trials).

    Of a param that has made no difference it is learned that it makes none, however far off: but
    that was seen only of what was tried. So trials with other values count the less the farther
    these are, by a standard deviation of what was tried, and those with another name hardly.
    """
    rates = fit.scales.rates.copy()
    for column, name in enumerate(skill.trials.names, 1):
        if name.startswith(PARAM):
            rates[column] = max(rates[column], _LEAST_RATES[name in skill.trials.categories])
    likeness = replace(fit.scales, rates=rates).compute_likeness(
        fit.space.measure(points, fit.points)
    )
    found: Floats = likeness * fit.held
    return found


def limit_belief(counts: Floats) -> Floats:
    """
    Return what a probability may be at most, by how like this some trials are, (..., trials).

    Of n trials that all came out as wanted the next one does with (n + 1) / (n + 2): Laplace's
    rule of succession. So a figure that was never tried is not told as sure.
    """
    total = counts.sum(axis=-1)
    found: Floats = (total + 1) / (total + 2)
    return found


def _find_nearest(skill: Skill, fit: Fit, point: Points) -> int | None:
    """Return the trial, in a situation like that of a point, whose params are nearest to it."""
    params = [name.startswith(PARAM) for name in skill.trials.names]
    if not any(params):
        return None
    distances = fit.space.measure(point, fit.points)[:, 0]
    apart = distances[1:][params].sum(axis=0)
    alike = np.exp(-fit.scales.rates[0] * distances[0]) >= _ALIKE
    if alike.any():
        apart = np.where(alike, apart, np.inf)
    return int(fit.trials[np.flatnonzero(apart == apart.min())[-1]])


def _compute_probability(
    want: Want, mean: float, spread: float, apart: Floats, weights: Floats
) -> float:
    """
    Return how probably a result is within bounds, by how results like it came out.

    Results are seldom normal: a search finds at once or late. So where others lay, `apart` (n,)
    deviations off what the others predict, counts by how like they are, `weights` (n,), and the
    normal distribution where few are.
    """
    edges = (np.array([want.low, want.high]) - mean) / spread
    low, high = (
        _DOUBT * _compute_share(edge) + float(weights @ _compute_shares((edge - apart) / _SMOOTH))
        for edge in edges
    )
    return float(np.clip((high - low) / (_DOUBT + weights.sum()), 0.0, 1.0))


def _compute_shares(edges: Floats) -> Floats:
    """Return which share of a normal distribution lies below each of some places."""
    return np.array([_compute_share(edge) for edge in edges.tolist()])


def _compute_share(edge: float) -> float:
    return 0.5 * math.erfc(-edge / math.sqrt(2))


def rate(want: Want, means: Floats, spreads: Floats) -> Floats:
    """Return how good results are for what is wanted, by means and standard deviations."""
    if want.aim != 'within':
        return means if want.aim == 'most' else -means
    if want.result == SUCCESS:
        return np.clip(means, 0.0, 1.0)
    scale = np.sqrt(2.0) * np.maximum(spreads, 1e-12)
    high, low = (
        np.array([math.erf(one) for one in (edge - means) / scale])
        for edge in (want.high, want.low)
    )
    found: Floats = (high - low) / 2
    return found


def list_candidates(
    candidates: Among | Sequence[Mapping[str, Value]], generator: np.random.Generator
) -> list[Mapping[str, Value]]:
    """Return params to choose among, at most some hundreds: ranges are sampled."""
    if not isinstance(candidates, Mapping):
        return list(candidates)
    ranges = sum(isinstance(one, Range) and one.high > one.low for one in candidates.values())
    fixed = math.prod(len(one) for one in candidates.values() if not isinstance(one, Range))
    if any(isinstance(one, Range) and one.high < one.low for one in candidates.values()):
        return []
    steps = int((_MOST_CANDIDATES / max(fixed, 1)) ** (1 / max(ranges, 1)))
    steps = max(2, min(steps, 65))
    lists = [
        _list_range(one, steps) if isinstance(one, Range) else list(one)
        for one in candidates.values()
    ]
    total = math.prod(map(len, lists))
    if total <= 4 * _MOST_CANDIDATES:
        return [dict(zip(candidates, one, strict=True)) for one in itertools.product(*lists)]
    return [
        {name: _draw(one, generator) for name, one in candidates.items()}
        for _ in range(_MOST_CANDIDATES)
    ]


def _list_range(one: Range, steps: int) -> list[Value]:
    if one.high == one.low:
        return [one.low]
    return [float(value) for value in np.linspace(one.low, one.high, steps)]


def _draw(one: Range | Sequence[Value], generator: np.random.Generator) -> Value:
    if isinstance(one, Range):
        return float(generator.uniform(one.low, one.high))
    return one[int(generator.integers(len(one)))]


def _place(
    skill: Skill, row: int, numbers: Mapping[str, Value], listed: Sequence[Mapping[str, Value]]
) -> Points:
    values = np.full((len(listed), len(skill.trials.names)), np.nan)
    for column, name in enumerate(skill.trials.names):
        if name.startswith(NUMBER):
            values[:, column] = skill.trials.encode(name, numbers.get(name[len(NUMBER) :]))
        else:
            of_param = name[len(PARAM) :]
            given = [one.get(of_param) for one in listed]
            values[:, column] = skill.trials.encode_column(name, given)
    return Points(np.full(len(listed), row), values)

"""What to try next in a skill, within what rules allow. See docs/skills.md."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_memory.background.blas import hold_blas
from robot_memory.background.skills import SkillCopy, SkillKey, to_plain
from robot_memory.core.amounts import Amount, Value, make_amount
from robot_memory.core.errors import InvalidArgument
from robot_memory.embedding.quantisation import Vector
from robot_memory.memory import Memory
from robot_memory.retrieval.limits import Bounds, find_bounds
from robot_memory.retrieval.skill_questions import (
    Candidates,
    Question,
    check_known,
    read_candidates,
    read_units,
    read_want,
)
from robot_memory.skills.choice import Choice, Range, Want, choose, list_tried
from robot_memory.skills.trials import SUCCESS
from robot_memory.storage.tables import situations
from robot_memory.storage.tables.trials import Row

_SAME = 0.01
ENOUGH = 0.5
"""The weight of all trials that are told below which nothing is known."""


@dataclass(frozen=True)
class Witness:
    """Name a trial that a suggestion rests on."""

    row: Row
    weight: float


@dataclass(frozen=True)
class Suggestion:
    """
    Hold params to try, as figures with units and names, and what is predicted of them.

    `predicted` and `interval` are of `result`; none where nothing is known. `nearest` is the
    trial in a like situation whose params are nearest, `is_tried`: it had the same. `left_out`
    counts trials of too low an authority.
    """

    params: Mapping[str, Value]
    probability: float | None
    result: str
    predicted: Amount | None
    interval: tuple[Amount, Amount] | None
    trials: float
    evidence: Sequence[Witness]
    default_used: bool
    explored: bool
    bounds: Bounds
    empty_by: Sequence[str] = field(default_factory=tuple)
    left_out: int = 0
    nearest: Row | None = None

    @property
    def is_tried(self) -> bool:
        """Say whether the params were tried in a situation like this, within 1 %."""
        if self.nearest is None:
            return False
        tried = self.nearest.params
        return all(is_near(value, tried.get(name)) for name, value in self.params.items())


def is_near(one: Value, other: Value | None) -> bool:
    """Say whether two values of a param are the same, figures within 1 %."""
    if not isinstance(one, Amount) or not isinstance(other, Amount):
        return one == other
    return math.isclose(one.shown, Amount(other.value, one.unit).shown, rel_tol=_SAME)


def suggest(memory: Memory, question: Question) -> Suggestion:
    """
    Return what to try next; nothing is written.

    Raise InvalidArgument, which names what is known, for params that no trial has, units of
    another quantity, a want that nobody measured, and exploring without `among`.
    """
    if question.explore > 0 and question.among is None:
        raise InvalidArgument(
            f'explore {question.explore:g} requires among, the values that params may have: '
            'without it params stay within what was tried with success'
        )
    key = SkillKey(question.collection, question.skill, question.robot, question.world)
    vector = memory.skills.embed(question.situation)
    with memory.db.read() as connection:
        copy = memory.skills.open(connection, key)
    with copy.lock:
        units = read_units(copy, question)
        check_known(copy, question)
        want = read_want(copy, question.want)
        candidates = read_candidates(copy, question)
        task = f'{question.skill}: {question.situation}'
        bounds = find_bounds(memory, question.collection, task, units)
        narrowed = {name: _narrow(name, one, bounds) for name, one in candidates.items()}
        empty = [name for name, one in narrowed.items() if _is_empty(one)]
        choice = Choice({})
        if narrowed and not empty:
            choice = _choose(copy, question, want, narrowed, vector)
            if question.among is not None and not _is_known(choice):
                # Far from all trials anything may be good: what was tried is rather chosen from.
                tried = _keep_tried(copy, narrowed)
                choice = _choose(copy, question, want, tried, vector) if tried else choice
        found = _tell(copy, question, want, choice, bounds, units, narrowed)
    memory.skills.note_recorded(copy)
    return replace(found, empty_by=empty, left_out=copy.left_out)


def _choose(
    copy: SkillCopy,
    question: Question,
    want: Want,
    candidates: Candidates,
    vector: Vector | None,
) -> Choice:
    plain: dict[str, Any] = {
        name: one
        if isinstance(one, Range)
        else [value.value if isinstance(value, Amount) else value for value in one]
        for name, one in candidates.items()
    }
    if question.situation:
        vector = copy.make_vector(vector, situations.digest(question.situation))
    with hold_blas():
        return choose(
            copy.skill,
            vector,
            want,
            plain,
            numbers=to_plain(question.numbers),
            explore=question.explore,
            seed=question.seed,
        )


def _is_known(choice: Choice) -> bool:
    """Say whether trials tell something of a choice, or it is to be tried out."""
    is_predicted = choice.probability is not None or choice.predicted is not None
    weight = math.fsum(one for _, one in choice.evidence)
    return is_predicted and (weight >= ENOUGH or choice.explored)


def _keep_tried(copy: SkillCopy, candidates: Candidates) -> Candidates:
    """Return candidates within what was tried with success; nothing where none of a param is."""
    found: Candidates = {}
    for name, tried in list_tried(copy.skill).items():
        allowed = candidates.get(name, ())
        if isinstance(tried, Range) and isinstance(allowed, Range):
            found[name] = Range(max(tried.low, allowed.low), min(tried.high, allowed.high))
        elif isinstance(tried, Range) and not isinstance(allowed, Range):
            found[name] = [
                one
                for one in allowed
                if isinstance(one, Amount) and tried.low <= one.value <= tried.high
            ]
        else:
            found[name] = allowed
    return {} if any(_is_empty(one) for one in found.values()) else found


def _tell(
    copy: SkillCopy,
    question: Question,
    want: Want,
    choice: Choice,
    bounds: Bounds,
    units: Mapping[str, str | None],
    candidates: Candidates,
) -> Suggestion:
    """Return a choice with its units; the default where nothing is known."""
    result = '' if want.result == SUCCESS else want.result
    if not _is_known(choice):
        params = _fit_default(question.default, bounds, candidates)
        weight = math.fsum(one for _, one in choice.evidence)
        return Suggestion(
            params, None, result, None, None, weight, (), bool(params), False, bounds
        )
    unit = copy.units.get(('results', result)) or ''
    interval = None
    if choice.interval is not None and result:
        interval = Amount(choice.interval[0], unit), Amount(choice.interval[1], unit)
    return Suggestion(
        {
            name: _restore(value, candidates[name], units.get(name) or '')
            for name, value in choice.params.items()
        },
        choice.probability,
        result,
        Amount(choice.predicted, unit) if result and choice.predicted is not None else None,
        interval,
        choice.trials,
        [Witness(copy.rows[place], weight) for place, weight in choice.evidence],
        False,
        choice.explored,
        bounds,
        nearest=None if choice.nearest is None else copy.rows[choice.nearest],
    )


def _fit_default(
    default: Mapping[str, Value] | None, bounds: Bounds, candidates: Candidates
) -> dict[str, Value]:
    """Return the default moved to the limits; nothing where rules leave no value of a param."""
    if not default or any(_is_empty(one) for one in candidates.values()):
        return {}
    found: dict[str, Value] = {}
    for name, value in default.items():
        low, high = bounds.of(name)
        if low > high:
            return {}
        found[name] = value
        if isinstance(value, Amount) and not low <= value.value <= high:
            moved = min(max(value.value, low), high)
            found[name] = _keep_within(moved, value.unit, low, high)
    return found


def _restore(value: float | str, allowed: Range | Sequence[Value], unit: str) -> Value:
    """Return what was chosen of a param as it was given, or in its unit."""
    if isinstance(allowed, Range):
        return _keep_within(float(value), unit, allowed.low, allowed.high)
    same = [one for one in allowed if value == (one.value if isinstance(one, Amount) else one)]
    return same[0]


def _keep_within(value: float, unit: str, low: float, high: float) -> Amount:
    """Return a figure in its unit, with few digits unless they would break a limit."""
    exact = Amount(value, unit)
    for digits in (4, 6, 9, 12, 17):
        said = make_amount(float(f'{exact.shown:.{digits}g}'), unit)
        if low <= said.value <= high:
            return said
    inner = exact.shown
    for _ in range(8):
        inner = math.nextafter(
            inner, -math.inf if make_amount(inner, unit).value > high else math.inf
        )
        if low <= make_amount(inner, unit).value <= high:
            return make_amount(inner, unit)
    return exact


def _narrow(name: str, one: Range | Sequence[Value], bounds: Bounds) -> Range | Sequence[Value]:
    """Return of what a param may be what rules allow."""
    if isinstance(one, Range):
        low, high = bounds.of(name)
        return Range(max(one.low, low), min(one.high, high))
    return [value for value in one if bounds.allows(name, value)]


def _is_empty(one: Range | Sequence[Value]) -> bool:
    """Say whether a param may be nothing."""
    return one.low > one.high if isinstance(one, Range) else not one

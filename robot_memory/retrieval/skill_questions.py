"""What is asked of a skill, read by what its trials have: units, names, results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.background.skills import SkillCopy
from robot_memory.background.trial_units import check_unit
from robot_memory.core.amounts import Amount, Value, read_value
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.skills.choice import Range, Want, list_tried
from robot_memory.skills.trials import SUCCESS

_AIMS = {'minimise': 'least', 'minimize': 'least', 'maximise': 'most', 'maximize': 'most'}
_WANT = (
    'want must be {"result": "slide", "value": "0.4 m", "tolerance": "8 cm"}, '
    '{"minimise": "force"}, {"maximise": "slide"} or {"success": true}'
)
_AMONG = 'a param may be {"min": "0.5 m/s", "max": "2 m/s"} or a list: ["soft", "hard"]'
Candidates = dict[str, Range | Sequence[Value]]


@dataclass(frozen=True)
class Question:
    """Hold what is asked: values are in SI units."""

    skill: str
    situation: str
    numbers: Mapping[str, Value]
    want: Mapping[str, Any]
    among: Mapping[str, Any] | None
    default: Mapping[str, Value] | None
    explore: float
    seed: int
    robot: str | None
    world: str
    collection: str


def read_units(copy: SkillCopy, question: Question) -> dict[str, str | None]:
    """Return the unit of each param that is known or asked for; None of names."""
    units = {name: unit for (role, name), unit in copy.units.items() if role == 'params'}
    for name, value in (question.default or {}).items():
        units.setdefault(name, value.unit if isinstance(value, Amount) else None)
    for name, allowed in (question.among or {}).items():
        for value in _list_allowed(allowed):
            read = _read_one(f'among.{name}', value)
            units.setdefault(name, read.unit if isinstance(read, Amount) else None)
    return units


def _read_one(where: str, given: Any) -> Value:
    """Return one value of `among`; raise InvalidArgument, which names its forms."""
    try:
        return read_value(where, given, may_be_name=True)
    except InvalidArgument as error:
        raise InvalidArgument(f'{error}; {_AMONG}') from None


def _list_allowed(allowed: Any) -> list[Any]:
    if isinstance(allowed, Mapping) and set(allowed) <= {'min', 'max'} and allowed:
        return [value for value in allowed.values() if value is not None]
    return allowed if isinstance(allowed, list) else [allowed]


def check_known(copy: SkillCopy, question: Question) -> None:
    """Raise InvalidArgument for numbers and params that no trial of the skill has."""
    default = question.default or {}
    for said, role, values in (
        ('numbers', 'numbers', question.numbers),
        ('default', 'params', default),
    ):
        for name, value in values.items():
            _check_name(copy, role, name)
            check_unit(copy, role, name, value, f'{said}.{name}')
    for name in question.among or {}:
        _check_name(copy, 'params', name)


def _check_name(copy: SkillCopy, role: str, name: str) -> None:
    known = sorted(own for kind, own in copy.units if kind == role)
    if copy.rows and name not in known:
        raise InvalidArgument(
            f'no trial of {copy.key.skill} has {name} in {role}; known: '
            f'{", ".join(known) or "none"}'
        )


def read_want(copy: SkillCopy, want: Mapping[str, Any]) -> Want:
    """Return what is wanted; raise InvalidArgument for what no trial measured."""
    if not want or want == {'success': True}:
        if copy.rows and SUCCESS not in copy.skill.trials.results:
            raise InvalidArgument(
                f'no trial of {copy.key.skill} says whether it succeeded; measured: '
                f'{", ".join(_list_results(copy))}; name one of them in want'
            )
        return Want()
    for said, aim in _AIMS.items():
        if set(want) == {said}:
            return Want(_check_result(copy, want[said]), aim=aim)  # type: ignore[arg-type]
    if not set(want) <= {'result', 'value', 'tolerance'} or not {'result', 'value'} <= set(want):
        raise InvalidArgument(f'{_WANT}; not {format_value(dict(want))}')
    name = _check_result(copy, want['result'])
    value = _read_of_result(copy, name, 'want.value', want['value'])
    if 'tolerance' not in want:
        raise InvalidArgument(f'{_WANT}; tolerance is missing: how far from {value} still is good')
    tolerance = _read_of_result(copy, name, 'want.tolerance', want['tolerance'])
    span = tolerance.value - Amount(0.0, tolerance.unit).value
    if tolerance.unit in ('degC', 'degF'):
        span = tolerance.shown * (1.0 if tolerance.unit == 'degC' else 5 / 9)
    if span <= 0:
        raise InvalidArgument(f'want.tolerance must be above 0, not {tolerance}')
    return Want(name, value.value - span, value.value + span)


def _check_result(copy: SkillCopy, name: Any) -> str:
    known = _list_results(copy)
    if isinstance(name, str) and (name in known or (not copy.rows and name)):
        return name
    raise InvalidArgument(
        f'want names {format_value(name)}, which no trial of {copy.key.skill} measured; measured: '
        f'{", ".join(known) or "none"}'
    )


def _list_results(copy: SkillCopy) -> list[str]:
    return sorted(name for role, name in copy.units if role == 'results')


def _read_of_result(copy: SkillCopy, name: str, where: str, given: Any) -> Amount:
    found = read_value(where, given, may_be_name=False)
    assert isinstance(found, Amount)
    check_unit(copy, 'results', name, found, where)
    return found


def read_candidates(copy: SkillCopy, question: Question) -> Candidates:
    """Return what params may be: `among`, and what was tried with success of the others."""
    tried = list_tried(copy.skill)
    found: Candidates = {
        name: one
        if isinstance(one, Range)
        else [value if isinstance(value, str) else Amount(float(value)) for value in one]
        for name, one in tried.items()
    }
    for name, allowed in (question.among or {}).items():
        found[name] = _read_allowed(copy, name, allowed, tried.get(name))
    return found


def _read_allowed(
    copy: SkillCopy, name: str, allowed: Any, tried: Range | Sequence[Any] | None
) -> Range | Sequence[Value]:
    where = f'among.{name}'
    values = []
    for one in _list_allowed(allowed):
        read = _read_one(where, one)
        check_unit(copy, 'params', name, read, where)
        values.append(read)
    if not values:
        raise InvalidArgument(f'{where} has no value; give a list of values, or min and max')
    if not isinstance(allowed, Mapping) or not set(allowed) <= {'min', 'max'}:
        return values
    ends: dict[str, float] = {}
    for end, one in zip([key for key in allowed if allowed[key] is not None], values, strict=True):
        if isinstance(one, str):
            raise InvalidArgument(f'{where}.{end} must be a figure, not {format_value(one)}')
        ends[end] = one.value
    if isinstance(tried, Range):
        ends = {
            'min': min(tried.low, ends.get('max', tried.low)),
            'max': max(tried.high, ends.get('min', tried.high)),
            **ends,
        }
    if len(ends) < 2:
        raise InvalidArgument(f'{where} requires min and max')
    if ends['min'] > ends['max']:
        raise InvalidArgument(f'{where} has min above max: {format_value(dict(allowed))}')
    return Range(ends['min'], ends['max'])

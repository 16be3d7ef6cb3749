"""
Whether a value is of the quantity that a skill's trials have; else which trials stand against it.

One trial without its unit has all later ones refused: so a refusal names it and what mends it.
"""

from __future__ import annotations

from collections.abc import Sequence

from robot_memory.background.skills import ROLES, SkillCopy
from robot_memory.core.amounts import Amount, Value
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.trials import Trial
from robot_memory.storage.tables.trials import Row

_NAMED = 3
"""Trials that a refusal names, the newest."""


def check_units(copy: SkillCopy, trial: Trial) -> None:
    """Raise InvalidArgument where a figure of a trial is of another quantity than the skill's."""
    for role, values in zip(ROLES, (trial.numbers, trial.params, trial.results), strict=True):
        for name, value in values.items():
            check_unit(copy, role, name, value)


def check_unit(copy: SkillCopy, role: str, name: str, value: Value, where: str = '') -> None:
    """
    Raise InvalidArgument for a value of another quantity than the trials of the skill have.

    It names the argument (`where`, by default the role and the name), the trials, what is
    accepted, and how they are corrected where it is they that are wrong.
    """
    if (role, name) not in copy.units:
        return
    unit = copy.units[role, name]
    if _fits(unit, value):
        return
    place = ROLES.index(role)
    known = [(row, (row.numbers, row.params, row.results)[place].get(name)) for row in copy.rows]
    other = [row for row, one in known if one is not None and not _fits(_get_unit(one), value)]
    raise InvalidArgument(
        f'{where or f"{role}.{name}"} is {_describe(value)}, but {_describe_unit(unit)} in '
        f'{_name(other)} of {copy.key.skill}: {_advise(unit, value, len(other) == 1)}'
    )


def _fits(unit: str | None, value: Value) -> bool:
    """Say whether a value has a unit of the quantity of another, None: is a name."""
    if unit is None or isinstance(value, str):
        return unit is None and isinstance(value, str)
    return Amount(0.0, unit).dimension == value.dimension


def _get_unit(value: Value) -> str | None:
    return value.unit if isinstance(value, Amount) else None


def _describe(value: Value) -> str:
    if isinstance(value, str):
        return f'the name {format_value(value)}'
    return str(value) if value.unit else f'{value} without a unit'


def _describe_unit(unit: str | None) -> str:
    if unit is None:
        return 'a name'
    return f'a figure in {unit}' if unit else 'a figure without a unit'


def _advise(unit: str | None, value: Value, is_one: bool) -> str:
    """Return what is accepted in place of a value, and how trials are corrected that are wrong."""
    again = 'forget it and report it again' if is_one else 'forget them and report them again'
    if unit == '' and isinstance(value, Amount):
        with_unit = 'with its unit' if is_one else 'with their unit'
        return f'{again} {with_unit}, or pass a figure alone, e.g. {value.shown:.6g}'
    if unit is None:
        said = 'pass a name, e.g. "soft"'
    elif isinstance(value, str):
        said = f'pass a figure, e.g. "0.5 {unit}"' if unit else 'pass a figure, e.g. 0.5'
    else:
        figure = 0.5 if value.unit else value.shown
        said = f'pass a unit of that quantity, e.g. "{figure:.6g} {unit}"'
    return f'{said}; if {"that trial is" if is_one else "those are"} wrong, {again}'


def _name(rows: Sequence[Row]) -> str:
    """Return the ids of trials, the newest first, and how many more there are."""
    ids = [f'mem_{row.memory_id}' for row in reversed(rows[-_NAMED:])]
    more = f' and {len(rows) - len(ids)} more' if len(rows) > len(ids) else ''
    return f'{"trial" if len(rows) == 1 else "trials"} {", ".join(ids)}{more}'

"""Figures with their units, in SI, and names from a set: what trials are told by."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, is_storable, parse_finite
from robot_memory.core.units import Dimension, Unit, parse_quantity, parse_unit

_LONGEST = 64
_MOST = 32
_NO_FIGURES = ('nan', 'inf', 'infinity')
_EXAMPLE = '"0.4 m" or {"value": 0.4, "unit": "m"}'


@dataclass(frozen=True)
class Amount:
    """Hold a figure: `value` in SI units, and the unit that it is written in, '' for none."""

    value: float
    unit: str = ''

    @property
    def dimension(self) -> Dimension:
        """Return the exponents of the base units."""
        return _get_unit(self.unit).dimension

    @property
    def shown(self) -> float:
        """Return the figure in the unit that it is written in."""
        unit = _get_unit(self.unit)
        return (self.value - unit.offset) / unit.scale

    def to_plain(self) -> Any:
        """Return it as JSON: a number, or an object with value and unit."""
        short = float(f'{self.shown:.12g}')
        shown = short if make_amount(short, self.unit).value == self.value else self.shown
        return {'value': shown, 'unit': self.unit} if self.unit else shown

    def __str__(self) -> str:
        """Return it as it is written in a text."""
        return f'{self.shown:.6g} {self.unit}'.rstrip()


Value: TypeAlias = Amount | str
"""A figure, or a name from a set."""


def make_amount(value: float, unit: str) -> Amount:
    """Return a figure that is given in a known unit."""
    known = _get_unit(unit)
    return Amount(value * known.scale + known.offset, unit)


def is_unit(text: str) -> bool:
    """Say whether a text is a unit that is known; '' is that of a ratio."""
    return parse_unit(text) is not None


def _get_unit(text: str) -> Unit:
    found = parse_unit(text)
    assert found is not None, text
    return found


def read_values(
    name: str, given: Mapping[str, Any] | None, *, may_be_names: bool
) -> dict[str, Value]:
    """
    Return the figures, and names where they may be, of an argument.

    Raise InvalidArgument for what is neither, for NaN, for unknown units and for too many.
    """
    found = given or {}
    if len(found) > _MOST:
        raise InvalidArgument(f'{name} may have at most {_MOST} entries, not {len(found)}')
    for key in found:
        if not (0 < len(key.strip()) <= _LONGEST and is_storable(key)):
            raise InvalidArgument(
                f'{name}: a name must have 1 to {_LONGEST} characters, not {format_value(key)}'
            )
    return {
        key.strip(): read_value(f'{name}.{key}', value, may_be_name=may_be_names)
        for key, value in found.items()
    }


def read_value(where: str, given: Any, *, may_be_name: bool) -> Value:
    """Return a figure, or a name where it may be one; raise InvalidArgument for all else."""
    if isinstance(given, bool):
        if may_be_name:
            return json.dumps(given)
    elif isinstance(given, str):
        found = _read_text(where, given.strip(), may_be_name)
        if found is not None:
            return found
    elif isinstance(given, Mapping) and set(given) <= {'value', 'unit'}:
        unit = given.get('unit') or ''
        value = parse_finite(given.get('value'))
        if value is not None and isinstance(unit, str):
            return _make_checked(where, value, unit.strip())
    elif (value := parse_finite(given)) is not None:
        return Amount(value)
    wanted = f'a finite number, a text such as {_EXAMPLE}'
    more = ', or a name such as "soft"' if may_be_name else ''
    raise InvalidArgument(f'{where} must be {wanted}{more}, not {format_value(given)}')


def _read_text(where: str, text: str, may_be_name: bool) -> Value | None:
    quantity = parse_quantity(text)
    if quantity is not None:
        return _make_checked(where, *quantity)
    first = text.lower().lstrip('+-').partition(' ')[0]
    is_name = 0 < len(text) <= _LONGEST and is_storable(text) and first not in _NO_FIGURES
    return text if may_be_name and is_name else None


def _make_checked(where: str, value: float, unit: str) -> Amount:
    if not is_unit(unit):
        raise InvalidArgument(
            f'{where} has the unknown unit {format_value(unit)}; known are SI units with prefixes '
            'and their products (N, mm, m/s, rad/s, N m), deg, degC, %, min, h, bar, '
            'lb, oz, in, ft'
        )
    found = make_amount(value, unit)
    if not math.isfinite(found.value):
        raise InvalidArgument(f'{where} must be a finite number, not {format_value(value)}')
    return found


def write_values(values: Mapping[str, Value]) -> dict[str, Any]:
    """Return figures and names as plain JSON."""
    return {
        name: value if isinstance(value, str) else value.to_plain()
        for name, value in values.items()
    }

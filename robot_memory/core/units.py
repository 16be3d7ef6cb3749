"""
Units of measurement: quantities read from text, and converted between units of one dimension.

A unit is a product of symbols: `N m`, `N·cm`, `rad/s`, `m/s^2`, `kg m2`. A ratio has none; `%` is
a hundredth of it.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.text.caching import cache_texts
from robot_memory.text.units import LENGTHS, MASSES, name_units

Dimension = tuple[int, ...]
"""Exponents of metre, kilogram, second, ampere, kelvin and radian."""

_NONE: Dimension = (0,) * 6


@dataclass(frozen=True)
class Unit:
    """A unit: `value * scale + offset` is in SI units of its dimension."""

    scale: float
    dimension: Dimension
    offset: float = 0.0


def _make(scale: float, *exponents: int, offset: float = 0.0) -> Unit:
    return Unit(scale, (*exponents, *_NONE)[:6], offset)


_PREFIXED = {
    'm': _make(1, 1),
    'g': _make(1e-3, 0, 1),
    's': _make(1, 0, 0, 1),
    'A': _make(1, 0, 0, 0, 1),
    'K': _make(1, 0, 0, 0, 0, 1),
    'rad': _make(1, 0, 0, 0, 0, 0, 1),
    'Hz': _make(1, 0, 0, -1),
    'N': _make(1, 1, 1, -2),
    'Pa': _make(1, -1, 1, -2),
    'J': _make(1, 2, 1, -2),
    'W': _make(1, 2, 1, -3),
    'V': _make(1, 2, 1, -3, -1),
    'Ohm': _make(1, 2, 1, -3, -2),
    'T': _make(1, 0, 1, -2, -1),
    'bar': _make(1e5, -1, 1, -2),
}
_PREFIXES = {
    '': 1.0,
    'n': 1e-9,
    'u': 1e-6,
    'm': 1e-3,
    'c': 1e-2,
    'd': 1e-1,
    'h': 1e2,
    'k': 1e3,
    'M': 1e6,
    'G': 1e9,
}
_SYMBOLS = {
    **{p + name: Unit(x * u.scale, u.dimension) for p, x in _PREFIXES.items()
       for name, u in _PREFIXED.items()},
    '1': _make(1),
    '%': _make(1e-2),
    'min': _make(60, 0, 0, 1),
    'h': _make(3600, 0, 0, 1),
    'd': _make(86_400, 0, 0, 1),
    **{symbol: _make(one.factor, 0, 1) for symbol, one in MASSES.items()},
    **{symbol: _make(one.factor, 1) for symbol, one in LENGTHS.items()},
    'lbf': _make(4.448_221_615_260_5, 1, 1, -2),
    'kgf': _make(9.806_65, 1, 1, -2),
    'psi': _make(6894.757_293_168, -1, 1, -2),
    'deg': _make(math.pi / 180, 0, 0, 0, 0, 0, 1),
    'rpm': _make(math.tau / 60, 0, 0, -1, 0, 0, 1),
    'degC': _make(1, 0, 0, 0, 0, 1, offset=273.15),
    'degF': _make(5 / 9, 0, 0, 0, 0, 1, offset=459.67 * 5 / 9),
}  # fmt: skip
_WORDS = {
    '°c': 'degC',
    '℃': 'degC',
    'celsius': 'degC',
    '°f': 'degF',
    '℉': 'degF',
    'fahrenheit': 'degF',
    'kelvin': 'K',
    '°': 'deg',
    'degree': 'deg',
    'degrees': 'deg',
    'radian': 'rad',
    'radians': 'rad',
    'percent': '%',
    'newton': 'N',
    'newtons': 'N',
    'nm': 'N m',
    'ncm': 'N cm',
    'ns': 'N s',
    'second': 's',
    'seconds': 's',
    'sec': 's',
    'minute': 'min',
    'minutes': 'min',
    'hour': 'h',
    'hours': 'h',
    'day': 'd',
    'days': 'd',
    'volt': 'V',
    'volts': 'V',
    'ampere': 'A',
    'amperes': 'A',
    'amp': 'A',
    'amps': 'A',
    'watt': 'W',
    'watts': 'W',
    'joule': 'J',
    'joules': 'J',
    'ω': 'Ohm',
    # Not the symbols: those of other letters may be others, as T and M are.
    **{name: symbol for name, symbol in name_units(MASSES | LENGTHS).items() if name != symbol},
}
"""Other ways to write a symbol or a product, in lower case."""
_FACTOR = re.compile(r'([^\W\d_]+|°[CcFf]?|℃|℉|%|1)(?:\^?([-+]?[0-9]))?')
_ASCII = str.maketrans({'µ': 'u', 'μ': 'u', 'Ω': 'Ohm', '²': '^2', '³': '^3'})
_QUANTITY = re.compile(r'\s*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)\s*(.*?)\s*')


@cache_texts(4096)
def parse_unit(text: str) -> Unit | None:
    """Return a unit; None where the text is none that is known."""
    scale, dimension, offset = 1.0, _NONE, 0.0
    text = text.translate(_ASCII).strip()
    for number, side in enumerate(text.split('/')):
        if number and not side.strip():
            return None
        for factor in re.split(r'[\s*·⋅]+', side.strip()) if side.strip() else ():
            found = _parse_factor(factor)
            if found is None:
                return None
            power = -1 if number else 1
            scale *= found.scale**power
            dimension = tuple(
                a + power * b for a, b in zip(dimension, found.dimension, strict=True)
            )
            offset = found.offset if factor == text else 0.0
    return Unit(scale, dimension, offset)


def _parse_factor(text: str) -> Unit | None:
    """Return one symbol, maybe with an exponent, as a unit."""
    match = _FACTOR.fullmatch(text)
    if match is None:
        return None
    name, power = match.groups()
    word = _WORDS.get(name.lower())
    unit = _SYMBOLS.get(name) or (parse_unit(word) if word else None)
    if unit is None or power is None:
        return unit
    exponent = int(power)
    return Unit(unit.scale**exponent, tuple(exponent * one for one in unit.dimension))


def parse_quantity(text: str) -> tuple[float, str] | None:
    """Return number and unit of a text such as '5 N'; None where it is no finite number first."""
    match = _QUANTITY.fullmatch(text)
    if match is None or not math.isfinite(float(match[1])):
        return None
    return float(match[1]), match[2]


def convert(value: float, unit: str, into: str) -> float | None:
    """Return a value in another unit; None where the units are not of one dimension."""
    if unit == into:
        return value
    old, new = parse_unit(unit), parse_unit(into)
    if old is None or new is None or old.dimension != new.dimension:
        return None
    if old.offset == new.offset:
        ratio = old.scale / new.scale
        # 1500 g is 1.5 kg: a division by what the unit holds is exact where the factor is not.
        inverse = new.scale / old.scale
        return value / round(inverse) if _is_whole(inverse) and ratio < 1 else value * ratio
    return (value * old.scale + old.offset - new.offset) / new.scale


def _is_whole(number: float) -> bool:
    return abs(number - round(number)) < 1e-9 * number


def read_bound(where: str, value: float | str, unit: str) -> float:
    """
    Return a bound in a unit: a number, or text with a unit of the same dimension.

    `where` names the condition. Raise InvalidArgument that names the unit it must have.
    """
    if not isinstance(value, str):
        return float(value)
    quantity = parse_quantity(value)
    wanted = f'a number in {unit}' if unit else 'a number without a unit'
    if quantity is None:
        raise InvalidArgument(f'{where} must be {wanted}, not {format_value(value)}')
    number, given = quantity
    if not given:
        return number
    converted = convert(number, given, unit)
    if converted is None:
        known = parse_unit(given) is not None
        problem = 'is another quantity' if known else 'has an unknown unit'
        raise InvalidArgument(f'{where} must be {wanted}; {format_value(value)} {problem}')
    return converted

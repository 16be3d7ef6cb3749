"""A `near` as it is asked: checked as far as it can be without the store."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.coercion import read_point
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.core.suggestions import suggest
from robot_memory.core.units import convert, parse_quantity

_KEYS = ('frame', 'position', 'of', 'in', 'at', 'within', 'probability', 'source')
_NOT_OF_REGIONS = ('frame', 'within')
_FORM = (
    '{"frame": "map", "position": [x, y, z]} or {"of": "mem_12", a frame of tf or an object}, '
    'with "at", "within" and "probability" if wanted; or {"in": "left bin"}, a named region'
)


@dataclass(frozen=True)
class NearQuestion:
    """Hold a question for what is near, checked as far as it can be without the store."""

    frame: str
    position: tuple[float, float, float] | None
    of: str
    at: str
    within: float | None
    probability: float | None
    source: str | None
    region: str = ''

    @classmethod
    def parse(cls, near: Any) -> NearQuestion | None:
        """Check a `near`; raise InvalidArgument for what is none. Empty is None."""
        if not near:
            return None
        unknown = sorted(set(near) - set(_KEYS))
        if unknown:
            raise InvalidArgument(
                f'near has no key {format_value(unknown[0])}{suggest(unknown[0], _KEYS)}; '
                f'accepted: {", ".join(_KEYS)}'
            )
        frame = _read_text(near, 'frame').lstrip('/')
        of = _read_of(near.get('of'))
        position = _read_position(near.get('position'))
        region = _read_text(near, 'in')
        if sum((position is not None, bool(of), bool(region))) != 1:
            raise InvalidArgument(f'near needs either position, of or in: {_FORM}')
        if region and (beside := [key for key in _NOT_OF_REGIONS if near.get(key) is not None]):
            raise InvalidArgument(
                f'near.in {format_value(region)} has a frame and a size of its own; leave out '
                f'{", ".join(beside)}'
            )
        if position is not None and not frame:
            raise InvalidArgument(
                f'near.position {format_value(near["position"])} needs near.frame, e.g. map: '
                'numbers without a frame are no place'
            )
        within = _read_number(near, 'within', 0.0, None)
        probability = _read_number(near, 'probability', 0.0, 1.0)
        if probability is not None and within is None and not region:
            raise InvalidArgument(
                'near.probability needs near.within, the radius in metres, or near.in, a region'
            )
        source = near.get('source')
        return cls(
            frame,
            position,
            of,
            _read_text(near, 'at'),
            within,
            probability,
            None if source is None else _read_text(near, 'source'),
            region,
        )


def parse_area(near: Any) -> NearQuestion | None:
    """Check a `near` of a tool that does not rank: it needs a radius."""
    found = NearQuestion.parse(near)
    if found is not None and found.within is None and not found.region:
        raise InvalidArgument(
            'near.within, the radius in metres, or near.in, a region, is required here: this tool '
            'does not order by distance; recall does'
        )
    return found


def _read_text(near: Mapping[str, Any], name: str) -> str:
    value = near.get(name, '')
    if value is None or isinstance(value, str):
        return (value or '').strip()
    raise InvalidArgument(f'near.{name} must be text, not {format_value(value)}')


def _read_of(value: Any) -> str:
    if isinstance(value, int) and not isinstance(value, bool) and value > 0:
        return f'mem_{value}'
    if value is None or isinstance(value, str):
        return (value or '').strip()
    raise InvalidArgument(
        f'near.of must be a memory (mem_12 or 12), a frame or an object, not {format_value(value)}'
    )


def _read_position(value: Any) -> tuple[float, float, float] | None:
    if value is None:
        return None
    point = read_point(value)
    numbers = [parse_finite(x) for x in point] if isinstance(point, list) else []
    found = [x for x in numbers if x is not None]
    if len(found) != 3 or len(numbers) != 3:
        raise InvalidArgument(
            f'near.position must be three finite numbers in metres, not {format_value(value)}'
        )
    return found[0], found[1], found[2]


def _read_amount(given: Any, unit: str) -> float | None:
    """Return a number, also from a text such as '50 cm' or '0.5', in a unit."""
    if isinstance(given, str):
        number, named = parse_quantity(given.strip()) or (None, '')
        return None if number is None else convert(number, named or unit, unit)
    return None if isinstance(given, bool) else parse_finite(given)


def _read_number(
    near: Mapping[str, Any], name: str, least: float, most: float | None
) -> float | None:
    given = near.get(name)
    if given is None:
        return None
    found = _read_amount(given, 'm' if most is None else '')
    if found is None or found < least or (most is not None and found > most):
        wanted = f'{least:g} or more (metres)' if most is None else f'{least:g} to {most:g}'
        raise InvalidArgument(f'near.{name} must be {wanted}, not {format_value(given)}')
    return found

"""Limits that a fact states in its context: `limits`, in place of its words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from robot_memory.core.amounts import is_unit
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value, parse_finite
from robot_memory.text.categories import CONSTRAINT, Classification

_KEYS = {'param', 'min', 'max', 'unit', 'when'}
_FORM = (
    'context.limits must be a list such as [{"param": "speed", "max": 0.5, "unit": "m/s", "when": '
    '"people are near"}], with min, max or both; unit and when are optional'
)


def states_limits(context: Mapping[str, Any]) -> bool:
    """Say whether a context states limits; raise InvalidArgument for those of another form."""
    stated = context.get('limits')
    if stated is None:
        return False
    if not isinstance(stated, list) or not stated:
        raise InvalidArgument(f'{_FORM}; not {format_value(stated)}')
    for one in stated:
        _check(one)
    return True


def _check(one: Any) -> None:
    if not isinstance(one, dict) or not set(one) <= _KEYS:
        raise InvalidArgument(f'{_FORM}; not {format_value(one)}')
    texts = {name: one.get(name, '') for name in ('param', 'unit', 'when')}
    if not all(isinstance(text, str) for text in texts.values()) or not texts['param']:
        raise InvalidArgument(f'{_FORM}; not {format_value(one)}')
    if not is_unit(texts['unit']):
        raise InvalidArgument(
            f'context.limits has the unknown unit {format_value(texts["unit"])}; write N, m/s, '
            'deg or another that is known'
        )
    ends = [one[name] for name in ('min', 'max') if one.get(name) is not None]
    if not ends or any(parse_finite(end) is None for end in ends):
        raise InvalidArgument(f'{_FORM}, finite numbers; not {format_value(one)}')
    if len(ends) == 2 and ends[0] > ends[1]:
        raise InvalidArgument(f'context.limits has min above max: {format_value(one)}')


def make_constraint(found: Classification) -> Classification:
    """Return a classification as that of a constraint."""
    tags = tuple(tag for tag in found.tags if tag not in (found.category, CONSTRAINT))
    return replace(found, category=CONSTRAINT, tags=(CONSTRAINT, *tags))

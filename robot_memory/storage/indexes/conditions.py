"""
The filter language: conditions as objects of field to value, or to {operator: value}.

An object without operators asks for its members: {"task": {"success": true}} is
{"task.success": true}. After $eq it compares as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

OPERATORS = ('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin')
COMPARISONS = {'$gt': '>', '$gte': '>=', '$lt': '<', '$lte': '<='}
_WITHOUT_SIGN = frozenset(operator[1:] for operator in OPERATORS)
MAX_CONDITIONS = 10
MAX_LIST = 1000


def flatten_conditions(
    name: str, conditions: Mapping[str, Any], fields: Collection[str] = ()
) -> dict[str, Any]:
    """
    Return conditions with objects without operators as dotted paths.

    `fields` have no members: what they are compared with stays, and so does what seems meant as
    operators (lt, <). Raise InvalidArgument where two say the same of one path.
    """
    found: dict[str, Any] = {}
    waiting = list(conditions.items())[::-1]
    while waiting:
        path, condition = waiting.pop()
        is_object = isinstance(condition, dict) and bool(condition)
        if is_object and path[:1] != '$' and path not in fields and not _may_operate(condition):
            waiting += [(f'{path}.{key}', one) for key, one in reversed(condition.items())]
        elif path not in found:
            found[path] = condition
        else:
            first, second = (read_operators(name, path, one) for one in (found[path], condition))
            twice = first.keys() & second.keys()
            if twice:
                raise InvalidArgument(
                    f'{name} has two conditions {min(twice)} on {format_value(path)}; of each '
                    'operator a field accepts one'
                )
            found[path] = first | second
    return found


def _may_operate(condition: Mapping[str, Any]) -> bool:
    """Say whether an object has operators, or what may be meant as one."""
    return any(
        key[:1] == '$' or key in _WITHOUT_SIGN or (key and not re.search(r'\w', key))
        for key in condition
    )


def parse_conditions(name: str, conditions: Mapping[str, Any]) -> list[tuple[str, str, Any]]:
    """
    Return the conditions of a flattened filter as field, operator and value; all hold together.

    `name` is the argument it came in, for messages. Raise InvalidArgument for more than 10
    conditions, an unknown operator, and a list that is none or too long.
    """
    found = [
        (path, operator, value)
        for path, condition in conditions.items()
        for operator, value in read_operators(name, path, condition).items()
    ]
    if len(found) > MAX_CONDITIONS:
        raise InvalidArgument(f'{name} has {len(found)} conditions; the limit is {MAX_CONDITIONS}')
    combined = [path for path in conditions if path.startswith('$')]
    if combined:
        raise InvalidArgument(
            f'{name} has the unknown operator {format_value(combined[0])} in place of a field '
            'name; conditions are combined with AND, and a field accepts '
            f'{", ".join(OPERATORS)}'
        )
    for path, operator, value in found:
        is_list = isinstance(value, list) and len(value) <= MAX_LIST
        if operator in ('$in', '$nin') and not is_list:
            raise InvalidArgument(
                f'{name}[{format_value(path)}]: {operator} requires a list of at most {MAX_LIST} '
                f'values, not {format_value(value)}'
            )
    return found


def read_operators(name: str, path: str, condition: Any) -> dict[str, Any]:
    """Return a condition as operators to values; refuse unknown ones."""
    if not isinstance(condition, dict) or not any(key.startswith('$') for key in condition):
        return {'$eq': condition}
    unknown = [key for key in condition if key not in OPERATORS]
    if unknown:
        raise InvalidArgument(
            f'{name}[{format_value(path)}] has the unknown operator {format_value(unknown[0])}; '
            f'accepted: {", ".join(OPERATORS)}'
        )
    return condition

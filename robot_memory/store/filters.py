"""
The one filter language, compiled to SQL: `context_filter` and `where` alike.

A filter is an object of field to value, or field to {operator: value}; all conditions hold
together. A field is one of the memory's own columns, or a dotted path into its context. Values
compare within their own JSON type, times as instants. A path that a memory does not have equals
null, differs from every value, and is neither less nor greater.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.clock import instant
from robot_memory.errors import InvalidArgument
from robot_memory.fields import dump_json, shown

OPERATORS = ('$eq', '$ne', '$gt', '$gte', '$lt', '$lte', '$in', '$nin')
_COMPARISONS = {'$gt': '>', '$gte': '>=', '$lt': '<', '$lte': '<='}
MAX_CONDITIONS = 10
MAX_LIST = 1000

_COLUMNS = {
    'record_id': "'mem_' || m.id",
    'memory_id': 'm.id',
    'id': 'm.id',
    'record_content': 'm.content',
    'content': 'm.content',
    'kind': 'm.type',
    **{
        name: f'm.{name}'
        for name in (
            'type category confidence status collection session_id actor_id event_id '
            'strategy_name perception_type access_count frame_id superseded_by'
        ).split()
    },
}
_TIMES = ('created_at', 'updated_at', 'last_accessed')


@dataclass(frozen=True)
class Where:
    """Hold an SQL condition over `memories m` and its values."""

    sql: str = '1'
    values: tuple[Any, ...] = ()

    def __and__(self, other: Where) -> Where:
        """Return the condition that both hold."""
        if self.sql == '1':
            return other
        if other.sql == '1':
            return self
        return Where(f'{self.sql} AND {other.sql}', self.values + other.values)


def equal(column: str, value: Any) -> Where:
    """Return the condition that a column of memories has a value."""
    return Where(f'm.{column} = ?', (value,))


def compile_filter(name: str, conditions: Mapping[str, Any]) -> Where:
    """
    Compile a filter; `name` is the argument it came in, for messages.

    Raise InvalidArgument for more than 10 conditions, an unknown operator, or a value that the
    operator cannot take.
    """
    where = Where()
    count = 0
    for path, condition in conditions.items():
        operators = condition if _has_operators(name, path, condition) else {'$eq': condition}
        for operator, value in operators.items():
            count += 1
            where &= _condition(f'{name}[{shown(path)}]', path, operator, value)
    if count > MAX_CONDITIONS:
        raise InvalidArgument(f'{name} has {count} conditions; at most {MAX_CONDITIONS} are taken')
    return where


def _has_operators(name: str, path: str, condition: Any) -> bool:
    """Say whether a condition is an object of operators; refuse unknown ones."""
    if not isinstance(condition, dict) or not any(key.startswith('$') for key in condition):
        return False
    unknown = [key for key in condition if key not in OPERATORS]
    if unknown:
        raise InvalidArgument(
            f'{name}[{shown(path)}] has the unknown operator {shown(unknown[0])}; '
            f'known are {", ".join(OPERATORS)}'
        )
    return True


def _condition(where: str, path: str, operator: str, value: Any) -> Where:
    """Compile one condition on a column, a time or a path into the context."""
    if operator in ('$in', '$nin'):
        return _membership(where, path, operator, value)
    if operator in ('$eq', '$ne'):
        same = _equality(where, path, value)
        if operator == '$eq':
            return same
        return Where(f'NOT coalesce({same.sql}, 0)', same.values)
    symbol = _COMPARISONS[operator]
    if path in _TIMES:
        return Where(f'm.{path} {symbol} ?', (_instant(where, value),))
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InvalidArgument(f'{where}: {operator} takes a number or a text, not {shown(value)}')
    if path in _COLUMNS:
        kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
        column = _COLUMNS[path]
        return Where(f'(typeof({column}) IN {kinds} AND {column} {symbol} ?)', (_bound(value),))
    place = json_path(where, path)
    kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return Where(
        f'(json_type(m.context, ?) IN {kinds} AND json_extract(m.context, ?) {symbol} ?)',
        (place, place, _bound(value)),
    )


def _membership(where: str, path: str, operator: str, values: Any) -> Where:
    """Compile $in and $nin: an empty list holds nothing."""
    if not isinstance(values, list) or len(values) > MAX_LIST:
        raise InvalidArgument(
            f'{where}: {operator} takes a list of at most {MAX_LIST} values, not {shown(values)}'
        )
    parts = [_equality(where, path, value) for value in values]
    sql = ' OR '.join(f'coalesce({part.sql}, 0)' for part in parts) or '0'
    bound = tuple(value for part in parts for value in part.values)
    return Where(f'({sql})' if operator == '$in' else f'NOT ({sql})', bound)


def _equality(where: str, path: str, value: Any) -> Where:
    """Compile equality within the JSON type of the value."""
    if path in _TIMES:
        return Where(f'm.{path} IS ?', (None if value is None else _instant(where, value),))
    if path in _COLUMNS:
        if isinstance(value, (dict, list)):
            raise InvalidArgument(f'{where}: {path} is compared with one value, not {shown(value)}')
        return Where(f'{_COLUMNS[path]} IS ?', (_bound(value),))
    place = json_path(where, path)
    if value is None:
        return Where("coalesce(json_type(m.context, ?), 'null') = 'null'", (place,))
    if isinstance(value, bool):
        return Where(f"json_type(m.context, ?) = '{str(value).lower()}'", (place,))
    if isinstance(value, (dict, list)):
        return Where(
            "(json_type(m.context, ?) IN ('object', 'array')"
            ' AND json_extract(m.context, ?) = json(?))',
            (place, place, dump_json(value)),
        )
    kinds = "('text')" if isinstance(value, str) else "('integer', 'real')"
    return Where(
        f'(json_type(m.context, ?) IN {kinds} AND json_extract(m.context, ?) = ?)',
        (place, place, _bound(value)),
    )


def json_path(where: str, path: str) -> str:
    """Return a dotted path as SQLite's JSON path; a whole number names an array's item."""
    steps = path.split('.')
    if not all(steps) or '"' in path or '\\' in path:
        raise InvalidArgument(
            f'{where}: {shown(path)} is not a path; write names joined by dots, as in task.success'
        )
    return '$' + ''.join(
        f'[{step}]' if step.isdecimal() and step.isascii() else f'."{step}"' for step in steps
    )


def _bound(value: Any) -> Any:
    """Return a value as SQLite can hold it: a whole number beyond 64 bits becomes a float."""
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        try:
            return float(value)
        except OverflowError:
            return float('inf') if value > 0 else float('-inf')
    return value


def _instant(where: str, value: Any) -> int:
    """Return a time of a condition in microseconds."""
    try:
        return instant(value)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise InvalidArgument(
            f'{where} must be a time in ISO 8601, as 2026-03-09T10:30:00Z, not {shown(value)}'
        ) from None

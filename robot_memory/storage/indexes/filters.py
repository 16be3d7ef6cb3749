"""
The one filter language, compiled to SQL: `context_filter` and `where` alike.

A filter is an object of field to value, or field to {operator: value}; all conditions hold
together. A field is one of the memory's own columns, or a dotted path into its context. Values
compare within their own JSON type, times as instants, arrays as a whole; of an object the members
compare, after $eq the whole. A path that a memory does not have equals null, differs from every
value, and is neither less nor greater.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import AUTHORITIES
from robot_memory.core.clock import parse_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.storage import epochs
from robot_memory.storage.indexes import confidences, facets
from robot_memory.storage.indexes.candidates import CandidateQuery, choose, restrict_to
from robot_memory.storage.indexes.column_candidates import IN, list_column_candidates
from robot_memory.storage.indexes.conditions import (
    COMPARISONS,
    flatten_conditions,
    parse_conditions,
    read_operators,
)

COLUMNS = {
    'record_id': "'mem_' || m.id",
    'memory_id': 'm.id',
    'id': 'm.id',
    'record_content': 'm.content',
    'content': 'm.content',
    'kind': 'm.type',
    'role': '(SELECT role FROM turns WHERE memory_id = m.id)',
    'turn_id': '(SELECT number FROM turns WHERE memory_id = m.id)',
    **{
        name: f'm.{name}'
        for name in (
            'type category confidence status collection session_id actor_id event_id '
            'strategy_name perception_type access_count frame_id superseded_by'
        ).split()
    },
}
"""SQL of the columns of memories `m` that a filter can name, but for times."""
STAMP = f'(m.stamp + iif(m.stamp_is_local, 1000 * {epochs.read_offset("m.created_epoch")}, 0))'
"""SQL of when a memory was measured, in nanoseconds; this host's stamps as is known now."""
_CREATED = epochs.correct('m.created_at', 'm.created_epoch')
TIMES = {
    'created_at': _CREATED,
    'updated_at': epochs.correct('m.updated_at', 'm.updated_epoch'),
    'last_accessed': epochs.correct('m.last_accessed', 'm.accessed_epoch'),
    'stamp': f'{STAMP} / 1000',
    'measured_at': f'{STAMP} / 1000',
    'occurred_at': f'coalesce({STAMP} / 1000, {_CREATED})',
}
"""SQL of the times of memories `m` in microseconds, as is known now."""


def _timed(index: str, column: str, epoch: str, scale: int = 1, also: str = '1') -> str:
    """
    Return as SQL the ids of times between two instants, which it binds thrice.

    Those of corrected epochs are looked up in their own clocks' span as well. No id comes twice,
    so that nothing has to be gathered before the first one is given.
    """
    rows = f'memories AS m INDEXED BY {index}'
    return (
        f'SELECT m.id FROM {rows} WHERE m.{column} BETWEEN ? AND ? AND {also} UNION ALL'
        f' SELECT m.id FROM clock_epochs AS e CROSS JOIN {rows}'
        f' ON m.{column} BETWEEN ? - {scale} * e.offset AND ? - {scale} * e.offset'
        f' AND m.{column} NOT BETWEEN ? AND ? AND m.{epoch} = e.id AND {also}'
        ' WHERE e.offset <> 0'
    )


_CREATED_BETWEEN = _timed('memories_by_time', 'created_at', 'created_epoch')
_CHANGED = 'm.updated_at <> m.created_at'
_TIME_CANDIDATES = {
    'created_at': _CREATED_BETWEEN,
    'updated_at': f'{_CREATED_BETWEEN} UNION ALL '
    + _timed('memories_by_change', 'updated_at', 'updated_epoch', also=_CHANGED),
    'last_accessed': _timed(
        'memories_by_access', 'last_accessed', 'accessed_epoch', also='m.last_accessed IS NOT NULL'
    ),
    'stamp': _timed(
        'memories_by_measurement', 'stamp', 'created_epoch', 1000, 'm.stamp IS NOT NULL'
    ),
}
_TIME_CANDIDATES['measured_at'] = _TIME_CANDIDATES['stamp']
_STORED_BETWEEN = _timed('memories_by_time', 'created_at', 'created_epoch', also='m.stamp IS NULL')
_LAST = 2**63 - 1
_TEXT = "('text')"
_NUMBER = "('integer', 'real')"
_CONTAINER = "('object', 'array')"


@dataclass(frozen=True)
class Where:
    """Hold an SQL condition over `memories m`, its values, and its candidate queries."""

    sql: str = '1'
    values: tuple[Any, ...] = ()
    candidates: tuple[CandidateQuery, ...] = ()

    def __and__(self, other: Where) -> Where:
        """Return the condition that both hold."""
        sql = ' AND '.join(part for part in (self.sql, other.sql) if part != '1')
        return Where(sql or '1', self.values + other.values, self.candidates + other.candidates)


ACTIVE = Where("m.status = 'active'")
"""The condition of what has neither been forgotten nor superseded."""


def among(ids: Sequence[int]) -> Where:
    """Return the condition that a memory is one of some."""
    return Where(f'm.id {IN}', (dump_json(list(ids)),), list_column_candidates('id', list(ids)))


def equal(column: str, value: Any) -> Where:
    """Return the condition that a column of memories has a value."""
    return Where(f'm.{column} = ?', (value,), list_column_candidates(column, [value]))


def at_most(authority: str) -> Where:
    """Return the condition that a memory stands on an authority or a lower one."""
    lower = AUTHORITIES[AUTHORITIES.index(authority) :]
    return Where(f'm.authority IN ({", ".join("?" * len(lower))})', lower)


def at_least(authority: str) -> Where:
    """Return the condition that a memory stands on an authority or a higher one."""
    higher = AUTHORITIES[: AUTHORITIES.index(authority) + 1]
    return Where(f'm.authority IN ({", ".join("?" * len(higher))})', higher)


def active_in(collection: str, min_confidence: float = 0.0) -> Where:
    """Return the condition of an active memory of a collection that is as sure as that."""
    values = (collection, min_confidence)
    sql = "status = 'active' AND collection = ? AND confidence >= ?"
    query = CandidateQuery(
        f'SELECT id FROM memories INDEXED BY memories_by_collection WHERE {sql}', values
    )
    return Where(
        "m.status = 'active' AND m.collection = ? AND m.confidence >= ?", values, (query,)
    )


def active_before_decay(collection: str, min_confidence: float) -> Where:
    """Return the condition of an active memory of a collection that once was as sure as that."""
    once = CandidateQuery(confidences.BEFORE_DECAY, (collection, min_confidence))
    return active_in(collection) & Where('m.confidence_base >= ?', (min_confidence,), (once,))


def find_few(connection: apsw.Connection, where: Where, most: int) -> list[int] | None:
    """Return the ids that pass, ascending; None if they are more, or no index leads to them."""
    query = choose(connection, where.candidates, 2 * most)
    if query is None:
        return None
    rows = connection.execute(
        f'SELECT m.id FROM {restrict_to(query)} AND {where.sql} ORDER BY m.id LIMIT ?',
        (*query.values, *where.values, most + 1),
    )
    found: list[int] = [row[0] for row in rows]
    return found if len(found) <= most else None


def is_of_memory(path: str) -> bool:
    """Say whether a field of a filter is the memory's own, whatever the occasion."""
    of_occasion = ('session_id', 'actor_id')
    return path not in of_occasion and (path in COLUMNS or path in TIMES)


def flatten_filter(name: str, conditions: Mapping[str, Any]) -> dict[str, Any]:
    """Return a filter of memories with dotted paths in place of objects."""
    return flatten_conditions(name, conditions, COLUMNS.keys() | TIMES.keys())


def compile_filter(name: str, conditions: Mapping[str, Any]) -> Where:
    """
    Compile a filter; `name` is the argument it came in, for messages.

    Raise InvalidArgument for more than 10 conditions, an unknown operator, or a value that the
    operator cannot take.
    """
    conditions = flatten_filter(name, conditions)
    found = parse_conditions(name, conditions)
    where = Where()
    for path, operator, value in found:
        where &= _condition(f'{name}[{format_value(path)}]', path, operator, value)
    for path, condition in conditions.items():
        where &= Where(candidates=_candidates(path, read_operators(name, path, condition)))
    return where


def _condition(where: str, path: str, operator: str, value: Any) -> Where:
    """Compile one condition on a column, a time or a path into the context."""
    if operator in ('$in', '$nin'):
        found = _any_of(where, path, value)
        return found if operator == '$in' else Where(f'NOT {found.sql}', found.values)
    if operator in ('$eq', '$ne'):
        same = _any_of(where, path, [value])
        return same if operator == '$eq' else Where(f'NOT {same.sql}', same.values)
    symbol = COMPARISONS[operator]
    if path in TIMES:
        return Where(f'{TIMES[path]} {symbol} ?', (_instant(where, value),))
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise InvalidArgument(
            f'{where}: {operator} requires a number or a string, not {format_value(value)}'
        )
    kind, column, places = _operand(where, path)
    kinds = _TEXT if isinstance(value, str) else _NUMBER
    return Where(f'({kind} IN {kinds} AND {column} {symbol} ?)', (*places, *places, _bound(value)))


def _operand(where: str, path: str) -> tuple[str, str, tuple[str, ...]]:
    """Return the SQL of a field's type and of its value, and what each of them binds."""
    if path in COLUMNS:
        return f'typeof({COLUMNS[path]})', COLUMNS[path], ()
    return 'json_type(m.context, ?)', 'json_extract(m.context, ?)', (json_path(where, path),)


def _candidates(path: str, operators: dict[str, Any]) -> tuple[CandidateQuery, ...]:
    """Return the candidate queries of checked operators on a path."""
    if path == 'confidence':
        return confidences.list_candidates(operators)
    if path in COLUMNS:
        among = operators.get('$in', [operators['$eq']] if '$eq' in operators else [None])
        return list_column_candidates(path, among)
    if path in TIMES:
        return _time_candidates(path, operators)
    bounds = {key: _bound(value) for key, value in operators.items() if key in COMPARISONS}
    query = facets.make_candidate_query(path, {**operators, **bounds})
    return () if query is None else (query,)


def _time_candidates(path: str, operators: dict[str, Any]) -> tuple[CandidateQuery, ...]:
    """Return the candidate query of the time span that the operators leave, if they do."""
    low, high = -_LAST, _LAST
    for operator, value in operators.items():
        values = value if operator in ('$in', '$nin') else [value]
        times = [parse_instant(text) for text in values if text is not None]
        if not times or len(times) < len(values) or operator in ('$ne', '$nin'):
            continue
        if operator not in ('$lt', '$lte'):
            low = max(low, min(times))
        if operator not in ('$gt', '$gte'):
            high = min(high, max(times))
    if (low, high) == (-_LAST, _LAST):
        return ()
    stored = CandidateQuery(_STORED_BETWEEN, (low, high) * (_STORED_BETWEEN.count('?') // 2))
    if path in ('stamp', 'measured_at', 'occurred_at'):
        low, high = (max(-_LAST, min(time * 1000, _LAST)) for time in (low, high + 1))
    if path == 'occurred_at':
        measured = find_between('stamp', low, high)
        sql = f'{measured.sql} UNION ALL {stored.sql}'
        return (CandidateQuery(sql, measured.values + stored.values),)
    return (find_between(path, low, high),)


def find_between(path: str, low: int, high: int) -> CandidateQuery:
    """Return the candidate query of a span of times: stamps in nanoseconds, else microseconds."""
    sql = _TIME_CANDIDATES[path]
    return CandidateQuery(sql, (low, high) * (sql.count('?') // 2))


def _any_of(where: str, path: str, values: list[Any]) -> Where:
    """
    Compile equality with any of the values, each within its own JSON type; never NULL.

    The values of a type are one bound list, so that many of them nest no deeper than one.
    """
    nulls = any(value is None for value in values)
    if path in TIMES:
        instants = [_instant(where, value) for value in values if value is not None]
        column = TIMES[path]
        among = f'{column} IN (SELECT value FROM json_each(?))'
        sql = f'(CASE WHEN {column} IS NULL THEN {nulls:d} ELSE {among} END)'
        return Where(sql, (dump_json(instants),))
    kind, column, places = _operand(where, path)
    parts = [Where('0')]
    if nulls:
        parts.append(Where(f"coalesce({kind}, 'null') = 'null'", places))
    for truth in (True, False):
        if any(value is truth for value in values):
            parts.append(Where(f"{kind} = '{str(truth).lower()}'", places))
    for kinds, types in ((_TEXT, (str,)), (_NUMBER, (int, float)), (_CONTAINER, (dict, list))):
        listed = [
            value for value in values if isinstance(value, types) and not isinstance(value, bool)
        ]
        if listed:
            if kinds is _CONTAINER and path in COLUMNS:
                raise InvalidArgument(
                    f'{where}: {path} requires a single value, not {format_value(listed[0])}; for '
                    'any of several use {"$in": [...]}'
                )
            among, bound = 'IN (SELECT value FROM json_each(?))', dump_json(listed)
            if len(listed) == 1 and kinds is not _CONTAINER and '\\' not in bound:
                among, bound = '= ?', _bound(listed[0])  # compared in half the time
            sql = f'({kind} IN {kinds} AND +{column} {among})'
            parts.append(Where(sql, (*places, *places, bound)))
    sql = ' OR '.join(part.sql for part in parts)
    values_bound = tuple(value for part in parts for value in part.values)
    return Where(f'coalesce({sql}, 0)', values_bound)


def json_path(where: str, path: str) -> str:
    """Return a dotted path as SQLite's JSON path; a whole number names an array's item."""
    steps = path.split('.')
    if not all(steps) or '"' in path or '\\' in path:
        raise InvalidArgument(
            f'{where}: {format_value(path)} is not a valid path; join names with dots, e.g. '
            'task.success'
        )
    return '$' + ''.join(
        f'[{step}]' if facets.INDEX.fullmatch(step) else f'."{step}"' for step in steps
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
        return parse_instant(value)
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise InvalidArgument(
            f'{where} must be an ISO 8601 time, e.g. 2026-03-09T10:30:00Z, not '
            f'{format_value(value)}'
        ) from None


def in_session(session_id: str | None) -> Where:
    """Return the condition that a memory belongs to a session, or (None) to no session."""
    return Where('m.session_id IS NULL') if session_id is None else equal('session_id', session_id)


def not_in_session(session_id: str) -> Where:
    """Return the condition that a memory belongs to another session, or to none."""
    return Where('m.session_id IS NOT ?', (session_id,))


def with_session() -> Where:
    """Return the condition that a memory belongs to a session."""
    return Where('m.session_id IS NOT NULL')

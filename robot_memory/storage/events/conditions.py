"""Which events are meant: a filter and a window, compiled to SQL over `events AS e`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import apsw

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import dump_json, format_value
from robot_memory.storage.events.fields import (
    FARTHEST,
    TEXTS,
    TIMES,
    Fields,
    Measure,
    read_number,
    to_nanoseconds,
)
from robot_memory.storage.indexes.conditions import (
    COMPARISONS,
    flatten_conditions,
    parse_conditions,
)

_LISTED = 'SELECT value FROM json_each(?)'
ReadTime = Callable[[str, Any], int]
"""Return the instant of a condition in microseconds; the first argument names it."""


@dataclass(frozen=True)
class Selection:
    """
    Hold which events are meant.

    `sql` with `values` is exact, except that `kinds` (None: any) has to hold as well. In
    nanoseconds of corrected time: they overlap `since` to `until`, and their onset is at least
    `low` and under `high`; None is unbounded.
    """

    fields: Fields
    sql: tuple[str, ...] = ()
    values: tuple[Any, ...] = ()
    kinds: frozenset[int] | None = None
    since: int | None = None
    until: int | None = None
    low: int | None = None
    high: int | None = None

    def require(self, sql: str, *values: Any) -> Selection:
        """Return the selection with a further condition."""
        return replace(self, sql=(*self.sql, sql), values=(*self.values, *values))

    def of_kinds(self, kinds: frozenset[int]) -> Selection:
        """Return the selection of those that are of one of the kinds."""
        return replace(self, kinds=kinds if self.kinds is None else self.kinds & kinds)

    def of_memories(self, ids: Sequence[int]) -> Selection:
        """Return the selection of the events of some memories."""
        return self.require(f'e.memory_id IN ({_LISTED})', dump_json(list(ids)))

    def in_frame(self, frame_id: int) -> Selection:
        """Return the selection of those whose place is in a frame of `placements`."""
        placed = 'SELECT memory_id FROM placed WHERE frame_id = ?'
        return self.require(f'e.memory_id IN ({placed})', frame_id)

    def having(self, measure: Measure) -> Selection:
        """Return the selection of those that have a figure."""
        chosen = self.of_kinds(frozenset(measure.columns)) if measure.columns else self
        return chosen.require(f'{measure.sql_of_kinds} IS NOT NULL')


def select(
    connection: apsw.Connection,
    where: Mapping[str, Any],
    since: int | None,
    until: int | None,
    read_time: ReadTime,
) -> Selection:
    """
    Compile a filter and a window in nanoseconds.

    Raise InvalidArgument for fields and figures that there are not, values that a field cannot
    have, and a window that ends before it begins.
    """
    if since is not None and until is not None and until <= since:
        raise InvalidArgument('until must be after since; the window ends before it begins')
    fields = Fields.read(connection)
    chosen = Selection(fields, since=since, until=until)
    found = parse_conditions('where', flatten_conditions('where', where))
    for path, operator, value in found:  # what is of a kind has its figures
        if path == 'kind' and operator in ('$eq', '$in'):
            names = value if operator == '$in' else [value]
            chosen = chosen.of_kinds(fields.find_kinds('where["kind"]', names))
    for path, operator, value in found:
        chosen = _add(connection, chosen, path, operator, value, read_time)
    if chosen.low is not None and chosen.high is not None and chosen.high <= chosen.low:
        raise InvalidArgument('where["onset"] must be a window that ends after it begins')
    for time, sign, bound in (('onset', '<', until), ('end', '>=', since)):
        if bound is not None:
            sql = f'{fields.time(time)} {sign} ?'
            chosen = chosen.require(f'(e."end" IS NULL OR {sql})' if sign == '>=' else sql, bound)
    return chosen


def _add(
    connection: apsw.Connection,
    chosen: Selection,
    path: str,
    operator: str,
    value: Any,
    read_time: ReadTime,
) -> Selection:
    where = f'where[{format_value(path)}]'
    negated = operator in ('$ne', '$nin')
    values = value if operator in ('$in', '$nin') else [value]
    if path in TEXTS:
        if path == 'kind':
            if not negated and operator not in COMPARISONS:
                return chosen
            if negated:
                chosen.fields.find_kinds(where, values)
        return _add_text(connection, chosen, where, path, operator, values, negated)
    if path in TIMES:
        return _add_time(chosen, where, path, operator, values, negated, read_time)
    if path in ('memory_id', 'event_id'):
        column = 'memory_id' if path == 'memory_id' else 'id'
        ids = [_read_id(where, one) for one in values]
        return _add_numbers(chosen, where, f'e.{column}', operator, ids, negated)
    if path == 'broken_off':
        if operator in COMPARISONS or any(not isinstance(one, bool) for one in values):
            raise InvalidArgument(f'{where} must be true or false, not {format_value(value)}')
        flags = [int(one) for one in values]
        return _add_numbers(chosen, where, 'e.broken_off', operator, flags, negated)
    measure = chosen.fields.find_measure(path, chosen.kinds, values)
    numbers = [None if one is None else read_number(where, measure, one) for one in values]
    if measure.columns and not negated and None not in numbers:
        chosen = chosen.of_kinds(frozenset(measure.columns))
    return _add_numbers(chosen, where, measure.sql, operator, numbers, negated)


def _read_id(where: str, value: Any) -> int | None:
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= FARTHEST:
        return value
    raise InvalidArgument(f'{where} must be an id, not {format_value(value)}')


def _add_numbers(
    chosen: Selection, where: str, sql: str, operator: str, values: list[Any], negated: bool
) -> Selection:
    if operator in COMPARISONS:
        if values[0] is None:
            raise InvalidArgument(f'{where}: {operator} requires a value, not None')
        return chosen.require(f'{sql} {COMPARISONS[operator]} ?', values[0])
    return _add_list(chosen, sql, _LISTED, values, negated)


def _add_text(
    connection: apsw.Connection,
    chosen: Selection,
    where: str,
    path: str,
    operator: str,
    values: list[Any],
    negated: bool,
) -> Selection:
    for value in values:
        if not (isinstance(value, str) or (value is None and operator not in COMPARISONS)):
            raise InvalidArgument(f'{where} must be text, not {format_value(value)}')
    column = f'e.{TEXTS[path]}'
    among = 'SELECT id FROM event_names WHERE name'
    if operator in COMPARISONS:
        return chosen.require(f'{column} IN ({among} {COMPARISONS[operator]} ?)', values[0])
    return _add_list(chosen, column, f'{among} IN ({_LISTED})', values, negated)


def _add_list(
    chosen: Selection, sql: str, among: str, values: list[Any], negated: bool
) -> Selection:
    """Require a value of the query `among`, which binds the list; NULL where that is listed."""
    listed = dump_json([one for one in values if one is not None])
    same = f'{sql} IN ({among})'
    if None in values:
        same = f'({sql} IS NULL OR {same})'
    return chosen.require(f'{"NOT " * negated}coalesce({same}, 0)', listed)


def _add_time(
    chosen: Selection,
    where: str,
    path: str,
    operator: str,
    values: list[Any],
    negated: bool,
    read_time: ReadTime,
) -> Selection:
    """Add a condition on a time, which compares as instants in microseconds."""
    column = TIMES[path]
    time = chosen.fields.time(column)
    if operator in COMPARISONS:
        instant = read_time(where, values[0])
        low, after = to_nanoseconds(instant), to_nanoseconds(instant + 1)
        sign, bound = {
            '$gt': ('>=', after),
            '$gte': ('>=', low),
            '$lt': ('<', low),
            '$lte': ('<', after),
        }[operator]
        if column == 'onset':
            if sign == '>=':
                chosen = replace(chosen, low=max(bound, chosen.low or bound))
            else:
                high = bound if chosen.high is None else min(bound, chosen.high)
                chosen = replace(chosen, high=high)
        return chosen.require(f'{time} {sign} ?', bound)
    parts, bounds = ['0'], []
    for value in values:
        if value is None:
            parts.append(f'{time} IS NULL')
        else:
            instant = read_time(where, value)
            parts.append(f'({time} >= ? AND {time} < ?)')
            bounds += [to_nanoseconds(instant), to_nanoseconds(instant + 1)]
    sql = f'coalesce({" OR ".join(parts)}, 0)'
    return chosen.require(f'{"NOT " * negated}{sql}', *bounds)

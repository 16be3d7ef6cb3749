"""
Filters on occasions: a memory passes where one of its occasions passes all of a filter.

Its occasions are its own statement and its observations. What a filter says of context, session
and speaker is of the occasion; all else is of the memory. Of places the latest alone counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.storage.indexes.candidates import CandidateQuery
from robot_memory.storage.indexes.conditions import parse_conditions
from robot_memory.storage.indexes.filters import (
    Where,
    compile_filter,
    equal,
    flatten_filter,
    is_of_memory,
)

_OF_OCCASION = ('context', 'session_id', 'actor_id')
_STANDING = 'o.memory_id = m.id AND o.ended_by IS NULL'
_PLACED = "o.newer AND json_type(o.context, '$.spatial') IS NOT NULL"
_MOVED = f'EXISTS (SELECT 1 FROM observations AS o WHERE {_STANDING} AND {_PLACED}'
_SAID = 'SELECT memory_id AS id FROM observations WHERE {} IN (SELECT value FROM json_each(?))'


@dataclass(frozen=True)
class Occasion:
    """Hold what an occasion must pass, as SQL over `memories m`; `has_place`: a place, too."""

    where: Where
    has_place: bool

    @property
    def own(self) -> str:
        """Return as SQL the condition on the memory's own statement."""
        return f'({self.where.sql} AND NOT {_MOVED}))' if self.has_place else self.where.sql

    @property
    def observed(self) -> str:
        """Return as SQL the condition on an observation `o` of the memory."""
        sql = self.where.sql
        for column in _OF_OCCASION:
            sql = sql.replace(f'm.{column}', f'o.{column}')
        if not self.has_place:
            return f'{_STANDING} AND {sql}'
        later = _MOVED.replace('o.', 'l.').replace('AS o', 'AS l')
        return f'{_STANDING} AND o.newer AND {sql} AND NOT {later} AND l.id > o.id)'

    @property
    def restriction(self) -> Where:
        """Return the condition that one occasion of a memory passes."""
        sql = f'({self.own} OR EXISTS (SELECT 1 FROM observations AS o WHERE {self.observed}))'
        return Where(sql, self.where.values * 2, self.where.candidates)


def compile_occasions(
    name: str,
    conditions: Mapping[str, Any],
    *,
    session_id: str | None = None,
    actor_id: str | None = None,
) -> tuple[Where, Occasion | None]:
    """
    Compile a filter with what is asked of session and speaker.

    Return the condition on memories, and what one occasion must pass; None where nothing is asked
    of it. Raise InvalidArgument as `compile_filter` does.
    """
    if not conditions and session_id is None and actor_id is None:
        return Where(), None
    conditions = flatten_filter(name, conditions)
    parse_conditions(name, conditions)
    of_memory = {path: one for path, one in conditions.items() if is_of_memory(path)}
    of_occasion = {path: one for path, one in conditions.items() if path not in of_memory}
    passing = _widen(compile_filter(name, of_occasion))
    if session_id is not None:
        passing &= _widen(equal('session_id', session_id))
    if actor_id is not None:
        passing &= _widen(equal('actor_id', actor_id))
    where = compile_filter(name, of_memory)
    if passing.sql == '1':
        return where, None
    has_place = any(path.partition('.')[0] == 'spatial' for path in of_occasion)
    occasion = Occasion(passing, has_place)
    return where & occasion.restriction, occasion


def _widen(where: Where) -> Where:
    """Have the candidates by session and speaker lead to what was said again, too."""
    found = []
    for query in where.candidates:
        columns = [name for name in ('session_id', 'actor_id') if f'WHERE {name} IN' in query.sql]
        for name in columns:
            also = _SAID.format(name)
            query = CandidateQuery(f'{query.sql} UNION {also}', query.values * 2)
        found.append(query)
    return Where(where.sql, where.values, tuple(found))

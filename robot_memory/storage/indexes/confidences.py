"""Which memories a condition on confidence may let pass, by indexes, and what has decayed."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.storage.indexes.candidates import CandidateQuery

_ACTIVE = "INDEXED BY memories_by_collection WHERE status = 'active'"
_BETWEEN = (
    'WITH RECURSIVE found (name) AS ('
    f'SELECT min(collection) FROM memories {_ACTIVE} UNION ALL'
    f' SELECT (SELECT min(collection) FROM memories {_ACTIVE} AND collection > found.name)'
    ' FROM found WHERE found.name IS NOT NULL)'
    ' SELECT m.id FROM found CROSS JOIN memories AS m INDEXED BY memories_by_collection'
    " ON m.status = 'active' AND m.collection = found.name AND m.confidence BETWEEN ? AND ?"
    ' UNION ALL'
    " SELECT id FROM memories INDEXED BY memories_ended WHERE status <> 'active'"
)
"""The index begins with the collection, so that each is looked into; what ended is in none."""
BEFORE_DECAY = (
    'SELECT id FROM memories INDEXED BY memories_before_decay'
    " WHERE status = 'active' AND collection = ? AND confidence_base >= ?"
)
"""SQL of the active memories of a collection that once were as sure as that."""
_FEW = 100
"""Memories that are looked at one by one, to tell whether any has decayed too far."""


def list_candidates(operators: Mapping[str, Any]) -> tuple[CandidateQuery, ...]:
    """Return the candidate query of checked operators on confidence, if they bound it."""
    low, high = -math.inf, math.inf
    for operator, value in operators.items():
        values = value if operator == '$in' else [value]
        if operator in ('$ne', '$nin') or not values or not all(map(_is_number, values)):
            continue
        if operator in ('$gt', '$gte', '$eq', '$in'):
            low = max(low, _bound(min(values)))
        if operator in ('$lt', '$lte', '$eq', '$in'):
            high = min(high, _bound(max(values)))
    if (low, high) == (-math.inf, math.inf):
        return ()
    return (CandidateQuery(_BETWEEN, (low, high)),)


def has_faded(connection: apsw.Connection, collection: str, least: float) -> bool:
    """
    Say whether memories of a collection may have decayed below a confidence.

    That is certain where few are below it now, or where few were above it once.
    """
    below = (
        'memories INDEXED BY memories_by_collection'
        " WHERE status = 'active' AND collection = ? AND confidence < ?"
    )
    row = connection.execute(f'SELECT 1 FROM {below} LIMIT 1', (collection, least)).fetchone()
    if row is None:
        return False
    above = BEFORE_DECAY.removeprefix('SELECT id FROM ')
    for source, other in ((above, 'confidence < ?'), (below, 'confidence_base >= ?')):
        ((number, faded),) = connection.execute(
            f'SELECT count(*), total({other}) FROM (SELECT confidence, confidence_base'
            f' FROM {source} LIMIT {_FEW})',
            (least, collection, least),
        )
        if number < _FEW:
            return bool(faded)
    return True


def find_range(connection: apsw.Connection, collection: str) -> tuple[float, float] | None:
    """Return the least and the greatest confidence of active memories; None: there are none."""
    least, most = (
        connection.execute(
            'SELECT confidence FROM memories INDEXED BY memories_by_collection'
            f" WHERE status = 'active' AND collection = ? ORDER BY confidence {order} LIMIT 1",
            (collection,),
        ).fetchone()
        for order in ('ASC', 'DESC')
    )
    return None if least is None or most is None else (least[0], most[0])


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _bound(value: float) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf

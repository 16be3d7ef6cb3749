"""
What values there are, for an answer that is empty: columns, contexts, positions, sessions.

A survey looks at no more than `MOST` rows of each, so that it takes milliseconds at any size; what
it counts beyond that is a lower bound.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import apsw

from robot_memory.core.clock import parse_instant
from robot_memory.storage import epochs
from robot_memory.storage.indexes import facets, indexed, partitions
from robot_memory.storage.indexes.candidates import choose, restrict_to
from robot_memory.storage.indexes.conditions import COMPARISONS
from robot_memory.storage.indexes.filters import (
    COLUMNS,
    TIMES,
    Where,
    compile_filter,
    in_session,
    json_path,
)

MOST = 10_000
_SHOWN = 5


def count_collections(connection: apsw.Connection) -> Counter[str]:
    """Return how many active memories each collection has."""
    found: Counter[str] = Counter()
    for partition, count in indexed.sizes(connection).items():
        found[partitions.collection_of(partition)] += count
    return found


def count_some(connection: apsw.Connection, where: Where) -> int:
    """Return how many memories pass, `MOST` where there are as many or more."""
    source, values = _find_source(connection, where)
    ((number,),) = connection.execute(
        f'SELECT count(*) FROM (SELECT 1 FROM {source} LIMIT {MOST})', values
    )
    return int(number)


def _find_source(connection: apsw.Connection, where: Where) -> tuple[str, tuple[Any, ...]]:
    """
    Return as SQL, with its values, the memories `m` that pass.

    Where no index gives few, all are looked at by id: the first that pass are soon found.
    """
    query = choose(connection, where.candidates, MOST)
    if query is None:
        return f'memories AS m NOT INDEXED WHERE {where.sql}', where.values
    return f'{restrict_to(query)} AND {where.sql}', (*query.values, *where.values)


def find_highest_confidence(connection: apsw.Connection, where: Where) -> float | None:
    """Return the highest confidence of the memories that pass, None where none does."""
    ((highest,),) = connection.execute(
        'SELECT max(confidence) FROM'
        f' (SELECT m.confidence FROM memories AS m WHERE {where.sql} LIMIT {MOST})',
        where.values,
    )
    return None if highest is None else float(highest)


def count_column(connection: apsw.Connection, column: str, where: Where) -> list[tuple[Any, int]]:
    """Return the commonest values of a column among the newest memories that pass."""
    source, values = _find_source(connection, where)
    rows = connection.execute(
        f'SELECT value, count(*) FROM (SELECT {COLUMNS[column]} AS value FROM {source}'
        f' ORDER BY m.id DESC LIMIT {MOST}) WHERE value IS NOT NULL'
        f' GROUP BY value ORDER BY 2 DESC, 1 LIMIT {_SHOWN}',
        values,
    )
    return [(value, count) for value, count in rows]


def find_column_range(
    connection: apsw.Connection, column: str, where: Where
) -> tuple[float, float]:
    """Return the least and the greatest number of a column among the newest that pass."""
    source, values = _find_source(connection, where)
    ((least, most),) = connection.execute(
        f'SELECT min(value), max(value) FROM (SELECT {COLUMNS[column]} AS value FROM {source}'
        f' ORDER BY m.id DESC LIMIT {MOST})',
        values,
    )
    return least, most


def find_span(connection: apsw.Connection, name: str, where: Where) -> tuple[int, int] | None:
    """Return the first and the last of a time in microseconds among the newest that pass."""
    source, values = _find_source(connection, where)
    rows = connection.execute(
        f'SELECT min(at), max(at) FROM (SELECT {TIMES[name]} AS at FROM {source}'
        f' ORDER BY m.id DESC LIMIT {MOST})',
        values,
    )
    ((first, last),) = rows
    return None if first is None else (int(first), int(last))


def has_occurred(
    connection: apsw.Connection,
    where: Where,
    since: str,
    until: str,
    session_id: str | None,
) -> bool:
    """
    Say whether a memory that passes occurred in a span of time, or was said again in it.

    The ends are ISO 8601, '' is open; with a session, it was in that one.
    """
    ends = {operator: end for operator, end in (('$gte', since), ('$lt', until)) if end}
    own = where & compile_filter('occurred_at', {'occurred_at': ends} if ends else {})
    if session_id is not None:
        own &= in_session(session_id)
    if count_some(connection, own):
        return True
    at = f'coalesce(o.stamp / 1000, {epochs.correct("o.at", "o.epoch")})'
    tests = [f'{at} {COMPARISONS[operator]} ?' for operator in ends]
    sql = ' AND '.join(['o.ended_by IS NULL', *tests])
    values: tuple[Any, ...] = tuple(parse_instant(end) for end in ends.values())
    if session_id is not None:
        sql, values = f'{sql} AND o.session_id = ?', (*values, session_id)
    row = connection.execute(
        'SELECT 1 FROM observations AS o CROSS JOIN memories AS m ON m.id = o.memory_id'
        f' WHERE {sql} AND {where.sql} LIMIT 1',
        (*values, *where.values),
    ).fetchone()
    return row is not None


def list_paths(connection: apsw.Connection) -> list[str]:
    """Return the dotted paths of all texts, numbers and truth values in contexts, not in lists."""
    return facets.list_names(connection)


def count_values(
    connection: apsw.Connection, path: str, where: Where
) -> tuple[int, list[tuple[Any, int]]]:
    """
    Return how many memories that pass have a value at a path, and the commonest values.

    Truth values are True and False; of long texts there is the beginning.
    """
    rows: list[Any] = connection.execute(
        'SELECT f.value, count(*) FROM (SELECT value, memory_id FROM facets WHERE path_id ='
        f' (SELECT id FROM facet_paths WHERE path = ?) LIMIT {MOST}) AS f'
        f' CROSS JOIN memories AS m ON m.id = f.memory_id WHERE {where.sql}'
        ' GROUP BY f.value ORDER BY 2 DESC, 1',
        (path, *where.values),
    ).fetchall()
    values = [
        (value == b'\x01' if isinstance(value, bytes) else value, count) for value, count in rows
    ]
    return sum(count for _, count in values), values[:_SHOWN]


def count_texts(connection: apsw.Connection, path: str, where: Where) -> int:
    """Return how many of the memories that pass, and that `count_values` counts, have a text."""
    ((number,),) = connection.execute(
        'SELECT count(*) FROM (SELECT value, memory_id FROM facets WHERE path_id ='
        f' (SELECT id FROM facet_paths WHERE path = ?) LIMIT {MOST}) AS f'
        " CROSS JOIN memories AS m ON m.id = f.memory_id WHERE typeof(f.value) = 'text'"
        f' AND {where.sql}',
        (path, *where.values),
    )
    return int(number)


def find_range(connection: apsw.Connection, path: str) -> tuple[float, float] | None:
    """Return the least and the greatest number at a path of contexts, None where none is."""
    at_path = 'FROM facets WHERE path_id = (SELECT id FROM facet_paths WHERE path = ?1)'
    at_path += " AND value < ''"
    # Either is at one end of the index; asked for together they are looked for in all of it.
    ((least, most),) = connection.execute(
        f'SELECT (SELECT min(value) {at_path}), (SELECT max(value) {at_path})', (path,)
    )
    return None if least is None else (least, most)


def has_path(connection: apsw.Connection, path: str, where: Where) -> bool:
    """Say whether any of the newest memories that pass has a value of any kind at a path."""
    source, values = _find_source(connection, where)
    row = connection.execute(
        f'SELECT 1 FROM (SELECT m.context FROM {source} ORDER BY m.id DESC LIMIT {MOST})'
        ' WHERE json_type(context, ?) IS NOT NULL LIMIT 1',
        (*values, json_path('field', path)),
    ).fetchone()
    return row is not None


def count_positions(connection: apsw.Connection, collection: str) -> Counter[str]:
    """Return how many positions a collection has at each dotted path."""
    rows = connection.execute(
        'SELECT path, (SELECT count(*) FROM'
        f' (SELECT 1 FROM places WHERE path_id = p.id LIMIT {MOST}))'
        " FROM place_paths AS p WHERE collection = ? AND path <> ''",
        (collection,),
    )
    found: Counter[str] = Counter()
    for path, count in rows:
        found[path.removeprefix('$.').replace('"', '')] += count
    return +found

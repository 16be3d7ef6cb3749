"""
The values in the memories' contexts, in order: what narrows a filter to a few memories.

A facet is a text, a number or a truth value of a context under its dotted path. Of texts the
first 32 characters are kept, and truth values are blobs, so that values order and compare within
their own type. Items of a list of up to three of these, as a position is, have their numbers in
the path; a memory with another list is a candidate of whatever is asked of its items. A memory of
too many facets stands under no path and is a candidate of each.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apsw

from robot_memory.core.json_text import MAX_INTEGER, dump_json
from robot_memory.storage import remembered
from robot_memory.storage.indexes.candidates import CandidateQuery

MOST = 64
"""Facets that are kept of a memory."""
ITEMS = 3
"""Items of a list, at most, that are facets."""
_LIST = '.[]'
"""Ends the path under which memories stand that have a list there whose items are no facets."""
INDEX = re.compile('[0-9]{1,9}')
"""A step of a path that is the number of an item."""
_CUT = 32
_VALUE = (
    "CASE type WHEN 'true' THEN x'01' WHEN 'false' THEN x'00'"
    f" WHEN 'text' THEN substr(atom, 1, {_CUT}) ELSE atom END"
)
_NO_PATH = 0
_PATHS = 'facet_paths'
_SYMBOLS = {'$gt': '>', '$gte': '>=', '$lt': '<', '$lte': '<='}


def put(connection: apsw.Connection, memory_id: int, context: Mapping[str, Any]) -> None:
    """Index a memory's context."""
    found = _select(context)
    if found is None:
        connection.execute(
            'INSERT OR IGNORE INTO facets (path_id, value, memory_id) VALUES (?, 0, ?)',
            (_NO_PATH, memory_id),
        )
    elif found and not _insert_known(connection, memory_id, found):
        text = dump_json(found)
        if _insert(connection, memory_id, text) < len(found):
            connection.execute(
                'INSERT OR IGNORE INTO facet_paths (path) SELECT key FROM json_each(?)', (text,)
            )
            _insert(connection, memory_id, text)
        _note_paths(connection, text)


def _insert_known(connection: apsw.Connection, memory_id: int, found: Mapping[str, Any]) -> bool:
    """Write facets whose paths this transaction has looked up; say whether it could."""
    rows: list[Any] = []
    for path, value in found.items():
        path_id = remembered.get(_PATHS, path)
        if path_id is None:
            return False
        if isinstance(value, str):
            rows += (path_id, value[:_CUT], memory_id)
        elif isinstance(value, bool):
            rows += (path_id, bytes((value,)), memory_id)
        elif isinstance(value, int) and abs(value) > MAX_INTEGER:  # as SQLite reads it in JSON
            return False
        else:
            rows += (path_id, value, memory_id)
    marks = ', '.join(['(?, ?, ?)'] * len(found))
    connection.execute(
        f'INSERT OR IGNORE INTO facets (path_id, value, memory_id) VALUES {marks}', rows
    )
    return True


def _note_paths(connection: apsw.Connection, text: str) -> None:
    """Remember the ids of the paths that are the keys of an object in JSON."""
    if remembered.is_on():
        for path, path_id in connection.execute(
            'SELECT path, id FROM facet_paths WHERE path IN (SELECT key FROM json_each(?))',
            (text,),
        ):
            remembered.note(_PATHS, path, path_id)


def put_all(
    connection: apsw.Connection, contexts: Iterable[tuple[int, Mapping[str, Any]]]
) -> None:
    """Index the contexts of many memories, in the order in which the index has them."""
    found = []
    for memory_id, context in contexts:
        selected = _select(context)
        if selected is None:
            put(connection, memory_id, context)
        elif selected:
            found.append((memory_id, selected))
    text = dump_json(found)
    each = "json_each(?) AS row CROSS JOIN json_each(row.value, '$[1]') AS found"
    connection.execute(
        f'INSERT OR IGNORE INTO facet_paths (path) SELECT DISTINCT found.key FROM {each}'
        ' WHERE found.key NOT IN (SELECT path FROM facet_paths)',
        (text,),
    )
    value = re.sub(r'\b(type|atom)\b', r'found.\1', _VALUE)
    connection.execute(
        f"INSERT OR IGNORE INTO facets SELECT p.id, {value}, row.value ->> '$[0]' FROM {each}"
        ' CROSS JOIN facet_paths AS p ON p.path = found.key ORDER BY 1, 2, 3',
        (text,),
    )


def _insert(connection: apsw.Connection, memory_id: int, text: str) -> int:
    """Write the facets whose paths are known; return how many."""
    connection.execute(
        f'INSERT OR IGNORE INTO facets SELECT p.id, {_VALUE}, ? FROM json_each(?) AS found'
        ' CROSS JOIN facet_paths AS p ON p.path = found.key',
        (memory_id, text),
    )
    return connection.changes()


def remove(connection: apsw.Connection, memory_id: int, context: Mapping[str, Any]) -> None:
    """Take a memory out of the index; `context` is what it was put in with."""
    found = _select(context)
    if found is None:
        connection.execute(
            'DELETE FROM facets WHERE path_id = ? AND memory_id = ?', (_NO_PATH, memory_id)
        )
    else:
        connection.execute(
            'DELETE FROM facets WHERE (path_id, value, memory_id) IN'
            f' (SELECT p.id, {_VALUE}, ? FROM json_each(?) AS found'
            ' CROSS JOIN facet_paths AS p ON p.path = found.key)',
            (memory_id, dump_json(found)),
        )


def _select(context: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the facets of a context under their paths, None where they are too many."""
    found = dict(itertools.islice(_walk(context, ''), MOST + 1))
    return found if len(found) <= MOST else None


def _walk(part: Mapping[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    for key, value in part.items():
        if '.' in key:  # No path of a filter leads there.
            continue
        if isinstance(value, dict):
            yield from _walk(value, f'{path}{key}.')
        elif isinstance(value, (str, int, float)):
            yield path + key, value
        elif isinstance(value, list):
            yield from _walk_items(value, path + key)


def _walk_items(items: list[Any], path: str) -> Iterator[tuple[str, Any]]:
    if len(items) > ITEMS or any(isinstance(item, (dict, list)) for item in items):
        yield path + _LIST, True
        return
    for number, item in enumerate(items):
        if item is not None:
            yield f'{path}.{number}', item


def list_names(connection: apsw.Connection) -> list[str]:
    """Return the dotted paths of facets that names alone lead to."""
    paths = [row[0] for row in connection.execute('SELECT path FROM facet_paths')]
    return [path for path in paths if not (path.endswith(_LIST) or _find_item(path.split('.')))]


def _find_item(steps: Sequence[str]) -> int:
    """Return the place of the first number among the steps of a path, 0: there is none."""
    return next((place for place, step in enumerate(steps) if INDEX.fullmatch(step)), 0)


def find_kinds(connection: apsw.Connection, path: str) -> tuple[bool, bool]:
    """Say whether there are numbers at a path, and whether there are texts."""
    at_path = 'SELECT 1 FROM facets WHERE path_id = (SELECT id FROM facet_paths WHERE path = ?1)'
    ((numbers, texts),) = connection.execute(
        f"SELECT EXISTS ({at_path} AND value < ''),"
        f" EXISTS ({at_path} AND value >= '' AND value < x'')",
        (_write_items(path),),
    )
    return bool(numbers), bool(texts)


def _write_items(path: str) -> str:
    """Return a path with the numbers of items as facets have them."""
    steps = path.split('.')
    return '.'.join(str(int(step)) if INDEX.fullmatch(step) else step for step in steps)


def make_candidate_query(path: str, operators: Mapping[str, Any]) -> CandidateQuery | None:
    """Return the candidate query of a filter's operators on a path, if there is one."""
    steps = path.split('.')
    item = _find_item(steps)
    if INDEX.fullmatch(steps[0]):
        return None
    if item:
        path = _write_items(path)
    closed = any('$gt' in key for key in operators) and any('$lt' in key for key in operators)
    tests = [
        test
        for operator, value in operators.items()
        if (test := _test(operator, value, closed)) is not None
    ]
    if not tests:
        return None
    sql = ' AND '.join(test.sql for test in tests)
    values = tuple(value for test in tests for value in test.values)
    at_path = 'SELECT memory_id AS id FROM facets WHERE path_id ='
    at_path += ' (SELECT id FROM facet_paths WHERE path = ?)'
    sql = f'{at_path} AND {sql}'
    if item:
        sql += f' UNION ALL {at_path}'
        values += ('.'.join(steps[:item]) + _LIST,)
    return CandidateQuery(
        f'{sql} UNION ALL SELECT memory_id FROM facets WHERE path_id = {_NO_PATH}',
        (path, *values),
        is_followed=True,
    )


def _test(operator: str, value: Any, closed: bool) -> CandidateQuery | None:
    """
    Return what holds of a facet's value wherever an operator holds of the context's.

    A range that is not closed by another operator ends with its type: numbers come before texts,
    and texts before blobs. A cut text may equal the beginning of what it was.
    """
    if operator in ('$eq', '$in'):
        among = value if operator == '$in' else [value]
        if any(item is None or isinstance(item, (dict, list)) for item in among):
            return None
        return CandidateQuery(f'value IN (SELECT {_VALUE} FROM json_each(?))', (dump_json(among),))
    if operator not in _SYMBOLS:
        return None
    symbol, bound, end = _SYMBOLS[operator], value, "value < ''"
    if isinstance(value, str):
        symbol, bound = f'{symbol[0]}=', value[:_CUT]
        end = "value < x''" if '>' in symbol else "value >= ''"
    return CandidateQuery(f'value {symbol} ?' + ('' if closed else f' AND {end}'), (bound,))

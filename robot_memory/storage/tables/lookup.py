"""Looking memories up: by id, newest first, and by what passes a condition."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import apsw

from robot_memory.core.records import Record
from robot_memory.storage import epochs
from robot_memory.storage.indexes.candidates import choose, restrict_to
from robot_memory.storage.indexes.filters import TIMES, Where
from robot_memory.storage.tables.records import SELECT, SELECT_SOME, make_record

CREATED = TIMES['created_at']
"""SQL of when a memory was stored, as is known now."""
_SHORT = 2000
"""Memories that are rather all looked at and sorted than looked for back in time."""
_LONG = 200_000
"""Memories that are rather looked up one by one than the store read from end to end."""
_MOST_ROWS = 2**62
"""More than a store can hold, and what SQLite takes as a limit."""
_LATEST = Where(
    'm.created_at >= (SELECT min(created_at) FROM'
    f' (SELECT created_at FROM memories ORDER BY created_at DESC LIMIT {_SHORT}))'
)


def get(connection: apsw.Connection, ids: Iterable[int]) -> dict[int, Record]:
    """Return the memories that there are among the ids."""
    rows = connection.execute(SELECT_SOME, (json.dumps(list(ids)),))
    return {row[0]: make_record(row) for row in rows}


def read_statements(
    connection: apsw.Connection, collection: str, ids: Iterable[int]
) -> dict[int, str]:
    """
    Return the texts of the active facts of a collection among the ids.

    What a topic said is none (`records.is_quoted`).
    """
    return dict(
        connection.execute(
            'SELECT m.id, m.content FROM json_each(?) AS asked CROSS JOIN memories AS m'
            " ON m.id = asked.value WHERE m.type = 'fact' AND m.status = 'active'"
            " AND m.collection = ? AND m.context -> '$.sense' IS NULL",
            (json.dumps(list(ids)), collection),
        )
    )


def list_newest(
    connection: apsw.Connection, where: Where, limit: int, offset: int = 0
) -> list[Record]:
    """Return the memories that pass, newest first, ties by id."""
    page = list_page(connection, where, limit, offset)
    records = get(connection, page)
    return [records[memory_id] for memory_id in page]


def list_page(connection: apsw.Connection, where: Where, limit: int, offset: int) -> list[int]:
    """Return the ids of those that pass, newest first, without as many as the offset."""
    return list_newest_ids(connection, where, min(limit + offset, _MOST_ROWS))[offset:]


def list_newest_ids(connection: apsw.Connection, where: Where, limit: int) -> list[int]:
    """Return the newest ids that pass, from among the latest where no index gives few."""
    query = choose(connection, where.candidates, _SHORT)
    if query is None and where.candidates:
        if not epochs.has_corrected(connection):
            found = _scan_back(connection, _LATEST & where, limit)
            if len(found) == limit:
                return found
        query = choose(connection, where.candidates, _LONG)
    if query is None:
        return _scan_back(connection, where, limit)
    rows = connection.execute(
        f'SELECT m.id FROM {restrict_to(query)} AND {where.sql}'
        f' ORDER BY {CREATED} DESC, m.id DESC LIMIT ?',
        (*query.values, *where.values, limit),
    )
    return [row[0] for row in rows]


def _scan_back(connection: apsw.Connection, where: Where, limit: int) -> list[int]:
    """Return the newest ids that pass, by looking at one memory after the other."""
    if epochs.has_corrected(connection):
        return _merge_back(connection, where, limit)
    rows = connection.execute(
        f'SELECT m.id FROM memories AS m INDEXED BY memories_by_time WHERE {where.sql}'
        ' ORDER BY m.created_at DESC, m.id DESC LIMIT ?',
        (*where.values, limit),
    )
    return [row[0] for row in rows]


def _merge_back(connection: apsw.Connection, where: Where, limit: int) -> list[int]:
    """Return the newest ids that pass, where some are of epochs whose times are corrected."""
    found: list[tuple[int, int]] = []
    scan = (
        f'SELECT {CREATED}, m.id FROM memories AS m INDEXED BY memories_by_time WHERE {{span}}'
        f' AND {where.sql} ORDER BY m.created_at DESC, m.id DESC LIMIT ?'
    )
    right = f'coalesce(m.created_epoch NOT IN ({epochs.CORRECTED}), 1)'
    found += connection.execute(scan.format(span=right), (*where.values, limit))
    for row in reversed(epochs.list_corrected(connection)):
        # Epochs follow each other: what is before all that is found adds nothing.
        latest = row.epoch.last.wall + row.judgement.offset
        if len(found) >= limit and latest < sorted(found, reverse=True)[limit - 1][0]:
            continue
        span = f'm.created_at >= {row.epoch.first.wall} AND m.created_epoch = {row.id}'
        found += connection.execute(scan.format(span=span), (*where.values, limit))
    return [memory_id for _, memory_id in sorted(found, reverse=True)[:limit]]


def read_ids(connection: apsw.Connection, where: Where) -> Iterator[int]:
    """Give the ids of the memories that pass, oldest first, ties by id, as they are asked for."""
    rows = connection.execute(
        f'SELECT m.id FROM memories AS m WHERE {where.sql} ORDER BY {CREATED}, m.id', where.values
    )
    return (memory_id for (memory_id,) in rows)


def list_turns(
    connection: apsw.Connection,
    session_id: str | None = None,
    limit: int = -1,
    collection: str | None = None,
) -> list[Record]:
    """Return the latest active turns, of a session, a collection or all, as they were said."""
    rows = connection.execute(
        f"{SELECT} WHERE m.status = 'active' AND t.memory_id IS NOT NULL"
        ' AND (?1 IS NULL OR t.session_id = ?1) AND (?2 IS NULL OR m.collection = ?2)'
        f' ORDER BY {CREATED} DESC, m.id DESC LIMIT ?3',
        (session_id, collection, limit),
    ).fetchall()
    return [make_record(row) for row in reversed(rows)]


def count(connection: apsw.Connection, where: Where) -> int:
    """Return how many memories pass."""
    source, values = _source(connection, where)
    ((number,),) = connection.execute(f'SELECT count(*) FROM {source}', values)
    return int(number)


def find_ids(connection: apsw.Connection, where: Where) -> list[int]:
    """Return the ids of the memories that pass, ascending."""
    source, values = _source(connection, where)
    return [row[0] for row in connection.execute(f'SELECT m.id FROM {source} ORDER BY 1', values)]


def _source(connection: apsw.Connection, where: Where) -> tuple[str, tuple[Any, ...]]:
    """Return as SQL, with its values, the memories `m` that pass."""
    query = choose(connection, where.candidates, _LONG)
    if query is None:
        return f'memories AS m WHERE {where.sql}', where.values
    return f'{restrict_to(query)} AND {where.sql}', (*query.values, *where.values)

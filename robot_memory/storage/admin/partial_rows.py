"""
Rows of a damaged store of which some columns cannot be read.

A long value goes on on pages of its own; what comes behind it in the row is beyond these. What an
index holds of such columns is read from there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.storage.admin.row_reading import Table
from robot_memory.storage.tables import erasing

SALVAGED = 'salvaged'
_WHERE = re.compile(r'\bWHERE\b(.*)', re.DOTALL | re.IGNORECASE)
_INVALIDATED = 'invalidated'
_STAND_INS: Mapping[str, Mapping[str, Callable[[dict[str, Any]], Any]]] = {
    'memories': {
        'tags': lambda row: '[]',
        'scope_files': lambda row: '[]',
        'context': lambda row: '{}',
        'strategy_name': lambda row: 'episodic',
        # Nothing that may have been forgotten is told again.
        'status': lambda row: _INVALIDATED,
        'created_at': lambda row: row.get('updated_at'),
        'updated_at': lambda row: row.get('created_at'),
    },
    'observations': {'context': lambda row: '{}'},
}
"""What stands for a column that must have a value, by the columns that are known."""


@dataclass(frozen=True)
class PartialRow:
    """Hold a row by its id, the names of the columns that are lost, and what stands for all."""

    table: str
    id: int
    values: tuple[Any, ...]
    lost: tuple[str, ...]

    def __str__(self) -> str:
        """Return what is lost in words."""
        return f'{", ".join(self.lost)} of row {self.id}, which is kept without'


def read(source: apsw.Connection, table: Table, number: int) -> PartialRow | None:
    """Return what can be read of a row; None where it makes no sense without what is lost."""
    described: list[Any] = source.execute(f'PRAGMA table_info("{table.name}")').fetchall()
    known: dict[str, Any] = {}
    for name in table.columns:
        sql = f'SELECT "{name}" FROM "{table.name}" NOT INDEXED WHERE rowid = ?'
        for (value,) in _try(source, sql, (number,)) or ():
            known[name] = value
    if not known:
        return None
    lost = [name for name in table.columns if name not in known]
    for name in list(lost):
        found = _find_in_indexes(source, table.name, number, name)
        if found:
            known[name] = found[0][0]
            lost.remove(name)
    makers = _STAND_INS.get(table.name, {})
    for _, name, _, is_required, default, _ in described:
        if name in known:
            continue
        value = makers[name](known) if name in makers else None
        if value is None and default is not None:
            ((value,),) = source.execute(f'SELECT {default}')
        if value is None and is_required:
            return None
        known[name] = value
    return PartialRow(table.name, number, tuple(known[name] for name in table.columns), (*lost,))


def settle(new: apsw.Connection, rows: Sequence[PartialRow]) -> None:
    """
    Have a new store know of rows that lost a part; they are in it already.

    A part without its bytes has no digest; a memory has a line in the audit for what it is now,
    and the authority of who wrote its last state.
    """
    new.execute('BEGIN')
    ((at,),) = new.execute('SELECT coalesce(max(at), 0) FROM audit')
    for row in rows:
        if row.table == 'parts':
            new.execute('DELETE FROM part_digests WHERE part_id = ?', (row.id,))
        elif row.table == 'memories' and _is_there(new, row.id):
            if 'authority' in row.lost:
                _find_authority(new, row.id)
            erasing.seal(new, row.id, SALVAGED, THE_STORE, f'lost: {", ".join(row.lost)}', at)
    new.execute('COMMIT')


def _is_there(new: apsw.Connection, memory_id: int) -> bool:
    sql = 'SELECT 1 FROM memories WHERE id = ?'
    return new.execute(sql, (memory_id,)).fetchone() is not None


def _find_authority(new: apsw.Connection, memory_id: int) -> None:
    new.execute(
        'UPDATE memories SET writer_id = w.id, authority = w.authority FROM writers AS w'
        ' WHERE memories.id = ?1 AND w.id = (SELECT writer_id FROM audit WHERE memory_id = ?1'
        ' AND digest IS NOT NULL AND writer_id IS NOT NULL ORDER BY id DESC LIMIT 1)',
        (memory_id,),
    )


def _find_in_indexes(
    source: apsw.Connection, table: str, number: int, column: str
) -> list[tuple[Any, ...]]:
    """Return what an index holds of a column of a row; nothing where none tells."""
    for (index,) in _try(source, 'SELECT name FROM pragma_index_list(?)', (table,)) or ():
        columns = _try(source, 'SELECT name FROM pragma_index_info(?)', (index,)) or ()
        if (column,) not in columns:
            continue
        sql = _try(source, 'SELECT sql FROM sqlite_schema WHERE name = ?', (index,)) or [('',)]
        within = _WHERE.search(str(sql[0][0] or ''))
        condition = f'({within[1]}) AND ' if within else ''
        read = f'SELECT "{column}" FROM "{table}" INDEXED BY "{index}" WHERE {condition}rowid = ?'
        found = _try(source, read, (number,))
        if found:
            return found
        if found is not None and (table, column, index) == (
            'memories',
            'status',
            'memories_ended',
        ):
            return [('active',)]  # all others are in it
    return []


def _try(
    source: apsw.Connection, sql: str, values: tuple[Any, ...]
) -> list[tuple[Any, ...]] | None:
    """Return the rows of a statement, None where they cannot be read."""
    try:
        return source.execute(sql, values).fetchall()
    except apsw.Error:
        return None

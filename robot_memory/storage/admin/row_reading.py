"""Rows of a table of a damaged store, read around what cannot be read."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import apsw

_BATCH = 200
_MOST = 2**63 - 1
_POWERS = [2**power for power in range(63)]
Lose = Callable[[str], None]
"""Is told what cannot be read."""
Skip = Callable[[float, float], None]
"""Is told the first and the last id of rows that cannot be read; infinity where there is none."""
ReadPartly = Callable[[int], 'tuple[Any, ...] | None']
"""Makes a row, by its id, of the columns that can be read; None where it cannot."""


@dataclass(frozen=True)
class Table:
    """Name a table and its columns; say whether its rows have ids."""

    name: str
    columns: tuple[str, ...]
    has_rowid: bool = True

    @property
    def quoted(self) -> str:
        """Return the names of the columns as SQL writes them."""
        return ', '.join(f'"{column}"' for column in self.columns)


def list_columns(connection: apsw.Connection, table: str) -> tuple[str, ...]:
    """Return the names of the columns of a table."""
    return tuple(str(row[1]) for row in connection.execute(f'PRAGMA table_info("{table}")'))


def read_rows(
    source: apsw.Connection,
    table: Table,
    lose: Lose,
    read_partly: ReadPartly = lambda number: None,
    first: int = -_MOST,
    skip: Skip = lambda first, last: None,
) -> Iterator[tuple[Any, ...]]:
    """
    Yield the rows of a table as far as they can be read, each once.

    A row with an id, some columns of which cannot be read, is what `read_partly` makes of it.
    Rows with ids are read from the `first` one on.
    """
    if table.has_rowid:
        return _read_by_id(source, table, lose, read_partly, first, skip)
    return _read_from_both_ends(source, table, lose)


def _read_by_id(
    source: apsw.Connection,
    table: Table,
    lose: Lose,
    read_partly: ReadPartly,
    first: int,
    skip: Skip,
) -> Iterator[tuple[Any, ...]]:
    name = f'"{table.name}" NOT INDEXED WHERE rowid >= ? ORDER BY rowid LIMIT'
    following: int | None = first
    limit = _BATCH
    while following is not None:
        try:
            rows: Any = source.execute(
                f'SELECT rowid, {table.quoted} FROM {name} {limit}', (following,)
            ).fetchall()
        except apsw.Error:
            if limit == 1:
                number = _find_id(source, name, following)
                part = None if number is None else read_partly(number)
                if part is not None:
                    yield part
                before = following
                following = _pass_over(source, name, following, number, part is not None, lose)
                if part is None:
                    low = -math.inf if before == -_MOST and number is None else number or before
                    skip(low, math.inf if following is None else following - 1)
            limit = 1 if limit > 1 else _BATCH
            continue
        for number, *row in rows:
            if number >= following:  # a page that is not what it was may have rows of elsewhere
                following = number + 1
                yield tuple(row)
        if not rows or following > _MOST:
            return
        limit = _BATCH


def _find_id(source: apsw.Connection, name: str, following: int) -> int | None:
    """Return the next id from one on, None where it cannot be read."""
    try:
        ((found,),) = source.execute(f'SELECT rowid FROM {name} 1', (following,))
    except apsw.Error:
        return None
    return int(found) if found >= following else None


def _pass_over(
    source: apsw.Connection,
    name: str,
    following: int,
    number: int | None,
    is_brought: bool,
    lose: Lose,
) -> int | None:
    """
    Return the id from which rows can be read again, None where there is none.

    `number` is the id of the row that cannot be read whole, None where that cannot be either.
    """
    if number is not None:
        if not is_brought:
            lose(f'row {number}')
        return number + 1
    found = _find_beyond(source, name, following)
    since = '' if following == -_MOST else f' from {following}'
    until = f' to {found - 1}' if found is not None else ' on' if since else ''
    lose(f'all rows{since}{until}, as far as there were any')
    return found


def _find_beyond(source: apsw.Connection, name: str, bad: int) -> int | None:
    """
    Return the first id behind a page that cannot be read, by which a row can be found.

    Ids that are ever further away are tried, then the range between is halved.
    """
    places = {sign * power for power in _POWERS for sign in (1, -1)}
    places |= {bad + power for power in _POWERS}
    low, found = bad, None
    for high in sorted(place for place in places if bad < place <= _MOST):
        if _can_read(source, name, high):
            found = high
            break
        low = high
    if found is None:
        return None
    while found - low > 1:
        middle = (low + found) // 2
        if _can_read(source, name, middle):
            found = middle
        else:
            low = middle
    row = source.execute(f'SELECT rowid FROM {name} 1', (found,)).fetchone()
    return None if row is None else max(bad + 1, int(row[0]))


def _can_read(source: apsw.Connection, name: str, first: int) -> bool:
    """Say whether the next row from an id on, or the end of the table, can be found."""
    try:
        source.execute(f'SELECT rowid FROM {name} 1', (first,)).fetchall()
    except apsw.Error:
        return False
    return True


def _read_from_both_ends(
    source: apsw.Connection, table: Table, lose: Lose
) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a table that is its own index, from each end to what is damaged."""
    keys = [
        f'"{row[1]}"' for row in source.execute(f'PRAGMA table_info("{table.name}")') if row[5]
    ]
    for way in ('ASC', 'DESC'):
        order = ', '.join(f'{key} {way}' for key in keys)
        try:
            yield from source.execute(
                f'SELECT {table.quoted} FROM "{table.name}" ORDER BY {order}'
            )
            return
        except apsw.Error:
            continue
    lose('some rows in the middle')

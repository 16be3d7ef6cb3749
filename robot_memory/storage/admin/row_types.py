"""Which types the values of a row have, and whether they are such of a table's columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import apsw

from robot_memory.core.varints import read_varint
from robot_memory.storage.admin.page_substitution import TABLE_LEAF

ColumnType = tuple[str, bool, bool]
"""Type, whether it is never NULL, and whether it is the row's id, as rows have them."""
_INT_BYTES = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)


def fit(types: Sequence[int], columns: Sequence[ColumnType]) -> bool:
    """Say whether values of these types are those of a row with these columns."""
    if len(types) != len(columns):
        return False
    for kind, (declared, is_needed, is_id) in zip(types, columns, strict=True):
        if is_id:
            fits = kind == 0
        elif kind == 0:
            fits = not is_needed
        elif declared == 'TEXT':
            fits = is_text(kind)
        elif declared == 'BLOB':
            fits = kind >= 12 and kind % 2 == 0
        elif declared in ('INTEGER', 'REAL'):
            fits = kind < 10
        else:
            fits = True
        if not fits:
            return False
    return True


def is_text(kind: int) -> bool:
    """Say whether a value of a type is a text that is not empty."""
    return kind >= 13 and kind % 2 == 1


def read_records(page: bytes, at: int) -> Iterator[list[tuple[int, bytes]]]:
    """Give type and bytes of the values of each row of a leaf, as far as they lie on the page."""
    count = min(int.from_bytes(page[at + 3 : at + 5], 'big'), len(page) // 4)
    is_table = page[at] == TABLE_LEAF
    for place in range(at + 8, at + 8 + 2 * count, 2):
        cell = int.from_bytes(page[place : place + 2], 'big')
        try:
            _, begin = read_varint(page, cell)
            if is_table:
                _, begin = read_varint(page, begin)
            length, here = read_varint(page, begin)
            end = begin + length
            values, body = [], end
            while here < end:
                kind, here = read_varint(page, here)
                size = _INT_BYTES[kind] if kind < 10 else (kind - 12) // 2
                values.append((kind, page[body : body + size]))
                body += size
        except IndexError:
            return
        yield values


def list_column_types(
    connection: apsw.Connection, table: str, without_rowid: Any
) -> tuple[ColumnType, ...]:
    """Return the types of the columns of a table in the order of its rows."""
    rows: list[Any] = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    if without_rowid:  # the columns of the key come first
        rows.sort(key=lambda row: (row[5] == 0, row[5]))
    return tuple(
        (row[2].upper(), bool(row[3]), row[5] == 1 and row[2] == 'INTEGER' and not without_rowid)
        for row in rows
    )

"""
Tables whose indexes are damaged, which reads go through without these until they are made anew.

A connection finds a temporary view in place of such a table: SQLite then looks a row up by its id,
or reads all. Names of tables lead to temporary ones first. Statements that name an index are read
without its name.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, cast

import apsw

from robot_memory.storage.tables import event_hours

_MADE_OF_OTHERS: Mapping[str, str] = {'event_hours': event_hours.COMPUTED}
"""Tables that are indexes themselves, and what gives the same rows."""


_HINT = re.compile(r'\bINDEXED\s+BY\s+"?\w+"?', re.IGNORECASE)


class _Unhinted:
    """Be a connection whose statements name no index."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    def execute(self, statements: str, *arguments: Any, **named: Any) -> Any:
        return self._connection.execute(_HINT.sub('', statements), *arguments, **named)


class Shunned:
    """Name the tables that reads of a store go through without their indexes."""

    def __init__(self) -> None:
        """Begin with none."""
        self.tables: frozenset[str] = frozenset()

    def prepare(self, connection: apsw.Connection) -> apsw.Connection:
        """
        Have a connection do without the indexes in the transaction that has begun.

        Return what is to be used in its place; the end of the transaction takes the views away.
        """
        for table in sorted(self.tables):
            rows = _MADE_OF_OTHERS.get(table, f'SELECT * FROM main."{table}" NOT INDEXED')
            connection.execute(f'CREATE TEMP VIEW "{table}" AS {rows}')
        return cast(apsw.Connection, _Unhinted(connection))


def find_tables(connection: apsw.Connection, owners: frozenset[str]) -> frozenset[str]:
    """Return the tables that can be read without what is damaged, by the owners of its pages."""
    rows = connection.execute("SELECT name, tbl_name FROM main.sqlite_schema WHERE type = 'index'")
    tables = {str(table) for name, table in rows if name in owners} - owners
    return frozenset(tables | (owners & _MADE_OF_OTHERS.keys()))

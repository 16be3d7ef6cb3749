"""Facts about the store itself."""

from __future__ import annotations

import os
from typing import Any

import apsw

SECURE_DELETE = 'secure_delete'
"""The switch of a file in which all that was ever freed was overwritten with zeros."""


def get(connection: apsw.Connection, key: str) -> Any:
    """Return a fact; None where it was never noted."""
    row = connection.execute('SELECT value FROM meta WHERE key = ?', (key,)).fetchone()
    return None if row is None else row[0]


def put(connection: apsw.Connection, key: str, value: Any) -> None:
    """Note a fact, in place of what it was before."""
    connection.execute('INSERT OR REPLACE INTO meta (key, value) VALUES (?, ?)', (key, value))


def get_store_id(connection: apsw.Connection) -> str:
    """Return the identity of the store: it stays with the file wherever it is copied."""
    ((value,),) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'")
    return str(value)


def put_store_id(connection: apsw.Connection) -> None:
    """Give a store an identity of its own."""
    put(connection, 'store_id', f'robot-mem-{os.urandom(8).hex()}')


def get_switch(connection: apsw.Connection, name: str) -> bool | None:
    """Return a switch of the store; None if it was never set."""
    value = get(connection, name)
    return None if value is None else bool(value)


def set_switch(connection: apsw.Connection, name: str, on: bool) -> None:
    """Set a switch of the store."""
    put(connection, name, int(on))

"""Facts about the store itself."""

from __future__ import annotations

import apsw


def store_id(connection: apsw.Connection) -> str:
    """Return the identity of the store: it stays with the file wherever it is copied."""
    ((value,),) = connection.execute("SELECT value FROM meta WHERE key = 'store_id'")
    return str(value)

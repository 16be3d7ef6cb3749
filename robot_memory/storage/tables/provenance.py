"""
What an archive says of authorities, sealed so that only the store that wrote it believes it.

The seal is an HMAC-SHA256 under a key that lies in the store alone. Another store, or a changed
line, has none that fits: what it holds is imported.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Mapping
from typing import Any

import apsw

from robot_memory.core.authority import Writer
from robot_memory.storage.tables import meta, writers

_KEY = 'archive_key'
_KEY_BYTES = 32
_SEALED = ('type', 'collection', 'content', 'category', 'context', 'actor_id', 'created_at')


def get_key(connection: apsw.Connection) -> bytes | None:
    """Return the store's key of seals; None where it has none yet."""
    value = meta.get(connection, _KEY)
    return None if value is None else bytes(value)


def make_key(connection: apsw.Connection) -> None:
    """Give the store a key of seals, where it has none."""
    connection.execute(
        'INSERT OR IGNORE INTO meta (key, value) VALUES (?, ?)',
        (_KEY, secrets.token_bytes(_KEY_BYTES)),
    )


def describe(
    connection: apsw.Connection, key: bytes, row: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Return what an archive says of the authority of a row; None of what was imported."""
    ((authority, stands, *names),) = connection.execute(
        f'SELECT m.authority, m.stands, {writers.COLUMNS}'
        ' FROM memories AS m LEFT JOIN writers AS w ON w.id = m.writer_id WHERE m.id = ?',
        (row['id'],),
    )
    if authority == 'imported':
        return None
    writer = None if names[0] is None else dict(zip(writers.FIELDS, names, strict=True))
    found = {'authority': authority, 'stands': bool(stands), 'writer': writer}
    return {**found, 'seal': _seal(key, row, found)}


def verify(
    connection: apsw.Connection, row: Mapping[str, Any], said: Mapping[str, Any] | None
) -> tuple[str, bool, Writer | None] | None:
    """Return authority, whether it stands, and the writer of a row, if this store sealed them."""
    key = get_key(connection)
    if said is None or key is None:
        return None
    found = {name: said[name] for name in ('authority', 'stands', 'writer')}
    if not hmac.compare_digest(_seal(key, row, found), said['seal']):
        return None
    writer = None if found['writer'] is None else Writer(**found['writer'])
    return found['authority'], found['stands'], writer


def _seal(key: bytes, row: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    sealed = [row['origin'], *(row[name] for name in _SEALED), found]
    text = json.dumps(sealed, separators=(',', ':'), sort_keys=True)
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()

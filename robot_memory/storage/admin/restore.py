"""
Putting a backup in the place of a store.

The backup is checked before anything is changed. The file that it replaces is kept beside it, with
its log: a log that is left beside another file would be written into that.
"""

from __future__ import annotations

import contextlib
import os
from itertools import chain, count
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.errors import Conflict, Unavailable
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.admin.backup import keep_file
from robot_memory.storage.admin.cleaning import name_users
from robot_memory.storage.admin.verify import open_checked, unpack, verify
from robot_memory.storage.tables.erasable import find_created
from robot_memory.storage.tables.meta import get_store_id

_SHOWN = 5


def restore(backup: Path, path: Path) -> Path | None:
    """
    Put a checked copy of a backup in the place of a store; return where the old file is, if any.

    Raise Unavailable where the backup is damaged or the store is in use, and Conflict where the
    backup holds what was erased from the store since.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f'.{path.name}.restoring')
    part.unlink(missing_ok=True)
    try:
        unpack(backup, part)
        _refuse_damaged(backup, part)
        _refuse_erased(path, backup, part)
        users = name_users(path)
        if users:
            raise Unavailable(f'{path} is in use by {users}; end that first, nothing was changed')
        kept = _set_aside(path) if path.exists() else None
        keep_file(part, path)
    finally:
        for end in ('', '-wal', '-shm'):
            Path(f'{part}{end}').unlink(missing_ok=True)
    return kept


def _refuse_damaged(backup: Path, copy: Path) -> None:
    bad = [check for check in verify(copy) if not check.holds]
    if bad:
        told = '; '.join(f'{check.name}: {check.detail}' for check in bad)
        raise Unavailable(f'{backup} is not whole ({told}); nothing was changed: use another one')


def _refuse_erased(path: Path, backup: Path, copy: Path) -> None:
    """Raise Conflict where a backup holds memories that were erased from the store since."""
    try:
        erased = _list_erased(path) if path.exists() else {}
    except (apsw.Error, Unavailable):
        return  # what cannot be read cannot tell
    connection = open_checked(copy)
    try:
        held = find_created(connection, erased)
    finally:
        connection.close()
    if held:
        shown = ', '.join(map(str, held[:_SHOWN])) + (', ...' if len(held) > _SHOWN else '')
        raise Conflict(
            f'{backup} holds {len(held)} memories that were erased since (ids {shown}); nothing '
            'was changed: use a backup that the erasure rewrote, or a later one'
        )


def _list_erased(path: Path) -> dict[int, int]:
    """Return when what was erased from a store was created, by its id."""
    connection = open_checked(path)
    try:
        if not schema_runner.is_current(connection):
            return {}
        rows: Any = connection.execute(
            'SELECT first_id, created_at FROM tombstones WHERE first_id IS NOT NULL'
            ' AND store_id = ?',
            (get_store_id(connection),),
        )
        return dict(rows)
    finally:
        connection.close()


def _set_aside(path: Path) -> Path:
    """Keep the old file and its log under other names; the file stays until it is replaced."""
    ends = chain([''], (f'-{number}' for number in count(2)))
    names = (Path(f'{path}.before-restore{end}') for end in ends)
    kept = next(name for name in names if not name.exists())
    log = Path(f'{path}-wal')
    with contextlib.suppress(apsw.Error):
        # The last connection brings the log into the file and removes it.
        checksums.connect(path, apsw.SQLITE_OPEN_READWRITE).close()
    os.link(path, kept)
    if log.exists() and log.stat().st_size:
        log.rename(f'{kept}-wal')
    for end in ('-wal', '-shm'):
        Path(f'{path}{end}').unlink(missing_ok=True)
    return kept

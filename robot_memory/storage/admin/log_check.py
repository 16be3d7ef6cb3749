"""
Telling a log (-wal) that does not belong to the store beside it.

SQLite writes whatever log stands at the name into the file. One that a crash left lies there after
a backup was copied over the store by hand.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import apsw

from robot_memory.storage.admin.verify import Check, connect_alone, hold_checked
from robot_memory.storage.store_files import LOG, has_log, name_file
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.vector_extension import load_vectors


def check_log(path: Path, *, is_whole: bool) -> Check:
    """
    Say whether the log beside a store belongs to it, as far as that can be known.

    `is_whole` says whether the store is with its log. Where it is not, but the file alone is, the
    log does not belong to it; nor where it makes another store of the file. An earlier state of
    the same store and a log that has all that came since fit each other.
    """
    log = name_file(path, LOG)
    alone = _identify_alone(path, thorough=not is_whole) if has_log(path) else None
    problem = ''
    if alone is not None and not is_whole:
        problem = 'the file is whole without this log, and not with it'
    elif alone is not None:
        with hold_checked(path) as connection:
            found = get_store_id(connection)
        if found != alone:
            problem = f'the file is of the store {alone}, and with this log of {found}'
    if not problem:
        return Check('log', True, 'there is no log that does not belong to the file')
    cure = f'end all processes of it, `mv {log} {log}.other`, then `robot-memory verify`'
    return Check('log', False, f'{log} does not belong to the store: {problem}', cure)


def _identify_alone(path: Path, *, thorough: bool) -> str | None:
    """Return the identity that the file has without its log, None where it is not whole then."""
    connection = connect_alone(path)
    try:
        load_vectors(connection)
        rows: list[Any] = [('ok',)]
        if thorough:
            rows = connection.execute('PRAGMA integrity_check(1)').fetchall()
        return get_store_id(connection) if rows == [('ok',)] else None
    except (apsw.Error, ValueError):
        return None
    finally:
        connection.close()

"""
Bring a store from any earlier schema version to the present one.

A step changes tables alone. What is derived from the records (`store.derived`) is rebuilt by
present code after the last step, so that no step needs any code that may change.
"""

from __future__ import annotations

from collections.abc import Callable

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.storage import derived
from robot_memory.storage.schema import v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13

STEPS: tuple[Callable[[apsw.Connection], None], ...] = (
    v1.upgrade,
    v2.upgrade,
    v3.upgrade,
    v4.upgrade,
    v5.upgrade,
    v6.upgrade,
    v7.upgrade,
    v8.upgrade,
    v9.upgrade,
    v10.upgrade,
    v11.upgrade,
    v12.upgrade,
    v13.upgrade,
)
"""The step at place n makes schema version n + 1 of version n."""


def version_of(connection: apsw.Connection) -> int:
    """Return the schema version of a store, 0 for an empty file."""
    return int(connection.pragma('user_version'))


def is_current(connection: apsw.Connection) -> bool:
    """Say whether schema and derived rows are those of this release."""
    return version_of(connection) == len(STEPS) and derived.is_current(connection)


def refuse_foreign(connection: apsw.Connection) -> None:
    """Raise Unavailable for a file that another program or a newer release wrote."""
    version = version_of(connection)
    ((tables,),) = connection.execute('SELECT count(*) FROM sqlite_schema')
    ((ours,),) = connection.execute(
        "SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ('meta', 'memories')"
    )
    if version > len(STEPS) and ours == 2:
        raise Unavailable(
            f'the store {connection.filename} has schema version {version}, but this release '
            f'supports up to {len(STEPS)}; use the release that wrote it, or a newer one'
        )
    if version < 0 or ((tables or version) and not (version and ours == 2)):
        raise Unavailable(
            f'{connection.filename} belongs to another program (user_version {version}); set '
            'db_path to another file'
        )


def create(connection: apsw.Connection) -> None:
    """Make a store of an empty file, or leave one that another process has just made."""
    connection.execute('BEGIN IMMEDIATE')
    try:
        if not version_of(connection):
            for step in STEPS:
                step(connection)
            derived.set_current(connection)
            connection.pragma('user_version', len(STEPS))
        connection.execute('COMMIT')
    except BaseException:
        _roll_back(connection)
        raise


def upgrade(
    connection: apsw.Connection, progress: Callable[[int, int], None] = lambda done, total: None
) -> None:
    """
    Take the missing steps, then rebuild what is derived; each in a transaction of its own.

    `progress` is told how many memories of how many are done. Whatever ends it between two
    transactions, the next call goes on from there.
    """
    while (version := version_of(connection)) < len(STEPS):
        connection.execute('BEGIN IMMEDIATE')
        try:
            # Another process may have taken this step while this one waited for the lock.
            if version_of(connection) == version:
                STEPS[version](connection)
                connection.pragma('user_version', version + 1)
            connection.execute('COMMIT')
        except BaseException:
            _roll_back(connection)
            raise
    connection.execute('BEGIN IMMEDIATE')
    try:
        if not derived.is_current(connection):
            derived.rebuild(connection, progress)
        connection.execute('COMMIT')
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:  # a full disk has ended it already
        connection.execute('ROLLBACK')

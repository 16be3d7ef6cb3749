"""
Bring a store from any earlier schema version to the present one.

A step changes tables alone. What is derived from the records (`store.derived`) is rebuilt by
present code after the last step, so that no step needs any code that may change. A new store is
made from schema/present.sql, which is what the steps leave of an empty file: `describe_present`
writes it, and a test fails where it drifts.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType

import apsw

from robot_memory.core.errors import Unavailable
from robot_memory.storage import derived
from robot_memory.storage.tables import meta

VERSION = 29
"""The schema version of this release; each has a module in storage/schema."""


def _take_step(version: int, connection: apsw.Connection) -> None:
    """Make a schema version of the one before it; steps that are not taken are not imported."""
    step: ModuleType = import_module(f'robot_memory.storage.schema.v{version}')
    step.upgrade(connection)


STEPS: tuple[Callable[[apsw.Connection], None], ...] = tuple(
    partial(_take_step, version) for version in range(1, VERSION + 1)
)
"""The step at place n makes schema version n + 1 of version n."""
PRESENT = Path(__file__).parent / 'schema' / 'present.sql'


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
            connection.execute(PRESENT.read_text(encoding='utf-8'))
            meta.put_store_id(connection)
            meta.set_switch(connection, meta.SECURE_DELETE, True)
            derived.set_current(connection)
            connection.pragma('user_version', len(STEPS))
        connection.execute('COMMIT')
    except BaseException:
        _roll_back(connection)
        raise


def describe_present() -> str:
    """Return as SQL what the steps leave of an empty store, but for its identity."""
    connection = apsw.Connection(':memory:')
    for step in STEPS:
        step(connection)
    # The tables that a virtual one keeps its content in come with it.
    entries = connection.execute(
        'SELECT s.name, s.sql, l.type FROM sqlite_schema AS s'
        " LEFT JOIN pragma_table_list AS l ON l.schema = 'main' AND l.name = s.name"
        " WHERE s.sql IS NOT NULL AND s.name NOT LIKE 'sqlite_%' AND l.type IS NOT 'shadow'"
        ' ORDER BY s.rowid'
    ).fetchall()
    lines = [f'{sql};' for _, sql, _ in entries]
    for name in (name for name, _, kind in entries if kind == 'table' and name != 'meta'):
        columns = ', '.join(row[1] for row in connection.execute(f'PRAGMA table_info({name})'))
        for row in connection.execute(f'SELECT {columns} FROM {name}'):
            values = ', '.join(map(apsw.format_sql_value, row))
            lines.append(f'INSERT INTO {name} ({columns}) VALUES ({values});')
    connection.close()
    return '\n'.join(lines) + '\n'


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
        from robot_memory.storage.tables import rule_conditions, trials

        rule_conditions.refresh(connection)
        trials.refresh(connection)
        connection.execute('COMMIT')
    except BaseException:
        _roll_back(connection)
        raise


def _roll_back(connection: apsw.Connection) -> None:
    if connection.in_transaction:  # a full disk has ended it already
        connection.execute('ROLLBACK')

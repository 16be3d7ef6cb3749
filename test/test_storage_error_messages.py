"""Every error of SQLite is told in words."""

from __future__ import annotations

from pathlib import Path

import apsw
import pytest

from robot_memory.core.errors import Internal, RobotMemoryError, Unavailable
from robot_memory.storage import Database


@pytest.mark.parametrize(
    'error',
    [
        kind
        for kind in vars(apsw).values()
        if isinstance(kind, type) and issubclass(kind, apsw.Error)
    ],
    ids=lambda kind: kind.__name__,
)
def test_every_error_of_sqlite_is_told_in_words(error: type[apsw.Error], tmp_path: Path) -> None:
    database = Database(tmp_path / 'memory.db', 'normal')
    for transaction in (database.read, database.write):
        with pytest.raises(RobotMemoryError, match='store|memory'), transaction():
            raise error('of some kind')
    with database.write() as connection:
        connection.execute('SELECT 1')
    database.close()


def test_a_statement_that_sqlite_refuses_is_told_in_words(tmp_path: Path) -> None:
    database = Database(tmp_path / 'memory.db', 'normal')
    with pytest.raises(Internal, match='SQLError: near "SELEKT"'), database.read() as connection:
        connection.execute('SELEKT 1')
    with pytest.raises(Internal, match='ConstraintError'), database.write() as connection:
        connection.execute('INSERT INTO meta (key) SELECT key FROM meta')
    database.close()


def test_a_full_disk_asks_for_space_and_for_no_backup(tmp_path: Path) -> None:
    database = Database(tmp_path / 'memory.db', 'normal')
    with database.write() as connection:
        ((pages,),) = connection.execute('PRAGMA page_count')
        connection.execute(f'PRAGMA max_page_count = {pages}')
    with (
        pytest.raises(Unavailable, match='is full .* free space') as caught,
        database.write() as connection,
    ):
        connection.execute('CREATE TABLE more AS SELECT zeroblob(1000000)')
    assert 'backup' not in str(caught.value)
    database.close()

"""A store of any schema version that ever landed opens in this release, and loses nothing."""

from __future__ import annotations

import json
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import prepared
import pytest
from old_stores import (
    every_version,
    fixture,
    opened,
    records,
)

from robot_memory.api import RobotMemory
from robot_memory.core.clock import DAY
from robot_memory.core.errors import Unavailable
from robot_memory.storage import Database, checksums, schema_runner
from robot_memory.storage import upgrade as upgrading
from robot_memory.storage.upgrade import NoRoom, copy_of


@every_version
def test_a_store_of_every_version_is_upgraded_without_loss(version: int, tmp_path: Path) -> None:
    path = fixture(version, tmp_path)
    before = records(path)
    assert len(before['memories']) >= 20
    robot = opened(path)
    after = records(path)
    assert {table: after[table] for table in before} == before
    assert robot.rows('PRAGMA integrity_check') == [('ok',)]
    assert robot.rows('PRAGMA foreign_key_check') == []
    assert robot.rows('PRAGMA user_version') == [(len(schema_runner.STEPS),)]
    robot.close()


@every_version
def test_an_upgraded_store_answers_and_learns_as_a_new_one(version: int, tmp_path: Path) -> None:
    robot = opened(fixture(version, tmp_path))
    assert 'Grip force of 12.5 N holds the red cup' in robot.contents(query='red cup', n=5)
    assert '发现红色杯子需要更大的夹持力' in robot.contents(query='红色杯子', n=5)
    assert robot.contents(query='Türgriff', n=1)[0].startswith('Die Schublade')
    assert robot.contents(query='датчик', n=1)[0].startswith('Робот остановился')
    assert robot.contents(query='cellar of house B') == []
    near = {'field': 'spatial.object_position', 'target': [1.3, 0.7, 0.42]}
    assert robot.contents(spatial_sort=near, n=1) == ['Grip force of 12.5 N holds the red cup']
    failed = {'task.success': False}
    assert robot.contents(context_filter=failed) == [
        'In simulation the gripper slips on wet plates'
    ]
    assert robot.learn('Grip force of 12.5 N holds the red cup').status == 'duplicate'
    assert robot.learn('Grip force of 12.7 N holds the red cup').status == 'created'
    robot.close()


def test_two_processes_upgrade_one_store_once(tmp_path: Path) -> None:
    path = fixture(1, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        databases = list(threads.map(lambda _: Database(path, 'normal', upgrade=True), range(4)))
    with databases[0].read() as connection:
        assert schema_runner.is_current(connection)
        assert connection.execute('SELECT count(*) FROM meta').fetchone() == (3,)
    for database in databases:
        database.close()


def test_a_store_that_another_connection_switches_to_wal_is_opened(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    Database(path, 'normal').close()
    other = checksums.connect(path)
    assert other.pragma('journal_mode', 'delete') == 'delete'
    other.execute('BEGIN IMMEDIATE')  # the lock that a switch to WAL does not wait for
    attempts = []

    def release_at_the_second(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if 'wal' in sql.lower():
            attempts.append(sql)
            if len(attempts) == 2:
                other.execute('ROLLBACK')
        return True

    def trace(connection: apsw.Connection) -> None:
        connection.set_exec_trace(release_at_the_second)

    apsw.connection_hooks.append(trace)
    try:
        database = Database(path, 'normal')
    finally:
        apsw.connection_hooks.remove(trace)
    assert len(attempts) == 2
    database.close()
    other.close()


@pytest.mark.parametrize('version', [-1, 7, 2**31 - 1])
def test_a_foreign_database_with_any_user_version_is_refused_in_words(
    version: int, tmp_path: Path
) -> None:
    connection = checksums.connect(tmp_path / 'other.db')
    connection.execute('CREATE TABLE songs (title)')
    connection.pragma('user_version', version)
    with pytest.raises(Unavailable, match='another program'):
        Database(tmp_path / 'other.db')
    assert connection.pragma('user_version') == version


@pytest.mark.parametrize('face', ['python', 'command line', 'archive'])
def test_what_may_not_upgrade_names_the_command_that_does(face: str, tmp_path: Path) -> None:
    path = fixture(4, tmp_path)
    before = records(path)
    wanted = r'schema version 4.*robot-memory upgrade --db .*v4\.db'
    if face == 'python':
        with pytest.raises(Unavailable, match=wanted):
            RobotMemory(path, model='none')
    else:
        words = {'command line': ['recall', 'red cup'], 'archive': ['export', 'all']}[face]
        done = run_cli('--db', path, *words)
        assert (done.returncode, done.stdout) == (1, '')
        assert re.search(wanted, done.stderr)
        assert done.stderr.count('\n') == 1
    assert records(path) == before
    assert [one.name for one in tmp_path.iterdir()] == ['v4.db']


def test_the_command_upgrades_and_keeps_the_store_as_it_was(tmp_path: Path) -> None:
    path = fixture(5, tmp_path)
    before = records(path)
    done = run_cli('--db', path, '--json', 'upgrade')
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer['from_version'], answer['version']) == (5, len(schema_runner.STEPS))
    kept = Path(answer['copy'])
    assert records(kept) == before
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    connection = checksums.connect(kept)
    assert connection.pragma('user_version') == 5
    connection.close()
    again = json.loads(run_cli('--db', path, '--json', 'upgrade').stdout)
    assert (again['from_version'], again['copy']) == (None, None)
    assert sorted(one.name for one in tmp_path.iterdir()) == ['v5.db', 'v5.db.before-upgrade']


def test_the_copy_holds_what_the_log_did(tmp_path: Path) -> None:
    path = fixture(8, tmp_path)
    connection = checksums.connect(path)
    connection.pragma('journal_mode', 'wal')
    connection.execute("UPDATE memories SET content = 'only in the log' WHERE id = 1")
    Database(path, 'normal', upgrade=True).close()
    connection.close()
    assert 'only in the log' in {row[4] for row in records(copy_of(path))['memories']}


def test_without_room_nothing_is_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = fixture(5, tmp_path)
    before = records(path)
    monkeypatch.setattr(upgrading, '_MARGIN', 1 << 60)
    monkeypatch.setattr(upgrading, '_clone', lambda *_: False)
    with pytest.raises(NoRoom, match=r'requires \d+ MB.*has \d+ MB free; nothing was changed'):
        opened(path)
    assert records(path) == before
    assert not copy_of(path).exists()


def test_one_copy_is_kept_for_thirty_days(tmp_path: Path) -> None:
    path = fixture(5, tmp_path)
    Database(path, 'normal', upgrade=True).close()
    made = copy_of(path).stat().st_mtime_ns // 1000
    assert not upgrading.remove_expired_copy(path, made + 30 * DAY - 1)
    assert copy_of(path).exists()
    assert upgrading.remove_expired_copy(path, made + 30 * DAY)
    assert not copy_of(path).exists()
    assert not upgrading.remove_expired_copy(path, made + 31 * DAY)


def run_cli(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'robot_memory', '--model', 'none', *map(str, arguments)]
    return prepared.run(command, capture_output=True, text=True, check=False)

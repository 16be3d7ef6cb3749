"""A store of any schema version that ever landed opens in this release, and loses nothing."""

from __future__ import annotations

import ast
import gzip
import hashlib
import json
import re
import stat
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import apsw
import prepared
import pytest
from robots import MovableClock, Robot
from stores import index_rows
from waiting import until

from robot_memory.api import RobotMemory
from robot_memory.core.clock import DAY
from robot_memory.core.errors import Internal, RobotMemoryError, Unavailable
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.storage import Connection, Database, derived, read_only, schema_runner
from robot_memory.storage import upgrade as upgrading
from robot_memory.storage.indexes import indexed
from robot_memory.storage.read_only import ReadOnlyStore
from robot_memory.storage.upgrade import NoRoom, copy_of

FIXTURES = Path(__file__).parent / 'fixtures' / 'schema'
VERSIONS = [1, 2, 4, 5, 6, 7, 8, 9]
"""Those that a release or a checkout ever wrote; 3 was a step on the way to 4."""
FROZEN = {
    'v1.py': '7d584a61951c6e2f26621aee64b371ae22794c8f25cecaf7d7707d2b57c4e689',
    'v2.py': '118c73725591057bcbd91494ce366eccc68ddce969cc273f8f70e9b82b764edb',
    'v3.py': '32b316f6e3a3707f324ff4e23b8a47ba67f2be119ce2961ab360ce9359024f55',
    'v4.py': '13ec200f49f05b7fa75f33ef6715d9c264ace0dba18906eb55b6755d43780427',
    'v5.py': 'f3cbf627fef90800253f80b1e8fdc7b9bc34fadee7f5029765bea5175b0d6f02',
    'v6.py': '3edacae0b8a10701b54249afefcd35e90f9f7cad62644e228d1ddd453aa730cf',
    'v7.py': '41183f101ba79153c247d415a84e71a8d75c409d6a8186f04892bfd79f4b5780',
    'v8.py': '4c080cb1e0898aa8c1f81bcf6443b0f30d42071fed931ad74c9bc5b96a39119f',
    'v9.py': 'a4d416556364de8509136eeb1a06132ddbfc16465583a8250d580cffd94c5c66',
}
"""SHA-256 of each step's file: stores of its version exist, so it never changes again."""
RULES = (1, 'e108490ba337d7e758298b0e76e30b71d78aec1fb93d5f42a088e3047e8b04ca')
"""The version of the rules, and SHA-256 of what they derive from a fixture."""
RECORDS = {
    'memories': 'id type collection session_id content category confidence confidence_base tags '
    'scope_files perception_type context actor_id event_id strategy_name stamp frame_id pose '
    'status superseded_by access_count last_accessed created_at updated_at',
    'sessions': 'id collection context status outcome_score created_at ended_at',
    'payloads': 'memory_id data metadata',
    'audit': 'id memory_id action actor reason detail at',
    'parts': 'id memory_id name media_type size protected content removed_at',
    'events': 'memory_id source topic subject onset peak end look broken_off',
    'turns': 'memory_id session_id number role',
    'origins': 'memory_id store_id first_id created_at',
}
"""The columns that are no derived ones, by table; older stores lack some tables."""


_QUOTED = '"{}"'.format


def fixture(version: int, folder: Path) -> Path:
    path = folder / f'v{version}.db'
    path.write_bytes(gzip.decompress((FIXTURES / f'v{version}.db.gz').read_bytes()))
    return path


def records(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    connection = apsw.Connection(str(path))
    found = {
        table: list(
            connection.execute(
                f'SELECT {", ".join(map(_QUOTED, columns.split()))} FROM {table} ORDER BY 1, 2'
            )
        )
        for table, columns in RECORDS.items()
        if connection.table_exists(None, table)
    }
    found['store_id'] = list(connection.execute("SELECT value FROM meta WHERE key = 'store_id'"))
    connection.close()
    return found


def opened(path: Path) -> Robot:
    settings = Settings(db_path=str(path), model='none')
    clock = MovableClock()
    clock.forward(days=365)  # later than all that the fixtures say
    return Robot(Memory(settings, clock=clock, upgrade=True))


def derived_rows(robot: Robot) -> list[Any]:
    """Return what follows from the records, vectors aside."""
    with robot.memory.db.read() as connection:
        return [
            index_rows(connection),
            robot.rows('SELECT memory_id, collection, real, terms FROM indexed ORDER BY 1'),
            robot.rows('SELECT term, doc, cnt FROM memories_vocabulary ORDER BY 1'),
            robot.rows('SELECT * FROM collections ORDER BY 1'),
            robot.rows('SELECT * FROM counts WHERE memories > 0 ORDER BY 1, 2'),
            robot.rows('SELECT id, content_hash, guard, token_count FROM memories ORDER BY 1'),
        ]


every_version = pytest.mark.parametrize('version', VERSIONS)


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


def test_vectors_of_the_same_model_survive_a_rebuild(tmp_path: Path) -> None:
    path = fixture(len(schema_runner.STEPS), tmp_path)
    planes = 'SELECT memory_id, coarse, fine FROM indexed WHERE coarse IS NOT NULL ORDER BY 1'
    connection = apsw.Connection(str(path))
    before = list(connection.execute(planes))
    connection.close()
    robot = opened(path)
    assert len(before) > 10
    assert robot.rows(planes) == before
    robot.close()


@every_version
def test_rows_that_other_rules_derived_are_rebuilt(version: int, tmp_path: Path) -> None:
    path = fixture(version, tmp_path)
    robot = opened(path)
    expected = derived_rows(robot)
    with robot.memory.db.write() as connection:
        connection.execute("""
            UPDATE meta SET value = 0 WHERE key = 'derived_rules';
            DELETE FROM facets WHERE path_id % 2;
            UPDATE indexed SET terms = x'';
            UPDATE memories SET guard = 'other rules';
            DELETE FROM memories_fts WHERE rowid % 3 = 0;
            DELETE FROM places;
        """)
    robot.close()
    robot = opened(path)
    assert derived_rows(robot) == expected
    robot.close()


@every_version
def test_a_further_column_in_the_hottest_table_breaks_no_older_step(
    version: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Steps called present code once, which wrote to columns that were not there yet."""

    def next_step(connection: Connection) -> None:
        connection.execute('ALTER TABLE indexed ADD COLUMN weight REAL')

    put = indexed.put

    def put_next(connection: Connection, memory_id: int, *rest: Any) -> None:
        put(connection, memory_id, *rest)
        connection.execute('UPDATE indexed SET weight = 1 WHERE memory_id = ?', (memory_id,))

    monkeypatch.setattr(schema_runner, 'STEPS', (*schema_runner.STEPS, next_step))
    monkeypatch.setattr(indexed, 'put', put_next)
    robot = opened(fixture(version, tmp_path))
    assert robot.rows('SELECT count(*) FROM indexed WHERE weight IS NULL') == [(0,)]
    assert robot.rows('SELECT count(*) > 0 FROM indexed') == [(1,)]
    robot.close()


def test_steps_are_frozen_and_stand_alone() -> None:
    folder = Path(schema_runner.__file__).parent / 'schema'
    steps = {path.name: path for path in folder.glob('v*.py')}
    assert len(steps) == len(schema_runner.STEPS)
    for name, path in steps.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == FROZEN.get(name), (
            f'{name} changed: add a further step instead'
        )
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, (ast.Import, ast.ImportFrom)):
                assert 'robot_memory' not in ast.unparse(node), f'{name}: {ast.unparse(node)}'


def test_the_rules_of_derived_rows_change_with_their_version(tmp_path: Path) -> None:
    """The records of a fixture give these rows; where they give others, raise derived.RULES."""
    robot = opened(fixture(8, tmp_path))
    found = hashlib.sha256(repr(derived_rows(robot)).encode()).hexdigest()
    robot.close()
    assert (derived.RULES, found) == RULES


def test_statements_that_insert_name_their_columns() -> None:
    """Without their names a further column breaks them."""
    for path in Path(derived.__file__).parent.rglob('*.py'):
        assert path.parent.name == 'schema' or not re.search(
            r'INTO \w+ VALUES', path.read_text()
        ), path.name


def test_a_step_that_fails_leaves_the_store_as_it_was_and_the_next_start_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixture(2, tmp_path)

    def broken(connection: Connection) -> None:
        connection.execute('CREATE TABLE half (x)')
        raise ValueError('half way')

    monkeypatch.setattr(
        schema_runner, 'STEPS', (*schema_runner.STEPS[:5], broken, *schema_runner.STEPS[6:])
    )
    with pytest.raises(ValueError, match='half way'):
        opened(path)
    connection = apsw.Connection(str(path))
    assert connection.pragma('user_version') == 5
    assert not connection.table_exists(None, 'half')
    connection.close()
    monkeypatch.undo()
    robot = opened(path)
    assert robot.contents(query='red cup', n=1) == ['Grip force of 12.5 N holds the red cup']
    robot.close()


def test_two_processes_upgrade_one_store_once(tmp_path: Path) -> None:
    path = fixture(1, tmp_path)
    with ThreadPoolExecutor(4) as threads:
        databases = list(threads.map(lambda _: Database(path, 'normal', upgrade=True), range(4)))
    with databases[0].read() as connection:
        assert schema_runner.is_current(connection)
        assert connection.execute('SELECT count(*) FROM meta').fetchone() == (2,)
    for database in databases:
        database.close()


@pytest.mark.parametrize('version', [-1, 7, 2**31 - 1])
def test_a_foreign_database_with_any_user_version_is_refused_in_words(
    version: int, tmp_path: Path
) -> None:
    connection = apsw.Connection(str(tmp_path / 'other.db'))
    connection.execute('CREATE TABLE songs (title)')
    connection.pragma('user_version', version)
    with pytest.raises(Unavailable, match='another program'):
        Database(tmp_path / 'other.db')
    assert connection.pragma('user_version') == version


# Who upgrades, and the copy that is kept


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
    connection = apsw.Connection(str(kept))
    assert connection.pragma('user_version') == 5
    connection.close()
    again = json.loads(run_cli('--db', path, '--json', 'upgrade').stdout)
    assert (again['from_version'], again['copy']) == (None, None)
    assert sorted(one.name for one in tmp_path.iterdir()) == ['v5.db', 'v5.db.before-upgrade']


def test_the_copy_holds_what_the_log_did(tmp_path: Path) -> None:
    path = fixture(8, tmp_path)
    connection = apsw.Connection(str(path))
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


# Where the disk has no room for the copy


@pytest.fixture
def no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, '_MARGIN', 1 << 60)
    monkeypatch.setattr(upgrading, '_clone', lambda *_: False)


@every_version
def test_without_room_a_store_of_every_version_is_read_as_it_would_be_upgraded(
    version: int, tmp_path: Path, no_room: None, caplog: pytest.LogCaptureFixture
) -> None:
    path = fixture(version, tmp_path)
    before = records(path)
    if version == len(schema_runner.STEPS):
        older = apsw.Connection(str(path))
        older.execute("UPDATE meta SET value = 0 WHERE key = 'derived_rules'")
        older.close()
    settings = Settings(db_path=str(path), model='none')
    with Memory(settings, upgrade=True, read_only_fallback=True) as memory:
        robot = Robot(memory)
        assert 'Grip force of 12.5 N holds the red cup' in robot.contents(query='red cup', n=5)
        command = re.escape(f'`robot-memory upgrade --db {path}`')
        for write in (
            lambda: robot.learn('the lamp is green'),
            lambda: robot.forget(1, 'wrong'),
            lambda: robot.start_session(),
            lambda: robot.maintain(),
        ):
            with pytest.raises(ReadOnlyStore, match=rf'read-only.*no.*changed.*{command}'):
                write()
    assert sum('served read-only' in message for message in caplog.messages) == 1
    assert records(path) == before
    assert not copy_of(path).exists()


def test_without_room_the_background_worker_tries_no_write_and_makes_no_backup(
    tmp_path: Path,
    no_room: None,
    tiny_embedders: dict[int, BackgroundEmbedder],
    caplog: pytest.LogCaptureFixture,
) -> None:
    path, backups = fixture(5, tmp_path), tmp_path / 'backups'
    settings = Settings(db_path=str(path), backup_folder=str(backups))
    with Memory(
        settings, embedder=tiny_embedders[16], upgrade=True, read_only_fallback=True
    ) as memory:

        def is_loaded() -> bool:
            with memory.db.read() as connection:
                return memory.cache_state(connection) == 'active'

        until(is_loaded, 'the worker to load the indexes; closing waits for what it does next')
    assert [message for message in caplog.messages if 'retried' in message] == []
    assert not backups.exists()


def test_without_room_on_disk_and_in_memory_the_store_is_refused(
    tmp_path: Path, no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixture(5, tmp_path)
    monkeypatch.setattr(read_only, '_MARGIN', 1 << 60)
    with pytest.raises(NoRoom, match='nothing was changed'):
        Database(path, upgrade=True, read_only_fallback=True)


# Every error of SQLite


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

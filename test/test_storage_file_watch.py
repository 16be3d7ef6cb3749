"""Files of the store that go, or change, under a process that has it open: nothing is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import prepared
import pytest
from narrowing import require
from robots import Robot, check_file

from robot_memory.core.errors import Unavailable

Open = Callable[..., Robot]
SHELL = """
import os, signal, sys
from pathlib import Path
from robot_memory.core.errors import RobotMemoryError
from robot_memory.memory import Memory
from robot_memory.core.settings import Settings
from robot_memory.api import RobotMemory
db, more = Path(sys.argv[1]), dict(resident=False)
robot = RobotMemory(str(db), model='none', durability='normal')
"""
"""A process that has the store open, and does to it what each test says."""


def ran(script: str, path: Path, before: str = '') -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-c', before + SHELL + script, str(path)]
    return prepared.run(command, capture_output=True, text=True)


def contents(open_robot: Open) -> list[str]:
    robot = open_robot(resident=False)
    found = [row[0] for row in robot.rows('SELECT content FROM memories ORDER BY id')]
    robot.close()
    return found


KILLED = """
acknowledged = 0
for number in range(60):
    if number == 40:
        os.{how}
    try:
        robot.learn(f'fact number {{number}}')
        acknowledged += 1
    except RobotMemoryError as error:
        print(error.code, 'was removed, replaced or truncated' in str(error))
        break
print(acknowledged, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(
    'how', ["unlink(f'{db}-wal')", "unlink(f'{db}-shm')", "rename(f'{db}-wal', f'{db}-gone')"]
)
def test_what_was_acknowledged_before_a_log_was_removed_is_there_after_a_kill(
    open_robot: Open, tmp_path: Path, how: str
) -> None:
    done = ran(KILLED.format(how=how), tmp_path / 'memory.db')
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert done.stdout == 'unavailable True\n40\n'
    assert contents(open_robot) == [f'fact number {number}' for number in range(40)]
    check_file(tmp_path / 'memory.db')


@pytest.mark.parametrize('name', ['-wal', '-shm'])
def test_a_log_that_is_gone_takes_no_more_writes(
    open_robot: Open, tmp_path: Path, name: str
) -> None:
    robot = open_robot(resident=False)
    kept = robot.learn('the cup is red').memory_id
    assert robot.contents(query='cup') == ['the cup is red']
    path = Path(f'{robot.memory.db.path}{name}')
    path.rename(tmp_path / 'elsewhere')
    for _ in range(2):
        with pytest.raises(Unavailable, match=f'{name} was removed, replaced or truncated'):
            robot.learn('the cup is blue')
    assert robot.contents(query='cup') == ['the cup is red']
    with pytest.raises(Unavailable, match='Restart'):
        robot.forget(require(kept), 'wrong')
    path.write_bytes((tmp_path / 'elsewhere').read_bytes())
    with pytest.raises(Unavailable, match=f'{name} was removed, replaced or truncated'):
        robot.maintain()
    robot.close()
    path.unlink(missing_ok=True)
    assert open_robot().learn('the cup is green').status == 'created'


def test_a_write_during_which_the_log_goes_is_not_acknowledged(robot: Robot) -> None:
    def write() -> None:
        with robot.memory.db.write() as connection:
            connection.execute("INSERT INTO meta VALUES ('half', 1)")
            os.unlink(f'{robot.memory.db.path}-wal')

    with pytest.raises(Unavailable, match='was removed, replaced or truncated'):
        write()


def test_no_new_connection_joins_other_files(robot: Robot) -> None:
    robot.learn('the cup is red')
    os.unlink(f'{robot.memory.db.path}-wal')
    with (
        pytest.raises(Unavailable, match='was removed, replaced or truncated'),
        robot.memory.db.connect(),
    ):
        pass
    assert not os.path.exists(f'{robot.memory.db.path}-wal')
    os.unlink(robot.memory.db.path)
    with (
        pytest.raises(Unavailable, match='was removed, replaced or truncated'),
        robot.memory.db.connect(),
    ):
        pass
    assert not robot.memory.db.path.exists()


def test_who_opened_the_store_anew_loses_nothing_when_the_old_process_ends(
    open_robot: Open, tmp_path: Path
) -> None:
    old = open_robot()
    old.learn('the cup is red')
    path = old.memory.db.path
    for name in ('-wal', '-shm'):
        os.unlink(f'{path}{name}')
    with pytest.raises(Unavailable, match='was removed, replaced or truncated'):
        old.learn('the cup is blue')
    anew = """
for number in range(200):
    robot.learn(f'fact number {number}')
print('written', flush=True)
sys.stdin.readline()
robot.learn('the last fact')
print('more', flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    command = [sys.executable, '-c', SHELL + anew, str(path)]
    with prepared.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdin and other.stdout
        assert other.stdout.readline() == 'written\n'
        before = os.stat(f'{path}-wal').st_ino
        old.close()
        assert os.stat(f'{path}-wal').st_ino == before
        other.stdin.write('\n')
        other.stdin.flush()
        assert other.stdout.readline() == 'more\n'
    facts = ['the cup is red', *(f'fact number {number}' for number in range(200))]
    assert contents(open_robot) == [*facts, 'the last fact']
    check_file(path)


def test_processes_that_come_and_go_leave_the_files_of_the_others_alone(
    open_robot: Open, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    for number in range(3):
        robot.learn(f'the cup is here {number}')
        script = f"robot.learn('the tray is {number}'); robot.maintain()"
        done = ran(script, tmp_path / 'memory.db')
        assert done.returncode == 0, done.stderr
    assert robot.learn('the last of all').status == 'created'
    assert len(contents(open_robot)) == 7


# What no lock forbids: others that write over the files themselves

OVERWRITTEN = """
import shutil
for number in range({known}):
    robot.learn(f'fact number {{number}}')
if {checkpoint}:
    robot.maintain()
robot.recall('fact number 7', n=1)
{how}
codes = set()
for number in range(60):
    for call in (
        lambda: robot.recall('fact number', n=100),
        lambda: robot.learn(f'another fact {{number}}'),
        lambda: robot.query_records(limit=1000),
        lambda: robot.maintain() if number == 20 else None,
    ):
        try:
            call()
        except RobotMemoryError as error:
            codes.add(error.code)
print(sorted(codes), flush=True)
"""


def foreign(path: Path) -> Path:
    """Make a database of another program."""
    connection = apsw.Connection(str(path))
    connection.execute('CREATE TABLE songs (title)')
    connection.close()
    return path


@pytest.mark.parametrize(
    ('how', 'checkpoint'),
    [
        ('os.truncate(db, 0)', True),
        ('os.truncate(db, 4096)', True),
        ("db.write_bytes(b'no database ' * 10_000)", True),
        ("shutil.copyfile(f'{db}.other', db)", True),
        ("os.truncate(f'{db}-wal', 0)", False),
        ("os.truncate(f'{db}-shm', 0)", False),
    ],
)
def test_a_store_that_is_written_over_is_unavailable_in_words(
    tmp_path: Path, how: str, checkpoint: bool
) -> None:
    foreign(tmp_path / 'memory.db.other')
    known = 60 if checkpoint else 10  # so few that all of it is still in the log
    script = OVERWRITTEN.format(how=how, checkpoint=checkpoint, known=known)
    done = ran(script, tmp_path / 'memory.db')
    assert (done.returncode, done.stdout) == (0, "['unavailable']\n"), done.stderr


def test_no_connection_maps_the_file_into_memory(robot: Robot) -> None:
    assert robot.rows('PRAGMA mmap_size') == [(0,)]
    with robot.memory.db.connect() as connection:
        assert connection.pragma('mmap_size') == 0


def test_a_file_that_is_gone_takes_no_more_writes(open_robot: Open, tmp_path: Path) -> None:
    robot = open_robot()
    robot.learn('The cup is red')
    path = robot.memory.db.path
    path.rename(tmp_path / 'elsewhere.db')
    with pytest.raises(Unavailable, match='was removed, replaced or truncated'):
        robot.learn('The cup is blue')
    path.touch()
    with pytest.raises(Unavailable, match='was removed, replaced or truncated'):
        robot.forget(1, 'gone')
    path.unlink()
    (tmp_path / 'elsewhere.db').rename(path)
    assert robot.learn('The cup is green').status == 'created'


FAILING = """
import apsw

class Failing(apsw.VFS):
    'A disk whose every read of the file fails, once `broken` is set.'

    broken = False

    def __init__(self):
        super().__init__('failing', 'unix', makedefault=True)

    def xOpen(self, name, flags):
        return File(name, flags)

class File(apsw.VFSFile):
    def __init__(self, name, flags):
        self.path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__('unix', name, flags)

    def xRead(self, amount, offset):
        if Failing.broken and self.path.endswith('.db'):
            raise apsw.IOError('a sector cannot be read')
        return super().xRead(amount, offset)

vfs = Failing()
"""


def test_a_disk_that_fails_is_unavailable_in_words(tmp_path: Path) -> None:
    script = """
for number in range(300):
    robot.learn(f'fact number {number}')
robot.close()
robot = RobotMemory(str(db), model='none', durability='normal')
Failing.broken = True
codes = set()
for call in (
    lambda: robot.recall('fact', n=100),
    lambda: robot.query_records(limit=1000),
    lambda: robot.learn('another fact'),
):
    try:
        call()
    except RobotMemoryError as error:
        codes.add(error.code)
print(sorted(codes))
Failing.broken = False
robot.close()
"""
    done = ran(script, tmp_path / 'memory.db', FAILING)
    assert (done.returncode, done.stdout) == (0, "['unavailable']\n"), done.stderr
    check_file(tmp_path / 'memory.db')

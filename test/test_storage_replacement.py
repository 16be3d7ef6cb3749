"""Another file in the place of a store, wherever the process that puts it there ends."""

from __future__ import annotations

import logging
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import prepared
import pytest
from robots import Robot, check_file

from robot_memory.storage import checksums
from robot_memory.storage.connection import Database
from robot_memory.storage.replacement import InUse, list_replaced, replace_store
from robot_memory.storage.store_files import name_file

CRASH = """
import os, sys
from robot_memory.api import RobotMemory
robot = RobotMemory(sys.argv[1], model="none")
for number in range(50): robot.learn(f"Later {number} came box {number * 31}")
os._exit(9)
"""
USE = """
import sys
from robot_memory.api import RobotMemory
robot = RobotMemory(sys.argv[1], model="none")
print("open", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def store(robot: Robot) -> Path:
    """A closed store with 20 memories."""
    for number in range(20):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.close()
    return robot.memory.db.path


@pytest.fixture
def crashed(store: Path, tmp_path: Path) -> tuple[Path, Path]:
    """The store with 50 more memories in its log, and a copy of before."""
    new = tmp_path / 'new.db'
    shutil.copy(store, new)
    assert prepared.run([sys.executable, '-c', CRASH, str(store)]).returncode == 9
    assert name_file(store, '-wal').stat().st_size > 0
    return store, new


def count(store: Path) -> int:
    connection = checksums.connect(store)
    ((found,),) = connection.execute('SELECT count(*) FROM memories')
    connection.close()
    return int(found)


@pytest.mark.parametrize('moved', [(), ('-wal',), ('-wal', '')])
def test_who_opens_the_store_completes_what_was_interrupted(
    crashed: tuple[Path, Path], moved: tuple[str, ...], caplog: pytest.LogCaptureFixture
) -> None:
    store, new = crashed
    kept = name_file(store, '.before-restore')
    new.rename(store.with_name(f'.{store.name}.replacing'))
    for suffix in moved:
        name_file(store, suffix).rename(name_file(kept, suffix))
    with caplog.at_level(logging.WARNING):
        Database(store).close()
    assert 'completed an interrupted restore' in caplog.text
    assert (count(store), count(kept)) == (20, 70)
    check_file(store)
    assert list_replaced(store) == [kept]


def test_the_log_of_the_old_file_stays_with_it(crashed: tuple[Path, Path]) -> None:
    store, new = crashed
    kept = replace_store(store, new)
    assert kept == name_file(store, '.before-restore')
    assert (count(store), count(kept)) == (20, 70)
    check_file(store)


def test_a_store_that_is_in_use_stays_though_its_replacement_was_interrupted(
    crashed: tuple[Path, Path], caplog: pytest.LogCaptureFixture
) -> None:
    store, new = crashed
    command = [sys.executable, '-c', USE, str(store)]
    with prepared.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == 'open\n'
        again = Path(shutil.copy(new, name_file(new, '.again')))
        with pytest.raises(InUse, match=f'in use by process {user.pid} '):
            replace_store(store, new)
        again.rename(store.with_name(f'.{store.name}.replacing'))
        with caplog.at_level(logging.WARNING):
            Database(store).close()
        assert 'an interrupted restore is given up' in caplog.text
        user.communicate('\n')
    assert count(store) == 70
    assert sorted(path.name for path in store.parent.glob('*.before-restore*')) == []


def test_owner_and_mode_are_kept_and_a_link_stays_a_link(
    store: Path, tmp_path: Path, open_robot: Callable[..., Robot]
) -> None:
    store.chmod(0o640)
    link = tmp_path / 'link.db'
    link.symlink_to(store)
    new = Path(shutil.copy(store, tmp_path / 'new.db'))
    new.chmod(0o600)
    kept = replace_store(link, new)
    assert kept == name_file(store, '.before-restore')
    assert link.is_symlink()
    assert store.stat().st_mode & 0o777 == 0o640
    assert count(store) == 20

"""A home that is not there or cannot be written is said in one line, by every command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import prepared
import pytest
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.folders import expand_path, find_home, find_user_folder

COMMAND = [sys.executable, '-m', 'robot_memory']
NOBODY = ['unshare', '--user', '--map-user=54321', '--map-group=54321', '--']
"""Runs a command as a user of whom the system knows nothing."""
COMMANDS = (
    ('learn', 'The red cup needs 12 N'),
    ('recall', 'cup'),
    ('status',),
    ('index',),
    ('import', 'nowhere'),
    ('export', 'all'),
    ('plot', '1'),
    ('mcp',),
)


def failed(folder: Path, *arguments: str, command: list[str] = COMMAND, **more: str | None) -> str:
    """Return the one line that a command fails with."""
    names = ('HOME', 'ROBOT_MEMORY_DB', 'XDG_CACHE_HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME')
    environment = {name: value for name, value in os.environ.items() if name not in names}
    start = prepared.run if command is COMMAND else subprocess.run
    ran = start(
        [*command, *arguments],
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
        env=environment | {name: value for name, value in more.items() if value is not None},
        cwd=folder,
        timeout=HANG_SECONDS,
    )
    assert (ran.returncode, ran.stdout) == (1, ''), ran.stderr
    (line,) = ran.stderr.splitlines()
    assert line.startswith('robot-memory: [')
    assert list(folder.iterdir()) == []
    return line


@pytest.mark.parametrize('arguments', COMMANDS, ids=lambda arguments: arguments[0])
def test_a_home_that_cannot_be_written_is_one_line(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    line = failed(tmp_path, *arguments, HOME='/proc/nobody')
    assert '/proc/nobody/.local/share/robot_memory/memory.db' in line


@pytest.mark.parametrize('arguments', COMMANDS, ids=lambda arguments: arguments[0])
def test_without_any_home_it_is_said_what_to_set(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    if subprocess.run([*NOBODY, 'true'], capture_output=True).returncode:
        pytest.skip('this system lets no process become a user that it does not know')
    line = failed(tmp_path, *arguments, command=[*NOBODY, *COMMAND])
    assert 'HOME is not set and there is no user 54321; set HOME' in line
    assert 'XDG_DATA_HOME' in line


def test_without_any_home_a_named_store_and_no_model_work(tmp_path: Path) -> None:
    if subprocess.run([*NOBODY, 'true'], capture_output=True).returncode:
        pytest.skip('this system lets no process become a user that it does not know')
    ran = subprocess.run(
        [*NOBODY, 'env', '-u', 'HOME', *COMMAND, 'learn', 'The cup is red', '--db', 'cell.db'],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 0, ran.stderr
    assert 'keyword search only' in ran.stderr
    assert 'HOME is not set' in ran.stderr


def test_a_home_of_a_user_that_is_not_there_is_said(tmp_path: Path) -> None:
    line = failed(tmp_path, 'learn', 'x', '--db', '~nobody-at-all/cell.db', HOME=str(tmp_path))
    assert "db_path is '~nobody-at-all/cell.db', but the home folder of user" in line


def test_a_data_folder_that_is_relative_or_not_writable_is_said(tmp_path: Path) -> None:
    relative = failed(tmp_path, 'learn', 'x', HOME=str(tmp_path), XDG_DATA_HOME='data')
    assert "XDG_DATA_HOME must be an absolute path, not 'data'" in relative
    fixed = failed(tmp_path, 'learn', 'x', HOME=str(tmp_path), XDG_DATA_HOME='/proc/data')
    assert '/proc/data/robot_memory/memory.db' in fixed


def test_a_plot_leaves_no_folder_behind_where_home_cannot_be_written(tmp_path: Path) -> None:
    script = (
        'import os, sys\n'
        'from robot_memory.plot import Drawn, draw\n'
        'try:\n    draw([Drawn.__new__(Drawn)])\n'
        'except AttributeError: pass\n'
        "print('matplotlib' in sys.modules, 'MPLCONFIGDIR' in os.environ)\n"
        'sys.stdout.flush()\nos._exit(0)\n'
    )
    ran = subprocess.run(
        [sys.executable, '-c', script],
        capture_output=True,
        text=True,
        env={**os.environ, 'HOME': '/proc/nobody', 'TMPDIR': str(tmp_path)},
        timeout=HANG_SECONDS,
    )
    assert (ran.stdout, ran.stderr) == ('True False\n', '')
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ('given', 'path'), [('~/cell.db', '/somewhere/cell.db'), ('~', '/somewhere'), ('a~b', 'a~b')]
)
def test_a_path_is_expanded_by_the_users_home(
    given: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HOME', '/somewhere')
    assert expand_path(given, 'db_path') == Path(path)


@pytest.mark.parametrize(
    ('variable', 'path'), [(None, '/somewhere/.local/share'), ('~/data', '/somewhere/data')]
)
def test_a_user_folder_is_that_of_its_variable_or_in_the_home(
    variable: str | None, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('HOME', '/somewhere')
    monkeypatch.delenv('XDG_DATA_HOME', raising=False)
    if variable:
        monkeypatch.setenv('XDG_DATA_HOME', variable)
    assert find_user_folder('XDG_DATA_HOME', '.local/share') == Path(path)


def test_the_home_is_an_absolute_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv('HOME', '/somewhere')
    assert find_home() == Path('/somewhere')
    monkeypatch.setenv('HOME', 'relative')
    with pytest.raises(Unavailable, match='HOME must be an absolute path'):
        find_home()
    with pytest.raises(InvalidArgument, match='db_path is'):
        expand_path('~/cell.db', 'db_path')

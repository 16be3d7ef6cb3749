"""The view command: a process that serves pages until it is told to stop."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from narrowing import require
from small_disks import run_on_small_disk
from viewing import Visit, write_tokens
from waiting import HANG_SECONDS

from robot_memory.storage.connection import Database


def start(tmp_path: Path, *words: str, stored: bool = True) -> subprocess.Popen[str]:
    if stored:
        Database(tmp_path / 'memory.db', 'normal').close()
    command = [sys.executable, '-m', 'robot_memory', 'view', '--view-port', '0']
    return subprocess.Popen(
        [*command, '--db', str(tmp_path / 'memory.db'), '--model', 'none', *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=dict(os.environ),
    )


@pytest.mark.parametrize('number', [signal.SIGINT, signal.SIGTERM])
def test_it_serves_until_it_is_told_to_stop(tmp_path: Path, number: signal.Signals) -> None:
    with start(tmp_path) as viewer:
        line = require(viewer.stdout).readline()
        port = require(re.fullmatch(r'viewer: http://127\.0\.0\.1:(\d+)/ \(read only.*\)\n', line))
        assert Visit(int(port[1])).send('/').status == 200
        viewer.send_signal(number)
        _, said = viewer.communicate(timeout=HANG_SECONDS)
    assert (viewer.returncode, said) == (0, '')


FULL_DISK = """
import subprocess
import sys
from pathlib import Path
from robot_memory.storage import Database
from small_disks import fill_disk

folder = Path(sys.argv[1])
Database(folder / 'memory.db').close()
filler = fill_disk(folder)
words = ['view', '--view-port', '0', '--model', 'none', '--db', str(folder / 'memory.db')]
command = [sys.executable, '-m', 'robot_memory', *words]
with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as viewer:
    print(viewer.stdout.readline(), end='')
    filler.unlink()
    print(viewer.stdout.readline(), end='')
    viewer.terminate()
assert viewer.returncode == 0
"""


def test_a_store_on_a_full_disk_is_opened_anew_at_the_same_port_once_there_is_room(
    tmp_path: Path,
) -> None:
    first, second = run_on_small_disk(tmp_path, script=FULL_DISK)
    assert first.startswith('viewer: http') and second == first


def test_it_waits_for_a_store_where_that_is_asked_for_and_says_so_once(tmp_path: Path) -> None:
    with start(tmp_path, '--view-wait', stored=False) as viewer:
        line = require(viewer.stderr).readline()
        assert f'waiting: no store at {tmp_path / "memory.db"}' in line
        assert list(tmp_path.iterdir()) == []
        Database(tmp_path / 'memory.db', 'normal').close()
        assert require(viewer.stdout).readline().startswith('viewer: http')
        viewer.terminate()
        _, said = viewer.communicate(timeout=HANG_SECONDS)
    assert (viewer.returncode, said) == (0, '')


def test_it_ends_while_it_waits_for_a_store(tmp_path: Path) -> None:
    with start(tmp_path, '--view-wait', stored=False) as viewer:
        assert 'waiting' in require(viewer.stderr).readline()
        viewer.terminate()
        out, said = viewer.communicate(timeout=HANG_SECONDS)
    assert (viewer.returncode, out, said) == (0, '', '')


def test_it_ends_with_the_process_that_started_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(['sleep', 'infinity']) as starter:
        monkeypatch.setenv('ROBOT_MEMORY_ENDS_WITH', str(starter.pid))
        with start(tmp_path) as viewer:
            assert require(viewer.stdout).readline().startswith('viewer: http')
            starter.terminate()
            _, said = viewer.communicate(timeout=HANG_SECONDS)
    assert (viewer.returncode, said) == (0, '')


def test_with_tokens_visitors_sign_in(tmp_path: Path) -> None:
    with start(tmp_path, '--mcp-token-file', str(write_tokens(tmp_path))) as viewer:
        line = require(viewer.stdout).readline()
        assert 'sign in' in line
        port = require(re.search(r':(\d+)/', line))[1]
        visit = Visit(int(port))
        assert visit.send('/').status == 303
        visit.sign_in('viewer')
        assert visit.send('/').status == 200
        viewer.terminate()
        viewer.communicate(timeout=HANG_SECONDS)


def test_what_is_not_safe_ends_it_with_one_line(tmp_path: Path) -> None:
    with start(tmp_path, '--view-host', '0.0.0.0') as viewer:
        out, said = viewer.communicate(timeout=HANG_SECONDS)
    assert (viewer.returncode, out) == (1, '')
    assert said.count('\n') == 1
    assert 'view_host 0.0.0.0 is reachable from other machines' in said

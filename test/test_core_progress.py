"""Progress bars are for people who look on: nothing of them is in a pipe or a log file."""

from __future__ import annotations

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios
from pathlib import Path

import prepared
import pytest
from sources import ROOT, importers
from waiting import HANG_SECONDS

BENCH = f"""
import sys
sys.path.insert(0, {str(ROOT / 'bench')!r})
import scale
scale._time_calls('some calls', lambda number: number, range(5))
"""
LEFT_AT_ONCE = """
import os
from robot_memory.core.progress import make_progress_bar
bar = make_progress_bar(range(3), 'some calls', unit='call')
next(iter(bar))
os._exit(0)
"""


def on_a_terminal(*command: str) -> str:
    """Run a command whose stderr is a terminal; return what that shows."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack('HHHH', 24, 100, 0, 0))
    with prepared.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs) as ran:
        os.close(theirs)
        shown = b''
        try:
            while part := os.read(ours, 65536):
                shown += part
        except OSError:  # Linux says so when the other side is closed
            pass
        os.close(ours)
    assert ran.returncode == 0, shown
    return shown.decode()


def piped(*command: str) -> str:
    """Run a command whose stderr is a pipe; return what came through."""
    ran = prepared.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert ran.returncode == 0, ran.stderr
    return str(ran.stderr)


def test_a_benchmark_shows_its_bar_on_a_terminal_and_writes_none_into_a_pipe() -> None:
    assert 'some calls' in on_a_terminal(sys.executable, '-c', BENCH)
    assert piped(sys.executable, '-c', BENCH) == ''


@pytest.mark.parametrize('command', ['index', 'import'])
def test_a_command_shows_its_bar_on_a_terminal_and_writes_none_into_a_pipe(
    command: str, tmp_path: Path, tiny_models: dict[int, Path]
) -> None:
    store = ['--db', str(tmp_path / 'memory.db'), '--model', str(tiny_models[8])]
    line = [sys.executable, '-m', 'robot_memory']
    piped(*line, 'learn', 'The red cup needs 12.5 N', *store[:2], '--model', 'none')
    if command == 'import':
        archive = str(tmp_path / 'all.jsonl')
        piped(*line, 'export', 'all', '--output', archive, *store)
        store[1] = str(tmp_path / 'another.db')
        arguments, title = ['import', archive], 'all.jsonl'
    else:
        arguments, title = ['index'], 'vectors'
    assert piped(*line, *arguments, *store) == ''
    assert f'{title}:' in on_a_terminal(*line, *arguments, *store)


def test_a_process_that_ends_within_a_bar_leaves_no_semaphore() -> None:
    command = [sys.executable, '-W', 'always', '-c', LEFT_AT_ONCE]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=HANG_SECONDS)
    assert ran.returncode == 0 and 'leaked' not in ran.stderr


def test_progress_bars_are_made_in_one_place() -> None:
    assert list(importers('tqdm')) == ['robot_memory/core/progress.py']

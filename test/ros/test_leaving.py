"""A process that ROS does not let go of ends all the same."""

from __future__ import annotations

import subprocess
import sys


def _run(program: str) -> subprocess.CompletedProcess[str]:
    given = f'from robot_memory.ros.leaving import leave_within\n{program}'
    return subprocess.run([sys.executable, '-c', given], capture_output=True, text=True)


def test_who_is_kept_for_good_ends_and_says_where() -> None:
    ended = _run('with leave_within(0.2):\n    while True:\n        pass\n')
    assert ended.returncode == 1
    assert 'Timeout' in ended.stderr and 'in <module>' in ended.stderr


def test_who_leaves_in_time_goes_on() -> None:
    ended = _run("with leave_within(600):\n    pass\nprint('gone on')\n")
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, 'gone on\n', '')

"""`robot-memory call` where there is no ROS."""

from __future__ import annotations

import sys

import prepared
import pytest


@pytest.mark.parametrize('missing', ['rclpy', 'robot_memory.srv'])
def test_a_call_without_ros_says_what_to_do_in_one_line(missing: str) -> None:
    code = (
        f'import sys; sys.modules[{missing!r}] = None\n'
        'sys.argv = ["robot-memory", "call", "recall", "{query: cup}"]\n'
        'from robot_memory.__main__ import main; main()'
    )
    ran = prepared.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stdout == ''
    assert ran.stderr.startswith('robot-memory: [unavailable] call requires ROS 2')
    assert 'scripts/env' in ran.stderr and ran.stderr.count('\n') == 1

"""What the core logs is on the node's logger, with the place in the core that logged it."""

from __future__ import annotations

import os
import re
import sys

import prepared
import pytest

LOG = """
import logging, sys
from rclpy.logging import get_logger
from robot_memory.ros.logs import NodeLogHandler
handler = NodeLogHandler(get_logger('cell.robot_memory'))
core = logging.getLogger('robot_memory.storage')
def complain():
    core.log(int(sys.argv[1]), 'the disk is %s', 'full')
complain()
handler.close()
core.propagate = False
complain()
"""


@pytest.mark.parametrize(
    ('level', 'told'), [(10, None), (20, 'INFO'), (30, 'WARN'), (40, 'ERROR'), (50, 'ERROR')]
)
def test_a_record_of_the_core_names_its_own_place(level: int, told: str | None) -> None:
    form = '{severity}|{name}|{message}|{function_name}|{file_name}|{line_number}'
    ran = prepared.run(
        [sys.executable, '-c', LOG, str(level)],
        env={**os.environ, 'RCUTILS_CONSOLE_OUTPUT_FORMAT': form},
        capture_output=True,
        text=True,
        check=True,
    )
    lines = [line for line in (ran.stdout + ran.stderr).splitlines() if '|' in line]
    if told is None:
        assert lines == []
    else:
        (line,) = lines
        place = rf'{told}\|cell\.robot_memory\|the disk is full\|complain\|.*<string>\|8'
        assert re.fullmatch(place, line)

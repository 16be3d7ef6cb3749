"""The example loops run as they are, and get better."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from robots import Robot

from robot_memory.mcp_server import HttpBridge

EXAMPLES = Path(__file__).parents[2] / 'examples'


def test_a_planner_that_asks_and_reports_over_mcp_gets_better(
    free: HttpBridge, robot: Robot
) -> None:
    ran = subprocess.run(
        [sys.executable, EXAMPLES / 'mcp_loop.py', free.url],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    good = [int(found) for found in re.findall(r': (\d+) good', ran.stdout)]
    assert len(good) == 4
    assert good[3] > good[0], ran.stdout
    assert 'Skill strike: 40 trials' in ran.stdout
    assert robot.skill_report('strike').whole.trials == 40

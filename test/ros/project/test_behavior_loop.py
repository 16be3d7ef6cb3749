"""The example of a behaviour tree runs against a live node, and gets better."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXAMPLE = Path(__file__).parents[3] / 'examples' / 'behavior_loop.py'


def test_a_tree_that_asks_and_reports_over_services_gets_better(
    start: Callable[..., Any], robot: Any
) -> None:
    start()
    robot.client('suggest')
    ran = subprocess.run([sys.executable, EXAMPLE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    good = [int(found) for found in re.findall(r': (\d+) good', ran.stdout)]
    assert len(good) == 4
    assert good[3] > good[0], ran.stdout
    assert robot.call('skill_report', skill='strike').whole.trials == 40

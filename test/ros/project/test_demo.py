"""The demonstration runs from beginning to end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from proxies import DEAD_PROXIES
from waiting import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope='module')
def ran() -> Any:
    """Run the demo, in a shell whose every proxy variable names a dead address."""
    return subprocess.run(
        [sys.executable, str(ROOT / 'scripts/demo.py')],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        env={**os.environ, **DEAD_PROXIES},
    )


def test_the_demo_notices_learns_recalls_and_ends_by_itself(ran: Any) -> None:
    assert ran.returncode == 0, ran.stdout + ran.stderr
    for words in ('Contact', 'hybrid', '[invalid_argument]', 'exit code 0'):
        assert words in ran.stdout, words


def test_the_demos_mcp_client_asks_the_node_directly_whatever_proxy_is_named(ran: Any) -> None:
    assert 'The planner asks (MCP)' in ran.stdout
    assert 'a lesson is stored' in ran.stdout, ran.stderr


def test_a_recording_that_is_not_there_is_one_clear_line(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, str(ROOT / 'scripts/demo.py'), '--bag', str(tmp_path / 'nothing')],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 1
    assert 'as a rosbag2' in ran.stderr
    assert 'Traceback' not in ran.stderr

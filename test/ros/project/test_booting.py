"""The unit of systemd is one, and starts and ends the node in systemd's bare environment."""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from waiting import HANG_SECONDS

ROOT = Path(__file__).parents[3]
UNIT = ROOT / 'examples/robot_memory.service'


def list_settings(name: str) -> list[str]:
    lines = [line.partition('=') for line in UNIT.read_text(encoding='utf-8').splitlines()]
    return [value for found, _, value in lines if found == name]


def test_systemd_finds_no_fault_in_the_unit(tmp_path: Path) -> None:
    analyze = shutil.which('systemd-analyze')
    if analyze is None:
        pytest.skip('systemd is not installed here')
    copy = tmp_path / UNIT.name
    copy.write_text(UNIT.read_text(encoding='utf-8').replace('/opt/robot_memory', str(ROOT)))
    ran = subprocess.run(
        [analyze, 'verify', '--man=no', copy], capture_output=True, text=True, check=False
    )
    assert (ran.returncode, ran.stderr) == (0, '')


def test_the_node_starts_and_ends_as_the_unit_says(robot: Any, tmp_path: Path) -> None:
    state = tmp_path / 'state'
    state.mkdir(mode=0o700)
    parameters = tmp_path / 'node.yaml'
    parameters.write_text("/**:\n  ros__parameters:\n    model: 'none'\n    mcp_enabled: false\n")
    (command,) = list_settings('ExecStart')
    for named, here in (
        ('/opt/robot_memory', ROOT),
        ('/etc/robot_memory/node.yaml', parameters),
        ('/var/lib/robot_memory', state),
    ):
        command = command.replace(named, str(here))
    given = dict(one.split('=', 1) for one in list_settings('Environment'))
    environment = {
        **{
            name: value.replace('/var/lib/robot_memory', str(state))
            for name, value in given.items()
        },
        'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        'ROS_DOMAIN_ID': os.environ['ROS_DOMAIN_ID'],
        # That of this checkout, where it is built elsewhere.
        **{name: os.environ[name] for name in ('ROBOT_MEMORY_BUILD',) if name in os.environ},
    }
    (umask,) = list_settings('UMask')
    (ending,) = list_settings('KillSignal')
    with open(tmp_path / 'log', 'w') as log:
        node = subprocess.Popen(
            shlex.split(command),
            cwd='/',
            env=environment,
            umask=int(umask, 8),
            stdout=log,
            stderr=subprocess.STDOUT,
        )
        try:
            assert robot.call('learn', insight='The lamp is on').success
            node.send_signal(signal.Signals[ending])
            assert node.wait(HANG_SECONDS) == 0, (tmp_path / 'log').read_text()
        finally:
            node.kill()
            node.wait()
    store = state / 'memory.db'
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert list((state / 'log').iterdir()), 'the log of ROS is there, too'

"""The unit of systemd and the image of a container start and end the node as they say."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import stat
import subprocess
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
from waiting import HANG_SECONDS

ROOT = Path(__file__).parents[3]
UNIT = ROOT / 'examples/robot_memory.service'
IMAGE = ROOT / 'examples/Containerfile'


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


def start_learn_and_end(
    robot: Any, folder: Path, command: list[str], given: dict[str, str], umask: int, ending: str
) -> None:
    """Run the node in the bare environment of systemd or a container, and end it in order."""
    environment = {
        'PATH': '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
        **given,
        'ROS_DOMAIN_ID': os.environ['ROS_DOMAIN_ID'],
        # That of this checkout, where it is built elsewhere.
        **{name: os.environ[name] for name in ('ROBOT_MEMORY_BUILD',) if name in os.environ},
    }
    with open(folder / 'log', 'w') as log:
        node = subprocess.Popen(
            command, cwd='/', env=environment, umask=umask, stdout=log, stderr=subprocess.STDOUT
        )
        try:
            assert robot.call('learn', insight='The lamp is on').success
            node.send_signal(signal.Signals[ending])
            assert node.wait(HANG_SECONDS) == 0, (folder / 'log').read_text()
        finally:
            node.kill()
            node.wait()


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
        name: value.replace('/var/lib/robot_memory', str(state)) for name, value in given.items()
    }
    (umask,) = list_settings('UMask')
    (ending,) = list_settings('KillSignal')
    start_learn_and_end(robot, tmp_path, shlex.split(command), environment, int(umask, 8), ending)
    store = state / 'memory.db'
    assert stat.S_IMODE(store.stat().st_mode) == 0o600
    assert list((state / 'log').iterdir()), 'the log of ROS is there, too'


def test_the_node_starts_and_ends_as_the_image_says(robot: Any, tmp_path: Path) -> None:
    state = tmp_path / 'state'
    (state / 'store').mkdir(parents=True)
    steps = [line.partition(' ') for line in IMAGE.read_text(encoding='utf-8').splitlines()]
    said = {step: text for step, _, text in steps if step.isupper()}
    command = [
        part.replace('/opt/robot_memory', str(ROOT)).replace('/var/lib/robot_memory', str(state))
        for part in (*json.loads(said['ENTRYPOINT']), *json.loads(said['CMD']))
    ]
    command += ['-p', 'model:=none', '-p', 'mcp_enabled:=false']
    home = {'HOME': str(state)}
    start_learn_and_end(robot, tmp_path, command, home, 0o022, said['STOPSIGNAL'])
    volume = Path(said['VOLUME'].replace('/var/lib/robot_memory', str(state)))
    assert (volume / 'memory.db').exists()


def test_an_image_is_made_from_what_git_has() -> None:
    ignored = (ROOT / '.dockerignore').read_text(encoding='utf-8').splitlines()
    made = (ROOT / '.gitignore').read_text(encoding='utf-8').splitlines()
    folders = [line.strip('/') for line in made if line.endswith('/')]
    missing = [name for name in folders if not any(fits(name, one) for one in ignored)]
    assert not missing, f'.dockerignore lets them in: {missing}'


def fits(name: str, pattern: str) -> bool:
    """Say whether a line of .dockerignore names a folder, at any depth by `**/`."""
    return fnmatch(name, pattern.removeprefix('**/'))

"""Every command of the README is run, and its table is the tools'."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from waiting import HANG_SECONDS

from robot_memory.catalog import list_tools

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / 'README.md').read_text()
BLOCKS = re.findall(r'```(\w+)\n(.*?)```', README, re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if kind == 'bash' for line in text.splitlines() if line]


NODE = 'scripts/env memory_node'
CALLS = [line for line in COMMANDS if line.startswith('scripts/env robot-memory call ')]
ALONE = [
    line for line in COMMANDS if line.startswith('scripts/') and line != NODE and line not in CALLS
]
OF_ROS2 = [line for line in COMMANDS if line.startswith('ros2 ')]


@pytest.fixture(scope='module')
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return an environment whose store is a new one."""
    folder = tmp_path_factory.mktemp('readme')
    return {**os.environ, 'ROBOT_MEMORY_DB': str(folder / 'memory.db')}


def need_build() -> None:
    """Skip where scripts/env cannot run."""
    if not Path(os.environ.get('ROBOT_MEMORY_BUILD', ROOT), '.venv/mode').exists():
        pytest.skip('scripts/env needs `make build`, which was not run in this tree')


@pytest.fixture(scope='module')
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """Run the node as the README does, on a port of its own; return where."""
    need_build()
    folder = tmp_path_factory.mktemp('node')
    environment = {
        **os.environ,
        'ROBOT_MEMORY_DB': str(folder / 'memory.db'),
    }
    assert NODE in COMMANDS
    command = [*shlex.split(NODE), '--ros-args', '-p', 'mcp_port:=0', '-p', 'model:=none']
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    assert process.stdout is not None
    for line in process.stdout:
        if 'MCP: http' in line:
            break
    else:
        pytest.fail('the node did not start')
    yield environment
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, rest


@pytest.fixture(scope='module')
def log(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return a folder for what the README's commands write to log/, which is the user's."""
    return tmp_path_factory.mktemp('log')


def own_log() -> list[Any]:
    """Return what is in the user's log/, but for what a build beside the tests writes there."""
    names = os.listdir(ROOT / 'log') if (ROOT / 'log').exists() else []
    return sorted(name for name in names if not name.startswith('build_'))


@pytest.mark.parametrize('command', ALONE)
def test_a_command_line_of_the_readme_works(
    command: Any, environment: dict[str, Any], log: Any
) -> None:
    need_build()
    before = own_log()
    ran = subprocess.run(
        command.replace(' log/', f' {log}/'),
        shell=True,
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    assert 'cup?' not in command or 'red cup' in ran.stdout
    assert 'contact' not in command or 'Hard' in ran.stdout
    assert own_log() == before, 'the tests write in folders of their own'


@pytest.mark.parametrize('command', CALLS)
def test_a_call_of_the_readme_is_answered_by_the_node_of_the_readme(
    command: Any, node: Any
) -> None:
    ran = subprocess.run(
        f'{command} --timeout 90', shell=True, cwd=ROOT, env=node, capture_output=True, text=True
    )
    assert (ran.returncode, ran.stderr) == (0, '')
    assert re.search(r'^success +true$', ran.stdout, re.MULTILINE)
    assert 'recall' not in command or 'The red cup needs 12 N' in ran.stdout


def test_the_make_targets_of_the_readme_exist() -> None:
    wanted = [line.split()[1] for line in COMMANDS if line.startswith('make ')]
    assert wanted == ['demo', 'test']
    for target in wanted:
        # -n: this very test runs under `make test`, and test_demo.py runs the demo.
        ran = subprocess.run(['make', '-n', target], cwd=ROOT, capture_output=True)
        assert ran.returncode == 0


@pytest.mark.parametrize('command', [line for line in OF_ROS2 if ' service call ' in line])
def test_a_service_call_of_the_readme_is_answered_by_the_node_of_the_readme(
    command: Any, node: Any
) -> None:
    name, kind, request = shlex.split(command)[3:]
    if shutil.which('ros2') is None:  # the wheels have none: the same request, by our own command
        full, _, service = name.rpartition('/')
        command = f'scripts/env robot-memory call {service} {shlex.quote(request)} --node {full}'
        assert kind == f'robot_memory/srv/{service.capitalize()}'
    ran = subprocess.run(command, shell=True, cwd=ROOT, env=node, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert re.search(r'success( +true$|=True)', ran.stdout, re.MULTILINE)


@pytest.mark.parametrize('command', [line for line in OF_ROS2 if ' launch ' in line])
def test_a_launch_of_the_readme_gives_arguments_that_there_are(command: Any) -> None:
    text = (ROOT / 'launch/robot_memory.launch.py').read_text()
    for argument in re.findall(r' (\w+):=', command):
        assert f"'{argument}': (" in text
    if shutil.which('ros2') is not None:
        assert subprocess.run(f'{command} --show-args', shell=True).returncode == 0


def test_the_mcp_configuration_of_the_readme_is_what_is_printed_here(
    environment: dict[str, Any],
) -> None:
    need_build()
    if Path(os.environ.get('ROBOT_MEMORY_BUILD', ROOT)) != ROOT:
        pytest.skip('the page shows what is printed for a build in the repository itself')
    (shown,) = (text for kind, text in BLOCKS if kind == 'json')
    (command,) = (line for line in COMMANDS if '--print-config' in line)
    printed = subprocess.check_output(command, shell=True, cwd=ROOT, env=environment, text=True)
    here = shown.replace('/home/you/robot_memory', str(ROOT)).replace(
        '/home/you/.local/share/robot_memory/memory.db', environment['ROBOT_MEMORY_DB']
    )
    assert json.loads(printed) == json.loads(here)


def test_the_python_of_the_readme_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (text,) = (text for kind, text in BLOCKS if kind == 'python')
    exec(compile(text, 'README.md', 'exec'), {})
    assert 'The drawer sticks' in capsys.readouterr().out


def test_the_table_of_the_readme_is_that_of_the_tools() -> None:
    rows = re.findall(r'^\| `(\w+)` \| (.*) \|$', README, re.MULTILINE)
    assert rows == [(tool.name, tool.summary) for tool in list_tools()]

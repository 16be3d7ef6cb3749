"""Every command of the README is run, and its table is the tools'."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from robot_memory.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / 'README.md').read_text()
BLOCKS = re.findall(r'```(\w+)\n(.*?)```', README, re.DOTALL)
COMMANDS = [line for kind, text in BLOCKS if kind == 'bash' for line in text.splitlines() if line]


@pytest.fixture(scope='module')
def environment(tmp_path_factory):
    """Return an environment whose store is a new one."""
    folder = tmp_path_factory.mktemp('readme')
    return {**os.environ, 'ROBOT_MEMORY_DB': str(folder / 'memory.db')}


@pytest.mark.parametrize('command', [line for line in COMMANDS if line.startswith('scripts/')])
def test_a_command_line_of_the_readme_works(command, environment):
    if not (ROOT / '.venv/mode').exists():
        pytest.skip('scripts/env needs `make build`, which was not run in this tree')
    if '--out ' in command:
        shutil.rmtree(ROOT / command.rpartition('--out ')[2], ignore_errors=True)
    ran = subprocess.run(
        command, shell=True, cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert ran.returncode == 0, ran.stderr
    assert 'cup?' not in command or 'red cup' in ran.stdout
    assert 'contact' not in command or 'Hard' in ran.stdout


def test_the_make_targets_of_the_readme_exist():
    wanted = [line.split()[1] for line in COMMANDS if line.startswith('make ')]
    assert wanted == ['demo', 'test']
    for target in wanted:
        # -n: this very test runs under `make test`, and test/ros/test_demo.py runs the demo.
        ran = subprocess.run(['make', '-n', target], cwd=ROOT, capture_output=True)
        assert ran.returncode == 0


@pytest.mark.parametrize('command', [line for line in COMMANDS if line.startswith('ros2 ')])
def test_a_ros2_command_of_the_readme_is_of_what_is_built(command):
    if shutil.which('ros2') is None:
        pytest.skip('no ros2 command here: the PyPI wheels of ROS 2 have none')
    name = command.split()[1]
    if name == 'launch':
        command += ' --show-args'
    else:
        pytest.skip('test/ros/test_services.py makes the same calls on a node of its own')
    assert subprocess.run(command, shell=True).returncode == 0


def test_the_mcp_configuration_of_the_readme_starts_a_server(environment):
    from mcp import Client, StdioServerParameters

    (text,) = (text for kind, text in BLOCKS if kind == 'json')
    server = json.loads(text)['mcpServers']['robot_memory']
    command = shutil.which(server['command'])
    arguments = server['args']
    if command is None:
        command, arguments = sys.executable, ['-m', 'robot_memory', *arguments]

    async def names():
        parameters = StdioServerParameters(command=command, args=arguments, env=environment)
        async with Client(parameters) as client:
            return {tool.name for tool in (await client.list_tools()).tools}

    assert asyncio.run(names()) == {tool.name for tool in TOOLS if tool.core}


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (text,) = (text for kind, text in BLOCKS if kind == 'python')
    exec(compile(text, 'README.md', 'exec'), {})
    assert 'The drawer sticks' in capsys.readouterr().out


def test_the_table_of_the_readme_is_that_of_the_tools():
    rows = re.findall(r'^\| `(\w+)` \| (.*) \|$', README, re.MULTILINE)
    assert rows == [(tool.name, tool.summary) for tool in TOOLS]

"""Every command line says what it does and which version it is, and starts nothing by that."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import prepared
import pytest

from robot_memory.core.fields import get_fields
from robot_memory.core.settings import McpSettings, Settings
from robot_memory.ingest import IngestSettings, PoseSourceSettings, TapSettings

ROOT = Path(__file__).resolve().parents[2]
VERSION = ElementTree.parse(ROOT / 'package.xml').getroot().findtext('version')
NODE = ['-c', 'from robot_memory.ros.start import main; main()']
COMMANDS = {
    'memory_node': NODE,
    'robot-memory': ['-m', 'robot_memory'],
    'demo.py': [str(ROOT / 'scripts/demo.py')],
    'make_recording.py': [str(ROOT / 'scripts/make_recording.py')],
    'conformance.py': [str(ROOT / 'scripts/conformance.py')],
    'write_reference.py': [str(ROOT / 'scripts/write_reference.py')],
    'pin.py': [str(ROOT / 'scripts/pin.py')],
    'break_stores.py': [str(ROOT / 'torture/break_stores.py')],
    'run.py': [str(ROOT / 'bench/run.py')],
}


SCRIPT = """
import pathlib, runpy, sys
sys.argv = sys.argv[1:]
sys.path.insert(0, str(pathlib.Path(sys.argv[0]).parent))
runpy.run_path(sys.argv[0], run_name='__main__')
"""


def run(name: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a process that Python starts."""
    _require(name)
    return subprocess.run(
        [sys.executable, *COMMANDS[name], *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def run_prepared(name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a fork of the process that has imported the package."""
    _require(name)
    command = COMMANDS[name]
    if command[0].endswith('.py'):
        command = ['-c', SCRIPT, *command]
    return prepared.run([sys.executable, *command, *arguments], capture_output=True, text=True)


def _require(name: str) -> None:
    if name == 'demo.py':
        pytest.importorskip('rclpy', reason='no ROS 2 here: rclpy cannot be imported')
        pytest.importorskip('robot_memory.msg', reason='the interfaces are not built: make build')


Helped = tuple[subprocess.CompletedProcess[str], Path]


@pytest.fixture(scope='module', params=COMMANDS)
def helped(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Helped:
    """A command that was asked for help, and the home that it had."""
    home = tmp_path_factory.mktemp('home')
    return run(request.param, '--help', HOME=str(home), XDG_DATA_HOME=str(home)), home


def test_help_is_printed_with_the_usage_first(helped: Helped) -> None:
    ran, _ = helped
    assert (ran.returncode, ran.stderr) == (0, '')
    assert ran.stdout.startswith('usage: ') and '--version' in ran.stdout


@pytest.mark.parametrize('name', COMMANDS)
def test_the_short_option_prints_help_as_well(name: str) -> None:
    ran = run_prepared(name, '-h')
    assert (ran.returncode, ran.stderr) == (0, '')
    assert ran.stdout.startswith('usage: ') and '--version' in ran.stdout


def test_nothing_is_started_for_help(helped: Helped) -> None:
    _, home = helped
    assert not list(home.rglob('memory.db')) and not (home / '.ros').exists()


@pytest.mark.parametrize('name', COMMANDS)
def test_the_version_is_that_of_the_package(name: str) -> None:
    ran = run_prepared(name, '--version')
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, f'{name} {VERSION}\n', '')


@pytest.mark.parametrize('name', COMMANDS)
def test_an_unknown_option_is_refused_in_words(name: str) -> None:
    ran = run_prepared(name, '--hlp')
    assert ran.returncode == 2 and ran.stdout == ''
    assert '--hlp' in ran.stderr or 'required' in ran.stderr
    assert 'Traceback' not in ran.stderr


def test_the_help_of_the_node_tells_every_parameter_with_its_meaning() -> None:
    lines = [line.strip() for line in run_prepared('memory_node', '--help').stdout.splitlines()]
    for declaration in (Settings, McpSettings, IngestSettings, PoseSourceSettings, TapSettings):
        for field in get_fields(declaration):
            at = [i for i, line in enumerate(lines) if line.startswith(f'{field.name}: ')]
            assert at and lines[at[0] - 1].startswith(f'# {field.help}'), field.name


def test_the_help_of_the_node_needs_no_ros() -> None:
    code = (
        'import sys; sys.modules["rclpy"] = None; sys.argv = ["memory_node", "--help"]\n'
        'from robot_memory.ros.start import main; main()'
    )
    ran = subprocess.run([sys.executable, '-c', code], capture_output=True, text=True)
    assert ran.returncode == 0 and 'db_path' in ran.stdout


def test_what_the_node_does_not_take_is_named_beside_what_it_takes() -> None:
    ran = run_prepared('memory_node', 'cell_1.db', '--help')
    assert ran.returncode == 2
    assert ran.stderr.startswith(
        'memory_node: unknown argument cell_1.db --help; accepted: --help'
    )
    assert ran.stderr.count('\n') == 1

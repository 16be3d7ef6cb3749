"""Two robots on one computer: what a node in a namespace does not share by default."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from waiting import HANG_SECONDS

OFF = 'MCP is disabled: a node in namespace /cell_1 requires its own mcp_port'
UNSET = ('ROBOT_MEMORY_DB', 'DATABASE_URL', 'XDG_DATA_HOME')


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the folder of the default store, that of a new user."""
    for name in UNSET:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv('XDG_DATA_HOME', str(tmp_path / 'data'))
    return tmp_path / 'data' / 'robot_memory'


@pytest.fixture
def launch(start: Callable[..., Any]) -> Callable[..., Any]:
    """Start a node in a namespace with the default store."""

    def begin(namespace: Any, *arguments: Any, **parameters: Any) -> Any:
        given = {'db_path': "''", **parameters}
        return start('-r', f'__ns:={namespace}', *arguments, **given)

    return begin


def ended(node: Any) -> Any:
    """Return what a node said that did not start."""
    assert node.process.wait(timeout=HANG_SECONDS) == 1
    assert 'Traceback' not in node.said()
    return node.said()


def test_each_namespace_has_a_default_store_of_its_own(
    launch: Callable[..., Any], robot: Any, data: Any
) -> None:
    for cell in ('/cell_1', '/cell_2', '/hall/cell_1'):
        launch(cell)
    learned = robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on')
    assert learned.success
    for cell, total in (('/cell_1', 1), ('/cell_2', 0), ('/hall/cell_1', 0)):
        assert robot.call('recall', f'{cell}/robot_memory', query='lamp').total == total
        assert (data / cell.strip('/') / 'memory.db').exists()
    assert not (data / 'memory.db').exists()


def test_a_node_in_a_namespace_refuses_to_begin_anew_beside_the_shared_store(
    launch: Callable[..., Any], start: Callable[..., Any], robot: Any, data: Any
) -> None:
    before = start(db_path="''")
    assert robot.call('learn', insight='The lamp is on').success
    assert before.stop() == 0
    old, new = data / 'memory.db', data / 'cell_1' / 'memory.db'
    said = ended(launch('/cell_1'))
    assert '[conflict]' in said and str(old) in said and str(new) in said
    assert f'mv {old} {new}' in said and 'db_path' in said
    assert not new.exists()
    # The one way out, and the other
    sharing = launch('/cell_1', db_path=old)
    assert robot.call('recall', '/cell_1/robot_memory', query='lamp').total == 1
    assert sharing.stop() == 0
    robot.until_gone('recall', '/cell_1/robot_memory')
    new.parent.mkdir()
    shutil.move(old, new)
    launch('/cell_1')
    assert robot.call('recall', '/cell_1/robot_memory', query='lamp').total == 1


def test_the_store_that_the_environment_names_wins_in_a_namespace(
    launch: Callable[..., Any],
    robot: Any,
    data: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for variable, value, file in (
        ('ROBOT_MEMORY_DB', str(tmp_path / 'own.db'), 'own.db'),
        ('DATABASE_URL', f'sqlite:///{tmp_path}/url.db', 'url.db'),
    ):
        monkeypatch.setenv(variable, value)
        node = launch('/cell_1')
        robot.client('recall', '/cell_1/robot_memory')
        assert (tmp_path / file).exists() and not data.exists()
        assert node.stop(signal.SIGINT) == 0
        robot.until_gone('recall', '/cell_1/robot_memory')
        monkeypatch.delenv(variable)


def test_mcp_in_a_namespace_is_off_with_a_warning_until_its_port_is_given(
    launch: Callable[..., Any], robot: Any, data: Any
) -> None:
    silent = launch('/cell_1', mcp_enabled='true')
    robot.until(lambda: OFF in silent.said(), 'the warning')
    robot.until(lambda: 'MCP: off' in silent.said(), 'what MCP does')
    assert 'mcp_port:=17801' in silent.said()
    served = launch('/cell_2', mcp_enabled='true', mcp_port=0)
    robot.until(lambda: re.search(r'MCP: http://127.0.0.1:\d+', served.said()), 'the port of MCP')
    unwanted = launch('/cell_3')
    robot.until(lambda: 'MCP: off' in unwanted.said(), 'what MCP does')
    assert 'MCP is disabled' not in unwanted.said()


def test_a_params_file_that_is_missing_is_one_clear_line(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / 'no_such.yaml'
    node = start('--params-file', file)
    assert f'[not_found] cannot read the parameter file {file}: No such file' in ended(node)
    assert not node.db.exists()


def test_a_params_file_that_is_no_yaml_is_one_clear_line(
    start: Callable[..., Any], tmp_path: Path
) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text('/**: [')
    assert f'[invalid_argument] {file} is not valid YAML' in ended(start('--params-file', file))


@pytest.mark.parametrize(
    ('key', 'namespace', 'name'),
    [
        ('robot_memory', '/cell_1', 'robot_memory'),
        ('/cell_2/robot_memory', '/cell_1', 'robot_memory'),
        ('/*', '/cell_1', 'robot_memory'),
        ('other', '/', 'robot_memory'),
        ('robot_memory', '/', 'memory_2'),
    ],
)
def test_a_params_file_whose_keys_fit_no_node_is_refused(
    start: Callable[..., Any], tmp_path: Path, key: str, namespace: str, name: str
) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text(f'{key}:\n  ros__parameters:\n    real_weight: 3.0\n')
    node = start('-r', f'__ns:={namespace}', '-r', f'__node:={name}', '--params-file', file)
    said = ended(node)
    full = f'{namespace.rstrip("/")}/{name}'
    assert f'[invalid_argument] {file} has no parameters for {full}' in said
    assert f'its keys are /{key.strip("/")}' in said and '/** for any node' in said


@pytest.mark.parametrize('key', ['/**', '/cell_1/robot_memory', '/**/robot_memory', '/*/*'])
def test_a_params_file_whose_key_fits_is_read(
    start: Callable[..., Any], robot: Any, tmp_path: Path, key: str
) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text(f'{key}:\n  ros__parameters:\n    default_results: 1\n')
    start('-r', '__ns:=/cell_1', '--params-file', file)
    name = '/cell_1/robot_memory'
    for number in range(3):
        robot.call('learn', name, insight=f'The red cup {number} is in the kitchen')
    found = robot.call('get_context', name, query='red cup kitchen', strategy='AGGRESSIVE')
    assert found.success and found.num_results == 1


def test_ros_arguments_that_ros_does_not_take_are_one_clear_line(
    start: Callable[..., Any],
) -> None:
    assert '[invalid_argument] ROS 2 rejects the arguments' in ended(start('--no-such-option'))


@pytest.mark.parametrize('home', [None, '/proc/nowhere', '/dev/null'])
def test_without_a_home_that_can_be_written_the_node_logs_elsewhere_and_says_where(
    start: Callable[..., Any], robot: Any, monkeypatch: pytest.MonkeyPatch, home: str | None
) -> None:
    for name in ('ROS_LOG_DIR', 'ROS_HOME', 'HOME'):
        monkeypatch.delenv(name, raising=False)
    if home:
        monkeypatch.setenv('HOME', home)
    node = start()
    assert robot.call('learn', insight='The lamp is on').success
    robot.until(lambda: 'set ROS_LOG_DIR to change it' in node.said(), 'a warning')
    assert 'Traceback' not in node.said()
    (folder,) = re.findall(r'using (\S+), set ROS_LOG_DIR', node.said())
    assert list(Path(folder).glob('*.log'))
    assert node.stop() == 0

"""The launch file, where launch_ros is there."""

from __future__ import annotations

import runpy
import socket
import threading
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from rcl_interfaces.srv import GetParameters

launch = pytest.importorskip('launch', reason='no launch here: the PyPI wheels of ROS 2 lack it')
pytest.importorskip('launch_ros', reason='no launch_ros here: the PyPI wheels of ROS 2 lack it')

FILE = Path(__file__).resolve().parents[3] / 'launch/robot_memory.launch.py'


def description() -> Any:
    return runpy.run_path(str(FILE))['generate_launch_description']()


def test_the_launch_arguments_are_those_that_ros_users_know() -> None:
    names = {argument.name for argument in description().get_launch_arguments()}
    assert names == {
        'namespace',
        'params_file',
        'db_path',
        'mcp_port',
        'source',
        'use_sim_time',
        'respawn',
        'view',
        'view_port',
        'log_level',
    }


def launched(arguments: Any) -> Any:
    """Return a launch service that includes the launch file with arguments."""
    service = launch.LaunchService(noninteractive=True)
    source = launch.launch_description_sources.PythonLaunchDescriptionSource(str(FILE))
    include = launch.actions.IncludeLaunchDescription(source, launch_arguments=arguments.items())
    service.include_launch_description(launch.LaunchDescription([include]))
    return service


def test_a_launched_node_answers_under_its_namespace_with_its_parameters(
    robot: Any, tmp_path: Path
) -> None:
    file = tmp_path / 'parameters.yaml'
    db = tmp_path / 'memory.db'
    file.write_text(
        '/**:\n  ros__parameters:\n'
        f"    db_path: '{db}'\n    model: 'none'\n    mcp_enabled: false\n"
    )
    arguments = {'namespace': 'cell_1', 'params_file': str(file), 'log_level': 'warn'}
    service = launched(arguments)
    asked = []

    def ask() -> None:
        asked.append(robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on'))
        service.shutdown()

    asker = threading.Thread(target=ask)
    asker.start()
    assert service.run() == 0
    asker.join()
    assert asked[0].success
    assert db.exists()


def test_the_arguments_of_a_launch_reach_the_node(robot: Any, tmp_path: Path) -> None:
    db = tmp_path / '7.db'
    service = launched({'namespace': 'cell_1', 'db_path': str(db), 'source': '7', 'mcp_port': '0'})
    asked = []

    def ask() -> None:
        asked.append(robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on'))
        get = robot.node.create_client(GetParameters, '/cell_1/robot_memory/get_parameters')
        robot.until(get.service_is_ready, 'the parameter service')
        names = ['source', 'mcp_port', 'db_path']
        found = robot.answer(get.call_async(GetParameters.Request(names=names))).values
        asked.append((found[0].string_value, found[1].integer_value, found[2].string_value))
        service.shutdown()

    asker = threading.Thread(target=ask)
    asker.start()
    assert service.run() == 0
    asker.join()
    assert asked[0].success and asked[1] == ('7', 0, str(db))


@pytest.mark.parametrize('text', [None, 'robot_memory:\n  ros__parameters:\n    source: a\n'])
def test_a_params_file_that_is_missing_or_fits_no_node_ends_the_launch(
    tmp_path: Path, text: str | None
) -> None:
    file = tmp_path / 'params.yaml'
    if text:
        file.write_text(text)
    assert launched({'namespace': 'cell_1', 'params_file': str(file)}).run() == 1


def test_the_viewer_is_launched_beside_the_node_on_its_store(robot: Any, tmp_path: Path) -> None:
    with socket.create_server(('127.0.0.1', 0)) as free:
        port = free.getsockname()[1]
    arguments = {'namespace': 'cell_1', 'db_path': str(tmp_path / 'm.db'), 'mcp_port': '0'}
    service = launched({**arguments, 'view': 'true', 'view_port': str(port)})
    pages = []

    def look() -> None:
        robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on')

        def is_served() -> bool:
            try:
                with urllib.request.urlopen(f'http://127.0.0.1:{port}/') as page:
                    pages.append(page.read().decode())
            except OSError:
                return False
            return True

        robot.until(is_served, 'the viewer')
        service.shutdown()

    looker = threading.Thread(target=look)
    looker.start()
    assert service.run() == 0
    looker.join()
    assert 'The lamp is on' in pages[0]

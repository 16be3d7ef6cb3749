"""The launch file, where launch_ros is there."""

import runpy
import threading
from pathlib import Path

import pytest

launch = pytest.importorskip('launch', reason='no launch here: the PyPI wheels of ROS 2 lack it')
pytest.importorskip('launch_ros', reason='no launch_ros here: the PyPI wheels of ROS 2 lack it')

FILE = Path(__file__).resolve().parents[2] / 'launch/robot_memory.launch.py'


def description():
    return runpy.run_path(str(FILE))['generate_launch_description']()


def test_the_launch_arguments_are_those_that_ros_users_know():
    names = {argument.name for argument in description().get_launch_arguments()}
    assert names == {'namespace', 'params_file', 'use_sim_time', 'log_level'}


def test_a_launched_node_answers_under_its_namespace_with_its_parameters(robot, tmp_path):
    file = tmp_path / 'parameters.yaml'
    db = tmp_path / 'memory.db'
    file.write_text(
        '/**:\n  ros__parameters:\n'
        f"    db_path: '{db}'\n    model: 'none'\n    mcp_enabled: false\n"
    )
    service = launch.LaunchService(noninteractive=True)
    source = launch.launch_description_sources.PythonLaunchDescriptionSource(str(FILE))
    arguments = {'namespace': 'cell_1', 'params_file': str(file), 'log_level': 'warn'}
    service.include_launch_description(
        launch.LaunchDescription(
            [launch.actions.IncludeLaunchDescription(source, launch_arguments=arguments.items())]
        )
    )
    asked = []

    def ask():
        asked.append(robot.call('learn', '/cell_1/robot_memory', insight='The lamp is on'))
        service.shutdown()

    asker = threading.Thread(target=ask)
    asker.start()
    assert service.run() == 0
    asker.join()
    assert asked[0].success
    assert db.exists()

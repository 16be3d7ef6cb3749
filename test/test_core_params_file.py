"""Which keys and files of ROS parameters are a node's."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_memory.core import params_file


@pytest.mark.parametrize(
    ('key', 'node', 'fits'),
    [
        ('/**', '/robot_memory', True),
        ('/**', '/a/b/robot_memory', True),
        ('/*', '/robot_memory', True),
        ('/*', '/a/robot_memory', False),
        ('/*/robot_memory', '/a/robot_memory', True),
        ('/**/robot_memory', '/robot_memory', True),
        ('/a/**', '/a/b/robot_memory', True),
        ('/a/**', '/b/robot_memory', False),
        ('robot_memory', '/robot_memory', True),
        ('robot_memory', '/a/robot_memory', False),
        ('/a/robot_memory', '/a/robot_memory', True),
        ('/robot_memor.', '/robot_memory', False),
    ],
)
def test_a_key_of_a_params_file_fits_as_in_ros(key: str, node: str, fits: bool) -> None:
    assert params_file.matches_node(key, node) is fits


def test_the_params_files_of_a_process_stand_after_ros_args() -> None:
    arguments = (
        '--params-file a --ros-args --params-file b -p x:=1 --params-file c -- --params-file d'
    )
    assert params_file.find_params_files(arguments.split()) == [Path('b'), Path('c')]
    assert params_file.find_params_files(['--ros-args', '--params-file']) == []


@pytest.mark.parametrize(
    ('text', 'value'),
    [
        ('1e3', 1000.0),
        ('-2.5E-1', -0.25),
        ('.5e+1', 5.0),
        ('2.0', 2.0),
        ('7', 7),
        ('e3', 'e3'),
        ('1e', '1e'),
        ("'1e3'", '1e3'),
    ],
)
def test_a_number_is_read_as_in_ros(text: str, value: object) -> None:
    found = params_file.load_yaml(f'[{text}]')
    assert found == [value] and type(found[0]) is type(value)

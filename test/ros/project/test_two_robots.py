"""The two memories of two_robots.launch.py, started as it says; launch itself may not be here."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from rcl_interfaces.srv import GetParameters

ROOT = Path(__file__).resolve().parents[3]
FILE = ROOT / 'launch/two_robots.launch.py'


def read_robots() -> dict[str, tuple[int, str, tuple[str, ...]]]:
    """Return what the launch file says of each robot: port, parameter file, topics."""
    for node in ast.parse(FILE.read_text(encoding='utf-8')).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == 'ROBOTS':
            found: dict[str, tuple[int, str, tuple[str, ...]]] = ast.literal_eval(node.value)
            return found
    raise AssertionError('ROBOTS is not there')


def list_topics(file: str) -> set[str]:
    """Return the topics that a parameter file has taps or poses of."""
    values = yaml.safe_load((ROOT / 'config' / file).read_text(encoding='utf-8'))
    given = values['/**']['ros__parameters']
    taps = {one['topic'] for one in given.values() if isinstance(one, dict) and 'topic' in one}
    return taps | ({given['pose_topic']} if given.get('pose_topic') else set())


@pytest.mark.parametrize('name', ['arm', 'base'])
def test_a_robot_hears_its_own_topics_alone(
    start: Callable[..., Any], robot: Any, name: str
) -> None:
    port, file, topics = read_robots()[name]
    remaps = [part for topic in topics for part in ('-r', f'{topic}:=/{name}{topic}')]
    namespace = ('-r', f'__ns:=/{name}', '--params-file', str(ROOT / 'config' / file))
    node = start(*namespace, *remaps, source=name, mcp_port=port)
    full = f'/{name}/robot_memory'
    assert robot.call('learn', full, insight='The lamp is on').success
    robot.until_known(namespace=f'/{name}')
    found = robot.node.get_subscriber_names_and_types_by_node('robot_memory', f'/{name}')
    heard = {topic for topic, _ in found}
    assert {f'/{name}{topic}' for topic in topics} <= heard
    shared = {'/diagnostics', '/parameter_events', '/clock', '/tf', '/tf_static'}
    assert {topic for topic in heard if not topic.startswith(f'/{name}/')} <= shared
    assert list_topics(file) - shared <= set(topics)
    get = robot.node.create_client(GetParameters, f'{full}/get_parameters')
    robot.until(get.service_is_ready, 'the parameter service')
    values = robot.answer(get.call_async(GetParameters.Request(names=['source']))).values
    assert values[0].string_value == name
    assert node.stop() == 0

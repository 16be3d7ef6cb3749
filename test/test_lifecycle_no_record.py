"""Calls in a no-record zone or time: refused in words, counted, and nothing of them is kept."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from narrowing import require
from robots import Robot, count_rows
from test_cli import Cli

from robot_memory.core.errors import Conflict, InvalidArgument
from robot_memory.core.no_record import SensorPlace
from robot_memory.core.regions import CHI_SQUARED_99, Region
from robot_memory.detectors.poses import Pose
from robot_memory.lifecycle.no_record import carry_place, get_withheld
from robot_memory.status.summary import render_metrics

KITCHEN = """
regions:
  kitchen: {frame: map, box: [[0, 0, 0], [4, 3, 2.5]]}
no_record: {zones: [kitchen]}
"""
Call = Callable[[Robot], Any]
CALLS: dict[str, Call] = {
    'learn': lambda robot: robot.learn('the quixotic valve sticks', {'task': {'name': 'x'}}),
    'save_perception': lambda robot: robot.save_perception(
        'a quixotic cup fell', frame_id='tool0'
    ),
    'save_conversation': lambda robot: robot.save_conversation('a quixotic cup', 'I see'),
    'record_outcome': lambda robot: robot.record_outcome('quixotic', success='true'),
    'start_session': lambda robot: robot.start_session(context={'task': {'name': 'quixotic'}}),
}


def open_with(open_robot: Callable[..., Robot], tmp_path: Path, text: str) -> Robot:
    (tmp_path / 'memory.regions.yaml').write_text(text, encoding='utf-8')
    return open_robot(time_zone='UTC')


@pytest.mark.parametrize('call', CALLS)
def test_a_process_that_knows_no_place_keeps_nothing_where_zones_are_set(
    open_robot: Callable[..., Robot], tmp_path: Path, call: str
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    before = count_rows(robot)
    words = f'{call} keeps nothing now: there is a no-record zone, kitchen, and the place'
    with pytest.raises(Conflict, match=words):
        CALLS[call](robot)
    assert count_rows(robot) == before
    assert get_withheld(robot.memory)['place_unknown'] == 1
    files = tmp_path.glob('memory.db*')
    assert not any(b'quixotic' in file.read_bytes() for file in files)
    assert 'robot_memory_withheld_total{reason="place_unknown"} 1.0' in render_metrics(
        robot.memory
    )
    performance = require(robot.sage_system_status().performance)
    assert performance['withheld']['place_unknown'] == 1


@pytest.mark.parametrize('call', CALLS)
@pytest.mark.parametrize('is_inside', [True, False])
def test_a_call_is_about_the_place_of_the_robot(
    open_robot: Callable[..., Robot], tmp_path: Path, call: str, is_inside: bool
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    asked: list[tuple[str, str, bool]] = []

    def locate(target: str, frame: str, *, of_frame: bool = False) -> SensorPlace:
        asked.append((target, frame, of_frame))
        return SensorPlace((4.0, 3.0, 2.5) if is_inside else (4.1, 3.0, 2.5))

    robot.memory.locate = locate
    before = count_rows(robot)
    if is_inside:
        with pytest.raises(Conflict, match=f'{call} keeps nothing now: .* zone kitchen'):
            CALLS[call](robot)
        assert count_rows(robot) == before and get_withheld(robot.memory)['zone'] == 1
    else:
        CALLS[call](robot)
        assert count_rows(robot) != before and not any(get_withheld(robot.memory).values())
    assert asked[0] == ('map', 'tool0' if call == 'save_perception' else '', False)


def test_what_was_known_before_can_be_read_and_forgotten_but_not_updated(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(name='memory', time_zone='UTC')
    kept = robot.learn('the red cup is wet').memory_id
    session = robot.start_session().session_id
    robot.close()
    robot = open_with(open_robot, tmp_path, KITCHEN)
    assert kept is not None and robot.contents(query='red cup') == ['the red cup is wet']
    with pytest.raises(Conflict, match='update keeps nothing now'):
        robot.update(kept, 'the quixotic cup is dry')
    robot.end_session(session)
    robot.forget(kept, 'it is dry')


def make_covariance(sigma: float) -> list[float]:
    return [float(one) for one in np.diag([sigma**2] * 3 + [0.01] * 3).reshape(-1)]


@pytest.mark.parametrize(
    ('pose', 'is_kept'),
    [
        ({'position': [4.5, 1.0, 1.0], 'frame_id': 'map'}, True),
        ({'position': [4.5, 1.0, 1.0], 'frame_id': '/map'}, True),
        ({'position': [4.5, 1.0]}, True),
        ({'position': [4.0, 1.0, 1.0], 'frame_id': 'map'}, False),
        ({'position': [4.5, 1.0, 1.0], 'frame_id': 'odom'}, False),
        (
            {'position': [4.5, 1.0, 1.0], 'covariance': make_covariance(0.149)},
            False,
        ),
        ({'position': [4.5, 1.0, 1.0], 'covariance': make_covariance(0.148)}, True),
        ({'position': [4.5, 1.0, 1.0], 'covariance': [0.0] * 36}, True),
    ],
)
def test_a_perception_with_a_pose_is_about_that_pose(
    open_robot: Callable[..., Robot], tmp_path: Path, pose: dict[str, Any], is_kept: bool
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    if is_kept:
        robot.save_perception('a cup fell', frame_id='map', pose=pose)
    else:
        with pytest.raises(Conflict, match='save_perception keeps nothing now'):
            robot.save_perception('a cup fell', frame_id='map', pose=pose)
    assert robot.rows('SELECT count(*) FROM memories') == [(int(is_kept),)]


@given(st.integers(0, 10_000))
def test_a_pose_in_another_frame_is_brought_into_that_of_the_zone(seed: int) -> None:
    generator = np.random.default_rng(seed)
    turn = generator.normal(size=4)
    x, y, z, w = (float(one) for one in turn / np.linalg.norm(turn))
    a, b, c = (float(one) for one in generator.uniform(-5, 5, size=3))
    pose = Pose((a, b, c), (x, y, z, w))
    place = SensorPlace(pose.position, pose.axes)
    rotation = np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)],
            [2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)],
            [2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y)],
        ]
    )
    assert np.allclose(place.turn, rotation)
    position = generator.uniform(-5, 5, size=3)
    root = generator.normal(size=(3, 3))
    spread = root @ root.T
    upper = [float(spread[at]) for at in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    px, py, pz = (float(one) for one in position)
    found = carry_place(place, (px, py, pz), upper)
    assert np.allclose(found.position, np.array([a, b, c]) + rotation @ position)
    turned = rotation @ spread @ rotation.T
    wanted = [turned[at] for at in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]
    assert found.spread is not None and np.allclose(found.spread, wanted)
    far = math.sqrt(CHI_SQUARED_99 * float(np.linalg.eigvalsh(spread)[-1])) + 1e-3
    mx, my, mz = found.position
    left = Region(
        'l', 'map', ((mx - far - 9, -99), (mx - far, -99), (mx - far, 99), (mx - far - 9, 99))
    )
    assert not left.is_reached((mx, my, mz), found.spread)


def test_settings_that_are_none_end_the_start_with_the_reason(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    with pytest.raises(InvalidArgument, match='no_record_times: .* is no daily time'):
        open_robot(no_record_times=('at night',))
    with pytest.raises(InvalidArgument, match=r"'kitchen': polygon crosses or touches itself"):
        open_with(
            open_robot,
            tmp_path,
            'regions: {kitchen: {frame: map, polygon: [[0, 0], [1, 1], [1, 0], [0, 1]]}}',
        )
    assert not (tmp_path / 'memory.db').exists()


def test_the_command_line_obeys_the_file_beside_the_store(tmp_path: Path) -> None:
    cli = Cli(tmp_path)
    rules = tmp_path / 'cell.regions.yaml'
    rules.write_text(KITCHEN, encoding='utf-8')
    said = cli.failed('learn', 'the quixotic valve sticks')
    assert '[conflict] learn keeps nothing now: there is a no-record zone, kitchen' in said
    assert 'no-record zones kitchen (map)' in ' '.join(cli.done('status').split())
    assert cli.json('status')['no_record'] == {'zones': ['kitchen (map)'], 'times': []}
    rules.unlink()
    cli.done('learn', 'the valve sticks')
    said = cli.failed('learn', 'the quixotic door jams', '--no-record-times', '00:00-24:00')
    assert 'it is a no-record time' in said
    assert not any(b'quixotic' in file.read_bytes() for file in tmp_path.glob('cell.db*'))

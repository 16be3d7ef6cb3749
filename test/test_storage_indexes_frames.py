"""Positions of different coordinate frames: an answer over several says so, one may be named."""

from __future__ import annotations

from typing import Any

import pytest
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import to_plain

FIELD = 'spatial.position'


def near(robot: Robot, frame_id: str | None = None, field: str = FIELD, n: int = 100) -> Any:
    asked: dict[str, Any] = {'field': field, 'target': [0, 0, 0]}
    if frame_id is not None:
        asked['frame_id'] = frame_id
    return to_plain(robot.recall(spatial_sort=asked, n=n))


def at(x: float, frame_id: str | None) -> dict[str, Any]:
    return {'spatial': {'position': [x, 0, 0], **({'frame_id': frame_id} if frame_id else {})}}


def test_an_answer_over_several_frames_says_how_many_are_in_each(robot: Robot) -> None:
    for number in range(12):
        robot.learn(f'cup {number}', context=at(number, 'map'))
    for number in range(3):
        robot.learn(f'plate {number}', context=at(number / 10, '/base_link'))
    answer = near(robot)
    assert answer['frames'] == {'map': 12, 'base_link': 3}
    assert answer['total'] == 15
    robot.learn('a tray', context=at(5, None))
    assert near(robot)['frames'] == {'map': 12, 'base_link': 3, 'unknown': 1}


def test_an_answer_of_one_frame_and_one_without_places_say_nothing_of_frames(
    robot: Robot,
) -> None:
    robot.learn('a cup', context=at(1, 'map'))
    assert 'frames' not in near(robot)
    assert 'frames' not in to_plain(robot.recall('cup'))


def test_a_named_frame_restricts_before_ranking(robot: Robot) -> None:
    for number in range(50):
        robot.learn(f'cup {number}', context=at(number / 1000, 'map'))
    far = [robot.learn(f'plate {i}', context=at(100 + i, 'base_link')).memory_id for i in range(3)]
    answer = near(robot, 'base_link', n=2)
    assert [memory['id'] for memory in answer['memories']] == far[:2]
    assert 'frames' not in answer
    assert near(robot, '/base_link')['total'] == 3
    assert near(robot, 'odom')['memories'] == []


def test_the_frame_is_named_beside_a_position_or_around_it_or_by_the_perception(
    robot: Robot,
) -> None:
    position = {'x': {'p': [1, 2, 3]}}
    beside = {'spatial': {'x': {'p': [1, 2, 3], 'frame_id': 'a'}, 'frame_id': 'b'}}
    contexts: tuple[dict[str, Any], ...] = (
        beside,
        {'spatial': {**position, 'frame_id': 'b'}},
        {'spatial': position, 'frame_id': 'c'},
        {'spatial': {'x': {'p': [1, 2, 3], 'frame_id': 7}, 'frame_id': ''}},
    )
    for number, context in enumerate(contexts):
        robot.learn(f'a cup {number}', context=context)
    field = 'spatial.x.p'
    assert near(robot, field=field)['frames'] == {'a': 1, 'b': 1, 'c': 1, 'unknown': 1}
    for frame_id in 'abc':
        assert near(robot, frame_id, field)['total'] == 1
    pose = {'position': [1, 2, 3]}
    robot.save_perception('a cup is seen', frame_id='camera', pose=pose)
    other = {'position': [1, 2, 3], 'frame_id': 'map'}
    robot.save_perception('a cup is seen', frame_id='camera', pose=other)
    assert near(robot)['frames'] == {'camera': 1, 'map': 1}
    assert near(robot, 'camera')['total'] == 1


@pytest.mark.parametrize('wrong', ['', '/', 7, ['map'], {}])
def test_a_frame_that_is_no_name_is_refused(robot: Robot, wrong: Any) -> None:
    asked = {'field': FIELD, 'target': [0, 0, 0], 'frame_id': wrong}
    with pytest.raises(InvalidArgument, match='frame_id must be the name'):
        robot.recall(spatial_sort=asked)

"""What is no orientation and no covariance is refused, and said why."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from narrowing import require
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.places import check_covariance, check_orientation, read_place

UNIT = [float(x) for x in np.eye(6).ravel()]


def test_a_quaternion_has_length_1() -> None:
    check_orientation('pose.orientation', [0, 0, 0.7071, 0.7071])
    with pytest.raises(InvalidArgument, match='of length 1, not .* of length 2'):
        check_orientation('pose.orientation', [0, 0, 0, 2])


@pytest.mark.parametrize(
    ('covariance', 'words'),
    [
        (UNIT[:-1], 'these are 35'),
        ('none', 'must be the 36 numbers'),
        ([float('nan'), *UNIT[1:]], 'finite'),
        ([1.0, 0.5, *UNIT[2:]], 'row 2, column 1 is 0, but row 1, column 2 is 0.5'),
        ([-1.0, *UNIT[1:]], 'negative eigenvalue'),
        ([1.0, 2.0, 0, 0, 0, 0, 2.0, *UNIT[7:]], 'negative eigenvalue'),
    ],
)
def test_what_is_no_covariance_is_refused(covariance: object, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        check_covariance('pose.covariance', covariance)


def test_covariances_are_told_from_others_as_eigenvalues_tell() -> None:
    chance = np.random.default_rng(2)
    for _ in range(300):
        root = chance.normal(size=(6, int(chance.integers(1, 7))))
        good = root @ root.T
        check_covariance('covariance', [*map(float, good.ravel())])
        axis = np.linalg.eigh(good)[1][:, 0]
        bad = good - 0.01 * (1 + np.trace(good)) * np.outer(axis, axis)
        if np.linalg.eigvalsh(bad)[0] < -1e-6:
            with pytest.raises(InvalidArgument, match='negative eigenvalue'):
                check_covariance('covariance', [*map(float, ((bad + bad.T) / 2).ravel())])


def test_the_thing_is_where_it_is_and_not_where_the_robot_was() -> None:
    pose = {'position': [1, 1, 1], 'frame_id': 'map'}
    spatial = {'object_position': [2, 2, 2], 'frame_id': '/base'}
    found = read_place({'spatial': spatial}, 'camera', pose)
    assert found is not None
    assert (found.position, found.frame) == ((2, 2, 2), 'base')
    found = read_place({}, 'camera', pose)
    assert found is not None
    assert (found.position, found.frame) == ((1, 1, 1), 'map')
    assert read_place({'spatial': {'position': 'here'}}, 'camera', None) is None


@pytest.mark.parametrize(
    ('spatial', 'words'),
    [
        ({'object_covariance': [1.0] * 8}, 'spatial.object_covariance must be .*; these are 8'),
        ({'object_covariance': [-1.0, *[0.0] * 8]}, 'spatial.object_covariance.*negative eigen'),
        ({'covariance': [1.0, 2.0, *UNIT[2:]]}, 'spatial.covariance.*row 2, column 1 is 0'),
        ({'covariance': 'small'}, "spatial.covariance must be the 36.*or the 9.*not 'small'"),
    ],
)
def test_what_is_no_covariance_is_refused_in_a_context(
    robot: Robot, spatial: dict[str, Any], words: str
) -> None:
    context = {'spatial': {'object_position': [1, 2, 3], 'frame_id': 'map', **spatial}}
    known = robot.learn('The red bin is left').memory_id
    for call in (
        lambda: robot.learn('The blue bin is right', context=context),
        lambda: robot.update(require(known), 'The red bin is gone', context=context),
        lambda: robot.save_perception('A bin was seen', context=context),
        lambda: robot.save_conversation('hello', 'there', metadata=context),
    ):
        with pytest.raises(InvalidArgument, match=words):
            call()
    ((count,),) = robot.rows('SELECT count(*) FROM memories')
    assert count == 1


def test_the_9_numbers_of_a_position_are_a_covariance_of_a_thing(robot: Robot) -> None:
    spread = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    spatial = {'object_position': [0, 0, 0], 'object_covariance': spread, 'frame_id': 'map'}
    robot.learn('The red bin is left', context={'spatial': spatial})
    asked = {'frame': 'map', 'position': [0, 0, 0], 'within': 1, 'probability': 0.6}
    (found,) = robot.recall(near=asked).memories
    assert require(found.near).probability == pytest.approx(0.6827, abs=0.002)

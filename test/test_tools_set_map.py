"""Places know their map: a new revision parts them from older ones until it is re-anchored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.detectors import Pose
from robot_memory.memory import caller
from robot_memory.storage.tables import transforms
from robot_memory.storage.tables.transforms import Edge

TURNED = [0.0, 0.0, 1.0, 0.0]
OLD = 'map: of map kitchen r1, and asked is map kitchen r2; set_map takes the transform'


def see(robot: Robot, what: str, x: float, frame: str = 'map', **more: Any) -> int:
    pose = {'position': [x, 0, 0], 'frame_id': frame, **more}
    return robot.save_perception(f'a {what} was seen', pose=pose).memory_id


def ask(robot: Robot, **more: Any) -> Any:
    return robot.recall(near={'frame': 'map', 'position': [0, 0, 0], **more}, n=50)


def name_found(found: Any) -> list[str]:
    return [one.content.split()[1] for one in found.memories]


def test_places_of_another_revision_are_not_compared(robot: Robot) -> None:
    before = see(robot, 'bolt', 1)
    assert require(robot.show(before).memory).of_map is None
    first = robot.set_map('kitchen')
    assert (first.revision, first.begun, first.frame) == (1, True, 'map')
    cup = see(robot, 'cup', 2)
    robot.learn(
        'The tray is here',
        context={'spatial': {'object_position': [3, 0, 0], 'frame_id': '/map'}},
    )
    found = ask(robot)
    assert name_found(found) == ['cup', 'tray']
    assert found.near['map'] == 'kitchen r1'
    reason = 'map: of no named map, and asked is map kitchen r1; set_map takes the transform'
    assert found.near['not_compared'] == [{'reason': reason, 'count': 1}]
    pose: Any = robot.show(cup).memory.pose
    assert (pose['map'], pose['map_revision'], 'provisional' in pose) == ('kitchen', 1, False)
    assert robot.show(cup).memory.of_map is None
    rows = robot.rows('SELECT id, context, pose FROM memories ORDER BY id')
    assert robot.set_map('kitchen').revision == 2
    see(robot, 'pan', 4)
    found = ask(robot)
    assert name_found(found) == ['pan']
    assert {one['reason']: one['count'] for one in found.near['not_compared']} == {
        reason.replace('r1', 'r2'): 1,
        OLD: 2,
    }
    words = robot.recall('cup tray pan bolt', n=10).memories
    assert {one.content.split()[1]: one.of_map for one in words} == {
        'bolt': 'of no named map',
        'cup': 'of map kitchen r1',
        'tray': 'of map kitchen r1',
        'pan': None,
    }
    listed = robot.query_records(where={'record_id': f'mem_{cup}'}).records
    assert listed[0].of_map == 'of map kitchen r1'
    brief = require(robot.recall('cup', format='brief').brief)
    assert any('of map kitchen r1' in one.about for one in brief)
    assert 'of map kitchen r1' in robot.get_context('where is the cup?').context
    assert robot.rows('SELECT id, context, pose FROM memories ORDER BY id')[:3] == rows


def test_a_transform_brings_older_places_without_changing_a_row(robot: Robot) -> None:
    robot.set_map('kitchen')
    covariance = [0.0] * 36
    covariance[0] = 0.01
    see(robot, 'cup', 2, covariance=covariance)
    rows = robot.rows('SELECT * FROM memories')
    moved = {'position': [1, 0, 0], 'orientation': TURNED}
    done: Any = robot.set_map('kitchen', transform=moved, residual=0.3)
    assert (done.revision, done.anchored, done.residual) == (2, 'kitchen r1', 0.3)
    found = ask(robot, within=5)
    (cup,) = found.memories
    assert cup.near.position == pytest.approx([-1, 0, 0])
    assert cup.of_map == 'of map kitchen r1'
    assert found.near['anchored'] == [{'map': 'kitchen r1', 'residual': 0.3}]
    near: Any = robot.recall(near={'frame': 'map', 'position': [-1, 0, 0], 'within': 0.3})
    assert 0.3 < near.memories[0].near.probability < 0.7  # the residual counts
    assert robot.rows('SELECT * FROM memories') == rows
    see(robot, 'pan', 0)
    asked: Any = robot.recall(near={'of': f'mem_{cup.id}'}).near
    assert asked['position'] == pytest.approx([-1, 0, 0])
    assert robot.set_map('kitchen').revision == 3
    assert not ask(robot).memories
    robot.set_map('kitchen', revision=3, transform={'position': [0, 7, 0]}, old_revision=2)
    found = ask(robot)  # over both re-anchorings
    assert name_found(found) == ['pan', 'cup']
    assert found.memories[1].near.position == pytest.approx([-1, 7, 0])
    assert robot.set_map('kitchen', revision=1).begun  # and back again
    assert [one.near.position for one in ask(robot).memories] == [
        pytest.approx([1, 0, 0]),
        pytest.approx([2, 0, 0]),
    ]


def test_landmarks_bring_older_places_with_their_residual(robot: Robot) -> None:
    see(robot, 'bolt', 1)
    robot.set_map('kitchen')
    chance = np.random.default_rng(6)
    old = chance.uniform(-5, 5, (6, 3))
    noise = chance.normal(size=(6, 3)) * 0.02
    new = old @ np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]) + [10, 20, 0] + noise
    pairs = [{'from': a, 'to': b} for a, b in zip(old.tolist(), new.tolist(), strict=True)]
    done = robot.set_map('kitchen', revision=1, landmarks=pairs, old_unnamed=True)
    assert done.anchored == 'no named map' and 0.005 < require(done.residual) < 0.05
    (bolt,) = ask(robot).memories
    assert bolt.near.position == pytest.approx([10, 21, 0], abs=0.05)


def test_a_place_of_another_frame_comes_through_tf_and_the_map_of_then(
    robot: Robot, clock: MovableClock
) -> None:
    robot.set_map('kitchen')
    see(robot, 'cup', 2)
    see(robot, 'bolt', 5, 'shelf')
    clock.forward(days=1)
    then = '2026-02-25T18:00:00Z'
    robot.set_map('kitchen', transform={'position': [10, 0, 0]})
    step = Pose((0.0, 1.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    stamp = 1_772_042_400 * 10**9
    with robot.memory.db.write() as connection:
        transforms.put_tree(connection, '', stamp, [Edge('shelf', 'map', step, True)])
    found = ask(robot, frame='shelf')  # what tf said of the shelf is of kitchen r1
    assert {one.content.split()[1]: one.near.position for one in found.memories} == {
        'cup': pytest.approx([2, -1, 0]),
        'bolt': pytest.approx([5, 0, 0]),
    }
    found = ask(robot)
    assert {one.content.split()[1]: one.near.position for one in found.memories} == {
        'cup': pytest.approx([12, 0, 0]),
        'bolt': pytest.approx([15, 1, 0]),
    }
    assert {one.near.of_map for one in found.memories} == {'of map kitchen r1'}
    found = ask(robot, at=then)  # when kitchen r1 held
    assert found.near['map'] == 'kitchen r1'
    assert {one.content.split()[1]: one.near.position for one in found.memories} == {
        'cup': pytest.approx([2, 0, 0]),
        'bolt': pytest.approx([5, 1, 0]),
    }


def test_what_is_stored_while_mapping_is_provisional(robot: Robot) -> None:
    assert robot.set_map('hall', mapping=True).mapping
    cup = see(robot, 'cup', 1)
    done = robot.set_map('hall', revision=1)
    assert (done.revision, done.mapping, done.begun) == (1, False, False)
    pan = see(robot, 'pan', 2)
    assert name_found(ask(robot)) == ['cup', 'pan']
    assert robot.show(cup).memory.of_map == 'of map hall r1, provisional'
    assert robot.show(pan).memory.of_map is None
    actions = [row[0] for row in robot.rows('SELECT action FROM audit ORDER BY id')]
    assert actions.count('set_map') == 2


def test_a_perception_is_of_the_map_that_held_when_it_was_measured(
    robot: Robot, clock: MovableClock
) -> None:
    measured = clock.now
    clock.forward(seconds=10)
    robot.set_map('kitchen')
    clock.forward(seconds=10)
    robot.set_map('kitchen')
    for seconds, of in ((0, 'of no named map'), (15, 'of map kitchen r1'), (25, None)):
        at = measured // 10**6 + seconds
        stamp = {'sec': at, 'nanosec': measured % 10**6 * 1000}
        done = robot.save_perception(
            'a cup was seen', stamp=stamp, pose={'position': [0, 0, 0], 'frame_id': 'map'}
        )
        assert robot.show(done.memory_id).memory.of_map == of
    simulated = robot.save_perception(
        'a cup was seen',
        stamp={'sec': 7, 'nanosec': 0},
        pose={'position': [0, 0, 0], 'frame_id': 'map'},
    )
    assert robot.show(simulated.memory_id).memory.of_map is None


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'name': ' '}, "name must be the name of a map such as kitchen.*not ' '"),
        ({'name': 'x' * 65}, '1 to 64 characters'),
        ({'frame': '/'}, "frame must name a tf frame such as map, not '/'"),
        ({'revision': 0}, 'revision'),
        ({'revision': 1, 'transform': {'position': [0, 0, 0]}}, 'cannot be brought into itself'),
        ({'transform': {'position': [0, 0]}, 'landmarks': []}, 'not both'),
        ({'transform': {'position': [0, 'x', 0]}}, 'transform must be'),
        ({'transform': {'position': [0, 0, 0], 'scale': 2}}, 'transform must be'),
        (
            {'transform': {'position': [0, 0, 0], 'orientation': [0, 0, 0, 2]}},
            'transform.orientation must be a quaternion.*length 2',
        ),
        ({'residual': 0.1}, 'residual needs transform'),
        ({'landmarks': [], 'residual': 0.1}, 'residual goes with transform'),
        ({'landmarks': []}, 'at least 3'),
        ({'landmarks': [{'from': [0, 0, 0]}]}, 'landmark 1 must be'),
        ({'landmarks': [{'from': [n, 0, 0], 'to': [n, 0, 0]} for n in range(4)]}, 'on a line'),
        ({'old_revision': 1}, 'need transform or landmarks'),
        ({'old_unnamed': True}, 'need transform or landmarks'),
        (
            {'old_unnamed': True, 'old_revision': 1, 'transform': {'position': [0, 0, 0]}},
            'not both',
        ),
        ({'old_name': 'hall', 'transform': {'position': [0, 0, 0]}}, 'old_revision is missing'),
    ],
)
def test_what_is_no_map_is_refused_in_words(
    robot: Robot, given: dict[str, Any], words: str
) -> None:
    robot.set_map('kitchen')
    before = robot.rows('SELECT count(*) FROM maps'), robot.rows('SELECT count(*) FROM audit')
    with pytest.raises(InvalidArgument, match=words):
        robot.set_map(**{'name': 'kitchen', **given})
    after = robot.rows('SELECT count(*) FROM maps'), robot.rows('SELECT count(*) FROM audit')
    assert after == before


def test_a_revision_that_never_was_is_no_older_one(robot: Robot) -> None:
    robot.set_map('kitchen', revision=5)
    with pytest.raises(NotFound, match='no map hall r2 is known'):
        robot.set_map(
            'kitchen', old_name='hall', old_revision=2, transform={'position': [0, 0, 0]}
        )
    with pytest.raises(InvalidArgument, match="revision 3 of map 'kitchen' is not known, and 5"):
        robot.set_map('kitchen', revision=3)
    assert robot.rows('SELECT count(*) FROM maps') == [(1,)]
    for pose in ({'map': ''}, {'map': 'kitchen'}, {'map': 'kitchen', 'map_revision': 0}):
        with pytest.raises(InvalidArgument, match='pose.map'):
            see(robot, 'cup', 1, **pose)
        with pytest.raises(InvalidArgument, match='context.spatial.map'):
            robot.learn('x is here', context={'spatial': {'position': [0, 0], **pose}})
    said = see(robot, 'cup', 1, map='kitchen', map_revision=4)
    assert robot.show(said).memory.of_map == 'of map kitchen r4'


def test_a_viewer_sets_no_map(robot: Robot, open_robot: Callable[..., Robot]) -> None:
    token = caller.set(Writer.of_role('ros', 'screen', 'viewer'))
    try:
        with pytest.raises(Conflict, match='set_map writes, and a viewer may only read'):
            robot.set_map('kitchen')
    finally:
        caller.reset(token)
    assert robot.rows('SELECT count(*) FROM maps') == [(0,)]

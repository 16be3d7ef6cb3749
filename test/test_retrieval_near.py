"""What lies near a place in any frame, against matrices of its own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from amounts import few_or_many
from narrowing import require
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.records import Record
from robot_memory.detectors import Pose
from robot_memory.storage.tables import memories, transforms
from robot_memory.storage.tables.transforms import Edge

Array = npt.NDArray[np.float64]
STAMP = 1_773_000_000_000_000_000
AT = '2026-03-08T20:00:00Z'


def make_pose(chance: np.random.Generator) -> Pose:
    x, y, z = chance.uniform(-3, 3, 3)
    turn = chance.normal(size=4)
    a, b, c, d = turn / np.linalg.norm(turn)
    return Pose((float(x), float(y), float(z)), (float(a), float(b), float(c), float(d)))


def make_matrix(pose: Pose) -> Array:
    """Return a pose as a matrix of 4 x 4, by the textbook's formula of the rotation's columns."""
    w = pose.orientation[3]
    v = np.array(pose.orientation[:3])
    cross = np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])
    matrix = np.eye(4)
    matrix[:3, :3] = (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * cross
    matrix[:3, 3] = pose.position
    return matrix


def keep_tree(robot: Robot, stamp_ns: int, *edges: Edge) -> None:
    with robot.memory.db.write() as connection:
        transforms.put_tree(connection, '', stamp_ns, edges)


def keep_facts(robot: Robot, places: list[tuple[str, list[float]]]) -> None:
    with robot.memory.db.write() as connection:
        for number, (frame, position) in enumerate(places):
            spatial: dict[str, Any] = {'object_position': position}
            spatial |= {'frame_id': frame} if frame else {}
            record = Record(
                type='fact',
                collection='default',
                content=f'thing {number}',
                category='observation',
                confidence=0.9,
                context={'spatial': spatial},
                created_at=STAMP // 1000 + number,
            )
            memories.insert(connection, record, None)


def near(robot: Robot, n: int = 100, **asked: Any) -> Any:
    return robot.recall(near=asked, n=n)


def test_the_order_and_the_places_are_those_of_independent_matrices(robot: Robot) -> None:
    chance, count = np.random.default_rng(1), few_or_many(2_000, 10_000)
    base, tool = make_pose(chance), make_pose(chance)
    keep_tree(robot, STAMP, Edge('base', 'map', base), Edge('tool', 'base', tool))
    to_map = {'map': np.eye(4), 'base': make_matrix(base)}
    to_map['tool'] = to_map['base'] @ make_matrix(tool)
    names = [str(name) for name in chance.choice(list(to_map), count)]
    stored = chance.uniform(-5, 5, (count, 3))
    keep_facts(robot, [(name, [*map(float, x)]) for name, x in zip(names, stored, strict=True)])
    for asked in to_map:
        ways = {name: np.linalg.inv(to_map[asked]) @ way for name, way in to_map.items()}
        brought = np.array(
            [(ways[name] @ [*x, 1])[:3] for name, x in zip(names, stored, strict=True)]
        )
        target = chance.uniform(-4, 4, 3)
        distances = np.linalg.norm(brought - target, axis=1)
        order = np.argsort(distances)[:100]
        found = near(robot, frame=asked, position=[*map(float, target)], at=AT)
        assert [one.content for one in found.memories] == [f'thing {i}' for i in order]
        places = np.array([one.near.position for one in found.memories])
        assert np.abs(places - brought[order]).max() < 1e-6
        told = [one.near.distance for one in found.memories]
        assert np.abs(np.array(told) - distances[order]).max() < 1e-6
        assert found.near['not_compared'] == []


def test_frames_without_a_transform_are_never_in_one_answer(robot: Robot) -> None:
    keep_facts(robot, [('map', [1, 0, 0]), ('dock', [1, 0, 0]), ('', [1, 0, 0])])
    found = near(robot, frame='map', position=[0, 0, 0])
    assert [one.content for one in found.memories] == ['thing 0']
    assert {one['reason']: one['count'] for one in found.near['not_compared']} == {
        "dock: unknown tf frame 'dock'": 1,
        'position without a frame': 1,
    }
    empty = near(robot, frame='map', position=[9, 9, 9], within=1)
    assert empty.why_empty == (
        'No memory that passes the rest lies within 1 m of 9, 9, 9 in map; '
        "1 not compared (dock: unknown tf frame 'dock'); "
        '1 not compared (position without a frame).'
    )


def test_where_moving_frames_are_is_not_told_long_after(robot: Robot) -> None:
    step = Pose((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    keep_tree(robot, STAMP, Edge('base', 'map', step), Edge('shelf', 'map', step, True))
    keep_facts(robot, [('base', [0, 0, 0]), ('shelf', [1, 0, 0])])
    found = near(robot, frame='map', position=[0, 0, 0])
    assert [one.content for one in found.memories] == ['thing 1']
    (left,) = found.near['not_compared']
    assert left['count'] == 1
    assert (
        'moves, and the transforms kept nearest to now are of 2026-03-08T20:00:00'
        in (left['reason'])
    )
    found = near(robot, frame='map', position=[0, 0, 0], at=AT)
    assert [one.near.distance for one in found.memories] == [1.0, 2.0]
    assert found.near['moving'] == ['base']
    assert near(robot, of='base', frame='map', at=AT).near['position'] == [1.0, 0.0, 0.0]


def test_a_thing_or_a_memory_is_a_place(robot: Robot) -> None:
    robot.learn(
        'The red bin is left',
        context={
            'spatial': {'object': 'red bin', 'object_position': [1, 2, 0], 'frame_id': 'map'}
        },
    )
    keep_facts(robot, [('map', [1, 2, 1])])
    assert near(robot, of='red bin').near['position'] == [1.0, 2.0, 0.0]
    found = near(robot, of='mem_2', within=0.5)
    assert [one.content for one in found.memories] == ['thing 0']


def test_probability_is_of_the_covariance_in_the_asked_frame(robot: Robot) -> None:
    covariance = [0.0] * 36
    covariance[0] = 1.0
    robot.save_perception(
        'seen along the beam',
        pose={'position': [0, 0, 0], 'frame_id': 'map', 'covariance': covariance},
    )
    robot.save_perception('seen, who knows how well', pose={'position': [0, 0, 0]}, frame_id='map')
    found = near(robot, frame='map', position=[0, 0, 0], within=1)
    assert {one.content: one.near.probability for one in found.memories} == {
        'seen along the beam': pytest.approx(0.6827, abs=0.002),
        'seen, who knows how well': None,
    }
    found = near(robot, frame='map', position=[0, 0, 0], within=1, probability=0.6)
    assert [one.content for one in found.memories] == ['seen along the beam']
    assert found.near['not_compared'] == [{'reason': 'no covariance', 'count': 1}]
    assert not near(robot, frame='map', position=[0, 0, 0], within=1, probability=0.7).memories


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        ({'position': [0, 0, 0]}, 'needs near.frame'),
        ({'frame': 'moon', 'position': [0, 0, 0]}, "'moon' is unknown.*frames of memories: map"),
        ({'frame': 'map', 'position': [0, 0]}, 'three finite numbers'),
        ({'frame': 'map'}, 'either position, of or in'),
        ({'frame': 'map', 'position': [0, 0, 0], 'within': -1}, '0 or more'),
        ({'frame': 'map', 'position': [0, 0, 0], 'probability': 0.5}, 'needs near.within'),
        ({'frame': 'map', 'position': [0, 0, 0], 'at': AT}, 'kept no transforms'),
        ({'frame': 'map', 'postion': [0, 0, 0]}, 'position'),
        ({'of': 'a unicorn'}, 'no spatial.object'),
        ({'of': 'mem_7'}, 'has no place'),
    ],
)
def test_what_is_no_place_is_refused_in_words(
    robot: Robot, asked: dict[str, Any], words: str
) -> None:
    keep_facts(robot, [('map', [1, 0, 0])])
    with pytest.raises(InvalidArgument, match=words):
        near(robot, **asked)


def test_records_and_events_are_listed_by_the_same_place(robot: Robot) -> None:
    records: Any
    found: Any
    step = Pose((1.0, 0.0, 0.0), (0.0, 0.0, 0.0, 1.0))
    keep_tree(robot, STAMP, Edge('base', 'map', step, True))
    for number, frame in enumerate(('base', 'map', 'dock')):
        robot.save_perception(
            f'knock number {number}',
            'tactile',
            pose={'position': [0, 0, 0], 'frame_id': frame},
            stamp={'sec': 1_773_000_000 + number, 'nanosec': 0},
        )
    asked = {'frame': 'map', 'position': [1, 0, 0], 'within': 0.5}
    records = robot.query_records(near=asked)
    assert [one.record_content for one in records.records] == ['knock number 0']
    assert records.total_count == 1
    assert records.records[0].near.position == [1.0, 0.0, 0.0]
    left = [{'reason': "dock: unknown tf frame 'dock'", 'count': 1}]
    assert records.near['not_compared'] == left
    found = robot.query_events(near=asked)
    assert [one.text for one in found.events] == ['knock number 0']
    assert found.events[0].near.distance == 0
    assert found.near['not_compared'] == left
    counted = robot.query_events(near={**asked, 'within': 2}, aggregate=['count'])
    assert counted.total == 2
    for tool in (robot.query_records, robot.query_events):
        with pytest.raises(InvalidArgument, match='near.within'):
            tool(near={'frame': 'map', 'position': [1, 0, 0]})


REGIONS = """
regions:
  left bin: {frame: base, polygon: [[0, 0], [2, 0], [2, 2], [1, 1], [0, 2]], bottom: 0, top: 0.5}
  tower: {frame: map, box: [[-1, -1], [1, 1]]}
"""


def open_with_regions(open_robot: Callable[..., Robot], tmp_path: Path) -> Robot:
    (tmp_path / 'memory.regions.yaml').write_text(REGIONS, encoding='utf-8')
    return open_robot()


def test_what_lies_in_a_region_is_found_in_whatever_frame_it_was_stored(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with_regions(open_robot, tmp_path)
    chance = np.random.default_rng(3)
    base = make_pose(chance)
    keep_tree(robot, STAMP, Edge('base', 'map', base))
    way = {'base': np.eye(4), 'map': np.linalg.inv(make_matrix(base)), 'odom': np.eye(4)}
    inside = chance.uniform((-0.5, -0.5, -0.3), (2.5, 2.5, 0.8), (600, 3))
    names = [str(one) for one in chance.choice(['base', 'map', 'odom'], 600, p=(0.45, 0.45, 0.1))]
    stored = [
        (np.linalg.inv(way[name]) @ [*at, 1])[:3] for name, at in zip(names, inside, strict=True)
    ]
    keep_facts(robot, [(name, [*map(float, at)]) for name, at in zip(names, stored, strict=True)])
    x, y, z = inside.T
    is_in = (x >= 0) & (x <= 2) & (y >= 0) & (y <= 1 + np.abs(x - 1)) & (z >= 0) & (z <= 0.5)
    wanted = [at for at in range(600) if is_in[at] and names[at] != 'odom']
    assert 50 < len(wanted) < 500
    order = sorted(wanted, key=lambda at: float(np.linalg.norm(inside[at] - [1, 1, 0.25])))
    asked = {'in': 'Left Bin', 'at': AT}
    found = robot.recall(near=asked, n=100)
    assert [one.content for one in found.memories] == [f'thing {at}' for at in order[:100]]
    told = require(found.near)
    assert told['frame'] == 'base' and told['position'] == [1.0, 1.0, 0.25]
    (left,) = told['not_compared']
    assert left == {'reason': "odom: unknown tf frame 'odom'", 'count': names.count('odom')}
    listed = robot.query_records(near=asked, limit=1000)
    assert {one.record_content for one in listed.records} == {f'thing {at}' for at in wanted}
    assert listed.total_count == len(wanted)


def test_a_region_without_heights_reaches_up_and_down(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with_regions(open_robot, tmp_path)
    keep_facts(robot, [('map', [1.0, -1.0, 9e5]), ('map', [0.0, 0.5, -3.0]), ('map', [1.1, 0, 0])])
    found = robot.recall(near={'in': 'tower'})
    assert [one.content for one in found.memories] == ['thing 1', 'thing 0']
    for z in (0.0, 7.0):
        robot.save_perception('a cup fell', frame_id='map', pose={'position': [0.5, 0.5, z]})
    robot.save_perception('a cup fell', frame_id='map', pose={'position': [2.5, 0.5, 0.0]})
    assert len(robot.query_events(near={'in': 'tower'}).events) == 2


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        (
            {'in': 'left bim'},
            r"near.in: there is no region 'left bim' \(did you mean left bin\?\)",
        ),
        ({'in': 'tower', 'of': 'mem_1'}, 'near needs either position, of or in'),
        ({'in': 'tower', 'frame': 'map'}, "near.in 'tower' has a frame and a size of its own"),
        ({'in': 'tower', 'within': 2}, 'leave out within'),
        ({'in': 'tower', 'probability': 1.5}, 'near.probability must be 0 to 1'),
        ({'in': 7}, 'near.in must be text, not 7'),
    ],
)
def test_a_question_for_a_region_that_is_none_is_refused_in_words(
    open_robot: Callable[..., Robot], tmp_path: Path, asked: dict[str, Any], words: str
) -> None:
    robot = open_with_regions(open_robot, tmp_path)
    keep_facts(robot, [('map', [0.0, 0.0, 0.0])])
    for tool in (robot.recall, robot.query_records, robot.query_events):
        ask: Any = tool
        with pytest.raises(InvalidArgument, match=words):
            ask(near=asked)
    empty = robot.recall(near={'in': 'tower'}, context_filter={'category': 'gotcha'})
    assert empty.why_empty == 'No memory that passes the rest lies in the region tower in map.'
    with pytest.raises(InvalidArgument, match="near.in 'left bin': the frame 'base' is unknown"):
        robot.recall(near={'in': 'left bin'})


def test_a_region_with_a_probability_counts_what_has_no_covariance(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with_regions(open_robot, tmp_path)
    covariance = [0.0] * 36
    covariance[0] = 1.0
    for x in (0.0, 1.0, 3.0):
        pose = {'position': [x, 0, 0], 'frame_id': 'map', 'covariance': covariance}
        robot.save_perception(f'seen at {x:g}', pose=pose)
    robot.save_perception('seen, who knows how well', pose={'position': [0, 0, 0]}, frame_id='map')
    found = robot.recall(near={'in': 'tower'})
    assert {one.content: require(one.near).probability for one in found.memories} == {
        'seen at 0': pytest.approx(0.682689, abs=1e-5),
        'seen at 1': pytest.approx(0.477250, abs=1e-5),
        'seen, who knows how well': None,
    }
    for probability, number in ((0.0, 3), (0.02, 3), (0.03, 2), (0.4, 2), (0.5, 1), (0.7, 0)):
        found = robot.recall(near={'in': 'tower', 'probability': probability})
        assert len(found.memories) == number, probability
        left = [{'reason': 'no covariance', 'count': 1}]
        assert require(found.near)['not_compared'] == left

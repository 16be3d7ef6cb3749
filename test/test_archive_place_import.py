"""Maps, anchors and regions go through archives, and change nothing that holds elsewhere."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from robots import MovableClock, Robot

from robot_memory.archive.place_import import PlaceImport
from robot_memory.archive.place_lines import MapLine, parse_place_line
from robot_memory.archive.reader import import_archive
from robot_memory.cli.store import format_places, report_places
from robot_memory.core.errors import InvalidArgument

BOX: Any = [[0, 0, 0], [0.3, 0.2, 0.1]]
LANDMARKS: Any = [
    {'from': [0, 0, 0], 'to': [1, 0, 0]},
    {'from': [1, 0, 0], 'to': [2, 0, 0]},
    {'from': [0, 1, 0], 'to': [1, 1, 0.01]},
]
NEAR: Any = {'frame': 'map', 'position': [0, 0, 0], 'within': 10}


@pytest.fixture
def other(open_robot: Callable[..., Robot]) -> Robot:
    return open_robot(name='other')


def map_kitchen(robot: Robot, clock: MovableClock) -> None:
    """Let a robot have two revisions of a map, an anchor between them, and a region."""
    robot.set_map('kitchen', mapping=True)
    robot.save_perception('The cup is here', pose={'position': [1, 0, 0], 'frame_id': 'map'})
    clock.forward(seconds=10.5)
    robot.set_map('kitchen', landmarks=LANDMARKS)
    robot.save_perception('The pan is here', pose={'position': [0, 1, 0], 'frame_id': 'map'})
    robot.set_region('left bin', 'map', box=BOX)
    robot.set_region('tray', 'map', polygon=[[0, 0], [1, 0], [0, 1]], heights=[0, 0.5])


def write(robot: Robot, path: Path) -> Path:
    path.write_text(robot.export('all', 'jsonl').content, encoding='utf-8')
    return path


def move(source: Robot, target: Robot, path: Path) -> Any:
    return import_archive(target.memory, write(source, path))


def list_places(robot: Robot) -> list[Any]:
    """Return the lines of maps, anchors and regions that an archive of the store has."""
    lines = map(json.loads, robot.export('all', 'jsonl').content.splitlines())
    return [line for line in lines if line['kind'] in ('map', 'anchor', 'region')]


def list_anchored(robot: Robot) -> list[float]:
    """Return the x of the anchors that the store has, in their order."""
    return [one['position'][0] for one in list_places(robot) if one['kind'] == 'anchor']


def test_places_come_back_whole_into_an_empty_store(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    map_kitchen(robot, clock)
    done = move(robot, other, tmp_path / 'a.jsonl')
    assert (done.places, done.refused, done.problems) == (5, 0, ())
    lines = list_places(robot)
    assert [line['kind'] for line in lines] == ['map', 'map', 'anchor', 'region', 'region']
    assert list_places(other) == lines
    head = json.loads(other.export('all', 'jsonl').content.partition('\n')[0])
    assert (head['version'], head['places']) == (3, 5)
    asked = [one.recall(near=NEAR) for one in (robot, other)]
    told = [[(one.content, one.near, one.of_map) for one in found.memories] for found in asked]
    assert told[0] == told[1] and len(told[0]) == 2, 'the anchor brings the older one'
    near: Any = asked[1].near
    assert asked[0].near == near and near['map'] == 'kitchen r2'
    bins = [one.recall(near={'in': 'left bin'}).total for one in (robot, other)]
    assert bins[0] == bins[1]
    assert other.set_map('kitchen').revision == 3


def test_an_archive_without_maps_and_one_of_a_session_is_as_before(robot: Robot) -> None:
    session = robot.start_session().session_id
    robot.learn('The lamp is on', session_id=session)
    assert '"version":1,' in robot.export('all', 'jsonl').content
    robot.set_map('kitchen')
    assert '"version":3,' in robot.export('all', 'jsonl').content
    for scope in ({'session_id': session}, {'session_id': 'all', 'collection': 'default'}):
        text = robot.export(format='jsonl', **scope).content
        assert '"version":1,' in text and '"kind":"map"' not in text


def test_a_later_archive_continues_and_a_second_import_adds_nothing(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    robot.set_map('kitchen')
    assert move(robot, other, tmp_path / 'a.jsonl').places == 1
    clock.forward(seconds=60)
    map_kitchen(robot, clock)
    assert move(robot, other, tmp_path / 'b.jsonl').places == 5
    again = move(robot, other, tmp_path / 'c.jsonl')
    assert (again.places, again.refused) == (0, 0)
    assert list_places(other) == list_places(robot)
    assert move(other, robot, tmp_path / 'd.jsonl').places == 0, 'nor into where it comes from'


def test_what_holds_in_another_store_is_not_changed(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    map_kitchen(robot, clock)
    clock.forward(seconds=5)
    other.set_map('kitchen')
    other.set_region('tray', 'map', box=BOX)
    before = list_places(other)
    done = move(robot, other, tmp_path / 'a.jsonl')
    assert (done.memories, done.places, done.refused) == (2, 0, 4)
    problems = ' '.join(done.problems)
    assert "map kitchen r1: in frame 'map' of this store kitchen r1 held at that point" in problems
    assert 'the anchor from kitchen r1 to kitchen r2 is of map kitchen r2' in problems
    assert "the region 'left bin' is of map kitchen r2, which is not in this store" in problems
    assert list_places(other) == before
    assert other.set_map('kitchen').revision == 2


def test_a_map_of_a_known_name_in_another_frame_is_refused(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    robot.set_map('kitchen')
    robot.set_map('kitchen', revision=1, frame='floor')
    other.learn('The lamp is on')
    assert move(robot, other, tmp_path / 'a.jsonl').places == 2, 'both are of the archive'
    clock.forward(seconds=5)
    robot.set_map('hall', frame='hall_map')
    other.set_map('hall', frame='lobby')
    done = move(robot, other, tmp_path / 'b.jsonl')
    assert done.refused == 1
    assert "this store has another map of this name, in frame 'lobby'" in done.problems[0]


def test_of_two_anchors_between_the_same_revisions_the_later_stays(
    robot: Robot, other: Robot, clock: MovableClock, tmp_path: Path
) -> None:
    robot.set_map('kitchen')
    robot.set_map('kitchen', transform={'position': [1, 0, 0]})
    move(robot, other, tmp_path / 'a.jsonl')
    clock.forward(seconds=5)
    old: Any = {'old_name': 'kitchen', 'old_revision': 1}
    robot.set_map('kitchen', revision=2, transform={'position': [2, 0, 0]}, **old)
    clock.forward(seconds=5)
    other.set_map('kitchen', revision=2, transform={'position': [3, 0, 0]}, **old)
    assert move(robot, other, tmp_path / 'b.jsonl').places == 0
    assert list_anchored(other) == [1, 3]
    assert move(other, robot, tmp_path / 'c.jsonl').places == 1
    assert list_anchored(robot) == [1, 2, 3]


def test_anchors_of_one_moment_all_come_back(robot: Robot, other: Robot, tmp_path: Path) -> None:
    robot.set_map('kitchen')
    robot.set_map('kitchen', transform={'position': [1, 0, 0]})
    old: Any = {'old_name': 'kitchen', 'old_revision': 1}
    robot.set_map('kitchen', revision=2, transform={'position': [2, 0, 0]}, **old)
    assert move(robot, other, tmp_path / 'a.jsonl').places == 4
    assert list_anchored(other) == list_anchored(robot) == [1, 2]
    assert move(robot, other, tmp_path / 'b.jsonl').places == 0


def test_a_map_that_is_set_during_an_import_stays(
    robot: Robot, other: Robot, clock: MovableClock
) -> None:
    map_kitchen(robot, clock)
    first, second = [parse_place_line(one) for one in list_places(robot) if one['kind'] == 'map']
    importing = PlaceImport(clock, [one for one in (first, second) if isinstance(one, MapLine)])
    with other.memory.db.write() as connection:
        importing.store(connection, first)
    other.set_map('hall')
    with (
        pytest.raises(InvalidArgument, match="set_map was called for frame 'map' during"),
        other.memory.db.write() as connection,
    ):
        importing.store(connection, second)
    assert [one['name'] for one in list_places(other)] == ['kitchen', 'hall']


@pytest.mark.parametrize(
    ('kind', 'changes', 'words'),
    [
        ('map', {'name': ' kitchen'}, 'name has needless spaces'),
        ('map', {'revision': 0}, 'revision must be 1 to 1000000000, not 0'),
        ('map', {'digest': 'x' * 64}, 'digest is not hexadecimal'),
        ('anchor', {'orientation': [0, 0, 0, 2]}, 'orientation must be a quaternion'),
        ('anchor', {'position': [0, 0]}, 'position must be 3 finite numbers'),
        ('anchor', {'residual': -1.0}, 'residual must be at least 0'),
        ('anchor', {'old_name': ''}, 'old_name must be the name of a map'),
        ('region', {'shape': {'polygon': [[0, 0], [1, 1], [1, 0], [0, 1]]}}, 'crosses'),
        ('region', {'shape': {'box': [[0, 0], [0, 1]]}}, 'box has no extent along x'),
        ('region', {'revision': 0}, "revision of map 'kitchen' must be 1 or more"),
    ],
)
def test_a_wrong_line_of_a_place_is_named_and_the_others_are_kept(
    robot: Robot,
    other: Robot,
    clock: MovableClock,
    tmp_path: Path,
    kind: str,
    changes: dict[str, Any],
    words: str,
) -> None:
    map_kitchen(robot, clock)
    path = write(robot, tmp_path / 'a.jsonl')
    lines = path.read_text().splitlines()
    number = max(at for at, line in enumerate(lines) if json.loads(line)['kind'] == kind)
    lines[number] = json.dumps({**json.loads(lines[number]), **changes})
    path.write_text('\n'.join(lines) + '\n')
    done = import_archive(other.memory, path)
    assert done.refused >= 1 and f'line {number + 1}: ' in done.problems[0]
    assert words in done.problems[0]
    assert done.memories == 2 and done.places + done.refused == 5


def test_the_status_says_which_maps_hold(robot: Robot, clock: MovableClock) -> None:
    with robot.memory.db.read() as connection:
        assert format_places(report_places(connection)) == {}
    map_kitchen(robot, clock)
    robot.set_map('hall', frame='hall_map', mapping=True)
    with robot.memory.db.read() as connection:
        found = report_places(connection)
    assert found['maps']['map'] == {'name': 'kitchen', 'revision': 2, 'mapping': False}
    assert format_places(found) == {
        'map of map': 'kitchen r2',
        'map of hall_map': 'hall r1, being mapped',
        'map history': '3 changes, 1 anchor',
        'regions': '2',
    }

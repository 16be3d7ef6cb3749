"""Regions that a tool sets stand beside those of the file, and are asked for in the same way."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import Robot

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.memory import caller

FILED = 'regions: {tower: {frame: map, box: [[-1, -1], [1, 1]]}}\n'


@pytest.fixture
def filed(open_robot: Callable[..., Robot], tmp_path: Path) -> Robot:
    """Open a robot with a file of regions."""
    (tmp_path / 'memory.regions.yaml').write_text(FILED, encoding='utf-8')
    return open_robot()


def see(robot: Robot, what: str, x: float) -> None:
    robot.save_perception(f'a {what} was seen', pose={'position': [x, 0, 0], 'frame_id': 'map'})


def find(robot: Robot, region: str) -> list[str]:
    return [one.content.split()[1] for one in robot.recall(near={'in': region}).memories]


def list_actions(robot: Robot) -> list[tuple[str, str]]:
    rows = robot.rows('SELECT action, detail FROM audit ORDER BY id')
    return [(action, detail) for action, detail in rows if 'region' in action]


def test_a_region_is_set_asked_replaced_and_removed(filed: Robot) -> None:
    see(filed, 'cup', 0)
    see(filed, 'pan', 5)
    done = filed.set_region('left  bin', frame='/map', box=[[4, -1, -1], [6, 1, 1]])
    assert (done.status, [one.name for one in done.regions]) == ('set', ['tower', 'left bin'])
    filed_one, kept = done.regions
    assert filed_one.from_file and not kept.from_file
    assert (kept.frame, kept.heights, kept.authority) == ('map', [-1, 1], 'planner')
    assert filed_one.heights == [None, None]
    assert kept.polygon == [[4, -1], [6, -1], [6, 1], [4, 1]]
    assert find(filed, 'Left Bin') == ['pan'] and find(filed, 'tower') == ['cup']
    polygon = [[-2, -2], [2, -2], [0, 2]]
    again = filed.set_region('LEFT bin', frame='map', polygon=polygon, heights=[None, 2])
    assert len(again.regions) == 2 and again.regions[1].polygon == polygon
    assert find(filed, 'left bin') == ['cup']
    assert filed.set_region().status == 'listed'
    assert filed.set_region().regions == again.regions
    gone = filed.set_region('left bin', remove=True)
    assert (gone.status, [one.name for one in gone.regions]) == ('removed', ['tower'])
    with pytest.raises(InvalidArgument, match="no region 'left bin'.*accepted: tower"):
        filed.recall(near={'in': 'left bin'})
    assert [action for action, _ in list_actions(filed)] == [
        'set_region',
        'set_region',
        'remove_region',
    ]
    assert list_actions(filed)[0][1] == '{"frame":"map","region":"left bin"}'


def test_a_region_is_there_in_every_process_that_opens_the_store(
    open_robot: Callable[..., Robot],
) -> None:
    open_robot().set_region('bin', frame='map', box=[[0, 0], [1, 1]])
    other = open_robot(resident=False)
    assert [one.name for one in other.set_region().regions] == ['bin']
    see(other, 'cup', 0.5)
    listed: Any = other.query_records(near={'in': 'bin'})
    assert listed.total_count == 1


def test_the_numbers_of_a_region_are_of_the_map_that_held(robot: Robot) -> None:
    robot.set_map('kitchen')
    robot.set_region('bin', frame='map', box=[[0, -1], [2, 1]])
    see(robot, 'cup', 1)
    robot.set_map('kitchen')
    see(robot, 'pan', 1)
    (region,) = robot.set_region().regions
    assert region.of_map == 'kitchen r1'
    found = robot.recall(near={'in': 'bin'})
    assert [one.content for one in found.memories] == ['a cup was seen']
    told = require(found.near)
    assert told['map'] == 'kitchen r1'
    reason = 'map: of map kitchen r2, and asked is map kitchen r1; set_map takes the transform'
    assert told['not_compared'] == [{'reason': reason, 'count': 1}]
    robot.set_map('kitchen', revision=2, transform={'position': [-3, 0, 0]}, old_revision=1)
    see(robot, 'jar', -2)
    assert find(robot, 'bin') == ['cup', 'jar']
    robot.set_region('bin', frame='map', box=[[0, -1], [2, 1]])  # of kitchen r2 now
    assert find(robot, 'bin') == ['pan']


@pytest.mark.parametrize(
    ('name', 'given', 'words'),
    [
        (None, {'frame': 'map'}, 'name is missing'),
        (None, {'remove': True}, 'name is missing'),
        ('bin', {}, "region 'bin': frame must name a tf frame"),
        ('bin', {'frame': 'map'}, 'either box or polygon'),
        ('x' * 65, {'frame': 'map', 'box': [[0, 0], [1, 1]]}, 'must have 1 to 64 characters'),
        ('bin', {'frame': 'map', 'box': [[0, 0], [1, 'x']]}, 'two opposite corners'),
        (
            'bin',
            {'frame': 'map', 'polygon': [[0, 0], [2, 2], [2, 0], [0, 2]]},
            'polygon crosses or touches itself',
        ),
        ('bin', {'frame': 'map', 'box': [[0, 0], [1, 1]], 'heights': [0, 1]}, 'top of a box'),
        ('bin', {'frame': 'map', 'polygon': [[0, 0], [1, 0], [0, 1]], 'heights': [1]}, 'heights'),
        (
            'bin',
            {'frame': 'map', 'polygon': [[0, 0], [1, 0], [0, 1]], 'heights': [2, 1]},
            'bottom must be less than top',
        ),
        ('bin', {'frame': 'map', 'remove': True}, 'remove takes name alone; leave out frame'),
    ],
)
def test_what_is_no_region_is_refused_in_words(
    robot: Robot, name: str | None, given: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        robot.set_region(name, **given)
    assert robot.rows('SELECT count(*) FROM regions') == [(0,)]
    assert not list_actions(robot)


def test_the_file_and_a_higher_authority_stand(filed: Robot) -> None:
    box = [[0, 0], [1, 1]]
    for more in ({'frame': 'map', 'box': box}, {'remove': True}):
        with pytest.raises(Conflict, match="the region 'Tower' is of regions_file"):
            filed.set_region('Tower', **more)
    with pytest.raises(NotFound, match=r"no region 'bim'.*there are: none"):
        filed.set_region('bim', remove=True)
    token = caller.set(Writer.of_role('cli', 'anna', 'operator'))
    try:
        filed.set_region('bin', frame='map', box=box)
    finally:
        caller.reset(token)
    for more in ({'frame': 'map', 'box': [[5, 5], [6, 6]]}, {'remove': True}):
        with pytest.raises(Conflict, match="'bin' was set by operator, and planner is lower"):
            filed.set_region('bin', **more)
    assert filed.set_region().regions[1].polygon == [[0, 0], [1, 0], [1, 1], [0, 1]]
    token = caller.set(Writer.of_role('ros', 'screen', 'viewer'))
    try:
        with pytest.raises(Conflict, match='a viewer may only read'):
            filed.set_region('bin', frame='map', box=box)
    finally:
        caller.reset(token)

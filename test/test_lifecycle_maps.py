"""The map of a node's parameters holds at its start, and begins a revision once only."""

from __future__ import annotations

from pathlib import Path

import pytest
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.maps import CurrentMap, MapRevision
from robot_memory.core.settings import NodeSettings
from robot_memory.lifecycle.maps import begin_map


def hold(robot: Robot, **given: object) -> tuple[str, int]:
    current = begin_map(robot.memory, NodeSettings(**given))  # type: ignore[arg-type]
    assert current is not None
    return current.of


def count_maps(robot: Robot) -> int:
    ((count,),) = robot.rows('SELECT count(*) FROM maps')
    return int(count)


def test_a_parameter_begins_no_revision_at_the_next_start(robot: Robot) -> None:
    assert begin_map(robot.memory, NodeSettings()) is None
    for _ in range(3):
        assert hold(robot, map_name='kitchen') == ('kitchen', 1)
    assert count_maps(robot) == 1
    robot.set_map('kitchen', mapping=True)
    assert begin_map(robot.memory, NodeSettings(map_name='kitchen')) == CurrentMap(
        MapRevision('kitchen', 2), True
    )
    assert hold(robot, map_name='kitchen', map_revision=5) == ('kitchen', 5)
    assert hold(robot, map_name='kitchen', map_revision=5) == ('kitchen', 5)
    assert hold(robot, map_name='hall') == ('hall', 1)
    assert hold(robot, map_name='kitchen') == ('kitchen', 5)
    assert count_maps(robot) == 5
    rows = robot.rows("SELECT reason FROM audit WHERE action = 'set_map'")
    assert [row[0] for row in rows].count('parameter map_name') == 4


def test_a_map_file_begins_a_revision_where_its_content_is_new(
    robot: Robot, tmp_path: Path
) -> None:
    file, image = tmp_path / 'kitchen.yaml', tmp_path / 'kitchen.pgm'
    file.write_text('image: kitchen.pgm\nresolution: 0.05\norigin: [0, 0, 0]\n')
    image.write_bytes(b'P5 1 1 255 \x00')
    for _ in range(2):
        assert hold(robot, map_file=str(file)) == ('kitchen', 1)
    image.write_bytes(b'P5 1 1 255 \xff')
    for _ in range(2):
        assert hold(robot, map_file=str(file)) == ('kitchen', 2)
    image.write_bytes(b'P5 1 1 255 \x00')  # the first one again
    assert hold(robot, map_file=str(file)) == ('kitchen', 1)
    assert hold(robot, map_file=str(file), map_name='my kitchen') == ('my kitchen', 1)
    assert count_maps(robot) == 4
    graph = tmp_path / 'hall.posegraph'
    graph.write_bytes(b'\x00\xff')
    assert hold(robot, map_file=str(graph)) == ('hall', 1)


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'map_name': ' '}, "map_name must be the name of a map.*not ' '"),
        ({'map_name': 'kitchen', 'map_frame': '/'}, 'map_frame must name a tf frame'),
        ({'map_file': 'nowhere.yaml'}, 'cannot read map_file .*nowhere.yaml: No such file'),
        ({'map_file': 'lonely.yaml'}, 'cannot read map_file .*gone.pgm: No such file'),
        ({'map_file': 'a.yaml', 'map_revision': 2}, 'map_revision goes with map_name alone'),
    ],
)
def test_parameters_that_name_no_map_are_refused_in_words(
    robot: Robot, tmp_path: Path, given: dict[str, object], words: str
) -> None:
    (tmp_path / 'lonely.yaml').write_text('image: gone.pgm\n')
    if 'map_file' in given:
        given = {**given, 'map_file': str(tmp_path / str(given['map_file']))}
    with pytest.raises(InvalidArgument, match=words):
        begin_map(robot.memory, NodeSettings(**given))  # type: ignore[arg-type]
    assert not count_maps(robot)

"""What a word of a question means: a place where sessions were, or a part of the robot."""

from __future__ import annotations

from collections.abc import Callable

from robots import Robot

from robot_memory.retrieval.matching import WordMatcher


def test_a_number_alone_is_no_place_and_beside_its_name_it_is(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(time_zone='UTC')
    begun = {
        place: robot.start_session(context={'env': {'name': place}}).session_id
        for place in ('cell-2', 'cell-7', 'show-room')
    }
    matcher = WordMatcher(robot.memory, 'default')
    cell, two, room = ('cell', 'zone'), ('2',), ('show',)
    assert matcher.find_sessions([('joint',), two]) == []
    assert matcher.find_sessions([cell, two]) == [begun['cell-2']]
    assert matcher.find_sessions([cell]) == sorted([begun['cell-2'], begun['cell-7']])
    assert matcher.find_sessions([room, two]) == [begun['show-room']]

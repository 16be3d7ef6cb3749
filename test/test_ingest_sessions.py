"""What taps store belongs to the session that was open then, and inherits its context."""

from __future__ import annotations

import pytest
from robots import MovableClock, Robot

from robot_memory.core.errors import NotFound
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import Tap, make_tap
from robot_memory.ingest.writer import EventWriter
from robot_memory.lifecycle.perceptions import Perception


def wrench(**settings: str) -> Tap:
    return make_tap('wrench', settings)


def find(robot: Robot, **settings: object) -> str | None:
    found = SessionFinder(robot.memory, **settings).find('auto', 0)  # type: ignore[arg-type]
    return None if found is None else found.id


def test_live_the_newest_open_session_of_the_last_hours_is_found(
    robot: Robot, clock: MovableClock
) -> None:
    assert find(robot) is None
    first = robot.start_session().session_id
    clock.forward(days=0.1)
    second = robot.start_session().session_id
    assert find(robot) == second
    robot.end_session(second)
    assert find(robot) == first
    clock.forward(days=0.35)
    assert find(robot) == first
    clock.forward(days=0.1)
    assert find(robot) is None
    assert find(robot, hours=24.0) == first


def test_a_session_of_another_robot_is_not_found(robot: Robot) -> None:
    robot.start_session(context={'robot': {'id': 'left'}})
    assert find(robot, source='right') is None
    session = robot.start_session(context={'robot': {'id': 'right'}}).session_id
    robot.start_session(context={'robot': {'id': 'left'}})
    assert find(robot, source='right') == session


def test_a_session_is_found_though_the_clock_was_set_back(
    robot: Robot, clock: MovableClock
) -> None:
    clock.synchronised = True
    robot.learn('something')
    clock.synchronised = False
    clock.jump(days=400)
    session = robot.start_session().session_id
    clock.jump(days=-400)
    clock.synchronised = True
    robot.learn('something else')
    assert find(robot) == session


def test_of_a_recording_it_is_the_session_that_was_open_at_the_stamp(
    robot: Robot, clock: MovableClock
) -> None:
    finder = SessionFinder(robot.memory, live=False)
    begin = clock.now * 1000
    session = robot.start_session().session_id
    clock.forward(seconds=10)
    robot.end_session(session)
    later = robot.start_session().session_id
    found = [finder.find('auto', begin + second * 10**9) for second in (-1, 0, 9, 11)]
    ids = [None if one is None else one.id for one in found]
    assert ids == [None, session, session, later]
    assert finder.find_last_end(begin + 9 * 10**9) == 0
    assert finder.find_last_end(begin + 11 * 10**9) == begin + 10 * 10**9


def test_an_event_inherits_robot_environment_and_task_of_its_session(robot: Robot) -> None:
    context = {
        'robot': {'id': 'arm-1'},
        'env': {'sim_or_real': 'real'},
        'task': {'name': 'peg', 'instruction': 'old'},
    }
    session = robot.start_session(context=context).session_id
    taps = EventWriter(robot.memory, [wrench()], SessionFinder(robot.memory))
    own = {'task': {'instruction': 'insert the peg'}}
    taps.write('wrench', Perception('Contact of 3 N', 'tactile', context=own))
    (record,) = robot.query_records().records
    assert record.session_id == session
    assert record.context == {**context, 'task': {'name': 'peg', **own['task']}}


@pytest.mark.parametrize(
    'settings', [{'session': 'none'}, {'session': 'named'}, {'session_id': 'named'}]
)
def test_a_tap_may_name_its_session_or_have_none(robot: Robot, settings: dict[str, str]) -> None:
    named = robot.start_session().session_id
    robot.start_session()
    given = {key: value.replace('named', named) for key, value in settings.items()}
    taps = EventWriter(robot.memory, [wrench(**given)], SessionFinder(robot.memory))
    taps.write('wrench', Perception('Contact of 3 N', 'tactile'))
    (record,) = robot.query_records().records
    assert record.session_id == (named if named in given.values() else None)


@pytest.mark.parametrize('name', ['session', 'session_id'])
def test_an_unknown_session_is_refused_at_the_start(robot: Robot, name: str) -> None:
    with pytest.raises(NotFound, match='nobody'):
        EventWriter(robot.memory, [wrench(**{name: 'nobody'})], SessionFinder(robot.memory))


def test_a_text_of_a_topic_keeps_its_stamp_and_its_category(robot: Robot) -> None:
    session = robot.start_session().session_id
    tap = make_tap('log', {'topic': '/rosout', 'type': 'rcl_interfaces/msg/Log'})
    taps = EventWriter(robot.memory, [tap], SessionFinder(robot.memory))
    sense = {'sense': {'kind': 'fault', 'level': 'error', 'logger': 'driver'}}
    text = 'driver: function move() returned -1'
    taps.write('log', LearnedText(text, sense, 'default', 5, category='observation'))
    (record,) = robot.query_records().records
    assert (record.category, record.session_id) == ('observation', session)
    assert robot.row(record.memory_id)['stamp'] == 5

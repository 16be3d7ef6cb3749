"""States of flags and enumerations: an event for each stretch that is not the usual one."""

from __future__ import annotations

import json
from collections import Counter

import pytest
import recordings
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import Event, StateDetector, StateReading, StateSettings
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.tap import make_tap

STOP = StateSettings(name='protective stop')


def at(second: float, value: str) -> StateReading:
    return StateReading(round(second * 1e9), value)


def feed(settings: StateSettings, *values: tuple[float, str]) -> list[Event]:
    detector = StateDetector(settings)
    found = [event for second, value in values for event in detector.feed(at(second, value))]
    return found + detector.finish()


def test_a_flag_is_known_at_once_and_again_with_its_duration() -> None:
    begun, ended = feed(STOP, (1, 'false'), (2, 'true'), (3, 'true'), (14.5, 'false'))
    assert (begun.description, begun.broken_off) == ('Protective stop, not ended', True)
    assert (ended.description, ended.broken_off) == ('Protective stop for 12.5 s', False)
    assert {(event.stamp_ns, event.subject) for event in (begun, ended)} == {
        (2 * 10**9, 'protective stop true')
    }
    assert ended.end_ns == 14_500_000_000
    assert ended.data == {
        'kind': 'protective stop',
        'value': 'true',
        'duration_s': 12.5,
        'fault': True,
    }


def test_values_have_the_names_of_the_table() -> None:
    settings = StateSettings(
        name='safety mode',
        states=('1: normal', '3: protective stop', '7: emergency stop'),
        rest=('1',),
        faults=('3', '7'),
    )
    found = feed(settings, (1, '1'), (2, '3'), (3, '7'), (4, '5'), (5, '1'))
    whole = [event for event in found if not event.broken_off]
    assert [event.data['kind'] for event in whole] == [
        'protective stop',
        'emergency stop',
        'safety mode 5',
    ]
    assert [event.data.get('fault', False) for event in whole] == [True, True, False]


def test_a_state_that_lasts_at_the_end_is_broken_off() -> None:
    *_, last = feed(STOP, (1, 'false'), (2, 'true'), (5, 'true'))
    assert last.description == 'Protective stop for 3.0 s, broken off: the stream ended'
    assert last.broken_off


def test_a_state_that_began_before_the_first_message_says_so() -> None:
    _, whole = feed(STOP, (1, 'true'), (2, 'false'))
    assert whole.data['began_before']


def test_short_states_are_counted_and_not_stored() -> None:
    detector = StateDetector(StateSettings(name='grip lost', min_duration_s=0.5))
    values = [(0.5, 'false'), (1.0, 'true'), (1.1, 'false'), (2.0, 'true'), (3.0, 'false')]
    found = [event for second, value in values for event in detector.feed(at(second, value))]
    assert [event.stamp_ns for event in found] == [2 * 10**9]
    assert detector.ignored == Counter(short=1)


def test_silence_ends_nothing() -> None:
    detector = StateDetector(STOP)
    detector.feed(at(1, 'true'))
    assert (detector.pause(), detector.since_ns) == ([], 0)


@pytest.mark.parametrize('entry', ['3', '3:', ': stop', ''])
def test_a_table_that_names_no_value_is_refused(entry: str) -> None:
    with pytest.raises(InvalidArgument, match='states accepts "VALUE: name"'):
        StateSettings(states=(entry,))


def test_a_text_topic_can_have_states_and_the_name_is_that_of_the_topic() -> None:
    tap = make_tap(
        'mode',
        {'topic': '/robot_mode', 'type': 'std_msgs/msg/String', 'detector': 'state'},
    )
    assert tap.detector_settings.name == 'robot mode'
    with pytest.raises(InvalidArgument, match='detector state does not support'):
        make_tap('mode', {'topic': '/w', 'type': 'geometry_msgs/Wrench', 'detector': 'state'})


@pytest.mark.parametrize(('topic', 'number'), [('protective_stop', 21), ('grip_lost', 34)])
def test_every_stop_and_every_loss_of_grip_of_a_working_arm_is_an_event_with_its_duration(
    robot: Robot, topic: str, number: int
) -> None:
    bag = recordings.shared('bags/ur3_first_half')
    recordings.run(
        robot.memory,
        bag,
        ImportPlan(taps={'flag': {'topic': f'/{topic}', 'type': 'std_msgs/Bool'}}),
    )
    truth = json.loads((bag / 'groundtruth.json').read_text())[f'/{topic}']
    rows = robot.rows(
        'SELECT m.stamp, e."end", m.content FROM memories AS m'
        " JOIN events AS e ON e.memory_id = m.id WHERE status = 'active' ORDER BY m.stamp"
    )
    assert len(rows) == number
    assert [(start, end) for start, end, _ in rows] == [
        (one['start_ns'], one['end_ns']) for one in truth
    ]
    words = topic.replace('_', ' ').capitalize()
    assert all(content.startswith(f'{words} for ') for _, _, content in rows)

"""Movements from rest to rest are found, whole and once, in streams good and bad."""

import json
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_memory.capture import Event, JointReading, MotionDetector, MotionSettings
from robot_memory.capture.motion import simplify
from robot_memory.errors import InvalidArgument

DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', Path(__file__).parents[2] / 'shared' / 'data'))
NAMES = ('shoulder', 'elbow')
START_NS = 10**18
MOVE_S = 1.0


def glide(seconds: float, moves: list[tuple[float, float]]) -> tuple[float, float]:
    """Return position and velocity of a joint that glides by (begin, distance) in 1 s each."""
    position = velocity = 0.0
    for begin, distance in moves:
        share = min(1.0, max(0.0, (seconds - begin) / MOVE_S))
        position += distance * share**3 * (10 - 15 * share + 6 * share**2)
        velocity += distance * 30 * share**2 * (1 - share) ** 2 / MOVE_S
    return position, velocity


def stream(
    length_s: float,
    moves: list[tuple[float, float]],
    with_velocity: bool = True,
    names: tuple[str, ...] = NAMES,
    start_ns: int = START_NS,
) -> Iterator[JointReading]:
    """Yield readings at 100 Hz in which the elbow moves and the shoulder holds its load."""
    for step in range(round(length_s * 100)):
        position, velocity = glide(step / 100, moves)
        yield JointReading(
            start_ns + step * 10**7,
            'base_link',
            names,
            (0.5, position),
            (0.0, velocity) if with_velocity else (),
            (20.0, 3.0 + velocity),
        )


def run(readings: Iterator[JointReading] | list[JointReading]) -> tuple[list[Event], list[Event]]:
    """Return the events of a stream and those that only its end brought."""
    detector = MotionDetector()
    return [event for reading in readings for event in detector.feed(reading)], detector.finish()


def seconds(stamp_ns: int) -> float:
    return (stamp_ns - START_NS) / 1e9


def test_two_movements_with_a_rest_between_are_two_events_and_say_what_happened():
    events, rest = run(stream(6.0, [(1.0, 0.8), (3.5, -0.5)]))
    assert len(events) == 2
    assert not rest
    first = events[0]
    assert first.perception_type == 'proprioceptive'
    assert first.frame_id == 'base_link'
    assert seconds(first.stamp_ns) == pytest.approx(1.0, abs=0.1)
    assert seconds(first.end_ns) == pytest.approx(2.0, abs=0.1)
    assert first.data['moved'] == ['elbow']
    assert first.data['travel'][1] == pytest.approx(0.8, abs=0.01)
    assert first.data['end'][1] == pytest.approx(0.8, abs=0.01)
    assert first.data['peak_speed'] == pytest.approx(1.875 * 0.8, rel=0.01)
    assert first.data['peak_speed_joint'] == 'elbow'
    assert (first.data['peak_effort'], first.data['peak_effort_joint']) == (20.0, 'shoulder')
    assert first.data['from_rest']
    assert not first.data['broken_off']
    assert 'elbow 0.80 rad' in first.description
    assert '1.50 rad/s' in first.description
    assert json.loads(json.dumps([first.data, first.metadata])) == [first.data, first.metadata]


def test_readings_without_velocity_give_the_same_movements():
    with_velocity, _ = run(stream(6.0, [(1.0, 0.8), (3.5, -0.5)]))
    without, _ = run(stream(6.0, [(1.0, 0.8), (3.5, -0.5)], with_velocity=False))
    assert len(without) == 2
    for one, other in zip(with_velocity, without, strict=True):
        assert abs(one.stamp_ns - other.stamp_ns) < 0.15e9
        assert other.data['travel'][1] == pytest.approx(one.data['travel'][1], abs=0.02)


def test_velocities_of_zero_beside_moving_positions_are_not_believed():
    readings = [
        JointReading(r.stamp_ns, '', NAMES, r.position, (0.0, 0.0), ())
        for r in stream(4.0, [(1.0, 0.8)])
    ]
    assert len(run(readings)[0]) == 1


def test_a_pause_shorter_than_the_quiet_time_belongs_to_the_movement():
    assert len(run(stream(6.0, [(1.0, 0.8), (2.2, 0.8)]))[0]) == 1


def test_encoder_noise_at_rest_is_no_movement():
    noise = np.random.default_rng(1).normal(0, 2e-4, (1000, 2))
    readings = [
        JointReading(START_NS + step * 10**7, '', NAMES, jitter, (), ())
        for step, jitter in enumerate(noise)
    ]
    events, rest = run(readings)
    assert not events
    assert not rest


def test_empty_names_become_numbered_joints():
    events, _ = run(stream(4.0, [(1.0, 0.8)], names=()))
    assert events[0].data['joints'] == ['joint_1', 'joint_2']


def test_two_publishers_on_one_topic_are_followed_apart():
    arm = list(stream(4.0, [(1.0, 0.8)]))
    gripper = [
        JointReading(r.stamp_ns + 1, '', ('finger',), (0.0,), (0.0,), ()) for r in stream(4.0, [])
    ]
    mixed = sorted(arm + gripper, key=lambda reading: reading.stamp_ns)
    events, rest = run(mixed)
    assert [event.data['moved'] for event in events] == [['elbow']]
    assert not rest


def test_a_movement_at_the_end_of_the_stream_is_marked_as_broken_off():
    events, rest = run(stream(1.6, [(1.0, 0.8)]))
    assert not events
    assert rest[0].data['broken_off']
    assert 'broken off' in rest[0].description


def test_a_gap_breaks_a_movement_off_at_the_last_reading_before_it():
    readings = [r for r in stream(9.0, [(1.0, 0.8)]) if not 1.5 < seconds(r.stamp_ns) < 6]
    events, _ = run(readings)
    assert len(events) == 1
    assert events[0].data['broken_off']
    assert seconds(events[0].end_ns) == pytest.approx(1.5)


def test_a_recording_that_starts_over_gives_its_movements_again():
    once = list(stream(4.0, [(1.0, 0.8)]))
    detector = MotionDetector()
    events = [event for reading in once + once for event in detector.feed(reading)]
    assert len(events) == 2
    assert events[0] == events[1]
    assert detector.ignored == {'the clock went back': 1}


def test_unusable_readings_are_counted_by_reason_and_change_nothing():
    good = list(stream(4.0, [(1.0, 0.8)]))
    detector = MotionDetector()
    events = []
    for reading in good:
        stamp = reading.stamp_ns
        events += detector.feed(reading)
        events += detector.feed(reading)
        events += detector.feed(JointReading(stamp, '', NAMES, (math.nan, 0.0), (), ()))
        events += detector.feed(JointReading(stamp, '', NAMES, (1.0,), (), ()))
        events += detector.feed(JointReading(stamp, '', NAMES, (), (), ()))
        events += detector.feed(JointReading(0, '', NAMES, (1.0, 1.0), (), ()))
    assert events == run(good)[0]
    assert detector.ignored == {
        'late or repeated stamp': 400,
        'position is not a number': 400,
        'names do not match positions': 400,
        'no positions': 400,
        'no stamp': 400,
    }


def test_velocity_and_effort_that_are_not_numbers_do_not_cost_the_movement():
    nan = (math.nan, math.nan)
    readings = [
        JointReading(r.stamp_ns, '', NAMES, r.position, nan, nan)
        for r in stream(4.0, [(1.0, 0.8)])
    ]
    events, _ = run(readings)
    assert len(events) == 1
    assert events[0].data['peak_effort_joint'] == ''
    json.dumps(events[0].data, allow_nan=False)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            JointReading,
            stamp_ns=st.integers(-5, 20_000_000_000),
            frame_id=st.just(''),
            names=st.sampled_from([(), ('a',), ('a', 'b')]),
            position=st.lists(st.floats(), max_size=3),
            velocity=st.lists(st.floats(), max_size=3),
            effort=st.lists(st.floats(), max_size=3),
        ),
        max_size=30,
    )
)
def test_no_reading_however_wrong_raises(readings):
    events, rest = run(readings)
    for event in events + rest:
        json.dumps([event.data, event.metadata], allow_nan=False)


def test_an_hour_of_motion_stays_bounded_and_keeps_its_shape():
    detector = MotionDetector()
    positions = []
    for step in range(36_000):
        angle = step / 10
        position = (math.sin(angle / 7), math.sin(angle / 3))
        positions.append(position)
        velocity = (math.cos(angle / 7) / 7 + 1, math.cos(angle / 3) / 3)
        stamp = START_NS + step * 10**8
        assert not detector.feed(JointReading(stamp, '', NAMES, position, velocity, ()))
    (event,) = detector.finish()
    kept = event.data['trajectory']
    assert 2 < len(kept['t_s']) <= MotionSettings().max_points + 2
    line = [
        np.interp(np.arange(36_000) / 10, kept['t_s'], joint)
        for joint in zip(*kept['position'], strict=True)
    ]
    error = np.abs(np.transpose(line) - positions).max()
    assert error <= event.metadata['trajectory_error'] + 1e-3
    assert event.data['travel'][1] == pytest.approx(2 * 3600 / 3 / math.pi, rel=0.02)


def test_a_reduced_trajectory_comes_within_the_tolerance_of_every_reading():
    points = [(step * 10**7, [math.sin(step / 40), math.cos(step / 25)]) for step in range(900)]
    kept = simplify(points, 0.01)
    times = [stamp for stamp, _ in points]
    for joint in range(2):
        line = np.interp(times, [p[0] for p in kept], [p[1][joint] for p in kept])
        assert np.abs(line - [p[1][joint] for p in points]).max() <= 0.01
    assert len(kept) < len(points) / 4


@pytest.mark.parametrize('bad', [{'quiet_s': 0}, {'stop_speed': 1.0}, {'min_travel': math.nan}])
def test_settings_that_no_movement_meets_are_refused(bad):
    with pytest.raises(InvalidArgument, match='accepted'):
        MotionSettings(**bad)


def kuka_honeypot() -> list[JointReading]:
    bag = DATA / 'bags' / 'kuka_honeypot'
    if not bag.exists():
        pytest.skip(f'no recordings in {DATA}: set ROBOT_MEMORY_DATA')
    highlevel = pytest.importorskip('rosbags.highlevel')
    readings = []
    with highlevel.AnyReader([bag]) as reader:
        for connection, _, raw in reader.messages():
            message = reader.deserialize(raw, connection.msgtype)
            stamp = message.header.stamp
            readings.append(
                JointReading(
                    stamp.sec * 10**9 + stamp.nanosec,
                    message.header.frame_id,
                    tuple(message.name),
                    message.position,
                    message.velocity,
                    message.effort,
                )
            )
    return readings


@pytest.mark.parametrize('with_velocity', [True, False])
def test_kuka_honeypot_shows_one_movement_from_rest_to_rest(with_velocity):
    """Follow a plot of joint speed: at rest to 7.2 s and from 31.9 s; it never rests between."""
    readings = kuka_honeypot()
    begin_ns = readings[0].stamp_ns
    if not with_velocity:
        readings = [JointReading(r.stamp_ns, '', r.names, r.position, (), ()) for r in readings]
    events, rest = run(readings)
    assert len(events) == 1
    assert not rest
    (event,) = events
    assert (event.stamp_ns - begin_ns) / 1e9 == pytest.approx(7.23, abs=0.06)
    assert (event.end_ns - begin_ns) / 1e9 == pytest.approx(31.86, abs=0.06)
    assert event.data['peak_speed'] == pytest.approx(1.71, rel=0.03)
    assert event.data['peak_speed_joint'] == 'lwr_arm_6_joint'

"""Contacts are found, whole and once, whatever gravity, drift and noise do to the sensor."""

import json
import math
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from robot_memory.capture import ContactDetector, ContactSettings, Event, WrenchReading
from robot_memory.errors import InvalidArgument

DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', Path(__file__).parents[2] / 'shared' / 'data'))
START_NS = 10**18
BIAS = (1.0, -2.0, -9.0)

Force = Callable[[float], tuple[float, float, float]]


def stream(length_s: float, touch: Force, noise: float = 0.1) -> list[WrenchReading]:
    """Return readings at 100 Hz: the bias, what `touch` adds at a time in s, and noise."""
    random = np.random.default_rng(3)
    readings = []
    for step in range(round(length_s * 100)):
        force = np.add(BIAS, touch(step / 100)) + random.normal(0, noise, 3)
        stamp = START_NS + step * 10**7
        readings.append(WrenchReading(stamp, 'tool0', tuple(force), (0.0, 0.0, 0.0)))
    return readings


def bump(begin: float, length: float, peak: float) -> Force:
    """Return half a sine along -z, from `begin` on for `length` s, with its peak in N."""

    def touch(seconds: float) -> tuple[float, float, float]:
        share = (seconds - begin) / length
        return 0.0, 0.0, -peak * math.sin(math.pi * share) if 0 <= share <= 1 else 0.0

    return touch


def plateau(begin: float, end: float, force: float) -> Force:
    """Return a steady force along +x in N between two times in s."""
    return lambda seconds: (force if begin <= seconds < end else 0.0, 0.0, 0.0)


def run(readings: list[WrenchReading], **changes: float) -> list[Event]:
    detector = ContactDetector(ContactSettings(**changes))
    events = [event for reading in readings for event in detector.feed(reading)]
    return events + detector.finish()


def test_a_push_is_one_event_that_says_how_hard_how_long_and_which_way():
    (event,) = run(stream(6.0, bump(2.0, 1.8, 12.4)))
    assert event.perception_type == 'tactile'
    assert event.frame_id == 'tool0'
    assert (event.stamp_ns - START_NS) / 1e9 == pytest.approx(2.07, abs=0.05)
    assert event.data['duration_s'] == pytest.approx(1.66, abs=0.1)
    assert event.data['peak_force'] == pytest.approx(12.4, rel=0.03)
    assert event.data['mean_force'] == pytest.approx(12.4 * 2 / math.pi, rel=0.08)
    assert event.data['impulse'] == pytest.approx(12.4 * 1.8 * 2 / math.pi, rel=0.04)
    assert event.data['direction'] == pytest.approx([0, 0, -1], abs=0.05)
    assert event.data['baseline_force'] == pytest.approx(BIAS, abs=0.1)
    assert 'push' in event.description
    assert 'along -z' in event.description
    assert 'peak 12.' in event.description
    assert 'tool0' in event.description
    assert json.loads(json.dumps([event.data, event.metadata])) == [event.data, event.metadata]


def test_the_part_that_carries_the_sensor_is_named_where_it_is_known():
    detector = ContactDetector(ContactSettings(place='wrist'))
    events = [e for reading in stream(5.0, bump(2.0, 1.0, 9.0)) for e in detector.feed(reading)]
    assert 'on wrist (tool0)' in events[0].description


@pytest.mark.parametrize(
    ('touch', 'kind'),
    [
        (bump(2.0, 0.12, 18.0), 'tap'),
        (bump(2.0, 1.4, 6.0), 'push'),
        (plateau(2.0, 6.0, 8.0), 'hold'),
        (plateau(2.0, 3.0, 40.0), 'collision'),
        (
            lambda s: (8 * math.cos(2 * s), 8 * math.sin(2 * s), 0.0) if 2 < s < 4 else (0, 0, 0),
            'slide',
        ),
    ],
)
def test_kinds_of_contact_are_told_apart(touch, kind):
    assert [event.data['kind'] for event in run(stream(8.0, touch))] == [kind]


def test_bounces_within_the_quiet_time_are_one_contact_and_beyond_it_two():
    def pair(apart: float) -> Force:
        one, other = bump(2.0, 0.2, 10.0), bump(2.2 + apart, 0.2, 10.0)
        return lambda s: (0.0, 0.0, one(s)[2] + other(s)[2])

    assert len(run(stream(5.0, pair(0.15)))) == 1
    assert len(run(stream(5.0, pair(0.6)))) == 2


def test_a_spike_of_one_reading_is_not_a_contact():
    readings = stream(3.0, lambda s: (30.0, 0.0, 0.0) if s == 1.5 else (0.0, 0.0, 0.0))
    detector = ContactDetector()
    assert not [event for reading in readings for event in detector.feed(reading)]
    assert detector.ignored == {'contact too short': 1}


def test_slow_drift_of_many_newtons_is_not_a_contact_and_does_not_hide_one():
    def drifting(seconds: float) -> tuple[float, float, float]:
        return 8 * math.sin(seconds / 20), 0.0, bump(45.0, 0.5, 9.0)(seconds)[2]

    (event,) = run(stream(90.0, drifting))
    assert (event.stamp_ns - START_NS) / 1e9 == pytest.approx(45.0, abs=0.1)
    assert event.data['peak_force'] == pytest.approx(9.0, rel=0.1)


def test_a_load_that_stays_becomes_the_baseline_and_its_end_is_no_contact():
    events = run(stream(40.0, plateau(5.0, 30.0, 12.0)), max_duration_s=10.0)
    assert len(events) == 1
    assert 'baseline' in events[0].description


def test_a_touch_too_soft_to_count_does_not_hide_the_next_one():
    def touch(seconds: float) -> tuple[float, float, float]:
        return plateau(5.0, 12.0, 2.5)(seconds)[0], 0.0, bump(13.0, 0.5, 5.0)(seconds)[2]

    (event,) = run(stream(15.0, touch))
    assert event.data['peak_force'] == pytest.approx(5.0, rel=0.06)
    assert event.data['direction'] == pytest.approx([0, 0, -1], abs=0.1)


def test_torque_alone_is_a_contact():
    readings = [
        WrenchReading(r.stamp_ns, 'tool0', r.force, (0.0, 4.0 if 200 < i < 260 else 0.0, 0.0))
        for i, r in enumerate(stream(5.0, lambda s: (0.0, 0.0, 0.0)))
    ]
    (event,) = run(readings)
    assert event.data['peak_torque'] == pytest.approx(4.0, rel=0.02)
    assert 'peak torque 4.0 N m' in event.description


def test_a_contact_at_the_end_of_the_stream_is_marked_as_broken_off():
    (event,) = run(stream(3.0, plateau(2.0, 9.0, 8.0)))
    assert event.data['broken_off']
    assert 'broken off' in event.description


def test_a_recording_that_starts_over_gives_its_contacts_again():
    once = stream(5.0, bump(2.0, 1.0, 9.0))
    first, second = run(once + once)
    assert first == second


def test_unusable_readings_are_counted_by_reason_and_change_nothing():
    detector = ContactDetector()
    good = stream(5.0, bump(2.0, 1.0, 9.0))
    events = []
    for reading in good:
        events += detector.feed(reading)
        events += detector.feed(reading)
        bad = WrenchReading(reading.stamp_ns + 1, '', (math.inf, 0.0, 0.0), (0.0, 0.0, 0.0))
        events += detector.feed(bad)
        events += detector.feed(WrenchReading(reading.stamp_ns + 1, '', (), ()))
        events += detector.feed(WrenchReading(0, '', (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)))
    assert events == run(good)
    assert detector.ignored == {
        'late or repeated stamp': 500,
        'force or torque is not a number': 500,
        'force or torque is not three numbers': 500,
        'no stamp': 500,
    }


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.builds(
            WrenchReading,
            stamp_ns=st.integers(-5, 5_000_000_000),
            frame_id=st.just(''),
            force=st.lists(st.floats(), min_size=3, max_size=4),
            torque=st.lists(st.floats(), min_size=3, max_size=4),
        ),
        max_size=30,
    )
)
def test_no_reading_however_wrong_raises(readings):
    for event in run(readings):
        json.dumps([event.data, event.metadata], allow_nan=False)


def test_the_curve_of_a_long_contact_is_bounded_and_keeps_the_peak():
    readings = stream(30.0, bump(2.0, 25.0, 20.0))
    (event,) = run(readings, max_points=64)
    curve = event.data['curve']
    assert 32 <= len(curve['t_s']) <= 128
    highest = max(math.dist(force, (0, 0, 0)) for force in curve['force'])
    assert highest == pytest.approx(event.data['peak_force'], abs=0.01)


@pytest.mark.parametrize('bad', [{'onset_n': -1}, {'release_ratio': 1.5}, {'max_points': 2}])
def test_settings_that_no_contact_meets_are_refused(bad):
    with pytest.raises(InvalidArgument, match='accepted'):
        ContactSettings(**bad)


def test_cmu_push_wood_patch_gives_its_fifty_pushes_and_no_other():
    bag = DATA / 'bags' / 'cmu_push_wood_patch'
    if not bag.exists():
        pytest.skip(f'no recordings in {DATA}: set ROBOT_MEMORY_DATA')
    highlevel = pytest.importorskip('rosbags.highlevel')
    truth = json.loads((bag / 'groundtruth.json').read_text())['cmu_push_wood_patch']
    detector = ContactDetector(ContactSettings(onset_n=2.0))
    events = []
    with highlevel.AnyReader([bag]) as reader:
        wrenches = [c for c in reader.connections if c.topic == '/wrench']
        for connection, _, raw in reader.messages(wrenches):
            message = reader.deserialize(raw, connection.msgtype)
            stamp, force = message.header.stamp, message.wrench.force
            torque = message.wrench.torque
            events += detector.feed(
                WrenchReading(
                    stamp.sec * 10**9 + stamp.nanosec,
                    message.header.frame_id,
                    (force.x, force.y, force.z),
                    (torque.x, torque.y, torque.z),
                )
            )
    events += detector.finish()
    assert len(events) == len(truth) == 50
    for event, push in zip(events, truth, strict=True):
        assert event.stamp_ns < push['end_ns']
        assert event.end_ns > push['start_ns']
        assert event.data['peak_force'] == pytest.approx(push['peak_N'], rel=0.05)
        assert event.data['kind'] == 'push'
        assert event.frame_id == 'ft_finger'

"""Movements from rest to rest are found, whole and once, in streams good and bad."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import recordings
from amounts import few_or_many
from blocks import join_blocks, watch_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from numpy.typing import NDArray
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Stamp
from robot_memory.detectors import Event, JointReading, MotionDetector, MotionSettings
from robot_memory.detectors.readings import JointBlock

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


def run(readings: Iterable[JointReading], **changes: Any) -> tuple[list[Event], list[Event]]:
    """Return the events of a stream and those that only its end brought."""
    detector = MotionDetector(MotionSettings(**changes))
    return watch_blocks(detector, readings), detector.finish()


def seconds(stamp_ns: int) -> float:
    return (stamp_ns - START_NS) / 1e9


def facts(event: Event) -> list[object]:
    """Return all that an event says, comparable, its signal included."""
    signal = event.signal
    assert signal is not None
    rest = [value for name, value in vars(event).items() if name != 'signal']
    return [*rest, signal.columns, signal.units, signal.stamps_ns.tolist(), signal.values.tolist()]


def check(event: Event, pre_s: float = 10.0, post_s: float = 10.0) -> None:
    """Check what holds for every event, whatever it was made of."""
    assert event.stamp_ns <= event.peak_ns <= event.end_ns
    assert event.broken_off == event.data['broken_off']
    json.dumps([event.data, event.metadata], allow_nan=False)
    stamps = require(event.signal).stamps_ns
    assert stamps.dtype == np.int64 and require(event.signal).values.dtype == np.float32
    assert require(event.signal).values.shape == (len(stamps), len(event.data['joints']) + 1)
    assert require(event.signal).columns == (*event.data['joints'], 'speed')
    assert len(require(event.signal).units) == len(require(event.signal).columns)
    assert np.isfinite(require(event.signal).values).all()
    assert (np.diff(stamps) > 0).all()
    assert {event.stamp_ns, event.peak_ns, event.end_ns} <= set(stamps.tolist())
    assert stamps[0] >= event.stamp_ns - pre_s * 1e9
    assert stamps[-1] <= event.end_ns + post_s * 1e9


TWO_MOVES = [(1.0, 0.8), (3.5, -0.5)]


@pytest.fixture
def movement() -> Event:
    """The first of two movements with a rest between."""
    return run(stream(6.0, TWO_MOVES))[0][0]


def test_two_movements_with_a_rest_between_are_two_events_before_the_stream_ends() -> None:
    events, rest = run(stream(6.0, TWO_MOVES))
    assert (len(events), rest) == (2, [])


def test_a_movement_has_its_begin_its_peak_and_its_end(movement: Event) -> None:
    check(movement, pre_s=1.0, post_s=0.5)
    assert seconds(movement.stamp_ns) == pytest.approx(1.0, abs=0.1)
    assert seconds(movement.peak_ns) == pytest.approx(1.5, abs=0.01)
    assert seconds(movement.end_ns) == pytest.approx(2.0, abs=0.1)
    assert movement.data['from_rest']
    assert not movement.data['broken_off']


def test_a_movement_is_of_its_joints_in_the_frame_of_the_readings(movement: Event) -> None:
    assert movement.perception_type == 'proprioceptive'
    assert movement.subject == 'motion of shoulder, elbow'
    assert movement.frame_id == 'base_link'
    assert movement.data['moved'] == ['elbow']


def test_a_movement_says_how_far_how_fast_and_how_hard(movement: Event) -> None:
    assert movement.data['travel'][1] == pytest.approx(0.8, abs=0.01)
    assert movement.data['end'][1] == pytest.approx(0.8, abs=0.01)
    assert movement.data['peak_speed'] == pytest.approx(1.875 * 0.8, rel=0.01)
    assert movement.data['peak_speed_joint'] == 'elbow'
    assert (movement.data['peak_effort'], movement.data['peak_effort_joint']) == (20.0, 'shoulder')


def test_a_movement_is_described_in_a_sentence(movement: Event) -> None:
    assert movement.description == (
        'Fast motion for 1.0 s: moved elbow 0.80 rad, peak speed 1.50 rad/s (elbow), '
        'peak effort 20.0 N m (shoulder)'
    )


def test_what_a_movement_says_is_json(movement: Event) -> None:
    said = [movement.data, movement.metadata]
    assert json.loads(json.dumps(said)) == said


def test_readings_without_velocity_give_the_same_movements() -> None:
    with_velocity, _ = run(stream(6.0, [(1.0, 0.8), (3.5, -0.5)]))
    without, _ = run(stream(6.0, [(1.0, 0.8), (3.5, -0.5)], with_velocity=False))
    assert len(without) == 2
    for one, other in zip(with_velocity, without, strict=True):
        assert abs(one.stamp_ns - other.stamp_ns) < 0.15e9
        assert abs(one.end_ns - other.end_ns) < 0.15e9
        assert abs(one.peak_ns - other.peak_ns) < 0.1e9
        assert other.data['travel'][1] == pytest.approx(one.data['travel'][1], abs=0.02)


def test_velocities_of_zero_beside_moving_positions_are_not_believed() -> None:
    readings = [
        JointReading(r.stamp_ns, '', NAMES, r.position, (0.0, 0.0), ())
        for r in stream(4.0, [(1.0, 0.8)])
    ]
    assert len(run(readings)[0]) == 1


def test_a_joint_that_never_reports_its_speed_is_followed_by_its_positions() -> None:
    """A gripper beside an arm often reports a speed of zero, whatever it does."""
    moving = list(stream(9.0, [(1.0, 0.8)]))
    readings = [
        JointReading(
            r.stamp_ns, '', ('elbow', 'gripper'), (r.position[1], later), (r.velocity[1], 0.0), ()
        )
        for r, (later, _) in zip(
            moving, [glide(step / 100, [(5.0, 0.4)]) for step in range(900)], strict=True
        )
    ]
    first, second = run(readings)[0]
    assert (first.data['moved'], second.data['moved']) == (['elbow'], ['gripper'])
    assert second.data['peak_speed'] == pytest.approx(1.875 * 0.4, rel=0.05)


@pytest.mark.parametrize('trembles', ['speed', 'position', 'both'])
def test_readings_that_tremble_at_rest_tell_when_it_moves_and_when_it_rests(trembles: str) -> None:
    """A servo of 4096 steps a turn says one step of position, and 0.05 rad/s, off and on."""
    random = np.random.default_rng(2)
    readings = []
    for r in stream(8.0, [(2.0, 0.8), (5.0, -0.8)]):
        position, velocity = list(r.position), list(r.velocity)
        if trembles != 'speed':
            position[1] = round(position[1] / 0.00153 + random.normal(0, 0.3)) * 0.00153
        if trembles != 'position':
            velocity[1] = round(velocity[1] / 0.05 + random.normal(0, 0.5)) * 0.05
        readings.append(JointReading(r.stamp_ns, '', NAMES, position, velocity, ()))
    events, rest = run(readings)
    assert [round(seconds(event.stamp_ns)) for event in events] == [2, 5]
    assert [round(seconds(event.end_ns)) for event in events] == [3, 6]
    assert not rest


def test_a_pause_shorter_than_the_quiet_time_belongs_to_the_movement() -> None:
    assert len(run(stream(6.0, [(1.0, 0.8), (2.2, 0.8)]))[0]) == 1


def test_encoder_noise_at_rest_is_no_movement() -> None:
    noise = np.random.default_rng(1).normal(0, 2e-4, (1000, 2))
    readings = [
        JointReading(START_NS + step * 10**7, '', NAMES, jitter, (), ())
        for step, jitter in enumerate(noise)
    ]
    events, rest = run(readings)
    assert not events
    assert not rest


def test_the_trajectory_holds_what_led_to_the_movement_and_what_followed() -> None:
    readings = list(stream(8.0, [(2.0, 0.5), (3.8, -0.8)]))
    (first, second), _ = run(readings, pre_s=3.0, post_s=2.5)
    whole = {r.stamp_ns: (*r.position, abs(r.velocity[1])) for r in readings}
    for event in (first, second):
        check(event, 3.0, 2.5)
        assert require(event.signal).units == ('rad', 'rad', 'rad/s')
        begin, end = event.stamp_ns - 3 * 10**9, event.end_ns + 25 * 10**8
        assert require(event.signal).stamps_ns[0] == max(START_NS, begin)
        assert require(event.signal).stamps_ns[-1] == min(readings[-1].stamp_ns, end)
        for stamp_ns, values in zip(
            require(event.signal).stamps_ns, require(event.signal).values, strict=True
        ):
            assert values == pytest.approx(whole[stamp_ns], abs=1e-5)
        line = [
            np.interp(list(whole), require(event.signal).stamps_ns, column)
            for column in require(event.signal).values.T
        ]
        inside = [begin <= stamp_ns <= end for stamp_ns in whole]
        errors = np.abs(np.transpose(line) - list(whole.values()))[inside].max(axis=0)
        assert (errors <= [0.01 + 1e-6, 0.01 + 1e-6, 0.1 + 1e-6]).all()
    assert require(second.signal).values[:, 1].max() == pytest.approx(0.5, abs=0.01)


def test_a_movement_may_begin_while_another_waits_for_its_post_roll() -> None:
    detector = MotionDetector(MotionSettings(post_s=4.0))
    handed_on = []
    for reading in stream(12.0, [(1.0, 0.5), (3.0, -0.8)]):
        handed_on += [(seconds(reading.stamp_ns), event) for event in detector.feed(reading)]
        if 1.1 < seconds(reading.stamp_ns) < 5.9:
            assert seconds(detector.since_ns) == pytest.approx(1.0, abs=0.1)
    assert [round(stamp) for stamp, _ in handed_on] == [6, 8]
    assert detector.since_ns == 0
    assert require(handed_on[0][1].signal).values[:, 1].min() < 0, (
        'the next one is in its post-roll'
    )


@pytest.mark.parametrize('cut', ['stop', 'back', 'end'])
def test_what_waits_for_its_post_roll_is_whole_when_the_stream_breaks(cut: str) -> None:
    readings = list(stream(3.0, [(1.0, 0.8)]))
    detector = MotionDetector(MotionSettings(post_s=5.0))
    assert not [event for reading in readings for event in detector.feed(reading)]
    if cut == 'end':
        (event,) = detector.finish()
    else:
        later = {'stop': 10**10, 'back': -(10**10)}[cut]
        (event,) = detector.feed(JointReading(START_NS + later, '', NAMES, (0.5, 0.8), (), ()))
    check(event)
    assert not event.broken_off
    assert require(event.signal).stamps_ns[-1] == readings[-1].stamp_ns
    assert detector.since_ns == {'stop': START_NS + 10**10, 'back': START_NS - 10**10}.get(cut, 0)


@pytest.mark.parametrize(
    ('unit', 'words', 'units'),
    [
        ('rad', 'elbow 0.80 rad, peak speed 1.50 rad/s', ('rad', 'rad', 'rad/s')),
        ('m', 'elbow 0.80 m, peak speed 1.50 m/s', ('m', 'm', 'm/s')),
        ('none', 'elbow 0.80, peak speed 1.50/s (elbow), peak effort 20.0 (', ('', '', '1/s')),
    ],
)
def test_a_description_has_the_unit_of_the_joints(
    unit: str, words: str, units: tuple[Any, ...]
) -> None:
    (event,) = run(stream(4.0, [(1.0, 0.8)]), unit=unit)[0]
    assert words in event.description
    assert require(event.signal).units == units


def test_every_joint_that_moved_is_named_and_the_rest_of_a_hand_counted() -> None:
    names = tuple(f'finger_{number}_joint' for number in range(20))
    readings = [
        JointReading(r.stamp_ns, '', names, [r.position[1]] * 20, (), ())
        for r in stream(4.0, [(1.0, 0.8)])
    ]
    (event,) = run(readings)[0]
    assert 'finger_0_joint 0.80 rad, finger_1_joint 0.80 rad' in event.description
    assert 'finger_11_joint and 8 more' in event.description


def test_empty_names_become_numbered_joints() -> None:
    events, _ = run(stream(4.0, [(1.0, 0.8)], names=()))
    assert events[0].data['joints'] == ['joint_1', 'joint_2']


def test_two_publishers_on_one_topic_are_followed_apart() -> None:
    arm = list(stream(4.0, [(1.0, 0.8)]))
    gripper = [
        JointReading(r.stamp_ns + 1, '', ('finger',), (0.0,), (0.0,), ()) for r in stream(4.0, [])
    ]
    mixed = sorted(arm + gripper, key=lambda reading: reading.stamp_ns)
    events, rest = run(mixed)
    assert [event.data['moved'] for event in events] == [['elbow']]
    assert not rest


def test_the_order_in_which_joints_are_named_does_not_count() -> None:
    readings = list(stream(4.0, [(1.0, 0.8)]))
    mixed = [
        replace(
            reading,
            names=reading.names[::-1],
            position=reading.position[::-1],
            velocity=reading.velocity[::-1],
            effort=reading.effort[::-1],
        )
        if number % 2
        else reading
        for number, reading in enumerate(readings)
    ]
    assert [facts(one) for one in run(mixed)[0]] == [facts(one) for one in run(readings)[0]]


def test_a_movement_at_the_end_of_the_stream_is_marked_as_broken_off() -> None:
    events, rest = run(stream(1.6, [(1.0, 0.8)]))
    assert not events
    assert rest[0].broken_off
    assert 'broken off: the stream ended' in rest[0].description


def test_a_gap_breaks_a_movement_off_at_the_last_reading_before_it() -> None:
    readings = [r for r in stream(9.0, [(1.0, 0.8)]) if not 1.5 < seconds(r.stamp_ns) < 6]
    events, _ = run(readings)
    assert len(events) == 1
    assert events[0].data['broken_off']
    assert seconds(events[0].end_ns) == pytest.approx(1.5)


def test_a_recording_that_starts_over_gives_its_movements_again() -> None:
    once = list(stream(4.0, [(1.0, 0.8)]))
    detector = MotionDetector()
    events = [event for reading in once + once for event in detector.feed(reading)]
    assert len(events) == 2
    assert facts(events[0]) == facts(events[1])
    assert detector.ignored == {'the clock went back': 1}


def test_unusable_readings_are_counted_by_reason_and_change_nothing() -> None:
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
    assert [facts(event) for event in events] == [facts(event) for event in run(good)[0]]
    assert detector.ignored == {
        'late or repeated stamp': 400,
        'position is not a number': 400,
        'names do not match positions': 400,
        'no positions': 400,
        'no stamp': 400,
    }


def test_velocity_and_effort_that_are_not_numbers_do_not_cost_the_movement() -> None:
    nan = (math.nan, math.nan)
    readings = [
        JointReading(r.stamp_ns, '', NAMES, r.position, nan, nan)
        for r in stream(4.0, [(1.0, 0.8)])
    ]
    events, _ = run(readings)
    assert len(events) == 1
    assert events[0].data['peak_effort_joint'] == ''
    json.dumps(events[0].data, allow_nan=False)


WEIRD = st.builds(
    JointReading,
    stamp_ns=st.integers(-5, 20_000_000_000),
    frame_id=st.just(''),
    names=st.sampled_from([(), ('a',), ('a', 'b')]),
    position=st.lists(st.floats(), max_size=3),
    velocity=st.lists(st.floats(), max_size=3),
    effort=st.lists(st.floats(), max_size=3),
)


@settings(max_examples=few_or_many(20, 60), deadline=None)
@given(st.lists(WEIRD, max_size=30))
def test_no_reading_however_wrong_raises(readings: Any) -> None:
    events, rest = run(readings)
    for event in events + rest:
        check(event)


@st.composite
def days(draw: st.DrawFn) -> list[JointReading]:
    """Return a stream of stretches of even speed, with gaps, jumps, wrong speeds and junk."""
    stretches = draw(
        st.lists(
            st.tuples(
                st.integers(1, 60),
                st.sampled_from([0.0, 0.0, 0.01, 0.03, -0.2, 2.0, 1e6]),
                st.sampled_from([0.0, 1.0, 1.0, 1.0, 3.0]),
                st.sampled_from([10**7, 10**7, 4 * 10**7, 3 * 10**8, 5]),
                st.sampled_from([0, 0, 0, 9 * 10**8, 4 * 10**9, 10**11, -3 * 10**9]),
            ),
            max_size=12,
        )
    )
    junk = draw(st.lists(st.tuples(st.integers(0, 400), WEIRD), max_size=5))
    readings, stamp_ns, position = [], 10**12, 0.0
    for count, speed, said, step_ns, jump_ns in stretches:
        stamp_ns += jump_ns
        for number in range(count):
            stamp_ns += step_ns
            position += speed * step_ns / 1e9
            velocity = (speed * said, 0.0) if said else ()
            jitter = number % 3 * 2e-4
            readings.append(
                JointReading(stamp_ns, 'f', NAMES, (position, jitter), velocity, (1.0, 2.0))
            )
    for at, wrong in junk:
        readings.insert(at, wrong)
    return readings


@settings(max_examples=few_or_many(50, 200), deadline=None)
@given(
    days(),
    st.sampled_from([{}, {'pre_s': 0, 'post_s': 0}, {'post_s': 5, 'pre_s': 3}, {'quiet_s': 3}]),
    st.sampled_from([{}, {'max_points': 16}]),
)
def test_any_stream_gives_sound_events_and_the_same_ones_again(
    readings: Any, some: Any, more: Any
) -> None:
    chosen = {**some, **more}
    detector = MotionDetector(MotionSettings(**chosen))
    seen: list[tuple[int, int]] = []
    events = []
    for reading in [*readings, None]:
        found = detector.finish() if reading is None else detector.feed(reading)
        for event in found:
            check(event, detector.settings.pre_s, detector.settings.post_s)
            assert len(require(event.signal).stamps_ns) <= 1.5 * detector.settings.max_points + 8
            if event.subject == 'motion of shoulder, elbow':
                for stamp_ns, since_ns in reversed(seen):
                    if stamp_ns <= event.stamp_ns:
                        break
                    assert 0 < since_ns <= event.stamp_ns
        events += found
        if reading is not None and reading.names == NAMES:
            seen.append((reading.stamp_ns, detector.since_ns))
    assert detector.since_ns == 0
    once, rest = run(readings, **chosen)
    assert [facts(event) for event in once + rest] == [facts(event) for event in events]


@settings(max_examples=few_or_many(50, 200), deadline=None)
@given(days(), st.lists(st.integers(1, 90), min_size=1, max_size=8))
def test_the_movements_do_not_depend_on_how_the_stream_is_cut(
    readings: list[JointReading], sizes: list[int]
) -> None:
    detector, other = MotionDetector(), MotionDetector()
    events = [event for reading in readings for event in detector.feed(reading)]
    blocks = join_blocks(map(JointBlock.from_reading, readings), sizes)
    found = [one for block in blocks for _, one in other.feed_block(block)]
    assert [facts(one) for one in found if isinstance(one, Event)] == list(map(facts, events))
    assert other.since_ns == detector.since_ns
    assert list(map(facts, other.finish())) == list(map(facts, detector.finish()))
    assert other.ignored == detector.ignored


def test_an_hour_of_motion_stays_bounded_and_keeps_its_shape() -> None:
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
    check(event)
    times = (require(event.signal).stamps_ns - START_NS) / 1e9
    assert 2 < len(times) <= MotionSettings().max_points + 5
    line = [
        np.interp(np.arange(36_000) / 10, times, joint)
        for joint in require(event.signal).values.T[:2]
    ]
    error = np.abs(np.transpose(line) - positions).max()
    assert error <= event.metadata['trajectory_error'] + 1e-3
    assert event.data['travel'][1] == pytest.approx(2 * 3600 / 3 / math.pi, rel=0.02)


@pytest.mark.parametrize(
    'bad',
    [
        {'quiet_s': 0},
        {'stop_speed': 1.0},
        {'slow_speed': 2.0},
        {'min_travel': math.nan},
        {'post_s': -1},
        {'unit': 'degrees'},
    ],
)
def test_settings_that_no_movement_meets_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f'{next(iter(bad))} must be'):
        MotionSettings(**bad)


def test_what_came_before_a_rest_changes_nothing_of_a_movement() -> None:
    readings = list(stream(20.0, [(1.0, 0.8), (4.0, -0.3), (15.0, 0.5)]))
    (expected,) = run(readings[1000:])[0]
    for begin in (0, 120, 333, 450, 1480):
        (*_, event) = run(readings[begin:])[0]
        assert event.stamp_ns == expected.stamp_ns
        assert event.peak_ns == expected.peak_ns
        assert event.end_ns == expected.end_ns


def test_a_stream_that_begins_in_a_movement_knows_its_peak_and_its_end() -> None:
    readings = list(stream(6.0, [(1.0, 0.8)]))
    (whole,), (late,) = run(readings)[0], run(readings[130:])[0]
    assert (late.peak_ns, late.end_ns) == (whole.peak_ns, whole.end_ns)
    assert whole.data['from_rest'] and not late.data['from_rest']


def recorded(name: str) -> dict[str, list[JointReading]]:
    """Return the joint readings of a recording by topic."""
    found: dict[str, list[JointReading]] = {}
    for topic, reading in recordings.readings_of(recordings.shared(f'bags/{name}')):
        if isinstance(reading, JointReading):
            found.setdefault(topic, []).append(reading)
    return found


def movements_in_a_plot(
    times: NDArray[Any], speed: NDArray[Any], rest: float
) -> list[tuple[float, float]]:
    """Return where the curve of the fastest joint is over `rest`, pauses under 0.5 s bridged."""
    moving = times[speed > rest]
    breaks = np.flatnonzero(np.diff(moving) > 0.5)
    begins = [moving[0], *moving[breaks + 1]]
    ends = [*moving[breaks], moving[-1]]
    return [(b, e) for b, e in zip(begins, ends, strict=True) if e - b > 0.2]


@pytest.mark.parametrize('with_velocity', [True, False])
def test_kuka_honeypot_gives_every_movement_that_a_plot_of_joint_speed_shows(
    with_velocity: bool,
) -> None:
    """
    Take the truth from the speed of the fastest joint alone, reported and from positions.

    It peaks at 1.7 rad/s. Wherever between 0.6 and 2.5 % of that one draws the line of rest, the
    plot shows one movement: it stays under the line to 7.2 s and from 31.9 s on, and in between
    only for some hundredths of a second. What creeps on after it, to 33 s, is slower than
    0.01 rad/s and covers 5 mrad.
    """
    readings = recorded('kuka_honeypot')['/joint_states']
    stamps = np.array([r.stamp_ns for r in readings])
    times = (stamps - stamps[0]) / 1e9
    reported = np.abs([r.velocity for r in readings]).max(axis=1)
    positions = np.array([r.position for r in readings])
    spans = times[10:] - times[:-10]
    covered = (np.abs(positions[10:] - positions[:-10]) / spans[:, None]).max(axis=1)
    truths = [
        movements_in_a_plot(curve_times, curve, rest)
        for rest in (0.01, 0.015, 0.02, 0.03, 0.04)
        for curve_times, curve in ((times, reported), (times[5:-5], covered))
    ]
    assert [len(truth) for truth in truths] == [1] * len(truths)
    ((begin, end),) = truths[2]
    if not with_velocity:
        readings = [JointReading(r.stamp_ns, '', r.names, r.position, (), ()) for r in readings]
    events, rest = run(readings)
    assert len(events) == 1
    assert not rest
    (event,) = events
    check(event)
    assert (event.stamp_ns - stamps[0]) / 1e9 == pytest.approx(begin, abs=0.06)
    assert (event.end_ns - stamps[0]) / 1e9 == pytest.approx(end, abs=0.06)
    assert event.data['peak_speed'] == pytest.approx(reported.max(), rel=0.03)
    assert event.peak_ns == pytest.approx(stamps[reported.argmax()], abs=0.1e9)
    assert event.data['peak_speed_joint'] == 'lwr_arm_6_joint'
    assert len(event.data['moved']) == 7
    assert all(name in event.description for name in event.data['moved'])


def test_recordings_of_joints_without_names_give_the_movements_of_their_positions() -> None:
    found = {
        topic: run(readings)
        for name in ('ros2bag_killed_on_contact', 'ros2bag_static_ats_inverror')
        for topic, readings in recorded(name).items()
        if topic in ('/controller/out/servo_positions', '/servo/out/state')
    }
    ((step,), rest) = found['/controller/out/servo_positions']
    assert not rest
    assert step.data['joints'] == ['q1', 'q2', 'q3']
    assert step.data['travel'] == pytest.approx([1.51, 0.38, 0.72], abs=0.01)
    events, rest = found['/servo/out/state']
    begin_ns = recorded('ros2bag_static_ats_inverror')['/servo/out/state'][0].stamp_ns
    assert {tuple(e.data['joints']) for e in events + rest} == {('joint_1', 'joint_2', 'joint_3')}
    out, *_, back = events
    for event in events:
        check(event)
    assert [(e.stamp_ns - begin_ns) / 1e9 for e in (out, back)] == pytest.approx([11.6, 65], abs=1)
    assert (back.end_ns - begin_ns) / 1e9 == pytest.approx(84, abs=1)
    assert out.data['end'][2] == pytest.approx(2.65, abs=0.05)
    assert back.data['end'][2] == pytest.approx(0, abs=0.05)


def test_a_gripper_of_bridge_tasks_closes_and_opens_without_a_unit() -> None:
    (readings,) = recorded('bridge_tasks').values()
    events, rest = run(readings, unit='none')
    moved = [event for event in events + rest if event.data['travel'][0] > 0.1]
    assert len(moved) == len(events + rest) > 20
    for event in moved:
        check(event)
        assert ' rad' not in event.description
        assert re.search(r'moved gripper \d\.\d\d, peak speed', event.description)


def test_what_a_person_asks_brings_the_movement_that_is_meant(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot()
    arm = ('shoulder_pan_joint', 'elbow_joint')
    for moves in ([(1.0, 0.9)], [(1.0, 0.05)]):
        for joints in (arm, arm[::-1]):
            (event,) = run(stream(4.0, moves, names=joints))[0]
            robot.save_perception(event.description, 'proprioceptive', stamp=Stamp(event.stamp_ns))
    for question, words in {
        'when did the elbow move fast': 'Fast motion for 1.0 s: moved elbow_joint',
        'slow motion of elbow_joint': 'Slow motion for 0.8 s: moved elbow_joint',
        'shoulder pan moving fast': 'Fast motion for 1.0 s: moved shoulder_pan_joint',
    }.items():
        assert robot.contents(query=question)[0].startswith(words)

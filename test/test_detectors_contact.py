"""Contacts are found, whole and once, whatever gravity, drift and noise do to the sensor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
import recordings
from amounts import few_or_many
from blocks import feel_blocks, join_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Stamp
from robot_memory.detectors import ContactDetector, ContactSettings, Event, WrenchReading
from robot_memory.detectors.readings import WrenchBlock

START_NS = 10**18
BIAS = (1.0, -2.0, -9.0)
NOTHING = (0.0, 0.0, 0.0)

Vector = tuple[float, float, float]
Force = Callable[[float], Vector]


def stream(
    length_s: float, touch: Force, noise: float = 0.1, rate: int = 100
) -> list[WrenchReading]:
    """Return readings: the bias, what `touch` adds at a time in s, and noise in N."""
    random = np.random.default_rng(3)
    readings = []
    for step in range(round(length_s * rate)):
        force = np.add(BIAS, touch(step / rate)) + random.normal(0, noise, 3)
        stamp = START_NS + step * 10**9 // rate
        readings.append(WrenchReading(stamp, 'tool0', tuple(force), NOTHING))
    return readings


def bump(begin: float, length: float, peak: float) -> Force:
    """Return half a sine along -z, from `begin` on for `length` s, with its peak in N."""

    def touch(seconds: float) -> Vector:
        share = (seconds - begin) / length
        return 0.0, 0.0, -peak * math.sin(math.pi * share) if 0 <= share <= 1 else 0.0

    return touch


def plateau(begin: float, end: float, force: float) -> Force:
    """Return a steady force along +x in N between two times in s."""
    return lambda seconds: (force if begin <= seconds < end else 0.0, 0.0, 0.0)


def both(one: Force, other: Force) -> Force:
    def add(seconds: float) -> Vector:
        (ax, ay, az), (bx, by, bz) = one(seconds), other(seconds)
        return ax + bx, ay + by, az + bz

    return add


def untouched(_: float) -> Vector:
    return NOTHING


def run(readings: Iterable[WrenchReading], **changes: Any) -> list[Event]:
    detector = ContactDetector(ContactSettings(**changes))
    return feel_blocks(detector, readings) + detector.finish()


def facts(event: Event) -> list[object]:
    """Return all that an event says, comparable, its signal included."""
    signal = event.signal
    assert signal is not None
    rest = [value for name, value in vars(event).items() if name != 'signal']
    return [*rest, signal.columns, signal.units, signal.stamps_ns.tolist(), signal.values.tolist()]


def seconds(stamp_ns: int) -> float:
    return (stamp_ns - START_NS) / 1e9


def check(event: Event, pre_s: float = 10.0, post_s: float = 10.0) -> None:
    """Check what holds for every event, whatever it was made of."""
    assert event.stamp_ns <= event.peak_ns <= event.end_ns
    assert event.broken_off == event.data['broken_off']
    json.dumps([event.data, event.metadata], allow_nan=False)
    stamps = require(event.signal).stamps_ns
    assert stamps.dtype == np.int64 and require(event.signal).values.dtype == np.float32
    assert require(event.signal).values.shape == (len(stamps), len(require(event.signal).columns))
    assert len(require(event.signal).units) == len(require(event.signal).columns)
    assert np.isfinite(require(event.signal).values).all()
    assert (np.diff(stamps) > 0).all()
    assert {event.stamp_ns, event.peak_ns, event.end_ns} <= set(stamps.tolist())
    assert stamps[0] >= event.stamp_ns - pre_s * 1e9
    assert stamps[-1] <= event.end_ns + post_s * 1e9


@pytest.fixture
def contact() -> Event:
    """A push of 12.4 N along -z."""
    (event,) = run(stream(6.0, bump(2.0, 1.8, 12.4)))
    return event


def test_a_push_is_one_event_of_the_frame_of_its_sensor(contact: Event) -> None:
    assert (contact.perception_type, contact.subject) == ('tactile', 'contact')
    assert contact.frame_id == 'tool0'


def test_a_push_says_when_and_how_long(contact: Event) -> None:
    assert seconds(contact.stamp_ns) == pytest.approx(2.05, abs=0.05)
    assert seconds(contact.peak_ns) == pytest.approx(2.9, abs=0.1)
    assert contact.data['duration_s'] == pytest.approx(1.7, abs=0.1)


def test_a_push_says_how_hard_and_which_way(contact: Event) -> None:
    assert contact.data['peak_force'] == pytest.approx(12.4, rel=0.03)
    assert contact.data['mean_force'] == pytest.approx(12.4 * 2 / math.pi, rel=0.08)
    assert contact.data['impulse'] == pytest.approx(12.4 * 1.8 * 2 / math.pi, rel=0.04)
    assert contact.data['direction'] == pytest.approx([0, 0, -1], abs=0.05)
    assert contact.data['baseline_force'] == pytest.approx(BIAS, abs=0.1)


def test_a_push_is_described_in_a_sentence(contact: Event) -> None:
    assert contact.description.startswith('Contact for 1.7 s on tool0: push over 10 N, peak 12.')
    assert 'along -z' in contact.description


def test_what_a_push_says_is_flat_json(contact: Event) -> None:
    said = [contact.data, contact.metadata]
    assert json.loads(json.dumps(said)) == said
    assert not any(isinstance(value, dict) for value in contact.data.values())


def test_the_part_that_carries_the_sensor_is_named_where_it_is_known() -> None:
    (event,) = run(stream(5.0, bump(2.0, 1.0, 9.0)), place='wrist')
    assert 'on wrist (tool0)' in event.description


@pytest.mark.parametrize(
    ('peak', 'words'),
    [
        (2.6, 'Light contact for 1.0 s on tool0: push over 2 N, peak 2.'),
        (7.0, 'Contact for 1.0 s on tool0: push over 5 N, peak 7.'),
        (60.0, 'Hard contact for 1.0 s on tool0: push over 50 N, peak 60.'),
    ],
)
def test_a_description_names_the_round_force_that_was_passed(peak: float, words: str) -> None:
    (event,) = run(stream(5.0, bump(2.0, 1.0, peak), noise=0.01), onset_n=0.2)
    assert event.description.startswith(words)


@pytest.mark.parametrize(
    ('touch', 'kind'),
    [
        (bump(2.0, 0.12, 18.0), 'tap'),
        (bump(2.0, 1.4, 6.0), 'push'),
        (plateau(2.0, 6.0, 8.0), 'hold'),
        (plateau(2.0, 3.0, 40.0), 'collision'),
        (
            lambda s: (8 * math.cos(2 * s), 8 * math.sin(2 * s), 0.0) if 2 < s < 4 else NOTHING,
            'slide',
        ),
    ],
)
def test_kinds_of_contact_are_told_apart(touch: Any, kind: str) -> None:
    (event,) = run(stream(8.0, touch))
    assert event.data['kind'] == kind
    assert f': {kind} over' in event.description


def test_a_long_hold_is_a_hold_however_many_readings_it_has() -> None:
    (event,) = run(stream(40.0, plateau(2.0, 38.0, 8.0), rate=200))
    assert event.data['kind'] == 'hold'


def test_the_signal_holds_the_raw_readings_with_what_led_to_them_and_what_followed() -> None:
    readings = stream(6.0, bump(2.0, 1.0, 9.0))
    (event,) = run(readings)
    check(event, pre_s=1.0, post_s=0.5)
    columns = ('force.x', 'force.y', 'force.z', 'torque.x', 'torque.y', 'torque.z')
    assert require(event.signal).columns == columns
    assert require(event.signal).units == ('N',) * 3 + ('N m',) * 3
    within = [
        r for r in readings if event.stamp_ns - 10**9 <= r.stamp_ns <= event.end_ns + 5 * 10**8
    ]
    assert require(event.signal).stamps_ns.tolist() == [r.stamp_ns for r in within]
    assert np.array_equal(
        require(event.signal).values, np.array([[*r.force, *r.torque] for r in within], np.float32)
    )


def test_an_event_is_handed_on_as_soon_as_its_post_roll_is_there() -> None:
    detector = ContactDetector(ContactSettings(post_s=0.8))
    for reading in stream(6.0, bump(2.0, 1.0, 9.0)):
        events = detector.feed(reading)
        if events:
            break
    assert reading.stamp_ns == events[0].end_ns + 8 * 10**8
    assert require(events[0].signal).stamps_ns[-1] == reading.stamp_ns


def test_a_contact_may_begin_and_end_while_another_waits_for_its_post_roll() -> None:
    touch = both(bump(2.0, 0.2, 10.0), both(bump(2.6, 0.2, 11.0), bump(3.2, 0.2, 12.0)))
    readings = stream(8.0, touch)
    detector = ContactDetector(ContactSettings(pre_s=2.0, post_s=2.0))
    handed_on = []
    for reading in readings:
        events = detector.feed(reading)
        handed_on += [(reading.stamp_ns, event) for event in events]
        waits = handed_on[0][1].stamp_ns if handed_on else 0
        if 2.1 < seconds(reading.stamp_ns) < 4.1:
            assert seconds(detector.since_ns) == pytest.approx(2.0, abs=0.05)
        assert not waits or detector.since_ns > waits or detector.since_ns == 0
    assert [round(e.data['peak_force']) for _, e in handed_on] == [10, 11, 12]
    for stamp_ns, event in handed_on:
        check(event, 2.0, 2.0)
        assert stamp_ns == event.end_ns + 2 * 10**9
        lowest = require(event.signal).values[:, 2].min()
        assert lowest == pytest.approx(BIAS[2] - 12, abs=0.5), 'each signal shows all three'
    assert detector.since_ns == 0


@pytest.mark.parametrize('cut', ['stop', 'back', 'end'])
def test_what_waits_for_its_post_roll_is_whole_when_the_stream_breaks(cut: str) -> None:
    readings = stream(3.35, bump(2.0, 1.0, 9.0))
    detector = ContactDetector(ContactSettings(post_s=5.0))
    events = [event for reading in readings for event in detector.feed(reading)]
    assert not events and detector.since_ns
    if cut == 'end':
        (event,) = detector.finish()
    else:
        later = {'stop': 10**10, 'back': -(10**10)}[cut]
        (event,) = detector.feed(WrenchReading(START_NS + later, 'tool0', BIAS, NOTHING))
    check(event)
    assert not event.broken_off
    assert require(event.signal).stamps_ns[-1] == readings[-1].stamp_ns
    assert detector.since_ns == 0


def test_bounces_within_the_quiet_time_are_one_contact_and_beyond_it_two() -> None:
    def pair(apart: float) -> Force:
        return both(bump(2.0, 0.2, 10.0), bump(2.2 + apart, 0.2, 10.0))

    (event,) = run(stream(5.0, pair(0.15)))
    assert np.diff(require(event.signal).stamps_ns).max() == 10**7, 'the pause is in the signal'
    assert len(run(stream(5.0, pair(0.6)))) == 2


def test_a_spike_of_one_reading_is_not_a_contact() -> None:
    readings = stream(3.0, lambda s: (30.0, 0.0, 0.0) if s == 1.5 else NOTHING)
    detector = ContactDetector()
    assert not [event for reading in readings for event in detector.feed(reading)]
    assert detector.ignored == {'contact too short': 1}


@pytest.mark.parametrize('noise', [0.01, 0.1, 0.5, 2.0])
def test_noise_alone_is_no_contact_however_strong(noise: float) -> None:
    assert not run(stream(60.0, untouched, noise))


def test_a_push_above_the_noise_is_found_in_a_noisy_sensor() -> None:
    (event,) = run(stream(10.0, bump(5.0, 1.0, 20.0), noise=0.8))
    assert event.data['peak_force'] == pytest.approx(20, rel=0.12)


def test_slow_drift_of_many_newtons_is_not_a_contact_and_does_not_hide_one() -> None:
    def drift(seconds: float) -> Vector:
        return 8 * math.sin(seconds / 20), 0.0, 0.0

    (event,) = run(stream(90.0, both(drift, bump(45.0, 0.5, 9.0))))
    assert seconds(event.stamp_ns) == pytest.approx(45.0, abs=0.1)
    assert seconds(event.end_ns) == pytest.approx(45.5, abs=0.1)
    assert event.data['peak_force'] == pytest.approx(9.0, rel=0.1)


def turned(length_s: float) -> Force:
    """Return how the weight of a tool of 1 kg changes as it is laid on its side."""

    def touch(seconds: float) -> Vector:
        angle = math.pi / 2 * min(1.0, max(0.0, (seconds - 5) / length_s))
        return 9.81 * math.sin(angle), 0.0, 9.81 * (1 - math.cos(angle))

    return touch


def test_a_tool_turned_slowly_is_no_contact_but_one_turned_quickly_looks_like_it() -> None:
    assert not run(stream(50.0, turned(20.0)))
    (event,) = run(stream(20.0, turned(1.0)))
    assert event.data['peak_force'] == pytest.approx(9.81 * math.sqrt(2), rel=0.05)


def test_a_push_that_grows_within_seconds_is_measured_from_where_it_began() -> None:
    ramp = lambda s: (0.0, 0.0, -min(8.0, 2 * max(0.0, s - 5)) if s < 12 else 0.0)  # noqa: E731
    (event,) = run(stream(20.0, ramp))
    assert seconds(event.stamp_ns) == pytest.approx(5.5, abs=0.25)
    assert event.data['peak_force'] == pytest.approx(8.0, rel=0.06)


def test_a_contact_ends_though_the_rest_has_shifted_meanwhile() -> None:
    """A force is left behind as when a tool was turned, and the next contact is found on top."""
    shift = lambda s: (1.6 * min(1.0, max(0.0, (s - 2) / 3)), 0.0, 0.0)  # noqa: E731
    touch = both(shift, both(bump(2.0, 3.0, 9.0), bump(9.0, 1.0, 9.0)))
    first, second = run(stream(14.0, touch))
    assert seconds(first.end_ns) == pytest.approx(4.8, abs=0.2)
    assert seconds(second.stamp_ns) == pytest.approx(9.05, abs=0.05)
    assert second.data['peak_force'] == pytest.approx(9.0, rel=0.05)


def test_a_hit_that_goes_over_into_a_hold_is_one_contact() -> None:
    touch = both(plateau(2.0, 2.1, 30.0), plateau(2.1, 6.0, 5.0))
    (event,) = run(stream(9.0, touch))
    assert event.data['kind'] == 'collision'
    assert event.data['duration_s'] == pytest.approx(4.0, abs=0.05)


def test_a_load_that_stays_becomes_the_baseline_and_its_end_is_no_contact() -> None:
    (event,) = run(stream(40.0, plateau(5.0, 30.0, 12.0)), max_duration_s=10.0)
    assert 'baseline' in event.description
    assert event.data['duration_s'] == pytest.approx(10.0, abs=0.02)
    assert not event.broken_off


def test_a_touch_too_soft_to_count_does_not_hide_the_next_one() -> None:
    (event,) = run(stream(15.0, both(plateau(5.0, 12.0, 0.7), bump(13.0, 0.5, 5.0))))
    assert event.data['peak_force'] == pytest.approx(5.0, rel=0.06)
    assert event.data['direction'] == pytest.approx([0, 0, -1], abs=0.1)


def test_torque_alone_is_a_contact() -> None:
    readings = [
        WrenchReading(r.stamp_ns, 'tool0', r.force, (0.0, 4.0 if 200 < i < 260 else 0.0, 0.0))
        for i, r in enumerate(stream(5.0, untouched))
    ]
    readings[230] = WrenchReading(
        readings[230].stamp_ns, 'tool0', readings[230].force, (0.0, 4.2, 0.0)
    )
    (event,) = run(readings)
    check(event)
    assert event.peak_ns == readings[230].stamp_ns
    assert event.data['peak_torque'] == pytest.approx(4.2, rel=0.02)
    assert 'push over 2 N m, peak torque 4.2 N m about +y' in event.description


def test_a_contact_at_the_end_of_the_stream_is_marked_as_broken_off() -> None:
    (event,) = run(stream(3.0, plateau(2.0, 9.0, 8.0)))
    assert event.broken_off
    assert event.description.endswith('broken off: the stream ended')


def test_silence_breaks_a_contact_off_and_what_goes_on_after_it_is_another() -> None:
    readings = [r for r in stream(12.0, plateau(2.0, 9.0, 8.0)) if not 4 < seconds(r.stamp_ns) < 6]
    first, second = run(readings)
    assert first.broken_off and seconds(first.end_ns) == pytest.approx(4.0)
    assert not second.broken_off and seconds(second.stamp_ns) == pytest.approx(6.0)
    assert second.data['peak_force'] == pytest.approx(8.0, rel=0.06)


def test_a_recording_that_starts_over_gives_its_contacts_again() -> None:
    once = stream(5.0, bump(2.0, 1.0, 9.0))
    first, second = run(once + once)
    assert facts(first) == facts(second)


def test_what_came_before_a_long_rest_changes_nothing_of_an_event() -> None:
    touch = both(bump(40.0, 1.0, 9.0), both(plateau(3.0, 8.0, 12.0), bump(12.0, 2.0, 1.8)))
    readings = stream(44.0, touch)
    (expected,) = run(readings[3500:])
    for begin in (0, 150, 1300, 2100, 3890):
        event = run(readings[begin:])[-1]
        assert event.stamp_ns == expected.stamp_ns
        assert event.peak_ns == expected.peak_ns
        assert event.end_ns == expected.end_ns
        assert event.data['peak_force'] == pytest.approx(expected.data['peak_force'], rel=0.02)


def test_a_stream_that_begins_in_a_contact_does_not_take_the_rest_for_one() -> None:
    touch = both(bump(20.0, 1.0, 9.0), plateau(0.0, 4.0, 8.0))
    random = np.random.default_rng(5)
    readings = []
    for step in range(2500):
        seconds_now = step / 100
        noise = random.normal(0, 0.2 if seconds_now < 4 else 0.02, 3)
        stamp = START_NS + step * 10**7
        readings.append(
            WrenchReading(stamp, '', tuple(np.add(touch(seconds_now), noise)), NOTHING)
        )
    detector = ContactDetector()
    (event,) = [event for reading in readings for event in detector.feed(reading)]
    assert seconds(event.stamp_ns) == pytest.approx(20.05, abs=0.05)
    assert detector.ignored == {'the stream began in a contact': 1}


def test_unusable_readings_are_counted_by_reason_and_change_nothing() -> None:
    detector = ContactDetector()
    good = stream(5.0, bump(2.0, 1.0, 9.0))
    events = []
    for reading in good:
        events += detector.feed(reading)
        events += detector.feed(reading)
        bad = WrenchReading(reading.stamp_ns + 1, '', (math.inf, 0.0, 0.0), NOTHING)
        events += detector.feed(bad)
        events += detector.feed(WrenchReading(reading.stamp_ns + 1, '', (), ()))
        events += detector.feed(WrenchReading(0, '', NOTHING, NOTHING))
    assert [facts(event) for event in events] == [facts(event) for event in run(good)]
    assert detector.ignored == {
        'late or repeated stamp': 500,
        'force or torque is not a number': 500,
        'force or torque is not three numbers': 500,
        'no stamp': 500,
    }


WEIRD = st.builds(
    WrenchReading,
    stamp_ns=st.integers(-5, 5_000_000_000),
    frame_id=st.just(''),
    force=st.lists(st.floats(), min_size=3, max_size=4),
    torque=st.lists(st.floats(), min_size=3, max_size=4),
)


@settings(max_examples=few_or_many(20, 60), deadline=None)
@given(st.lists(WEIRD, max_size=30))
def test_no_reading_however_wrong_raises(readings: Any) -> None:
    for event in run(readings):
        check(event)


@st.composite
def days(draw: st.DrawFn) -> list[WrenchReading]:
    """Return a stream of steady stretches, some of them long or strong, with gaps and junk."""
    stretches = draw(
        st.lists(
            st.tuples(
                st.integers(1, 40),
                st.sampled_from([0.0, 0.0, 0.9, 1.1, 1.9, 2.5, 8.0, -30.0, 9e8]),
                st.sampled_from([0.0, 0.0, 0.0, 1.4, 90.0]),
                st.sampled_from([10**7, 10**7, 3 * 10**8, 5]),
                st.sampled_from([0, 0, 0, 5 * 10**8, 2 * 10**9, 10**11, -3 * 10**9]),
            ),
            max_size=12,
        )
    )
    junk = draw(st.lists(st.tuples(st.integers(0, 300), WEIRD), max_size=5))
    readings, stamp_ns = [], 10**12
    for count, force, torque, step_ns, jump_ns in stretches:
        stamp_ns += jump_ns
        for number in range(count):
            stamp_ns += step_ns
            trembling = force + number % 3 / 50
            readings.append(
                WrenchReading(stamp_ns, 'f', (trembling, 0.1, 0.0), (0.0, torque, 0.0))
            )
    for at, wrong in junk:
        readings.insert(at, wrong)
    return readings


@settings(max_examples=few_or_many(50, 200), deadline=None)
@given(days(), st.lists(st.integers(1, 90), min_size=1, max_size=8))
def test_the_contacts_do_not_depend_on_how_the_stream_is_cut(
    readings: list[WrenchReading], sizes: list[int]
) -> None:
    usable = [one for one in readings if len(one.force) == len(one.torque) == 3]
    compare_with_blocks(usable, sizes)


@pytest.mark.parametrize('touch', [bump(2.0, 1.8, 12.4), plateau(2.0, 7.0, 3.0)])
@pytest.mark.parametrize('sizes', [[500], [7, 93]])
def test_a_push_is_the_same_however_the_stream_is_cut(touch: Force, sizes: list[int]) -> None:
    compare_with_blocks(stream(12.0, touch), sizes)


def compare_with_blocks(readings: list[WrenchReading], sizes: list[int]) -> None:
    """Compare the contacts of readings one by one with those of blocks."""
    detector, other = ContactDetector(), ContactDetector()
    events = [event for reading in readings for event in detector.feed(reading)]
    blocks = join_blocks(map(WrenchBlock.from_reading, readings), sizes)
    found = [event for block in blocks for _, event in other.feed_block(block)]
    assert list(map(facts, found)) == list(map(facts, events))
    assert other.since_ns == detector.since_ns and other.onset_n == detector.onset_n
    assert list(map(facts, other.finish())) == list(map(facts, detector.finish()))
    assert other.ignored == detector.ignored


def test_a_first_block_that_a_silence_cut_to_one_reading_is_no_block() -> None:
    stamps = [1_000_000 + 10 * number for number in range(1, 6)]
    stamps += [1_100_050 + 10 * number for number in range(1, 10)] + [1_102_150]
    detector = ContactDetector()
    for number, stamp in enumerate(stamps):
        force = (0.02 * (number % 3), 0.1, 0.0)
        detector.feed(WrenchReading(stamp * 1_000_000, 'f', force, (0.0, 0.0, 0.0)))
    assert detector.finish() == []


@settings(max_examples=few_or_many(50, 200), deadline=None)
@given(
    days(),
    st.sampled_from([{}, {'pre_s': 0, 'post_s': 0}, {'post_s': 5, 'pre_s': 3}, {'quiet_s': 3}]),
    st.sampled_from([{}, {'max_points': 16, 'max_duration_s': 1.5}]),
)
def test_any_stream_gives_sound_events_and_the_same_ones_again(
    readings: Any, some: Any, more: Any
) -> None:
    chosen = {**some, **more}
    detector = ContactDetector(ContactSettings(**chosen))
    seen: list[tuple[int, int]] = []
    events = []
    for reading in [*readings, None]:
        found = detector.finish() if reading is None else detector.feed(reading)
        for event in found:
            check(event, detector.settings.pre_s, detector.settings.post_s)
            assert len(require(event.signal).stamps_ns) <= detector.settings.max_points + 8
            for stamp_ns, since_ns in reversed(seen):
                if stamp_ns <= event.stamp_ns:
                    break
                assert 0 < since_ns <= event.stamp_ns
        events += found
        if reading is not None and math.isfinite(sum(map(abs, [*reading.force, *reading.torque]))):
            seen.append((reading.stamp_ns, detector.since_ns))
    assert detector.since_ns == 0
    assert [facts(event) for event in run(readings, **chosen)] == [facts(e) for e in events]


def test_the_signal_of_a_long_contact_is_bounded_and_keeps_its_extremes() -> None:
    touch = both(bump(2.0, 50.0, 60.0), lambda s: (0.0, 0.0, 9.0 * (s == 20.0) - 9 * (s == 33.0)))
    readings = stream(54.0, touch)
    (event,) = run(readings, max_points=64)
    check(event)
    assert 32 <= len(require(event.signal).stamps_ns) <= 72
    forces = {r.stamp_ns: r.force for r in readings}
    for at in (20, 33):
        assert START_NS + at * 10**9 in require(event.signal).stamps_ns, (
            'the dent and the peak are kept'
        )
    for stamp_ns, values in zip(
        require(event.signal).stamps_ns, require(event.signal).values, strict=True
    ):
        assert np.allclose(values[:3], forces[stamp_ns])
    assert np.diff(require(event.signal).stamps_ns).max() < 8e9, 'they are spread over all of it'


@pytest.mark.parametrize(
    'bad',
    [
        {'onset_n': -1},
        {'onset_n': math.nan},
        {'release_ratio': 1.5},
        {'max_points': 2},
        {'pre_s': -1},
        {'light_n': 20},
        {'place': 3},
    ],
)
def test_settings_that_no_contact_meets_are_refused(bad: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument, match=f'{next(iter(bad))} must be'):
        ContactSettings(**bad)


def test_whole_numbers_are_taken_for_settings() -> None:
    assert ContactSettings(onset_n=2, quiet_s=1) == ContactSettings(onset_n=2.0, quiet_s=1.0)


def pushes() -> tuple[list[WrenchReading], list[dict[str, float]]]:
    """Return the readings of 50 real pushes, and what is known of each."""
    bag = recordings.shared('bags/cmu_push_wood_patch')
    readings = [reading for topic, reading in recordings.readings_of(bag) if topic == '/wrench']
    return readings, recordings.pushes()


def test_cmu_push_wood_patch_gives_its_fifty_pushes_and_no_other() -> None:
    readings, truth = pushes()
    whole = run(readings, onset_n=2.0)
    assert len(whole) == len(truth) == 50
    for event, push in zip(whole, truth, strict=True):
        check(event)
        assert event.stamp_ns < push['end_ns']
        assert event.end_ns > push['start_ns']
        assert event.data['peak_force'] == pytest.approx(push['peak_N'], rel=0.05)
        assert event.data['kind'] == 'push'
        assert event.frame_id == 'ft_finger'
    known = {stamp for e in whole for stamp in (e.stamp_ns, e.peak_ns, e.end_ns)}
    for begin in range(37, len(readings), few_or_many(3998, 1999)):
        for late in run(readings[begin : begin + 4000], onset_n=2.0):
            assert {late.stamp_ns, late.peak_ns, late.end_ns} & known, 'wherever one begins'


def test_the_onset_follows_the_noise_up_and_down() -> None:
    touch = both(bump(4.0, 1.0, 20.0), both(bump(24.0, 1.0, 20.0), bump(54.0, 1.0, 20.0)))
    noise = np.random.default_rng(4).normal(0, 1, (6000, 3))
    readings = []
    for i, one in enumerate(stream(60.0, touch, noise=0.0)):
        size = 0.4 if 1000 < i < 3000 else 0.03
        force = tuple(np.add(one.force, size * noise[i]))
        readings.append(WrenchReading(one.stamp_ns, '', force, NOTHING))
    quiet, loud, again = run(readings)
    assert quiet.metadata['onset_n'] == again.metadata['onset_n'] == 1.0
    assert loud.metadata['onset_n'] == pytest.approx(8 * 0.4, rel=0.15)


def test_noise_does_not_raise_the_peak_and_the_greatest_reading_stands_beside_it() -> None:
    (event,) = run(stream(10.0, plateau(3.0, 6.0, 7.0), noise=0.6))
    assert event.data['peak_force'] == pytest.approx(7.0, rel=0.05)
    assert event.data['raw_peak_force'] > 7.9


@pytest.mark.parametrize('fall', [0.2, 3.0])
def test_a_push_that_builds_up_over_seconds_is_one_contact(fall: float) -> None:
    def touch(seconds: float) -> Vector:
        return max(0.0, min((seconds - 5) / 2, (11 + fall - seconds) * 3 / fall)), 0.0, 0.0

    (event,) = run(stream(20.0, touch, noise=0.05))
    assert event.data['peak_force'] == pytest.approx(3.0, rel=0.05)
    assert event.data['direction'] == pytest.approx([1, 0, 0], abs=0.1)


def test_a_weak_contact_that_lasts_is_not_learned_as_rest() -> None:
    touch = both(plateau(4.0, 20.0, 0.7), plateau(9.0, 11.0, 3.0))
    (event,) = run(stream(30.0, touch, noise=0.03))
    assert event.data['peak_force'] == pytest.approx(3.7, rel=0.03)


def test_a_contact_over_a_drift_ends_with_the_force() -> None:
    drift = lambda s: (0.3 * s, 0.0, 0.0)  # noqa: E731
    (event,) = run(stream(60.0, both(drift, bump(20.0, 3.0, 6.0)), noise=0.05))
    assert event.data['peak_force'] == pytest.approx(6.0, rel=0.05)
    assert event.data['duration_s'] == pytest.approx(2.8, abs=0.2)


@pytest.mark.parametrize(('period', 'begin'), [(20, 8.0), (20, 18.0), (20, 23.0), (30, 35.5)])
def test_a_push_over_a_drift_that_turns_back_is_found_and_ends(period: int, begin: float) -> None:
    def drift(seconds: float) -> Vector:
        turn = 2 * math.pi / period
        return 0.3 / turn * math.sin(turn * seconds), 0.0, 0.0

    (event,) = run(stream(begin + 14, both(drift, bump(begin, 3.0, 2.5))))
    assert event.data['peak_force'] == pytest.approx(2.5, rel=0.05)
    assert event.data['duration_s'] == pytest.approx(2.7, abs=0.3)


def test_what_a_person_asks_brings_the_event_that_is_meant(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot()
    touches = {
        'tap': bump(2.0, 0.12, 4.0),
        'push over 5 N': bump(2.0, 1.4, 7.0),
        'push over 20 N': bump(2.0, 1.4, 22.0),
        'hold': plateau(2.0, 6.0, 4.0),
        'collision': plateau(2.0, 3.0, 40.0),
    }
    for touch in touches.values():
        (event,) = run(stream(8.0, touch), place='arm')
        robot.save_perception(event.description, 'tactile', stamp=Stamp(event.stamp_ns))
    for question, words in {
        'last push over 5 N': 'push over 5 N',
        'hard push': 'push over 20 N',
        'was there a collision': 'collision over 20 N',
        'how long did the arm hold': 'hold over 2 N',
        'light tap': 'tap over 2 N',
    }.items():
        assert words in robot.contents(query=question)[0]


def test_a_block_of_other_than_six_numbers_is_counted() -> None:
    detector = ContactDetector()
    odd = WrenchBlock(np.arange(1, 4), '', np.zeros((3, 7)))
    assert detector.feed_block(odd) == []
    assert detector.ignored == {'force or torque is not three numbers': 3}


def test_other_settings_hold_from_the_next_contact_on_and_the_rest_stays_known() -> None:
    detector = ContactDetector(ContactSettings(onset_n=1.0))
    touch = both(bump(2.0, 0.4, 6.0), both(bump(6.0, 0.4, 6.0), bump(10.0, 0.4, 12.0)))
    readings = stream(14.0, touch)
    found: list[Event] = []
    for number, reading in enumerate(readings):
        if number == 500:
            assert not detector.since_ns
            detector.retune(ContactSettings(onset_n=8.0, pre_s=0.2))
        found += detector.feed(reading)
    found += detector.finish()
    assert [round(seconds(event.peak_ns)) for event in found] == [2, 10]
    assert [event.metadata['onset_n'] for event in found] == [1.0, 8.0]

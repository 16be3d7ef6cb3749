"""Collisions and stalls are found in the efforts of joints, once their usual is known."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
import pytest
from amounts import few_or_many
from blocks import join_blocks, watch_blocks
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from recordings import messages_of, readings_of, shared

from robot_memory.detectors import Event, JointReading, MotionDetector, MotionSettings
from robot_memory.detectors.effort import LearnedEffort
from robot_memory.detectors.readings import JointBlock
from robot_memory.ingest.messages import decode

START_NS = 10**18
NAMES = ('shoulder', 'elbow')
RATE = 25

Blow = tuple[float, float, int, float]
"""When it begins, for how long, on which joint, with how much effort: s, s, number, N m."""


def work(length_s: float, blows: Sequence[Blow] = (), seed: int = 1) -> Iterator[JointReading]:
    """Yield readings of an arm that swings and rests: weight, friction, inertia, noise."""
    random = np.random.default_rng(seed)
    noise = random.normal(0, 0.4, (round(length_s * RATE), 2))
    before = (0.0, 0.0)
    for step in range(round(length_s * RATE)):
        seconds = step / RATE
        position, velocity, effort = [], [], []
        for joint, (size, period) in enumerate(((0.9, 7.0), (0.6, 4.5))):
            swings = seconds % 20 < 14
            angle = 2 * math.pi * (seconds % 20) / period
            speed = size * math.sin(angle) if swings else 0.0
            place = size * period / (2 * math.pi) * (1 - math.cos(angle)) if swings else 0.0
            load = 12 * math.cos(place) + 3 * math.copysign(min(1.0, abs(speed) * 20), speed)
            load += 2 * (speed - before[joint]) + noise[step][joint]
            load += sum(n for at, s, j, n in blows if j == joint and at <= seconds < at + s)
            position.append(place)
            velocity.append(speed)
            effort.append(load)
        before = (velocity[0], velocity[1])
        stamp_ns = START_NS + round(seconds * 1e9)
        yield JointReading(stamp_ns, 'base', NAMES, position, velocity, effort)


def judge(readings: Iterable[JointReading], **changes: Any) -> list[Event]:
    """Return the unusual efforts."""
    detector = MotionDetector(MotionSettings(**changes))
    events = watch_blocks(detector, readings)
    return [one for one in events + detector.finish() if one.metadata['detector'] == 'effort']


def seconds_of(event: Event) -> float:
    return (event.stamp_ns - START_NS) / 1e9


BLOWS = ((642.0, 0.4, 1, 30.0), (676.5, 1.5, 0, -40.0))
"""The first while the arm swings, the second while it rests."""


@pytest.mark.parametrize('given', ['all', 'no positions', 'no velocities'])
def test_a_blow_is_a_collision_while_the_arm_moves_and_a_stall_while_it_rests(given: str) -> None:
    readings: Iterable[JointReading] = work(700, BLOWS)
    if given == 'no positions':
        readings = (replace(one, position=()) for one in readings)
    if given == 'no velocities':
        readings = (replace(one, velocity=()) for one in readings)
    events = judge(readings)
    assert [(event.data['kind'], event.data['joint']) for event in events] == [
        ('collision', 'elbow'),
        ('stall', 'shoulder'),
    ]
    for event, (begin, lasted, _, effort) in zip(events, BLOWS, strict=True):
        assert seconds_of(event) == pytest.approx(begin, abs=0.1)
        assert event.data['duration_s'] == pytest.approx(lasted, abs=0.15)
        assert event.data['residual'] == pytest.approx(abs(effort), rel=0.4)
        assert event.confidence is not None and event.confidence > 0.5
        signal = require(event.signal)
        assert {event.stamp_ns, event.peak_ns, event.end_ns} <= set(signal.stamps_ns.tolist())


def test_nothing_is_reported_in_the_first_ten_minutes() -> None:
    blows = [(100.0, 0.5, 1, 40.0), (590.0, 0.5, 0, 40.0), (642.0, 0.5, 1, 40.0)]
    assert [round(seconds_of(event)) for event in judge(work(660, blows))] == [642]


@pytest.mark.parametrize('seed', range(few_or_many(2, 5)))
def test_work_without_a_collision_is_usual(seed: int) -> None:
    assert not judge(work(1500, seed=seed))


def test_a_load_that_stays_becomes_usual() -> None:
    events = judge(work(900, [(641.0, 300.0, 1, 60.0)]))
    assert events[0].data['ended_because'] == 'it lasted so long that it became usual'
    assert all(seconds_of(event) < 700 for event in events)


def test_the_unit_of_currents_can_be_named() -> None:
    (event, *_) = judge(work(700, BLOWS), effort_unit='A')
    assert event.metadata['units']['effort'] == 'A'
    assert ' A, usual at that speed' in event.description


def test_efforts_are_not_judged_where_that_is_switched_off() -> None:
    assert not judge(work(700, BLOWS), effort_learning_s=0.0)


def test_what_is_found_in_a_recorded_cell_is_a_protective_stop() -> None:
    path = shared('bags/ur3_first_half')
    stops = [
        at
        for topic, kind, at, raw in messages_of(path)
        if topic == '/protective_stop' and decode(raw, kind).data
    ]
    events = judge(reading for topic, reading in readings_of(path) if topic == '/joint_states')
    assert events
    for event in events:
        assert min(abs(event.stamp_ns - at) for at in stops) < 2e9


def test_a_recording_of_less_than_ten_minutes_has_no_unusual_effort() -> None:
    path = shared('bags/kuka_honeypot')
    assert not judge(reading for topic, reading in readings_of(path) if topic == '/joint_states')


def facts(event: Event) -> tuple[Any, ...]:
    """Return what an event says, with its signal."""
    signal = require(event.signal)
    values = (signal.stamps_ns.tolist(), signal.values.tolist())
    return (event.stamp_ns, event.peak_ns, event.end_ns, event.description, event.data, values)


@st.composite
def damaged(draw: st.DrawFn) -> list[JointReading]:
    """Draw work with blows, readings of which are late, missing, or no numbers."""
    begins = draw(st.lists(st.floats(20, 55), min_size=1, max_size=4))
    blows = [
        (begin, draw(st.sampled_from([0.06, 0.5, 3.0, 14.0])), number % 2, 60.0)
        for number, begin in enumerate(begins)
    ]
    readings = list(work(60, blows, draw(st.integers(0, 9))))
    changes = st.sampled_from(
        ['gone', 'late', 'back', 'still', 'no position', 'no velocity', 'no effort', 'other way']
    )
    span = st.tuples(st.integers(0, len(readings) - 1), st.integers(1, 60), changes)
    for first, count, change in draw(st.lists(span, max_size=8)):
        for at in range(first, min(first + count, len(readings))):
            one, bad = readings[at], (math.nan, 0.0)
            readings[at] = {
                'gone': replace(one, stamp_ns=one.stamp_ns + 10**10),
                'late': replace(one, stamp_ns=one.stamp_ns - 10**8),
                'back': replace(one, stamp_ns=one.stamp_ns - 10**11),
                'still': replace(one, velocity=(0.0, 0.0)),
                'no position': replace(one, position=bad),
                'no velocity': replace(one, velocity=bad),
                'no effort': replace(one, effort=bad),
                'other way': replace(
                    one,
                    names=one.names[::-1],
                    position=one.position[::-1],
                    velocity=one.velocity[::-1],
                    effort=one.effort[::-1],
                ),
            }[change]
    return readings


@settings(max_examples=few_or_many(10, 200), deadline=None)
@given(
    damaged(), st.lists(st.integers(1, 400), min_size=1, max_size=6), st.sampled_from([0.2, 0.0])
)
def test_unusual_efforts_do_not_depend_on_how_the_stream_is_cut(
    readings: list[JointReading], sizes: list[int], post_s: float
) -> None:
    chosen = MotionSettings(effort_learning_s=15.0, post_s=post_s)
    detector, other = MotionDetector(chosen), MotionDetector(chosen)
    events = [event for reading in readings for event in detector.feed(reading)]
    blocks = join_blocks(map(JointBlock.from_reading, readings), sizes)
    found = [one for block in blocks for _, one in other.feed_block(block)]
    assert [facts(one) for one in found if isinstance(one, Event)] == list(map(facts, events))
    assert other.since_ns == detector.since_ns
    assert list(map(facts, other.finish())) == list(map(facts, detector.finish()))
    assert other.ignored == detector.ignored


def test_a_blow_in_the_middle_of_a_block_is_found_in_its_place() -> None:
    readings = list(work(700, BLOWS))
    whole = next(join_blocks(map(JointBlock.from_reading, readings), [len(readings)]))
    found = MotionDetector().feed_block(whole)
    efforts = [
        (number, one)
        for number, one in found
        if isinstance(one, Event) and one.metadata['detector'] == 'effort'
    ]
    assert [facts(one) for _, one in efforts] == [facts(one) for one in judge(readings)]
    for number, one in efforts:
        assert one.end_ns < readings[number].stamp_ns < one.end_ns + 10**9


def test_what_was_learned_goes_on_through_a_restart() -> None:
    readings = list(work(700, BLOWS))
    whole = judge(readings)
    first = MotionDetector()
    watch_blocks(first, readings[: 300 * RATE])
    (learned,) = first.list_learned()
    text = json.dumps(asdict(learned))
    assert len(zlib.compress(text.encode())) < 20_000
    asked: list[Any] = []

    def find(*of: Any) -> LearnedEffort:
        asked.append(of)
        given = json.loads(text)
        return LearnedEffort(**{**given, 'names': of[0], 'conditions': of[1]})

    second = MotionDetector()
    second.go_on_from(find)
    events = watch_blocks(second, readings[300 * RATE :])
    events = [one for one in events if one.metadata['detector'] == 'effort']
    assert asked == [(('elbow', 'shoulder'), learned.conditions, readings[300 * RATE].stamp_ns)]
    assert [(one.data['kind'], one.data['joint']) for one in events] == [
        (one.data['kind'], one.data['joint']) for one in whole
    ]
    for one, other in zip(events, whole, strict=True):
        assert abs(one.stamp_ns - other.stamp_ns) <= 10**8
        assert one.data['residual'] == pytest.approx(other.data['residual'], rel=0.1)

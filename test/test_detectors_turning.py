"""A tool that turns is told as such, and hides no contact."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from numpy.typing import NDArray

from robot_memory.detectors import ContactDetector, ContactSettings, Event, WrenchReading
from robot_memory.detectors.turning import JointHistory, mark_turning

START_NS = 10**18
RATE = 100
JOINTS = ('elbow', 'wrist_2', 'wrist_3')
Floats = NDArray[np.float64]
Course = Callable[[float], float]


def turn(begin: float, length: float, angle: float) -> Course:
    """Return an angle in rad that changes evenly within `length` s, and stays."""
    return lambda seconds: angle * min(1.0, max(0.0, (seconds - begin) / length))


def sway(begin: float, length: float, angle: float) -> Course:
    """Return an angle in rad that goes there and back within `length` s."""

    def course(seconds: float) -> float:
        share = (seconds - begin) / length
        return angle * math.sin(math.pi * share) if 0 <= share <= 1 else 0.0

    return course


def feel(
    length_s: float,
    course: Course,
    mass: float = 1.0,
    touch: Callable[[float], tuple[float, float, float]] = lambda _: (0.0, 0.0, 0.0),
    seed: int = 1,
) -> list[Event]:
    """Return contacts of a sensor, with a bias, on a tool of `mass` kg that wrist_2 turns."""
    random = np.random.default_rng(seed)
    tilt, bias = random.uniform(-0.4, 0.4), random.normal(0, 5, 3)
    history = JointHistory(JOINTS)
    detector = ContactDetector(ContactSettings())
    events: list[Event] = []
    for step in range(round(length_s * RATE)):
        seconds, stamp_ns = step / RATE, START_NS + step * 10**9 // RATE
        angle = course(seconds)
        history.add(stamp_ns, [0.3, 0.7 + angle, 0.01 * math.sin(seconds)])
        across = 9.81 * mass * math.cos(tilt)
        weight = (
            across * math.sin(angle),
            9.81 * mass * math.sin(tilt),
            -across * math.cos(angle),
        )
        force = bias + weight + touch(seconds) + random.normal(0, 0.1, 3)
        reading = WrenchReading(stamp_ns, 'tool0', tuple(force), (0.0, 0.0, 0.0))
        events += [mark_turning(event, [history]) for event in detector.feed(reading)]
    return events + [mark_turning(event, [history]) for event in detector.finish()]


@pytest.mark.parametrize('seed', range(10))
@pytest.mark.parametrize(
    'course', [turn(5, 1, 1.57), turn(5, 0.6, -1.2), turn(5, 2, 2.5), sway(5, 2, 0.9)]
)
def test_a_tool_that_is_turned_is_told_as_such_with_low_confidence(
    course: Course, seed: int
) -> None:
    events = feel(12, course, mass=1.0 + 0.2 * seed, seed=seed)
    assert events
    for event in events:
        assert event.description.startswith('Perhaps no contact')
        assert 'wrist_2 turned by' in event.description
        assert (event.data['kind'], event.confidence) == ('turn', 0.3)


@pytest.mark.parametrize(
    'course', [lambda _: 0.0, turn(4, 4, 0.6), turn(4.5, 2, 1.5), sway(4, 3, 0.5)]
)
@pytest.mark.parametrize('shape', ['push', 'ramp', 'hit and stay'])
def test_a_push_while_joints_turn_is_a_contact(course: Course, shape: str) -> None:
    def touch(seconds: float) -> tuple[float, float, float]:
        share = (seconds - 5) / 1.2
        if not 0 <= share <= (4 if shape == 'hit and stay' else 1):
            return 0.0, 0.0, 0.0
        level = {'push': math.sin(math.pi * share), 'ramp': share, 'hit and stay': 1.0}[shape]
        return 0.0, 2.0 * level, -15.0 * level

    events = feel(12, course, mass=0.05, touch=touch)
    assert events
    for event in events:
        assert event.data['kind'] != 'turn'
        assert event.confidence is not None and event.confidence > 0.5


def test_a_hit_while_a_heavy_tool_turns_is_not_hidden() -> None:
    def touch(seconds: float) -> tuple[float, float, float]:
        return (0.0, 40.0, 0.0) if 5.4 <= seconds <= 6.4 else (0.0, 0.0, 0.0)

    events = feel(12, turn(5, 1, 1.57), touch=touch)
    assert max(event.data['peak_force'] for event in events if event.data['kind'] != 'turn') > 35

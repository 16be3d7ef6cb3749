"""The confidence of an event is what its measurement carries."""

from __future__ import annotations

import numpy as np
import pytest

from robot_memory.detectors import ContactDetector, Event, WrenchReading
from robot_memory.detectors.confidence import LEAST, MOST, rate_evidence

START_NS = 10**18


def push(peak: float, noise: float = 0.1, limit: float = 1e3, cut_s: float = 9.0) -> Event:
    """Return a push of one second, by a sensor that reads no more than `limit` N."""
    random = np.random.default_rng(2)
    detector, events = ContactDetector(), []
    for step in range(round(100 * cut_s)):
        force = random.normal(0, noise, 3)
        force[2] += peak if 500 <= step < 600 else 0.0
        force = np.clip(force, -limit, limit)
        stamp_ns = START_NS + step * 10**7
        events += detector.feed(WrenchReading(stamp_ns, 'tool0', tuple(force), (0.0,) * 3))
    (event,) = events + detector.finish()
    return event


def confidence(event: Event) -> float:
    assert event.confidence is not None
    return event.confidence


def test_a_push_that_stands_out_of_the_noise_is_surer_than_one_at_the_threshold() -> None:
    assert confidence(push(20)) > 0.9 > confidence(push(3)) > confidence(push(1.4)) > 0.5
    assert confidence(push(20, noise=1.5)) < confidence(push(20)) - 0.1


def test_a_push_whose_end_was_not_seen_is_less_sure() -> None:
    whole, cut = push(20), push(20, cut_s=5.5)
    assert cut.broken_off and confidence(cut) == pytest.approx(0.8 * confidence(whole), abs=0.02)


def test_a_sensor_at_the_end_of_its_range_is_told_and_less_sure() -> None:
    whole, clipped = push(20), push(20, limit=15)
    assert clipped.data['clipped'] and 'clipped' not in whole.data
    assert 'clipped by the sensor' in clipped.description
    assert confidence(clipped) < confidence(whole) - 0.1


@pytest.mark.parametrize('readings', [0, 1, 2, 10, 10**6])
@pytest.mark.parametrize('margin', [0.0, 1.0, 5.0, float('inf')])
def test_every_confidence_is_one_that_recall_finds_by_default(
    margin: float, readings: int
) -> None:
    for flaws in range(4):
        assert LEAST <= rate_evidence(margin, readings, flaws) <= MOST


def test_few_readings_are_little_evidence() -> None:
    rated = [rate_evidence(10, readings) for readings in (2, 3, 10, 100)]
    assert rated == sorted(rated) and rated[0] < 0.6 < rated[1]

"""A stream that falls silent hands on what is under way, and goes on as if it had not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from robot_memory.detectors import (
    ContactDetector,
    ImageReading,
    JointReading,
    MotionDetector,
    SceneDetector,
    WrenchReading,
    decode_image,
)

SECOND = 10**9
START = 1_700_000_000 * SECOND


def wrenches() -> Iterator[WrenchReading]:
    """Yield three pushes of 8 N at 100 Hz; ten silent seconds follow the middle of each."""
    for i in range(900):
        at = START + i * SECOND // 100 + i // 280 * 10 * SECOND
        force = -8.0 if i % 280 >= 200 else 0.0
        yield WrenchReading(at, 'tool0', (0.0, 0.0, force), (0.0, 0.0, 0.0))


def joints() -> Iterator[JointReading]:
    """Yield an elbow at 50 Hz that falls silent while it moves."""
    for i in range(600):
        at = START + i * SECOND // 50 + i // 200 * 10 * SECOND
        speed = 0.5 if i % 200 >= 100 else 0.0
        position = i // 200 * 1.0 + max(i % 200 - 100, 0) * 0.01
        yield JointReading(at, 'base_link', ('elbow',), (position,), (speed,), ())


def pictures() -> Iterator[ImageReading]:
    """Yield a tiled table at 10 Hz; a box comes, and before its film is complete, silence."""
    tiles = np.random.default_rng(1).integers(60, 160, (12, 16, 3))
    table = np.kron(tiles, np.ones((10, 10, 1))).astype(np.uint8)
    for i in range(90):
        pixels = table.copy()
        if i % 30 >= 20:
            pixels[40:90, 30 + 30 * (i // 30) : 70 + 30 * (i // 30)] = (220, 30, 30)
        at = START + i * SECOND // 10 + i // 30 * 10 * SECOND
        yield ImageReading(at, 'camera', decode_image('rgb8', 120, 160, 480, False, pixels.data))


@pytest.mark.parametrize(
    ('make', 'stream'),
    [(ContactDetector, wrenches), (MotionDetector, joints), (SceneDetector, pictures)],
    ids=['contact', 'motion', 'scene'],
)
def test_a_pause_hands_on_early_and_changes_nothing(
    make: Callable[[], Any], stream: Callable[[], Iterator[Any]]
) -> None:
    patient, asked = make(), make()
    wanted = [event for reading in stream() for event in patient.feed(reading)]
    found: list[Any] = []
    early = last_ns = 0
    for reading in stream():
        if last_ns and reading.stamp_ns - last_ns > 5 * SECOND:
            events = asked.pause()
            early += len(events)
            found += events
            assert asked.since_ns == 0
        last_ns = reading.stamp_ns
        found += asked.feed(reading)
    assert early > 0
    facts = [(e.stamp_ns, e.peak_ns, e.end_ns, e.description, e.data, e.broken_off) for e in found]
    assert facts == [
        (e.stamp_ns, e.peak_ns, e.end_ns, e.description, e.data, e.broken_off) for e in wanted
    ]

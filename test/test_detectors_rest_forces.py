"""The weight of a tool is learned at rest; a force that it explains is no contact."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np
import pytest
from amounts import few_or_many
from numpy.typing import NDArray

from robot_memory.detectors import ContactDetector, Event
from robot_memory.detectors.readings import WrenchBlock
from robot_memory.detectors.rest_forces import RestForces

START_NS = 10**18
RATE = 100
WEIGHT_N = 14.0
TURN_S, STAY_S = 1.2, 6.0
Floats = NDArray[np.float64]
Touch = Callable[[float, int], Sequence[float]]


def nothing(_: float, __: int) -> Sequence[float]:
    return 0.0, 0.0, 0.0


def draw_poses(count: int, seed: int) -> list[Floats]:
    """Return directions of gravity, of which each is 0.9 to 2.6 rad from the one before."""
    random = np.random.default_rng(seed)
    poses: list[Floats] = []
    while len(poses) < count:
        pose = random.normal(0, 1, 3)
        pose /= np.linalg.norm(pose)
        if not poses or 0.9 < np.arccos(pose @ poses[-1]) < 2.6:
            poses.append(pose)
    return poses


def work(
    poses: int, touch: Touch = nothing, seed: int = 1, weight: float = WEIGHT_N
) -> tuple[list[Event], RestForces]:
    """Return contacts while a tool is turned from pose to pose in 1.2 s, and stays for 6 s."""
    random = np.random.default_rng(seed)
    bias = random.normal(0, 5, 3)
    detector = ContactDetector()
    events: list[Event] = []
    at = np.arange(0, STAY_S + TURN_S, 1 / RATE)
    share = 0.5 - 0.5 * np.cos(np.pi * np.maximum(0.0, at - STAY_S) / TURN_S)[:, None]
    for number, (one, other) in enumerate(pairwise(draw_poses(poses, seed))):
        angle = np.arccos(one @ other)
        down = np.sin((1 - share) * angle) * one + np.sin(share * angle) * other
        force = bias + weight * down / np.sin(angle) + random.normal(0, 0.05, (len(at), 3))
        force += np.array([touch(seconds, number) for seconds in at.tolist()])
        stamps_ns = START_NS + (number * len(at) + np.arange(len(at))) * 10**9 // RATE
        block = WrenchBlock(stamps_ns, 'tool0', np.hstack([force, np.zeros_like(force)]))
        events += [event for _, event in detector.feed_block(block)]
    rests = detector._rests
    return events + detector.finish(), rests


@pytest.mark.parametrize('seed', range(few_or_many(3, 6)))
def test_a_tool_that_is_turned_from_pose_to_pose_is_soon_no_contact(seed: int) -> None:
    events, rests = work(30, seed=seed)
    assert rests.weight is not None
    assert rests.weight.weight == pytest.approx(WEIGHT_N, rel=0.02)
    learned_ns = START_NS + round(12 * (STAY_S + TURN_S) * 1e9)
    later = [event for event in events if event.stamp_ns > learned_ns]
    assert len(later) > 10
    for event in later:
        assert (event.kind, event.data['kind'], event.confidence) == ('turn', 'turn', 0.3)
        assert 'peak_force' not in event.data
        assert event.data['weight'] == pytest.approx(WEIGHT_N, rel=0.02)
        assert 0.8 < event.data['turned'] < 3.2


@pytest.mark.parametrize('when', [2.0, 6.3], ids=['at rest', 'while it turns'])
@pytest.mark.parametrize('seed', range(few_or_many(3, 6)))
def test_a_push_is_a_contact_beside_a_weight_that_is_known(seed: int, when: float) -> None:
    random = np.random.default_rng(100 + seed)
    directions = random.normal(0, 1, (40, 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]

    def touch(at: float, number: int) -> Sequence[float]:
        share = (at - when) / 0.8
        is_pushed = number >= 15 and number % 3 == 0 and 0 <= share <= 1
        level = 8.0 * np.sin(np.pi * share) if is_pushed else 0.0
        return list(level * directions[number])

    events, _ = work(34, touch, seed)
    contacts = [event for event in events if not event.kind]
    period = STAY_S + TURN_S
    for number in range(15, 33, 3):
        begin = START_NS + round((number * period + when) * 1e9)
        end = begin + 8 * 10**8
        assert any(one.stamp_ns < end and one.end_ns > begin for one in contacts), number


@pytest.mark.parametrize('seed', range(20))
def test_forces_that_are_no_weight_give_none(seed: int) -> None:
    random = np.random.default_rng(seed)
    rests = RestForces()
    for number in range(30):
        force = random.normal(0, 8, 3).tolist()
        for part in range(7):
            rests.watch(START_NS + number * 10**10 + part * 3 * 10**8, force, 0.05)
        assert rests.weight is None

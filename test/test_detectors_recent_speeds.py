"""Speeds that are not reported follow the positions, alike in blocks and one by one."""

from __future__ import annotations

import numpy as np
import pytest

from robot_memory.detectors.readings import JointBlock
from robot_memory.detectors.recent_speeds import SMOOTH_S, RecentSpeeds

NAMES = tuple('abcdef')


def make_block(chance: np.random.Generator, readings: int) -> JointBlock:
    """Return readings with still and missing positions, and velocities that come and go."""
    position = chance.normal(size=(readings, 6)) * (chance.random((readings, 1)) < 0.5)
    velocity = chance.normal(size=(readings, 6)) * (chance.random((readings, 1)) < 0.4)
    if chance.random() < 0.3:
        position[chance.integers(readings), 2] = np.nan
    if chance.random() < 0.2:
        position = np.empty((readings, 0))
    if chance.random() < 0.2:
        velocity = np.empty((readings, 0))
    effort = chance.normal(size=(readings, 6))
    return JointBlock(np.arange(readings), '', NAMES, position, velocity, effort)


@pytest.mark.parametrize('seed', range(5))
def test_blocks_are_as_readings_one_by_one(seed: int) -> None:
    chance = np.random.default_rng(seed)
    together, alone = RecentSpeeds(6), RecentSpeeds(6)
    for _ in range(40):
        block = make_block(chance, int(chance.integers(1, 40)))
        elapsed = (chance.random(len(block.stamps_ns)) * 0.01).tolist()
        elapsed[0] *= float(chance.random() < 0.7)
        single = [
            alone.estimate(block.select(slice(at, at + 1)), elapsed[at : at + 1])
            for at in range(len(elapsed))
        ]
        assert np.array_equal(together.estimate(block, elapsed), np.concatenate(single))


def test_a_speed_moves_to_that_of_the_positions_until_the_position_is_forgotten() -> None:
    speeds = RecentSpeeds(1)

    def estimate(place: float, elapsed: float) -> float:
        one = JointBlock(
            np.array([1]), '', ('a',), np.array([[place]]), np.empty((1, 0)), np.array([[1.0]])
        )
        return float(speeds.estimate(one, [elapsed])[0, 0])

    share = 0.1 / (0.1 + SMOOTH_S)
    assert estimate(0.0, 0.0) == 0.0
    first = estimate(0.2, 0.1)
    assert first == pytest.approx(share * 2.0)
    speeds.forget_position()
    assert estimate(5.0, 0.1) == first

"""P(within r): as often found as said."""

from __future__ import annotations

import numpy as np
import pytest

from robot_memory.detectors.poses import Pose, turn_covariance
from robot_memory.retrieval.within import compute_within


def test_of_what_is_said_to_be_within_that_share_is() -> None:
    """500 cases in each tenth of p, 20 draws each; the share found is within 3 points of p."""
    chance = np.random.default_rng(7)
    said: list[list[float]] = [[] for _ in range(10)]
    found: list[list[float]] = [[] for _ in range(10)]
    while min(map(len, said)) < 500:
        root = chance.normal(size=(3, 3)) * chance.uniform(0.01, 1, 3)[:, None]
        covariance = root @ root.T
        offset = chance.normal(size=3) * chance.uniform(0, 1.5)
        radius = float(chance.uniform(0.05, 2.5))
        share = compute_within([*map(float, offset)], covariance, radius)
        tenth = min(int(share * 10), 9)
        if len(said[tenth]) == 500:
            continue
        drawn = offset + chance.normal(size=(20, 3)) @ root.T
        said[tenth].append(share)
        found[tenth].append(float((np.linalg.norm(drawn, axis=1) <= radius).mean()))
    for one, other in zip(said, found, strict=True):
        assert abs(np.mean(one) - np.mean(other)) < 0.03


def test_a_point_and_a_line_are_exact() -> None:
    assert compute_within([0.5, 0, 0], np.zeros((3, 3)), 0.6) == 1
    assert compute_within([0.7, 0, 0], np.zeros((3, 3)), 0.6) == 0
    line = np.diag([0.0, 0.0, 4.0])
    assert compute_within([0, 0, 0], line, 2) == pytest.approx(0.682689, abs=1e-6)


def test_a_covariance_turns_with_the_frame() -> None:
    half = np.sqrt(0.5)
    turned = turn_covariance([4, 0, 0, 1, 0, 9], Pose((0, 0, 0), (0, 0, half, half)).axes)
    assert np.allclose(turned, np.diag([1, 4, 9]))

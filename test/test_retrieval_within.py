"""P(within r) and P(in a region): as often found as said."""

from __future__ import annotations

import numpy as np
import pytest
from amounts import few_or_many

from robot_memory.core.regions import Region
from robot_memory.detectors.poses import Pose, turn_covariance
from robot_memory.retrieval.within import (
    bound_within,
    compute_all_within,
    compute_inside,
    compute_within,
)

BENT = ((0.0, 0.0), (2.0, 0.0), (2.0, 2.0), (1.0, 1.0), (0.0, 2.0))


def test_of_what_is_said_to_be_within_that_share_is() -> None:
    """20 draws for each case, in each tenth of p; the share found is within 3 points of p."""
    chance = np.random.default_rng(7)
    said: list[list[float]] = [[] for _ in range(10)]
    found: list[list[float]] = [[] for _ in range(10)]
    cases = few_or_many(150, 500)
    while min(map(len, said)) < cases:
        root = chance.normal(size=(3, 3)) * chance.uniform(0.01, 1, 3)[:, None]
        covariance = root @ root.T
        offset = chance.normal(size=3) * chance.uniform(0, 1.5)
        radius = float(chance.uniform(0.05, 2.5))
        share = compute_within([*map(float, offset)], covariance, radius)
        tenth = min(int(share * 10), 9)
        if len(said[tenth]) == cases:
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


def test_many_are_as_each_alone_and_none_is_above_its_bound() -> None:
    chance = np.random.default_rng(11)
    roots = chance.normal(size=(600, 3, 3)) * chance.uniform(0.01, 1, (600, 1, 3))
    roots[::7, :, 0] = 0.0
    roots[::50] = 0.0
    covariances = roots @ roots.transpose(0, 2, 1)
    offsets = chance.normal(size=(600, 3)) * chance.uniform(0, 1.5, (600, 1))
    offsets[::40] = 0.0
    for radius in (0.0, 0.2, 1.0):
        found = compute_all_within(offsets, covariances, radius)
        for one, offset, covariance in zip(found, offsets, covariances, strict=True):
            assert one == pytest.approx(compute_within(offset, covariance, radius), abs=1e-12)
        assert (found <= bound_within(offsets, covariances, radius) + 0.005).all()


def test_a_covariance_turns_with_the_frame() -> None:
    half = np.sqrt(0.5)
    turned = turn_covariance([4, 0, 0, 1, 0, 9], Pose((0, 0, 0), (0, 0, half, half)).axes)
    assert np.allclose(turned, np.diag([1, 4, 9]))


def lie_in(region: Region, points: np.ndarray) -> np.ndarray:
    """Say which points lie in the bent polygon, by its own formula, between bottom and top."""
    x, y, z = points.T
    flat = (x >= 0) & (x <= 2) & (y >= 0) & (y <= 1 + np.abs(x - 1))
    inside: np.ndarray = flat & (z >= region.bottom) & (z <= region.top)
    return inside


def test_of_what_is_said_to_be_in_a_region_that_share_is() -> None:
    """20 draws for each case, in each tenth of p; the share found is within 3 points of p."""
    chance = np.random.default_rng(11)
    said: list[list[float]] = [[] for _ in range(10)]
    found: list[list[float]] = [[] for _ in range(10)]
    cases = few_or_many(150, 500)
    while min(map(len, said)) < cases:
        scale = np.exp(chance.uniform(np.log(0.02), np.log(0.5)))
        root = chance.normal(size=(3, 3)) * chance.uniform(0.1, 1, 3)[:, None] * scale
        position = chance.uniform((-0.2, -0.2, -0.1), (2.2, 1.2, 0.6))
        region = Region('bent', 'map', BENT, 0.0, float(chance.choice([0.5, np.inf])))
        share = compute_inside([*map(float, position)], root @ root.T, region)
        tenth = min(int(share * 10), 9)
        if len(said[tenth]) == cases:
            continue
        drawn = position + chance.normal(size=(20, 3)) @ root.T
        said[tenth].append(share)
        found[tenth].append(float(lie_in(region, drawn).mean()))
    for one, other in zip(said, found, strict=True):
        assert abs(np.mean(one) - np.mean(other)) < 0.03


def test_in_a_region_each_single_case_is_right() -> None:
    """Against 200,000 draws, whose own error is 0.0011; flat, thin and slanted ones."""
    chance = np.random.default_rng(12)
    for number in range(few_or_many(20, 60)):
        root = chance.normal(size=(3, 3)) * chance.uniform(0.001, 1, 3)[:, None]
        root[:, : number % 3] = 0.0
        position = chance.uniform((-0.5, -0.5, -0.5), (2.5, 2.5, 1.0))
        region = Region('bent', 'map', BENT[:: (-1) ** number], -0.2, 0.7)
        share = compute_inside([*map(float, position)], root @ root.T, region)
        drawn = position + chance.normal(size=(200_000, 3)) @ root.T
        assert abs(share - lie_in(region, drawn).mean()) < 0.02, (number, root)


def test_a_place_on_a_corner_or_an_edge_is_in_with_its_part() -> None:
    box = Region('box', 'map', ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0)))
    small = np.diag([1e-6, 1e-6, 1.0])
    assert compute_inside([0, 0, 5], small, box) == pytest.approx(0.25, abs=1e-6)
    assert compute_inside([0.5, 0, 5], small, box) == pytest.approx(0.5, abs=1e-6)
    assert compute_inside([0.5, 0.5, 5], small, box) == pytest.approx(1, abs=1e-6)
    assert compute_inside([0.5, -0.5, 5], small, box) == pytest.approx(0, abs=1e-6)
    assert compute_inside([0.5, 0.5, 0], np.zeros((3, 3)), box) == pytest.approx(1, abs=1e-6)
    low = Region('low', 'map', box.corners, 0.0, 1.0)
    assert compute_inside([0.5, 0.5, 2], np.zeros((3, 3)), low) == 0

"""Landmarks of two maps: the pose that fits them, and what cannot be fitted."""

from __future__ import annotations

import numpy as np
import pytest

from robot_memory.core.errors import InvalidArgument
from robot_memory.detectors import Pose
from robot_memory.detectors.landmarks import fit_landmarks, measure_residual


def make_pose(chance: np.random.Generator, *, flat: bool) -> Pose:
    turn = np.array([0, 0, *chance.normal(size=2)]) if flat else chance.normal(size=4)
    a, b, c, d = map(float, turn / np.linalg.norm(turn))
    x, y, z = map(float, chance.uniform(-20, 20, 3))
    return Pose((x, y, 0.0 if flat else z), (a, b, c, d))


@pytest.mark.parametrize('flat', [False, True])
def test_landmarks_without_noise_give_the_pose_itself(flat: bool) -> None:
    chance = np.random.default_rng(4)
    for number in (3, 4, 10) * 20:
        pose = make_pose(chance, flat=flat)
        old = chance.uniform(-5, 5, (number, 3)) * [1, 1, not flat]
        new = old @ np.asarray(pose.axes).T + pose.position
        found = fit_landmarks(old.tolist(), new.tolist())
        assert found.position == pytest.approx(pose.position, abs=1e-9)
        assert np.abs(np.array(found.axes) - pose.axes).max() < 1e-9
        assert measure_residual(found, old.tolist(), new.tolist()) < 1e-9


def test_six_landmarks_with_2_cm_of_noise_fit_to_some_centimetres() -> None:
    chance = np.random.default_rng(5)
    worst, residuals = [], []
    for _ in range(200):
        pose = make_pose(chance, flat=False)
        turn, shift = np.asarray(pose.axes), np.asarray(pose.position)
        old = chance.uniform(-5, 5, (6, 3))
        new = old @ turn.T + shift + chance.normal(size=(6, 3)) * 0.02
        found = fit_landmarks(old.tolist(), new.tolist())
        residuals.append(measure_residual(found, old.tolist(), new.tolist()))
        places = chance.uniform(-5, 5, (100, 3))
        brought = places @ np.asarray(found.axes).T + found.position
        worst.append(np.linalg.norm(brought - places @ turn.T - shift, axis=1).max())
    assert np.median(worst) < 0.05
    assert 0.015 < np.median(residuals) < 0.035


@pytest.mark.parametrize(
    ('old', 'new', 'words'),
    [
        ([[0, 0, 0], [1, 0, 0]], [[0, 0, 0], [1, 0, 0]], 'at least 3.*not 2'),
        ([[0, 0, 0], [1, 1, 1], [2, 2, 2]], [[0, 0, 0], [1, 0, 0], [0, 1, 0]], 'a line.*by from'),
        ([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[1, 1, 1]] * 3, 'in one point, by to'),
    ],
)
def test_landmarks_that_leave_a_turn_unknown_are_refused(
    old: list[list[float]], new: list[list[float]], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        fit_landmarks(old, new)


def test_landmarks_that_are_others_are_refused() -> None:
    old = [[0.0, 0.0, 0.0], [4.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 9.0]]
    new = [old[number] for number in (3, 2, 0, 1)]
    with pytest.raises(InvalidArgument, match=r'do not fit: they are .* m off'):
        measure_residual(fit_landmarks(old, new), old, new)

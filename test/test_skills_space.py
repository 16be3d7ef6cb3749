import numpy as np
import pytest
from numpy.typing import NDArray

from robot_memory.skills.space import MISSING, Space
from robot_memory.skills.trials import Trial, Trials


def test_distances_are_in_spreads_of_each_column() -> None:
    trials = Trials()
    one = np.array([1.0, 0.0])
    trials.append(Trial(one, {}, {'turn': 0.0, 'grip': 0.0, 'tool': 'a'}, {}))
    trials.append(Trial(one[::-1], {}, {'turn': 0.2, 'grip': 2000.0, 'tool': 'b'}, {}))
    trials.append(Trial(None, {}, {'turn': 0.1, 'tool': 'a'}, {}))
    points = trials.points
    situation, turn, grip, tool = Space.of(trials).measure(points, points)
    assert situation[0, 1] == pytest.approx(1) and situation[2, 2] == 0 and situation[0, 2] == 1
    assert grip[0, 1] == pytest.approx(4) and turn[0, 1] == pytest.approx(6)
    assert grip[0, 2] == 1 + MISSING and grip[2, 2] == 0
    assert tool[0, 1] == 1 and tool[0, 2] == 0


def test_situations_that_repeat_and_those_without_words_are_as_far_apart_as_each_is() -> None:
    random = np.random.default_rng(3)
    vectors = random.standard_normal((6, 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    space = Space(vectors, np.zeros(0), np.zeros(0))
    for some, others in (
        ([2], [5, -1, 0, 2, 2]),
        ([-1], [-1, 3]),
        ([4, -1, 4, 1], [0, 1, -1, 5]),
        ([3, 3], [3]),
    ):
        wanted = [[measure_alone(vectors, one, other) for other in others] for one in some]
        found = space.measure_situations(np.array(some), np.array(others))
        assert found == pytest.approx(np.array(wanted), abs=1e-6)
    points = np.array([1, -1, 1, 0])
    assert (
        space.measure_situations(points, points) == space.measure_situations(points, points.copy())
    ).all()
    assert space.measure_situations(points[:0], points).shape == (0, 4)


@pytest.mark.parametrize('count', [3, 40, 530])
def test_distances_that_trials_keep_are_those_of_their_vectors(count: int) -> None:
    vectors = np.random.default_rng(count).standard_normal((count + 2, 6)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    trials = Trials()
    trials.append(Trial(None, {}, {}, {}))
    for vector in vectors[:count]:
        trials.append(Trial(vector, {}, {}, {}))
    with trials.place(vectors[count]):
        asked = trials.measure_from(count)
    trials.append(Trial(vectors[count + 1], {}, {}, {}))
    assert (trials.apart is None) == (count > 512)
    assert asked[1:] == pytest.approx(1 - vectors[:-1] @ vectors[count], abs=1e-6)
    known = np.delete(vectors, count, axis=0)
    plain, points = Space(known, np.zeros(0), np.zeros(0)), trials.points.situations
    wanted = plain.measure_situations(points, points)
    assert Space.of(trials).measure_situations(points, points) == pytest.approx(wanted, abs=1e-6)
    for situation in (-1, 0, count):
        some = np.array([situation])
        wanted = plain.measure_situations(some, np.arange(-1, count + 1))[0]
        assert trials.measure_from(situation) == pytest.approx(wanted, abs=1e-6)


def measure_alone(vectors: NDArray[np.float32], one: int, other: int) -> float:
    """Return one minus the cosine of two situations; of those without words 0, else 1."""
    if one < 0 or other < 0:
        return float(one != other)
    return 1 - float(vectors[one] @ vectors[other])

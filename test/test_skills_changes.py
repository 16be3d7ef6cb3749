import numpy as np
import pytest

from robot_memory.skills.changes import Fitness, Likeness, Regimes, blend, find_begin


def judge(apart: float, strange: float = 0.5) -> float:
    """Return what a result says that lies so far off, where nothing is known it is likelier."""
    return Fitness.of(np.array([apart, strange]), np.array([0.1, 0.4])).weight


def make_vectors(count: int) -> np.ndarray:
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((count, 16))
    found: np.ndarray = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    return found


def test_what_was_predicted_speaks_against_a_change_and_what_was_not_for_one() -> None:
    assert judge(0.0) < 0 < judge(3.0) < judge(4.0)
    assert judge(50.0) == judge(500.0) == 3


def test_what_is_as_likely_of_any_situation_says_nothing() -> None:
    for apart in (0.0, 2.0, 20.0):
        fitness = Fitness.of(np.array([apart, apart]), np.array([0.3, 0.3]))
        assert fitness.weight == 0


def test_the_results_of_a_trial_count_as_one_witness() -> None:
    one = Fitness.of(np.array([2.5, 0.5]), np.array([0.1, 0.4]))
    both = Fitness.sum([one, one])
    assert both.weight == pytest.approx(one.weight)
    assert both.held == 2 * one.held


def test_one_outlier_is_no_change_and_several_are_suspicious() -> None:
    weights = np.full(30, -1.0)
    weights[-1] = 2.4
    assert find_begin(weights, np.ones(30), 0) is None
    weights[-4:] = 2.4
    assert find_begin(weights, np.ones(30), 0) == 26
    assert find_begin(weights, np.ones(30), 30) is None


def test_trials_of_other_situations_say_little() -> None:
    assert abs(blend(np.array(3.0), np.array(0.0))) == 0
    assert blend(np.array(3.0), np.array(0.05)) < 0.7
    assert blend(np.array(-1.5), np.array(0.05)) > -0.1


def follow(weights: list[tuple[int, float]], count: int = 8) -> Regimes:
    vectors = make_vectors(count)
    regimes = Regimes()
    for phrasing, weight in weights:
        regimes.append(weight, phrasing, vectors, Likeness.of(vectors))
    return regimes


def test_a_few_phrasings_that_changed_are_evidence_though_the_others_held() -> None:
    held = [(phrasing, -1.0) for phrasing in range(2, 8) for _ in range(4)]
    assert follow(held).sum_evidence() < 0
    regimes = follow([*held, *[(phrasing, 2.5) for phrasing in (0, 1) for _ in range(4)]])
    assert regimes.sum_evidence() > 9
    assert regimes.find_most() in (0, 1)


def test_a_situation_that_fits_what_was_known_is_soon_held_to_have_changed_back() -> None:
    changed = [(0, 3.0)] * 12
    assert follow(changed).then[-1] > 0.9
    assert follow([*changed, *[(0, -3.0)] * 3]).then[-1] < 0.1


def test_trials_since_a_change_count_though_it_is_unsure_whether_it_concerns_them() -> None:
    regimes = follow([(0, 0.0)] * 8)
    outdated = regimes.compare(10, np.zeros(18, int))
    assert 0.2 < outdated[:10].min() <= outdated[:10].max() < 0.8
    assert outdated[10:].max() < 0.1
    back = follow([*[(0, 3.0)] * 12, *[(0, -3.0)] * 4])
    outdated = back.compare(10, np.zeros(26, int))
    assert outdated[:10].max() < 0.1 and outdated[22:].max() < 0.1
    assert outdated[10:18].min() > 0.8


def test_what_is_known_by_now_tells_a_changed_situation_from_one_that_changed_back() -> None:
    regimes = follow([(0, 3.0)] * 6)
    fits_now, fits_before = Fitness(held=1.0), Fitness(held=-6.0)
    assert regimes.compare_worlds(Fitness(-6.0, -1.0), fits_now, 0) == 3
    assert regimes.compare_worlds(Fitness(1.0, -1.0), fits_before, 0) == -3


def test_the_same_words_tell_of_the_same_situation() -> None:
    vectors = make_vectors(20)
    members = Likeness.of(vectors).estimate_members(vectors[3], vectors)
    assert members[3] == 1
    assert np.delete(members, 3).mean() < 0.4

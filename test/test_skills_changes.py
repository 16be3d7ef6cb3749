import numpy as np

from robot_memory.skills.changes import Likeness, blend, find_begin, weigh_surprises


def test_what_was_predicted_speaks_against_a_change_and_what_was_not_for_one() -> None:
    weights = weigh_surprises([0.0, 3.0, -5.0, 50.0])
    assert weights[0] < 0 < weights[1] < weights[2]
    assert weights[3] <= 3


def test_one_outlier_is_no_change_and_several_are() -> None:
    members = np.ones(30)
    surprises = np.zeros(30)
    surprises[-1] = 9.0
    assert find_begin(weigh_surprises(surprises), members, 0) is None
    surprises[-4:] = 6.0
    assert find_begin(weigh_surprises(surprises), members, 0) == 26


def test_trials_of_other_situations_say_little() -> None:
    surprises = np.full(30, 0.0)
    surprises[-4:] = 6.0
    assert find_begin(weigh_surprises(surprises), np.full(30, 0.05), 0) is None
    assert abs(blend(np.array(3.0), np.array(0.0))) == 0


def test_the_same_words_tell_of_the_same_situation() -> None:
    chance = np.random.default_rng(0)
    vectors = chance.standard_normal((20, 16))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    members = Likeness.of(vectors).estimate_members(vectors[3], vectors)
    assert members[3] == 1
    assert np.delete(members, 3).mean() < 0.4

import json
from typing import Any

import numpy as np
import pytest
from skill_worlds import make_vectors, practise, push

from robot_memory.skills.choice import Range, Want, choose
from robot_memory.skills.model import LEARNED, NEIGHBOURS, Skill
from robot_memory.skills.trials import SUCCESS, Trial


def predict(skill: Skill, vector: Any, speed: float) -> float | None:
    found = choose(skill, vector, Want('slide', 0, 1), [{'speed': speed}])
    return found.predicted


def test_the_result_of_a_situation_is_predicted() -> None:
    skill, vectors = Skill(), make_vectors(2)
    practise(skill, vectors, np.array([0.3, 0.8]), 60)
    assert predict(skill, vectors[0], 1.5) == pytest.approx(0.45, abs=0.06)
    assert predict(skill, vectors[1], 1.5) == pytest.approx(1.2, abs=0.06)


def test_an_outlier_is_a_noisy_witness() -> None:
    skill, vectors = Skill(), make_vectors(1)
    practise(skill, vectors, np.array([0.5]), 40)
    before = predict(skill, vectors[0], 1.0)
    noticed = skill.record(push(vectors[0], 1.0, 3.0))
    assert abs(noticed.surprise or 0) > 5
    assert noticed.change is None
    assert predict(skill, vectors[0], 1.0) == pytest.approx(before, abs=0.08)


def test_trials_of_a_world_that_has_changed_do_not_widen_what_is_likely() -> None:
    vectors = make_vectors(1)
    fresh, changed = Skill(), Skill()
    practise(changed, vectors, np.array([2.0]), 30)
    practise(changed, vectors, np.array([0.5]), 30)
    practise(fresh, vectors, np.array([0.5]), 30)
    changed.history.outdated = np.repeat([0.99, 0.0], 30)

    def judge(skill: Skill) -> float:
        want = Want('slide', 0.4, 0.6)
        return choose(skill, vectors[0], want, [{'speed': 1.0}]).probability or 0.0

    assert judge(changed) == pytest.approx(judge(fresh), abs=0.1)


def test_simulated_trials_count_less_than_real_ones() -> None:
    vector = make_vectors(1)[0]

    def judge(is_simulated: bool) -> Any:
        skill = Skill()
        for place in range(8):
            slide, simulated = (1.0, is_simulated) if place % 2 else (0.0, not is_simulated)
            skill.record(push(vector, 1.0, slide, simulated=simulated))
        return predict(skill, vector, 1.0)

    assert judge(True) < 0.5 < judge(False)


def test_one_trial_is_enough_for_a_prediction() -> None:
    skill, vector = Skill(), make_vectors(1)[0]
    assert skill.record(push(vector, 1.0, 0.4)).surprise is None
    assert predict(skill, vector, 1.0) == pytest.approx(0.4)


def test_results_that_are_all_equal_are_predicted() -> None:
    skill, vector = Skill(), make_vectors(1)[0]
    for place in range(12):
        skill.record(push(vector, float(place), 0.4))
    skill.learn()
    assert predict(skill, vector, 3.0) == pytest.approx(0.4)


def test_a_number_that_is_missing_and_a_situation_without_words_are_taken() -> None:
    skill = Skill()
    for place in range(10):
        numbers = {'mass': float(place % 3)} if place % 2 else {}
        skill.record(Trial(None, numbers, {'speed': 1.0}, {'slide': 0.5}, success=True))
    skill.record(Trial(make_vectors(1)[0], {'tilt': 2.0}, {'speed': 2.0}, {}, success=False))
    skill.learn()
    found = choose(skill, None, Want(), [{'speed': 1.0}, {'speed': 2.0}], numbers={'mass': 1.0})
    assert found.params == {'speed': 1.0}
    assert (found.probability or 0) > 0.5


def test_it_goes_on_from_its_state_nearly_as_it_was() -> None:
    skill, vectors = Skill(), make_vectors(3)
    gains = np.array([0.3, 0.8, 0.5])
    practise(skill, vectors, gains, 60)
    practise(skill, vectors, gains[::-1].copy(), 40, seed=1)
    assert skill.changes
    chance = np.random.default_rng(0)
    trials = []
    for places, seed in ((60, 0), (40, 1)):
        chance = np.random.default_rng(seed)
        for _ in range(places):
            row, speed = int(chance.integers(3)), float(chance.uniform(0.2, 2))
            gain = gains[row] if seed == 0 else gains[::-1][row]
            slide = gain * speed + 0.03 * float(chance.standard_normal())
            trials.append(push(vectors[row], speed, slide))
    state = json.loads(json.dumps(skill.get_state()))
    other = Skill.restore(trials, skill.surprises.rows.tolist(), state)
    assert list(other.changes) == list(skill.changes)
    for vector in vectors:
        assert predict(other, vector, 1.0) == pytest.approx(predict(skill, vector, 1.0), abs=0.02)
    assert Skill.replay(trials).changes


def test_asking_leaves_nothing_behind() -> None:
    skill, vectors = Skill(), make_vectors(3)
    practise(skill, vectors[:1], np.array([0.5]), 10)
    for vector in vectors:
        choose(skill, vector, Want('slide', 0, 1), {'speed': Range(0, 2)})
    assert len(skill.trials.vectors) == 1


def test_of_10000_trials_only_the_likest_are_computed_with() -> None:
    chance, vectors = np.random.default_rng(0), make_vectors(50)
    trials = [
        push(vectors[place % 50], float(chance.uniform(0, 2)), float(chance.uniform(0, 1)))
        for place in range(10_000)
    ]
    skill = Skill.restore(trials, [0.1] * len(trials), None)
    fit: Any = skill.fit('slide', 7)
    assert len(fit.trials) == NEIGHBOURS
    situations = skill.trials.points.situations[fit.trials]
    assert np.isin(np.flatnonzero(skill.trials.points.situations == 7), fit.trials).mean() > 0.9
    assert 7 in situations
    assert len(skill.prepare_learning().evidence['slide'].results) == LEARNED
    assert skill.record(trials[0]).surprise is not None


def test_success_alone_is_learned_where_nothing_is_measured() -> None:
    skill, chance = Skill(), np.random.default_rng(0)
    for _ in range(60):
        speed = float(chance.uniform(0, 2))
        skill.record(Trial(None, {}, {'speed': speed}, {}, success=abs(speed - 1.4) < 0.3))
        if skill.is_due:
            skill.learn()
    found = choose(skill, None, Want(SUCCESS), {'speed': Range(0, 2)})
    assert found.params['speed'] == pytest.approx(1.4, abs=0.3)
    assert (found.probability or 0) > 0.6


def test_of_trials_as_like_and_as_old_as_can_be_the_newest_are_computed_with() -> None:
    vector = make_vectors(1)[0]
    trials = [push(vector, place % 7, place % 3) for place in range(3000)]
    skill = Skill.restore(trials, [0.1] * len(trials), None)
    fit: Any = skill.fit('slide', 0)
    assert fit.trials.tolist() == [*range(3000 - NEIGHBOURS, 3000)]
    skill.history.outdated[500:] = 0.9
    fit = skill.fit('slide', 0)
    assert fit.trials.tolist() == [*range(500 - NEIGHBOURS, 500)]


def test_situations_without_words_are_like_each_other_alone() -> None:
    vector = make_vectors(1)[0]
    trials = [push(vector if place % 2 else None, 1.0, 0.5) for place in range(1000)]
    skill = Skill.restore(trials, [0.1] * len(trials), None)
    fit: Any = skill.fit('slide', -1)
    assert not (fit.trials % 2).any()

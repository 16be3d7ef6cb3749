import math
from typing import Any

import numpy as np
import pytest
from skill_worlds import make_vectors, practise, push

from robot_memory.skills.choice import (
    Range,
    Want,
    choose,
    limit_belief,
    list_candidates,
    list_tried,
    measure_gaps,
    rate,
)
from robot_memory.skills.model import Skill
from robot_memory.skills.trials import Points, Trial


@pytest.fixture
def known() -> Any:
    skill, vectors = Skill(), make_vectors(2)
    practise(skill, vectors, np.array([0.3, 0.8]), 60)
    return skill, vectors


def test_a_result_within_bounds_is_aimed_at(known: Any) -> None:
    skill, vectors = known
    for vector, gain in zip(vectors, (0.3, 0.8), strict=True):
        found: Any = choose(skill, vector, Want('slide', 0.35, 0.45), {'speed': Range(0, 2)})
        assert found.params['speed'] * gain == pytest.approx(0.4, abs=0.05)
        assert found.probability > 0.5
        assert found.interval[0] < 0.4 < found.interval[1]
        assert found.trials > 1
        weights = [weight for _, weight in found.evidence]
        assert weights == sorted(weights, reverse=True)


def test_the_least_and_the_most_of_a_result_are_found(known: Any) -> None:
    skill, vectors = known
    among = {'speed': [0.5, 1.0, 1.5]}
    assert choose(skill, vectors[1], Want('slide', aim='least'), among).params == {'speed': 0.5}
    assert choose(skill, vectors[1], Want('slide', aim='most'), among).params == {'speed': 1.5}


def test_where_nothing_is_known_the_default_is_used() -> None:
    found = choose(Skill(), None, Want(), {'speed': Range(0, 1)}, default={'speed': 0.2})
    assert found.params == {'speed': 0.2} and found.default_used and found.probability is None
    found = choose(Skill(), None, Want(), {'speed': Range(0, 1)})
    assert found.params == {} and not found.default_used


def test_where_nothing_is_left_params_are_empty(known: Any) -> None:
    skill, vectors = known
    nothing: list[Any] = [[], {'speed': []}, {'speed': Range(1, 0)}]
    for candidates in nothing:
        assert choose(skill, vectors[0], Want('slide', 0, 1), candidates).params == {}


def test_without_among_params_stay_where_they_were_tried_with_success() -> None:
    skill = Skill()
    for speed, tool, success in ((0.1, 'a', False), (0.5, 'b', True), (0.9, 'c', True)):
        params: dict[str, float | str] = {'speed': speed, 'tool': tool}
        skill.record(Trial(None, {}, params, {'slide': speed}, success))
    assert list_tried(skill) == {'speed': Range(0.5, 0.9), 'tool': ['b', 'c']}


def test_a_category_is_chosen() -> None:
    skill, chance = Skill(), np.random.default_rng(0)
    for place in range(40):
        tool = 'abc'[place % 3]
        slide = {'a': 0.2, 'b': 0.5, 'c': 0.9}[tool] + 0.02 * float(chance.standard_normal())
        skill.record(Trial(None, {}, {'tool': tool}, {'slide': slide}))
        if skill.is_due:
            skill.learn()
    found = choose(skill, None, Want('slide', 0.45, 0.55), {'tool': ['a', 'b', 'c', 'new']})
    assert found.params == {'tool': 'b'}


def test_exploring_draws_as_often_as_the_posterior_says() -> None:
    skill = Skill()
    for tool, slide in (('a', 0.4), ('b', 0.5), ('b', 0.55), ('a', 0.5), ('c', 0.3)):
        skill.record(Trial(None, {}, {'tool': tool}, {'slide': slide}))
    fit: Any = skill.fit('slide', -1)
    points = Points(np.full(3, -1), np.arange(3.0)[:, None])
    generator = np.random.default_rng(0)
    drawn = np.array([fit.sample(points, generator).argmax() for _ in range(2000)])
    chosen = [
        choose(
            skill, None, Want('slide', aim='most'), {'tool': ['a', 'b', 'c']}, explore=1, seed=seed
        ).params['tool']
        for seed in range(600)
    ]
    for place, tool in enumerate('abc'):
        assert chosen.count(tool) / 600 == pytest.approx((drawn == place).mean(), abs=0.07)


def test_the_same_seed_draws_the_same(known: Any) -> None:
    skill, vectors = known
    asked = (skill, vectors[0], Want('slide', 0.2, 0.3), {'speed': Range(0, 2)})
    assert choose(*asked, explore=0.7, seed=5) == choose(*asked, explore=0.7, seed=5)


@pytest.mark.parametrize('explore', [-0.1, 1.1, math.nan])
def test_explore_is_from_0_to_1(explore: float) -> None:
    with pytest.raises(ValueError, match='explore is from 0 to 1'):
        choose(Skill(), None, Want(), {}, explore=explore)


def test_probabilities_are_those_of_a_normal_result() -> None:
    found = rate(Want('slide', -1, 1), np.array([0.0]), np.array([1.0]))
    assert found[0] == pytest.approx(0.6827, abs=1e-4)


def test_many_ranges_are_sampled_and_stay_inside() -> None:
    among = {name: Range(2, 3) for name in 'abcdef'} | {'tool': ['x', 'y']}
    listed: Any = list_candidates(among, np.random.default_rng(0))
    assert 100 <= len(listed) <= 1600
    assert all(2 <= one[name] <= 3 for one in listed for name in 'abcdef')


def test_a_skill_without_params_is_judged() -> None:
    skill = Skill()
    skill.record(push(None, 1.0, 0.5))
    assert (choose(skill, None, Want('slide', 0, 1), [{}]).probability or 0) > 0.4


def test_out_of_reach_the_nearest_result_is_chosen_and_not_the_least_known(known: Any) -> None:
    skill, vectors = known
    far = Want('slide', 50.0, 50.1)
    found: Any = choose(skill, vectors[1], far, {'speed': [0.2, 0.6, 1.0, 1.4, 1.9]})
    assert found.params == {'speed': 1.9}
    assert found.probability < 0.01
    near: Any = choose(skill, vectors[1], Want('slide', -9.0, -8.9), {'speed': [1.9, 0.3, 1.0]})
    assert near.params == {'speed': 0.3}


def test_gaps_are_measured_from_the_bounds() -> None:
    means = np.array([0.0, 1.5, 4.0])
    assert measure_gaps(Want('slide', 1.0, 2.0), means).tolist() == [1.0, 0.0, 2.0]
    assert measure_gaps(Want('slide', low=3.0), means).tolist() == [3.0, 1.5, 0.0]


def test_the_probability_of_what_is_found_at_once_or_late_is_how_often_it_is() -> None:
    skill, chance = Skill(), np.random.default_rng(4)
    for _ in range(80):
        took = 0.5 + 0.1 * float(chance.random()) if chance.random() < 0.4 else 6.0
        skill.record(Trial(None, {}, {'start': float(chance.random())}, {'time': took}))
        if skill.is_due:
            skill.learn()
    times = skill.trials.get_result('time')
    found = choose(skill, None, Want('time', high=1.0), {'start': [0.5]})
    assert found.probability == pytest.approx(float((times < 1).mean()), abs=0.12)
    late = choose(skill, None, Want('time', low=1.5, high=4.0), {'start': [0.5]})
    assert late.probability is not None and late.probability < 0.15


def test_no_probability_is_above_what_like_trials_allow() -> None:
    skill = Skill()
    for place in range(6):
        skill.record(Trial(None, {}, {'speed': 1 + place / 10}, {'slide': 0.5}, success=True))
    for want in (Want(), Want('slide', 0, 1), Want('slide', aim='most')):
        for speed in (1.2, 1.55, 1.7):
            found: Any = choose(skill, None, want, {'speed': [speed]})
            assert found.probability <= (found.trials + 1) / (found.trials + 2) + 1e-9
    assert limit_belief(np.array([0.5, 0.5, 1.0])) == 0.75


def test_the_nearest_trial_is_that_of_a_like_situation() -> None:
    skill, vectors = Skill(), make_vectors(2)
    for vector, speed in ((vectors[0], 1.0), (vectors[1], 1.5), (vectors[0], 2.0)):
        skill.record(push(vector, speed, 0.5))
    found = choose(skill, vectors[0], Want('slide', 0, 1), [{'speed': 1.4}])
    assert found.nearest == 0
    assert choose(skill, vectors[1], Want('slide', 0, 1), [{'speed': 1.9}]).nearest == 1
    assert choose(skill, None, Want('slide', 0, 1), [{'speed': 1.9}]).nearest == 2


def test_what_made_no_difference_so_far_is_not_sure_to_make_none_far_off() -> None:
    skill, chance = Skill(), np.random.default_rng(1)
    for _ in range(30):
        params: dict[str, float | str] = {'speed': float(chance.uniform(0.5, 1)), 'tool': 'soft'}
        skill.record(Trial(None, {}, params, {'slide': 0.5}, success=True))
        if skill.is_due:
            skill.learn()

    def judge(want: Want, speed: float, tool: str) -> float:
        found = choose(skill, None, want, [{'speed': speed, 'tool': tool}])
        assert found.probability is not None
        return found.probability

    for want in (Want(), Want('slide', 0.4, 0.6), Want('slide', aim='most')):
        assert judge(want, 0.75, 'soft') > 0.9
        assert judge(want, 3.0, 'soft') < 0.55
        assert judge(want, 0.75, 'hard') < 0.75


@pytest.mark.parametrize('names', ['a', 'abcde'])
@pytest.mark.parametrize('want', [Want(), Want('slide', 0.4, 0.6), Want('slide', aim='most')])
def test_of_what_is_as_good_what_most_was_tried_like_it_is_chosen(names: str, want: Want) -> None:
    skill, chance = Skill(), np.random.default_rng(1)
    for _ in range(60):
        params: dict[str, float | str] = {name: float(chance.uniform(1, 10)) for name in names}
        skill.record(Trial(None, {}, params, {'slide': 0.5}, success=True))
    skill.learn()
    found: Any = choose(skill, None, want, list_tried(skill))
    assert all(3 < value < 8 for value in found.params.values())
    corner: Any = choose(skill, None, want, [dict.fromkeys(names, 1.0)])
    assert found.probability > max(corner.probability, 0.85)
    assert found.trials > corner.trials


def test_what_is_surely_better_is_chosen_though_less_was_tried_like_it() -> None:
    skill = Skill()
    for place in range(60):
        speed = 2.0 if place % 4 == 0 else 1.0
        skill.record(Trial(None, {}, {'speed': speed}, {}, success=speed > 1 or place % 2 == 0))
    skill.learn()
    assert choose(skill, None, Want(), {'speed': [1.0, 2.0]}).params == {'speed': 2.0}


def test_where_all_failed_what_failed_most_is_not_chosen() -> None:
    skill = Skill()
    for speed in (1.0, 1.0, 1.0, 1.1, 1.0, 1.0):
        skill.record(Trial(None, {}, {'speed': speed}, {}, success=False))
    assert choose(skill, None, Want(), {'speed': [1.0, 1.5]}).params == {'speed': 1.5}

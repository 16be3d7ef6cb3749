import numpy as np
import pytest
from skill_worlds import make_vectors

from robot_memory.skills.trials import SUCCESS, Trial, Trials, Value


def test_columns_and_results_that_come_later_are_missing_before() -> None:
    trials, vectors = Trials(), make_vectors(2)
    for place in range(40):
        trials.append(Trial(vectors[place % 2], {}, {'speed': 1.0}, {'slide': 0.5}))
    trials.append(Trial(None, {'speed': 2.0}, {'tool': 'a'}, {'time': 3.0}, True, True))
    assert trials.names == ['param speed', 'number speed', 'param tool']
    values = trials.points.values
    assert np.isnan(values[0, 1:]).all() and np.isnan(values[40, 0])
    assert values[40, 1] == 2.0 and trials.categories['param tool'] == {'a': 0}
    assert np.isnan(trials.get_result('slide')[40]) and trials.get_result(SUCCESS)[40] == 1
    assert np.isnan(trials.get_result('never')).all()
    assert trials.points.situations.tolist() == [0, 1] * 20 + [-1]
    assert trials.simulated.sum() == 1 and len(trials.vectors) == 2


def test_spreads_are_those_of_all_that_is_known_of_a_value() -> None:
    trials, chance = Trials(), np.random.default_rng(0)
    turns = 1000 + chance.standard_normal(50)
    for place, turn in enumerate(turns):
        more = {'speed': float(turn)} if place % 3 else {}
        trials.append(
            Trial(None, {'even': 2.0}, {**more, 'tool': 'ab'[place % 2]}, {'slide': 1.0})
        )
    assert trials.names == ['number even', 'param tool', 'param speed']
    spreads, centers = trials.find_spreads()
    known = np.delete(turns, np.arange(0, 50, 3))
    assert spreads[[0, 2]].tolist() == pytest.approx([1.0, known.std()])
    assert centers.tolist() == pytest.approx([2.0, 0.0, known.mean()])
    assert np.isnan(spreads[1])


def test_only_a_param_that_never_varied_has_a_spread_by_its_value() -> None:
    trials = Trials()
    for _ in range(3):
        trials.append(Trial(None, {'load': 2.0}, {'depth': 0.01, 'turns': 40.0}, {}))
    assert trials.names == ['number load', 'param depth', 'param turns']
    assert trials.find_spreads()[0].tolist() == pytest.approx([1.0, 0.0025, 1.0])


def test_a_column_of_values_is_encoded_as_each_of_them_is() -> None:
    trials = Trials()
    trials.append(Trial(None, {}, {'speed': 1.0, 'tool': 'a'}, {}))
    for name in trials.names:
        values: list[Value | None] = [None, 0.5, 2, '7', 'a', 'new']
        for some in (values[:3], values):
            expected = [trials.encode(name, one) for one in some]
            assert np.array_equal(trials.encode_column(name, some), expected, equal_nan=True)

import numpy as np
from skill_worlds import make_vectors

from robot_memory.skills.trials import SUCCESS, Trial, Trials


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

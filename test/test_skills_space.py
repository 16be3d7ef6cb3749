import numpy as np
import pytest

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

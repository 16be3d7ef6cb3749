import numpy as np
from skill_worlds import make_vectors, practise

from robot_memory.skills.model import Skill

GAINS = np.array([0.3, 0.8, 0.5, 0.4])
SWAPPED = np.array([0.8, 0.3, 0.5, 0.4])


def test_a_change_is_noticed() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 80)
    assert not skill.changes
    practise(skill, vectors, SWAPPED, 30, seed=1)
    assert 80 <= skill.changes[0].begin < 95


def test_where_nothing_changes_there_is_no_alarm_in_1000_trials() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 1000)
    assert not skill.changes

import json

import numpy as np
from amounts import few_or_many
from skill_worlds import make_vectors, practise, push

from robot_memory.skills.model import Skill

GAINS = np.array([0.3, 0.8, 0.5, 0.4])
SWAPPED = np.array([0.8, 0.3, 0.5, 0.4])


def test_a_change_is_noticed() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 80)
    assert not skill.changes
    practise(skill, vectors, SWAPPED, 30, seed=1)
    assert 80 <= skill.changes[0].begin < 95


def test_where_nothing_changes_there_is_no_alarm() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, few_or_many(300, 1000))
    assert not skill.changes


def test_it_is_undone_where_the_world_changes_back() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 80)
    practise(skill, vectors, SWAPPED, 60, seed=1)
    (change,) = skill.changes
    swapped = [skill.trials.add_situation(vector) for vector in vectors[:2]]
    changed = np.isin(skill.trials.points.situations[:80], swapped)
    outdated = skill.history.outdated[:80]
    assert outdated[changed].min() > 0.9
    assert outdated[~changed].max() < 0.2
    practise(skill, vectors, GAINS, 40, seed=2)
    outdated = skill.history.outdated
    assert outdated[:80].max() < 0.2, 'what was known before holds again'
    between = np.isin(skill.trials.points.situations[80:140], swapped)
    assert outdated[80:140][between][10:].mean() > 0.8, 'and what was learned since does not'
    (change,) = skill.changes
    assert change.back is not None and 140 <= change.back < 170


def test_a_change_of_one_of_many_situations_is_noticed_within_its_15_trials() -> None:
    noticed, lives = 0, few_or_many(1, 2)
    for seed in range(lives):
        skill, vectors = Skill(), make_vectors(8, seed)
        gains = np.linspace(0.3, 0.9, 8)
        practise(skill, vectors, gains, 160, seed)
        assert not skill.changes
        practise(skill, vectors, np.where(np.arange(8) == 3, 0.25, gains), 200, seed + 100)
        row = skill.trials.add_situation(vectors[3])
        met = np.flatnonzero(skill.trials.points.situations[160:] == row)
        noticed += any(160 <= one.begin <= 160 + met[14] for one in skill.changes)
        assert len(skill.changes) <= 1
    assert noticed == lives


def test_a_suspicion_is_taken_up_where_the_state_was_kept() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 80)
    chance = np.random.default_rng(5)
    made = []
    for place in range(12):
        row, speed = place % 4, float(chance.uniform(0.2, 2))
        made.append(push(vectors[row], speed, SWAPPED[row] * speed))
    for trial in made[:2]:
        assert skill.record(trial).change is None
    plain = json.loads(json.dumps(skill.get_state()))
    values = skill.trials.points
    kept = [
        push(skill.trials.vectors[row], float(speed), float(slide))
        for row, (speed,), slide in zip(
            values.situations, values.values, skill.trials.get_result('slide'), strict=True
        )
    ]
    other = Skill.restore(kept, skill.surprises.rows.tolist(), plain)
    told = [[one.record(trial).change for trial in made[2:]] for one in (skill, other)]
    assert any(told[0])
    assert told[0] == told[1]


def test_a_state_of_an_earlier_release_has_no_weights() -> None:
    skill, vectors = Skill(), make_vectors(4)
    practise(skill, vectors, GAINS, 40)
    state = skill.get_state()
    del state['history']['weights']
    trials = [push(vectors[0], 1.0, 0.3)] * 40
    other = Skill.restore(trials, skill.surprises.rows.tolist(), state)
    assert not other.changes

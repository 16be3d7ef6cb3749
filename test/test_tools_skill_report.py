"""How well a skill goes, by situation, and told in a context whose task names it."""

from __future__ import annotations

import random

import pytest
from robots import Robot

from robot_memory.core.errors import NotFound
from robot_memory.core.proportions import compute_wilson

OILED, WOOD = 'brass disc on the oiled tray', 'plastic disc on wood'


def fill(robot: Robot, situation: str, outcomes: str, world: str = '') -> None:
    """Strike as often as there are letters; s succeeds."""
    for number, outcome in enumerate(outcomes):
        robot.record_outcome(
            'strike',
            situation,
            params={'speed': f'{1 + (outcome == "s") + number / 1000} m/s'},
            results={'slide': f'{0.2 + 0.2 * (outcome == "s")} m'},
            success='true' if outcome == 's' else 'false',
            world=world,
        )


def test_success_is_reported_by_situation_with_its_interval(robot: Robot) -> None:
    fill(robot, OILED, 'fsfsfsfs')
    fill(robot, WOOD, 'sss')
    fill(robot, WOOD, 'ffff', world='sim')
    found = robot.skill_report('strike')
    assert (found.whole.trials, found.whole.tries, found.whole.successes) == (15, 11, 7)
    assert (found.whole.simulated_tries, found.whole.simulated_successes) == (4, 0)
    oiled, wood = found.situations
    assert (oiled.situation, oiled.tries, oiled.successes) == (OILED, 8, 4)
    assert (oiled.success_low, oiled.success_high) == tuple(
        round(end, 4) for end in compute_wilson(4, 8)
    )
    assert (wood.situation, wood.tries, wood.simulated_tries) == (WOOD, 3, 4)
    assert oiled.best['speed']['value'] > 1.9
    assert robot.show(oiled.best_id or 0).memory.task == {'success': True}


def test_the_wilson_interval_is_that_of_the_book() -> None:
    low, high = compute_wilson(8, 10)
    assert (round(low, 3), round(high, 3)) == (0.490, 0.943)
    assert compute_wilson(0, 0) == (0.0, 1.0)


@pytest.mark.parametrize(
    ('outcomes', 'trend'),
    [
        ('f' * 15 + 's' * 15, 'rising'),
        ('s' * 15 + 'f' * 15, 'falling'),
        ('sf' * 15, 'steady'),
        ('sfs', 'unknown'),
    ],
)
def test_a_trend_is_told_where_it_is_no_chance(robot: Robot, outcomes: str, trend: str) -> None:
    fill(robot, OILED, outcomes)
    assert robot.skill_report('strike').whole.trend == trend


def test_a_skill_that_was_never_tried_is_refused_by_those_that_were(robot: Robot) -> None:
    fill(robot, OILED, 's')
    with pytest.raises(NotFound, match=r"'pour'.*skills: strike"):
        robot.skill_report('pour')


def test_a_context_tells_of_the_skill_that_its_task_names(robot: Robot) -> None:
    fill(robot, OILED, 'fsfsfsfs')
    told = robot.get_context('strike the disc into the box').context
    assert 'Skill strike: 8 trials; 4 of 8 succeeded' in told
    assert f'best for "{OILED}": speed' in told
    assert 'Skill strike' not in robot.get_context('pour the tea').context


def test_a_change_of_the_world_is_an_event_and_is_told(robot: Robot) -> None:
    changed, chance = [], random.Random(1)
    for number in range(60):
        speed = 0.5 + number % 10 / 10
        far = speed / 2 + chance.gauss(0, 0.02) + (0.15 if number >= 40 else 0)
        told = robot.record_outcome(
            'strike',
            OILED,
            params={'speed': f'{speed} m/s'},
            results={'slide': f'{far} m'},
        )
        if number == 39:
            for copy in robot.memory.skills._copies.values():
                with copy.lock:
                    copy.skill.learn()
        if told.changed:
            changed.append((number, told.change_id))
    assert changed
    first, memory_id = changed[0]
    assert 40 <= first < 55
    (event,) = robot.query_events(where={'kind': 'change', 'memory_id': memory_id}).events
    assert event.label == 'strike'
    changes = robot.skill_report('strike').changes
    assert changes[0].situation == OILED
    assert f'changed since mem_{changes[-1].since}' in robot.get_context('strike a disc').context


def test_what_was_learned_is_kept_for_the_next_process(robot: Robot) -> None:
    test_a_change_of_the_world_is_an_event_and_is_told(robot)
    before = robot.skill_report('strike').changes
    robot.memory.skills.drop('default', 'strike')
    assert robot.skill_report('strike').changes == before

"""Trials of skills are stored as events, once each, and refused where they do not fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot, check_file

from robot_memory.background.skills import SkillKey
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.storage.tables import trials

OILED, WOOD = 'brass disc on the oiled tray', 'plastic disc on wood'


def strike(arm: Robot, speed: Any = '1.2 m/s', slide: Any = '0.41 m', **more: Any) -> Any:
    given = {'situation': OILED, 'params': {'speed': speed}, 'results': {'slide': slide}}
    return arm.record_outcome('strike', **{'success': 'true', **given, **more})


def test_a_trial_is_an_event_with_its_figures(robot: Robot) -> None:
    told = strike(robot, numbers={'distance': '40 cm'}, robot='arm_1')
    (event,) = robot.query_events(where={'kind': 'trial'}).events
    assert event.memory_id == told.memory_id
    assert (event.label, event.robot) == ('strike', 'arm_1')
    found = {figure.name: (figure.value, figure.unit) for figure in event.figures}
    assert found == {
        'distance': (40, 'cm'),
        'speed': (1.2, 'm/s'),
        'slide': (0.41, 'm'),
        'success': (1, ''),
    }
    memory = robot.show(told.memory_id).memory
    assert memory.content == (
        'strike: brass disc on the oiled tray; distance 40 cm; speed 1.2 m/s; slide 0.41 m; '
        'succeeded'
    )
    assert memory.authority == 'planner'


def test_the_same_trial_twice_is_two_trials(robot: Robot) -> None:
    first, second = strike(robot), strike(robot)
    assert first.memory_id != second.memory_id
    assert (first.trials, second.trials) == (1, 2)


def test_a_key_answers_as_the_first_call_did_and_refuses_another_body(robot: Robot) -> None:
    for number in range(8):
        strike(robot, f'{1 + number / 10} m/s', f'{0.3 + number / 100} m')
    first = strike(robot, '1.2 m/s', '0.5 m', key='a')
    strike(robot)
    again = strike(robot, '120 cm/s', '50 cm', key='a')
    assert again.repeated and not first.repeated
    assert (again.memory_id, again.trials, again.surprise) == (
        first.memory_id,
        first.trials,
        first.surprise,
    )
    with pytest.raises(Conflict, match=f"'a' is that of another trial, memory {first.memory_id}"):
        strike(robot, '1.3 m/s', '0.5 m', key='a')
    assert strike(robot, '1.3 m/s', key='a', collection='other').trials == 1


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ({'skill': ' '}, ['skill']),
        ({'params': {'speed': '3 N'}}, ['params.speed', 'N', 'm/s', 'strike']),
        ({'params': {'speed': 3}}, ['params.speed is 3 without a unit', 'm/s', '"3 m/s"']),
        ({'params': {'speed': 'fast'}}, ['params.speed', "'fast'", 'm/s']),
        ({'params': {'speed': '3 furlongs'}}, ['params.speed', "'furlongs'"]),
        ({'params': {'speed': 'nan m/s'}}, ['params.speed', 'nan m/s']),
        ({'params': {'speed': float('nan')}}, ['params', 'NaN', 'finite']),
        ({'params': {'speed': [1]}}, ['params.speed', '[1]']),
        ({'results': {'slide': 'far'}}, ['results.slide', "'far'"]),
        ({'params': {'gripper': 5}}, ['params.gripper', 'name', '5']),
        ({'numbers': {'speed': '1 m/s'}, 'params': {'speed': '1 m/s'}}, ['speed', 'numbers']),
        ({'results': {}, 'success': 'unknown'}, ['success', 'results']),
    ],
)
def test_what_does_not_fit_is_refused_by_what_is_known(
    robot: Robot, given: dict[str, Any], words: list[str]
) -> None:
    strike(robot, params={'speed': '1 m/s', 'gripper': 'soft'})
    skill = given.pop('skill', 'strike')
    with pytest.raises(InvalidArgument) as refused:
        robot.record_outcome(skill, **{'success': 'true', **given})
    for word in words:
        assert word in str(refused.value)
    assert strike(robot).trials == 2


def test_a_figure_without_a_unit_that_blocks_later_trials_is_named_with_its_cure(
    robot: Robot,
) -> None:
    first = strike(robot, params={'speed': 1}).memory_id
    with pytest.raises(InvalidArgument) as refused:
        strike(robot, params={'speed': '1.2 m/s'})
    assert str(refused.value) == (
        f'params.speed is 1.2 m/s, but a figure without a unit in trial mem_{first} of strike: '
        'forget it and report it again with its unit, or pass a figure alone, e.g. 1.2'
    )
    robot.forget(first, 'the unit is missing')
    strike(robot, params={'speed': '1 m/s'})
    assert strike(robot, params={'speed': '120 cm/s'}).trials == 2


def test_of_many_trials_of_another_unit_the_newest_are_named(robot: Robot) -> None:
    ids = [strike(robot).memory_id for _ in range(5)]
    named = ', '.join(f'mem_{one}' for one in ids[:1:-1])
    with pytest.raises(InvalidArgument, match=f'in trials {named} and 2 more of strike: pass a '):
        strike(robot, params={'speed': 3})
    with pytest.raises(InvalidArgument, match='if those are wrong, forget them and report them'):
        strike(robot, params={'speed': 'fast'})


def test_a_memory_or_session_that_is_not_there_is_refused(robot: Robot) -> None:
    with pytest.raises(NotFound, match='99'):
        strike(robot, memory_ids=[99])
    with pytest.raises(NotFound, match='nowhere'):
        strike(robot, session_id='nowhere')
    assert strike(robot).trials == 1


def test_used_memories_are_counted_and_neither_confidence_nor_order_changes(robot: Robot) -> None:
    fact = require(robot.learn('Strike brass discs gently').memory_id)
    before = robot.row(fact)
    strike(robot, memory_ids=[fact])
    strike(robot, memory_ids=[fact], success='false')
    strike(robot, memory_ids=[fact], success='false')
    strike(robot, memory_ids=[fact], success='unknown')
    shown = robot.show(fact).memory
    assert (shown.helped, shown.hurt) == (1, 2)
    after = robot.row(fact)
    assert after['confidence'] == before['confidence']
    assert after['access_count'] == before['access_count']


def test_a_trial_takes_over_what_its_session_says(robot: Robot) -> None:
    context = {'robot': {'id': 'arm_2'}, 'env': {'sim_or_real': 'sim'}, 'task': {'name': 'puck'}}
    session = robot.start_session(context=context).session_id
    told = strike(robot, session_id=session)
    memory = robot.show(told.memory_id).memory
    assert memory.task == {'name': 'puck', 'success': True}
    assert memory.robot['id'] == 'arm_2'
    assert memory.content.endswith('simulated; succeeded')
    (row,) = robot.rows('SELECT robot, simulated FROM trials')
    assert row == ('arm_2', 1)


def test_the_copy_in_memory_has_the_rows_that_are_stored(robot: Robot) -> None:
    context = {'robot': {'id': 'arm_2'}, 'env': {'sim_or_real': 'sim'}, 'task': {'success': True}}
    session = robot.start_session(context=context).session_id
    for speed in ('1.2 m/s', '73.1 cm/s', '0.6666666666666666 m/s', '1.1 m/s'):
        strike(robot, speed, numbers={'distance': '40 cm'})
    strike(robot, slide='41.7 cm', success='unknown', session_id=session)
    key = SkillKey('default', 'strike')
    with robot.memory.db.read() as connection:
        copy = robot.memory.skills.open(connection, key)
        assert copy.rows == trials.read(connection, *key[:2])
    assert copy.rows[-1][5:8] == (True, True, 'arm_2')


def test_rows_follow_their_memories(robot: Robot) -> None:
    told = strike(robot)
    strike(robot, situation=WOOD)
    robot.forget(told.memory_id, 'a slip of the pen')
    assert strike(robot).trials == 2
    robot.undo(told.memory_id)
    assert strike(robot).trials == 4
    check_file(robot.memory.db.path)


def test_lost_and_stale_rows_are_made_anew_by_maintain(robot: Robot) -> None:
    strike(robot, memory_ids=[strike(robot).memory_id])
    strike(robot, situation=WOOD, key='k')
    query = 'SELECT memory_id, skill, figures, success, key, body FROM trials ORDER BY 1'
    before, uses = robot.rows(query), robot.rows('SELECT * FROM trial_uses')
    with robot.memory.db.write() as connection:
        connection.execute('DELETE FROM trials WHERE memory_id = 1; DELETE FROM trial_uses')
        connection.execute('UPDATE trials SET version = 0')
    (step,) = [step for step in robot.maintain().steps if step.name == 'trials']
    assert step.done
    assert robot.rows(query) == before
    assert robot.rows('SELECT * FROM trial_uses') == uses


def test_a_situation_goes_with_its_last_trial(robot: Robot) -> None:
    told = strike(robot)
    with robot.memory.db.write() as connection:
        trials.remove(connection, told.memory_id)
    assert robot.rows('SELECT * FROM situations') == []
    assert robot.rows('SELECT * FROM situation_vectors') == []


def test_a_situation_has_one_vector(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, Any]
) -> None:
    modelled = open_robot(embedder=tiny_embedders[8])
    modelled.embed_all()
    for situation in (OILED, WOOD, OILED):
        strike(modelled, situation=situation)
    assert modelled.rows('SELECT count(*) FROM situation_vectors') == [(2,)]


def test_a_surprise_is_told_in_deviations(robot: Robot, clock: MovableClock) -> None:
    assert strike(robot).surprise is None
    for number in range(20):
        strike(robot, f'{1 + number % 5 / 10} m/s', f'{0.3 + number % 5 / 20} m')
    assert abs(strike(robot, '1.2 m/s', '0.4 m').surprise) < 1
    assert strike(robot, '1.2 m/s', '4 m').surprise > 3

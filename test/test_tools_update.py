"""Updating makes anew what follows from the text, with a trail."""

from __future__ import annotations

from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.errors import Conflict, InvalidArgument, NotFound


def test_the_unknown_is_not_found_and_the_forgotten_a_conflict(robot: Robot) -> None:
    kept = robot.learn('the red cup').memory_id
    robot.forget(require(kept), 'wrong')
    for unknown in (require(kept) + 1, 2**62):
        with pytest.raises(NotFound, match=str(unknown)):
            robot.forget(unknown, 'wrong')
        with pytest.raises(NotFound):
            robot.update(unknown, 'the blue cup')
    with pytest.raises(Conflict, match='forgotten'):
        robot.forget(require(kept), 'wrong again')
    with pytest.raises(Conflict):
        robot.update(require(kept), 'the blue cup')
    assert len(robot.rows('SELECT 1 FROM audit')) == 2
    wrong: Any
    for wrong in (0, -1, 1.5, 'one', True, 2**64):
        with pytest.raises(InvalidArgument, match='memory_id'):
            robot.forget(wrong, 'wrong')


def test_an_update_says_what_was_and_what_is_and_keeps_the_context(robot: Robot) -> None:
    kept = robot.learn('the red cup is heavy', context={'robot': {'type': 'UR5e'}}).memory_id
    answer = robot.update(require(kept), 'Must never exceed 15N on the glass bowl')
    assert (answer.status, answer.old_content) == ('updated', 'the red cup is heavy')
    assert answer.new_content == 'Must never exceed 15N on the glass bowl'
    (found,) = robot.recall('bowl').memories
    assert found.robot == {'type': 'UR5e'}


def test_an_update_infers_category_and_tags_anew(robot: Robot) -> None:
    kept = robot.learn('the red cup is heavy').memory_id
    answer = robot.update(require(kept), 'Must never exceed 15N on the glass bowl')
    assert answer.auto_inferred.category == 'constraint'
    (found,) = robot.recall('bowl').memories
    assert (found.category, found.tags) == ('constraint', answer.auto_inferred.tags)


def test_an_update_makes_words_and_vector_anew(thinking_robot: Robot) -> None:
    robot = thinking_robot
    kept = robot.learn('the red cup is heavy').memory_id
    before = robot.rows('SELECT coarse, fine FROM indexed WHERE memory_id = ?', kept)
    robot.update(require(kept), 'Must never exceed 15N on the glass bowl')
    after = robot.rows('SELECT coarse, fine FROM indexed WHERE memory_id = ?', kept)
    assert len(after) == 1
    assert before != after
    assert robot.recall('red cup', n=1).mode == 'vec_only'


@pytest.mark.parametrize('empty', ['', '{}', {}, None])
def test_an_update_with_an_empty_context_keeps_the_stored_one(robot: Robot, empty: Any) -> None:
    kept = robot.learn('the red cup', context={'params': {'force': 3}}).memory_id
    robot.update(require(kept), 'the blue cup', context=empty)
    (found,) = robot.recall('cup').memories
    assert (found.content, found.params) == ('the blue cup', {'force': 3})


def test_an_update_with_a_context_replaces_it_and_inherits_from_the_session(
    robot: Robot,
) -> None:
    session = robot.start_session(context={'robot': {'type': 'UR5e'}}).session_id
    kept = robot.learn('the red cup', context={'a': 1}, session_id=session).memory_id
    robot.update(require(kept), 'the blue cup', context={'b': 2})
    (record,) = robot.query_records().records
    assert record.context == {'robot': {'type': 'UR5e'}, 'b': 2}
    assert require(record.audit)[0]['detail'] == {
        'old_content': 'the red cup',
        'old_context': {'robot': {'type': 'UR5e'}, 'a': 1},
    }


def test_a_memory_fades_anew_from_its_update(robot: Robot, clock: MovableClock) -> None:
    kept = robot.learn('the red cup').memory_id
    clock.forward(days=50)
    answer = robot.update(require(kept), 'the blue cup')
    robot.end_session(robot.start_session().session_id)
    assert robot.row(require(kept))['confidence'] == answer.auto_inferred.confidence


def test_a_long_update_is_cut_and_an_empty_one_refused(robot: Robot) -> None:
    kept = robot.learn('the red cup').memory_id
    with pytest.raises(InvalidArgument, match='new_content'):
        robot.update(require(kept), '  ')
    answer = robot.update(require(kept), 'word ' * 80)
    assert answer.truncated is True
    assert len(answer.new_content) <= 300
    assert answer.truncated_characters == 399 - len(answer.new_content)
    assert answer.truncated_after == answer.new_content[-39:]


def test_a_superseded_memory_names_the_one_that_took_its_place(robot: Robot) -> None:
    session = robot.start_session().session_id
    for text in (
        'the red cup on the left shelf is wet',
        'the red cup on the left shelf slips',
        'the red cup on the left shelf falls at night',
    ):
        robot.learn(text, session_id=session)
    robot.end_session(session)
    (old, *_) = robot.query_records(where={'status': 'superseded'}).records
    for call in (
        lambda: robot.forget(old.memory_id, 'x'),
        lambda: robot.update(old.memory_id, 'y'),
    ):
        with pytest.raises(Conflict, match=f'superseded by memory {old.superseded_by}'):
            call()


def test_a_description_is_a_preview_and_its_token_updates_exactly_that(robot: Robot) -> None:
    kept = require(robot.learn('the red cup is on the shelf').memory_id)
    found = robot.update(0, 'the red cup is in the sink', description='red cup')
    assert (found.status, found.memory_id) == ('preview', kept)
    assert robot.row(kept)['content'] == 'the red cup is on the shelf'
    with pytest.raises(Conflict, match='with the arguments of its preview'):
        robot.update(0, 'the red cup is gone', token=require(found.token))
    done = robot.update(0, 'the red cup is in the sink', token=require(found.token))
    assert (done.status, done.memory_id) == ('updated', kept)
    assert robot.row(kept)['content'] == 'the red cup is in the sink'

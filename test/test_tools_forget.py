"""Forgetting is soft, with a trail, and never twice."""

from __future__ import annotations

import getpass
from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.memory import caller


def test_forgetting_leaves_the_row_and_says_who_when_and_why(
    robot: Robot, clock: MovableClock
) -> None:
    kept = robot.learn('the red cup').memory_id
    clock.forward(seconds=2.5)
    token = caller.set(Writer('mcp-http', 'inspector 1.0'))
    try:
        answer = robot.forget(require(kept), ' sensor was not calibrated ')
    finally:
        caller.reset(token)
    assert (answer.status, answer.memory_id, answer.content, answer.reason) == (
        'forgotten',
        kept,
        'the red cup',
        'sensor was not calibrated',
    )
    assert robot.row(require(kept))['status'] == 'invalidated'
    assert robot.row(require(kept))['content'] == 'the red cup'
    (record,) = robot.query_records(where={'status': 'invalidated'}).records
    assert record.audit == [
        {
            'action': 'invalidated',
            'actor': 'mcp:inspector 1.0',
            'reason': 'sensor was not calibrated',
            'detail': {},
            'at': '2026-02-25T06:13:22.500000Z',
        }
    ]


def test_who_calls_from_python_is_the_user(robot: Robot) -> None:
    robot.forget(require(robot.learn('the red cup').memory_id), 'wrong')
    assert robot.rows('SELECT DISTINCT actor FROM audit') == [(f'python:{getpass.getuser()}',)]


@pytest.mark.parametrize('reason', ['', ' ', None])
def test_a_reason_is_required(robot: Robot, reason: Any) -> None:
    kept = robot.learn('the red cup').memory_id
    with pytest.raises(InvalidArgument, match='reason'):
        robot.forget(require(kept), reason)
    assert robot.row(require(kept))['status'] == 'active'


def test_a_description_is_a_preview_and_its_token_forgets_exactly_that(robot: Robot) -> None:
    kept = require(robot.learn('the red cup is on the shelf').memory_id)
    other = require(robot.learn('the red door is closed').memory_id)
    found = robot.forget(0, 'wrong', description='red cup')
    assert (found.status, found.memory_id, found.content) == (
        'preview',
        kept,
        'the red cup is on the shelf',
    )
    assert [one.memory_id for one in require(found.others)] == [other]
    assert robot.row(kept)['status'] == 'active'
    with pytest.raises(Conflict, match='with the arguments of its preview'):
        robot.forget(0, 'another reason', token=require(found.token))
    done = robot.forget(0, 'wrong', token=require(found.token))
    assert (done.status, done.memory_id) == ('forgotten', kept)
    with pytest.raises(Conflict, match='not known'):
        robot.forget(0, 'wrong', token=require(found.token))


def test_a_memory_that_changed_since_its_preview_is_not_forgotten(robot: Robot) -> None:
    kept = require(robot.learn('the red cup is on the shelf').memory_id)
    found = robot.forget(0, 'wrong', description='red cup')
    robot.update(kept, 'the red cup is on the table')
    with pytest.raises(Conflict, match='changed since the preview'):
        robot.forget(0, 'wrong', token=require(found.token))
    assert robot.row(kept)['status'] == 'active'
    with pytest.raises(InvalidArgument, match='memory_id must be at least 1, not 0'):
        robot.forget(0, 'wrong')
    with pytest.raises(NotFound, match='is like description'):
        robot.forget(0, 'wrong', description='zwetschge')

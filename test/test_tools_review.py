"""An operator decides what others asked to change, and confirms what others changed."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from authorities import OPERATOR, PLANNER, calling
from narrowing import require
from robots import Robot

from robot_memory.core.errors import Conflict, InvalidArgument, NotFound

RULE = 'Never exceed 15 N of grip force on glass'
CHANGED = 'Changed rules, not confirmed by an operator (the old text is quoted):'


@pytest.fixture
def rule(robot: Robot) -> int:
    """A rule of an operator, of which a planner proposed an update."""
    with calling(OPERATOR):
        memory_id = require(robot.learn(RULE).memory_id)
    with calling(PLANNER), pytest.raises(Conflict):
        robot.update(memory_id, 'Never exceed 20 N of grip force on glass')
    return memory_id


def test_a_proposal_is_listed_with_who_asked_and_the_present_text(robot: Robot, rule: int) -> None:
    with calling(OPERATOR):
        (listed,) = robot.review().proposals
    assert (listed.memory_id, listed.action, listed.content) == (rule, 'update', RULE)
    assert listed.new_content == 'Never exceed 20 N of grip force on glass'
    assert (listed.authority, listed.proposed_by) == ('operator', 'planner')


def test_an_accepted_proposal_is_carried_out_by_the_operator(robot: Robot, rule: int) -> None:
    with calling(OPERATOR):
        answer = robot.review(accept=1)
        assert (answer.decided, answer.proposals, answer.changes) == ('accepted', (), ())
        with pytest.raises(Conflict, match='already accepted'):
            robot.review(accept=1)
    row = robot.row(rule)
    assert row['content'] == 'Never exceed 20 N of grip force on glass'
    assert row['authority'] == 'operator'


def test_a_proposal_with_a_text_of_a_topic_is_carried_out_too(robot: Robot) -> None:
    with calling(OPERATOR):
        memory_id = require(robot.learn(RULE).memory_id)
    with calling(PLANNER), pytest.raises(Conflict):
        robot.update(memory_id, 'The sign says 20 N', {'sense': {'topic': '/sign'}})
    with calling(OPERATOR):
        assert robot.review(accept=1).proposals == ()
    assert robot.row(memory_id)['content'] == 'The sign says 20 N'


def test_a_proposal_of_a_forgotten_memory_stays_open(robot: Robot, rule: int) -> None:
    with calling(OPERATOR):
        robot.forget(rule, 'obsolete')
        with pytest.raises(Conflict):
            robot.review(accept=1)
        assert [one.proposal_id for one in robot.review().proposals] == [1]


def test_a_rejected_proposal_changes_nothing(robot: Robot, rule: int) -> None:
    before = robot.row(rule)
    with calling(OPERATOR):
        assert robot.review(reject=1).decided == 'rejected'
        with pytest.raises(Conflict, match='already rejected'):
            robot.review(accept=1)
    assert robot.row(rule) == before


def test_bad_input_is_refused_in_words(robot: Robot, rule: int) -> None:
    with calling(OPERATOR):
        with pytest.raises(NotFound, match='no proposal 7'):
            robot.review(accept=7)
        with pytest.raises(Conflict, match='no change that waits'):
            robot.review(confirm=rule)
        with pytest.raises(NotFound, match='no memory 99'):
            robot.review(confirm=99)
        with pytest.raises(InvalidArgument, match='only one of accept'):
            robot.review(accept=1, reject=1)
    with calling(PLANNER), pytest.raises(Conflict, match='requires the role operator'):
        robot.review()


@pytest.mark.parametrize('action', ['update', 'forget'])
def test_a_rule_that_a_planner_changed_is_told_until_an_operator_confirms_it(
    robot: Robot, action: str
) -> None:
    memory_id = require(robot.learn(RULE).memory_id)
    if action == 'update':
        robot.update(memory_id, 'Never exceed 50 N of grip force on glass')
    else:
        robot.forget(memory_id, 'in the way')
    verb = {'update': 'changed', 'forget': 'forgotten'}[action]
    done = {'update': 'update', 'forget': 'invalidated'}[action]
    for query in ('grip glass', 'where is the dock'):
        lines = robot.get_context(query).context.splitlines()
        told = lines[lines.index(CHANGED) + 1]
        assert told == f'- [mem_{memory_id}, {verb} 2026-02-25 by planner] "{RULE}"'
    with calling(OPERATOR):
        (change,) = robot.review().changes
        assert (change.action, change.old_content) == (done, RULE)
        assert robot.review(confirm=memory_id).changes == ()
    assert CHANGED not in robot.get_context('grip glass').context


def test_what_an_operator_changes_needs_no_confirmation(robot: Robot) -> None:
    with calling(OPERATOR):
        memory_id = require(robot.learn(RULE).memory_id)
        robot.update(memory_id, 'Never exceed 50 N of grip force on glass')
        robot.forget(memory_id, 'the glasses are gone')
        assert robot.review().changes == ()


def test_memories_from_before_are_told_as_unconfirmed_until_an_operator_confirms_them(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(python_role='operator')
    memory_id = require(robot.learn(RULE).memory_id)
    with robot.memory.db.write() as connection:  # as the upgrade of an older store leaves it
        connection.execute(
            "UPDATE memories SET stands = 1, authority = 'planner', writer_id = NULL"
        )
    assert 'planner, not confirmed] Never exceed' in robot.get_context('grip glass').context
    (listed,) = robot.trust('review').memories
    assert (listed.memory_id, listed.content) == (memory_id, RULE)
    answer = robot.trust('review', confirm=f'[mem_{memory_id}]', authority='operator')
    assert (answer.confirmed, answer.total) == (1, 0)
    assert '2026-02-25, operator] Never exceed' in robot.get_context('grip glass').context
    with pytest.raises(Conflict, match='already has an authority'):
        robot.trust('review', confirm=str(memory_id))
    with pytest.raises(InvalidArgument, match='a memory id or all'):
        robot.trust('review', confirm='some')

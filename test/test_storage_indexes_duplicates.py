"""What counts as known: whatever came of it, and whoever says it."""

from __future__ import annotations

from typing import Any

import pytest
from narrowing import require
from robots import Robot

TEXT = 'grasp the red cup from the left side'
REWORDED = 'grasp the red cup slowly from the left side'
PARAPHRASE = 'from the left side grasp that red cup'


def task(success: Any) -> dict[str, Any]:
    return {'task': {'success': success}}


@pytest.mark.parametrize('text', [TEXT, REWORDED, PARAPHRASE])
def test_the_failure_of_a_strategy_is_an_observation_of_it(
    thinking_robot: Robot, text: str
) -> None:
    robot = thinking_robot
    first = robot.learn(TEXT, context=task(True)).memory_id
    assert robot.learn(text, context=task(False)).existing_id == first
    (found,) = robot.recall(context_filter={'task.success': False}).memories
    seen = require(found.observed)
    assert (found.id, found.task, seen.tries, seen.successes) == (
        first,
        {'success': False},
        2,
        1,
    )


@pytest.mark.parametrize(('one', 'other'), [(False, None), (None, True)])
def test_an_outcome_parts_no_texts(robot: Robot, one: Any, other: Any) -> None:
    known = robot.learn(TEXT, context=task(one)).memory_id
    assert robot.learn(TEXT, context=task(other)).existing_id == known
    seen = require(robot.show(require(known)).memory.observed)
    assert (seen.count, seen.tries) == (2, 1)


def test_an_outcome_of_the_session_counts_as_one_of_its_memories(robot: Robot) -> None:
    for success in (True, False):
        session = robot.start_session(context=task(success)).session_id
        robot.learn(TEXT, session_id=session)
    seen = require(robot.show(1).memory.observed)
    assert (seen.tries, seen.successes) == (2, 1)


ANNA, BOB = 'operator:anna', 'operator:bob'


def test_what_holds_of_the_world_is_known_whoever_says_it(robot: Robot) -> None:
    context = {'actor_id': ANNA}
    kept = robot.learn('The dock stands in the hall', context=context)
    twin = robot.learn('The dock stands in the hall', context={'actor_id': BOB})
    assert (twin.status, twin.existing_id) == ('duplicate', kept.memory_id)

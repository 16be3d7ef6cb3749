"""What counts as known: not what came out differently."""

from __future__ import annotations

from typing import Any

import pytest
from robots import Robot

TEXT = 'grasp the red cup from the left side'
REWORDED = 'grasp the red cup slowly from the left side'
PARAPHRASE = 'from the left side grasp that red cup'


def task(success: Any) -> dict[str, Any]:
    return {'task': {'success': success}}


@pytest.mark.parametrize('text', [TEXT, REWORDED, PARAPHRASE])
def test_the_failure_of_a_strategy_is_no_duplicate_of_its_success(
    thinking_robot: Robot, text: str
) -> None:
    robot = thinking_robot
    first = robot.learn(TEXT, context=task(True)).memory_id
    assert robot.learn(text, context=task(True)).existing_id == first
    failure = robot.learn(text, context=task(False))
    assert failure.status == 'created'
    assert robot.learn(text, context=task(False)).existing_id == failure.memory_id
    by_filter = robot.recall(context_filter={'task.success': False}).memories
    assert [found.id for found in by_filter] == [failure.memory_id]
    by_words = robot.recall('red cup from the left').memories
    assert {first, failure.memory_id} == {found.id for found in by_words}


def test_a_text_whose_outcome_is_not_known_is_a_duplicate_of_one_whose_outcome_is(
    robot: Robot,
) -> None:
    known = robot.learn(TEXT, context=task(False)).memory_id
    assert robot.learn(TEXT).existing_id == known
    assert robot.learn(TEXT, context=task(None)).existing_id == known


def test_an_outcome_is_not_lost_to_a_text_whose_outcome_was_not_known(robot: Robot) -> None:
    robot.learn(TEXT)
    assert robot.learn(TEXT, context=task(True)).status == 'created'


def test_an_outcome_of_the_session_counts_as_one_of_its_memories(robot: Robot) -> None:
    ids = [
        robot.learn(TEXT, session_id=robot.start_session(context=task(success)).session_id)
        for success in (True, False)
    ]
    assert [answer.status for answer in ids] == ['created', 'created']


ANNA, BOB = 'operator:anna', 'operator:bob'


def test_what_holds_of_the_world_is_known_whoever_says_it(robot: Robot) -> None:
    context = {'actor_id': ANNA}
    kept = robot.learn('The dock stands in the hall', context=context)
    twin = robot.learn('The dock stands in the hall', context={'actor_id': BOB})
    assert (twin.status, twin.existing_id) == ('duplicate', kept.memory_id)

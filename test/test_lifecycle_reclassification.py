"""Categories are set by the present rules on demand: shown first, then confirmed."""

from __future__ import annotations

import pytest
from narrowing import require
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.text.categories import classify

SEEN = 'a spoon beside the cup'
SEEN_NOW = classify(SEEN).category


def make_stale(robot: Robot) -> tuple[int, int]:
    """Store what an earlier release read otherwise; return a fact and a perception of it."""
    limit = robot.learn('Never lift more than 5 kg').memory_id
    robot.learn('The red cup needs 12 N')
    seen = robot.save_perception(SEEN).memory_id
    turns = robot.save_conversation(
        'the weather is fine', 'never mind, it always rains'
    ).memory_ids
    with robot.memory.db.write() as connection:
        connection.execute("UPDATE memories SET category = 'observation' WHERE id = ?", (limit,))
        connection.execute("UPDATE memories SET category = 'gotcha' WHERE id = ?", (seen,))
    assert len(turns) == 2
    return require(limit), seen


def test_reclassifying_says_first_what_would_change_and_writes_nothing(robot: Robot) -> None:
    limit, seen = make_stale(robot)
    before = robot.rows('SELECT id, category, tags, updated_at FROM memories')
    answer = robot.maintain(reclassify=True)
    assert [step.name for step in answer.steps] == ['reclassify']
    assert not answer.steps[0].done
    detail = answer.steps[0].detail
    assert '2 would change; nothing was written' in detail
    assert f'observation -> constraint: 1 ({limit})' in detail
    assert f'gotcha -> {SEEN_NOW}: 1 ({seen})' in detail
    assert robot.rows('SELECT id, category, tags, updated_at FROM memories') == before


def test_a_confirmed_reclassification_changes_categories_and_leaves_a_trail(robot: Robot) -> None:
    limit, seen = make_stale(robot)
    before = robot.row(limit)
    answer = robot.maintain(reclassify=True, confirm=True)
    assert answer.steps[0].done and '2 changed' in answer.steps[0].detail
    after = robot.row(limit)
    assert (after['category'], after['strategy_name']) == ('constraint', 'instruction')
    for name in ('content', 'confidence', 'confidence_base', 'updated_at', 'context'):
        assert after[name] == before[name]
    assert robot.row(seen)['category'] == SEEN_NOW
    trail = robot.rows(
        "SELECT memory_id, action, detail FROM audit WHERE action = 'reclassify'"
        ' ORDER BY memory_id'
    )
    assert [row[:2] for row in trail] == [(limit, 'reclassify'), (seen, 'reclassify')]
    assert '"old_category":"observation"' in trail[0][2]
    again = robot.maintain(reclassify=True)
    assert again.steps[0].detail == 'every category is as the present rules infer it'


def test_a_confirmation_of_nothing_is_refused(robot: Robot) -> None:
    with pytest.raises(InvalidArgument, match='set reclassify'):
        robot.maintain(confirm=True)

"""The conditions of rules in the store: written with the rule, rebuilt when lost or stale."""

from __future__ import annotations

from pathlib import Path

import pytest
from old_stores import fixture, opened
from robots import Robot

from robot_memory.storage.tables import rule_conditions
from robot_memory.text.rules import reader

STORED = 'SELECT memory_id, version, condition FROM rule_conditions ORDER BY 1'


def test_the_condition_is_written_with_the_rule_and_with_its_new_text(robot: Robot) -> None:
    rule = robot.learn('Never grip the glassware above 10 N').memory_id
    assert rule
    robot.learn('The cup stands on the table')
    ((memory_id, version, condition),) = robot.rows(STORED)
    assert (memory_id, version) == (rule, reader.VERSION)
    assert 'glassware' in condition
    robot.update(rule, 'Never grip the porcelain above 10 N')
    ((_, _, condition),) = robot.rows(STORED)
    assert 'porcelain' in condition
    assert 'glassware' not in condition


def test_a_lost_or_stale_row_is_read_anew_and_written_by_maintain(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = robot.learn('Never grip the glassware above 10 N').memory_id
    assert rule
    written = robot.rows(STORED)
    monkeypatch.setattr(reader, 'VERSION', reader.VERSION + 1)
    with robot.memory.db.read() as connection:
        (row,) = rule_conditions.get(connection, [rule])
    assert row.condition == reader.read_rule('Never grip the glassware above 10 N')
    robot.maintain()
    (stored,) = robot.rows(STORED)
    assert stored == (rule, reader.VERSION, written[0][2])
    robot.forget(rule, 'no longer')
    robot.maintain()
    assert robot.rows(STORED) == []


def test_an_upgrade_writes_the_conditions_of_earlier_rules(tmp_path: Path) -> None:
    robot = opened(fixture(15, tmp_path))
    rules = robot.rows(
        "SELECT id FROM memories WHERE status = 'active' AND type = 'fact'"
        " AND category IN ('constraint', 'gotcha', 'postmortem') ORDER BY id"
    )
    assert rules
    assert [row[:1] for row in robot.rows(STORED)] == rules
    robot.close()

"""Perceptions and turns beyond their age are retired when a session ends."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from narrowing import require
from robots import MovableClock, Robot, run_maintenance


def test_old_perceptions_and_turns_are_retired_when_a_session_ends(
    open_robot: Callable[..., Robot], clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    robot = open_robot(retention_days=30)
    robot.save_conversation('the tray is wet', 'I see')
    robot.save_perception('the tray is seen')
    kept = [
        robot.learn('the tray is heavy').memory_id,
        robot.save_perception('how the tray is lifted', perception_type='procedural').memory_id,
        robot.save_perception('the arm must never exceed 15 N there').memory_id,
        robot.save_perception('the tray is seen', collection='lab').memory_id,
    ]
    clock.forward(days=29)
    young = robot.save_perception('the tray is seen again').memory_id
    clock.forward(days=2)
    session = robot.start_session().session_id
    with caplog.at_level(logging.INFO):
        robot.end_session(session)
    assert '3 soft-deleted by retention_days' in caplog.text
    active = "SELECT id FROM memories WHERE status = 'active' ORDER BY id"
    assert [row[0] for row in robot.rows(active)] == sorted(map(require, [*kept, young]))
    trail = "SELECT DISTINCT action, reason FROM audit WHERE action = 'invalidated'"
    assert robot.rows(trail) == [('invalidated', 'retention')]
    assert run_maintenance(robot)['retention'].detail == '1 perceptions and turns soft-deleted'


def test_without_a_setting_all_is_kept(robot: Robot, clock: MovableClock) -> None:
    robot.save_perception('the tray is seen')
    clock.forward(days=4000)
    robot.end_session(robot.start_session().session_id)
    assert robot.rows("SELECT count(*) FROM memories WHERE status = 'active'") == [(1,)]
    assert 'nothing expires' in run_maintenance(robot)['retention'].detail

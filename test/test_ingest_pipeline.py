"""What one tap measures is judged with what the others do."""

from __future__ import annotations

from pathlib import Path

from narrowing import require
from recordings import run, swing
from robots import Robot


def test_the_weight_of_a_tool_that_the_joints_turn_is_no_hard_contact(
    robot: Robot, turned: Path
) -> None:
    run(robot.memory, turned)
    assert not robot.query_events(where={'kind': 'contact'}).events
    turns = robot.query_events(where={'kind': 'turn'}).events
    assert turns
    for event in turns:
        assert event.label == 'turn'
        assert [figure.name for figure in event.figures] == ['turned']
        row = robot.row(require(event.memory_id))
        assert row['confidence'] == 0.3
        assert row['content'].startswith('Perhaps no contact')


def test_the_confidence_of_an_event_is_stored(robot: Robot, made: Path) -> None:
    run(robot.memory, made)
    rows = robot.rows("SELECT confidence FROM memories WHERE type = 'perception'")
    assert len(set(rows)) > 3
    assert robot.recall('contact', n=10).memories


def test_a_collision_that_only_the_joints_show_can_be_asked_for(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, swing(tmp_path / 'swing'))
    (event,) = robot.query_events(where={'kind': 'effort', 'residual': {'$gt': '20 N m'}}).events
    assert event.label == 'collision' and event.topic == '/joint_states'
    assert robot.query_events(where={'kind': 'motion'}).events

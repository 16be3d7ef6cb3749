"""Who writes is recorded with every memory and every audit line."""

from __future__ import annotations

import getpass
from pathlib import Path

import pytest
from narrowing import require
from robots import Robot

from robot_memory.cli import run
from robot_memory.core.authority import Writer
from robot_memory.core.records import describe_writer
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.writer import EventWriter
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.memory import caller

_WRITTEN = (
    'SELECT m.type, m.authority, m.stands, w.face, w.client, w.actor FROM memories AS m'
    ' JOIN writers AS w ON w.id = m.writer_id ORDER BY m.id'
)


def test_what_a_caller_states_has_its_authority_and_what_it_relays_a_lower_one(
    robot: Robot,
) -> None:
    robot.learn('The dock is in hall 2', {'actor_id': 'operator:anna'})
    robot.save_perception('A sign beside the door', 'visual')
    robot.save_conversation('Never park in hall 3', 'Noted', actor_id='visitor:bo')
    user = getpass.getuser()
    assert robot.rows(_WRITTEN) == [
        ('fact', 'planner', 0, 'python', user, 'operator:anna'),
        ('perception', 'observed', 0, 'python', user, ''),
        ('turn', 'person', 0, 'python', user, 'visitor:bo'),
        ('turn', 'robot', 0, 'python', user, ''),
        ('fact', 'person', 0, 'python', user, 'visitor:bo'),
    ]


def test_a_tap_is_the_robot_and_a_text_on_a_topic_is_observed(robot: Robot) -> None:
    writer = EventWriter(robot.memory, [], SessionFinder(robot.memory))
    writer.write('wrench', Perception('Contact of 3 N', 'tactile'))
    context = {'sense': {'topic': '/speech'}}
    writer.write('speech', LearnedText('The dock is closed', context, 'default', 1))
    assert [row[1:5] for row in robot.rows(_WRITTEN)] == [
        ('robot', 0, 'tap', 'wrench'),
        ('observed', 0, 'tap', 'speech'),
    ]


def test_the_owner_of_the_store_is_its_operator_on_the_command_line(
    robot: Robot, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(robot.memory.db.path)
    common = ['--db', path, '--model', 'none']
    assert run([*common, 'learn', 'The dock is in hall 2']) == 0
    assert run([*common, '--cli-role', 'planner', 'learn', 'The lift is in hall 3']) == 0
    assert [row[1:4] for row in robot.rows(_WRITTEN)] == [
        ('operator', 0, 'cli'),
        ('planner', 0, 'cli'),
    ]


def test_an_audit_line_names_its_writer(robot: Robot, tmp_path: Path) -> None:
    memory_id = require(robot.learn('The dock is in hall 2').memory_id)
    token = caller.set(Writer('mcp-http', 'inspector 1.0', 'planner-1'))
    try:
        robot.update(memory_id, 'The dock is in hall 4')
    finally:
        caller.reset(token)
    assert robot.rows(
        'SELECT a.actor, w.face, w.principal FROM audit AS a JOIN writers AS w'
        " ON w.id = a.writer_id WHERE a.action = 'update'"
    ) == [('mcp:planner-1', 'mcp-http', 'planner-1')]


@pytest.mark.parametrize(
    ('principal', 'told'),
    [('planner-1', 'operator:anna, relayed by planner-1'), ('', 'operator:anna')],
)
def test_who_relays_a_word_is_named_where_that_is_known(principal: str, told: str) -> None:
    writer = Writer('cli', principal=principal, actor='operator:anna', authority='operator')
    assert describe_writer(writer) == told

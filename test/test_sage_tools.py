"""The verbs and commands of the Sage document over the robot's own tools."""

from __future__ import annotations

import json
from typing import Any

import pytest
from robots import Robot

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.memory import caller


def command(robot: Robot, text: str) -> Any:
    return robot.sage_command(text)


def test_saving_gives_the_open_session_a_title_and_leaves_it_open(robot: Robot) -> None:
    with pytest.raises(NotFound, match='save_conversation'):
        robot.sage_memory('save', title='tea')
    kept = robot.save_conversation('I prefer tea over coffee', 'Noted')
    assert robot.sage_auto('check_save').should_save is True
    done = robot.sage_memory('save', title='Tea')
    assert done.result == {'session_id': kept.session_id, 'title': 'Tea', 'turns': 2}
    assert robot.sage_auto('check_save').should_save is False
    assert robot.save_conversation('more', 'yes').session_id == kept.session_id
    assert robot.sage_auto('check_save').should_save is True


def test_nothing_is_forgotten_by_words(robot: Robot) -> None:
    fact = robot.learn('the tray is wet').memory_id
    for forget in (
        lambda: robot.sage_memory('forget', 'wet tray'),
        lambda: command(robot, '/forget wet tray'),
    ):
        with pytest.raises(NotFound, match=f'mem_{fact}: "the tray is wet"'):
            forget()
    assert robot.query_records().total_count == 1
    assert command(robot, f'/forget mem_{fact}').result['memory_id'] == fact
    with pytest.raises(Conflict):
        robot.sage_memory('forget', str(fact))


def test_a_session_is_forgotten_by_its_id_or_as_the_open_one(robot: Robot) -> None:
    first = robot.save_conversation('a', 'b').session_id
    robot.end_session(first)
    second = robot.save_conversation('c', 'd').session_id
    assert command(robot, f'/forget {first}').result['count'] == 2
    assert command(robot, '/forget').result == {
        'cleared': True,
        'count': 2,
        'session_id': second,
    }


def test_forgetting_all_keeps_what_is_protected_and_one_collection_only(robot: Robot) -> None:
    robot.learn('the tray is wet')
    robot.learn('Never exceed 15 N')
    robot.learn('the tray is dry', collection='lab')
    done = command(robot, '/FORGET ALL')
    assert (done.result['count'], done.result['protected']) == (1, 1)
    left = {record.record_content for record in robot.query_records().records}
    assert left == {'Never exceed 15 N', 'the tray is dry'}


def test_forgetting_all_over_mcp_needs_a_parameter(robot: Robot, open_robot: Any) -> None:
    robot.learn('the tray is wet')
    token = caller.set(Writer('mcp-http', 'planner 1.0'))
    try:
        with pytest.raises(Conflict, match='allow_forget_all'):
            command(robot, '/forget all')
        assert robot.query_records().total_count == 1
        allowed = open_robot(allow_forget_all=True)
        assert command(allowed, '/forget all').result['count'] == 1
    finally:
        caller.reset(token)


def test_what_was_said_is_shown_by_count_and_by_session(robot: Robot) -> None:
    first = robot.save_conversation('a', 'b').session_id
    robot.end_session(first)
    robot.save_conversation('c', 'd')
    shown = [message['content'] for message in command(robot, '/recall 3').result['messages']]
    assert shown == ['b', 'c', 'd']
    of_first = robot.sage_memory('recall', first).result['messages']
    assert [(message['role'], message['content']) for message in of_first] == [
        ('user', 'a'),
        ('assistant', 'b'),
    ]
    with pytest.raises(NotFound, match='nowhere'):
        robot.sage_memory('recall', 'nowhere')
    with pytest.raises(InvalidArgument, match='1 to 1000'):
        command(robot, '/recall 0')


def test_the_switch_is_remembered_by_the_file(robot: Robot, open_robot: Any) -> None:
    robot.save_conversation('a', 'b')
    assert command(robot, '/mode').result == {'mode': 'on'}
    command(robot, '/mode off')
    other = open_robot()
    assert command(other, '/mode').result == {'mode': 'off'}
    assert other.sage_auto('check_save').should_save is False
    injected = other.sage_auto('inject_context', 'a')
    assert (injected.context, injected.num_results) == ('', 0)
    assert '/mode on' in injected.reason
    command(other, '/mode on')
    assert robot.sage_auto('check_save').should_save is True


@pytest.mark.parametrize('action', ['search', 'recall', 'status', 'analyze', 'export'])
def test_every_action_answers_with_a_result_and_a_text(robot: Robot, action: str) -> None:
    robot.save_conversation('I prefer tea over coffee', 'Noted')
    query = 'tea' if action == 'search' else ''
    done = robot.sage_memory(action, query=query, limit=10.0)  # type: ignore[arg-type]
    assert done.action == action
    assert done.result
    assert done.text


@pytest.mark.parametrize(
    'text', ['/search tea', '/status', '/help', '/help search', '/analyze sentiment 7']
)
def test_every_command_answers_with_a_text(robot: Robot, text: str) -> None:
    robot.save_conversation('I prefer tea over coffee', 'Noted')
    assert command(robot, text).text


def test_the_status_command_counts_the_errors(robot: Robot) -> None:
    assert command(robot, '/sage-status').result['errors']['total'] == 0


def test_the_open_session_is_exported_as_json(robot: Robot) -> None:
    robot.save_conversation('I prefer tea over coffee', 'Noted')
    assert json.loads(robot.sage_memory('export').text)['messages'][0]['role'] == 'user'


def test_a_session_is_exported_by_its_id_in_the_format_that_is_named(robot: Robot) -> None:
    robot.save_conversation('I prefer tea over coffee', 'Noted')
    session = robot.sage_memory('export').result['session_id']
    exported = robot.sage_memory('export', query=f'{session} markdown')
    assert exported.result['format'] == 'markdown'


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ({'action': 'burn'}, 'save, search, forget'),
        ({'action': 'search'}, 'a query text'),
        ({'action': 'forget'}, 'mem_12'),
        ({'action': 'search', 'query': 'x', 'limit': 2.5}, 'integer'),
    ],
)
def test_a_wrong_action_is_refused_with_what_is_accepted(
    robot: Robot, arguments: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        robot.sage_memory(**arguments)


# Guidance


def test_a_command_keeps_to_its_collection(robot: Robot) -> None:
    for collection in ('a', 'b'):
        robot.save_conversation(f'It is {collection}', 'ok', collection=collection)
    robot.sage_command('/forget', collection='a')
    assert 'It is a' not in robot.sage_command('/recall', collection='a').text
    shown = robot.sage_command('/recall', collection='b').text
    assert 'It is b' in shown
    assert robot.sage_memory('save', title='B', collection='b').result['turns'] == 2

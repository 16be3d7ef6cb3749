"""What holds of every tool."""

from __future__ import annotations

from typing import Any

import pytest
from robots import Robot

from robot_memory.catalog import list_tools
from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.fields import get_fields

NUMBERS = (2**63 - 1, 2**63, -(2**63), -(2**63) - 1, 10**30, -1, 1e300, float('inf'))
TIMES = (
    '9999-12-31T23:59:59-12:00',
    '9999-12-31T23:59:59.999999Z',
    '10000-01-01',
    '99999-12-31T00:00:00Z',
    '0001-01-01T00:00:00+12:00',
    '-0001-01-01',
    '9999-12-31',
    '0001-01-01',
)
GIVEN = {
    'insight': 'a cup',
    'query': 'cup',
    'description': 'a cup is seen',
    'new_content': 'a plate',
    'reason': 'wrong',
    'user_prompt': 'a cup',
    'assistant_response': 'I see',
    'user_input': 'cup',
    'memory_id': 1,
}


def extremes(kind: str) -> list[Any]:
    """Return values that lie at the limits of what can be held, for a field of a kind."""
    values: list[Any] = [*NUMBERS, *TIMES]
    if kind == 'stamp':
        values += [{'sec': sec, 'nanosec': 999_999_999} for sec in NUMBERS]
    if kind == 'json':
        for name in ('created_at', 'updated_at', 'stamp', 'last_accessed'):
            values += [{name: {'$gt': time}} for time in TIMES]
            values += [{name: {'$in': [time]}} for time in TIMES]
        for name in ('memory_id', 'turn_id', 'access_count', 'task.success', 'record_id'):
            values += [{name: {'$lte': number}} for number in NUMBERS]
            values += [{name: {'$in': [number]}} for number in NUMBERS]
        values += [
            {'field': 'spatial.p', 'target': [number], 'max_distance': 1} for number in NUMBERS
        ]
    return values


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
def test_no_number_and_no_time_is_an_internal_error_of_a_tool(robot: Robot, tool: Any) -> None:
    robot.learn('the red cup is wet', context={'spatial': {'p': [1]}, 'task': {'success': True}})
    robot.save_conversation('I prefer the red cup', 'I see')
    fields = get_fields(tool.request)
    needed = {field.name: GIVEN[field.name] for field in fields if field.name in GIVEN}
    codes = {
        _code(robot, tool, {**needed, field.name: value})
        for field in fields
        for value in extremes(field.kind)
    }
    assert 'internal' not in codes


def _code(robot: Robot, tool: Any, arguments: dict[str, Any]) -> str:
    try:
        tool.run(robot.memory, arguments)
    except RobotMemoryError as error:
        return error.code
    return ''


@pytest.mark.parametrize('tool', ['query_records', 'search_memory', 'get_context'])
def test_an_empty_actor_does_not_lift_the_restriction(robot: Robot, tool: str) -> None:
    given = {} if tool == 'query_records' else {'query': 'tea'}
    with pytest.raises(InvalidArgument, match='actor_id must have 1 to 128 characters'):
        getattr(robot, tool)(actor_id='', **given)


def test_calls_from_python_that_do_not_fit_the_signature_are_type_errors(robot: Robot) -> None:
    with pytest.raises(TypeError, match='colour'):
        robot.learn('the tray is wet', colour='red')  # type: ignore[call-arg]
    with pytest.raises(TypeError, match='insight'):
        robot.learn()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match='insight'):
        robot.learn('the tray', insight='is wet')  # type: ignore[misc]
    with pytest.raises(InvalidArgument, match='insight'):
        robot.learn(7)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match='positional'):
        robot.undo(1, 'why', 2, 'more')  # type: ignore[call-arg]

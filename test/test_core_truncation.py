"""Answers are bounded and say what was shortened; numbers and times out of range have words."""

from __future__ import annotations

import json
from typing import Any

import pytest
from amounts import few_or_many
from narrowing import require
from robots import Robot

from robot_memory.catalog import TOOLS
from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.fields import get_fields, to_plain
from robot_memory.core.truncation import ANSWER, FIELD, measure_size, shorten

BIG = {
    'task': {'success': True, 'note': 'x' * 13_000_000},
    'params': {'path': [[1.0, 2.0, 3.0]] * 100_000},
    'robot': {'name': 'ur5e'},
}


def test_a_context_of_15_mb_makes_no_long_answer_and_the_answer_says_so(robot: Robot) -> None:
    kept = robot.learn('the red cup is wet', context=BIG).memory_id
    answer = to_plain(robot.recall('cup'))
    (found,) = answer['memories']
    assert measure_size(answer) < 4 * FIELD
    assert found['shortened'] == ['context', 'params', 'task']
    context = json.loads(found['context'])
    assert context['robot'] == BIG['robot']
    assert context['task']['success'] is True
    assert context['task'] == found['task']
    assert context['params']['path'][0] == [1.0, 2.0, 3.0]
    assert json.loads(robot.show(require(kept)).memory.context) == BIG
    assert 'shortened' not in to_plain(robot.show(require(kept)))['memory']
    (record,) = to_plain(robot.query_records())['records']
    assert record['shortened'] == ['context']
    assert measure_size(record) < 2 * FIELD


def test_what_is_short_is_told_whole_and_nothing_is_said_of_it(robot: Robot) -> None:
    robot.learn('the red cup is wet', context={'task': {'note': 'x' * 1000}})
    (found,) = to_plain(robot.recall('cup'))['memories']
    assert 'shortened' not in found
    assert len(found['task']['note']) == 1000


def test_many_long_memories_are_shortened_to_an_answer_of_bounded_size(robot: Robot) -> None:
    session = robot.start_session().session_id
    for number in range(few_or_many(25, 40)):
        robot.save_conversation(
            f'cup {number} ' + 'lorem ipsum ' * 8000, 'I see', session_id=session
        )
    recalled = robot.recall('cup lorem', n=100)
    answers = [
        recalled,
        robot.query_records(limit=1000),
        robot.search_memory('cup lorem', n=100, threshold=0),
        robot.get_context('cup lorem', max_results=50, max_characters=100_000),
        robot.sage_memory(action='recall', query=session),
    ]
    for answer in answers:
        assert measure_size(to_plain(answer)) < 2 * ANSWER
        assert '"shortened"' in json.dumps(to_plain(answer))
    assert len(recalled.memories) == robot.recall('cup lorem', n=100).total


@pytest.mark.parametrize('room', [10, 100, 1000])
@pytest.mark.parametrize(
    'value',
    [
        {'a': 'x' * 5000, 'b': 1, 'c': {'d': ['"\\' * 3000], 'e': None}},
        {'ü' * 400: 1, 'b': 'ü' * 4000},
        {str(i): i for i in range(2000)},
        {'a': {'a': {'a': {'a': list(range(9000))}}}},
    ],
)
def test_what_is_shortened_fits_and_keeps_its_types(value: dict[str, Any], room: int) -> None:
    found = shorten(value, room)
    assert measure_size(found) <= room
    assert all(type(found[key]) is type(value[key]) for key in found)


@pytest.mark.parametrize('offset', [10**6, 2**62, 2**63 - 1])
def test_an_offset_beyond_all_records_answers_an_empty_page(robot: Robot, offset: int) -> None:
    robot.learn('the red cup is wet')
    answer = robot.query_records(offset=offset, limit=1000)
    assert (answer.records, answer.total_count) == ((), 1)


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


@pytest.mark.parametrize('tool', TOOLS, ids=lambda tool: tool.name)
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


@pytest.mark.parametrize('time', TIMES[2:4])
def test_a_year_after_9999_is_refused_in_words(robot: Robot, time: str) -> None:
    with pytest.raises(InvalidArgument, match='must be an ISO 8601 time'):
        robot.query_records(where={'created_at': {'$gt': time}})

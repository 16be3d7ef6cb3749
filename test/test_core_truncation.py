"""Answers are bounded and say what was shortened."""

from __future__ import annotations

import json
from typing import Any

import pytest
from amounts import few_or_many
from narrowing import require
from robots import Robot

from robot_memory.core.fields import to_plain
from robot_memory.core.truncation import ANSWER, FIELD, fit_members, measure_size, shorten

BIG = {
    'task': {'success': True, 'note': 'x' * few_or_many(1_300_000, 13_000_000)},
    'params': {'path': [[1.0, 2.0, 3.0]] * few_or_many(10_000, 100_000)},
    'robot': {'name': 'ur5e'},
}


def test_a_context_of_megabytes_makes_no_long_answer_and_the_answer_says_so(robot: Robot) -> None:
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


@pytest.mark.parametrize('character', ['x', '"', '\x1f'])
def test_a_text_is_shortened_where_its_json_is_too_long(character: str) -> None:
    for length in (FIELD // 7, FIELD // 3, FIELD - 1, FIELD + 1):
        view = fit_members({'pose': character * length}, ['pose'], 1)
        assert ('shortened' in view) == (measure_size(character * length) > FIELD)


def test_what_is_short_is_told_whole_and_nothing_is_said_of_it(robot: Robot) -> None:
    robot.learn('the red cup is wet', context={'task': {'note': 'x' * 1000}})
    (found,) = to_plain(robot.recall('cup'))['memories']
    assert 'shortened' not in found
    assert len(found['task']['note']) == 1000


def test_many_long_memories_are_shortened_to_an_answer_of_bounded_size(robot: Robot) -> None:
    session = robot.start_session().session_id
    for number in range(few_or_many(8, 40)):
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

"""What may pass a filter, remembered: no answer changes, whoever writes meanwhile."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import Robot

from robot_memory.catalog import get_tool
from robot_memory.search import query, resident_search
from robot_memory.search.masks import MOST, Masks
from robot_memory.storage.indexes.candidates import CandidateQuery

FILTERS: tuple[dict[str, Any], ...] = (
    {'robot.id': 'arm-1'},
    {'task.success': True},
    {'force': {'$gte': 5, '$lt': 9}},
    {'force': {'$lt': 9}, 'robot.id': {'$in': ['arm-0', 'arm-2']}},
    {'force': {'$ne': 3}, 'task.success': False},
)


@pytest.fixture(autouse=True)
def _walk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have every filter be walked, and every condition be remembered, in a small store."""
    monkeypatch.setattr(query, '_FEW', 0.0)
    monkeypatch.setattr(query, 'MARGIN', 1)
    monkeypatch.setattr(resident_search, '_WIDE', 1)


def learn(robot: Robot, number: int, chance: random.Random) -> int:
    context = {
        'robot': {'id': f'arm-{chance.randrange(4)}'},
        'task': {'success': chance.random() < 0.3},
        'force': chance.randrange(12),
    }
    text = f'Trial {number}: the red cup slipped at {chance.randrange(10_000)} newtons'
    made = get_tool('learn').run(robot.memory, {'insight': text, 'context': context})
    return int(require(made.memory_id))


def recall(robot: Robot, conditions: dict[str, Any]) -> list[int]:
    asked = {'query': 'red cup', 'n': 4, 'context_filter': conditions}
    found = get_tool('recall').run(robot.memory, asked)
    return [one.id for one in found.memories]


def test_remembered_filters_answer_as_the_file_does(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot()
    chance = random.Random(3)
    ids = [learn(robot, number, chance) for number in range(150)]
    by_file = open_robot(resident=False)
    for step in range(30):
        for conditions in FILTERS:
            assert recall(robot, conditions) == recall(by_file, conditions)
        writer = chance.choice((robot, by_file))
        changed = chance.choice(ids)
        if step % 3 == 0:
            ids.append(learn(writer, 150 + step, chance))
        elif step % 3 == 1:
            ids.remove(changed)
            asked = {'memory_id': changed, 'reason': 'test'}
            get_tool('forget').run(writer.memory, asked)
        else:  # said again, of another occasion
            text = get_tool('show').run(writer.memory, {'memory_id': changed}).memory.content
            context = {'robot': {'id': 'arm-1'}, 'force': 6, 'task': {'success': True}}
            again = {'insight': text, 'context': context}
            assert get_tool('learn').run(writer.memory, again).existing_id == changed
    with robot.memory.db.read() as connection:
        shard = require(require(robot.memory.resident_index).shard(connection, 'default'))
    assert shard.masks._known


def test_few_conditions_are_remembered_and_none_that_was_read_before_a_change() -> None:
    masks = Masks()
    queries = [CandidateQuery(f'SELECT {number}') for number in range(MOST + 1)]
    for one in queries:
        masks.put(one, None, masks.version)
    assert masks.find(queries[0]) == (False, None)
    assert masks.find(queries[-1]) == (True, None)
    long = CandidateQuery('SELECT 1', ('x' * 1001,))
    masks.put(long, None, masks.version)
    assert masks.find(long) == (False, None)
    before = masks.version
    masks.touch(1)
    masks.put(queries[0], None, before)
    assert masks.find(queries[0]) == (False, None)
    masks.clear()
    assert masks.find(queries[-1]) == (False, None)

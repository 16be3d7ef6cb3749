"""Exact listing: pages, restrictions and what a record looks like."""

from __future__ import annotations

import json
from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import to_plain


def test_a_record_has_the_documented_fields_and_prints_as_json(robot: Robot) -> None:
    context = {'actor_id': 'operator:anna', 'event_id': 'event-1', 'task': {'success': True}}
    kept = robot.learn('我更喜欢从左侧接近', context=context).memory_id
    answer = to_plain(robot.query_records())
    assert json.loads(json.dumps(answer, ensure_ascii=False)) == answer
    assert answer['memory_id'].startswith('robot-mem-')
    assert answer['total_count'] == 1
    (record,) = answer['records']
    assert record == {
        'actor_id': 'operator:anna',
        'session_id': None,
        'record_id': f'mem_{kept}',
        'record_content': '我更喜欢从左侧接近',
        'strategy_name': 'persona',
        'event_id': 'event-1',
        'created_at': '2026-02-25T06:13:20.000000Z',
        'updated_at': '2026-02-25T06:13:20.000000Z',
        'memory_id': kept,
        'kind': 'fact',
        'category': 'preference',
        'confidence': record['confidence'],
        'collection': 'default',
        'context': context,
        'status': 'active',
        'observed': {
            'count': 1,
            'first_at': '2026-02-25T06:13:20.000000Z',
            'last_at': '2026-02-25T06:13:20.000000Z',
            'tries': 1,
            'successes': 1,
            'simulated_count': 0,
            'simulated_tries': 0,
            'simulated_successes': 0,
        },
    }


@pytest.mark.parametrize(
    ('text', 'actor', 'strategy'),
    [
        ('Prefer approach from the left side', 'operator:anna', 'persona'),
        ('Prefer approach from the left side', 'robot', 'episodic'),
        ('Prefer approach from the left side', None, 'episodic'),
        ('Must never exceed 15N', 'planner:1', 'instruction'),
        ('Must never exceed 15N', None, 'instruction'),
        ('Chose PID over MPC for simplicity', 'anna', 'instruction'),
        ('Chose PID over MPC for simplicity', 'planner', 'episodic'),
        ('The tray is wet', 'anna', 'episodic'),
    ],
)
def test_the_strategy_follows_from_category_and_actor(
    robot: Robot, text: str, actor: str | None, strategy: str
) -> None:
    robot.learn(text, context={'actor_id': actor} if actor else {})
    (record,) = robot.query_records().records
    assert record.strategy_name == strategy


def test_a_given_strategy_stands(robot: Robot) -> None:
    robot.learn('The tray is wet', context={'strategy_name': 'custom'})
    assert robot.query_records(where={'strategy_name': 'custom'}).total_count == 1


def test_paging_neither_skips_nor_repeats_and_is_newest_first(
    robot: Robot, clock: MovableClock
) -> None:
    ids = []
    for i in range(25):
        ids.append(robot.learn(f'trial {i}').memory_id)
        if i % 5 == 4:
            clock.forward(seconds=1)
    seen: list[int] = []
    for offset in range(0, 28, 4):
        answer = robot.query_records(limit=4, offset=offset)
        assert answer.total_count == 25
        seen += [record.memory_id for record in answer.records]
    assert seen == ids[::-1]
    assert len(robot.query_records().records) == 10
    assert robot.query_records(offset=2**62).records == ()
    assert robot.query_records(offset=2**62).total_count == 25


def test_actor_session_and_where_hold_together(robot: Robot) -> None:
    session = robot.start_session().session_id
    anna = {'actor_id': 'anna'}
    both = robot.learn('one', context=anna, session_id=session).memory_id
    robot.learn('two', context=anna)
    robot.learn('three', session_id=session)
    assert robot.query_records(actor_id='anna').total_count == 2
    assert robot.query_records(session_id=session).total_count == 2
    found = robot.query_records(actor_id='anna', session_id=session)
    assert [record.memory_id for record in found.records] == [both]
    where = {'record_content': 'three'}
    assert robot.query_records(actor_id='anna', where=where).total_count == 0
    assert robot.query_records(session_id='unknown').records == ()


def test_only_active_records_are_listed_unless_a_status_is_asked_for(robot: Robot) -> None:
    kept = robot.learn('one').memory_id
    gone = robot.learn('two').memory_id
    robot.forget(require(gone), 'wrong')
    assert [r.memory_id for r in robot.query_records().records] == [kept]
    everything = robot.query_records(where={'status': {'$ne': 'superseded'}})
    assert [r.memory_id for r in everything.records] == [gone, kept]


@pytest.mark.parametrize(
    'arguments',
    [
        {'limit': 0},
        {'limit': 1001},
        {'limit': 'ten'},
        {'offset': -1},
        {'actor_id': 'x' * 129},
        {'actor_id': 5},
        {'where': '[]'},
        {'where': {'created_at': {'$gt': 'yesterday'}}},
        {'where': {'a': {'$regex': '.*'}}},
    ],
)
def test_what_a_query_does_not_take_is_refused(robot: Robot, arguments: Any) -> None:
    with pytest.raises(InvalidArgument):
        robot.query_records(**arguments)


@pytest.mark.parametrize('offset', [10**6, 2**62, 2**63 - 1])
def test_an_offset_beyond_all_records_answers_an_empty_page(robot: Robot, offset: int) -> None:
    robot.learn('the red cup is wet')
    answer = robot.query_records(offset=offset, limit=1000)
    assert (answer.records, answer.total_count) == ((), 1)


@pytest.mark.parametrize('name', ['stamp', 'measured_at'])
def test_perceptions_are_listed_by_when_they_were_measured(robot: Robot, name: str) -> None:
    early, late = (
        robot.save_perception(f'a push of {sec} N', 'tactile', stamp={'sec': sec, 'nanosec': 7})
        for sec in (1_771_000_000, 1_771_000_100)
    )
    robot.save_perception('a push that has no stamp', 'tactile')
    found = robot.query_records(where={name: {'$gte': '2026-02-13T16:27:00Z'}})
    assert [record.memory_id for record in found.records] == [late.memory_id]
    both = robot.query_records(where={name: {'$lt': '2026-02-14'}})
    assert [record.memory_id for record in both.records] == [late.memory_id, early.memory_id]
    assert robot.query_records(where={name: '2026-02-13T16:26:40Z'}).total_count == 1

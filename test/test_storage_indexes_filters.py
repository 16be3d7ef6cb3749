"""The one filter language, through `where` and `context_filter` alike."""

from __future__ import annotations

from typing import Any

import pytest
from robots import MovableClock, Robot

from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Stamp
from robot_memory.storage.indexes.filters import compile_filter

CONTEXTS: dict[str, dict[str, Any]] = {
    'low': {'f': 9, 'ok': True, 'name': 'a', 'list': [1, 2], 'o': {'x': 1, 'y': [2]}},
    'mid': {'f': 12.5, 'ok': False, 'name': 'b', 'list': [2], 'o': {'y': [2], 'x': 1}},
    'high': {'f': 20, 'ok': 1, 'name': 'ä', 'list': [], 'o': {}},
    'text': {'f': '12.5', 'ok': 'true', 'name': '1', 'list': '[2]', 'o': '{}'},
    'null': {'f': None, 'ok': None, 'name': None, 'list': None, 'o': None},
    'none': {},
}


@pytest.fixture
def filled(robot: Robot) -> Robot:
    for name, context in CONTEXTS.items():
        robot.learn(f'record {name}', context=context)
    return robot


def matching(robot: Robot, condition: dict[str, Any]) -> set[str]:
    listed = {
        record.record_content.split()[1]
        for record in robot.query_records(where=condition, limit=1000).records
    }
    recalled = robot.contents(context_filter=condition, n=100, min_confidence=0)
    assert {text.split()[1] for text in recalled} == listed
    return listed


ALL = set(CONTEXTS)


@pytest.mark.parametrize(
    ('condition', 'expected'),
    [
        ({'f': 12.5}, {'mid'}),
        ({'f': 9.0}, {'low'}),
        ({'f': {'$eq': 20}}, {'high'}),
        ({'f': '12.5'}, {'text'}),
        ({'f': {'$ne': 9}}, ALL - {'low'}),
        ({'f': {'$gt': 9}}, {'mid', 'high'}),
        ({'f': {'$gte': 9}}, {'low', 'mid', 'high'}),
        ({'f': {'$lt': 20}}, {'low', 'mid'}),
        ({'f': {'$lte': 12.5}}, {'low', 'mid'}),
        ({'f': {'$gt': 9, '$lt': 20}}, {'mid'}),
        ({'f': {'$in': [9, 20, '12.5']}}, {'low', 'high', 'text'}),
        ({'f': {'$nin': [9, 20, '12.5']}}, {'mid', 'null', 'none'}),
        ({'f': {'$in': []}}, set()),
        ({'f': {'$nin': []}}, ALL),
        ({'f': {'$in': [None, 9]}}, {'low', 'null', 'none'}),
        ({'f': {'$nin': [None]}}, ALL - {'null', 'none'}),
        ({'f': None}, {'null', 'none'}),
        ({'f': {'$ne': None}}, ALL - {'null', 'none'}),
        ({'f': {'$gt': '12'}}, {'text'}),
        ({'f': '2 N'}, set()),
        ({'f': {'$in': ['2 N', 9]}}, {'low'}),
        ({'f': {'$gte': '12.5 pieces'}}, set()),
        ({'f': {'$lt': 10**400}}, {'low', 'mid', 'high'}),
        ({'f': 10**400}, set()),
        ({'ok': True}, {'low'}),
        ({'ok': False}, {'mid'}),
        ({'ok': 1}, {'high'}),
        ({'ok': 'true'}, {'text'}),
        ({'ok': {'$in': [True, False]}}, {'low', 'mid'}),
        ({'ok': {'$gt': 0}}, {'high'}),
        ({'ok': {'$ne': True}}, ALL - {'low'}),
        ({'name': 'ä'}, {'high'}),
        ({'name': {'$gte': 'b'}}, {'mid', 'high'}),
        ({'list': [1, 2]}, {'low'}),
        ({'list': []}, {'high'}),
        ({'list': '[2]'}, {'text'}),
        ({'list': {'$in': [[2], [1, 2]]}}, {'low', 'mid'}),
        ({'list.0': 2}, {'mid'}),
        ({'list.1': 2}, {'low'}),
        ({'list.4294967296': 1}, set()),
        ({'o': {'x': 1, 'y': [2]}}, {'low', 'mid'}),
        ({'o': {'y': [2], 'x': 1}}, {'low', 'mid'}),
        ({'o': {'x': 1}}, {'low', 'mid'}),
        ({'o': {'x': 1.0, 'y': {'0': 2}}, 'f': {'$gt': 9}}, {'mid'}),
        ({'o': {'x': {'$lt': 2}}}, {'low', 'mid'}),
        ({'o': {'x': {'$gt': 0}}, 'o.x': {'$lt': 2}}, {'low', 'mid'}),
        ({'o': {'x': {'z': 1}}}, set()),
        ({'o': {'$eq': {'x': 1}}}, set()),
        ({'o': {'$eq': {'y': [2], 'x': 1}}}, {'low', 'mid'}),
        ({'o': {'$ne': {'x': 1, 'y': [2]}}}, ALL - {'low', 'mid'}),
        ({'o': {}}, {'high'}),
        ({'o.x': 1}, {'low', 'mid'}),
        ({'o.y.0': 2}, {'low', 'mid'}),
        ({'o.x': 1, 'f': {'$lt': 10}}, {'low'}),
        ({'no.such.path': None}, ALL),
        ({'no.such.path': {'$ne': 3}}, ALL),
        ({'no.such.path': {'$gt': 3}}, set()),
        ({'f': {'$in': [*range(1000)]}}, {'low', 'high'}),
        ({'f': {'$nin': [str(i) for i in range(1000)]}}, ALL),
        ({}, ALL),
    ],
)
def test_a_condition_on_the_context(
    filled: Robot, condition: dict[str, Any], expected: set[str]
) -> None:
    if condition:
        assert matching(filled, condition) == expected
    else:
        assert filled.query_records(where=condition).total_count == len(expected)


@pytest.mark.parametrize(
    ('condition', 'count'),
    [
        ({'record_id': 'mem_1'}, 1),
        ({'record_id': {'$in': ['mem_1', 'mem_3', 'mem_99']}}, 2),
        ({'memory_id': {'$lte': 2}}, 2),
        ({'memory_id': True}, 0),
        ({'memory_id': '1'}, 0),
        ({'memory_id': {'$gt': '0'}}, 0),
        ({'kind': 'fact'}, 6),
        ({'type': {'$ne': 'fact'}}, 0),
        ({'confidence': {'$gt': 0, '$lte': 1}}, 6),
        ({'confidence': '0.5'}, 0),
        ({'access_count': 0}, 6),
        ({'access_count': False}, 0),
        ({'session_id': None}, 6),
        ({'actor_id': {'$ne': 'anna'}}, 6),
        ({'content': 'record low'}, 1),
        ({'content': {'$in': [f'record {name}' for name in CONTEXTS]}}, 6),
        ({'superseded_by': None}, 6),
    ],
)
def test_a_condition_on_a_column(filled: Robot, condition: dict[str, Any], count: int) -> None:
    assert filled.query_records(where=condition).total_count == count


SOME = '2026-02-25T06:13:20.250Z'
"""When the second of four memories was made, a quarter of a second apart."""


@pytest.fixture
def of_a_second(robot: Robot, clock: MovableClock) -> Robot:
    for i in range(4):
        robot.learn(f'trial {i}')
        clock.forward(seconds=0.25)
    return robot


@pytest.mark.parametrize(
    ('condition', 'count'),
    [
        (SOME, 1),
        ('2026-02-25T07:13:20.250000+01:00', 1),
        ('2026-02-25T06:13:20.250000', 1),
        ({'$gte': SOME}, 3),
        ({'$gt': SOME, '$lt': '2026-02-25T06:13:20.750Z'}, 1),
        ({'$lt': '2026-02-26'}, 4),
        ({'$ne': '2026-02-25T06:13:20Z'}, 3),
        ({'$in': ['2026-02-25T06:13:20Z', '2026-02-25T06:13:20.500Z']}, 2),
        ({'$nin': ['2026-02-25T06:13:20Z', None]}, 3),
        (None, 0),
    ],
)
def test_times_compare_as_instants(of_a_second: Robot, condition: Any, count: int) -> None:
    assert of_a_second.query_records(where={'created_at': condition}).total_count == count


@pytest.mark.parametrize(
    ('field', 'condition', 'count'),
    [('updated_at', {'$gt': '2026-02-25T06:13:20Z'}, 3), ('last_accessed', None, 4)],
)
def test_every_time_of_a_memory_can_be_filtered_on(
    of_a_second: Robot, field: str, condition: Any, count: int
) -> None:
    assert of_a_second.query_records(where={field: condition}).total_count == count


@pytest.mark.parametrize(
    'wrong', ['soon', 5, True, {'$gt': None}, {'$in': ['x']}, '2026-13-01', ['2026-02-25']]
)
def test_what_is_no_time_is_refused(robot: Robot, wrong: Any) -> None:
    with pytest.raises(InvalidArgument, match='ISO 8601'):
        robot.query_records(where={'created_at': wrong})


def test_the_time_of_a_measurement_compares_as_an_instant(robot: Robot) -> None:
    robot.save_perception('the tray is seen', stamp={'sec': 1_772_000_000, 'nanosec': 500_000_000})
    robot.learn('no perception')
    where = {'stamp': {'$gte': '2026-02-25T06:13:20.500Z', '$lt': '2026-02-25T06:13:21Z'}}
    assert robot.query_records(where=where).total_count == 1
    assert robot.query_records(where={'stamp': None}).total_count == 1


@pytest.mark.parametrize(
    ('condition', 'message'),
    [
        ({f'a{i}': i for i in range(11)}, '11 conditions; the limit is 10'),
        ({f'a{i}': {'$gt': 1, '$lt': 2} for i in range(6)}, '12 conditions'),
        ({f'a{i}': i for i in range(100_000)}, '100000 conditions'),
        ({'a': {'$gt': 1, 'b': 2}}, "unknown operator 'b'"),
        ({'a': {'$GT': 1}}, 'accepted:'),
        ({'a': {'$gt': None}}, 'a number or a string'),
        ({'a': {'$lt': [1]}}, 'a number or a string'),
        ({'a': {'$gte': True}}, 'a number or a string'),
        ({'f': {'$lt': '2 N'}}, r"'2 N' is an amount with a unit; accepted: .*2\.0} for .* in N"),
        ({'f': {'$gt': 1, '$lte': '3 m/s'}}, 'is an amount with a unit'),
        ({'o.x': {'$gte': ' -1.5mm '}}, 'is an amount with a unit'),
        ({'list.00': {'$gte': '2N'}}, 'is an amount with a unit'),
        ({'confidence': {'$gt': '80 %'}}, r'is an amount with a unit; accepted: .*80\.0} .* in %'),
        ({'a': {'$in': 'abc'}}, 'requires a list'),
        ({'a': {'$in': [1] * 1001}}, 'at most 1000'),
        ({'a': {'$nin': {'b': 1}}}, 'requires a list'),
        ({'': 1}, 'is not a valid path'),
        ({'a.': 1}, 'is not a valid path'),
        ({'a"b': 1}, 'is not a valid path'),
        ({'a\\b': 1}, 'is not a valid path'),
        ({'category': {'x': 1}}, 'single value'),
        ({'created_at': {'x': 1}}, 'ISO 8601'),
        ({'a': {'': 1}}, 'is not a valid path'),
        ({'a': {'b': 1}, 'a.b': 2}, r"two conditions \$eq on 'a\.b'"),
        ({'a': {f'b{i}': i for i in range(11)}}, '11 conditions; the limit is 10'),
        ({'$or': {'a': 1}}, "unknown operator '\\$or'"),
        ({'a': {'b': {'$gt': 1, 'c': 2}}}, "unknown operator 'c'"),
    ],
)
def test_what_the_language_does_not_have_is_refused(
    filled: Robot, condition: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        filled.query_records(where=condition)
    with pytest.raises(InvalidArgument, match=message):
        filled.recall(context_filter=condition)


@pytest.mark.parametrize(
    ('condition', 'expected'),
    [
        ({'aisle': {'$gte': '7A'}}, {'b', 'c'}),
        ({'aisle': {'$gte': '4K', '$lt': '7B'}}, {'a', 'b'}),
        ({'aisle': {'$lt': '10 in'}}, set()),
        ({'mixed': {'$gt': '3V'}}, {'b'}),
        ({'nowhere': {'$gt': '2 N'}}, set()),
        ({'frame_id': {'$gt': '3d'}}, set()),
        ({'content': {'$lt': '1 T'}}, set()),
    ],
)
def test_labels_that_look_like_amounts_are_ordered_as_texts(
    robot: Robot, condition: dict[str, Any], expected: set[str]
) -> None:
    for name, aisle, mixed in (('a', '5C', 1), ('b', '7A', '4V'), ('c', '9A', '1V')):
        robot.learn(f'record {name}', context={'aisle': aisle, 'mixed': mixed})
    assert matching(robot, condition) == expected


def test_an_amount_is_refused_in_every_tool_that_filters(filled: Robot) -> None:
    for ask in (
        lambda: filled.list_timeline(where={'f': {'$lt': '2 N'}}),
        lambda: filled.explain_recall('', context_filter={'f': {'$lt': '2 N'}}),
    ):
        with pytest.raises(InvalidArgument, match='is an amount with a unit'):
            ask()


def test_ten_conditions_are_taken_with_a_thousand_values_each(filled: Robot) -> None:
    condition = {f'a{i}': {'$nin': [*range(500), *map(str, range(500))]} for i in range(10)}
    assert matching(filled, condition) == ALL


@pytest.mark.parametrize('key', ['$', "a'b", 'a b', 'a[0]', 'ключ', '1', '键', 'a-b', '#', '*'])
def test_a_key_of_any_letters_is_a_step_of_a_path(robot: Robot, key: str) -> None:
    robot.learn('with the key', context={'p': {key: 1}})
    robot.learn('without it', context={'p': {'other': 1}})
    expected = 0 if key == '1' else 1
    assert robot.query_records(where={f'p.{key}': 1}).total_count == expected


def test_a_combining_operator_is_refused(robot: Robot) -> None:
    with pytest.raises(InvalidArgument, match=r'unknown operator .*\$or'):
        robot.query_records(where={'$or': [{'category': 'gotcha'}]})


@pytest.mark.parametrize('time', ['10000-01-01', '99999-12-31T00:00:00Z'])
def test_a_year_after_9999_is_refused_in_words(robot: Robot, time: str) -> None:
    with pytest.raises(InvalidArgument, match='must be an ISO 8601 time'):
        robot.query_records(where={'created_at': {'$gt': time}})


def test_occurred_at_is_when_it_was_measured_and_else_when_it_was_stored(
    robot: Robot, clock: MovableClock
) -> None:
    occurred: dict[str, int] = {}
    for number in range(12):
        clock.forward(seconds=1)
        name = f'm{number}'
        if number % 3:
            # Measured hours before it was stored, some of it at the same moment.
            measured = clock.now - 3_600_000_000 * (number % 4)
            robot.save_perception(f'record {name}', stamp=Stamp(measured * 1000 + 999))
        else:
            measured = clock.now
            robot.learn(f'record {name}')
        occurred[name] = measured
    for low in sorted(occurred.values()):
        for operators, passes in (
            ({'$gte': format_instant(low)}, low.__le__),
            ({'$lt': format_instant(low)}, low.__gt__),
            ({'$eq': format_instant(low)}, low.__eq__),
            (
                {'$gte': format_instant(low), '$lt': format_instant(low + 1_000_001)},
                range(low, low + 1_000_001).__contains__,
            ),
        ):
            wanted = {name for name, at in occurred.items() if passes(at)}
            assert matching(robot, {'occurred_at': operators}) == wanted, operators


KINDS = ('fact', 'perception', 'turn')


@pytest.mark.parametrize(
    'among', [['fact'], ['perception'], ['turn'], ['fact', 'turn'], [*KINDS], ['other', 5], []]
)
def test_candidates_of_a_kind_are_all_of_that_kind(robot: Robot, among: list[Any]) -> None:
    for number in range(4):
        robot.learn(f'the valve {number} is open')
        robot.save_perception(f'a valve {number} was seen')
        robot.save_conversation(f'is valve {number} open?', f'valve {number} is')
    robot.forget(1, 'closed')
    robot.forget(2, 'closed')
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET perception_type = NULL WHERE id IN (2, 6)')
    condition = {'kind': {'$in': among}}
    (query,) = compile_filter('where', condition).candidates
    with robot.memory.db.read() as connection:
        found = [row[0] for row in connection.execute(query.sql, query.values)]
        plain = {row[0] for row in connection.execute('SELECT id, type FROM memories')}
        kinds = dict(connection.execute('SELECT id, type FROM memories'))
    assert {one for one in plain if kinds[one] in among} <= set(found) <= plain
    listed = robot.query_records(where=condition, limit=1000)
    assert listed.total_count == sum(
        kind in among and one not in (1, 2) for one, kind in kinds.items()
    )

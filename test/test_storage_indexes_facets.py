"""What leads to the memories that a filter holds of, and that it misses none."""

from __future__ import annotations

from typing import Any

import apsw
import pytest
from amounts import few_or_many
from hypothesis import example, given, settings
from hypothesis import strategies as st
from stores import index_rows, keep, replace, store

from robot_memory.core.authority import THE_STORE
from robot_memory.core.clock import DAY, ClockReading, format_instant
from robot_memory.storage import epochs
from robot_memory.storage.indexes import facets
from robot_memory.storage.indexes.filters import (
    ACTIVE,
    Where,
    active_in,
    compile_filter,
    equal,
    find_few,
)
from robot_memory.storage.tables import accesses, memories

BEGINNING = 'x' * 32
texts = st.sampled_from(
    ['', 'a', 'b', 'ä', '1', 'true', "'", '\n', '\U0001f600', BEGINNING]
    + [BEGINNING + end for end in 'abc']
)
numbers = st.one_of(
    st.integers(-2, 3),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from([0.1, 0.3, 1.5, 2**53 + 1, 2**63, -(2**63) - 1, 10**400, -0.0, 5e-324]),
)
scalars = st.one_of(st.none(), st.booleans(), numbers, texts)
lists = st.lists(scalars, max_size=5) | st.sampled_from([[{'a': 1}], [0, [1, 2]], [[]], [None, 1]])
values = st.one_of(scalars, lists, st.just({'a': 1}))
keys = st.sampled_from(['a', 'b', 'c', '', '1', '12345678901', 'a.b', 'ä', "'", '\n', '[0]', '"'])
contexts = st.recursive(
    st.dictionaries(keys, values, max_size=4),
    lambda inner: st.dictionaries(keys, values | inner, max_size=4),
    max_leaves=6,
) | st.integers(60, 70).map(lambda many: {'a': 1, 'c': {str(i): i for i in range(many)}})
of_names = ['a', 'b', 'a.a', 'a.b', 'a.b.c', 'ä', "'", '\n', '[0]', 'c.64']
of_items = [
    '1',
    '12345678901',
    'a.0',
    'a.1',
    'a.01',
    'a.3',
    'a.0.a',
    'a.1.0',
    'a.b.0',
    'c.2',
    'a.[]',
]
paths = st.sampled_from([*of_names, *of_items])
conditions = st.dictionaries(
    paths,
    st.one_of(
        values,
        st.dictionaries(
            st.sampled_from(['$gt', '$gte', '$lt', '$lte']), numbers | texts, min_size=1
        ),
        st.dictionaries(st.sampled_from(['$eq', '$ne']), values, min_size=1),
        st.dictionaries(
            st.sampled_from(['$in', '$nin']), st.lists(values, max_size=3), min_size=1
        ),
    ),
    min_size=1,
    max_size=2,
)


def scanned(connection: apsw.Connection, where: Where) -> list[int]:
    """Return the ids that pass by looking at every memory."""
    rows = connection.execute(
        f'SELECT m.id FROM memories AS m WHERE {where.sql} ORDER BY m.id', where.values
    )
    return [row[0] for row in rows]


def check(connection: apsw.Connection, where: Where) -> None:
    """Compare what the ways lead to with what looking at every memory finds."""
    truth = scanned(connection, where)
    for way in where.candidates:
        led = {row[0] for row in connection.execute(way.sql, way.values)}
        assert led >= set(truth), way.sql
    assert memories.find_ids(connection, where) == truth
    assert memories.count(connection, where) == len(truth)
    assert find_few(connection, where, 1000) == (truth if where.candidates else None)
    assert [record.id for record in memories.list_newest(connection, where, 1000)] == truth[::-1]
    assert [record.id for record in memories.list_newest(connection, where, 2, 1)] == truth[::-1][
        1:3
    ]


@settings(max_examples=few_or_many(75, 300), deadline=None, database=None, derandomize=True)
@given(
    st.lists(contexts, min_size=1, max_size=8),
    st.lists(contexts, max_size=3),
    st.lists(conditions, min_size=1, max_size=6),
)
@example([{'a': 10**400}, {'a': 2}], [], [{'a': {'$gt': 1}}, {'a': 10**400}])
@example([{'a': [1, 'x', None]}, {'a': [1, 2, 3, 4]}], [], [{'a.0': 1}, {'a.3': {'$gt': 3}}])
@example([{'a': [{'a': 1}]}, {'a': [[0, 2]]}], [], [{'a.0.a': 1}, {'a.00.1': {'$gte': 2}}])
@example([{'a': BEGINNING + 'a'}], [], [{'a': {'$lt': BEGINNING + 'b'}}])
def test_the_ways_lead_to_all_that_a_filter_holds_of(
    kept: list[dict[str, Any]], later: list[dict[str, Any]], asked: list[dict[str, Any]]
) -> None:
    connection = store()
    for at, context in enumerate(kept):
        keep(connection, context, at)
    for memory_id, context in enumerate(later[: len(kept)], 1):
        replace(connection, memory_id, context)
    memories.retire(connection, len(kept), 'invalidated', THE_STORE, 'over', 9)
    for condition in asked:
        where = compile_filter('where', condition)
        check(connection, where)
        check(connection, ACTIVE & where)
        check(connection, active_in('default', 0.5) & where)
    fresh = store()
    for context in [*later[: len(kept)], *kept[len(later) :]]:
        keep(fresh, context)
    assert index_rows(connection)[0] == index_rows(fresh)[0]


def test_a_condition_on_one_value_leads_only_to_the_memories_that_have_it() -> None:
    connection = store()
    for value in (True, 1, '1', 1.0, False, 0, 'true', 1.5, None, [1], {'a': 1}):
        keep(connection, {'v': value})
    for condition, ids in (
        (True, [1]),
        (1, [2, 4]),
        ('1', [3]),
        (False, [5]),
        ({'$gt': 0, '$lt': 2}, [2, 4, 8]),
        ({'$gte': ''}, [3, 7]),
        ({'$in': [True, 'true', 0]}, [1, 6, 7]),
    ):
        (way,) = compile_filter('where', {'v': condition}).candidates
        assert sorted(row[0] for row in connection.execute(way.sql, way.values)) == ids


@pytest.mark.parametrize('condition', [None, {'$ne': 1}, {'$nin': [1]}, {'$in': [1, None]}, [1]])
def test_what_holds_of_absent_values_and_of_arrays_has_no_way(condition: Any) -> None:
    assert not compile_filter('where', {'v': condition}).candidates
    assert not compile_filter('where', {'0': 1}).candidates


def test_a_memory_of_too_many_facets_is_a_candidate_of_each_path() -> None:
    connection = store()
    keep(connection, {f'k{i}': i for i in range(facets.MOST)})
    keep(connection, {f'k{i}': i for i in range(facets.MOST + 1)})
    check(connection, compile_filter('where', {'k7': 7}))
    ((number,),) = connection.execute('SELECT count(*) FROM facets WHERE memory_id = 2')
    assert number == 1


@pytest.mark.parametrize(
    'condition',
    [
        {'created_at': {'$gte': format_instant(3), '$lt': format_instant(6)}},
        {'created_at': format_instant(5)},
        {'created_at': {'$in': [format_instant(2), format_instant(7), None]}},
        {'created_at': {'$in': []}},
        {'created_at': {'$ne': format_instant(3)}},
        {'updated_at': {'$gte': format_instant(5)}},
        {'updated_at': {'$lte': format_instant(5)}},
        {'last_accessed': {'$gt': format_instant(50)}},
        {'last_accessed': None},
        {'stamp': {'$gt': format_instant(3)}},
        {'stamp': {'$gte': format_instant(3), '$lte': format_instant(5)}},
        {'stamp': format_instant(4)},
        {'stamp': {'$lt': '9999-12-31'}},
        {'stamp': {'$gt': '0001-01-01'}},
        {'stamp': {'$in': [format_instant(2), format_instant(4)]}},
        {'record_id': 'mem_3'},
        {'memory_id': {'$in': [2, '3', True, 4.0, None]}},
        {'memory_id': {'$in': [2, '3', True, 4.0]}},
        {'session_id': 'none such'},
        {'actor_id': {'$in': ['actor 1', 5]}},
        {'event_id': 'event 2'},
        {'category': 'gotcha'},
        {'category': {'$in': ['gotcha', 'observation']}},
        {'collection': 'lab'},
        {'collection': 'lab', 'status': 'invalidated'},
        {'status': {'$in': ['invalidated', 'superseded']}},
        {'status': {'$ne': 'active'}},
    ],
)
def test_the_ways_of_columns_and_times_lead_to_all_that_they_hold_of(
    condition: dict[str, Any],
) -> None:
    connection = store()
    for i in range(10):
        keep(
            connection,
            {},
            at=i,
            stamp=None if i % 3 == 0 else i * 1000 + i,
            actor_id=f'actor {i % 3}' if i % 2 else None,
            event_id=f'event {i}',
            collection='lab' if i > 7 else 'default',
        )
    replace(connection, 3, {'changed': True})
    epochs.enter(connection, ClockReading(1, 1, 'one boot', '', True), DAY)
    accesses.record(connection, {4: (1, 100), 5: (2, 10)}, trusted=True)
    for memory_id in (6, 9):
        memories.retire(connection, memory_id, 'invalidated', THE_STORE, 'over', 20)
    connection.execute("UPDATE memories SET category = 'gotcha' WHERE id IN (2, 6)")
    where = compile_filter('where', condition)
    check(connection, where)
    check(connection, ACTIVE & where)
    check(connection, equal('actor_id', 'actor 1') & where)


@pytest.mark.parametrize(
    ('condition', 'index'),
    [
        (
            {'created_at': {'$gte': format_instant(1), '$lt': format_instant(2)}},
            'memories_by_time',
        ),
        ({'stamp': {'$gte': format_instant(1)}}, 'memories_by_measurement'),
        ({'updated_at': {'$gte': format_instant(1)}}, 'memories_by_change'),
        ({'last_accessed': {'$gte': format_instant(1)}}, 'memories_by_access'),
        ({'actor_id': 'anna'}, 'memories_by_actor'),
        ({'event_id': 'lunch'}, 'memories_by_event'),
        ({'session_id': 'x'}, 'memories_by_session'),
        ({'perception_type': 'tactile'}, 'memories_by_perception'),
        ({'frame_id': {'$in': ['map', 'odom']}}, 'memories_by_frame'),
        ({'category': 'gotcha'}, 'memories_by_category'),
        ({'strategy_name': 'persona'}, 'memories_by_strategy'),
        ({'confidence': {'$gt': 0.9}}, 'memories_by_collection'),
        ({'collection': 'lab'}, 'memories_by_collection'),
        ({'status': 'superseded'}, 'memories_ended'),
        ({'task.success': True}, 'facets'),
        ({'params.force': {'$gte': 10, '$lte': 11}}, 'facets'),
    ],
)
def test_ways_search_an_index_and_then_the_rows_by_id(
    condition: dict[str, Any], index: str
) -> None:
    connection = store()
    (way,) = compile_filter('where', condition).candidates

    def plan(sql: str, *values: Any) -> list[str]:
        return [row[3] for row in connection.execute(f'EXPLAIN QUERY PLAN {sql}', values)]

    steps = plan(way.sql, *way.values)
    assert any('SEARCH' in step and index in step for step in steps), steps
    scanned_ = [step for step in steps if step.startswith('SCAN memories')]
    assert not [step for step in scanned_ if 'memories_ended' not in step], steps
    rows = plan(
        f'SELECT m.id FROM memories AS m NOT INDEXED WHERE m.id IN ({way.sql})', *way.values
    )
    assert rows[0] == 'SEARCH m USING INTEGER PRIMARY KEY (rowid=?)'


def test_a_condition_on_an_item_leads_only_to_lists_that_may_have_it() -> None:
    connection = store()
    for value in ([1, 2, 3], [5, 'x'], [5], [], ['y', 1], [1, 2, 3, 4], [{'b': 5}], 5, {'0': 5}):
        keep(connection, {'v': value})

    def led(condition: Any) -> set[int]:
        (way,) = compile_filter('where', condition).candidates
        return {row[0] for row in connection.execute(way.sql, way.values)}

    other = {6, 7}  # their items are no facets
    assert led({'v.0': 5}) == {2, 3, 9} | other
    assert led({'v.0': {'$gt': 2}}) == {2, 3, 9} | other
    assert led({'v.1': 'x'}) == {2} | other
    assert led({'v.2': {'$lte': 3}}) == {1} | other
    assert not compile_filter('where', {'v.0': None}).candidates
    assert facets.list_names(connection) == ['v']

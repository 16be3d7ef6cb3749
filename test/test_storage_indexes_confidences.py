"""Conditions on confidence: indexes find what plain SQL finds; what faded is counted."""

from __future__ import annotations

import operator
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.storage.indexes.confidences import find_range, has_faded, list_candidates
from robot_memory.storage.indexes.filters import active_before_decay, compile_filter
from robot_memory.storage.tables import lookup

LEVELS = (0.0, 0.05, 0.29, 0.3, 0.5, 0.85, 0.9, 0.95, 1.0)
level = st.sampled_from((*LEVELS, 0.123, 0.3000001, 1))
strange = st.sampled_from((-1, 2, 10**400, -(10**400), '0.5', True, None))
TESTS: dict[str, Any] = {
    '$gt': operator.gt,
    '$gte': operator.ge,
    '$lt': operator.lt,
    '$lte': operator.le,
}
conditions = st.one_of(
    st.dictionaries(st.sampled_from(list(TESTS)), level, min_size=1, max_size=3),
    st.fixed_dictionaries({'$in': st.lists(st.one_of(level, strange), max_size=3)}),
    st.fixed_dictionaries({'$nin': st.lists(st.one_of(level, strange), max_size=3)}),
    st.fixed_dictionaries({'$eq': st.one_of(level, strange)}),
    st.fixed_dictionaries({'$ne': st.one_of(level, strange)}),
    st.fixed_dictionaries({'$gt': st.sampled_from((-(10**400), 10**400, -1, 2))}),
)
rows = st.lists(
    st.tuples(
        st.sampled_from(LEVELS),
        st.sampled_from(LEVELS),
        st.sampled_from(('lab', 'hall', 'yard')),
        st.booleans(),
    ),
    min_size=1,
    max_size=12,
)


def set_rows(robot: Robot, told: list[tuple[float, float, str, bool]]) -> None:
    """Give memories that are there what a test wants of them."""
    with robot.memory.db.write() as connection:
        for number, (now, before, collection, is_active) in enumerate(told, 1):
            connection.execute(
                'UPDATE memories SET confidence = ?, confidence_base = ?, collection = ?,'
                ' status = ? WHERE id = ?',
                (now, before, collection, 'active' if is_active else 'invalidated', number),
            )
        connection.execute("UPDATE memories SET status = 'invalidated' WHERE id > ?", (len(told),))


@pytest.fixture
def filled(robot: Robot) -> Robot:
    for number in range(12):
        robot.learn(f'part {number} is in box {number + 30}')
    return robot


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=rows, condition=conditions)
def test_candidates_are_all_that_plain_sql_finds(
    filled: Robot, told: list[tuple[float, float, str, bool]], condition: dict[str, Any]
) -> None:
    set_rows(filled, told)
    where = compile_filter('where', {'confidence': condition})
    with filled.memory.db.read() as connection:
        plain = {
            row[0]
            for row in connection.execute(
                f'SELECT m.id FROM memories AS m NOT INDEXED WHERE {where.sql}', where.values
            )
        }
        for query in where.candidates:
            found = [row[0] for row in connection.execute(query.sql, query.values)]
            assert len(found) == len(set(found))
            assert plain <= set(found)
        assert set(lookup.find_ids(connection, where)) == plain
    bounds = [(TESTS[sign], value) for sign, value in condition.items() if sign in TESTS]
    if bounds:
        assert {one for one in plain if one <= len(told)} == {
            number
            for number, (now, *_) in enumerate(told, 1)
            if all(test(now, value) for test, value in bounds)
        }


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(told=rows, least=level)
def test_what_may_have_faded_is_told_exactly_where_it_is_few(
    filled: Robot, told: list[tuple[float, float, str, bool]], least: float
) -> None:
    set_rows(filled, told)
    with filled.memory.db.read() as connection:
        for place in ('lab', 'hall', 'nowhere'):
            inside = [one for one in told if one[2] == place and one[3]]
            faded = any(before >= least > now for now, before, *_ in inside)
            assert has_faded(connection, place, least) == faded
            where = active_before_decay(place, least)
            assert lookup.find_ids(connection, where) == [
                number
                for number, (_, before, collection, is_active) in enumerate(told, 1)
                if is_active and collection == place and before >= least
            ]
            sure = sorted(now for now, *_ in inside)
            assert find_range(connection, place) == ((sure[0], sure[-1]) if sure else None)


def test_a_condition_that_bounds_nothing_has_no_candidates() -> None:
    for operators in ({'$ne': 0.5}, {'$nin': [0.5]}, {'$eq': '0.5'}, {'$in': [0.5, None]}, {}):
        assert list_candidates(operators) == ()


def test_what_decayed_is_counted_where_many_faded_and_many_did_not(
    robot: Robot, clock: MovableClock
) -> None:
    for number in range(120):
        robot.learn(f'old part {number} is in box {number + 300}')
    clock.forward(days=300)
    robot.end_session(robot.start_session().session_id)
    for number in range(120):
        robot.learn(f'new item {number} is on shelf {number + 900}')
    assert robot.recall('part', n=10).faded == 10
    assert robot.recall('shelf', n=10).faded == 0


def test_an_empty_answer_tells_the_range_of_all_confidences(robot: Robot) -> None:
    robot.learn('the red cup is wet')
    robot.learn('the blue cup may be dry, perhaps')
    sure = sorted(one.confidence for one in robot.query_records().records)
    why = robot.recall('cup', context_filter={'confidence': {'$gt': 0.99}}).why_empty
    assert why == (
        f'No memory passes the condition on confidence; it runs from {sure[0]:g} to {sure[-1]:g}.'
    )
    why = robot.recall('cup', min_confidence=0.99).why_empty
    assert f'is {sure[-1]:.2f}; min_confidence is 0.99' in require(why)

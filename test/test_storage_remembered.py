"""Names are looked up once in a write transaction, and what was rolled back is forgotten."""

from __future__ import annotations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from robots import Robot
from stores import index_rows, store

from robot_memory.core.authority import Writer
from robot_memory.storage import remembered
from robot_memory.storage.indexes import facets
from robot_memory.storage.tables import event_keys, event_names, writers
from robot_memory.storage.tables.event_keys import Identity


def test_a_name_keeps_its_id_while_it_is_remembered(robot: Robot) -> None:
    with robot.memory.db.write() as connection, remembered.remember():
        first = event_names.intern(connection, 'cup')
        assert event_names.intern(connection, 'cup') == first
        assert remembered.get('event_names', 'cup') == first
        assert event_names.intern(connection, 'cup') == first
        assert event_names.find_id(connection, 'cup') == first
        assert event_names.find_id(connection, 'glass') is None
        assert event_names.read(connection, [first]) == {None: None, first: 'cup'}
    assert remembered.get('event_names', 'cup') is None


def test_a_store_without_events_has_no_kinds_yet(robot: Robot) -> None:
    one = Identity('arm', '/wrench', 'contact', 1, 2, 3)
    with robot.memory.db.write() as connection, remembered.remember():
        for name in (one.source, one.topic, one.subject, 'default'):
            event_names.intern(connection, name)
        assert event_keys.around(connection, one, 'default') == []
        assert event_keys.list_overlapping(connection, one, 'default') == []


def _intern_and_refuse(robot: Robot) -> None:
    with robot.memory.db.write() as connection, remembered.remember():
        gone = event_names.intern(connection, 'cup')
        assert event_names.intern(connection, 'cup') == gone
        raise RuntimeError('refused')


def test_what_was_rolled_back_is_forgotten(robot: Robot) -> None:
    with pytest.raises(RuntimeError, match='refused'):
        _intern_and_refuse(robot)
    with robot.memory.db.write() as connection, remembered.remember():
        event_names.intern(connection, 'glass')
        number = event_names.intern(connection, 'cup')
        assert event_names.read(connection, [number]) == {None: None, number: 'cup'}


def test_writers_are_told_apart(robot: Robot) -> None:
    one, other = Writer('tap', 'cell', '', 'robot:1'), Writer('tap', 'cell', 'robot:1', '')
    with robot.memory.db.write() as connection, remembered.remember():
        ids = [writers.get_id(connection, writer) for writer in (one, other, one, other)]
    assert ids[:2] == ids[2:]
    assert ids[0] != ids[1]


values = st.one_of(
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([2**53 - 1, 2**53, 2**63, -(2**63) - 1, 10**400, -0.0, 5e-324, 1e308]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(['', 'true', "'", '\U0001f600' * 40, 'x' * 33, '1']),
    st.lists(st.integers(0, 2), max_size=4),
    st.none(),
)
contexts = st.dictionaries(st.sampled_from(['a', 'b', 'ä', "'", '"']), values, max_size=4)


@settings(max_examples=40, deadline=None, database=None, derandomize=True)
@given(st.lists(contexts, min_size=1, max_size=6))
@example([{'a': 1, 'b': True}, {'a': 1.0, 'b': 1}, {'a': 'x' * 40, 'b': False}])
def test_facets_are_the_same_whether_their_paths_are_remembered(given_: list[dict]) -> None:  # type: ignore[type-arg]
    plain, together = store(), store()
    for number, context in enumerate(given_ * 2, 1):
        facets.put(plain, number, context)
    with remembered.remember():
        for number, context in enumerate(given_ * 2, 1):
            facets.put(together, number, context)
    assert index_rows(together) == index_rows(plain)

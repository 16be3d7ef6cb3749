"""What is nearest, found outward in a grid, against measuring every memory."""

from __future__ import annotations

import itertools
import json
import math
import random
import sys
from collections.abc import Sequence
from typing import Any

import apsw
import pytest
from amounts import few_or_many
from hypothesis import example, given, settings
from hypothesis import strategies as st
from narrowing import require
from robots import Robot
from stores import index_rows, keep, replace, store

from robot_memory.core.authority import THE_STORE
from robot_memory.core.json_text import parse_finite
from robot_memory.storage.indexes import positions as places
from robot_memory.storage.indexes.filters import ACTIVE, Where, active_in, compile_filter
from robot_memory.storage.tables import memories

P = '$."p"'
DEEP = '$."o"."p"'
odd = st.sampled_from(
    [
        0.1,
        -0.0,
        1e-12,
        3e-12,
        5e-324,
        1e12,
        1e300,
        1.7e308,
        -1.7e308,
        6.8e7,
        -(2**26),
        10**400,
        True,
    ]
)
coordinates = st.integers(-3, 3) | st.floats(-1, 1) | odd
positions = (
    st.lists(st.integers(-2, 2), min_size=3, max_size=3)
    | st.lists(coordinates, min_size=1, max_size=5)
    | st.lists(st.integers(0, 1), min_size=2, max_size=2)
)
contexts = st.fixed_dictionaries(
    {},
    optional={
        'p': positions,
        'o': st.fixed_dictionaries({'p': positions}, optional={'a.b': positions, '"': positions}),
        'ok': st.booleans(),
        'l': st.lists(positions, max_size=2),
    },
) | st.just({str(i): [i] for i in range(places.MOST)} | {'p': [0, 0, 0]})


def measured(
    connection: apsw.Connection,
    where: Where,
    place: str,
    target: Sequence[float],
    max_distance: float | None = None,
) -> tuple[list[tuple[int, float]], set[int]]:
    """Return all that passes, nearest first, and the other lengths, by measuring each memory."""
    rows = connection.execute(
        'SELECT m.id, json_extract(m.context, ?) FROM memories AS m'
        f" WHERE json_type(m.context, ?) = 'array' AND {where.sql}",
        (place, place, *where.values),
    )
    found: list[tuple[int, float]] = []
    others: set[int] = set()
    for memory_id, text in rows:
        values = json.loads(text)
        position = [x for x in map(parse_finite, values) if x is not None]
        if not position or len(position) != len(values):
            continue
        if len(position) != len(target):
            others.add(len(position))
            continue
        distance = math.dist(position, target)
        if distance <= (sys.float_info.max if max_distance is None else max_distance):
            found.append((memory_id, distance))
    return sorted(found, key=lambda pair: (pair[1], pair[0])), others


def check(
    connection: apsw.Connection,
    where: Where,
    place: str,
    target: Sequence[float],
    max_distance: float | None = None,
) -> None:
    """Compare the way outward with measuring, by the ways of the condition and by the grid."""
    expected, others = measured(connection, where, place, target, max_distance)
    for condition in (where, Where(where.sql, where.values)):
        asked = (connection, condition, 'default', place)
        found = [*itertools.chain.from_iterable(places.find_nearest(*asked, target, max_distance))]
        assert found == expected
        assert places.find_other_lengths(*asked, len(target)) == others


@settings(max_examples=few_or_many(75, 300), deadline=None, database=None, derandomize=True)
@given(
    st.lists(contexts, min_size=1, max_size=12),
    st.integers(1, 6),
    st.lists(contexts, max_size=3),
    st.lists(
        st.tuples(
            st.sampled_from([P, DEEP, '$."l"[0]', '$."q"']),
            st.lists(
                coordinates.map(parse_finite).filter(lambda x: x is not None),
                min_size=1,
                max_size=5,
            ),
            st.none() | st.sampled_from([0, 1, 1.5, 1e-12, 5e-324, 1e308]) | st.floats(0, 5),
        ),
        min_size=1,
        max_size=4,
    ),
)
@example([{'p': [0.1, 0.2, 0.3]}], 6, [], [(P, [0.1, 0.2, 0.3], 0)])
@example([{'p': [1.7e308, 0, 0]}, {'p': [-1.7e308, 0, 0]}], 6, [], [(P, [1e308, 0, 0], None)])
@example([{'p': [i % 7 / 10, 0]} for i in range(12)], 6, [], [(P, [0.3, 0], None)])
def test_outward_comes_what_measuring_every_memory_finds(
    kept: list[dict[str, Any]],
    times: int,
    later: list[dict[str, Any]],
    asked: list[tuple[str, list[float], float | None]],
) -> None:
    connection = store()
    for _, context in itertools.product(range(times), kept):
        keep(connection, context)
    for context in kept[:2]:
        keep(connection, context, collection='lab')
    for memory_id, context in enumerate(later[: len(kept)], 1):
        replace(connection, memory_id, context)
    memories.retire(connection, len(kept), 'invalidated', THE_STORE, 'over', 9)
    for place, target, max_distance in asked:
        everything = active_in('default')
        check(connection, everything, place, target, max_distance)
        check(
            connection,
            everything & compile_filter('where', {'ok': True}),
            place,
            target,
            max_distance,
        )
    for memory_id in memories.find_ids(connection, ACTIVE):
        memories.retire(connection, memory_id, 'invalidated', THE_STORE, 'over', 9)
    assert index_rows(connection)[1] == []


@pytest.mark.parametrize('scale', [1e-9, 1e-3, 1.0, 1e3, 1e9, 1e200])
@pytest.mark.parametrize('length', [1, 2, 3, 7])
def test_at_every_scale_the_nearest_come_first(scale: float, length: int) -> None:
    chance = random.Random(length)
    connection = store()
    connection.execute('BEGIN')
    for i in range(few_or_many(300, 600)):
        around = 5 if i % 3 else 0.01
        position = [chance.gauss(2, around) * scale for _ in range(length)]
        keep(connection, {'p': position, 'ok': i % 9 == 0})
    everything = active_in('default')
    for where in (everything, everything & compile_filter('where', {'ok': True})):
        for target in ([2 * scale] * length, [0.0] * length, [1e4 * scale] * length):
            check(connection, where, P, target)
            check(connection, where, P, target, 1.5 * scale)


def test_many_at_one_point_come_by_id_and_those_beside_it_where_they_belong() -> None:
    connection = store()
    connection.execute('BEGIN')
    for i in range(400):
        keep(connection, {'p': [0.1, 0.2, 0.3 + (i % 5 == 0) * 1e-9]})
    check(connection, active_in('default'), P, [0.1, 0.2, 0.3])
    check(connection, active_in('default'), P, [0.1, 0.2, 0.3 + 1e-9])
    check(connection, active_in('default'), P, [7, 7, 7])


def test_the_far_ones_are_not_even_read() -> None:
    connection = store()
    connection.execute('BEGIN')
    chance = random.Random(4)
    for _ in range(3000):
        keep(connection, {'p': [chance.uniform(0, 10) for _ in range(3)]})
    expected, _ = measured(connection, ACTIVE, P, [5, 5, 5])
    connection.executemany(
        "UPDATE memories SET context = '{' WHERE id = ?", [(pair[0],) for pair in expected[100:]]
    )
    outward = places.find_nearest(connection, active_in('default'), 'default', P, [5, 5, 5], None)
    found = next(outward)
    assert found == expected[: len(found)]
    assert len(found) >= 20


def test_words_come_first_each_group_nearest_first(robot: Robot) -> None:
    chance = random.Random(3)
    distances: dict[str, tuple[int, float]] = {}
    for i in range(400):
        things = ' '.join(chance.choices(('cup', 'plate', 'door', 'tray'), k=2))
        position = [chance.uniform(0, 4), chance.uniform(0, 4)]
        answer = robot.learn(
            f'the {things} stood there {i}', context={'p': position, 'ok': i % 10 == 0}
        )
        distances[f'the {things} stood there {i}'] = (
            require(answer.memory_id),
            math.dist(position, [1, 2]),
        )
    for query, condition, n in itertools.product(
        ('cup', 'tray door', 'tray 77', 'nothing', ''), ({}, {'ok': True}), (1, 7, 100)
    ):
        terms = query.split()
        expected = sorted(
            (text for text in distances if not condition or distances[text][0] % 10 == 1),
            key=lambda text: (
                not set(terms) & set(text.split()),
                distances[text][1],
            ),
        )
        found = robot.recall(
            query=query,
            context_filter=condition,
            spatial_sort={'field': 'p', 'target': [1, 2]},
            n=n,
        )
        assert [memory.content for memory in found.memories] == expected[:n]
        some = any(set(terms) & set(text.split()) for text in expected)
        assert found.mode == ('bm25_only' if some else 'filter')

"""The way outward in the grid, against measuring every position: crowds, gaps, several paths."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Sequence

import apsw
import pytest
from stores import store

from robot_memory.storage.indexes.cells import make_cell
from robot_memory.storage.indexes.outward import walk_outward

Point = tuple[float, float, float]
FAR = 6.7e7  # at the edge of the grid


def put(connection: apsw.Connection, path: int, points: Sequence[Point]) -> None:
    """Index points under a path, by ids from 1000 times the path on."""
    connection.execute('PRAGMA foreign_keys = OFF')
    connection.executemany(
        'INSERT INTO places (path_id, cell, memory_id) VALUES (?, ?, ?)',
        [(path, make_cell(point), 100_000 * path + i) for i, point in enumerate(points)],
    )


def crowd(chance: random.Random) -> Iterator[Point]:
    """Yield points in clusters of every size, one of them in a single cell, and far away."""
    for scale in (0.0, 1e-6, 1e-3, 0.1, 10.0, 1e5):
        middle = [chance.uniform(-20, 20) for _ in range(3)]
        for _ in range(700):
            x, y, z = (at + chance.uniform(-scale, scale) for at in middle)
            yield x, y, z
    yield from itertools.product((-FAR, 0.0, FAR), repeat=3)
    yield from ((1e300, 0.0, 0.0), (-1e300, 1e300, 1e300), (0.0, 0.0, -1.7e308))


@pytest.mark.parametrize('seed', range(3))
def test_crowds_and_gaps_come_whole_each_once_and_nearest_first(seed: int) -> None:
    chance = random.Random(seed)
    connection = store()
    points = [list(crowd(chance)) for _ in range(2)]
    put(connection, 1, points[0])
    put(connection, 2, points[1])
    targets = [points[0][0], points[1][1500], points[0][4000], (FAR, FAR, FAR), (-1e300, 1.0, 2.0)]
    for target in targets:
        other = (target[1], target[0], target[2])
        asked = [(1, target), (2, other)]
        found = list(walk_outward(connection, asked))
        away = [distance for distance, _ in found]
        assert away == sorted(away)
        assert sorted(memory_id for _, memory_id in found) == sorted(
            100_000 * path + i for path in (1, 2) for i in range(len(points[path - 1]))
        )
        for distance, memory_id in found:
            path, i = divmod(memory_id, 100_000)
            true = math.dist(points[path - 1][i], (target, other)[path - 1])
            assert distance <= true
            if max(map(abs, (*points[path - 1][i], *target))) < FAR / 2:
                assert true - distance < 2e-6 + 2e-9 * true


@pytest.mark.parametrize('within', [0.0, 1e-6, 0.05, 3.0, 1e9])
def test_what_lies_within_a_bound_comes_and_little_else(within: float) -> None:
    chance = random.Random(5)
    connection = store()
    points = list(crowd(chance))
    put(connection, 1, points)
    for target in (points[0], points[2500], (3.0, 4.0, 5.0)):
        found = list(walk_outward(connection, [(1, target)], within))
        near = {
            100_000 + i for i, point in enumerate(points) if math.dist(point, target) <= within
        }
        assert near <= {memory_id for _, memory_id in found}
        assert all(distance <= within for distance, _ in found)


def test_without_paths_or_positions_nothing_comes() -> None:
    connection = store()
    assert list(walk_outward(connection, [])) == []
    assert list(walk_outward(connection, [(None, (0.0, 0.0, 0.0)), (3, (1.0, 2.0, 3.0))])) == []


def test_a_short_target_counts_its_own_numbers_alone() -> None:
    connection = store()
    put(connection, 1, [(5.0, 0.0, 0.0), (1.0, 0.0, 0.0), (-2.0, 0.0, 0.0)])
    found = [memory_id for _, memory_id in walk_outward(connection, [(1, (1.5,))])]
    assert found == [100_001, 100_000, 100_002] or found == [100_001, 100_002, 100_000]


def test_the_first_of_many_take_few_statements_and_read_few_rows() -> None:
    chance = random.Random(9)
    connection = store()
    for path in (1, 2, 3):
        points = [
            (chance.uniform(0, 20), chance.uniform(0, 20), chance.uniform(0, 20))
            for _ in range(20_000)
        ]
        put(connection, path, points)
    asked: list[str] = []

    def trace(_: apsw.Cursor, sql: str, bound: object) -> bool:
        asked.append(sql)
        return True

    connection.exec_trace = trace
    for _ in range(50):
        target = [chance.uniform(0, 20) for _ in range(3)]
        walk = walk_outward(connection, [(path, target) for path in (1, 2, 3)])
        assert len(list(itertools.islice(walk, 8))) == 8
    assert len(asked) < 50 * 4

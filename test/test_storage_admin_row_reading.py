"""Rows of a damaged table: without checksums, whatever page is hit."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw
import pytest
from test_storage_damage import list_pages

from robot_memory.storage.admin.row_reading import Table, list_columns, read_rows

SIZE = 4096
ROWS = 20_000
MOST_ON_A_LEAF = 60


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A plain file of SQLite with ids below and above zero, far apart, on some hundred leaves."""
    path = tmp_path / 'plain.db'
    connection = apsw.Connection(str(path))
    connection.execute('CREATE TABLE notes (id INTEGER PRIMARY KEY, said TEXT)')
    connection.execute('BEGIN')
    for number in range(ROWS):
        row = (number - 50) * (1 if number < 9_000 else 10**9)
        connection.execute('INSERT INTO notes VALUES (?, ?)', (row, f'note {number} ' * 8))
    connection.execute('COMMIT')
    connection.close()
    return path


def read(path: Path) -> tuple[dict[int, str], list[str]]:
    connection = apsw.Connection(str(path))
    lost: list[str] = []
    table = Table('notes', list_columns(connection, 'notes'))
    rows = list(read_rows(connection, table, lost.append))
    connection.close()
    assert len({row[0] for row in rows}) == len(rows)
    return {row[0]: row[1] for row in rows}, lost


def fill_pages(
    path: Path, whole: bytes, starts: Sequence[int], make: Callable[[int], bytes]
) -> None:
    data = bytearray(whole)
    for start in starts:
        data[start : start + SIZE] = make(SIZE)
    path.write_bytes(data)


def test_a_whole_table_is_read_whole(store: Path) -> None:
    rows, lost = read(store)
    assert (len(rows), lost) == (ROWS, [])


def test_of_a_broken_leaf_only_its_rows_are_lost_and_told(store: Path) -> None:
    true, _ = read(store)
    whole = store.read_bytes()
    leaves = list_pages(store, 'notes', 'leaf')
    for start in (leaves[0], leaves[1], leaves[len(leaves) // 2], leaves[-1]):
        fill_pages(store, whole, [start], lambda size: bytes([7]) * size)
        rows, lost = read(store)
        gone = sorted(set(true) - set(rows))
        assert rows == {row: true[row] for row in rows}
        assert 0 < len(gone) <= MOST_ON_A_LEAF
        assert len(lost) == 1
        if start == leaves[0]:
            assert lost == [f'all rows to {gone[-1]}, as far as there were any'], gone
        elif start == leaves[-1]:
            assert re.fullmatch(r'all rows from \d+ on, as far as there were any', lost[0])
        else:
            since, until = map(int, re.findall(r'\d+', lost[0]))
            assert {row for row in true if since <= row <= until} == set(gone)


def test_noise_in_some_leaves_costs_their_rows_alone(store: Path) -> None:
    chance = random.Random(11)
    true, _ = read(store)
    whole = store.read_bytes()
    leaves = list_pages(store, 'notes', 'leaf')
    for _ in range(40):
        fill_pages(store, whole, chance.sample(leaves, 3), chance.randbytes)
        rows, lost = read(store)
        kept = set(true) & set(rows)
        assert all(rows[row] == true[row] for row in kept)
        assert ROWS - 3 * MOST_ON_A_LEAF <= len(kept) < ROWS
        assert lost


def test_noise_in_any_pages_is_told_and_has_an_end(store: Path) -> None:
    chance = random.Random(12)
    whole = store.read_bytes()
    pages = range(SIZE, len(whole), SIZE)
    for _ in range(40):
        fill_pages(store, whole, chance.sample(pages, 8), chance.randbytes)
        _, lost = read(store)
        assert lost

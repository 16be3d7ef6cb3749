"""Damaged indexes of a store in use are made anew from its rows, which stay as they are."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amounts import LONG
from robots import Robot, check_file, make_store
from test_storage_damage import list_pages
from test_storage_indexes_forms import detect

from robot_memory.core.errors import Unavailable
from robot_memory.storage import checksums, damage
from robot_memory.storage.admin import index_filling, index_mending
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.connection import Database
from robot_memory.storage.indexes import forms, other_vectors, set_aside

SIZE = 4096
DAMAGES = 120 if LONG else 25
RECORDS = ('memories', 'observations', 'audit', 'payloads', 'sessions', 'events')
INDEXES = ('memories_by_hash', 'memories_by_time', 'sqlite_autoindex_facet_paths_1')


def fill(robot: Robot) -> None:
    for number in range(400):
        robot.learn(
            f'Shelf {number} of aisle {number % 7} holds part {number * 37}',
            context={
                'spatial': {'shelf': [number / 10, number % 7, 0.5]},
                'env': {'light': number, 'house': f'hall {number % 5} of the north wing'},
            },
        )
    robot.learn('Shelf 3 of aisle 3 holds part 111', context={'env': {'light': 9.5}})
    robot.save_perception('Felt a push', 'tactile', data={'peak': 3})
    robot.forget(memory_id=7, reason='it was moved')


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store whose indexes have several pages; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill)


def read_records(path: Path) -> dict[str, list[Any]]:
    connection = checksums.connect(path)
    found = {
        table: connection.execute(f'SELECT * FROM {table} ORDER BY 1').fetchall()
        for table in RECORDS
    }
    connection.close()
    return found


def list_derived(path: Path) -> dict[int, tuple[str, str]]:
    """Return the pages of indexes and derived tables, with their names and kinds."""
    names = (*set_aside.GROUP_OF, *INDEXES)
    kinds = ('leaf', 'internal', 'overflow')
    return {
        start // SIZE + 1: (name, kind)
        for name in names
        for kind in kinds
        for start in list_pages(path, name, kind)
    }


def choose_pages(derived: dict[int, tuple[str, str]], chance: random.Random) -> list[int]:
    """Return one to three pages, none of which leads to another: that would be unknown then."""
    while True:
        chosen = chance.sample(sorted(derived), chance.randrange(1, 4))
        names = [derived[number][0] for number in chosen]
        deep = [derived[number][0] for number in chosen if derived[number][1] != 'leaf']
        if all(names.count(name) == 1 for name in deep):
            return chosen


def spoil(path: Path, numbers: list[int], chance: random.Random) -> None:
    with path.open('r+b') as file:
        for number in numbers:
            file.seek((number - 1) * SIZE)
            page = bytearray(file.read(SIZE))
            if chance.random() < 0.5:
                page[chance.randrange(SIZE)] ^= 1 << chance.randrange(8)
            else:
                page = bytearray(chance.randbytes(SIZE))
            file.seek((number - 1) * SIZE)
            file.write(page)


def mend(path: Path) -> list[str]:
    database = Database(path, 'normal')
    damaged = damage.find_damaged(path)
    plan = index_mending.make_plan(database, damage.find_owners(path, damaged))
    assert plan is not None
    index_mending.mend(database, plan)
    while index_filling.list_left(database):
        index_filling.fill(database)
    database.close()
    return plan.names


def test_damaged_indexes_are_made_anew_and_no_record_changes(store: Path) -> None:
    chance = random.Random(3)
    whole, before = store.read_bytes(), read_records(store)
    derived = list_derived(store)
    made = set()
    for _ in range(DAMAGES):
        store.write_bytes(whole)
        spoil(store, choose_pages(derived, chance), chance)
        made.update(mend(store))
        assert damage.find_damaged(store) == []
        assert read_records(store) == before
        check_file(store)
        assert all(check.holds for check in verify(store)), verify(store)
    print(f'{DAMAGES} damaged stores, made anew: {", ".join(sorted(made))}')
    assert {'words', 'vectors', 'contexts'} <= made


@pytest.mark.parametrize('name', [*set_aside.GROUP_OF, *INDEXES])
def test_the_first_page_of_each_index_is_made_anew(store: Path, name: str) -> None:
    before = read_records(store)
    roots = damage.read_roots(store)
    spoil(store, [roots[name]], random.Random(1))
    assert mend(store) == [set_aside.GROUP_OF.get(name, name)]
    assert read_records(store) == before
    check_file(store)
    assert all(check.holds for check in verify(store)), verify(store)


def test_an_index_that_filling_another_looks_rows_up_by_is_made_anew_first(store: Path) -> None:
    before, roots = read_records(store), damage.read_roots(store)
    names = ('form_vectors', 'sqlite_autoindex_facet_paths_1')
    spoil(store, [roots[name] for name in names], random.Random(1))
    assert mend(store) == ['sqlite_autoindex_facet_paths_1', 'vectors']
    assert read_records(store) == before
    check_file(store)


@pytest.mark.parametrize('which', [0, 1, -1])
def test_of_a_damaged_leaf_of_vectors_its_rows_alone_are_made_anew(
    store: Path, which: int
) -> None:
    before = read_vectors(store)
    start = list_pages(store, 'indexed', 'leaf')[which]
    spoil(store, [start // SIZE + 1], random.Random(1))
    (leaf,) = damage.name_pages(store, damage.find_damaged(store), damage.read_roots(store))
    assert mend(store) == ['vectors']
    after = read_vectors(store)
    lost = [row for row in before if row not in after]
    assert 0 < len(lost) < 60 and len(after) == len(before)
    assert all((leaf.first or 0) <= row[0] <= (leaf.last or 10**9) for row in lost)
    assert [row[:4] for row in after] == [row[:4] for row in before]
    assert not any(row[4] for row in after if row not in before), 'they wait for vectors'
    check_file(store)
    assert all(check.holds for check in verify(store)), verify(store)


@pytest.mark.parametrize('table', ['other_vectors', 'form_vectors'])
def test_without_vectors_of_other_models_or_of_forms_the_index_stays_as_it_is(
    open_robot: Callable[..., Robot], store: Path, table: str
) -> None:
    robot = open_robot(resident=False)
    detect(robot, 'the gripper jams on the left shelf for 2.5 s', 1)
    robot.close()
    before = read_vectors(store)
    database = Database(store, 'normal')
    with database.write() as connection:
        other_vectors.use_second(connection, 'another', 8, ('en',), False)
        while (second := other_vectors.find_second(connection)) and other_vectors.scan(
            connection, second, 100
        ):
            pass
        connection.execute("UPDATE other_vectors SET coarse = x'03', fine = x'04'")
    counts = count_vectors(database)
    assert counts['another'][0] > 300 and counts['another'][1] == 1
    database.close()
    spoil(store, [damage.read_roots(store)[table]], random.Random(1))
    assert mend(store) == ['vectors']
    assert read_vectors(store) == before
    database = Database(store, 'normal')
    with database.write() as connection:
        while (second := other_vectors.find_second(connection)) and other_vectors.scan(
            connection, second, 100
        ):
            pass
    known, missing = counts['another']
    left = (0, known + missing) if table == 'other_vectors' else (known, missing)
    assert count_vectors(database) == {'another': left}
    with database.read() as connection:
        assert forms.count(connection, forms.FIRST, 'NULL') == 1
    database.close()
    check_file(store)
    assert all(check.holds for check in verify(store)), verify(store)


def count_vectors(database: Database) -> dict[str, tuple[int, int]]:
    with database.read() as connection:
        return other_vectors.count(connection)


def read_vectors(path: Path) -> list[Any]:
    """Return the rows of the index of vectors, having given each one that lacks it a vector."""
    connection = checksums.connect(path)
    if not connection.execute('SELECT 1 FROM indexed WHERE coarse IS NOT NULL').fetchone():
        connection.execute("UPDATE indexed SET coarse = x'01', fine = x'02' WHERE form IS NULL")
    columns = 'memory_id, collection, real, terms, coarse, fine, form'
    found = connection.execute(f'SELECT {columns} FROM indexed ORDER BY 1').fetchall()
    connection.close()
    return found


def test_damage_to_records_is_left_alone(store: Path) -> None:
    roots = damage.read_roots(store)
    spoil(store, [list_pages(store, 'memories', 'leaf')[2] // SIZE + 1], random.Random(1))
    spoil(store, [roots['facets']], random.Random(1))
    database = Database(store, 'normal')
    damaged = damage.find_damaged(store)
    assert index_mending.make_plan(database, damage.find_owners(store, damaged)) is None
    database.close()


def test_what_another_process_mended_meanwhile_is_left_as_it_is(store: Path) -> None:
    roots = damage.read_roots(store)
    spoil(store, [roots['facets']], random.Random(1))
    database = Database(store, 'normal')
    owners = damage.find_owners(store, damage.find_damaged(store))
    plan = index_mending.make_plan(database, owners)
    assert plan is not None
    mend(store)
    with pytest.raises(Unavailable, match='written meanwhile'):
        index_mending.mend(database, plan)
    database.close()
    assert all(check.holds for check in verify(store)), verify(store)

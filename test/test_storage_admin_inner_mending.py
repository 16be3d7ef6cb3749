"""Damaged inner pages of the index of vectors are made anew in place, and no row of it is."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from robots import Robot, check_file, make_store
from test_storage_damage import list_pages

from robot_memory.core.errors import Unavailable
from robot_memory.storage import checksums, damage
from robot_memory.storage.admin import index_mending, inner_mending
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.connection import Database

SIZE = 4096
MEMORIES = 620
"""Each has a page of its own, which more than one inner page leads to."""


def fill(robot: Robot) -> None:
    for number in range(MEMORIES):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.forget(memory_id=300, reason='it was moved')
    robot.save_perception('Felt a push', 'tactile', data={'noise': random.Random(3).random()})
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE indexed SET coarse = randomblob(1500), fine = randomblob(1500)')


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store whose index of vectors has inner pages on two levels; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill)


def read_rows(path: Path) -> list[Any]:
    connection = checksums.connect(path)
    found = connection.execute('SELECT * FROM indexed ORDER BY memory_id').fetchall()
    connection.close()
    return found


def break_pages(path: Path, *starts: int) -> list[int]:
    with path.open('r+b') as file:
        for start in starts:
            file.seek(start)
            file.write(random.Random(start).randbytes(SIZE))
    return [start // SIZE + 1 for start in starts]


def mend(path: Path) -> list[str]:
    database = Database(path, 'normal')
    owners = damage.find_owners(path, damage.find_damaged(path))
    plan = index_mending.make_plan(database, owners)
    assert plan is not None
    assert index_mending.mend(database, plan) == {}
    database.close()
    return plan.names


def check(path: Path) -> None:
    assert damage.find_damaged(path) == []
    check_file(path)
    assert all(one.holds for one in verify(path)), verify(path)


def test_each_inner_page_is_made_anew_and_each_row_stays_as_it_was(store: Path) -> None:
    whole, before = store.read_bytes(), read_rows(store)
    inner = list_pages(store, 'indexed', 'internal')
    assert len(inner) > 2
    for start in inner:
        store.write_bytes(whole)
        (number,) = break_pages(store, start)
        database = Database(store, 'normal')
        assert inner_mending.restore(database, [number]) == {number}
        database.close()
        assert read_rows(store) == before
        check(store)


def test_several_inner_pages_beside_leaves_and_other_indexes_are_made_anew(store: Path) -> None:
    before = read_rows(store)
    root = damage.read_roots(store)['indexed']
    inner = set(list_pages(store, 'indexed', 'internal')) - {(root - 1) * SIZE}
    break_pages(store, *inner, *list_pages(store, 'memories_by_time', 'leaf')[:2])
    assert mend(store) == ['memories_by_time', 'vectors']
    assert read_rows(store) == before
    check(store)


def test_beside_a_damaged_leaf_the_rows_of_that_alone_are_made_anew(store: Path) -> None:
    before = read_rows(store)
    connection = checksums.connect(store)
    pages: dict[str, int] = dict(
        connection.execute("SELECT path, pageno FROM dbstat WHERE name = 'indexed'")
    )
    connection.close()
    break_pages(store, *((pages[path] - 1) * SIZE for path in ('/000/', '/001/003/')))
    assert mend(store) == ['vectors']
    after = read_rows(store)
    assert [row[:4] for row in after] == [row[:4] for row in before]
    assert sum(row not in after for row in before) == 1
    check(store)


def test_a_page_that_is_half_written_is_made_anew_by_who_comes_next(store: Path) -> None:
    before = read_rows(store)
    start = list_pages(store, 'indexed', 'internal')[-1]
    break_pages(store, start)
    broken = store.read_bytes()
    assert mend(store) == ['vectors']
    made = store.read_bytes()
    for part in (512, 2048, 4090):
        store.write_bytes(broken[:start] + made[start : start + part] + broken[start + part :])
        assert mend(store) == ['vectors']
        assert read_rows(store) == before
        check(store)


def test_what_another_process_mended_meanwhile_is_left_as_it_is(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (number,) = break_pages(store, list_pages(store, 'indexed', 'internal')[-1])
    database = Database(store, 'normal')
    look = inner_mending._leads_to_all

    def look_and_mend(*arguments: Any) -> bool:
        found = look(*arguments)
        other = Database(store, 'normal')
        inner_mending._write(other, arguments[1], list(arguments[2].values()))
        other.close()
        return found

    monkeypatch.setattr(inner_mending, '_leads_to_all', look_and_mend)
    with pytest.raises(Unavailable, match='written meanwhile'):
        inner_mending.restore(database, [number])
    database.close()
    check(store)


def test_what_was_written_by_who_had_read_the_page_before_is_found(
    open_robot: Callable[..., Robot], store: Path
) -> None:
    robot = open_robot(resident=False)
    robot.learn('The kettle stands in the pantry')
    inner = list_pages(store, 'indexed', 'internal')
    with robot.memory.db.read():  # the log is not written into the file meanwhile
        break_pages(store, *inner[-1:])
        robot.learn('The ladle hangs beside the stove')
        robot.memory.mender.look()
    robot.memory.mender.look()
    robot.close()
    check(store)
    again = open_robot(name='memory', resident=False)
    assert again.contents(query='ladle', n=1) == ['The ladle hangs beside the stove']
    assert len(read_rows(store)) == MEMORIES + 2

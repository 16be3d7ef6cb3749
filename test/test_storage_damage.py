"""Bits that flip: no wrong text is told, and what is hit is named."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amounts import LONG
from robots import Robot, make_store

from robot_memory.core.errors import RobotMemoryError, Unavailable
from robot_memory.storage import checksums, damage
from robot_memory.storage.admin.verify import accept_pages
from robot_memory.storage.connection import Database
from robot_memory.storage.page_file import RESERVED, open_pages

TEXT = 'SELECT id, content FROM memories WHERE id = ?'
FLIPS = 1_000 if LONG else 150


def fill(robot: Robot) -> None:
    for number in range(300):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.learn('The last one of all')


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of several levels of pages; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill)


def read_texts(path: Path) -> dict[int, str]:
    """Return the texts that can be read, each by a query of its own."""
    found: dict[int, str] = {}
    try:
        database = Database(path, 'normal')
    except RobotMemoryError:
        return {}
    for memory_id in range(1, 302):
        try:
            with database.read() as connection:
                found.update(
                    connection.execute(
                        'SELECT id, content FROM memories WHERE id = ?', (memory_id,)
                    )
                )
        except RobotMemoryError:
            continue
    database.close()
    return found


def test_of_flipped_bits_each_is_detected_and_no_wrong_text_is_told(store: Path) -> None:
    chance = random.Random(11)
    true, whole = read_texts(store), store.read_bytes()
    assert len(true) == 301 and damage.find_damaged(store) == []
    with open_pages(store) as file:
        unused, size = file.list_unused(), file.page_size
    wrong, missed = 0, 0
    for _ in range(FLIPS):
        place = chance.randrange(len(whole))
        store.write_bytes(
            whole[:place] + bytes([whole[place] ^ 1 << chance.randrange(8)]) + whole[place + 1 :]
        )
        number = place // size + 1
        header = place in (20, *range(16, 18))  # the size of a page, and whether it has checksums
        if number not in unused and not header:
            missed += damage.find_damaged(store) != [number]
            missed += damage.find_flipped(store, [number]) != [number]
        told = read_texts(store)
        wrong += any(true.get(memory_id) != text for memory_id, text in told.items())
        for rest in ('-wal', '-shm'):
            store.with_name(store.name + rest).unlink(missing_ok=True)
    print(f'{FLIPS} flips, {wrong} wrong texts, {missed} not detected')
    assert (wrong, missed) == (0, 0)


def list_pages(store: Path, name: str, kind: str) -> list[int]:
    """Return the pages of a table or index, as SQLite counts them."""
    connection = checksums.connect(store)
    rows: list[Any] = connection.execute(
        'SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ? ORDER BY pageno', (name, kind)
    ).fetchall()
    size = connection.pragma('page_size')
    connection.close()
    return [(row[0] - 1) * size for row in rows]


def break_page(store: Path, start: int) -> None:
    with store.open('r+b') as file:
        file.seek(start + 300)
        (byte,) = file.read(1)
        file.seek(start + 300)
        file.write(bytes([byte ^ 4]))


@pytest.mark.parametrize('which', [0, 1, -1])
def test_the_memories_of_a_damaged_page_are_named_and_the_others_are_read(
    store: Path, which: int
) -> None:
    break_page(store, list_pages(store, 'memories', 'leaf')[which])
    left = read_texts(store)
    lost = sorted(set(range(1, 302)) - set(left))
    (page,) = damage.name_pages(store, damage.find_damaged(store), damage.read_roots(store))
    assert page.owner == 'memories' and (page.first or 1) == lost[0]
    assert page.last == lost[-1] or (page.last is None and lost[-1] == 301)
    assert lost == list(range(lost[0], lost[-1] + 1))
    database = Database(store, 'normal')
    with (
        pytest.raises(
            Unavailable,
            match=f'memories, memories .*{lost[-1] if page.last else lost[0]}.*salvage',
        ),
        database.read() as connection,
    ):
        connection.execute(TEXT, (lost[0],)).fetchall()
    database.close()


@pytest.mark.parametrize(
    ('name', 'kind'),
    [('memories_by_hash', 'leaf'), ('memories_fts_data', 'leaf'), ('memories', 'internal')],
)
def test_what_an_index_or_an_interior_page_is_of_is_named(
    store: Path, name: str, kind: str
) -> None:
    break_page(store, list_pages(store, name, kind)[0])
    (page,) = damage.name_pages(store, damage.find_damaged(store), damage.read_roots(store))
    assert page.owner == name


def test_a_long_value_that_is_damaged_is_told(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False)
    noise = random.Random(3).randbytes(20_000).hex()
    robot.save_perception('Felt a long push', 'tactile', data=f'{{"noise": "{noise}"}}')
    robot.close()
    store = robot.memory.db.path
    connection = checksums.connect(store)
    (owners,) = zip(
        *connection.execute("SELECT DISTINCT name FROM dbstat WHERE pagetype = 'overflow'"),
        strict=True,
    )
    connection.close()
    break_page(store, list_pages(store, owners[0], 'overflow')[1])
    assert 'long value' in damage.describe(store)


def test_a_long_value_of_zeros_is_told_though_their_checksum_is_zero(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(resident=False)
    words = ' '.join(random.Random(3).choices('red green blue white north south'.split(), k=1500))
    robot.learn(f'The shelf is {words}')
    robot.learn('The lift is slow')
    robot.close()
    store = robot.memory.db.path
    whole = store.read_bytes()
    for place in (
        *list_pages(store, 'memories', 'overflow'),
        *list_pages(store, 'memories', 'leaf'),
    ):
        store.write_bytes(whole[:place] + bytes(4096) + whole[place + 4096 :])
        assert damage.find_damaged(store) == damage.find_blank(store) == [place // 4096 + 1]
        again = open_robot(resident=False)
        with pytest.raises(Unavailable, match=f'is damaged: page {place // 4096 + 1} '):
            again.show(memory_id=1)
        again.close()
        with pytest.raises(Unavailable, match=f'page {place // 4096 + 1} of .* is blank'):
            accept_pages(store)
    store.write_bytes(whole)
    assert damage.find_blank(store) == []


def test_a_part_may_end_in_zeros(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False)
    robot.save_perception('Felt nothing', 'tactile')
    with robot.memory.db.write() as connection:
        connection.execute(
            'INSERT INTO parts (memory_id, name, media_type, size, protected, content)'
            " VALUES (1, 'signal', 'application/octet-stream', 40000, 0, zeroblob(40000))"
        )
    robot.close()
    assert damage.find_zeros(robot.memory.db.path) != set()
    assert damage.find_damaged(robot.memory.db.path) == []


def test_a_store_without_checksums_tells_of_no_damage(tmp_path: Path) -> None:
    import old_stores

    path = old_stores.fixture(21, tmp_path)
    assert damage.find_damaged(path) == []
    Database(path, 'normal', upgrade=True).close()
    assert path.read_bytes()[20] == RESERVED
    assert damage.find_damaged(path) == []

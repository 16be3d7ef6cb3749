"""A new store from what can be read of a damaged one."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest
from amounts import LONG
from old_stores import fixture, opened
from robots import Robot, check_file, make_store
from test_storage_damage import break_page, list_pages

from robot_memory.core.errors import Unavailable
from robot_memory.storage import checksums
from robot_memory.storage.admin.salvage import salvage
from robot_memory.storage.admin.verify import verify

DAMAGES = 200 if LONG else 15
FACTS = 200
SIZE = 4096
TABLES = ('memories', 'payloads', 'parts', 'audit')


def fill(robot: Robot) -> None:
    chance = random.Random(5)
    session = robot.start_session().session_id
    for number in range(FACTS):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
        if number % 10 == 0:
            noise = chance.randbytes(3_000).hex()
            data = f'{{"noise": "{noise}"}}'
            robot.save_perception(f'Felt push {number}', 'tactile', data=data, session_id=session)


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store with facts, perceptions and payloads on several pages; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill)


def read_rows(path: Path, table: str) -> dict[int, tuple[object, ...]]:
    connection = checksums.connect(path)
    rows = {int(row[0]): row[1:] for row in connection.execute(f'SELECT rowid, * FROM {table}')}
    connection.close()
    return rows


def find_pages_of_rows(path: Path, table: str) -> dict[int, set[int]]:
    """Return the pages of each row of a table, by what cannot be read when a page is broken."""
    whole = path.read_bytes()
    pages: dict[int, set[int]] = {row: set() for row in read_rows(path, table)}
    for kind in ('leaf', 'overflow'):
        for start in list_pages(path, table, kind):
            break_page(path, start)
            connection = checksums.connect(path)
            for row in pages:
                try:
                    connection.execute(f'SELECT * FROM {table} WHERE rowid = ?', (row,)).fetchall()
                except apsw.Error:
                    pages[row].add(start // SIZE + 1)
            connection.close()
            path.write_bytes(whole)
    return pages


def do_damage(whole: bytes, pages: list[int], chance: random.Random) -> bytes:
    """Return a file with some pages full of zeros, sevens or noise, or with one bit flipped."""
    data = bytearray(whole)
    for page in pages:
        start, how = (page - 1) * SIZE, chance.randrange(4)
        if how in (0, 3):
            data[start : start + SIZE] = bytes([7 if how else 0]) * SIZE
        elif how == 1:
            data[start + chance.randrange(SIZE)] ^= 1 << chance.randrange(8)
        else:
            data[start : start + SIZE] = chance.randbytes(SIZE)
    return bytes(data)


def test_every_row_whose_pages_are_whole_is_brought_back(store: Path, tmp_path: Path) -> None:
    chance = random.Random(29)
    whole = store.read_bytes()
    true = {table: read_rows(store, table) for table in TABLES}
    lies_on = {table: find_pages_of_rows(store, table) for table in TABLES}
    usable = range(1, len(whole) // SIZE + 1)
    schema = [1, *(start // SIZE + 1 for start in list_pages(store, 'sqlite_schema', 'leaf'))]
    brought = missing = wrong = 0
    for number in range(DAMAGES):
        broken = chance.sample(usable, chance.randrange(1, 4))
        broken += [chance.choice(schema)] if number % 3 == 0 else []
        data = do_damage(whole, broken, chance)
        if number % 5 == 4:
            first = chance.randrange(len(usable) // 4, len(usable))
            data = data[: (first - 1) * SIZE + chance.randrange(SIZE)]
            broken += range(first, len(usable) + 1)
        store.write_bytes(data)
        new = tmp_path / f'salvaged-{number}.db'
        salvage(store, new)
        check_file(new)
        gone = set(true['memories']) - set(read_rows(new, 'memories'))
        for table in TABLES:
            found = read_rows(new, table)
            for row, values in true[table].items():
                owner = values[1] if table == 'parts' else row
                is_whole = not lies_on[table][row] & set(broken)
                if row in found:
                    brought += 1
                    # The reference to a lost row is cleared; memories are indexed anew.
                    wrong += table != 'memories' and any(
                        now not in (before, None)
                        for now, before in zip(found[row], values, strict=True)
                    )
                elif is_whole and (table in ('memories', 'audit') or owner not in gone):
                    missing += 1
        new.unlink()
    print(f'{DAMAGES} damaged stores: {brought} rows, {missing} whole ones missing, {wrong} wrong')
    assert (missing, wrong) == (0, 0)


@pytest.mark.parametrize('in_file', [0, 5])
def test_what_only_the_log_has_is_brought_back(
    open_robot: Callable[..., Robot], tmp_path: Path, in_file: int
) -> None:
    """As after a power cut: the file and its log, of which nothing was brought into the file."""
    if in_file:
        robot = open_robot()
        for number in range(in_file):
            robot.learn(f'The lathe {number} is in bay {number + 7}')
        robot.close()
    robot = open_robot()
    for number in range(5):
        robot.learn(f'The pump {number} is on port {number + 7}')
    for suffix in ('', '-wal'):
        shutil.copy(f'{robot.memory.db.path}{suffix}', tmp_path / f'cut.db{suffix}')
    assert (tmp_path / 'cut.db-wal').stat().st_size
    done = salvage(tmp_path / 'cut.db', tmp_path / 'new.db')
    assert (done.copied['memories'], done.lost) == (in_file + 5, {})
    check_file(tmp_path / 'new.db')


def test_a_store_that_is_written_meanwhile_is_named_with_who_writes(
    robot: Robot, tmp_path: Path
) -> None:
    robot.learn('The pump is on port 7')
    program = (
        'import sys\n'
        'from pathlib import Path\n'
        'from robot_memory.storage.admin.salvage import salvage\n'
        'done = salvage(Path(sys.argv[1]), Path(sys.argv[2]))\n'
        "print(done.copied['memories'], done.lost)\n"
    )
    command = [sys.executable, '-c', program, str(robot.memory.db.path), str(tmp_path / 'new.db')]
    ran = subprocess.run(command, capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("1 {'what is written in the meantime': ['process ")
    assert f'process {os.getpid()} ' in ran.stdout


@pytest.mark.parametrize('place', range(10))
def test_rows_are_brought_back_where_the_list_of_tables_is_damaged(
    store: Path, tmp_path: Path, place: int
) -> None:
    pages = [0, *list_pages(store, 'sqlite_schema', 'leaf')]
    assert len(pages) == 10
    true = {table: read_rows(store, table) for table in TABLES}
    with store.open('r+b') as file:
        file.seek(pages[place])
        file.write(random.Random(place).randbytes(SIZE))
    new = tmp_path / 'salvaged.db'
    done = salvage(store, new)
    check_file(new)
    assert done.lost == {}
    for table in TABLES:
        found = read_rows(new, table)
        if table != 'memories':
            assert found == true[table]


def test_the_only_leaf_of_a_table_that_is_whole_is_brought_back(
    store: Path, tmp_path: Path
) -> None:
    true = read_rows(store, 'memories')
    rest = list_pages(store, 'memories', 'leaf')[1:]
    for start in rest:
        break_page(store, start)
    salvage(store, tmp_path / 'salvaged.db')
    assert 0 < len(read_rows(tmp_path / 'salvaged.db', 'memories')) < len(true)


def test_what_a_store_takes_is_counted_anew(store: Path, tmp_path: Path) -> None:
    for start in list_pages(store, 'payloads', 'leaf') + list_pages(store, 'parts', 'leaf'):
        break_page(store, start)
    salvage(store, tmp_path / 'salvaged.db')
    connection = checksums.connect(tmp_path / 'salvaged.db')
    noted = connection.execute("SELECT value FROM sizes WHERE name = 'payloads'").fetchall()
    assert (
        noted
        == connection.execute(
            'SELECT coalesce(sum(size), 0) FROM parts WHERE content IS NOT NULL'
        ).fetchall()
    )
    connection.close()


def test_a_store_that_was_upgraded_is_salvaged_without_its_list_of_tables(tmp_path: Path) -> None:
    opened(fixture(24, tmp_path)).close()
    store = tmp_path / 'v24.db'
    whole = store.read_bytes()
    true = {table: read_rows(store, table) for table in TABLES}
    for place, start in enumerate([0, *list_pages(store, 'sqlite_schema', 'leaf')]):
        data = bytearray(whole)
        data[start : start + SIZE] = bytes([7]) * SIZE
        store.write_bytes(data)
        new = tmp_path / f'salvaged-{place}.db'
        done = salvage(store, new)
        check_file(new)
        for table in TABLES:
            assert read_rows(new, table).keys() == true[table].keys(), (table, done.lost)


@pytest.mark.parametrize('held', [b'notes of mine, no store\n' * 2_000, b'', bytes(40_960)])
def test_of_a_file_that_is_no_store_no_new_one_is_written(tmp_path: Path, held: bytes) -> None:
    (tmp_path / 'memory.db').write_bytes(held)
    with pytest.raises(Unavailable, match=r'nothing of .*memory\.db can be salvaged'):
        salvage(tmp_path / 'memory.db', tmp_path / 'salvaged.db')
    assert [file.name for file in tmp_path.iterdir()] == ['memory.db']


LONG_TEXT = 'the north wing of the hall ' * 2_000
SIGNAL = random.Random(3).randbytes(20_000)


def fill_long(robot: Robot) -> None:
    """Keep memories with contexts, data and parts that are longer than a page."""
    robot.learn('Shelf 1 holds part 37')
    robot.learn('Never lift more than 5 kg', context={'env': {'note': LONG_TEXT}})
    robot.learn('Shelf 2 holds part 74', context={'env': {'note': LONG_TEXT[5:]}})
    robot.forget(memory_id=3, reason='it was moved')
    robot.save_perception('Felt a push', 'tactile', data={'peak': 3})
    with robot.memory.db.write() as connection:
        connection.execute(
            'INSERT INTO parts (memory_id, name, media_type, size, protected, content)'
            " VALUES (4, 'signal', 'application/octet-stream', ?, 0, ?)",
            (len(SIGNAL), SIGNAL),
        )
        data = f'{{"noise": "{SIGNAL.hex()}"}}'
        connection.execute('UPDATE payloads SET data = ?', (data,))


@pytest.fixture(scope='module')
def filled_long(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store whose rows have long values; only to read."""
    return make_store(tmp_path_factory.mktemp('long'), fill_long)


@pytest.mark.parametrize('table', ['memories', 'payloads', 'parts'])
@pytest.mark.parametrize('place', [0, 1, -1])
def test_a_row_whose_long_value_is_damaged_is_brought_back_without(
    filled_long: Path, tmp_path: Path, table: str, place: int
) -> None:
    path, new = tmp_path / 'memory.db', tmp_path / 'salvaged.db'
    path.write_bytes(filled_long.read_bytes())
    true = {name: read_rows(path, name) for name in TABLES}
    pages = list_pages(path, table, 'overflow')
    break_page(path, pages[place % len(pages)])
    done = salvage(path, new)
    (row,) = done.partial
    assert row.table == table and done.lost == {table: [str(row)]}
    found = {name: read_rows(new, name) for name in TABLES}
    assert {name: found[name].keys() for name in TABLES[:3]} == {
        name: true[name].keys() for name in TABLES[:3]
    }
    robot = opened(new)
    columns = [one[1] for one in robot.rows(f'PRAGMA table_info({table})')]
    now, before = found[table][row.id], true[table][row.id]
    made_anew = {'content_hash', 'guard', 'token_count', 'salt', 'writer_id', 'authority'}
    for name, value, old in zip(columns, now, before, strict=True):
        assert name in made_anew or value == old or name in row.lost
    if table == 'memories':
        assert 'context' in row.lost and 'status' not in row.lost
        told = robot.rows("SELECT memory_id, reason FROM audit WHERE action = 'salvaged'")
        assert told == [(row.id, f'lost: {", ".join(row.lost)}')]
        assert robot.rows('SELECT id FROM memories WHERE authority IS NULL') == []
        assert [one.id for one in robot.recall('shelf', n=5).memories] == [1]
    robot.maintain(all=True)
    assert robot.show(memory_id=4).memory.content == 'Felt a push'
    robot.close()
    check_file(new)
    assert [one for one in verify(new) if not one.holds] == []

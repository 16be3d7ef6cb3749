"""What was erased from a store stays erased where a backup takes its place."""

from __future__ import annotations

import gzip
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import old_stores
import pytest
from narrowing import require
from robots import Robot, check_file
from test_lifecycle_erasure import export
from test_storage_damage import list_pages
from test_tools_erase import erase, find_markers

from robot_memory.archive.reader import import_archive
from robot_memory.core.errors import Conflict, Unavailable
from robot_memory.storage import checksums
from robot_memory.storage.admin.restore import restore
from robot_memory.storage.admin.salvage import salvage
from robot_memory.storage.admin.verify import unpack, verify
from robot_memory.storage.upgrade import NoRoom

Open = Callable[..., Robot]


@pytest.fixture
def robot(open_robot: Open) -> Robot:
    """A robot of an operator with one memory."""
    robot = open_robot(resident=False, python_role='operator')
    robot.learn('the red door')
    return robot


def keep(robot: Robot, to: Path) -> Path:
    """Copy the store as it is."""
    with robot.memory.db.connect() as connection:
        connection.execute('VACUUM INTO ?', (str(to),))
    return to


def test_an_erasure_that_the_backup_lacks_is_carried_over(
    robot: Robot, open_robot: Open, tmp_path: Path
) -> None:
    backup = keep(robot, tmp_path / 'kept.db')
    gone = require(robot.learn('the zwetschge cup').memory_id)
    archive = export(robot, tmp_path / 'archive.jsonl')
    erase(robot, memory_ids=[gone])
    receipt = require(robot.erase(erasure=1).receipt)
    robot.close()
    path = robot.memory.db.path
    done = restore(backup, path)
    assert (done.carried, done.unread) == (1, ())
    check_file(path)
    again = open_robot(resident=False, python_role='operator')
    assert require(again.erase(erasure=1).receipt) == receipt
    import_archive(again.memory, archive)
    assert again.rows("SELECT 1 FROM memories WHERE content LIKE '%zwetschge%'") == []
    again.close()
    assert restore(backup, path).carried == 1
    assert restore(path.with_name(f'{path.name}.before-restore-2'), path).carried == 0


def test_a_backup_of_an_earlier_release_takes_tombstones_too(
    robot: Robot, open_robot: Open, tmp_path: Path
) -> None:
    erase(robot, memory_ids=[require(robot.learn('the zwetschge cup').memory_id)])
    robot.close()
    path = robot.memory.db.path
    old = old_stores.fixture(13, tmp_path)
    assert restore(old, path).carried == 1
    check_file(path)
    again = open_robot(resident=False, python_role='operator')
    assert again.rows('SELECT count(*) FROM tombstones') == [(1,)]


def test_a_backup_that_holds_what_was_erased_is_refused(robot: Robot, tmp_path: Path) -> None:
    gone = require(robot.learn('the zwetschge cup').memory_id)
    backup = keep(robot, tmp_path / 'kept.db')
    erase(robot, memory_ids=[gone])
    robot.close()
    before = robot.memory.db.path.read_bytes()
    with pytest.raises(Conflict, match=rf'holds 1 memories that were erased since \(ids {gone}\)'):
        restore(backup, robot.memory.db.path)
    assert robot.memory.db.path.read_bytes() == before


def test_tombstones_that_cannot_be_read_are_told(robot: Robot, tmp_path: Path) -> None:
    backup = keep(robot, tmp_path / 'kept.db')
    erase(robot, memory_ids=[require(robot.learn('the zwetschge cup').memory_id)])
    robot.close()
    path = robot.memory.db.path
    (start,) = list_pages(path, 'tombstones', 'leaf')
    data = bytearray(path.read_bytes())
    data[start : start + 4096] = bytes([7]) * 4096
    path.write_bytes(data)
    done = restore(backup, path)
    assert done.carried == 0
    assert done.unread == ('all rows, as far as there were any',)
    path.write_bytes(b'no store')
    done = restore(backup, path)
    assert 'cannot be read as a store' in done.unread[0]
    check_file(path)


def test_an_erasure_answers_for_what_restore_and_salvage_left_beside_the_store(
    robot: Robot, open_robot: Open, tmp_path: Path
) -> None:
    gone = require(robot.learn('the zwetschge cup').memory_id)
    backup = keep(robot, tmp_path / 'kept.db')
    robot.close()
    path = robot.memory.db.path
    salvaged = path.with_name(f'{path.name}.salvaged')
    salvage(path, salvaged)
    kept = require(restore(backup, path).kept)
    with_log = path.with_name(f'{path.name}.before-restore-2')
    shutil.copy(kept, with_log)
    with_log.with_name(f'{with_log.name}-wal').write_bytes(b'a log')
    assert find_markers(['zwetschge'], salvaged) == find_markers(['zwetschge'], kept) != []
    again = open_robot(resident=False, python_role='operator')
    done = erase(again, memory_ids=[gone])
    receipt = require(done.receipt)
    assert receipt['rewritten'] == [str(salvaged), str(kept)]
    ((named, why),) = [one.split(': ', 1) for one in receipt['still_holding']]
    assert (named, 'delete both' in why) == (str(with_log), True)
    assert find_markers(['zwetschge'], salvaged, kept, *again.memory.db.files) == []


def test_a_packed_backup_is_restored_where_no_store_was(robot: Robot, tmp_path: Path) -> None:
    backup = tmp_path / 'kept.db.gz'
    backup.write_bytes(gzip.compress(keep(robot, tmp_path / 'kept.db').read_bytes()))
    done = restore(backup, tmp_path / 'new' / 'memory.db')
    assert (done.kept, done.carried, done.unread) == (None, 0, ())
    connection = checksums.connect(tmp_path / 'new' / 'memory.db')
    assert connection.execute('SELECT content FROM memories').fetchall() == [('the red door',)]
    connection.close()


def test_of_a_packed_file_that_is_no_store_its_own_name_is_told(tmp_path: Path) -> None:
    packed = tmp_path / 'notes.gz'
    with gzip.open(packed, 'wb') as file:
        file.write(b'notes of mine, no store\n' * 500)
    for check in (verify, lambda path: restore(path, tmp_path / 'memory.db')):
        with pytest.raises(Unavailable, match=rf'^{re.escape(str(packed))} cannot be read'):
            check(packed)
    assert [file.name for file in tmp_path.iterdir()] == ['notes.gz']


def test_no_more_is_unpacked_than_the_store_in_a_packed_file_has(
    robot: Robot, tmp_path: Path
) -> None:
    whole = keep(robot, tmp_path / 'kept.db').read_bytes()
    for name, content in (('store.db.gz', whole), ('notes.gz', b'')):
        packed, copy = tmp_path / name, tmp_path / f'{name}.copy'
        with gzip.open(packed, 'wb') as file:
            file.write(content + bytes(100_000_000))
        unpack(packed, copy)
        assert copy.stat().st_size == (len(content) or 100)
    assert (tmp_path / 'store.db.gz.copy').read_bytes() == whole


def test_a_packed_store_that_the_disk_has_no_room_for_is_refused_before_it_is_unpacked(
    robot: Robot, tmp_path: Path
) -> None:
    whole = bytearray(keep(robot, tmp_path / 'kept.db').read_bytes())
    whole[16:18], whole[28:32] = b'\0\1', b'\xff\xff\xff\xfe'  # 2**32 - 2 pages of 64 kB
    packed = tmp_path / 'large.db.gz'
    packed.write_bytes(gzip.compress(whole))
    with pytest.raises(NoRoom, match='has no room for'):
        restore(packed, tmp_path / 'new.db')
    assert not list(tmp_path.glob('*new.db*'))


@pytest.mark.parametrize('place', [-6, -9])
def test_a_packed_backup_with_another_checksum_or_without_its_end_is_refused(
    robot: Robot, tmp_path: Path, place: int
) -> None:
    packed = tmp_path / 'kept.db.gz'
    content = bytearray(gzip.compress(keep(robot, tmp_path / 'kept.db').read_bytes()))
    if place == -6:
        content[place] ^= 1
    else:
        del content[place:]
    packed.write_bytes(content)
    with pytest.raises(Unavailable, match='cannot be read'):
        restore(packed, tmp_path / 'new.db')
    assert not list(tmp_path.glob('*new.db*'))


def test_a_folder_is_left_where_it_is(robot: Robot, tmp_path: Path) -> None:
    backup = keep(robot, tmp_path / 'kept.db')
    folder = tmp_path / 'folder'
    folder.mkdir()
    shutil.copy(backup, folder / 'memory.db')
    with pytest.raises(Unavailable, match='is a folder; .* the file of the store: .*memory.db'):
        restore(backup, folder)
    assert [one.name for one in folder.iterdir()] == ['memory.db']

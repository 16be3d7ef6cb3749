"""A backup is a whole store of one instant, and replaces none before it is."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from robots import MovableClock, Robot, check_file, fill, run_maintenance
from test_tools_erase import erase
from waiting import until

from robot_memory.core.errors import Conflict, InvalidArgument, Unavailable
from robot_memory.core.files import hold_file
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage.admin import backup, maintenance
from robot_memory.storage.admin.backup import back_up, backups, plan_of


def opened(path: Path, folder: Path) -> list[tuple[Any, ...]]:
    """Return what a backup holds, as a store that is opened from it tells."""
    restored = folder / f'restored-{path.name}.db'
    content = path.read_bytes()
    restored.write_bytes(gzip.decompress(content) if path.suffix == '.gz' else content)
    check_file(restored)
    with Memory(Settings(db_path=str(restored), model='none'), resident=False) as memory:
        return Robot(memory).rows('SELECT id, content FROM memories ORDER BY id')


def made(folder: Path) -> list[Path]:
    return [path for _, path in backup.backups(folder, 'memory')]


def is_newer(folder: Path, before: list[Path]) -> bool:
    return made(folder)[-1] != before[-1]


def has_backups(folder: Path, count: int) -> bool:
    return len(made(folder)) == count


@pytest.mark.parametrize(('compression', 'suffix'), [('gzip', '.db.gz'), ('none', '.db')])
def test_a_backup_is_a_whole_store(
    open_robot: Callable[..., Robot], tmp_path: Path, compression: str, suffix: str
) -> None:
    folder = tmp_path / 'backups'
    robot = open_robot(resident=False, backup_folder=str(folder), backup_compression=compression)
    fill(robot, 20)
    robot.forget(3, 'wrong')
    assert run_maintenance(robot)['backup'].done
    (path,) = made(folder)
    assert path.name == f'memory-20260225T061320Z{suffix}'
    assert path.stat().st_mode & 0o077 == 0
    assert opened(path, tmp_path) == robot.rows('SELECT id, content FROM memories ORDER BY id')
    assert [path.name for path in folder.iterdir() if path.name.endswith('.part')] == []


def test_a_store_that_outgrows_the_cache_is_backed_up_with_what_its_log_holds(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    with robot.memory.db.write() as connection:
        connection.execute(
            'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)'
            " INSERT INTO meta (key, value) SELECT 'large ' || i, hex(zeroblob(2000)) FROM n"
        )
    maintenance.checkpoint(robot.memory.db)
    fill(robot, 20)
    file = tmp_path / 'copy.db'
    backup.back_up_to(robot.memory.db, file)
    assert check_file(file) == set(range(1, 21))


def test_the_worker_makes_one_a_day_and_keeps_some(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    folder = tmp_path / 'backups'
    robot = open_robot(resident=False)
    robot.learn('the cup is red')
    robot.close()
    robot = open_robot(backup_folder=str(folder), backup_keep=2)
    first = until(lambda: made(folder), 'the first backup')
    assert not run_maintenance(robot)['backup'].done
    for count in (2, 2):
        before = made(folder)
        clock.forward(days=1)
        robot.memory.accesses.record([1])
        until(partial(is_newer, folder, before), 'the next backup')
        until(partial(has_backups, folder, count), 'the oldest to go')
    assert first[0] not in made(folder)


def test_a_backup_is_of_one_instant_while_others_write(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    fill(robot, 50)
    plan = backup.Plan(tmp_path / 'backups', backup.INTERVALS['daily'], 3, compress=False)
    wrote: list[Any] = []

    def write_meanwhile() -> bool:
        wrote.append(robot.learn(f'written meanwhile, at {len(wrote)} degrees').memory_id)
        return False

    path = backup.back_up(robot.memory.db, plan, clock(), write_meanwhile)
    assert path and wrote
    assert len(opened(path, tmp_path)) == 50


def test_an_empty_store_takes_no_backups_place(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(resident=False, backup_folder=str(tmp_path / 'backups'))
    assert run_maintenance(robot)['backup'].detail == 'not due'
    assert made(tmp_path / 'backups') == []


def test_a_backup_that_is_stopped_or_fails_leaves_the_older_ones(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    folder = tmp_path / 'backups'
    robot = open_robot(resident=False)
    robot.learn('the cup is red')
    plan = backup.Plan(folder, backup.INTERVALS['daily'], 1, compress=True)
    first = backup.back_up(robot.memory.db, plan, clock())
    clock.forward(days=2)
    assert backup.back_up(robot.memory.db, plan, clock(), lambda: True) is None
    assert made(folder) == [first]
    left_by_a_crash = folder / '.memory-20260101T000000.part'
    left_by_a_crash.write_bytes(b'half')
    second = backup.back_up(robot.memory.db, plan, clock())
    assert made(folder) == [second]
    assert not left_by_a_crash.exists()
    blocked = backup.Plan(tmp_path / 'memory.db' / 'no', backup.INTERVALS['daily'], 1, True)
    with pytest.raises(Unavailable, match='cannot create a backup of'):
        backup.back_up(robot.memory.db, blocked, clock())


def test_a_copy_that_is_not_whole_is_not_kept(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    fill(robot, 300)
    folder = tmp_path / 'backups'
    plan = backup.Plan(folder, backup.INTERVALS['hourly'], 1, compress=False)
    first = backup.back_up(robot.memory.db, plan, clock())
    clock.forward(days=1)
    with robot.memory.db.write() as connection:
        connection.pragma('ignore_check_constraints', True)
        connection.execute("UPDATE memories SET status = 'odd' WHERE id = 3")
        connection.pragma('ignore_check_constraints', False)
    with pytest.raises(Unavailable, match='incomplete'):
        backup.back_up(robot.memory.db, plan, clock())
    assert made(folder) == [first]


def test_other_files_in_the_folder_stay(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    robot.learn('the cup is red')
    plan = backup.Plan(tmp_path, backup.INTERVALS['daily'], 1, compress=False)
    others = [tmp_path / 'memory-notes.db', tmp_path / 'other-20200101T000000Z.db']
    for path in others:
        path.write_bytes(b'mine')
    backup.back_up(robot.memory.db, plan, clock())
    clock.forward(days=1)
    backup.back_up(robot.memory.db, plan, clock())
    assert len(made(tmp_path)) == 1
    assert [path.read_bytes() for path in others] == [b'mine', b'mine']
    assert apsw.Connection(str(robot.memory.db.path)).pragma('quick_check') == 'ok'


def test_a_backup_follows_no_link_that_was_planted_in_its_folder(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(backup_folder=str(tmp_path / 'backups'))
    robot.learn('the red cup is wet')
    victim = tmp_path / 'victim'
    victim.write_text('mine')
    folder = tmp_path / 'backups'
    folder.mkdir()
    plan = plan_of(robot.memory.settings)
    assert plan is not None
    moment = '20260225T061320'
    for name in (f'.memory-{moment}.part', f'.memory-{moment}.gz.part'):
        (folder / name).symlink_to(victim)
    assert back_up(robot.memory.db, plan, robot.memory.clock()) is not None
    assert victim.read_text() == 'mine'
    (folder / '.memory.lock').unlink()
    (folder / '.memory.lock').symlink_to(tmp_path / 'made')
    clock.forward(days=2)
    with pytest.raises(Unavailable, match='cannot create a backup'):
        back_up(robot.memory.db, plan, robot.memory.clock())
    assert len(backups(folder, 'memory')) == 1 and not (tmp_path / 'made').exists()


def test_a_backup_is_made_now_though_none_is_due_and_none_gives_way_unless_some_stay(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    robot.learn('the cup is red')
    plan = backup.Plan(tmp_path / 'backups', backup.INTERVALS['daily'], None, compress=True)
    three = [backup.back_up_now(robot.memory.db, plan, clock()) for _ in range(3)]
    assert made(plan.folder) == three
    assert back_up(robot.memory.db, plan, clock()) is None
    last = backup.back_up_now(robot.memory.db, replace(plan, keep=2), clock())
    assert made(plan.folder) == [three[-1], last]


def test_a_backup_with_a_name_of_its_own_is_kept_and_known_to_erasures(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False, python_role='operator')
    cup = robot.learn('the quaxaline cup is red').memory_id
    folder = tmp_path / 'stick'
    named = folder / 'before the fair.db.gz'
    backup.back_up_to(robot.memory.db, named)
    plan = backup.Plan(folder, backup.INTERVALS['daily'], 1, compress=False)
    dated = [backup.back_up_now(robot.memory.db, plan, clock()) for _ in range(2)]
    assert made(folder) == [named, dated[1]]
    assert len(opened(named, tmp_path)) == 1
    receipt = erase(robot, memory_ids=[cup])
    assert receipt.status == 'erased'
    for file in (named, dated[1]):
        assert opened(file, tmp_path) == []
    for taken in (named, tmp_path, folder / 'no' / '..' / named.name):
        with pytest.raises(Conflict, match='exists'):
            backup.back_up_to(robot.memory.db, taken)
    with pytest.raises(InvalidArgument, match='of the store itself'):
        backup.back_up_to(robot.memory.db, tmp_path / 'memory.db-journal')


def test_a_backup_waits_for_nobody_at_the_folder_and_an_empty_store_has_none(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False)
    folder = tmp_path / 'backups'
    plan = backup.Plan(folder, backup.INTERVALS['daily'], None, compress=False)
    with pytest.raises(Conflict, match='never held a memory'):
        backup.back_up_now(robot.memory.db, plan, clock())
    robot.learn('the cup is red')
    with hold_file(backup.name_lock(folder, 'memory')):
        for make in (
            partial(backup.back_up_now, robot.memory.db, plan, clock()),
            partial(backup.back_up_to, robot.memory.db, folder / 'mine.db'),
        ):
            with pytest.raises(Unavailable, match='try again'):
                make()
    assert made(folder) == []

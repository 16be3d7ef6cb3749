"""Backups, retention, and putting the file in order."""

from __future__ import annotations

import gzip
import logging
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import apsw
import pytest
from narrowing import require
from robots import MovableClock, Robot, check_file, fill
from waiting import until

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.settings import Settings
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.memory import Memory
from robot_memory.storage.admin import backup
from robot_memory.storage.tables.parts import Part
from robot_memory.text.categories import classify


def steps(robot: Robot, **arguments: Any) -> dict[str, Any]:
    return {step.name: step for step in robot.maintain(**arguments).steps}


# Maintenance


def test_a_store_in_order_stays_as_it_is(robot: Robot) -> None:
    fill(robot, 50)
    before = robot.contents(query='red cup', n=20)
    answer = robot.maintain()
    names = ['retention', 'integrity', 'words', 'statistics', 'compact', 'log', 'backup']
    assert [step.name for step in answer.steps] == names
    assert all(step.ms >= 0 for step in answer.steps)
    found = {step.name: step for step in answer.steps}
    assert (found['integrity'].done, found['compact'].done, found['backup'].done) == (
        True,
        False,
        False,
    )
    assert robot.contents(query='red cup', n=20) == before
    check_file(robot.memory.db.path)


def test_the_words_become_one_part_and_are_found_as_before(robot: Robot) -> None:
    ids = fill(robot, 200)
    for memory_id in ids[::3]:
        robot.forget(memory_id, 'wrong')
    before = robot.contents(query='red cup on the table', n=50)
    assert steps(robot)['words'].done
    assert not steps(robot)['words'].done
    assert robot.contents(query='red cup on the table', n=50) == before
    segments = 'SELECT count(DISTINCT segid) FROM memories_fts_idx'
    assert robot.rows(segments) == [(1,)]
    check_file(robot.memory.db.path)


def test_free_room_is_given_back_where_it_is_much(robot: Robot) -> None:
    content = bytes(12_000_000)
    film = (Part('film', 'image/jpeg', len(content), content),)
    store_perception(robot.memory, Perception('a film was taken', 'visual', parts=film))
    robot.learn('the cup is red')
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE parts SET content = NULL, removed_at = 1')
    assert 'compact' not in steps(robot, keep_free_room=True)
    answer = robot.maintain()
    compact = next(step for step in answer.steps if step.name == 'compact')
    assert compact.done
    assert answer.freed_bytes > 10_000_000
    assert answer.file_bytes < 2_000_000
    assert robot.contents(query='cup') == ['the cup is red']
    assert not steps(robot)['compact'].done


def test_a_broken_index_is_made_anew(robot: Robot) -> None:
    fill(robot, 20)
    with robot.memory.db.write() as connection:
        root = require(
            connection.execute(
                "SELECT rootpage FROM sqlite_schema WHERE name = 'memories_by_time'"
            ).fetchone()
        )[0]
        connection.pragma('writable_schema', True)
        connection.execute(
            "UPDATE sqlite_schema SET sql = replace(sql, '(created_at, id)', '(id, created_at)')"
            " WHERE name = 'memories_by_time'"
        )
        version = connection.pragma('schema_version')
        connection.pragma('schema_version', version + 1)
        connection.pragma('writable_schema', False)
    assert root
    found = steps(robot)['integrity']
    assert found.done
    assert found.detail == 'rebuilt indexes: memories_by_time'
    assert steps(robot)['integrity'].detail == 'the file is intact'


def test_damage_is_told_and_not_hidden(robot: Robot) -> None:
    fill(robot, 5)
    with robot.memory.db.write() as connection:
        connection.pragma('ignore_check_constraints', True)
        connection.execute("UPDATE memories SET status = 'odd' WHERE id = 3")
        connection.pragma('ignore_check_constraints', False)
    found = steps(robot)['integrity']
    assert not found.done
    assert 'CHECK constraint failed in memories' in found.detail
    assert 'backup' in found.detail


def test_the_log_is_emptied_unless_somebody_reads(robot: Robot) -> None:
    fill(robot, 30)
    log = robot.memory.db.path.with_name('memory.db-wal')
    with robot.memory.db.read() as connection:
        connection.execute('SELECT count(*) FROM memories').fetchone()
        robot.learn('written after the reader began')
        assert 'still has readers' in steps(robot)['log'].detail
    assert steps(robot)['log'].detail == 'the WAL is empty'
    assert log.stat().st_size == 0


def test_recalls_go_on_during_maintenance(robot: Robot) -> None:
    fill(robot, 300)
    stop, answered, failed = threading.Event(), [0], []

    def ask() -> None:
        while not stop.is_set():
            try:
                robot.recall('red cup')
                robot.learn(f'the tray number {answered[0]} is at dock {answered[0]}')
                answered[0] += 1
            except Exception as error:
                failed.append(error)
                return

    asking = threading.Thread(target=ask)
    asking.start()
    done = 0
    while done < 5 or not (answered[0] or failed):
        robot.maintain()
        done += 1
    stop.set()
    asking.join()
    assert not failed
    assert answered[0]
    check_file(robot.memory.db.path)


# Backups


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
    assert steps(robot)['backup'].done
    (path,) = made(folder)
    assert path.name == f'memory-20260225T061320Z{suffix}'
    assert path.stat().st_mode & 0o077 == 0
    assert opened(path, tmp_path) == robot.rows('SELECT id, content FROM memories ORDER BY id')
    assert [path.name for path in folder.iterdir() if path.name.endswith('.part')] == []


def test_the_worker_makes_one_a_day_and_keeps_some(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    folder = tmp_path / 'backups'
    robot = open_robot(resident=False)
    robot.learn('the cup is red')
    robot.close()
    robot = open_robot(backup_folder=str(folder), backup_keep=2)
    first = until(lambda: made(folder), 'the first backup')
    assert not steps(robot)['backup'].done
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
    assert steps(robot)['backup'].detail == 'not due'
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


def test_encryption_is_refused_and_not_pretended(tmp_path: Path) -> None:
    settings = Settings(db_path=str(tmp_path / 'x.db'), encryption='aes-256-gcm')
    with pytest.raises(InvalidArgument, match='LUKS'):
        Memory(settings)
    assert not (tmp_path / 'x.db').exists()


# Retention


def test_old_perceptions_and_turns_are_retired_when_a_session_ends(
    open_robot: Callable[..., Robot], clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    robot = open_robot(retention_days=30)
    robot.save_conversation('the tray is on the left', 'I see')
    robot.save_perception('the tray is seen')
    kept = [
        robot.learn('the tray is heavy').memory_id,
        robot.save_perception('how the tray is lifted', perception_type='procedural').memory_id,
        robot.save_perception('the arm must never exceed 15 N there').memory_id,
        robot.save_perception('the tray is seen', collection='lab').memory_id,
    ]
    clock.forward(days=29)
    young = robot.save_perception('the tray is seen again').memory_id
    clock.forward(days=2)
    session = robot.start_session().session_id
    with caplog.at_level(logging.INFO):
        robot.end_session(session)
    assert '3 soft-deleted by retention_days' in caplog.text
    active = "SELECT id FROM memories WHERE status = 'active' ORDER BY id"
    assert [row[0] for row in robot.rows(active)] == sorted(map(require, [*kept, young]))
    trail = "SELECT DISTINCT action, reason FROM audit WHERE action = 'invalidated'"
    assert robot.rows(trail) == [('invalidated', 'retention')]
    assert steps(robot)['retention'].detail == '1 perceptions and turns soft-deleted'


def test_without_a_setting_all_is_kept(robot: Robot, clock: MovableClock) -> None:
    robot.save_perception('the tray is seen')
    clock.forward(days=4000)
    robot.end_session(robot.start_session().session_id)
    assert robot.rows("SELECT count(*) FROM memories WHERE status = 'active'") == [(1,)]
    assert 'nothing expires' in steps(robot)['retention'].detail


# Categories by the present rules


SEEN = 'a spoon beside the cup'
SEEN_NOW = classify(SEEN).category


def make_stale(robot: Robot) -> tuple[int, int]:
    """Store what an earlier release read otherwise; return a fact and a perception of it."""
    limit = robot.learn('Never lift more than 5 kg').memory_id
    robot.learn('The red cup needs 12 N')
    seen = robot.save_perception(SEEN).memory_id
    turns = robot.save_conversation(
        'the weather is fine', 'never mind, it always rains'
    ).memory_ids
    with robot.memory.db.write() as connection:
        connection.execute("UPDATE memories SET category = 'observation' WHERE id = ?", (limit,))
        connection.execute("UPDATE memories SET category = 'gotcha' WHERE id = ?", (seen,))
    assert len(turns) == 2
    return require(limit), seen


def test_reclassifying_says_first_what_would_change_and_writes_nothing(robot: Robot) -> None:
    limit, seen = make_stale(robot)
    before = robot.rows('SELECT id, category, tags, updated_at FROM memories')
    answer = robot.maintain(reclassify=True)
    assert [step.name for step in answer.steps] == ['reclassify']
    assert not answer.steps[0].done
    detail = answer.steps[0].detail
    assert '2 would change; nothing was written' in detail
    assert f'observation -> constraint: 1 ({limit})' in detail
    assert f'gotcha -> {SEEN_NOW}: 1 ({seen})' in detail
    assert robot.rows('SELECT id, category, tags, updated_at FROM memories') == before


def test_a_confirmed_reclassification_changes_categories_and_leaves_a_trail(robot: Robot) -> None:
    limit, seen = make_stale(robot)
    before = robot.row(limit)
    answer = robot.maintain(reclassify=True, confirm=True)
    assert answer.steps[0].done and '2 changed' in answer.steps[0].detail
    after = robot.row(limit)
    assert (after['category'], after['strategy_name']) == ('constraint', 'instruction')
    for name in ('content', 'confidence', 'confidence_base', 'updated_at', 'context'):
        assert after[name] == before[name]
    assert robot.row(seen)['category'] == SEEN_NOW
    trail = robot.rows('SELECT memory_id, action, detail FROM audit ORDER BY memory_id')
    assert [row[:2] for row in trail] == [(limit, 'reclassify'), (seen, 'reclassify')]
    assert '"old_category":"observation"' in trail[0][2]
    again = robot.maintain(reclassify=True)
    assert again.steps[0].detail == 'every category is as the present rules infer it'


def test_a_confirmation_of_nothing_is_refused(robot: Robot) -> None:
    with pytest.raises(InvalidArgument, match='set reclassify'):
        robot.maintain(confirm=True)

"""Maintenance puts the file in order, and goes on beside recalls."""

from __future__ import annotations

import threading

import pytest
from narrowing import require
from robots import Robot, check_file, fill, run_maintenance

from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.memory import Memory
from robot_memory.storage import checksums
from robot_memory.storage.tables.parts import Part


def test_a_store_in_order_stays_as_it_is(robot: Robot) -> None:
    fill(robot, 50)
    before = robot.contents(query='red cup', n=20)
    answer = robot.maintain()
    names = (
        'retention folding history integrity vectors audit words rules trials statistics '
        'compact log backup'
    ).split()
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
    assert run_maintenance(robot)['words'].done
    assert not run_maintenance(robot)['words'].done
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
    assert 'compact' not in run_maintenance(robot, keep_free_room=True)
    answer = robot.maintain()
    compact = next(step for step in answer.steps if step.name == 'compact')
    assert compact.done
    assert answer.freed_bytes > 10_000_000
    assert answer.file_bytes < 2_000_000
    assert robot.contents(query='cup') == ['the cup is red']
    assert not run_maintenance(robot)['compact'].done


@pytest.mark.parametrize(
    ('loss', 'index'),
    [
        ('DELETE FROM memories_fts WHERE rowid IN (3, 5)', 'memories_fts'),
        ('DELETE FROM memories_fts_data WHERE id > 10', 'memories_fts'),
        ('DELETE FROM indexed WHERE memory_id IN (4, 8)', 'indexed'),
        ('UPDATE indexed SET memory_id = 10009 WHERE memory_id = 9', 'indexed'),
    ],
)
def test_rows_that_an_index_lost_are_indexed_again(robot: Robot, loss: str, index: str) -> None:
    fill(robot, 100)
    before = robot.contents(query='red cup', n=100)
    robot.close()
    connection = checksums.connect(robot.memory.db.path)
    connection.execute(loss)
    connection.close()
    with Memory(robot.memory.settings, resident=False) as memory:
        again = Robot(memory)
        told = run_maintenance(again)['integrity']
        assert told.done and told.detail == f'rebuilt indexes: {index}'
        assert again.contents(query='red cup', n=100) == before
        assert run_maintenance(again)['integrity'].detail == 'the file is intact'
    check_file(robot.memory.db.path)


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
            "UPDATE sqlite_schema SET sql = replace(sql, '(created_at)', '(token_count)')"
            " WHERE name = 'memories_by_time'"
        )
        version = connection.pragma('schema_version')
        connection.pragma('schema_version', version + 1)
        connection.pragma('writable_schema', False)
    assert root
    found = run_maintenance(robot)['integrity']
    assert found.done
    assert found.detail == 'rebuilt indexes: memories_by_time'
    assert run_maintenance(robot)['integrity'].detail == 'the file is intact'


def test_damage_is_told_and_not_hidden(robot: Robot) -> None:
    fill(robot, 5)
    with robot.memory.db.write() as connection:
        connection.pragma('ignore_check_constraints', True)
        connection.execute("UPDATE memories SET status = 'odd' WHERE id = 3")
        connection.pragma('ignore_check_constraints', False)
    found = run_maintenance(robot)['integrity']
    assert not found.done
    assert 'CHECK constraint failed in memories' in found.detail
    assert 'backup' in found.detail


def test_the_log_is_emptied_unless_somebody_reads(robot: Robot) -> None:
    fill(robot, 30)
    log = robot.memory.db.path.with_name('memory.db-wal')
    with robot.memory.db.read() as connection:
        connection.execute('SELECT count(*) FROM memories').fetchone()
        robot.learn('written after the reader began')
        assert 'still has readers' in run_maintenance(robot)['log'].detail
    assert run_maintenance(robot)['log'].detail == 'the WAL is empty'
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

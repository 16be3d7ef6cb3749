"""Payload parts whose bytes are not those that were stored are told, and never returned."""

from __future__ import annotations

import json
import logging
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from mcp.shared.exceptions import MCPError
from old_stores import fixture, opened
from robots import MovableClock, Robot
from test_storage_damage import break_page, list_pages

from robot_memory.archive.reader import import_archive
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.mcp_server.resources import read_resource
from robot_memory.status.summary import render_metrics
from robot_memory.storage import checksums
from robot_memory.storage.admin.salvage import salvage
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.tables.parts import Part

JPEG = b'\xff\xd8\xff\xe0' + bytes(60) + b'\xff\xd9'
CHANGED = 'not those that were stored'


def perceive(robot: Robot) -> tuple[int, bytes]:
    """Store a perception with a signal of some pages and a picture; return id and signal."""
    signal = random.Random(5).randbytes(30_000)
    parts = (
        Part('signal', 'application/x-npz', len(signal), signal),
        Part('picture', 'image/jpeg', len(JPEG), JPEG),
    )
    kept = store_perception(
        robot.memory, Perception('Push of 9 N', 'tactile', data={'peak': 9.0}, parts=parts)
    )
    return kept.memory_id, signal


def change_bytes(store: Path, signal: bytes) -> None:
    """Write other bytes, with the checksums of their pages."""
    connection = checksums.connect(store)
    connection.execute(
        "UPDATE parts SET content = ? WHERE name = 'signal'",
        (signal[:-9] + b'\x01' + signal[-8:],),
    )
    connection.close()


def damage_part(robot: Robot, how: str) -> tuple[Robot, int]:
    memory_id, signal = perceive(robot)
    robot.learn('Another memory of the shelf')
    robot.close()
    store = robot.memory.db.path
    if how == 'bytes':
        change_bytes(store, signal)
    else:
        break_page(store, list_pages(store, 'parts', 'overflow')[2])
    return robot, memory_id


@pytest.mark.parametrize(('how', 'why'), [('bytes', CHANGED), ('page', 'lie on a damaged page')])
def test_a_damaged_part_is_told_and_the_rest_of_its_memory_is_returned(
    open_robot: Callable[..., Robot], tmp_path: Path, how: str, why: str
) -> None:
    _, memory_id = damage_part(open_robot(resident=False), how)
    robot = open_robot(resident=False)
    shown = robot.show(memory_id=memory_id)
    assert shown.memory.content == 'Push of 9 N' and shown.data == {'peak': 9.0}
    signal, picture = shown.parts
    assert signal.content is None and why in str(signal.damage) and signal.removed is None
    assert picture.content == JPEG and picture.damage is None
    address = f'robot-memory://memories/{memory_id}'
    with pytest.raises(MCPError, match=f'part signal of memory {memory_id}.*{why}'):
        read_resource(robot.memory, f'{address}/signal')
    read_resource(robot.memory, f'{address}/picture')
    lines = [
        json.loads(line)
        for line in robot.export(session_id='all', format='jsonl').content.splitlines()
    ]
    (found,) = (line['parts'] for line in lines if line.get('parts'))
    assert [part['name'] for part in found] == ['signal', 'picture']
    assert found[0]['content'] is None and why in found[0]['damage']
    assert found[1]['content'] and 'damage' not in found[1]


def test_an_archive_of_a_damaged_part_is_imported_without_its_bytes(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    damage_part(open_robot(resident=False), 'bytes')
    archive = tmp_path / 'all.jsonl'
    archive.write_text(open_robot(resident=False).export(session_id='all', format='jsonl').content)
    other = open_robot(name='other', resident=False)
    import_archive(other.memory, archive)
    ((memory_id,),) = other.rows('SELECT DISTINCT memory_id FROM parts')
    signal, picture = other.show(memory_id=memory_id).parts
    assert 'lost by damage' in str(signal.damage) and picture.content == JPEG
    assert other.rows('SELECT count(*) FROM part_digests') == [(1,)]


def test_verify_and_salvage_name_a_damaged_part(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    damaged, memory_id = damage_part(open_robot(resident=False), 'bytes')
    store = damaged.memory.db.path
    (check,) = (check for check in verify(store) if check.name == 'payloads')
    assert not check.holds and f'part signal of memory {memory_id}: ' in check.detail
    new = tmp_path / 'new.db'
    (lost,) = salvage(store, new).lost['parts']
    assert f'part signal of memory {memory_id}: ' in lost and CHANGED in lost
    checks = verify(new)
    assert all(check.holds for check in checks), checks
    robot = open_robot(name='new', resident=False)
    signal, picture = robot.show(memory_id=memory_id).parts
    assert 'lost by damage' in str(signal.damage) and picture.content == JPEG


def test_the_background_finds_a_damaged_part_and_tells_it(
    open_robot: Callable[..., Robot], clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    _, memory_id = damage_part(open_robot(resident=False), 'bytes')
    robot = open_robot(resident=False)
    checker = robot.memory.part_checker
    with caplog.at_level(logging.ERROR):
        while checker.rounds < 2:
            clock.forward(seconds=11)
            checker.run()
    (logged,) = (one.message for one in caplog.records if 'is damaged' in one.message)
    assert f'part signal of memory {memory_id}: ' in logged
    assert f'part signal of memory {memory_id}: ' in checker.describe()
    assert 'robot_memory_damaged_parts 1.0' in render_metrics(robot.memory)
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE parts SET content = NULL')
    while checker.rounds < 4:
        clock.forward(seconds=11)
        checker.run()
    assert checker.describe() == ''


def test_parts_of_an_earlier_release_get_their_digests_in_the_background(
    open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    opened(fixture(24, tmp_path)).close()
    robot = open_robot(name='v24', resident=False)
    kept = robot.rows('SELECT count(content) FROM parts')
    assert kept > [(0,)] and robot.rows('SELECT count(*) FROM part_digests') == [(0,)]
    checker = robot.memory.part_checker
    while checker.rounds < 1:
        clock.forward(seconds=11)
        checker.run()
    assert robot.rows('SELECT count(*) FROM part_digests') == kept
    assert checker.damaged == {}


def test_a_part_that_goes_takes_its_digest_along(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False)
    perceive(robot)
    assert robot.rows('SELECT count(*) FROM part_digests') == [(2,)]
    with robot.memory.db.write() as connection:
        connection.execute("DELETE FROM parts WHERE name = 'signal'")
    assert robot.rows('SELECT count(*) FROM part_digests') == [(1,)]

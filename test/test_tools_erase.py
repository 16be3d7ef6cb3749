"""Erasing leaves no word of a memory in the file, its log or its backups, and proves it."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import prepared
import pytest
from narrowing import require
from robots import MovableClock, Robot, check_file, run_maintenance

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory, caller

OPERATOR = Writer.of_role('mcp-http', 'inspector', 'operator', 'anna')
PLANNER = Writer.of_role('mcp-http', 'inspector', 'planner', 'planner-1')
VIEWER = Writer.of_role('mcp-http', 'inspector', 'viewer', 'guest')


@pytest.fixture
def backup_folder(tmp_path: Path) -> Path:
    return tmp_path / 'backups'


@pytest.fixture
def memory(tmp_path: Path, clock: MovableClock, backup_folder: Path) -> Iterator[Memory]:
    settings = Settings(
        db_path=str(tmp_path / 'memory.db'),
        model='none',
        python_role='operator',
        backup_folder=str(backup_folder),
        retention_days=1,
    )
    with Memory(settings, resident=False, clocks=clock) as memory:
        yield memory


@pytest.fixture
def robot(memory: Memory) -> Robot:
    return Robot(memory)


def read_bytes(path: Path) -> bytes:
    """Return a file's bytes, decompressed where it is .gz; by no descriptor that stays open."""
    if not path.exists():
        return b''
    return gzip.decompress(path.read_bytes()) if path.suffix == '.gz' else path.read_bytes()


def find_markers(markers: list[str], *paths: Path) -> list[str]:
    """Return the markers that are in the bytes of files, in any letters."""
    held = b'\0'.join(map(read_bytes, paths)).lower()
    return [marker for marker in markers if marker.lower().encode() in held]


def list_files(robot: Robot, backup_folder: Path) -> list[Path]:
    return [*robot.memory.db.files, *backup_folder.glob('*.db*')]


def erase(robot: Robot, **wanted: Any) -> Any:
    """Preview and confirm."""
    token = require(robot.erase(reason='asked for', **wanted).token)
    return robot.erase(token=token)


def test_words_that_soft_deletion_left_in_the_file_are_gone_from_file_log_and_backups(
    robot: Robot, clock: MovableClock, backup_folder: Path, tmp_path: Path
) -> None:
    markers = [f'quuxmark{letter}' for letter in 'abcdefghi']
    session = robot.start_session(context={'note': 'plain'}).session_id
    ids = [require(robot.learn(f'the {markers[0]} cup is red').memory_id)]
    ids.append(require(robot.learn(f'the {markers[1]} cup', {'by': markers[2]}).memory_id))
    ids.append(require(robot.learn(f'a {markers[3]} door', session_id=session).memory_id))
    seen = robot.save_perception(
        f'a {markers[4]} was seen',
        'visual',
        {'series': [markers[5]] + ['filler'] * 2000},
        {'unit': markers[6]},
    )
    ids.append(seen.memory_id)
    robot.update(ids[0], f'the {markers[7]} cup is blue')
    robot.save_conversation(f'where is {markers[8]}', 'on the table')
    ids += [row[0] for row in robot.rows('SELECT memory_id FROM turns')]
    ids += [row[0] for row in robot.rows('SELECT id FROM memories')]
    stays = require(robot.learn('the handle is made of steel').memory_id)
    robot.forget(ids[1], 'wrong')
    robot.clear_session(session)
    clock.forward(days=2)
    assert run_maintenance(robot)['retention'].done
    assert robot.row(seen.memory_id)['status'] == 'invalidated'
    files = list_files(robot, backup_folder)
    assert len(files) > 4
    assert find_markers([m for m in markers if m != markers[5]], *files)
    done = erase(robot, memory_ids=list(dict.fromkeys(ids)))
    assert done.status == 'erased', done.pending
    assert all(one['holds'] for one in done.receipt['checks'].values())
    assert find_markers(markers, *list_files(robot, backup_folder)) == []
    assert done.receipt['rewritten'] == [str(path) for path in backup_folder.glob('*.db*')]
    assert robot.contents(query='handle') == ['the handle is made of steel']
    assert run_maintenance(robot, all=True)['audit'].done
    robot.memory.close()
    assert find_markers(markers, tmp_path / 'memory.db') == []
    assert check_file(tmp_path / 'memory.db') == {stays}


def test_a_token_is_valid_once_for_its_principal_and_for_ten_minutes(
    robot: Robot, clock: MovableClock
) -> None:
    kept = require(robot.learn('the red cup').memory_id)
    token = require(robot.erase(memory_ids=[kept], reason='wrong').token)
    before = caller.set(OPERATOR)
    try:
        with pytest.raises(Conflict, match='was given to python'):
            robot.erase(token=token)
    finally:
        caller.reset(before)
    assert robot.row(kept)['status'] == 'active'
    clock.forward(seconds=601)
    with pytest.raises(Conflict, match='expired'):
        robot.erase(token=token)
    token = require(robot.erase(memory_ids=[kept], reason='wrong').token)
    assert robot.erase(token=token).status == 'erased'
    with pytest.raises(Conflict, match='not known'):
        robot.erase(token=token)


def test_what_changed_since_the_preview_is_a_conflict_and_what_came_since_stays(
    robot: Robot,
) -> None:
    session = robot.start_session().session_id
    kept = require(robot.learn('the red cup', session_id=session).memory_id)
    token = require(robot.erase(session_id=session, reason='wrong').token)
    robot.update(kept, 'the red mug')
    with pytest.raises(Conflict, match=f'mem_{kept} changed since'):
        robot.erase(token=token)
    token = require(robot.erase(session_id=session, reason='wrong').token)
    later = require(robot.learn('the green door', session_id=session).memory_id)
    assert robot.erase(token=token).counts['memories'] == 1
    assert robot.rows('SELECT id FROM memories') == [(later,)]


@pytest.mark.parametrize('writer', [PLANNER, VIEWER])
def test_only_an_operator_erases(robot: Robot, writer: Writer) -> None:
    kept = require(robot.learn('the red cup').memory_id)
    before = caller.set(writer)
    try:
        with pytest.raises(Conflict, match='erase requires the role operator'):
            robot.erase(memory_ids=[kept], reason='wrong')
    finally:
        caller.reset(before)


def test_a_wrong_request_names_what_is_accepted(robot: Robot) -> None:
    with pytest.raises(InvalidArgument, match='pass one of'):
        robot.erase(reason='wrong')
    with pytest.raises(InvalidArgument, match='reason is empty'):
        robot.erase(memory_ids=[1])
    with pytest.raises(NotFound, match='no memory 7'):
        robot.erase(memory_ids=[7], reason='wrong')
    with pytest.raises(NotFound, match='no erasure 3'):
        robot.erase(erasure=3)
    with pytest.raises(Conflict, match='nothing is to be erased'):
        robot.erase(actor_id='operator:nobody', reason='wrong')


def test_the_receipt_says_what_how_many_who_and_why_and_keeps_no_salt(robot: Robot) -> None:
    kept = require(robot.learn('the red cup').memory_id)
    done = erase(robot, memory_ids=[kept])
    receipt = done.receipt
    salt = bytes.fromhex(receipt['salt'])
    assert receipt['digests'] == [hashlib.sha256(salt + b'the red cup').hexdigest()]
    assert (receipt['reason'], receipt['counts']['memories']) == ('asked for', 1)
    again = robot.erase(erasure=done.erasure)
    assert 'salt' not in require(again.receipt)
    assert require(again.receipt)['checks'] == receipt['checks']


def test_what_was_erased_cannot_be_undone_and_history_says_so(robot: Robot) -> None:
    kept = require(robot.learn('the red cup').memory_id)
    robot.forget(kept, 'wrong')
    erase(robot, memory_ids=[kept])
    with pytest.raises(NotFound):
        robot.undo(kept)
    for ask in (robot.show, robot.history):
        with pytest.raises(NotFound) as refused:
            ask(kept)
        moment = r'20\d\d-\d\d-\d\dT[\d:.]+Z'
        told = rf'memory {kept} was erased on {moment} by python:\S+ \(asked for\)'
        assert re.fullmatch(told, str(refused.value)), refused.value
    lines = robot.rows('SELECT action, reason FROM audit WHERE memory_id = ?', kept)
    assert lines == [('created', ''), ('invalidated', ''), ('erased', 'asked for')]


def test_two_commands_preview_and_erase_with_a_receipt(tmp_path: Path) -> None:
    path = tmp_path / 'cli.db'

    def run(*arguments: str) -> Any:
        command = [sys.executable, '-m', 'robot_memory', *arguments, '--json', '--db', str(path)]
        done = prepared.run([*command, '--model', 'none'], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    run('learn', 'the quuxname cup is red')
    found = run('erase', '--memory-ids', '1', '--reason', 'asked for')
    assert found['status'] == 'preview'
    assert found['token'].isalnum()  # a minus in front would make it an option
    done = run('erase', '--token', found['token'])
    assert done['status'] == 'erased'
    assert all(one['holds'] for one in done['receipt']['checks'].values())
    assert find_markers(['quuxnam'], path, path.with_name('cli.db-wal')) == []
    again = run('erase', '--erasure', str(done['erasure']))
    assert again['receipt']['checks'] == done['receipt']['checks']
    assert again['receipt']['holds'] is True

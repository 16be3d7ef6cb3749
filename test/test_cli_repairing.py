"""backup, doctor, verify, salvage and restore, as a user types them."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import prepared
import pytest
from robots import Robot, check_file
from test_storage_damage import break_page, list_pages
from test_tools_erase import erase

from robot_memory.storage import checksums


def run(store: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'robot_memory', '--db', str(store), '--model', 'none', *words]
    return prepared.run(command, capture_output=True, text=True)


@pytest.fixture
def store(robot: Robot) -> Path:
    """A closed store of several pages of memories."""
    for number in range(120):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.close()
    return robot.memory.db.path


def count(store: Path) -> int:
    connection = checksums.connect(store)
    ((found,),) = connection.execute('SELECT count(*) FROM memories')
    connection.close()
    return int(found)


def test_a_backup_is_made_now_while_another_process_has_the_store_open(
    store: Path, tmp_path: Path
) -> None:
    folder, file = tmp_path / 'backups', tmp_path / 'mine.db'
    refused = run(store, 'backup')
    assert refused.returncode == 1
    assert 'backup_folder' in refused.stderr and '--output' in refused.stderr
    script = (
        'import sys\nfrom robot_memory.api import RobotMemory\n'
        'robot = RobotMemory(sys.argv[1], model="none")\nrobot.learn("The red cup is wet")\n'
        'print("open", flush=True)\nsys.stdin.readline()'
    )
    command = [sys.executable, '-c', script, str(store)]
    with prepared.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == 'open\n'
        told = run(store, 'backup', '--folder', str(folder), '--json')
        named = run(store, 'backup', '--output', str(file))
        by_setting = run(store, '--backup-folder', str(folder), '--backup-keep', '1', 'backup')
        user.communicate('\n')
    assert told.returncode == named.returncode == by_setting.returncode == 0, told.stderr
    assert 'MB' in named.stdout and str(file) in named.stdout
    (made,) = folder.glob('*.db.gz')
    assert str(made) in by_setting.stdout
    assert json.loads(told.stdout).keys() == {'path', 'bytes'}
    assert count(file) == 121 and run(store, 'verify', str(made)).returncode == 0
    for words in (['--output', str(file)], ['--output', str(file), '--folder', str(folder)]):
        again = run(store, 'backup', *words)
        assert again.returncode == 1 and 'Traceback' not in again.stderr
    nothing = run(tmp_path / 'no.db', 'backup', '--output', str(tmp_path / 'no.backup'))
    assert nothing.returncode == 1 and not (tmp_path / 'no.db').exists()


def test_a_folder_of_backups_that_is_gone_is_taken_off_the_list_by_an_operator(
    store: Path, tmp_path: Path
) -> None:
    folder = tmp_path / 'backups'
    assert run(store, 'backup', '--folder', str(folder)).returncode == 0
    there = run(store, 'backup', '--drop-folder', str(folder))
    assert there.returncode == 1 and 'has 1 backups' in there.stderr
    folder.rename(tmp_path / 'disk')
    planner = run(store, '--cli-role', 'planner', 'backup', '--drop-folder', str(folder))
    assert planner.returncode == 1 and 'requires the role operator' in planner.stderr
    both = run(store, 'backup', '--drop-folder', str(folder), '--folder', str(folder))
    assert both.returncode == 1 and '--drop-folder makes no backup' in both.stderr
    done = run(store, 'backup', '--drop-folder', str(folder))
    assert done.returncode == 0 and f'{folder}: off the list' in done.stdout, done.stderr
    again = run(store, 'backup', '--drop-folder', str(folder))
    assert again.returncode == 1 and 'folders that are: none' in again.stderr
    connection = checksums.connect(store)
    rows = connection.execute("SELECT actor FROM audit WHERE action = 'backup_folder_dropped'")
    assert len(rows.fetchall()) == 1
    connection.close()


def test_the_doctor_tells_faults_with_their_cures_and_a_healthy_store_without(
    store: Path, tmp_path: Path
) -> None:
    params = tmp_path / 'node.yaml'
    params.write_text('/**:\n  ros__parameters:\n    mcp_port: 0\n')
    # The clock of the store stood still, which may be long ago.
    whole = run(store, '--clock-gap-days', '36500', 'doctor', '--params', str(params))
    assert (whole.returncode, whole.stdout.count('cure: ')) == (0, 0), whole.stdout
    assert 'checked of' in whole.stdout and 'not checked: model' in whole.stdout
    params.write_text('/**:\n  ros__parameters:\n    mcp_port: 70000\n')
    break_page(store, list_pages(store, 'memories', 'leaf')[1])
    before = store.read_bytes()
    told = run(store, 'doctor', '--params', str(params), '--json')
    assert told.returncode == 1 and 'findings' in told.stderr
    found = {one['check']: one for one in json.loads(told.stdout)['findings']}
    assert {'pages', 'parameters'} <= set(found)
    assert 'memories from' in found['pages']['found'] and 'salvage' in found['pages']['cure']
    assert 'mcp_port must be' in found['parameters']['found']
    assert store.read_bytes() == before and not Path(f'{store}-wal').exists()


def test_a_store_that_lost_lines_of_its_audit_is_put_in_place_only_on_request(
    store: Path,
) -> None:
    break_page(store, list_pages(store, 'audit', 'leaf')[1])
    salvaged = run(store, 'salvage')
    assert 'missing since the salvage of' in salvaged.stdout, salvaged.stderr
    assert f'restore {store}.salvaged --accept-loss --db {store}' in salvaged.stdout
    told = run(store, 'verify', f'{store}.salvaged')
    assert told.returncode == 1 and 'audit      LOST' in told.stdout
    assert 'is not whole (audit)' in told.stderr and '--accept-loss' in told.stderr
    refused = run(store, 'restore', f'{store}.salvaged')
    assert refused.returncode == 1 and 'pass --accept-loss' in refused.stderr
    planner = run(store, '--cli-role', 'planner', 'restore', f'{store}.salvaged', '--accept-loss')
    assert planner.returncode == 1 and 'requires the role operator' in planner.stderr
    accepted = run(store, 'restore', f'{store}.salvaged', '--accept-loss')
    assert accepted.returncode == 0, accepted.stderr
    assert 'WARNING: its audit is not whole' in accepted.stdout
    for words in (['verify'], ['audit', 'verify'], ['maintain', '--all']):
        again = run(store, *words)
        assert again.returncode == 0, again.stderr
        assert 'not whole' in again.stdout and 'accepted by cli:' in again.stdout


def test_a_damaged_store_is_told_of_salvaged_and_put_in_place(store: Path) -> None:
    whole = run(store, 'verify')
    assert (whole.returncode, whole.stdout.count(' ok ')) == (0, 6), whole.stderr
    break_page(store, list_pages(store, 'memories', 'leaf')[1])
    damaged = store.read_bytes()
    told = run(store, 'verify')
    assert told.returncode == 1 and 'memories from' in told.stdout
    assert 'salvage' in told.stderr
    salvaged = run(store, 'salvage')
    assert salvaged.returncode == 0, salvaged.stderr
    assert 'lost of memories: page' in salvaged.stdout
    assert f'restore {store}.salvaged --db {store}' in salvaged.stdout
    assert store.read_bytes() == damaged
    new = store.with_name(f'{store.name}.salvaged')
    assert 80 < count(new) < 120
    assert run(store, 'restore', str(new)).returncode == 0
    assert run(store, 'verify').returncode == 0
    assert count(store) == count(new)
    assert store.with_name(f'{store.name}.before-restore').read_bytes() == damaged
    assert run(store, 'recall', 'shelf 3').returncode == 0
    again = run(store, 'salvage')
    assert again.returncode == 1 and 'exists' in again.stderr


def test_what_another_program_wrote_is_told_apart_and_accepted(store: Path) -> None:
    other = apsw.Connection(str(store))
    other.execute("UPDATE memories SET content = 'Shelf 7 is empty' WHERE id = 8")
    other.close()
    told = run(store, 'verify')
    assert told.returncode == 1 and 'verify --accept' in told.stdout
    assert 'if that change was meant `robot-memory verify --accept`, else' in told.stderr
    accepted = run(store, 'verify', '--accept')
    assert 'the checksums of' in accepted.stdout
    assert 'Shelf 7 is empty' in run(store, 'show', '8').stdout
    start = list_pages(store, 'memories', 'internal')[0]
    data = bytearray(store.read_bytes())
    data[start : start + 4_000] = bytes([255]) * 4_000
    store.write_bytes(bytes(data))
    refused = run(store, 'verify', '--accept')
    assert refused.returncode == 1 and 'salvage' in refused.stderr
    assert store.read_bytes() == bytes(data)


def test_a_packed_backup_over_a_crashed_store_is_not_undone_by_its_log(
    store: Path, tmp_path: Path
) -> None:
    backup = tmp_path / 'kept.db.gz'
    backup.write_bytes(gzip.compress(store.read_bytes()))
    script = (
        'import os, sys\nfrom robot_memory.api import RobotMemory\n'
        'robot = RobotMemory(sys.argv[1], model="none")\n'
        'for number in range(50): robot.learn(f"Later {number} came box {number * 31}")\n'
        'os._exit(9)'
    )
    assert prepared.run([sys.executable, '-c', script, str(store)]).returncode == 9
    assert Path(f'{store}-wal').stat().st_size > 0
    done = run(store, 'restore', str(backup))
    assert done.returncode == 0, done.stderr
    assert count(store) == 120
    check_file(store)
    assert count(Path(f'{store}.before-restore')) == 170
    assert run(store, 'restore', str(backup)).returncode == 0
    assert count(Path(f'{store}.before-restore')) == 170
    assert count(Path(f'{store}.before-restore-2')) == 120


def test_what_cannot_be_restored_changes_nothing(store: Path, tmp_path: Path) -> None:
    before = store.read_bytes()
    backup = tmp_path / 'kept.db'
    backup.write_bytes(before)
    break_page(backup, list_pages(backup, 'memories', 'leaf')[0])
    cut = tmp_path / 'cut.db.gz'
    cut.write_bytes(gzip.compress(before)[:2_000])
    text = tmp_path / 'text.db'
    text.write_text('no database ' * 1_000)
    for file, told in (
        (backup, 'is not whole'),
        (cut, 'cannot be read'),
        (text, f'{text} cannot be read'),
        (tmp_path / 'none.db', 'no file at'),
    ):
        done = run(store, 'restore', str(file))
        assert done.returncode == 1 and told in done.stderr, done.stderr
        assert 'Traceback' not in done.stderr
        assert store.read_bytes() == before
    assert sorted(path.name for path in store.parent.glob('.*restoring*')) == []


def test_a_store_in_use_is_not_replaced_and_the_user_is_named(store: Path, tmp_path: Path) -> None:
    backup = tmp_path / 'kept.db'
    backup.write_bytes(store.read_bytes())
    script = (
        'import os, sys\nfrom robot_memory.api import RobotMemory\n'
        'robot = RobotMemory(sys.argv[1], model="none")\nprint("open", flush=True)\n'
        'sys.stdin.readline()'
    )
    command = [sys.executable, '-c', script, str(store)]
    with prepared.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as user:
        assert user.stdout is not None
        assert user.stdout.readline() == 'open\n'
        done = run(store, 'restore', str(backup))
        assert done.returncode == 1
        assert f'is in use by process {user.pid}' in done.stderr
        user.communicate('\n')
    assert run(store, 'restore', str(backup)).returncode == 0


def test_a_backup_that_holds_what_was_erased_since_is_refused(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot(resident=False, python_role='operator')
    cup = robot.learn('The blue cup is on the shelf').memory_id
    door = robot.learn('The red door is open').memory_id
    robot.close()
    store, backup = robot.memory.db.path, tmp_path / 'elsewhere.db'
    backup.write_bytes(store.read_bytes())
    robot = open_robot(resident=False, python_role='operator')
    assert erase(robot, memory_ids=[cup]).status == 'erased'
    robot.close()
    done = run(store, 'restore', str(backup))
    assert done.returncode == 1 and f'erased since (ids {cup})' in done.stderr
    assert count(store) == 1 and door is not None

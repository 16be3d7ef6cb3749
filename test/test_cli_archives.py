"""An export to a pipe, as a user types it."""

from __future__ import annotations

import select
import subprocess
import sys
from pathlib import Path

import prepared
from robots import Robot

from robot_memory.storage.lock_owners import find_readers, find_users

MEMORIES = 400


def test_who_does_not_read_an_export_keeps_no_snapshot_of_the_store(robot: Robot) -> None:
    for number in range(MEMORIES):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.close()
    store: Path = robot.memory.db.path
    command = [sys.executable, '-m', 'robot_memory', '--db', str(store), '--model', 'none']
    export = [*command, 'export', 'all', '--format', 'jsonl']
    with prepared.Popen(export, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        select.select([process.stdout], [], [])
        # A pipe takes 64 kB: the export stands still, and still has the store open.
        assert process.pid in find_users(store)
        assert process.pid not in find_readers(store)
        lines = process.stdout.readlines()
    assert len(lines) == MEMORIES + 1
    assert sum(map(len, lines)) > 65_536

"""Random erasures, other processes and kill -9: erased or untouched, and no word is left."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import prepared
import pytest
from amounts import few_or_many
from canaries import DEEDS, Words, fold, learn, live, open_operator
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from robots import MovableClock, Robot, check_file, fill
from test_tools_erase import find_markers

from robot_memory.background import folding as folder
from robot_memory.storage.admin.audit_check import check

KILLS = few_or_many(16, 400)
ERASURES = few_or_many(6, 100)
"""Of about ten memories each, in each of few or many examples of hypothesis."""


def count_rows(robot: Robot) -> list[tuple[Any, ...]]:
    return robot.rows('SELECT id, status, content, context FROM memories ORDER BY id')


@settings(max_examples=few_or_many(3, 10))
@given(seed=st.integers(0, 2**32))
def test_of_random_erasures_no_word_is_left_in_file_log_or_backups(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance, words = random.Random(seed), Words(seed)
    folder_, clock = tmp_path_factory.mktemp('erased'), MovableClock()
    path, backups = folder_ / 'memory.db', folder_ / 'backups'
    rare, folder.RARE = folder.RARE, 2
    try:
        with open_operator(path, clock, backup_folder=str(backups)) as memory:
            robot = Robot(memory)
            fill(robot, 5)
            for turn in range(ERASURES):
                live(robot, words, chance, 14, 100 * turn)
                if turn % 3 == 0:
                    clock.forward(days=1)
                    memory.backups.make_due()
                if turn % 3 == 1:
                    fold(robot)
                known = [one for one in words.of if chance.random() < 0.5]
                found = robot.erase(memory_ids=known, reason='asked for')
                done = robot.erase(token=require(found.token))
                assert done.status == 'erased', done.pending
                gone = [word for one in known for word in words.of.pop(one)]
                files = [*memory.db.files, *backups.glob('*.db*')]
                assert find_markers(gone, *files) == []
                left = [word for kept in words.of.values() for word in kept]
                assert find_markers(left, *files) != [] or not left
            with memory.db.read() as connection:
                assert check(connection, all_lines=True).problem == ''
            assert all(
                robot.rows('SELECT 1 FROM events WHERE id = ?', one)
                or robot.rows('SELECT 1 FROM memories WHERE id = ?', one)
                for one in words.of
            )
    finally:
        folder.RARE = rare
    check_file(path)


KILLED = """
import os, signal, sys
from robot_memory.storage.connection import Database
from robot_memory.api import RobotMemory

left = [int(sys.argv[4])]

def count(cursor, sql, bindings):
    left[0] -= 1
    if not left[0]:
        os.kill(os.getpid(), signal.SIGKILL)
    return True

TOUCHING = ('open', 'os.rename', 'os.remove', 'fcntl.flock', 'subprocess.Popen')

def hear(event, arguments):
    if event in TOUCHING:
        count(None, '', None)

connect = Database._connect

def watch(self, *given, **named):
    connection = connect(self, *given, **named)
    connection.exec_trace = count
    return connection

robot = RobotMemory(
    sys.argv[1], model='none', python_role='operator', backup_folder=sys.argv[2],
)
token = robot.erase(memory_ids=[int(one) for one in sys.argv[3].split(',')], reason='x').token
Database._connect = watch
writer = robot.memory.db._writer
writer.exec_trace = count
for reader in robot.memory.db._readers.queue:
    reader.exec_trace = count
print('confirming', flush=True)
sys.addaudithook(hear)
done = robot.erase(token=token)
print(done.status, -left[0], flush=True)
"""


def test_kill_9_anywhere_leaves_all_or_nothing_and_the_proof_is_completed(
    tmp_path: Path, clock: MovableClock
) -> None:
    words, chance = Words(7), random.Random(7)
    path, backups = tmp_path / 'made' / 'memory.db', tmp_path / 'made' / 'backups'
    path.parent.mkdir()
    with open_operator(path, clock, backup_folder=str(backups)) as memory:
        robot = Robot(memory)
        for deed in DEEDS:
            deed(robot, words, DEEDS.index(deed))
        memory.backups.make_due()
        before = count_rows(robot)
    ids = sorted(words.of)[::2]
    gone = [word for one in ids for word in words.of[one]]

    def run_killed(place: int) -> tuple[str, Path]:
        """Let a process erase until it is killed at a statement or a call of the system."""
        copy = tmp_path / f'run{place}'
        shutil.copytree(path.parent, copy)
        arguments = [copy / 'memory.db', copy / 'backups', ','.join(map(str, ids)), place]
        done = prepared.run(
            [sys.executable, '-c', KILLED, *map(str, arguments)], capture_output=True, text=True
        )
        assert done.returncode in (0, -signal.SIGKILL), done.stderr
        return done.stdout, copy

    told, _ = run_killed(0)
    status, total = told.splitlines()[-1].split()
    assert status == 'erased'
    seen = set()
    for place in sorted(chance.sample(range(1, int(total) + 1), min(KILLS, int(total)))):
        told, copy = run_killed(place)
        assert told.startswith('confirming\n')
        with open_operator(copy / 'memory.db', clock, backup_folder=str(copy / 'backups')) as one:
            robot = Robot(one)
            files = [*one.db.files, *(copy / 'backups').glob('*.db*')]
            states = robot.rows('SELECT state FROM erasures')
            seen.add(tuple(states))
            if states:
                assert states == [('done',)]
                assert find_markers(gone, *files) == []
                assert len(count_rows(robot)) == len(before) - len(ids)
            else:
                assert count_rows(robot) == before
            with one.db.read() as connection:
                assert check(connection, all_lines=True).problem == ''
        check_file(copy / 'memory.db')
        shutil.rmtree(copy)
    assert seen == {(), (('done',),)}


BESIDE = """
import sys
from robot_memory.api import RobotMemory
with RobotMemory(sys.argv[1], model='none', durability='normal') as robot:
    print('open', flush=True)
    for line in sys.stdin:
        number, word = line.split()
        robot.learn(f'the handle of process {sys.argv[2]} in turn {number} is made of steel')
        found = robot.recall(word, n=100)
        print(any(word in one.content for one in found.memories), flush=True)
"""


def test_no_process_finds_what_was_erased_once_the_receipt_is_there(
    tmp_path: Path, clock: MovableClock
) -> None:
    path, words, chance = tmp_path / 'memory.db', Words(3), random.Random(3)
    with open_operator(path, clock) as memory:
        robot = Robot(memory)
        fill(robot, 5)
        others = [
            prepared.Popen(
                [sys.executable, '-c', BESIDE, str(path), str(name)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in range(2)
        ]
        for other in others:
            assert require(other.stdout).readline() == 'open\n'

        def ask(word: str, number: int) -> list[str]:
            for other in others:
                require(other.stdin).write(f'{number} {word}\n')
                require(other.stdin).flush()
            return [require(other.stdout).readline() for other in others]

        for number in range(ERASURES):
            kept = learn(robot, words, number)
            live(robot, words, chance, 8, 100 * number)
            word = words.of[kept][0]
            assert ask(word, number) == ['True\n', 'True\n']
            found = robot.erase(memory_ids=sorted(words.of), reason='asked for')
            done = robot.erase(token=require(found.token))
            while done.status != 'erased':
                clock.forward(seconds=6)
                done = robot.erase(erasure=require(done.erasure))
            assert ask(word, number) == ['False\n', 'False\n']
            gone = [word for told in words.of.values() for word in told]
            assert find_markers(gone, *memory.db.files) == []
            words.of.clear()
        for other in others:
            require(other.stdin).close()
            assert other.wait() == 0
    check_file(path)

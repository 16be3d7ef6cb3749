"""One file, several processes at the same time: no error, no lost write."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import prepared
from robots import Robot, check_file
from waiting import HANG_SECONDS

LONG = """
import sys
from robot_memory.api import RobotMemory
robot = RobotMemory(sys.argv[1], model=sys.argv[2], durability='normal')
assert robot.wait_for_model()
session = robot.start_session().session_id
for i in range(80):
    answer = robot.learn(f'the red cup slips in trial {sys.argv[3]}{i:03}', session_id=session)
    print('kept', answer.memory_id)
    robot.recall('red cup')
    if i % 10 == 0:
        robot.forget(robot.save_perception(f'gone {i}').memory_id, 'wrong')
robot.end_session(session)
robot.close()
"""

SHORT = """
import sys
from robot_memory.memory import Memory
from robot_memory.core.settings import Settings
from robot_memory.tools.learn import learn
from robot_memory.tools.recall import recall
for i in range(25):
    chosen = Settings(db_path=sys.argv[1], model=sys.argv[2], durability='normal')
    with Memory(chosen, resident=False) as memory:
        answer = learn.run(memory, {'insight': f'the blue cup holds in trial {sys.argv[3]}{i:03}'})
        print('kept', answer.memory_id)
        recall.run(memory, {'query': 'cup'})
"""

OPEN = """
import sys
from robot_memory.api import RobotMemory
sys.stdin.readline()
with RobotMemory(sys.argv[1], model='none', durability='normal') as robot:
    print('kept', robot.learn(f'the cup of process {sys.argv[3]}').memory_id)
"""


def start(script: str, path: Path, model: str, name: str) -> subprocess.Popen[str]:
    return prepared.Popen(
        [sys.executable, '-c', script, str(path), model, name],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def results(processes: list[subprocess.Popen[str]]) -> list[int]:
    """
    Wait for the processes; return the ids that they were given.

    At its end a process waits for no other that writes: its last accesses may be lost, which it
    says.
    """
    kept = []
    for process in processes:
        out, err = process.communicate('go\n', timeout=HANG_SECONDS)
        told = [line for line in err.splitlines() if 'accesses are lost' not in line]
        assert (process.returncode, told) == (0, [])
        kept += [int(line.removeprefix('kept ')) for line in out.splitlines()]
    return kept


def test_two_residents_and_one_shots_share_a_file(
    open_robot: Callable[..., Robot], tmp_path: Path, tiny_models: dict[int, Path]
) -> None:
    path, model = tmp_path / 'memory.db', str(tiny_models[8])
    kept = results(
        [
            start(LONG, path, model, '1'),
            start(LONG, path, model, '2'),
            start(SHORT, path, model, '3'),
        ]
    )
    assert len(kept) == len(set(kept)) == 80 + 80 + 25
    assert set(kept) <= check_file(path)
    robot = open_robot(model, resident=False)
    robot.embed_all()
    records = robot.query_records(limit=1000).records
    assert Counter(record.record_content.split()[1] for record in records) == {
        'red': 160,
        'blue': 25,
    }
    accesses = robot.rows('SELECT sum(access_count) FROM memories')
    assert accesses[0][0] >= 5 * 150
    check_file(path)


def test_a_new_file_may_be_opened_by_many_at_once(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db'
    processes = [start(OPEN, path, 'none', str(i)) for i in range(6)]
    for process in processes:
        assert process.stdin is not None
        process.stdin.write('go\n')
        process.stdin.flush()
    kept = results(processes)
    assert sorted(kept) == [1, 2, 3, 4, 5, 6]
    check_file(path)

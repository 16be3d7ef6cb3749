"""kill -9 in the middle of writing: what was acknowledged is there, with its words and vector."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import prepared
import pytest
from amounts import few_or_many
from robots import check_file

from robot_memory.api import RobotMemory
from robot_memory.storage.indexes import vectors

KILLS = few_or_many(3, 12)
"""For each of the two models: more than twenty in all in `make test-long`."""

WRITER = """
import os, sys
from robot_memory.api import RobotMemory
robot = RobotMemory(sys.argv[1], model=sys.argv[2], durability='normal')
if sys.argv[2] != 'none':
    assert robot.wait_for_model()
    list(robot.memory.reindexer.run())
words = 'red blue green white cup plate tray door valve arm lift ramp'.split()
os.write(1, b'ready\\n')
for i in range(1_000_000):
    name = words[i % 12] + ' ' + words[i // 12 % 12]
    answer = robot.learn(f'the {name} slips in trial {sys.argv[3]} {i}')
    os.write(1, b'%d learned\\n' % answer.memory_id)
    seen = robot.save_perception(f'the {name} is seen', data={'readings': [i] * 50})
    os.write(1, b'%d seen\\n' % seen.memory_id)
    robot.update(answer.memory_id, f'the {name} holds in trial {sys.argv[3]} {i}')
    os.write(1, b'%d updated\\n' % answer.memory_id)
    if i % 3 == 0:
        robot.forget(seen.memory_id, 'wrong')
        os.write(1, b'%d forgotten\\n' % seen.memory_id)
"""


def write_and_kill(path: Path, model: str, run: int, after: int, turns: int) -> list[list[bytes]]:
    """Kill a writer some turns of a loop after an acknowledgement; return all that it made."""
    command = [sys.executable, '-c', WRITER, str(path), model, str(run)]
    with prepared.Popen(command, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b'ready\n'
        lines = [writer.stdout.readline() for _ in range(after)]
        for _ in range(turns):  # the next write is then anywhere between its begin and its end
            pass
        os.kill(writer.pid, signal.SIGKILL)
        lines += writer.stdout.read().splitlines(keepends=True)
    return [line.split() for line in lines if line.endswith(b'\n')]


@pytest.mark.parametrize('dimension', [None, 8])
def test_kill_9_loses_nothing_acknowledged_and_leaves_nothing_half_done(
    tmp_path: Path, tiny_models: dict[int, Path], dimension: int | None
) -> None:
    path = tmp_path / 'memory.db'
    model = str(tiny_models[dimension]) if dimension else 'none'
    chance = random.Random(dimension)
    states: dict[int, str] = {}
    for run in range(KILLS):
        # Early, midway and late in turn, so that few kills, too, come after enough writes.
        after = 40 * (run % 3) + chance.randint(1, 40)
        turns = chance.randrange(100_000)
        acknowledged = write_and_kill(path, model, run, after, turns)
        assert len(acknowledged) >= after
        states.update((int(memory_id), what.decode()) for memory_id, what in acknowledged)
        assert set(states) <= check_file(path)
    assert len(states) > 10 * KILLS
    with RobotMemory(path, model=model, durability='normal') as robot:
        if dimension:
            assert robot.wait_for_model()
        wanted = {'$in': ['active', 'invalidated']}
        kept = {}
        for offset in range(0, 10**6, 1000):
            page = robot.query_records(where={'status': wanted}, limit=1000, offset=offset)
            kept.update({record.memory_id: record for record in page.records})
            if len(page.records) < 1000:
                break
        for memory_id, what in states.items():
            record = kept[memory_id]
            if what == 'forgotten':
                assert record.status == 'invalidated'
            elif what == 'updated':
                assert 'holds' in record.record_content
        assert robot.recall('cup slips', n=5).total == 5
        with robot.memory.db.read() as connection:
            waiting = vectors.count_missing(connection)
            payloads = {row[0] for row in connection.execute('SELECT memory_id FROM payloads')}
        assert not dimension or waiting == 0
        assert {i for i, what in states.items() if what in ('seen', 'forgotten')} <= payloads

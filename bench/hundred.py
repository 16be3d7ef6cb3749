"""
Print what a recall of 100 memories takes: of 300 in ten sessions, without a model.

Many of them contradict each other, and each session weighs what was said in it.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from pathlib import Path

from robot_memory.api import RobotMemory
from robot_memory.core.progress import make_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from facts import make_fact, make_question

MEMORIES, SESSIONS, CALLS = 300, 10, 60


def main() -> None:
    """Fill a store, and ask it."""
    chance = random.Random(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(Path(folder) / 'memory.db', model='none') as robot,
    ):
        sessions = [robot.start_session().session_id for _ in range(SESSIONS)]
        for number in range(MEMORIES):
            text, context = make_fact(number)
            robot.learn(text, context, session_id=chance.choice(sessions))
        clock, busy = [], []
        for number in make_progress_bar(range(CALLS), '100 of 300', unit='call'):
            start, worked = time.perf_counter(), time.process_time()
            found = robot.recall(f'a trial: {make_question(number)}', n=100)
            clock.append((time.perf_counter() - start) * 1e3)
            busy.append((time.process_time() - worked) * 1e3)
            assert found.total == 100, 'each fact tells of a trial'
    print(
        json.dumps(
            {
                'p50_ms': round(statistics.median(clock), 2),
                'p50_cpu_ms': round(statistics.median(busy), 2),
            }
        )
    )


if __name__ == '__main__':
    main()

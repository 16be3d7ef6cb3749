"""
Print how long writes wait while memories of a large store are erased, and how long that takes.

A thread learns without pause while another erases. The store is written by this process, without
vectors, in the folder for temporary files.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from near_things import fill

from robot_memory.api import RobotMemory

REASON = 'measured'
SETTINGS: dict[str, Any] = {
    'model': 'none',
    'durability': 'normal',
    'python_role': 'operator',
}


def learn_until(robot: RobotMemory, done: threading.Event, waits: list[float]) -> None:
    """Learn without pause until another thread is done; note the seconds of each call."""
    number = 0
    while not done.is_set():
        start = time.perf_counter()
        robot.learn(f'Shelf {number} of aisle {number % 97} was filled in the night')
        waits.append(time.perf_counter() - start)
        number += 1


def erase(robot: RobotMemory, ids: list[int]) -> tuple[float, Any]:
    """Erase memories; return the seconds of that, and the answer."""
    preview = robot.erase(memory_ids=ids, reason=REASON)
    assert preview.token is not None
    start = time.perf_counter()
    answer = robot.erase(token=preview.token, reason=REASON)
    while answer.status == 'pending' and answer.erasure is not None:
        print(f'pending: {answer.pending}')
        answer = robot.erase(erasure=answer.erasure)
    return time.perf_counter() - start, answer


def main() -> None:
    """Fill a store, erase while a thread learns, and print both."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--memories', type=int, default=1_000_000)
    parser.add_argument('--erased', type=int, default=1_000)
    options = parser.parse_args()
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(Path(folder) / 'memory.db', **SETTINGS) as robot,
    ):
        fill(robot.memory, options.memories)
        robot.recall('what was pushed?')  # the copy of the indexes is read before
        chance = random.Random(23)
        waits: list[float] = []
        done = threading.Event()
        learner = threading.Thread(target=learn_until, args=(robot, done, waits))
        ids = chance.sample(range(1, options.memories + 1), options.erased)
        learner.start()
        try:
            seconds, answer = erase(robot, ids)
        finally:
            done.set()
            learner.join()
        print(f'{options.memories} memories, {options.erased} of them erased')
        print(f'{answer.status} after {seconds:.1f} s')
        print(
            f'{len(waits)} memories learned meanwhile: p50'
            f' {1000 * statistics.median(waits):.1f} ms, longest {max(waits):.2f} s'
        )
        print(f'load {os.getloadavg()[0]:.2f}')


if __name__ == '__main__':
    main()

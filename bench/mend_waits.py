"""
Print how long writes wait while damaged indexes of a large store are made anew, and what it takes.

One page of each index is damaged in turn, and a thread learns without pause until it is whole. The
store is written by this process, without vectors, in the folder for temporary files.
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

sys.path.insert(0, str(Path(__file__).resolve().parent))

from erase_waits import SETTINGS, learn_until
from near_things import fill

from robot_memory.api import RobotMemory
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage import checksums, damage

INDEXES = ('facets', 'memories_fts_data', 'indexed', 'memories_by_time')
_WRONG = b'damaged!'


def open_store(path: Path) -> RobotMemory:
    """Open a store without a worker, which would make indexes anew by itself."""
    robot = RobotMemory.__new__(RobotMemory)
    robot.memory = Memory(Settings(db_path=str(path), **SETTINGS), resident=False)
    return robot


def damage_leaf(path: Path, table: str) -> None:
    """Overwrite a part of a leaf page of an index in the file of a store that is closed."""
    connection = checksums.connect(path)
    rows = connection.execute(
        "SELECT pgoffset FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
    )
    place = random.Random(29).choice([row[0] for row in rows])
    connection.close()
    with path.open('r+b') as file:
        file.seek(place + 100)
        file.write(_WRONG)


def mend(path: Path) -> tuple[float, list[float]]:
    """Make anew what is damaged beside a learner; return processor seconds and its waits."""
    with open_store(path) as robot:
        waits: list[float] = []
        done = threading.Event()
        learner = threading.Thread(target=learn_until, args=(robot, done, waits))
        start = time.thread_time()
        learner.start()
        try:
            robot.memory.mender.look()
        finally:
            done.set()
            learner.join()
        return time.thread_time() - start, waits


def main() -> None:
    """Fill a store, damage an index of it at a time, and print what making it anew takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--memories', type=int, default=1_000_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        with open_store(path) as robot:
            fill(robot.memory, options.memories)
        for table in INDEXES:
            damage_leaf(path, table)
            seconds, waits = mend(path)
            left = damage.find_damaged(path)
            print(
                f'{table}: {seconds:.1f} s of the processor, {len(left)} pages still damaged;'
                f' {len(waits)} memories learned meanwhile: p50'
                f' {1000 * statistics.median(waits):.1f} ms, longest {max(waits):.2f} s'
            )
        print(f'{options.memories} memories; load {os.getloadavg()[0]:.2f}')


if __name__ == '__main__':
    main()

"""
Print how long writes wait while damaged indexes of a large store are made anew, and what it takes.

A page of each index is damaged in turn, a leaf or an inner one, and a thread learns without pause
until it is whole. The store has vectors that were drawn at random; it is written by this process,
in the folder for temporary files or where `--store` says, which keeps it for the next run.
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
from typing import NamedTuple

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent))

from erase_waits import SETTINGS
from near_things import fill

from robot_memory.api import RobotMemory
from robot_memory.core.errors import Unavailable
from robot_memory.core.settings import Settings
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.memory import Memory
from robot_memory.storage import checksums, damage

LEAF, INNER = 'leaf', 'internal'
PAGES = (
    ('indexed', LEAF),
    ('indexed', INNER),
    ('indexed_by_collection', INNER),
    ('memories_by_time', INNER),
    ('memories_by_guard', INNER),
    ('memories_by_hash', INNER),
    ('memories_by_collection', INNER),
    ('audit_by_memory', INNER),
    ('counts', LEAF),
    ('memories_fts_data', INNER),
    ('facets', INNER),
)
DIMENSION = 384
_WRONG = b'damaged!'


def open_store(path: Path) -> RobotMemory:
    """Open a store without a worker, which would make indexes anew by itself."""
    robot = RobotMemory.__new__(RobotMemory)
    robot.memory = Memory(Settings(db_path=str(path), **SETTINGS), resident=False)
    return robot


def fill_store(path: Path, count: int) -> None:
    """Write a store of so many memories with vectors, unless it is there."""
    if path.exists():
        return
    chance = np.random.default_rng(31)

    def draw_vectors() -> TextVectors:
        vector = chance.standard_normal(DIMENSION, np.float32)
        return TextVectors(vector / np.linalg.norm(vector))

    with open_store(path) as robot:
        fill(robot.memory, count, draw_vectors)


def damage_page(path: Path, table: str, kind: str) -> int:
    """
    Overwrite a part of a page of an index in the file of a store that is closed.

    Return its number, 0 where there is none: a small index has no inner pages.
    """
    connection = checksums.connect(path)
    rows = connection.execute(
        'SELECT pageno FROM dbstat WHERE name = ? AND pagetype = ?', (table, kind)
    )
    numbers = [row[0] for row in rows]
    size = connection.pragma('page_size')
    connection.close()
    if not numbers:
        return 0
    number: int = random.Random(29).choice(numbers)
    with path.open('r+b') as file:
        file.seek((number - 1) * size)
        file.write(_WRONG)
        file.seek(100, os.SEEK_CUR)
        file.write(_WRONG)
    return number


class Wait(NamedTuple):
    """Hold the seconds of a call, those of the processor meanwhile, and whether it was refused."""

    seconds: float
    busy: float
    is_refused: bool


def learn_until(robot: RobotMemory, done: threading.Event, waits: list[Wait]) -> None:
    """Learn without pause until another thread is done; note what each call takes."""
    number = 0
    while not done.is_set():
        is_refused = False
        start, busy = time.perf_counter(), time.process_time()
        try:
            robot.learn(f'Shelf {number} of aisle {number % 97} was filled in the night')
        except Unavailable:
            is_refused = True
        spent = time.perf_counter() - start
        waits.append(Wait(spent, time.process_time() - busy, is_refused))
        number += 1
        if is_refused:
            done.wait(0.1)


def mend(path: Path) -> tuple[float, float, list[Wait]]:
    """Make anew what is damaged beside a learner; return seconds, the processor's, and waits."""
    with open_store(path) as robot:
        waits: list[Wait] = []
        done = threading.Event()
        learner = threading.Thread(target=learn_until, args=(robot, done, waits))
        start, busy = time.perf_counter(), time.process_time()
        learner.start()
        try:
            robot.memory.mender.look()
        finally:
            done.set()
            learner.join()
        return time.perf_counter() - start, time.process_time() - busy, waits


def measure(path: Path, table: str, kind: str) -> None:
    """Damage an index, and print what making it anew takes."""
    number = damage_page(path, table, kind)
    if not number:
        print(f'{table}: it has no {kind} page')
        return
    seconds, busy, waits = mend(path)
    left = damage.find_damaged_of(path, [number])
    longest = max(waits)
    refused = sum(wait.is_refused for wait in waits)
    print(
        f'{table}, {kind} page{" is still damaged" if left else ""}: {seconds:.1f} s, {busy:.1f}'
        f' of the processor; {len(waits)} calls of learn meanwhile, {refused} refused: p50'
        f' {1000 * statistics.median(wait.seconds for wait in waits):.1f} ms, longest'
        f' {longest.seconds:.2f} s, most of the processor {max(w.busy for w in waits):.2f} s',
        flush=True,
    )


def main() -> None:
    """Fill a store, damage an index of it at a time, and print what making it anew takes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--memories', type=int, default=1_000_000)
    parser.add_argument('--store', type=Path, help='file of the store, which is kept')
    parser.add_argument('--only', nargs='*', default=[], help='indexes, by name')
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = options.store or Path(folder) / 'memory.db'
        fill_store(path, options.memories)
        for table, kind in PAGES:
            if not options.only or table in options.only:
                measure(path, table, kind)
        print(f'{options.memories} memories; load {os.getloadavg()[0]:.2f}')


if __name__ == '__main__':
    main()

"""
Print how fast `near` finds the nearest places of three frames, in processor time of its thread.

`--keep` names a folder in which the stores stay, so that a second run need not fill them again.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from robot_memory.catalog import get_tool
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.records import Record
from robot_memory.core.settings import Settings
from robot_memory.detectors import Pose
from robot_memory.memory import Memory
from robot_memory.storage.tables import memories, transforms
from robot_memory.storage.tables.transforms import Edge

START = 1_770_000_000_000_000
FRAMES = ('map', 'hall', 'shelf')
TRIES = 200


def fill(memory: Memory, count: int) -> None:
    """Keep facts in three frames, one of every ten with a covariance, and the tree."""
    chance = random.Random(5)
    turn = (0.0, 0.0, 0.6, 0.8)
    edges = [Edge(name, 'map', Pose((3.0, 1.0, 0.5), turn), True) for name in FRAMES[1:]]
    with memory.db.write() as connection:
        transforms.put_tree(connection, '', START * 1000, edges)
        for i in make_progress_bar(range(count), unit='memory'):
            spatial: dict[str, Any] = {
                'object_position': [round(chance.uniform(0, 20), 3) for _ in range(3)],
                'frame_id': chance.choice(FRAMES),
            }
            if i % 10 == 0:
                spatial['object_covariance'] = [0.01, 0, 0, 0, 0.01, 0, 0, 0, 0.02]
            record = Record(
                type='fact',
                collection='default',
                content=f'thing {i}',
                category='observation',
                confidence=0.9,
                context={'spatial': spatial},
                created_at=START + i,
            )
            memories.insert(connection, record, None)


def measure(memory: Memory, **asked: Any) -> tuple[list[float], list[float]]:
    """Return what each of some calls of recall took, in ms of processor and of wall time."""
    recall = get_tool('recall')
    chance = random.Random(7)
    used, took = [], []
    for _ in range(TRIES):
        near = {'frame': 'map', 'position': [chance.uniform(0, 20) for _ in range(3)], **asked}
        start, began = time.perf_counter(), time.thread_time()
        recall.run(memory, {'near': near, 'n': 5})
        used.append((time.thread_time() - began) * 1000)
        took.append((time.perf_counter() - start) * 1000)
    return sorted(used), sorted(took)


def report(memory: Memory, count: int) -> None:
    """Print a line for each kind of question."""
    for name, asked in (
        ('nearest 5', {}),
        ('nearest 5 within 0.5 m', {'within': 0.5}),
        ('probably within 0.5 m', {'within': 0.5, 'probability': 0.6}),
    ):
        used, took = measure(memory, **asked)
        low, high = used[TRIES * 2 // 5], used[TRIES * 3 // 5]
        print(
            f'{count} {name}: processor p50 {statistics.median(used):.2f} ms '
            f'[{low:.2f}, {high:.2f}], p95 {used[TRIES * 19 // 20]:.2f} ms; '
            f'wall p50 {statistics.median(took):.2f} ms'
        )


def main() -> None:
    """Measure stores of the given sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('counts', type=int, nargs='+')
    parser.add_argument('--keep', type=Path, metavar='FOLDER')
    options = parser.parse_args()
    for count in options.counts:
        with tempfile.TemporaryDirectory() as folder:
            path = (options.keep or Path(folder)) / f'near_{count}.db'
            is_filled = path.exists()
            with Memory(Settings(db_path=str(path), model='none'), resident=False) as memory:
                if not is_filled:
                    fill(memory, count)
                report(memory, count)


if __name__ == '__main__':
    main()

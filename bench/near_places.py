"""Print how fast `near` finds the nearest places of three frames."""

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


def measure(memory: Memory, **asked: Any) -> list[float]:
    """Return how long each of some calls of recall took, in ms of wall time."""
    recall = get_tool('recall')
    chance = random.Random(7)
    took = []
    for _ in range(TRIES):
        near = {'frame': 'map', 'position': [chance.uniform(0, 20) for _ in range(3)], **asked}
        start = time.perf_counter()
        recall.run(memory, {'near': near, 'n': 5})
        took.append((time.perf_counter() - start) * 1000)
    return sorted(took)


def main() -> None:
    """Measure stores of the given sizes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('counts', type=int, nargs='+')
    for count in parser.parse_args().counts:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db_path=str(Path(folder) / 'memory.db'), model='none')
            with Memory(settings, resident=False) as memory:
                fill(memory, count)
                for name, asked in (
                    ('nearest 5', {}),
                    ('nearest 5 within 0.5 m', {'within': 0.5}),
                    ('probably within 0.5 m', {'within': 0.5, 'probability': 0.6}),
                ):
                    took = measure(memory, **asked)
                    low, high = took[TRIES * 2 // 5], took[TRIES * 3 // 5]
                    median = statistics.median(took)
                    print(
                        f'{count} {name}: p50 {median:.2f} ms [{low:.2f}, {high:.2f}], '
                        f'p95 {took[TRIES * 19 // 20]:.2f} ms'
                    )


if __name__ == '__main__':
    main()

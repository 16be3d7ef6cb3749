"""
Measure the timeline of a store of many memories: pages by key, the density strip, the page.

`python bench/timeline.py 1000000` prints processor milliseconds, medians of ten. A third of the
memories are facts and the rest perceptions of a year; they are copies of two rows, for what is
measured reads rows and an index, and no text. Needs 600 bytes of disk a memory.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.storage.checksums import connect

RUNS = 10
YEAR_US = 365 * 86_400 * 10**6
PAGE, BUCKETS = 50, 48


def fill(path: Path, size: int) -> None:
    """Write a store of so many memories, most of them copies of two."""
    with RobotMemory(path, model='none') as robot:
        robot.learn('The blue cup is in the upper cupboard')
        robot.save_perception(
            'Contact for 1.3 s on tool0', 'tactile', stamp={'sec': int(time.time())}
        )
    connection = connect(path)
    names = [row[1] for row in connection.execute('PRAGMA table_info(memories)')]
    kept = [name for name in names if name not in ('id', 'stamp', 'created_at', 'salt')]
    listed = ', '.join(kept)
    connection.execute(
        f'INSERT INTO memories ({listed}, stamp, created_at)'
        ' WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)'
        f' SELECT {listed}, iif(stamp IS NULL, NULL, stamp - 1000 * (i * ?2)),'
        ' created_at - i * ?2 FROM n JOIN memories AS m'
        ' ON m.id = (SELECT iif(i % 3, max(id), min(id)) FROM memories WHERE id <= 2)',
        (size - 2, YEAR_US // size),
    )
    connection.execute('ANALYZE')
    connection.close()


def measure(ask: Callable[[], Any]) -> float:
    """Return the median of the processor milliseconds that a call takes."""
    ask()
    took = []
    for _ in range(RUNS):
        start = time.process_time()
        ask()
        took.append((time.process_time() - start) * 1000)
    return statistics.median(took)


def main() -> None:
    """Print the figures of a store of the asked size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('memories', type=int)
    size = parser.parse_args().memories
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        fill(path, size)
        with RobotMemory(path, model='none') as robot:
            cursor = ''
            for _ in range(10):
                page = robot.list_timeline(limit=1000, cursor=cursor)
                cursor = page.next_cursor or cursor
            rows: dict[str, Callable[[], Any]] = {
                'first page': lambda: robot.list_timeline(limit=PAGE),
                'a page after 10,000': lambda: robot.list_timeline(limit=PAGE, cursor=cursor),
                'first page, facts only': lambda: robot.list_timeline(
                    limit=PAGE, where={'kind': 'fact'}
                ),
                'first page and density, perceptions only': lambda: robot.list_timeline(
                    limit=PAGE, buckets=BUCKETS, where={'kind': 'perception'}
                ),
                'density': lambda: robot.list_timeline(limit=1, buckets=BUCKETS),
                'density, facts only': lambda: robot.list_timeline(
                    limit=1, buckets=BUCKETS, where={'kind': 'fact'}
                ),
            }
            for name, ask in rows.items():
                print(f'{name:40} {measure(ask):8.1f} ms')
            sys.stdout.flush()


if __name__ == '__main__':
    main()

"""
Measure query_events on a year of events: windows, aggregates and orders, p50 of each.

`python bench/events.py --size 5000000 [--folder FOLDER]`; 5 million take some three minutes and
0.9 GB of TMPDIR, or of the folder, where the store stays for the next run. Prints JSON: medians by
the clock, and of processor time, which another process on this machine changes less.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from robot_memory.core.clock import format_instant
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage import checksums
from robot_memory.storage.tables import figures
from robot_memory.storage.tables.event_names import intern
from robot_memory.tools.query_events import query_events

YEAR_NS = 365 * 86_400 * 10**9
START_NS = 1_760_000_000 * 10**9
DAY_US = 86_400_000_000
COLUMNS = (
    'id memory_id kind active onset peak end value_1 value_2 value_3 value_4 epoch label topic '
    'task session robot collection frame source subject broken_off others'
).split()
CONTACT = {'kind': 'contact'}
HARDEST = {'order_by': 'peak_force', 'descending': True}
TRIES = 15
BLOCK = 50_000


def main() -> None:
    """Fill a store where there is none, ask it, and print the figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version='%(prog)s')
    parser.add_argument('--size', type=int, default=200_000, help='number of events')
    parser.add_argument('--folder', type=Path, help='where the store stays')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = (given.folder or Path(scratch)) / f'events-{given.size}.db'
        settings = Settings(db_path=str(path), model='none')
        start = time.perf_counter()
        is_new = not path.exists()
        if is_new:
            Memory(settings, resident=False).close()
            fill(path, given.size)
        filled = given.size / (time.perf_counter() - start)
        with Memory(settings, resident=False) as memory:
            times = {name: measure(memory, ask) for name, ask in questions().items()}
            found = {
                'size': given.size,
                'filled_per_s': round(filled) if is_new else None,
                'bytes_an_event': round(path.stat().st_size / given.size),
                'p50_ms': {name: pair[0] for name, pair in times.items()},
                'p50_cpu_ms': {name: pair[1] for name, pair in times.items()},
            }
    print(json.dumps(found))


def fill(path: Path, size: int) -> None:
    """Write a year of contacts, motions and the events of a plug-in's detector."""
    connection = checksums.connect(path)
    indexes: list[Any] = connection.execute(
        "SELECT name, sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'events'"
        ' AND sql IS NOT NULL'
    ).fetchall()
    for name, _ in indexes:  # they are made faster once all is there
        connection.execute(f'DROP INDEX {name}')
    marks = ', '.join('?' * len(COLUMNS))
    names = ', '.join(f'"{name}"' for name in COLUMNS)
    with connection:
        rows = generate_rows(connection, size)
        connection.executemany(f'INSERT INTO events ({names}) VALUES ({marks})', rows)
    for _, sql in indexes:
        connection.execute(sql)
    connection.close()


def generate_rows(connection: apsw.Connection, size: int) -> Iterator[tuple[Any, ...]]:
    """Give events of three kinds in the order of their onsets, as rows of `COLUMNS`."""
    ids = {
        name: intern(connection, name)
        for name in 'contact motion gripper push slide tap /wrench /joint_states /io arm tool0 '
        'default pour wipe place'.split()
    }
    declared = {'grip': (0.0, 'N'), 'width': (0.0, 'm'), 'current': (0.0, 'A'), 'hold': (0.0, 's')}
    declared |= {'heat': (0.0, 'degC'), 'noise': (0.0, '1')}
    gripper = ids['gripper']
    assert gripper is not None
    _, others = figures.store(connection, gripper, declared)
    kinds = [ids[name] for name in ('contact', 'motion', 'gripper')]
    topics = [ids[name] for name in ('/wrench', '/joint_states', '/io')]
    labels = [ids[name] for name in ('push', 'slide', 'tap')]
    tasks = [ids[name] for name in ('pour', 'wipe', 'place')]
    same = [ids[name] for name in ('arm', 'default', 'tool0', 'arm')]
    chance = np.random.default_rng(7)
    onset = START_NS
    for start in make_progress_bar(range(0, size, BLOCK), f'{size:,} events', unit='block'):
        count = min(BLOCK, size - start)
        onsets = onset + np.cumsum(chance.integers(0, 2 * YEAR_NS // size, count))
        onset = int(onsets[-1])
        lasted = (chance.exponential(2.0, count) * 1e9).astype(np.int64)
        which = chance.choice(3, count, p=(0.3, 0.5, 0.2))
        force = chance.exponential(5.0, count)
        rest = [chance.random(count) * scale for scale in (50.0, 1.0, 1.0)]
        more = np.round(chance.normal(50, 9, (count, len(others))), 2)
        for number, kind, at, length, label, task, *values, extra in zip(
            range(start + 1, start + count + 1),
            which.tolist(),
            onsets.tolist(),
            lasted.tolist(),
            chance.integers(0, 3, count).tolist(),
            chance.integers(0, 3, count).tolist(),
            force.tolist(),
            *(column.tolist() for column in rest),
            more.tolist(),
            strict=True,
        ):
            if kind == 1:
                values[3] = None
            yield (
                *(number, number, kinds[kind], 1, at, at + length // 2, at + length, *values, 1),
                *(None if kind else labels[label], topics[kind], tasks[task], None, *same),
                *(kinds[kind], 0),
                json.dumps(dict(zip(others, extra, strict=True))) if kind == 2 else None,
            )


def questions() -> dict[str, dict[str, Any]]:
    """Return what is asked, by what it is called in the table."""
    day, week, month = (span(days) for days in (1, 7, 30))
    year: dict[str, Any] = {}
    year |= {'since': format_instant(START_NS // 1000), 'until': format_instant(2**52)}
    force: dict[str, Any] = {'aggregate': ['count', 'mean', 'max', 'std'], 'figure': 'peak_force'}
    heat: dict[str, Any] = {'aggregate': ['count', 'mean', 'max', 'std'], 'figure': 'heat'}
    hours = {'aggregate': ['count'], 'group_by': 'hour', 'where': CONTACT}
    return {
        'day, 20 hardest': {**day, **HARDEST},
        'week, 20 hardest': {**week, **HARDEST},
        'month, 20 hardest': {**month, **HARDEST},
        'year, 20 hardest': {**year, **HARDEST},
        'month, 20 hardest of a label': {**month, **HARDEST, 'where': {'label': 'tap'}},
        'year, the hardest and what is linked': {**year, **HARDEST, 'limit': 1},
        'day, newest 20': {**day, 'descending': True},
        'month, 20 longest': {**month, 'order_by': 'duration', 'descending': True},
        'week, 20 by another figure': {**week, 'order_by': 'heat', 'descending': True},
        'month, 20 by another figure': {**month, 'order_by': 'heat', 'descending': True},
        'aggregate over a day': {**day, **force},
        'aggregate over a week by hour': {**week, **hours},
        'aggregate over a year': {**year, **force},
        'aggregate over a year by day': {**year, **force, 'group_by': 'day'},
        'aggregate over a year by task': {**year, **force, 'group_by': 'task'},
        'quantiles over a day': {**day, 'aggregate': ['quantiles'], 'figure': 'peak_force'},
        'quantiles over a year': {**year, 'aggregate': ['quantiles'], 'figure': 'peak_force'},
        'another figure over a day': {**day, **heat},
        'another figure over a year': {**year, **heat},
    }


def span(days: int) -> dict[str, Any]:
    """Return a window of so many days in the middle of the year."""
    start = START_NS // 1000 + 200 * DAY_US
    return {'since': format_instant(start), 'until': format_instant(start + days * DAY_US)}


def measure(memory: Memory, arguments: dict[str, Any]) -> tuple[float, float]:
    """Return how long a question takes in milliseconds, by the clock and of the processor."""
    times: list[float] = []
    busy: list[float] = []
    while len(times) < TRIES and (len(times) < 3 or sum(times) < 5):
        start, worked = time.perf_counter(), time.process_time()
        query_events.run(memory, arguments)
        times.append(time.perf_counter() - start)
        busy.append(time.process_time() - worked)
    return round(statistics.median(times) * 1e3, 2), round(statistics.median(busy) * 1e3, 2)


if __name__ == '__main__':
    main()

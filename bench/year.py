"""
Store a year of a cell's perceptions under limits; print what each takes, and the memory used.

`python bench/year.py --size 1000000 [--limit-mb 25] [--every 50000] [--folder FOLDER]`:
perceptions go through `store_perception`, as the taps' do, with a signal each; beyond the limit
they are folded while they come. `--storage` writes event rows alone, for 10 million; `--vectors`
asks the models, too.
Prints JSON: bytes of the file and of each table by event, the peak of resident memory, the bytes
that the copy of the indexes takes by event, whether the sums of all events are exact, and what the
file of a million takes if it goes on to grow as in the last quarter.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import events

from robot_memory.core.authority import Writer
from robot_memory.core.heap import trim_heap
from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.memory import Memory, caller
from robot_memory.search.resident import ResidentIndex
from robot_memory.status.limits import report_limits
from robot_memory.storage import checksums
from robot_memory.storage.tables import sizes
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part
from robot_memory.tools.query_events import query_events

A_DAY = 12_600
MILLION = 1_000_000
FEWEST = 100_000
"""Perceptions from which on the growth of the file tells that of more."""
START_NS = 1_760_000_000 * 10**9
SIGNAL = 4000
SORTS = (
    ('contact', 'push', 40),
    ('contact', 'slide', 15),
    ('motion', None, 40),
    ('scene', None, 5),
)
UNITS = {'force': 'N', 'torque': 'N m', 'time': 's', 'impulse': 'N s', 'speed': 'rad/s'}


def main() -> None:
    """Fill a store and print what it takes."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version='%(prog)s')
    parser.add_argument('--size', type=int, default=50_000, help='perceptions')
    parser.add_argument('--limit-mb', type=float, default=25.0, help='perception_limit_mb')
    parser.add_argument('--payload-mb', type=float, default=15.0, help='payload_limit_mb')
    parser.add_argument('--storage', action='store_true', help='event rows alone')
    parser.add_argument('--vectors', action='store_true', help='by the models of the settings')
    parser.add_argument(
        '--every', type=int, default=0, help='measure the file at each so many, a quarter'
    )
    parser.add_argument('--folder', type=Path, help='where the store stays')
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        path = (given.folder or Path(scratch)) / f'year-{given.size}.db'
        settings = Settings(
            db_path=str(path),
            model='' if given.vectors else 'none',
            durability='normal',
            perception_limit_mb=given.limit_mb,
            payload_limit_mb=given.payload_mb,
        )
        start = time.perf_counter()
        truth: float | None = None
        grown: list[int] = []
        every = given.every or max(given.size // 4, 1)
        with Memory(settings, resident=False) as memory:
            if given.vectors:
                memory.wait_for_models(None, None)
                memory.reindexer.adopt_model()
            if given.storage:
                events.fill(path, given.size)
            else:
                truth, grown = fill(memory, given.size, path, every)
            spent = time.perf_counter() - start
            worked = time.process_time()
            found = {
                'size': given.size,
                'per_s': round(given.size / spent),
                'processor_s': round(worked),
                'peak_rss_mb': round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1),
                'copy_bytes_an_event': round(measure_copy(memory) / given.size),
                **measure(memory, path, given.size, truth),
            }
            if given.size >= FEWEST and len(grown) > 1:  # only rows and audit lines grow
                more = (grown[-1] - grown[-2]) / (given.size % every or every)
                found['bytes_an_event_more'] = round(more)
                found['million_mb'] = round((grown[-1] + more * (MILLION - given.size)) / 1e6, 1)
    print(json.dumps(found))


def fill(memory: Memory, size: int, path: Path, every: int) -> tuple[float, list[int]]:
    """
    Store perceptions as the taps of a cell do; return the sum of the peak forces.

    And the bytes of the file after each `every` of them, once what is over the limits is folded;
    they go to stderr as they are known.
    """
    caller.set(Writer('tap', 'cell', authority='robot'))
    total, given, grown = 0.0, generate_perceptions(), []
    for count in make_progress_bar(range(size), f'{size:,} perceptions', unit='perception'):
        if count and count % every == 0:
            memory.folder.run()
            grown.append(path.stat().st_size)
            said = {'size': count, 'file_mb': round(grown[-1] / 1e6, 1)}
            said['processor_s'] = round(time.process_time())
            sys.stderr.write(json.dumps(said) + '\n')
        perception, force = next(given)
        store_perception(memory, perception)
        total += force
    memory.folder.run()
    grown.append(path.stat().st_size)
    return total, grown


def generate_perceptions() -> Iterator[tuple[Perception, float]]:
    """Give perceptions of a cell that works day and night, each with its peak force in N."""
    chance = random.Random(7)
    at = START_NS
    shares = [share for *_, share in SORTS]
    while True:
        at += round(chance.expovariate(A_DAY / 86_400) * 1e9)
        kind, label, _ = chance.choices(SORTS, shares)[0]
        seconds, force = round(chance.expovariate(0.5), 2), round(chance.expovariate(0.2), 1)
        end = at + round(seconds * 1e9)
        words = f'{kind} {label or ""} for {seconds} s: peak {force} N along -z of tool0'
        data = {
            'kind': label,
            'duration_s': seconds,
            'peak_force': force,
            'direction': [round(chance.random(), 3) for _ in range(3)],
            'mean_force': round(force / 2, 2),
            'noise_n': 0.1,
            'effective_onset_n': 1.2,
        }
        figures = {'peak_force': 'N', 'mean_force': 'N', 'duration_s': 's'}
        context = {
            'sense': {
                'topic': f'/{kind}',
                'detector': kind,
                'source': 'cell',
                'kind': label,
                'stamped_by': 'header',
            },
            'params': {
                name: {'value': data[name], 'unit': unit} for name, unit in figures.items()
            },
            'robot': {'id': 'cell', 'type': 'UR5e'},
            'env': {'sim_or_real': 'real'},
            'task': {'name': chance.choice(('pour', 'wipe', 'place'))},
        }
        identity = Identity('cell', f'/{kind}', kind, at, (at + end) // 2, end)
        yield (
            Perception(
                words,
                'tactile',
                stamp=at,
                frame_id='tool0',
                context=context,
                data=data,
                metadata={'units': UNITS, 'topic': f'/{kind}', 'end_ns': end},
                parts=(Part('signal', 'application/x-npz', SIGNAL, chance.randbytes(SIGNAL)),),
                identity=identity,
            ),
            force,
        )


def measure(memory: Memory, path: Path, size: int, truth: float | None) -> dict[str, Any]:
    """Return what the file takes, what is left of the perceptions, and what the sums say."""
    asked = {'aggregate': ['count', 'sum'], 'figure': 'peak_force'}
    (group,) = query_events.run(memory, asked).groups
    values = {one.name: one.value for one in group.values}
    with memory.db.read() as connection:
        limits = {one.name: one.used_mb for one in report_limits(memory, connection)}
        folded = sizes.count_folded(connection)
        payloads = sizes.get_payloads(connection)
    tables = measure_tables(path, size)
    return {
        'file_mb': round(path.stat().st_size / 1e6, 1),
        'bytes_an_event': round(path.stat().st_size / size),
        'of_them_event_rows': round(sum(n for name, n in tables.items() if 'event' in name)),
        'of_them_audit': round(sum(n for name, n in tables.items() if 'audit' in name)),
        'of_them_payloads': round(payloads / size),
        'limits_mb': limits,
        'folded': folded,
        'counted': group.count,
        'sum_is_exact': None if truth is None else abs(values['sum'] - truth) < 1e-6 * truth,
        'bytes_by_table': tables,
    }


def measure_copy(memory: Memory) -> int:
    """Return how many bytes a copy of the indexes takes in memory."""
    copy = ResidentIndex()
    trim_heap()
    before = read_resident_bytes()
    with memory.db.read() as connection:
        copy.load(connection, lambda: False)
    return read_resident_bytes() - before


def read_resident_bytes() -> int:
    """Return the resident memory of this process."""
    return int(Path('/proc/self/statm').read_text().split()[1]) * resource.getpagesize()


def measure_tables(path: Path, size: int) -> dict[str, float]:
    """Return the bytes of each table and index by event, the largest first."""
    connection = checksums.connect(path)
    rows: list[Any] = connection.execute(
        'SELECT name, 1.0 * sum(pgsize) / ? AS bytes FROM dbstat GROUP BY name'
        ' HAVING bytes >= 1 ORDER BY bytes DESC',
        (size,),
    ).fetchall()
    connection.close()
    return {name: round(number, 1) for name, number in rows}


if __name__ == '__main__':
    main()

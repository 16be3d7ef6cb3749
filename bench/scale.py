"""
Measure a store of some size: recall, learn, memory, file, start. Query embedding is left out.

A store is filled, asked, and asked once by processes of their own, so that each one's memory and
start are its own. Called as a script it plays one of these parts, with any adapter; it needs
nothing of this package, for the peer's Python runs it, too.
"""

from __future__ import annotations

import argparse
import heapq
import importlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.progress import make_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parent))

import facts
from measured_process import read_megabytes

START = time.perf_counter()
ROOM = 3_000
"""Bytes of disk that are needed a memory, the log of the filling included."""
QUESTIONS, LEARNED, COLD = 60, 300, 3
BUDGET_S = 20.0
"""No measure takes longer, but for its first five calls."""
PATIENCE_S = 120.0
KINDS: dict[str, dict[str, Any]] = {
    'hybrid': {},
    'words only': {},
    'a hundred': {'n': 100},
    'filter': {'flt': {'task.success': True}},
    'range': {'flt': facts.IN_RANGE},
    'other than': {'flt': {'robot.id': {'$ne': 'arm-3'}}},
    'none of': {'flt': {'task.name': {'$nin': ['push', 'lift']}}},
    'absent': {'flt': {'task.note': None}},
    'list item': {'flt': {'spatial.object_position.0': {'$lt': 0.5}}},
    'confidence': {'flt': {'confidence': {'$gt': 0.5}}},
    'confidence of none': {'flt': {'confidence': {'$gt': 0.95}}},
    'minimum of none': {'least': 0.95},
    'kind of none': {'flt': {'kind': 'perception'}},
    'frame of none': {'flt': {'frame_id': 'map'}},
    'strategy of none': {'flt': {'strategy_name': 'persona'}},
    'list item of none': {'flt': {'spatial.object_position.0': {'$gt': 10.5}}},
    'near': {'near': facts.NEAR},
    'near, with words': {'near': facts.NEAR},
}
"""
Arguments of the kinds of recall; `near` alone is asked without a query.

Those of none let nothing pass, and their answers are empty.
"""


@dataclass(frozen=True)
class Subject:
    """Say what is measured: a module with an Adapter, and the Python that runs it."""

    adapter: str
    python: str


def measure(subject: Subject, size: int, most: int = LEARNED) -> dict[str, Any] | None:
    """
    Return the figures of a store of so many memories; None where there is no room for it.

    No call is made, and no process started to be timed, more often than `most` times.
    """
    free = shutil.disk_usage(tempfile.gettempdir()).free
    if free < ROOM * size:
        print(
            f'{size:,} memories are left out: {tempfile.gettempdir()} has {free / 1e9:.1f} GB '
            f'free, {ROOM * size / 1e9:.1f} GB are needed; TMPDIR names another folder',
            file=sys.stderr,
        )
        return None
    with tempfile.TemporaryDirectory() as folder:

        def part(name: str, *more: str) -> dict[str, Any]:
            common = '--size', str(size), '--most', str(most)
            return _run_part(subject, name, Path(folder), *common, *more)

        filled = part('fill')
        file = sum(path.stat().st_size for path in Path(folder).glob('memory*')) / size
        asked = part('ask', '--truth', json.dumps(filled['truth']))
        once = {
            embed: [part('once', '--embed', embed) for _ in range(min(COLD, most))]
            for embed in ('hash', 'none')
        }
        command = _time_command(subject, Path(folder) / 'memory.db', min(2 * COLD, most))
    return {
        'size': size,
        'fill_s': filled['seconds'],
        'file': {'bytes_a_memory': round(file)},
        **asked,
        'command': command,
        'once': {
            {'hash': 'hybrid', 'none': 'words only'}[embed]: {
                'ms': statistics.median(run['ms'] for run in runs),
                'process_ms': statistics.median(run['process_ms'] for run in runs),
                'mode': runs[0]['mode'],
            }
            for embed, runs in once.items()
        },
    }


def _time_command(subject: Subject, store: Path, runs: int) -> dict[str, Any] | None:
    """Return what a recall by our command line takes without a model, from start to end."""
    if subject.adapter != 'adapter':
        return None
    words = ('recall', facts.make_question(1), '--model', 'none', '--db', str(store))
    times, busy = [], []
    for _ in range(runs):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        subprocess.run(
            [subject.python, '-m', 'robot_memory', *words], stdout=subprocess.DEVNULL, check=True
        )
        times.append((time.perf_counter() - start) * 1e3)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        busy.append(spent * 1e3)
    return {'ms': round(statistics.median(times)), 'cpu_ms': round(statistics.median(busy))}


def _run_part(subject: Subject, name: str, folder: Path, *more: str) -> dict[str, Any]:
    start = time.perf_counter()
    ran = subprocess.run(
        [subject.python, __file__, name, '--adapter', subject.adapter, '--folder', folder, *more],
        env={**os.environ, **ONE_THREAD, 'PYTHONPATH': _find_path(subject), 'HOME': str(folder)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(ran.stdout)
    return {**found, 'process_ms': round((time.perf_counter() - start) * 1e3)}


ONE_THREAD = {'OPENBLAS_NUM_THREADS': '1', 'OMP_NUM_THREADS': '1'}


def _find_path(subject: Subject) -> str:
    return os.environ.get('PYTHONPATH', '') if subject.python == sys.executable else ''


# What runs in processes of their own


def fill(store: Any, size: int) -> dict[str, Any]:
    """Fill a store; return how long that took, and what the answers must be."""
    nearest: list[float] = []
    in_range = 0

    def generate() -> Iterator[tuple[str, dict[str, Any]]]:
        nonlocal nearest, in_range
        for number in make_progress_bar(range(size), f'{size:,} memories: fill', unit='memory'):
            text, context = facts.make_fact(number)
            in_range += facts.is_in_range(context)
            heapq.heappush(nearest, -facts.measure_distance(context))
            if len(nearest) > 5:
                heapq.heappop(nearest)
            yield text, context

    start = time.perf_counter()
    store.fill(generate())
    truth = {'nearest': sorted(round(-x, 6) for x in nearest), 'in_range': min(100, in_range)}
    return {'seconds': round(time.perf_counter() - start, 1), 'truth': truth}


def ask(
    open_store: Callable[..., Any], folder: Path, size: int, truth: Any, most: int
) -> dict[str, Any]:
    """Open a store, wait until it answers by all it has, ask it and teach it."""
    with tempfile.TemporaryDirectory() as small:
        bare_store = open_store(f'{small}/bare.db', 'hash')
        bare_store.learn(*facts.make_fact(0))
        bare_store.recall(facts.make_question(0))
        bare_store.close()
    bare = read_megabytes('VmRSS')
    start = time.perf_counter()
    store = open_store(str(folder / 'memory.db'), 'hash')
    store.recall(facts.make_question(0))
    began: dict[str, Any] = {'first_s': round(time.perf_counter() - start, 4), 'mode': store.mode}
    while store.mode == 'bm25_only' and time.perf_counter() < start + PATIENCE_S:
        time.sleep(0.05)
        store.recall(facts.make_question(0))
    if store.mode == 'hybrid':
        began['hybrid_s'] = round(time.perf_counter() - start, 3)
    recalled = {kind: _time_recalls(store, kind, size, most) for kind in KINDS}
    exact = _count_exact(store, truth)
    rss = read_megabytes('VmRSS')
    learned = {
        name: _time_calls(
            f'{size:,} memories: learn, {name}',
            lambda number: store.learn(*facts.make_fact(number)),
            range(size + (size + parity) % 2, size + 2 * min(LEARNED, most), 2),
        )
        for name, parity in (('with numbers', 0), ('without numbers', 1))
    }
    peak = read_megabytes('VmHWM')
    store.close()
    return {
        'start': began,
        'recall': recalled,
        'exact': exact,
        'memory': {
            'process_mb': bare,
            'mb': rss,
            'beyond_mb': round(rss - bare, 1),
            'bytes_a_memory': round((rss - bare) * 2**20 / size),
            'peak_bytes_a_memory': round((peak - bare) * 2**20 / size),
        },
        'learn': learned,
    }


def ask_once(open_store: Callable[..., Any], folder: Path, embed: str) -> dict[str, Any]:
    """Open a store and ask once, as a command does that ends then; timed from its imports on."""
    store = open_store(str(folder / 'memory.db'), embed, resident=False)
    store.recall(facts.make_question(1))
    spent = round((time.perf_counter() - START) * 1e3, 2)
    store.close()
    return {'ms': spent, 'mode': store.mode}


def _time_recalls(store: Any, kind: str, size: int, most: int) -> dict[str, Any] | None:
    """Return the times of a kind of recall; None where the store cannot answer it."""
    store.use_vectors(kind != 'words only')

    def call(number: int) -> Any:
        return store.recall('' if kind == 'near' else facts.make_question(number), **KINDS[kind])

    try:
        start = time.perf_counter()
        found = call(0)
        first = round((time.perf_counter() - start) * 1e3, 3)
        if bool(found) == kind.endswith(' of none'):
            return None
        numbers = range(min(QUESTIONS, most))
        times = _time_calls(f'{size:,} memories: recall, {kind}', call, numbers)
        ratio = round(times['p95_ms'] / times['p50_ms'], 2)
        return {'first_ms': first, **times, 'p95_over_p50': ratio}
    except Exception as error:  # the peer's own kinds
        print(f'{kind} is left out: {error}'[:120], file=sys.stderr)
        return None
    finally:
        store.use_vectors(True)


def _count_exact(store: Any, truth: Any) -> dict[str, int]:
    """Return how much of what a filter lets pass is found, and of the nearest five."""
    passed = store.recall('trial', 100, flt=facts.IN_RANGE)
    near = store.recall('trial', 5, near=facts.NEAR)
    got = {round(facts.measure_distance(found), 6) for found in near if found.get('spatial')}
    return {
        'in_range': len(passed),
        'in_range_true': truth['in_range'],
        'nearest': len(got.intersection(truth['nearest'])),
        'nearest_true': len(truth['nearest']),
    }


def _time_calls(title: str, call: Callable[[int], Any], numbers: Iterable[int]) -> dict[str, Any]:
    """Call with each of the numbers, until all are done or the time is up; return the times."""
    times: list[float] = []
    kept = 0
    for number in make_progress_bar(list(numbers), title, unit='call'):
        start = time.perf_counter()
        kept += call(number) is not None
        times.append((time.perf_counter() - start) * 1e3)
        if len(times) >= 5 and sum(times) > BUDGET_S * 1e3:
            break
    times.sort()
    return {
        'calls': len(times),
        'kept': kept,
        'p50_ms': round(times[len(times) // 2], 3),
        'p95_ms': round(times[int(len(times) * 0.95)], 3),
        'per_s': round(1e3 * len(times) / sum(times), 1),
    }


def main() -> None:
    """Play one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('part', choices=('fill', 'ask', 'once'))
    parser.add_argument('--adapter', default='adapter', help='module with an Adapter')
    parser.add_argument('--folder', type=Path, required=True, help='folder of the store')
    parser.add_argument('--size', type=int, required=True, help='memories')
    parser.add_argument('--most', type=int, default=LEARNED, help='calls of a kind, at most')
    parser.add_argument('--truth', type=json.loads, help='output of `fill`')
    parser.add_argument('--embed', choices=('hash', 'none'), default='hash')
    given = parser.parse_args()
    open_store = importlib.import_module(given.adapter).Adapter
    if given.part == 'fill':
        store = open_store(str(given.folder / 'memory.db'), 'hash', resident=False)
        found = fill(store, given.size)
        store.close()
    elif given.part == 'ask':
        found = ask(open_store, given.folder, given.size, given.truth, given.most)
    else:
        found = ask_once(open_store, given.folder, given.embed)
    print(json.dumps(found))


if __name__ == '__main__':
    main()

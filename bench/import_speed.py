"""
Print how many times faster than it happened a recording is imported, and the memory it takes.

It is a real one, or with --busy a made one: joint states and wrenches at 500 Hz each, and raw
pictures of 640 x 480 pixels at 10 Hz. With --before PATH another checkout imports it, too: a
process for each takes turns, and the ratios of the pairs have their quartiles. What slows the
machine slows both, in processor time above all. --model none leaves the vectors out.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import runpy
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.ingest.bag_import import ImportPlan, import_recording
from robot_memory.memory import Memory

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data'))
BAG = DATA / 'bags/cmu_push_wood_patch'
KINDS = ('wall', 'processor')


def make_busy(path: Path) -> Path:
    """Write 20 s of the demonstration's recording at the rates of a busy cell."""
    record = runpy.run_path(str(ROOT / 'scripts' / 'make_recording.py'))['record']
    rates = {'RATE_HZ': 500, 'PICTURE_EVERY': 50, 'WIDTH': 640, 'HEIGHT': 480}
    record.__globals__.update(rates)
    made: Path = record(path)
    return made


def serve(bag: Path, model: str) -> None:
    """Import into a new store for each line on stdin; answer with what it took."""
    with suppress(ImportError):  # as the command does, in checkouts that have it
        from robot_memory.core.heap import use_one_heap

        use_one_heap()
    for _ in sys.stdin:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db_path=str(Path(folder) / 'memory.db'), model=model)
            with Memory(settings, resident=False) as memory:
                print(json.dumps(import_into(memory, bag)), flush=True)


def import_into(memory: Memory, bag: Path) -> dict[str, Any]:
    """Return the times, in s of the recording a s, and the memory of an import in MB."""
    memory.embedder.wait(60.0)
    memory.reindexer.adopt_model()
    memory.embed_passage('Contact for 1.3 s on tool0: push over 5 N')
    resident = int(Path('/proc/self/statm').read_text().split()[1]) * resource.getpagesize()
    start, busy = time.perf_counter(), time.process_time()
    done = import_recording(memory, bag, ImportPlan(), lambda _: None, lambda done, total: None)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {
        'wall': done.seconds / (time.perf_counter() - start),
        'processor': done.seconds / (time.process_time() - busy),
        'beyond_model_mb': max(0, peak - resident) >> 20,
        'peak_mb': peak >> 20,
        'kept': done.kept,
    }


class Side:
    """Drive the process of one checkout."""

    def __init__(self, checkout: Path, bag: Path, model: str) -> None:
        """Start it, and import once, so that all is loaded; `first` is what that took."""
        command = [sys.executable, __file__, '--serve', str(bag), '--model', model]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, 'PYTHONPATH': str(checkout)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.first = self.run()

    def run(self) -> dict[str, Any]:
        """Import once more; return what it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write('\n')
        self._process.stdin.flush()
        found: dict[str, Any] = json.loads(self._process.stdout.readline())
        return found

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def measure(bag: Path, runs: int, model: str, before: Path | None) -> dict[str, Any]:
    """Return the median rates of some imports, and their ratios to those of another checkout."""
    sides = [Side(ROOT, bag, model)] + ([Side(before, bag, model)] if before else [])
    found: list[list[dict[str, Any]]] = [[] for _ in sides]
    for number in make_progress_bar(range(runs), 'import', unit='run'):
        order = range(len(sides)) if number % 2 else range(len(sides) - 1, -1, -1)
        for at in order:
            found[at].append(sides[at].run())
    for side in sides:
        side.close()
    medians = [
        {kind: statistics.median(one[kind] for one in runs) for kind in KINDS} for runs in found
    ]
    result: dict[str, Any] = {
        'times_real_time': round(medians[0]['wall']),
        'times_real_time_by_processor_time': round(medians[0]['processor']),
        'beyond_model_mb': sides[0].first['beyond_model_mb'],
        'peak_mb': sides[0].first['peak_mb'],
        'kept': sides[0].first['kept'],
    }
    if before:
        for kind in KINDS:
            pairs = zip(*(([one[kind] for one in runs]) for runs in found), strict=True)
            ratios = [this / other for this, other in pairs]
            quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else ratios * 3
            result[f'{kind}_ratio_quartiles'] = [round(value, 2) for value in quartiles]
        result['before_times_real_time'] = round(medians[1]['wall'])
        result['before_beyond_model_mb'] = sides[1].first['beyond_model_mb']
    return result


def main() -> None:
    """Import into new stores, and print the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--runs', type=int, default=3, help='imports, or pairs of them')
    parser.add_argument('--busy', action='store_true', help='import a made recording')
    parser.add_argument('--before', type=Path, help='folder of another checkout to compare with')
    parser.add_argument('--model', default='', help='none: without vectors')
    parser.add_argument('--serve', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.model)
        return
    if not given.busy and not BAG.exists():
        sys.exit(f'no recording to import: {BAG}')
    with tempfile.TemporaryDirectory() as folder:
        bag = make_busy(Path(folder) / 'busy') if given.busy else BAG
        print(json.dumps(measure(bag, given.runs, given.model, given.before)))


if __name__ == '__main__':
    main()

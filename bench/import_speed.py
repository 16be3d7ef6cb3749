"""
Print how many times faster than it happened a recording is imported.

It is a real one, or with --busy a made one: joint states and wrenches at 500 Hz each, and raw
pictures of 640 x 480 pixels at 10 Hz.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import runpy
import statistics
import sys
import tempfile
import time
from pathlib import Path

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.ingest.bag_import import ImportPlan, import_recording
from robot_memory.memory import Memory

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data'))
BAG = DATA / 'bags/cmu_push_wood_patch'


def make_busy(path: Path) -> Path:
    """Write 20 s of the demonstration's recording at the rates of a busy cell."""
    record = runpy.run_path(str(ROOT / 'scripts' / 'make_recording.py'))['record']
    rates = {'RATE_HZ': 500, 'PICTURE_EVERY': 50, 'WIDTH': 640, 'HEIGHT': 480}
    record.__globals__.update(rates)
    made: Path = record(path)
    return made


def main() -> None:
    """Import into new stores, with the model, and print the median."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--runs', type=int, default=3)
    parser.add_argument('--busy', action='store_true', help='import a made recording')
    given = parser.parse_args()
    if not given.busy and not BAG.exists():
        sys.exit(f'no recording to import: {BAG}')
    with tempfile.TemporaryDirectory() as folder:
        bag = make_busy(Path(folder) / 'busy') if given.busy else BAG
        measure(bag, given.runs)


def measure(bag: Path, runs: int) -> None:
    """Import a recording into new stores and print the medians."""
    ratios, shares, kept = [], [], 0
    for _ in make_progress_bar(range(runs), 'import', unit='run'):
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db_path=str(Path(folder) / 'memory.db'))
            with Memory(settings, resident=False) as memory:
                memory.embedder.wait(60.0)
                memory.reindexer.adopt_model()
                start, busy = time.perf_counter(), time.process_time()
                done = import_recording(
                    memory, bag, ImportPlan(), lambda _: None, lambda done, total: None
                )
                spent = time.perf_counter() - start
                shares.append(done.seconds / (time.process_time() - busy))
        ratios.append(done.seconds / spent)
        kept = done.kept
    result = {
        'times_real_time': round(statistics.median(ratios)),
        'times_real_time_by_processor_time': round(statistics.median(shares)),
        'peak_mb': resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        'kept': kept,
    }
    print(json.dumps(result))


if __name__ == '__main__':
    main()

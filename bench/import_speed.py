"""
Print how many times faster than it happened a recording is imported, and the memory it takes.

It is a real one, or with --busy a made one: joint states and wrenches at 500 Hz each, and raw
pictures of 640 x 480 pixels at 10 Hz. What happens in 20 s happens again in those of a longer one
(--seconds), so that later events say what was embedded before. With --before another checkout
imports it, too, given its folder or its commit: a process for each takes turns, and the ratios of
the pairs have their quartiles. It uses the model of its own time, made in a cache of its own, and
must keep as many events. What slows the machine slows both, in processor time above all. --model
none leaves the vectors out.
"""

from __future__ import annotations

import argparse
import json
import os
import runpy
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_memory.core.progress import make_progress_bar

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data'))
BAG = DATA / 'bags/cmu_push_wood_patch'
CACHE = HERE / '.cache'
KINDS = ('wall', 'processor')


def make_busy(path: Path, seconds: float = 20.0) -> Path:
    """Write the demonstration's recording, again and again, at the rates of a busy cell."""
    record = runpy.run_path(str(ROOT / 'scripts' / 'make_recording.py'))['record']
    names = record.__globals__
    names.update({'RATE_HZ': 500, 'PICTURE_EVERY': 50, 'WIDTH': 640, 'HEIGHT': 480})
    period, names['SECONDS'] = names['SECONDS'], seconds
    for name in ('compute_joints', 'compute_wrench', 'draw_image'):
        names[name] = _repeat(names[name], period)
    made: Path = record(path)
    return made


def _repeat(show: Callable[[float, Any], Any], period: float) -> Callable[[float, Any], Any]:
    return lambda seconds, random: show(seconds % period, random)


def find_checkout(named: str) -> Path:
    """Return the folder of a checkout; that of a commit is made. Exit where there is none."""
    if Path(named).is_dir():
        return Path(named).resolve()
    folder = CACHE / f'checkout-{named}'
    if not folder.exists():
        CACHE.mkdir(exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=CACHE))
        packed = made / 'files.tar'
        command = ['git', '-C', str(ROOT), 'archive', '--output', str(packed), named]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            shutil.rmtree(made)
            sys.exit(f'no folder or commit {named} to compare with: {done.stderr.strip()}')
        shutil.unpack_archive(packed, made)
        packed.unlink()
        made.rename(folder)
    return folder


class Side:
    """Drive the process of one checkout."""

    def __init__(self, checkout: Path, bag: Path, model: str) -> None:
        """Start it, and import once, so that all is loaded; `first` is what that took."""
        command = [sys.executable, str(HERE / 'import_served.py'), str(bag), model]
        env = {**os.environ, 'PYTHONPATH': str(checkout)}
        if checkout != ROOT:
            env['XDG_CACHE_HOME'] = str(CACHE / f'models-{checkout.name}')
        self._process = subprocess.Popen(
            command, env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.first = self.run()

    def run(self) -> dict[str, Any]:
        """Import once more; return what it took."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write('\n')
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            sys.exit('the import in a process of its own has failed, as it says above')
        found: dict[str, Any] = json.loads(line)
        return found

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def measure(bag: Path, runs: int, model: str, before: Path | None) -> dict[str, Any]:
    """Return the median rates of some imports, and their ratios to those of another checkout."""
    sides = [Side(ROOT, bag, model)] + ([Side(before, bag, model)] if before else [])
    if len({(side.first['kept'], side.first['has_model']) for side in sides}) > 1:
        sys.exit(f'not comparable: {" and ".join(str(side.first) for side in sides)}')
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
        result['pairs'] = runs
        result['before'] = {
            'times_real_time': round(medians[1]['wall']),
            'times_real_time_by_processor_time': round(medians[1]['processor']),
            'beyond_model_mb': sides[1].first['beyond_model_mb'],
            'peak_mb': sides[1].first['peak_mb'],
        }
    return result


def main() -> None:
    """Import into new stores, and print the medians."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--runs', type=int, default=3, help='imports, or pairs of them')
    parser.add_argument('--busy', action='store_true', help='import a made recording')
    parser.add_argument('--seconds', type=float, default=20.0, help='length of the made one')
    parser.add_argument('--before', help='folder or commit of another checkout to compare with')
    parser.add_argument('--model', default='', help='none: without vectors')
    given = parser.parse_args()
    if not given.busy and not BAG.exists():
        sys.exit(f'no recording to import: {BAG}')
    with tempfile.TemporaryDirectory() as folder:
        bag = make_busy(Path(folder) / 'busy', given.seconds) if given.busy else BAG
        before = find_checkout(given.before) if given.before else None
        print(json.dumps(measure(bag, given.runs, given.model, before)))


if __name__ == '__main__':
    main()

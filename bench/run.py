"""
Measure speed, size and quality, beside the nearest peer: `make bench`.

Prints tables, and writes bench/results.json after each of its parts; at the end it names what
became slower than in the run before:

scale    learn, recall, memory, file and start at 1k, 10k and 100k memories; some 5 minutes
paired   calls beside an earlier commit (--before), in turns; a minute
models   what the second embedding model costs beside the first; 4 minutes
side     the harness that stands outside of the project (ROBOT_MEMORY_BENCH, by default
         ../shared/bench/robotmem_bench.py), at 10k memories; about 4 minutes
events   pages and aggregates of a year of events, 1 million of them; 1 minute
year     a cell's perceptions through the ingest under limits, 30,000 of them: the file, memory and
         bytes by table; 3 minutes at 200 a second
rows     event rows alone through storage; with --full
node     the round trip of a service, a conversation of 500 turns, perceptions of taps stored
         together and one by one, the import of a recording, a minute under load; 2 minutes
viewer   pages at a million, why-found, kept to seen, hostile texts, two pages open under load; the
         million facts that are searched with --full, else 100k; 15 minutes
contacts pushes found, missed and told wrongly, in recordings (where they are there) and in
         generated streams; 1 minute
questions
         events of a month, asked for in English and Chinese: right first; 2 minutes a half
quality  how well recall finds: bench/retrieval/measure.py; some minutes, more the first time

All of it takes about half an hour.

--sizes names other sizes for `scale`: 5000000 takes 1.5 hours and 15 GB of TMPDIR. `make bench
SIZES=5000000` measures these alone.

--full adds what takes hours: 1M memories (10 minutes, 3 GB of TMPDIR), 5M events (3 minutes, 1
GB), a year of 1M perceptions (45 minutes of processor time, 0.2 GB), and 10M event rows (5
minutes, 2 GB). `--only` chooses among the parts: `python bench/run.py --full --only year`.

--quick takes some minutes. It leaves out 100k memories and the second model, measures side by side
at 1k, 200k events, 5k perceptions, 10 s of load (the start of the node weighs in it), and the
quality on the sets robot and calvin alone; the peer only where its environment is there already.

Query embedding is left out of all times, and all run on one thread. The peer runs in an
environment of its own, made at the first run, up to 10k memories.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.version import get_version

sys.path.insert(0, str(Path(__file__).resolve().parent))

import scale
import side
import slower
import tables
import viewer

from robot_memory.core.files import SHARED, write_file

HERE = Path(__file__).resolve().parent
QUICK_SETS = ('robot', 'calvin')
BEFORE = 'd9804e2'
"""The commit that calls and imports are compared with: messages were looked at one by one."""
ROWS = 10_000_000
PARTS = (
    'scale',
    'paired',
    'models',
    'side',
    'events',
    'year',
    'rows',
    'node',
    'contacts',
    'viewer',
    'questions',
    'quality',
)


@dataclass(frozen=True)
class Extent:
    """
    Say how much is measured: memories, events, perceptions and rows, 0 where none are.

    `models` are the sizes at which the second model is measured.
    """

    sizes: tuple[int, ...]
    models: tuple[int, ...]
    peer_size: int
    events: int
    year: int
    limits: tuple[float, float]
    rows: int
    left_out: str


FULL = Extent(
    (1_000, 10_000, 100_000, 1_000_000),
    (10_000, 1_000_000),
    10_000,
    5_000_000,
    1_000_000,
    (25, 15),
    ROWS,
    '',
)
LARGE = '1M memories; 5M events; a year of 1M perceptions; 10M event rows: FULL=1 measures them'
USUAL = Extent(
    (1_000, 10_000, 100_000), (10_000, 100_000), 10_000, 1_000_000, 30_000, (4, 4), 0, LARGE
)
QUICK = Extent(
    (1_000, 10_000),
    (),
    1_000,
    200_000,
    5_000,
    (4, 4),
    0,
    '100k memories; the second model; side by side at 10k; 1M events; 30k perceptions; quality '
    f'but for {" and ".join(QUICK_SETS)}; load for longer than 10 s; contacts of more than 2 '
    f'seeds a scene; {LARGE}',
)


def main() -> None:
    """Measure, write and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    how_much = parser.add_mutually_exclusive_group()
    how_much.add_argument('--quick', action='store_true', help='reduced run, some minutes')
    how_much.add_argument('--full', action='store_true', help='with the sizes that take hours')
    parser.add_argument('--only', action='append', choices=PARTS, help='parts to run')
    parser.add_argument(
        '--sizes', type=int, nargs='+', help='sizes of the scale test, in memories'
    )
    parser.add_argument(
        '--most',
        type=int,
        default=scale.LEARNED,
        help='calls of a kind in the scale test, at most',
    )
    parser.add_argument('--without-peer', action='store_true', help='measure this package only')
    parser.add_argument(
        '--before', default=BEFORE, help='folder or commit to compare calls and imports with'
    )
    parser.add_argument('--json', type=Path, default=HERE / 'results.json', help='output file')
    given = parser.parse_args()
    subjects = {'this': side.THIS}
    if not given.without_peer and (side.has_peer() or not given.quick):
        peer = side.set_up_peer()
        if peer is not None:
            subjects['peer'] = peer
    extent = QUICK if given.quick else FULL if given.full else USUAL
    sizes = given.sizes or extent.sizes
    measures: dict[str, Callable[[], Any]] = {
        'scale': lambda: measure_by_size(subjects, sizes, extent.peer_size, given.most),
        'paired': lambda: measure_paired(given.before, quick=given.quick),
        'models': lambda: run_script(
            'second_model.py', '--sizes', *map(str, extent.models or (10_000,))
        ),
        'side': lambda: run_harness(subjects, extent.peer_size),
        'events': lambda: run_script('events.py', '--size', str(extent.events)),
        'year': lambda: measure_year(extent),
        'rows': lambda: run_script('year.py', '--storage', '--size', str(extent.rows or ROWS)),
        'node': lambda: measure_node(given.before, quick=given.quick),
        'questions': lambda: measure_questions(quick=given.quick),
        'viewer': lambda: measure_viewer(extent, quick=given.quick),
        'contacts': lambda: run_script('contacts.py', *(('--seeds', '2') if given.quick else ())),
        'quality': lambda: measure_quality(quick=given.quick),
    }
    shown = {
        'scale': tables.format_scale,
        'paired': tables.format_paired,
        'models': tables.format_models,
        'side': tables.format_side_by_side,
        'events': tables.format_events,
        'year': tables.format_year,
        'rows': tables.format_rows,
        'node': tables.format_node,
        'contacts': tables.format_contacts,
        'viewer': viewer.format_viewer,
        'questions': tables.format_questions,
        'quality': tables.format_quality,
    }
    before = json.loads(given.json.read_text('utf-8')) if given.json.exists() else {}
    results: dict[str, Any] = {'machine': describe_machine()}
    print(' · '.join(f'{key}: {value}' for key, value in results['machine'].items()))
    start = time.monotonic()
    without = {
        part for part, some in (('rows', extent.rows), ('models', extent.models)) if not some
    }
    for part in given.only or (part for part in PARTS if part not in without):
        print(f'[{time.monotonic() - start:.0f} s] {part} ...', file=sys.stderr, flush=True)
        results[part] = measures[part]()
        with write_file(given.json, force=True, mode=SHARED) as file:
            file.write(f'{json.dumps(results, indent=1, ensure_ascii=False)}\n'.encode())
        if results[part]:
            print(shown[part](results[part]), flush=True)
    if results.get('paired'):
        print(slower.format_slower_than(results['paired']))
    if before:
        print(slower.format_slower(before, results))
    skipped = [*filter(None, [extent.left_out, '' if 'peer' in subjects else 'the peer'])]
    if skipped:
        print(f'\nLeft out in {time.monotonic() - start:.0f} s: {"; ".join(skipped)}.')


def describe_machine() -> dict[str, Any]:
    """Return the machine that is measured on, and its load before."""
    known = Path('/proc/cpuinfo').read_text() if Path('/proc/cpuinfo').exists() else ''
    names = [line.split(': ')[1] for line in known.splitlines() if line.startswith('model name')]
    return {
        'processor': names[0] if names else platform.processor(),
        'cores': os.cpu_count(),
        'load before': round(os.getloadavg()[0], 2),
        'python': platform.python_version(),
        'at': time.strftime('%Y-%m-%dT%H:%M:%SZ', time.gmtime()),
    }


def measure_by_size(
    subjects: dict[str, scale.Subject], sizes: tuple[int, ...], peer_size: int, most: int
) -> dict[str, dict[str, Any]]:
    """Return the figures of each subject by size; the peer's as far as it can follow."""
    found: dict[str, dict[str, Any]] = {}
    for who, subject in subjects.items():
        for size in sizes:
            if who == 'this' or size <= peer_size:
                try:
                    measured = scale.measure(subject, size, most)
                except subprocess.CalledProcessError as error:
                    if who == 'this':
                        raise
                    print(f'{who} is left out at {size:,}: {error}', file=sys.stderr)
                    continue
                if measured is not None:
                    found.setdefault(who, {})[str(size)] = measured
    return found


def run_harness(subjects: dict[str, scale.Subject], size: int) -> dict[str, Any] | None:
    """Return what the harness measures; None where it is not there."""
    if side.HARNESS.exists():
        return side.run_harness(subjects, size)
    print(f'no harness at {side.HARNESS}: name it in ROBOT_MEMORY_BENCH', file=sys.stderr)
    return None


def measure_paired(before: str, *, quick: bool) -> Any:
    """Return how learn and recall compare with those of another checkout, in turns."""
    if Path(before).is_dir() or has_commit(before):
        common = ('paired.py', before, '--json', '--blocks')
        found = run_script(*common, '8' if quick else '40')
        said = ('--only', 'save_conversation', '--model', '')
        embedded = found and run_script(*common, '4' if quick else '20', *said)
        for name, quartiles in (embedded or {}).get('ratios', {}).items():
            found['ratios'][f'{name}, with models'] = quartiles
        return found
    print(f'no folder or commit {before} to compare with', file=sys.stderr)
    return None


def measure_year(extent: Extent) -> Any:
    """Return what perceptions take under limits in MB."""
    perceptions, payloads = map(str, extent.limits)
    limits = ('--limit-mb', perceptions, '--payload-mb', payloads)
    return run_script('year.py', '--size', str(extent.year), *limits)


def measure_node(before: str, *, quick: bool) -> dict[str, Any]:
    """Return the figures of the node, measured by scripts of this folder."""
    few = ('--runs', '1') if quick else ()
    times = ('--seconds', '10' if quick else '90', '--pairs', '1', '--ends', '1' if quick else '5')
    busy: tuple[str, ...] = ('--busy', '--runs', '3' if quick else '7')
    long = ('--seconds', '20' if quick else '180')
    if Path(before).is_dir() or has_commit(before):
        busy += ('--before', before)
    else:
        print(f'no folder or commit {before} to compare imports with', file=sys.stderr)
    return {
        'service': run_script('service_round_trip.py'),
        'conversation': run_script('conversation.py'),
        'hundred': run_script('hundred.py'),
        'kept_events': run_script('kept_events.py', '--perceptions', '1500' if quick else '6000'),
        'import': run_script('import_speed.py', *few),
        'busy_import': run_script('import_speed.py', *busy, *long),
        'busy_import_without_model': run_script('import_speed.py', *busy, '--model', 'none'),
        'load': run_script('load.py', '--seconds', '10' if quick else '60'),
        'alternation': run_script('alternation.py', *times),
    }


def measure_viewer(extent: Extent, *, quick: bool) -> dict[str, Any]:
    """Return the figures of the viewer, alone and beside the taps of a node."""
    searched = str(max(extent.sizes))
    less = ('--memories', '100000', '--texts', '500', '--answers', '200') if quick else ()
    under_load = ('--viewers', '2', '--seconds', '10' if quick else '60')
    return {
        **(run_script('viewer.py', '--searched', searched, *less) or {}),
        'load': run_script('load.py', *under_load),
    }


def has_commit(named: str) -> bool:
    """Return whether this is a clone of git with that commit."""
    command = ['git', '-C', str(HERE), 'cat-file', '-e', f'{named}^{{commit}}']
    return (
        shutil.which('git') is not None
        and not subprocess.run(command, stderr=subprocess.DEVNULL).returncode
    )


def run_script(name: str, *arguments: str) -> Any:
    """Return what another script of this folder measures; None where it cannot, as it says."""
    command = [sys.executable, str(HERE / name), *arguments]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def measure_questions(*, quick: bool) -> Any:
    """
    Return how many questions about a month are right first, by half; one if quick.

    `check` is of the last set that was only counted, in ordinary wording.
    """
    halves = ('dev',) if quick else ('dev', 'report')
    more = ('--model', 'none') if quick else ()
    name = 'questions/ask.py'
    found = {half: run_script(name, '--json', '--half', half, *more) for half in halves}
    if not quick:
        file = str(HERE / 'questions' / 'sixteenth.jsonl')
        found['check'] = run_script(name, '--json', '--half', 'check', '--file', file)
    return found


def measure_quality(*, quick: bool) -> Any:
    """Return what bench/retrieval/measure.py measures; None where it cannot, as it says."""
    with tempfile.TemporaryDirectory() as folder:
        found = Path(folder) / 'quality.json'
        command = [sys.executable, str(HERE / 'retrieval/measure.py'), '--json', str(found)]
        if quick:
            command += ['--quick', *(part for name in QUICK_SETS for part in ('--set', name))]
        ran = subprocess.run(command, stdout=subprocess.DEVNULL)
        return json.loads(found.read_text('utf-8')) if ran.returncode == 0 else None


if __name__ == '__main__':
    main()

"""
Measure this package and its nearest peer side by side: `make bench`.

The harness stands outside of the project (ROBOT_MEMORY_BENCH, by default
../shared/bench/robotmem_bench.py); the peer runs in an environment of its own. Prints a table
and writes bench/results.json. Figures are medians on this machine, one thread.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HARNESS = Path(
    os.environ.get('ROBOT_MEMORY_BENCH', ROOT.parent / 'shared/bench/robotmem_bench.py')
)
PEER = ('robotmem==0.1.3', 'mcp<2')


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--n', type=int, default=10_000, help='memories in the store')
    parser.add_argument('--seconds', type=float, default=60.0, help='how long the load lasts')
    parser.add_argument('--without-peer', action='store_true', help='measure this package alone')
    options = parser.parse_args()
    if not HARNESS.exists():
        sys.exit(f'the harness is not at {HARNESS}; name it in ROBOT_MEMORY_BENCH')
    results: dict[str, Any] = {'this': measure(sys.executable, options.n, this=True)}
    if not options.without_peer:
        results['peer'] = measure(peer_python(), options.n, this=False)
    results['service'] = beside('service_round_trip.py')
    print('importing a recording ...', file=sys.stderr, flush=True)
    results['import'] = beside('import_speed.py')
    print(f'under load for {options.seconds:g} s ...', file=sys.stderr, flush=True)
    results['load'] = beside('load.py', '--seconds', str(options.seconds))
    (HERE / 'results.json').write_text(json.dumps(results, indent=1) + '\n')
    show(options.n, results)


def measure(python: str, n: int, *, this: bool) -> dict[str, list[dict[str, Any]]]:
    """Run the harness's speed part, by words alone and with vectors of a free embedder."""
    adapter = ['--adapter', 'adapter:Adapter', '--imports', 'robot_memory.api'] if this else []
    found = {}
    for embed in ('none', 'hash'):
        who = 'this package' if this else PEER[0]
        print(f'measuring {who}, {n} memories, vectors: {embed} ...', file=sys.stderr, flush=True)
        ran = subprocess.run(
            [python, str(HARNESS), '--n', str(n), '--embed', embed, '--only', 'speed', *adapter],
            env={**os.environ, 'OPENBLAS_NUM_THREADS': '1', 'PYTHONPATH': _path(this)},
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found[embed] = [json.loads(line) for line in ran.stdout.splitlines() if line[:1] == '{']
    return found


def _path(this: bool) -> str:
    return f'{HERE}{os.pathsep}{os.environ.get("PYTHONPATH", "")}' if this else ''


def peer_python() -> str:
    """Return the Python of the peer's environment, made at the first call."""
    folder = ROOT / '.venv-peer'
    python = folder / 'bin/python'
    if not (folder / 'ready').exists():
        print(f'setting up {" ".join(PEER)} ...', file=sys.stderr, flush=True)
        venv.create(folder, with_pip=True, clear=True)
        subprocess.run([python, '-m', 'pip', 'install', '--quiet', *PEER], check=True)
        (folder / 'ready').touch()
    return str(python)


def beside(script: str, *arguments: str) -> Any:
    """Return what another script of this folder measures; None where it cannot, as it says."""
    ran = subprocess.run(
        [sys.executable, str(HERE / script), *arguments], stdout=subprocess.PIPE, text=True
    )
    return json.loads(ran.stdout) if ran.returncode == 0 else None


def part(results: list[dict[str, Any]], name: str, kind: str = '') -> dict[str, Any]:
    """Return one line of the harness's output."""
    lines = [
        line for line in results if line['part'] == name and (not kind or line['kind'] == kind)
    ]
    return lines[0] if lines else {}


def show(n: int, results: dict[str, Any]) -> None:
    """Print the table."""
    rows: list[tuple[Any, ...]] = []
    for title, embed, name, kind, key, target in (
        ('recall, words only, p50 ms', 'none', 'recall', 'text', 'p50_ms', 'under 5'),
        ('recall, hybrid, p50 ms', 'hash', 'recall', 'text', 'p50_ms', 'under 8'),
        ('recall, filter, p50 ms', 'none', 'recall', 'filter', 'p50_ms', ''),
        ('recall, filter by range, p50 ms', 'none', 'recall', 'filter_range', 'p50_ms', ''),
        ('recall, nearest in space, p50 ms', 'none', 'recall', 'near', 'p50_ms', ''),
        ('learn, words only, last fifth /s', 'none', 'learn', '', 'last', 'over 1000'),
        ('learn, words only, last / first fifth', 'none', 'learn', '', 'flat', 'over 0.7'),
        ('learn, with vectors, last fifth /s', 'hash', 'learn', '', 'last', ''),
        ('perceive /s', 'none', 'perceive', '', 'per_s', ''),
        ('end of a session of 200, ms', 'none', 'end_session', '', 'ms', ''),
        ('bytes a memory, words only', 'none', 'size', '', 'bytes_per_memory', ''),
        ('bytes a memory, with vectors', 'hash', 'size', '', 'bytes_per_memory', ''),
        ('reopen and first recall, ms', 'none', 'reopen', '', 'open_plus_first_recall_ms', ''),
        ('matches found of 52 by filter', 'none', 'complete', '', 'filter_matches_got', ''),
    ):
        figures = []
        for who in ('peer', 'this'):
            line = part(results[who][embed], name, kind) if who in results else {}
            fifths = line.get('per_s_by_fifth') or [0]
            derived = {'last': fifths[-1], 'flat': round(fifths[-1] / (fifths[0] or 1), 2)}
            figures.append(derived[key] if key in derived and line else line.get(key))
        rows.append((title, *figures, target))
    service = results.get('service')
    if service:
        over = round(service['service_p50_ms'] - service['in_process_p50_ms'], 2)
        rows.append(('service over the call in process, p50 ms', None, over, 'under 2'))
    recorded, load = results.get('import'), results.get('load')
    if recorded:
        rows.append(('import, times real time', None, recorded['times_real_time'], 'over 200'))
    if load:
        rows += _load_rows(load)
    print(f'\n{n} memories, medians\n')
    print(f'{"":42}{"peer":>10}{"this":>10}{"this/peer":>11}  target')
    for row_title, peer, this, row_target in rows:
        ratio = f'{this / peer:.2f}' if peer and this is not None else '-'
        shown = ['-' if value is None else f'{value:g}' for value in (peer, this)]
        print(f'{row_title:42}{shown[0]:>10}{shown[1]:>10}{ratio:>11}  {row_target}')


def _load_rows(load: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Return the rows of the load; there the peer is a bare rclpy node."""
    bare, this = load['bare_processor_s'], load['this_processor_s']
    rows: list[tuple[Any, ...]] = [
        ('under load: processor s (bare node)', bare, this, 'ratio up to 1.6'),
        ('under load: recall p95 ms', None, load['recall_p95_ms'], 'under 30'),
    ]
    for topic, counts in load['topics'].items():
        rows.append(
            (f'under load: {topic} received', counts['bare'], counts.get('received'), 'no fewer')
        )
    return rows


if __name__ == '__main__':
    main()

"""
Let arms live through lives of trials, with and without memory: `make lives`.

A life is 160 or 240 trials of a skill. Its physics is looked up in a table of MuJoCo rollouts,
made at the first run in an environment of its own (.venv-lives). What is hidden (friction and
mass; the true place of a hole) is told in words only. README.md has the worlds and the arms.

Prints a table for each skill and variant, writes bench/.cache/lives/figures.json and draws
bench/.cache/lives/curves.png. Each life that is over is kept: a run that was broken off goes on.
After a change of an arm name it: `--anew suggest`.

--quick takes less than 10 minutes: few seeds, and the slow arms in the first variant only.
"""

from __future__ import annotations

import os

# Before numpy is there: two workers with threads of their own only get in each other's way.
for _name in ('OPENBLAS_NUM_THREADS', 'OMP_NUM_THREADS'):
    os.environ[_name] = '1'

import argparse  # noqa: E402
import json  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
from collections.abc import Mapping  # noqa: E402
from concurrent.futures import ProcessPoolExecutor, as_completed  # noqa: E402
from dataclasses import asdict  # noqa: E402
from multiprocessing import get_context  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

sys.path[:0] = [str(Path(__file__).resolve().parent.parent)]

import side  # noqa: E402
from lives.curves import plot_curves  # noqa: E402
from lives.draw import VARIANTS, load_phrases  # noqa: E402
from lives.environment import CACHE, SKILLS, make_tables  # noqa: E402
from lives.intervals import Difference  # noqa: E402
from lives.live import Life, Lived, live  # noqa: E402
from lives.phrase_vectors import PhraseVectors  # noqa: E402
from lives.registry import ARMS, PEER  # noqa: E402
from lives.report import collect, format_report  # noqa: E402
from lives.results import Results  # noqa: E402

from robot_memory.core.progress import make_progress_bar  # noqa: E402
from robot_memory.core.version import get_version  # noqa: E402

SEEDS = 20
QUICK_SEEDS = 5
QUICK_SLOW_SEEDS = 2
QUICK_VARIANTS = ('english', 'third in Chinese', 'change')
TUNING_SEEDS = 100
"""Lives for tuning have seeds from here on, those for reporting from 0."""


def main() -> None:
    """Live what is missing, and report."""
    given = parse_arguments()
    start = time.monotonic()
    tables = make_tables(given.skill or SKILLS)
    names = [name for name in ARMS if not given.arm or name in given.arm]
    if PEER in names and not set_up_peer(given.quick):
        print('the rival is left out: .venv-peer is not there', file=sys.stderr)
        names.remove(PEER)
    results = Results(given.phrases)
    results.forget(given.anew)
    embed_phrases(given.phrases)
    wanted = [life for life in list_lives(given, names, tables) if life.key not in results.known]
    run_lives(wanted, results, given.workers)
    write_report(results.pick(tables.values()))
    print(f'{len(wanted)} lives in {time.monotonic() - start:.0f} s; kept in {results.path}')


def parse_arguments() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.add_argument('--quick', action='store_true', help='few seeds, less than 10 minutes')
    parser.add_argument('--skill', action='append', choices=SKILLS, help='skills to run')
    parser.add_argument('--variant', action='append', choices=[*VARIANTS], help='variants to run')
    parser.add_argument('--arm', action='append', choices=[*ARMS], help='arms to run')
    parser.add_argument(
        '--anew',
        action='append',
        choices=[*ARMS],
        default=[],
        help='arms whose kept lives are forgotten',
    )
    parser.add_argument('--seeds', type=int, help=f'lives of each kind (default {SEEDS})')
    parser.add_argument('--workers', type=int, default=2, help='processes (default 2)')
    parser.add_argument(
        '--phrases',
        choices=('reporting', 'tuning'),
        default='reporting',
        help='tuning: while an arm is worked on',
    )
    return parser.parse_args()


def set_up_peer(quick: bool) -> bool:
    """Say whether the rival is there; a quick run does not install it."""
    return (side.has_peer() or not quick) and side.set_up_peer() is not None


def list_lives(
    given: argparse.Namespace, names: list[str], tables: Mapping[str, Path]
) -> list[Life]:
    """Return the lives of a run, seed by seed: what is there after a while is of use."""
    seeds = given.seeds or (QUICK_SEEDS if given.quick else SEEDS)
    first = TUNING_SEEDS if given.phrases == 'tuning' else 0
    variants = given.variant or (QUICK_VARIANTS if given.quick else [*VARIANTS])
    return [
        Life(skill, variant, first + place, arm, given.phrases, tables[skill])
        for place in range(seeds)
        for skill in given.skill or SKILLS
        for variant in variants
        for arm in names
        if not (given.quick and ARMS[arm].is_slow)
        or (place < QUICK_SLOW_SEEDS and variant == variants[0])
    ]


def embed_phrases(name: str) -> None:
    """Have the vectors of all phrases in the cache, before the workers ask for them."""
    vectors = PhraseVectors()
    vectors.embed(
        [
            said
            for skill in SKILLS
            for told in load_phrases(name, skill).values()
            for language in told.values()
            for said in language
        ]
    )
    vectors.save()


def run_lives(wanted: list[Life], results: Results, workers: int) -> None:
    """Live them, several at a time, and keep each when it is over; one that fails is told."""
    with (
        ProcessPoolExecutor(workers, get_context('spawn')) as pool,
        make_progress_bar(title='lives', unit='life', total=len(wanted)) as bar,
    ):
        running = {pool.submit(live, life): life for life in wanted}
        for future in as_completed(running):
            bar.update()
            failed = future.exception()
            if failed is None:
                results.add(running[future], future.result())
            else:
                print(f'{running[future].key} is left out: {failed}', file=sys.stderr)


def write_report(known: Mapping[str, Lived]) -> None:
    """Print tables; write figures and curves."""
    text, figures = format_report(known)
    print(text)
    file = CACHE / 'figures.json'
    file.write_text(json.dumps(figures, indent=1, default=_to_plain), 'utf-8')
    picture = CACHE / 'curves.png'
    plot_curves(collect(known), picture)
    print(f'figures: {file}\ncurves: {picture}')


def _to_plain(value: Any) -> Any:
    assert isinstance(value, Difference)
    return asdict(value)


if __name__ == '__main__':
    main()

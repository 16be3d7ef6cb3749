"""
Try to break stores, and print what came of it: rounds, lost, inconsistent, and the seed.

`python torture/break_stores.py [--part kills] [--rounds 100] [--hours 2] [--seed 7] [--round 41]`
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / 'test'))

import disk

from robot_memory.core.version import get_version

if TYPE_CHECKING:
    import parts

PARTS = ('kills', 'every', 'cuts', 'errors', 'damage', 'salvage', 'clocks', 'calls', 'erasures')
KINDS = ('lost', 'half', 'inconsistent', 'wrong', 'refused', 'ended')


def main() -> int:
    """Run the parts that were asked for; return 1 where anything was lost or inconsistent."""
    asked = parse_arguments()
    with tempfile.TemporaryDirectory(dir=disk.find_fast_folder()) as name:
        folder = Path(name)
        if 'disk.so' not in os.environ.get('LD_PRELOAD', ''):
            library = disk.build_library(folder)
            if library is None:
                print('g++ is missing: kills, cuts and errors need it; install it')
                return 2
            return disk.start_preloaded(library, [__file__, *sys.argv[1:]])
        os.environ.pop('LD_PRELOAD')
        logging.disable(logging.CRITICAL)
        return run_parts(asked, folder)


def parse_arguments() -> argparse.Namespace:
    """Return what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.add_argument('--part', choices=PARTS, action='append', help='All by default.')
    parser.add_argument('--rounds', type=int, default=100, help='Rounds of each part.')
    parser.add_argument('--hours', type=float, help='Go on so long, with further seeds.')
    parser.add_argument('--seed', type=int, help='Random by default; it is printed.')
    parser.add_argument('--round', type=int, action='append', help='Only such rounds of the seed.')
    return parser.parse_args()


def run_parts(asked: argparse.Namespace, folder: Path) -> int:
    """Run parts until rounds or hours are over, and print a line for each."""
    import parts  # here: what it imports takes seconds, and help needs none of it

    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    until = time.monotonic() + (asked.hours or 0) * 3600
    tallies = {part: parts.Tally(part) for part in asked.part or PARTS}
    print(f'seed {seed}', flush=True)
    while True:
        for part, tally in tallies.items():
            start = time.monotonic()
            within = folder / f'{part}{seed}'
            within.mkdir()
            try:
                parts.PARTS[part](tally, within, seed, asked.rounds, asked.round)
            finally:  # what was done before an interrupt counts, too
                print_tally(tally, time.monotonic() - start)
        seed += asked.rounds
        if time.monotonic() >= until:
            break
    return int(any(tally.wrong for tally in tallies.values()))


def print_tally(tally: parts.Tally, seconds: float) -> None:
    """Print a line of figures."""
    counts = ', '.join(f'{tally.wrong[kind]} {kind}' for kind in KINDS)
    print(f'{tally.part}: {tally.rounds} {tally.unit}, {counts} ({seconds:.0f} s)', flush=True)
    for name, count in tally.figures.items():
        print(f'  {count} {name}', flush=True)


if __name__ == '__main__':
    sys.exit(main())

"""
Print how many perceptions a second the writer of the taps stores durably, beside one by one.

`python bench/kept_events.py [--perceptions 3000] [--model '']`: the perceptions of a cell, a
signal of 4 kB each, go into two stores in blocks, in turns: into one each in a transaction of its
own, into the other through the writer's queue, which stores what waits in one transaction. Both
are synced to the disk at each transaction. Prints JSON: perceptions a second by the clock and by
the processor, medians of the blocks, and the medians of their ratios.
"""

from __future__ import annotations

import argparse
import json
import logging
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

import year

from robot_memory.core.progress import make_progress_bar
from robot_memory.core.settings import Settings
from robot_memory.core.version import get_version
from robot_memory.ingest import EventWriter, QueuedEventWriter, SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.lifecycle.perceptions import Perception
from robot_memory.memory import Memory

BLOCK = 250
TAP = 'wrench'
Block = Sequence[Perception]


def main() -> None:
    """Fill two stores in turns, and print what each took."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.add_argument('--perceptions', type=int, default=3000, help='of each store')
    parser.add_argument('--model', default='none', help="a folder, or '' for the default models")
    parser.add_argument('--folder', type=Path, help='where the stores are made')
    given = parser.parse_args()
    logging.disable(logging.ERROR)
    found = list(islice((one for one, _ in year.generate_perceptions()), given.perceptions))
    blocks = [found[at : at + BLOCK] for at in range(0, len(found), BLOCK)]
    with tempfile.TemporaryDirectory(dir=given.folder) as name, ExitStack() as closers:
        sides: dict[str, Callable[[Block], None]] = {}
        for side, make in {'one_by_one': write_alone, 'together': write_queued}.items():
            settings = Settings(db_path=str(Path(name) / f'{side}.db'), model=given.model)
            memory = closers.enter_context(Memory(settings, resident=False))
            if given.model != 'none':
                memory.wait_for_models(None, None)
                memory.reindexer.adopt_model()
            sides[side] = make(memory)
        print(json.dumps(measure(sides, blocks)))


def write_alone(memory: Memory) -> Callable[[Block], None]:
    """Return what writes each perception in a transaction of its own."""
    writer = EventWriter(memory, [make_tap(TAP, {})], SessionFinder(memory))

    def write(block: Block) -> None:
        for one in block:
            writer.write(TAP, one)

    return write


def write_queued(memory: Memory) -> Callable[[Block], None]:
    """Return what puts perceptions into the queue of a writer, and has it write all of them."""

    def write(block: Block) -> None:
        writer = QueuedEventWriter(memory, [make_tap(TAP, {})], SessionFinder(memory))
        for one in block:
            writer.enqueue(TAP, one)
        writer.close()
        if writer.counts[TAP]['events'] != len(block):
            raise RuntimeError(f'not all were kept: {writer.counts}')

    return write


def measure(
    sides: dict[str, Callable[[Block], None]], blocks: Sequence[Block]
) -> dict[str, object]:
    """Return perceptions a second of each side, and how many times the first's the others' are."""
    clock: dict[str, list[float]] = {side: [] for side in sides}
    processor: dict[str, list[float]] = {side: [] for side in sides}
    for number, block in enumerate(make_progress_bar(blocks, 'perceptions', unit='block')):
        for side in sorted(sides, reverse=bool(number % 2)):
            passed, spent = time.perf_counter(), time.process_time()
            sides[side](block)
            clock[side].append(len(block) / (time.perf_counter() - passed))
            processor[side].append(len(block) / (time.process_time() - spent))
    first, *others = sides
    found: dict[str, object] = {}
    for name, rates in (('per_s', clock), ('per_processor_s', processor)):
        found |= {f'{side}_{name}': round(statistics.median(rates[side])) for side in sides}
        for side in others:
            ratios = [one / other for one, other in zip(rates[side], rates[first], strict=True)]
            found[f'{side}_{name}_ratio'] = round(statistics.median(ratios), 2)
    return found


if __name__ == '__main__':
    main()

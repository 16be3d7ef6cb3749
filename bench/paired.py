"""
Compare calls of this checkout with those of another one, side by side.

`paired.py OTHER` (a folder or a commit) starts a process for each, with a store of its own, and
lets them take turns at short blocks of calls, in processor time of all threads: what slows the
machine slows both. It prints the median of the blocks' ratios; --json writes them.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

# The environment leaves this folder out.
from conversation_texts import ANSWERS, PEOPLE, SAID, fill_form  # noqa: E402
from facts import make_fact, make_question  # noqa: E402

BLOCK = {
    'learn': 50,
    'recall': 25,
    'recall, filter': 25,
    'recall, a hundred': 5,
    'save_conversation': 10,
}
"""Calls of a block."""
ASKED: dict[str, dict[str, Any]] = {
    'recall': {},
    'recall, filter': {'context_filter': {'task.success': True}},
    'recall, a hundred': {'n': 100},
}
"""How each is asked."""


def serve(folder: Path, durability: str, model: str) -> None:
    """Run the blocks that are asked for on stdin; answer each with its processor seconds."""
    from robot_memory.api import RobotMemory

    with RobotMemory(folder / 'memory.db', model=model, durability=durability) as memory:
        if model != 'none':
            memory.wait_for_model()
            memory.recall(make_question(-1))  # what the first call alone prepares
        for line in sys.stdin:
            name, number = line.strip().rsplit(' ', 1)
            block = range(int(number) * BLOCK[name], (int(number) + 1) * BLOCK[name])
            if name == 'save_conversation':
                chance = random.Random(number)
                said = [fill_form(chance, chance.choice(SAID)) for _ in block]
                answers = [fill_form(chance, chance.choice(ANSWERS)) for _ in block]
                start = time.process_time()
                for one, other in zip(said, answers, strict=True):
                    memory.save_conversation(one, other, actor_id=PEOPLE[0])
            elif name == 'learn':
                facts = [make_fact(number) for number in block]
                start = time.process_time()
                for text, context in facts:
                    memory.learn(text, context=context)
            else:
                questions = [make_question(number) for number in block]
                start = time.process_time()
                for question in questions:
                    memory.recall(question, **ASKED[name])
            print(json.dumps(time.process_time() - start), flush=True)


class Side:
    """Drive the process of one checkout."""

    def __init__(self, checkout: Path, folder: Path, options: Sequence[str]) -> None:
        """Start it."""
        command = [sys.executable, __file__, '--serve', str(folder), *options]
        self._process = subprocess.Popen(
            command,
            env={**os.environ, 'PYTHONPATH': f'{checkout}{os.pathsep}{HERE}'},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, name: str, number: int) -> float:
        """Run a block; return its processor time in seconds."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f'{name} {number}\n')
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def compare(
    other: Path, names: Sequence[str], blocks: int, options: Sequence[str]
) -> dict[str, list[float]]:
    """Return the ratios of the blocks: calls a second here by those of the other checkout."""
    ratios: dict[str, list[float]] = {name: [] for name in names}
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as two:
        sides = [
            Side(other, Path(one), options),
            Side(HERE.parent, Path(two), options),
        ]
        for name, found in ratios.items():
            for number in range(blocks):
                order = (0, 1) if number % 2 else (1, 0)
                seconds = {side: sides[side].run(name, number) for side in order}
                found.append(seconds[0] / seconds[1])
        for side in sides:
            side.close()
    return ratios


def main() -> None:
    """Print the ratios of this checkout to the other."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('other', nargs='?', help='folder or commit of the other checkout')
    parser.add_argument('--json', action='store_true', help='print quartiles as JSON')
    parser.add_argument('--blocks', type=int, default=60)
    parser.add_argument('--durability', default='normal', choices=('full', 'normal'))
    parser.add_argument('--model', default='none', help="a folder, or '' for the default model")
    parser.add_argument('--only', action='append', choices=tuple(BLOCK), help='calls to compare')
    parser.add_argument('--serve', type=Path, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.serve:
        serve(given.serve, given.durability, given.model)
        return
    if given.other is None:
        parser.error('name the folder or the commit of the other checkout')
    from import_speed import find_checkout  # of this checkout, not of an older one that serves

    options = ['--durability', given.durability, '--model', given.model]
    names = given.only or list(BLOCK)
    ratios = compare(find_checkout(given.other), names, given.blocks, options)
    quartiles = {
        name: statistics.quantiles(found, n=4, method='inclusive')
        for name, found in ratios.items()
    }
    if given.json:
        print(json.dumps({'other': given.other, 'blocks': given.blocks, 'ratios': quartiles}))
        return
    for name, (low, middle, high) in quartiles.items():
        print(f'{name}: {middle:.3f} of the other (quartiles {low:.3f} and {high:.3f})')


if __name__ == '__main__':
    main()

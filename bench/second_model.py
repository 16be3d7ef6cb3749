"""
Measure what the second model costs beside the first: memory, start, questions, learning.

Two processes take turns, each with a store of the same facts: one asks the first model only
(`second_model: none`), the other asks both. Vectors of the stored facts are made of their words,
under the models' names, so that stores are filled without embedding; questions and facts that are
learned go through the models. Times are of the processor, of all threads, and ratios are medians
of pairs of blocks: what slows the machine slows both.

RAM a memory is the difference of two processes by their memories where the largest size is a
million, else what that difference grows by from one size to the next larger one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

from facts import make_fact, make_question
from measured_process import read_megabytes

from robot_memory.core.heap import trim_heap
from robot_memory.core.progress import make_progress_bar
from robot_memory.text.questions.glosses import list_glosses

BLOCK = {'recall': 20, 'learn': 20}
"""Calls of a block."""
SIDES = ('none', '')
"""The setting `second_model` of the two: the first model only, and both."""
MILLION = 1_000_000
RSS_SIZE = 10_000
STARTS = 5
PATIENCE_S = 300.0
_STILL = 8
"""Looks at the memory, 0.2 s apart, that must agree."""


@dataclass(frozen=True)
class Pair:
    """Hold a figure with the first model only, and one with both."""

    first: float
    both: float

    @property
    def more(self) -> float:
        """Return what both take beyond the first."""
        return self.both - self.first


# What runs in processes of their own


def fill(path: Path, size: int, second: str) -> None:
    """Fill a store with facts whose vectors are made of their words, under the models' names."""
    from named_vectors import fill_store

    fill_store(path, size, with_second=second != 'none')


def serve(path: Path, second: str) -> None:
    """Open a store with its models; answer each line of stdin by a line of JSON."""
    from robot_memory.api import RobotMemory

    with RobotMemory(path, second_model=second, durability='normal') as memory:
        asked = _Asked(memory)
        for line in sys.stdin:
            name, number = line.split()
            print(json.dumps(getattr(asked, name)(int(number))), flush=True)


class _Asked:
    """What one process is asked for, by name."""

    def __init__(self, memory: Any) -> None:
        self._memory = memory

    def settle(self, _: int) -> dict[str, Any]:
        """Wait for the models and the copy in memory; return what answers, and its MB."""
        self._memory.memory.wait_for_models(None, None)
        found, end = None, time.monotonic() + PATIENCE_S
        while time.monotonic() < end:
            found = self._memory.recall(make_question(0))
            if found.mode == 'hybrid':
                break
            time.sleep(0.05)
        self._memory.memory.vocabulary.embed([one.text for one in list_glosses()])
        for number in range(10):
            found = self._memory.recall(make_question(number))
        assert found is not None
        return {'mode': found.mode, 'models': found.models, 'mb': _read_settled_megabytes()}

    def recall(self, number: int) -> float:
        """Return the processor seconds of a block of questions."""
        block = range(number * BLOCK['recall'], (number + 1) * BLOCK['recall'])
        return _time(self._memory.recall, [(make_question(1000 + one),) for one in block])

    def learn(self, number: int) -> float:
        """Return the processor seconds of a block of facts."""
        first = 10 * MILLION + number * BLOCK['learn']
        return _time(self._memory.learn, [make_fact(first + one) for one in range(BLOCK['learn'])])


def _read_settled_megabytes() -> float:
    """Return the resident memory once the worker, which loads and sorts, has ceased to move it."""
    seen: list[float] = []
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        trim_heap()
        seen.append(read_megabytes('VmRSS'))
        if len(seen) >= _STILL and max(seen[-_STILL:]) - min(seen[-_STILL:]) < 0.5:
            break
        time.sleep(0.2)
    return seen[-1]


def _time(call: Callable[..., Any], arguments: Sequence[tuple[Any, ...]]) -> float:
    start = time.process_time()
    for one in arguments:
        call(*one)
    return time.process_time() - start


def ask_first(path: Path, second: str) -> dict[str, Any]:
    """Open a store, ask at once, and then until all models answer."""
    from robot_memory.api import RobotMemory

    start = time.perf_counter()
    with RobotMemory(path, second_model=second) as memory:
        found = memory.recall(make_question(0))
        answered = {'s': time.perf_counter() - start, 'processor_s': time.process_time()}
        first = {**answered, 'mode': found.mode, 'models': found.models}
        memory.memory.wait_for_models(None, None)
        found = memory.recall(make_question(1))
        return {**first, 'all_s': time.perf_counter() - start, 'all': found.models}


# What drives them


class Side:
    """Drive the process of one setting."""

    def __init__(self, path: Path, second: str) -> None:
        """Start it."""
        self._process = subprocess.Popen(
            _make_command('serve', path, second),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def ask(self, name: str, number: int = 0) -> Any:
        """Have it do something; return what it says."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f'{name} {number}\n')
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())

    def close(self) -> None:
        """End it."""
        self._process.communicate()


def _make_command(part: str, path: Path, second: str, *more: str) -> list[str]:
    return [sys.executable, __file__, part, '--path', str(path), '--second', second, *more]


def fill_each(folder: Path, size: int) -> list[Path]:
    """Return a store of so many facts for each setting."""
    paths = [folder / f'{size}-{second or "both"}' / 'memory.db' for second in SIDES]
    for path, second in zip(paths, SIDES, strict=True):
        path.parent.mkdir()
        command = _make_command('fill', path, second, '--size', str(size))
        subprocess.run(command, check=True)
    return paths


def measure_memory(paths: Sequence[Path]) -> tuple[Pair, list[Any]]:
    """Return the resident memory of each setting in MB, and what answers."""
    found = []
    for path, second in zip(paths, SIDES, strict=True):
        side = Side(path, second)
        found.append(side.ask('settle'))
        side.close()
    return Pair(*(one['mb'] for one in found)), [[one['mode'], one['models']] for one in found]


def measure_starts(paths: Sequence[Path], rounds: int) -> dict[str, Any]:
    """Return the median times of the first answer, and what answered; settings take turns."""
    runs: dict[str, list[Any]] = {second: [] for second in SIDES}
    for _ in range(rounds):
        for path, second in zip(paths, SIDES, strict=True):
            command = _make_command('first', path, second)
            ran = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            runs[second].append(json.loads(ran.stdout))
    return {
        second or 'both': {
            **{
                key: round(statistics.median(one[key] for one in found), 3)
                for key in ('s', 'processor_s', 'all_s')
            },
            **{key: found[0][key] for key in ('mode', 'models', 'all')},
        }
        for second, found in runs.items()
    }


def measure_blocks(paths: Sequence[Path], blocks: int) -> dict[str, Any]:
    """Return processor ms a call of each setting, and the medians of paired blocks."""
    sides = [Side(path, second) for path, second in zip(paths, SIDES, strict=True)]
    for side in sides:
        side.ask('settle')
    found = {}
    for name, calls in BLOCK.items():
        pairs = []
        for number in make_progress_bar(range(blocks), f'{name}, in pairs', unit='pair'):
            order = (0, 1) if number % 2 else (1, 0)
            spent = {place: sides[place].ask(name, number) / calls * 1e3 for place in order}
            pairs.append(Pair(spent[0], spent[1]))
        found[name] = {
            'first_ms': round(statistics.median(pair.first for pair in pairs), 2),
            'both_ms': round(statistics.median(pair.both for pair in pairs), 2),
            'more_ms': round(statistics.median(pair.more for pair in pairs), 2),
            'rate': round(statistics.median(pair.first / pair.both for pair in pairs), 3),
        }
    for side in sides:
        side.close()
    return found


def measure(sizes: Sequence[int], blocks: int) -> dict[str, Any]:
    """Return all figures; memory at each size, the others at the one next to RSS_SIZE."""
    main = min(sizes, key=lambda size: abs(size - RSS_SIZE))
    memory: dict[int, Pair] = {}
    found: dict[str, Any] = {'size': main}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            paths = fill_each(Path(folder), size)
            memory[size], found['answered'] = measure_memory(paths)
            if size == main:
                found['start'] = measure_starts(paths, STARTS)
                found.update(measure_blocks(paths, blocks))
    return {
        **found,
        'rss_mb': {str(size): vars(pair) for size, pair in memory.items()},
        'more_mb': round(memory[main].more, 1),
        **_find_bytes(memory),
    }


def _find_bytes(memory: dict[int, Pair]) -> dict[str, Any]:
    """Return the bytes a memory, and how they are known."""
    *_, large = sorted(memory)
    if large >= MILLION or len(memory) == 1:
        return {'bytes_a_memory': round(memory[large].more * 2**20 / large), 'bytes_at': large}
    small = sorted(memory)[-2]
    grown = (memory[large].more - memory[small].more) * 2**20
    return {
        'bytes_a_memory': round(grown / (large - small)),
        'bytes_from': [small, large],
    }


def main() -> None:
    """Measure and print JSON, or play one of the parts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('part', nargs='?', choices=('fill', 'serve', 'first'))
    parser.add_argument('--sizes', type=int, nargs='+', default=[RSS_SIZE, 100_000])
    parser.add_argument('--blocks', type=int, default=15)
    parser.add_argument('--path', type=Path, help=argparse.SUPPRESS)
    parser.add_argument('--second', default='', help=argparse.SUPPRESS)
    parser.add_argument('--size', type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part == 'fill':
        fill(given.path, given.size, given.second)
    elif given.part == 'serve':
        serve(given.path, given.second)
    elif given.part == 'first':
        print(json.dumps(ask_first(given.path, given.second)))
    else:
        from robot_memory.embedding.locate import has_second_model

        if not has_second_model('', is_default=True):
            sys.exit('no second model is there: robot-memory model get bge-small-en-v1.5')
        print(json.dumps(measure(sorted(given.sizes), given.blocks)))


if __name__ == '__main__':
    main()

"""
How much memory a process keeps after hostile calls: RSS before, during and after them.

Called as `bench/hostile_calls.py CALLS [SEED] [MODEL]`. Many calls are wrong, the others ask for
what nobody asked before; almost none stores anything, so that what stays is what they left behind.
"""

from __future__ import annotations

import gc
import random
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.heap import trim_heap

_WARM_UP = 2_000
_FACTS = 2_000
_WORDS = 'shelf aisle part gripper drawer cup tray dock hall battery sensor wrist'.split()


def make_text(chance: random.Random) -> str:
    """Return a text that nobody said before, of any script and length."""
    letters = chance.choice(
        ('abcdefgh ', '抽屉卡住夹持力', 'жщъ ёэ', '\u202e\x1b\x00\ud7ff', '0123456789 N')
    )
    length = chance.choice((1, 20, 60, 200, 2_000, 9_000))
    return chance.choice(_WORDS) + ' ' + ''.join(chance.choices(letters, k=length))


def make_call(chance: random.Random) -> tuple[str, dict[str, Any]]:
    """Return a tool and what it is asked for."""
    text = make_text(chance)
    nested: Any = 1
    for _ in range(chance.choice((1, 30, 120))):
        nested = {text[:8]: nested}
    made: list[tuple[str, dict[str, Any]]] = [
        ('recall', {'query': text, 'n': chance.choice((1, 5, 10**9, -1))}),
        ('recall', {'query': text, 'context_filter': {text[:40]: text}}),
        ('recall', {'query': text, 'collection': text[:30]}),
        ('query_records', {'where': {text[:20]: {'$gt': chance.random()}}}),
        ('query_records', {'order_by': text[:50]}),
        ('query_events', {'question': text}),
        ('get_context', {'task': text}),
        ('search_memory', {'query': text}),
        ('learn', {'insight': '', 'context': nested}),
        ('learn', {'insight': text, 'session_id': text[:40]}),
        ('suggest', {'skill': text[:60], 'situation': text}),
        ('show', {'memory_id': chance.randrange(10**12)}),
        ('forget', {'memory_id': chance.randrange(10**9, 10**12), 'reason': text}),
        ('save_perception', {'description': text, 'perception_type': text[:9]}),
        ('end_session', {'session_id': text[:60]}),
        ('export', {'session_id': text[:60]}),
        ('recall', {text[:30]: nested}),
    ]
    return chance.choice(made)


def make_calls(memory: RobotMemory, count: int, chance: random.Random) -> int:
    """Make so many calls; return how many were answered."""
    run: Callable[[str, dict[str, Any]], Any] = memory._run
    answered = 0
    for _ in range(count):
        try:
            run(*make_call(chance))
            answered += 1
        except (RobotMemoryError, TypeError):
            continue
    return answered


def read_rss() -> float:
    """Return the resident memory of this process in MB."""
    gc.collect()
    trim_heap()
    for line in Path('/proc/self/status').read_text(encoding='ascii').splitlines():
        if line.startswith('VmRSS'):
            return int(line.split()[1]) / 1024
    raise RuntimeError('no VmRSS in /proc/self/status')


def main() -> None:
    """Print RSS every tenth of the calls."""
    calls, seed = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    chance = random.Random(seed)
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(
            Path(folder) / 'm.db', model=sys.argv[3] if len(sys.argv) > 3 else ''
        ) as memory,
    ):
        memory.wait_for_model()
        for number in range(_FACTS):
            memory.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
        make_calls(memory, _WARM_UP, chance)
        before = read_rss()
        print(f'before: {before:.0f} MB, after {_FACTS} facts and {_WARM_UP} calls')
        answered = 0
        for tenth in range(1, 11):
            answered += make_calls(memory, calls // 10, chance)
            now = read_rss()
            print(
                f'{tenth * calls // 10} calls: {now:.0f} MB ({now / before - 1:+.1%})', flush=True
            )
        print(f'{answered} answered, the rest refused')


if __name__ == '__main__':
    main()

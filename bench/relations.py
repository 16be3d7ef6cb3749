"""
How well learn takes the duplicates and corrections of bench/planner, with 95 % intervals.

`python bench/relations.py [HALF]` prints a table for the half dev, or another, of pairs each by
itself; `python bench/relations.py HALF together` one of corrections whose older facts are all
known in one collection, where it counts only if the right one is corrected; `python
bench/relations.py HALF other`, or `third`, one of the corrections by another hand.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

from robot_memory.api import RobotMemory
from robot_memory.core.proportions import compute_wilson
from robot_memory.embedding.correction_judge import has_judge, load_judge

SETS = {'duplicates': ('first', 'second', 'same'), 'corrections': ('old', 'new', 'replaces')}
OTHERS = ('other', 'third')
FOLDER = Path(__file__).parent / 'planner'


def is_found(memory: RobotMemory, name: str, collection: str, old: str, new: str) -> bool:
    """Learn two texts in a collection of their own; say how the second was taken."""
    memory.learn(old, collection=collection)
    answer = memory.learn(new, collection=collection)
    if name == 'duplicates':
        return answer.status == 'duplicate'
    return answer.replaces is not None or answer.disagrees is not None


def count_together(memory: RobotMemory, half: str) -> None:
    """Print how many corrections find their fact among those of all pairs of a half."""
    lines = (FOLDER / 'corrections.jsonl').read_text(encoding='utf-8').splitlines()
    pairs = [one for one in map(json.loads, lines) if one['half'] == half]
    known: dict[str, int | None] = {}
    for one in pairs:
        answer = memory.learn(one['old'])
        known.setdefault(one['old'], answer.memory_id or answer.existing_id)
    right: Counter[bool] = Counter()
    for one in pairs:
        answer = memory.learn(one['new'])
        linked = answer.replaces or answer.disagrees
        right[one['replaces']] += linked == (known[one['old']] if one['replaces'] else None)
        if answer.memory_id is not None:
            memory.forget(answer.memory_id, 'the next is to find what this one did')
    for is_so, number in Counter(one['replaces'] for one in pairs).items():
        low, high = compute_wilson(right[is_so], number)
        says = 'replaces' if is_so else 'not replaces'
        print(
            f'together     {says:13} all    {right[is_so] / number:.3f} [{low:.3f}, {high:.3f}] '
            f'of {number}'
        )


def wait_for_judge(memory: RobotMemory) -> None:
    """Load the judge of corrections, and have the store adopt its model; else end the run."""
    embedder = memory.memory.embedder.get_if_loaded()
    if not has_judge(embedder) or load_judge(embedder) is None:
        raise SystemExit('the judge of corrections cannot be loaded, or is of another model')
    memory.memory.reindexer.adopt_model()


def main(half: str = 'dev', how: str = 'alone') -> None:
    """Print how many pairs of each kind are taken right by learn."""
    with TemporaryDirectory() as folder, RobotMemory(f'{folder}/memory.db') as memory:
        if not memory.wait_for_model():
            raise SystemExit(memory.memory.embedder.reason)
        wait_for_judge(memory)
        if how == 'together':
            count_together(memory, half)
            return
        sets = {f'corrections_{how}': SETS['corrections']} if how in OTHERS else SETS
        for name, (old, new, label) in sets.items():
            lines = (FOLDER / f'{name}.jsonl').read_text(encoding='utf-8').splitlines()
            pairs = [one for one in map(json.loads, lines) if one['half'] == half]
            right: Counter[tuple[bool, str]] = Counter()
            total: Counter[tuple[bool, str]] = Counter()
            for number, one in enumerate(pairs):
                found = is_found(memory, name, f'{name} {number}', one[old], one[new])
                for kind in (one['language'], 'all'):
                    total[one[label], kind] += 1
                    right[one[label], kind] += found == one[label]
            for (is_so, kind), number in sorted(total.items()):
                low, high = compute_wilson(right[is_so, kind], number)
                share = right[is_so, kind] / number
                says = label if is_so else f'not {label}'
                print(
                    f'{name:12} {says:13} {kind:6} {share:.3f} [{low:.3f}, {high:.3f}] of {number}'
                )


if __name__ == '__main__':
    main(*sys.argv[1:])

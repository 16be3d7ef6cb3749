"""
How well learn takes the duplicates and corrections of bench/planner, with 95 % intervals.

`python bench/relations.py [HALF]` prints a table for the half dev, or another, of pairs each by
itself; `python bench/relations.py HALF other`, `third` to `sixth`, one of the corrections by
another hand. With `together` all older facts of a half's corrections are known in one collection,
and a correction counts only if the right one is corrected; with `apart` the older facts of every
other pair are known, so that a new one corrects none of them.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.core.proportions import compute_wilson
from robot_memory.embedding.cross_encoder import has_cross_encoder, load_cross_encoder
from robot_memory.text.relations import hints_at_change

SETS = {'duplicates': ('first', 'second', 'same'), 'corrections': ('old', 'new', 'replaces')}
MERGED: Counter[str] = Counter()
"""How many new facts of a set were taken for the same as the old one."""
OTHERS = ('other', 'third', 'fourth', 'fifth', 'sixth')
FOLDER = Path(__file__).parent / 'planner'


def is_found(memory: RobotMemory, name: str, collection: str, old: str, new: str) -> bool:
    """Learn two texts in a collection of their own; say how the second was taken."""
    memory.learn(old, collection=collection)
    answer = memory.learn(new, collection=collection)
    if name == 'duplicates':
        return answer.status == 'duplicate'
    MERGED[name] += answer.status == 'duplicate'
    return answer.replaces is not None or answer.disagrees is not None


def count_together(memory: RobotMemory, pairs: list[Any]) -> None:
    """Print how many corrections find their fact among those of all pairs."""
    known: dict[str, int | None] = {}
    for one in pairs:
        answer = memory.learn(one['old'])
        known.setdefault(one['old'], answer.memory_id or answer.existing_id)
    right: Counter[bool] = Counter()
    for one in pairs:
        linked = _learn_and_forget(memory, one['new'])
        right[one['replaces']] += linked == (known[one['old']] if one['replaces'] else None)
    for is_so, number in Counter(one['replaces'] for one in pairs).items():
        says = 'replaces' if is_so else 'not replaces'
        _print_share('together', says, 'all', right[is_so], number)


def count_apart(memory: RobotMemory, pairs: list[Any]) -> None:
    """Print how many new facts correct none of those of other pairs."""
    right: Counter[bool] = Counter()
    for known in (0, 1):
        for one in pairs[known::2]:
            memory.learn(one['old'], collection=f'apart {known}')
        for one in pairs[1 - known :: 2]:
            linked = _learn_and_forget(memory, one['new'], f'apart {known}')
            right[hints_at_change(one['new'])] += linked is None
    total = Counter(hints_at_change(one['new']) for one in pairs)
    for is_so, number in total.items():
        _print_share('apart', 'not replaces', 'hint' if is_so else 'none', right[is_so], number)


def _learn_and_forget(memory: RobotMemory, text: str, collection: str = 'default') -> int | None:
    """Return the id of what a new text corrects, and forget the new text."""
    answer = memory.learn(text, collection=collection)
    if answer.memory_id is None:
        return answer.existing_id  # taken for the same, which is a link as well
    memory.forget(answer.memory_id, 'the next is to find what this one did')
    return answer.replaces or answer.disagrees


def _print_share(name: str, says: str, kind: str, right: int, number: int) -> None:
    low, high = compute_wilson(right, number)
    print(f'{name:12} {says:13} {kind:6} {right / number:.3f} [{low:.3f}, {high:.3f}] of {number}')


def wait_for_cross_encoder(memory: RobotMemory) -> None:
    """Load the cross-encoder, and have the store adopt its model; else end the run."""
    embedder = memory.memory.embedder.get_if_loaded()
    if not has_cross_encoder(embedder) or load_cross_encoder(embedder) is None:
        raise SystemExit('the cross-encoder cannot be loaded, or is of another model')
    memory.memory.reindexer.adopt_model()


def main(half: str = 'dev', *words: str) -> None:
    """Print how many pairs of each kind are taken right by learn."""
    other = next((word for word in words if word in OTHERS), '')
    name = f'corrections_{other}' if other else 'corrections'
    with TemporaryDirectory() as folder, RobotMemory(f'{folder}/memory.db') as memory:
        if not memory.wait_for_model():
            raise SystemExit(memory.memory.embedder.reason)
        wait_for_cross_encoder(memory)
        for word, count in (('together', count_together), ('apart', count_apart)):
            if word in words:
                count(memory, _load(name, half))
                return
        for each in [name] if other else SETS:
            old, new, label = SETS[each.partition('_')[0]]
            right: Counter[tuple[bool, str]] = Counter()
            total: Counter[tuple[bool, str]] = Counter()
            for number, one in enumerate(_load(each, half)):
                found = is_found(memory, each, f'{each} {number}', one[old], one[new])
                for kind in (one['language'], 'all'):
                    total[one[label], kind] += 1
                    right[one[label], kind] += found == one[label]
            for (is_so, kind), number in sorted(total.items()):
                says = label if is_so else f'not {label}'
                _print_share(each, says, kind, right[is_so, kind], number)
            if MERGED[each]:
                print(f'{each:12} of all, {MERGED[each]} were taken for the same')


def _load(name: str, half: str) -> list[Any]:
    lines = (FOLDER / f'{name}.jsonl').read_text(encoding='utf-8').splitlines()
    return [one for one in map(json.loads, lines) if one['half'] == half]


if __name__ == '__main__':
    main(*sys.argv[1:])

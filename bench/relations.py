"""
How well learn takes the duplicates and corrections of bench/planner, with 95 % intervals.

`python bench/relations.py [HALF]` prints a table for the half dev, or another, of pairs each by
itself; `python bench/relations.py HALF other`, `third` to `fifteenth`, one of the corrections by
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
from robot_memory.text.relations import Relation, hints_at_change

SETS = {
    'duplicates': ('first', 'second', 'same', Relation.SAME),
    'corrections': ('old', 'new', 'replaces', Relation.CORRECTS),
}
"""The fields of the older text, of the newer, and of whether the newer stands so to the older."""
OTHERS = tuple(
    'other third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth'
    ' fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth twentyfirst'
    ' retractions retractions_second'.split()
)
FOLDER = Path(__file__).parent / 'planner'


def learn_new(
    memory: RobotMemory, text: str, collection: str = 'default'
) -> tuple[Relation, int | None]:
    """Learn a text, and forget it where it is new; return what it is to which known fact."""
    answer = memory.learn(text, collection=collection)
    if answer.memory_id is None:
        return Relation.SAME, answer.existing_id
    memory.forget(answer.memory_id, 'the next is to find what this one did')
    linked = answer.replaces or answer.disagrees
    return Relation.OTHER if linked is None else Relation.CORRECTS, linked


def count_together(memory: RobotMemory, pairs: list[Any]) -> None:
    """Print how many corrections find their fact among those of all pairs."""
    known: dict[str, int | None] = {}
    for one in pairs:
        answer = memory.learn(one['old'])
        known.setdefault(one['old'], answer.memory_id or answer.existing_id)
    right: Counter[bool] = Counter()
    for one in pairs:
        found, memory_id = learn_new(memory, one['new'])
        is_own = memory_id == known[one['old']]
        if one['replaces']:
            right[True] += is_own and found is Relation.CORRECTS
        else:  # it may say the same
            right[False] += found is Relation.OTHER or (is_own and found is Relation.SAME)
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
            found, _ = learn_new(memory, one['new'], f'apart {known}')
            right[hints_at_change(one['new'])] += found is Relation.OTHER
    total = Counter(hints_at_change(one['new']) for one in pairs)
    for is_so, number in total.items():
        _print_share('apart', 'not replaces', 'hint' if is_so else 'none', right[is_so], number)


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
            old, new, label, wanted = SETS[each.partition('_')[0]]
            right: Counter[tuple[bool, str]] = Counter()
            total: Counter[tuple[bool, str]] = Counter()
            same: Counter[tuple[bool, bool]] = Counter()
            for number, one in enumerate(_load(each, half)):
                collection = f'{each} {number}'
                memory.learn(one[old], collection=collection)
                found, _ = learn_new(memory, one[new], collection)
                same[one.get('restates', False), found is Relation.SAME] += 1
                for kind in (one['language'], 'all'):
                    total[one[label], kind] += 1
                    right[one[label], kind] += (found is wanted) == one[label]
            for (is_so, kind), number in sorted(total.items()):
                says = label if is_so else f'not {label}'
                _print_share(each, says, kind, right[is_so, kind], number)
            if wanted is Relation.CORRECTS:
                for is_so in sorted({is_so for is_so, _ in same}):
                    says = 'restates' if is_so else 'not restates'
                    known, number = same[is_so, True], same[is_so, True] + same[is_so, False]
                    _print_share(f'{each}, the same', says, 'all', known, number)


def _load(name: str, half: str) -> list[Any]:
    lines = (FOLDER / f'{name}.jsonl').read_text(encoding='utf-8').splitlines()
    return [one for one in map(json.loads, lines) if one['half'] == half]


if __name__ == '__main__':
    main(*sys.argv[1:])

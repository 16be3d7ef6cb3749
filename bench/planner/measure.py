"""
Count how many rules get_context tells rightly, and which sentences are taken for rules.

`measure.py HALF` learns the rules in a new store, asks for the context of each task of a half, and
prints shares with 95 % intervals (Wilson); `--set constraints` classifies sentences. `--list`
names what goes wrong, for the half `dev` only.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.text.categories import classify

HERE = Path(__file__).resolve().parent


def load(name: str, half: str | None = None) -> list[dict[str, Any]]:
    """Return the entries of a set, of one half where one is named."""
    lines = (HERE / name).read_text(encoding='utf-8').splitlines()
    entries = [json.loads(line) for line in lines]
    return [one for one in entries if half is None or one['half'] == half]


def format_share(count: int, total: int) -> str:
    """Return a share with its Wilson interval: '.992 [.987, .996] (1438 of 1449)'."""
    if not total:
        return 'none'
    z, share = 1.96, count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    spread = z * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))
    spread /= 1 + z * z / total
    low, high = max(0.0, middle - spread), min(1.0, middle + spread)
    return f'{share:.3f} [{low:.3f}, {high:.3f}] ({count} of {total})'


def measure_rules(half: str, lists: bool, model: str) -> None:
    """Print the bars of rules: missed, in applies, and what does not apply in applies."""
    counts: Counter[tuple[bool | None, bool | None]] = Counter()
    times = []
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(Path(folder) / 'memory.db', model=model) as memory,
    ):
        if model != 'none':
            memory.wait_for_model()
        ids = {memory.learn(one['text']).memory_id: one for one in load('rules.jsonl')}
        for task in load('tasks.jsonl', half):
            start = time.perf_counter()
            rules = memory.get_context(task['text'], situation=task['situation']).rules
            times.append(1000 * (time.perf_counter() - start))
            told = {
                **{one.memory_id: True for one in rules.applies},
                **{one.memory_id: None for one in rules.may_apply},
            }
            for memory_id, rule in ids.items():
                name = rule['id']
                right = name in task['applies'] or (None if name in task['may_apply'] else False)
                found = told.get(memory_id or 0, False)
                counts[right, found] += 1
                if lists and right is not found:
                    print(f'{task["id"]} {name}: {right}, told {found}: {task["text"][:60]}')
    apply = sum(n for (right, _), n in counts.items() if right is True)
    told_apply = sum(n for (_, found), n in counts.items() if found is True)
    good = counts[True, True]
    print(f'apply, but in neither list: {format_share(counts[True, False], apply)}')
    print(f'apply, and stand in applies: {format_share(good, apply)}')
    print(f'of applies, do not apply: {format_share(told_apply - good, told_apply)}')
    may = sum(n for (_, found), n in counts.items() if found is None)
    print(f'of may_apply, known not to: {format_share(counts[False, None], may)}')
    print(f'get_context p50 {statistics.median(times):.1f} ms with {len(ids)} rules')


def measure_constraints(half: str, lists: bool) -> None:
    """Print how many rules in plain words are found, and how many descriptions become rules."""
    found, wrong = Counter[bool](), Counter[bool]()
    for one in load('constraints.jsonl', half):
        is_rule = classify(one['text']).category == 'constraint'
        (found if one['constraint'] else wrong)[is_rule] += 1
        if lists and is_rule != one['constraint']:
            print(f'{one["group"]}: {one["text"]}')
    print(f'rules found: {format_share(found[True], found.total())}')
    print(f'descriptions taken for rules: {format_share(wrong[True], wrong.total())}')


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('half', choices=('dev', 'report'))
    parser.add_argument('--set', choices=('rules', 'constraints'), default='rules')
    parser.add_argument('--model', default='none')
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()
    if options.list and options.half == 'report':
        sys.exit('the half report is counted only')
    if options.set == 'rules':
        measure_rules(options.half, options.list, options.model)
    else:
        measure_constraints(options.half, options.list)


if __name__ == '__main__':
    main()

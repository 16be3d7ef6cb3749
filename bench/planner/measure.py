"""
Count how many rules get_context tells rightly, and which sentences are taken for rules.

`measure.py HALF` learns the rules in a new store, asks for the context of each task of a half, and
prints shares with 95 % intervals (Wilson); `--set constraints` learns sentences, `--set people`
saves turns, `--set limits` (halves `tune` and `check`) and `--set bounds` learn worded limits of
params. `--list` names what goes wrong, for the halves `dev` and `tune` only.
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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot_memory.api import RobotMemory
from robot_memory.core.amounts import is_unit, make_amount
from robot_memory.core.proportions import compute_wilson
from robot_memory.core.units import Dimension
from robot_memory.text.categories import PROTECTED
from robot_memory.text.rules.limits import read_limits

HERE = Path(__file__).resolve().parent
_EITHER = {'deg': ('deg', 'degC')}


def load(name: str, half: str | None = None, hand: str = 'first') -> list[dict[str, Any]]:
    """
    Return the entries of a set by a hand, of one half where one is named.

    A set without halves is only counted: all of it is `report`.
    """
    lines = _find_file(name, hand).read_text(encoding='utf-8').splitlines()
    entries = [json.loads(line) for line in lines]
    return [one for one in entries if half is None or one.get('half', 'report') == half]


def _find_file(name: str, hand: str) -> Path:
    """Return the file of a set: of rules and tasks there is one of each hand."""
    if (HERE / name).is_dir():
        return HERE / name / f'{hand}.jsonl'
    return HERE / (f'{name}.jsonl' if hand == 'first' else f'{name}_{hand}.jsonl')


def format_share(count: int, total: int) -> str:
    """Return a share with its Wilson interval: '.992 [.987, .996] (1438 of 1449)'."""
    if not total:
        return 'none'
    low, high = compute_wilson(count, total)
    return f'{count / total:.3f} [{low:.3f}, {high:.3f}] ({count} of {total})'


def measure_rules(half: str, lists: bool, model: str, hand: str) -> None:
    """Print the bars of rules: missed, in applies, and what does not apply in applies."""
    found_of: list[tuple[str, bool | None, bool | None]] = []
    times = []
    with open_store(model) as memory:
        ids = {memory.learn(one['text']).memory_id: one for one in load('rules', hand=hand)}
        tasks = load('tasks', half, hand)
        for task in tasks:
            start = time.process_time()
            rules = memory.get_context(task['text'], situation=task['situation']).rules
            times.append(1000 * (time.process_time() - start))
            told = {
                **{one.memory_id: True for one in rules.applies},
                **{one.memory_id: None for one in rules.may_apply},
            }
            for memory_id, rule in ids.items():
                name = rule['id']
                right = name in task['applies'] or (None if name in task['may_apply'] else False)
                found = told.get(memory_id or 0, False)
                found_of.append((name, right, found))
                if lists and right is not found:
                    print(f'{task["id"]} {name}: {right}, told {found}: {task["text"][:60]}')
    print_rules(Counter((right, found) for _, right, found in found_of))
    often = Counter(name for name, right, _ in found_of if right is True)
    rare = [one for one in found_of if 2 * often[one[0]] <= len(tasks)]
    print('without the rules that apply to over half of the tasks:')
    print_rules(Counter((right, found) for _, right, found in rare))
    print(f'get_context p50 {statistics.median(times):.1f} ms of processor, {len(ids)} rules')


def print_rules(counts: Counter[tuple[bool | None, bool | None]]) -> None:
    """Print the shares of pairs of a rule and a task: what is right, and what is told."""
    apply = sum(n for (right, _), n in counts.items() if right is True)
    told_apply = sum(n for (_, found), n in counts.items() if found is True)
    good = counts[True, True]
    print(f'apply, but in neither list: {format_share(counts[True, False], apply)}')
    print(f'apply, and stand in applies: {format_share(good, apply)}')
    print(f'of applies, do not apply: {format_share(told_apply - good, told_apply)}')
    may = sum(n for (_, found), n in counts.items() if found is None)
    print(f'of may_apply, known not to: {format_share(counts[False, None], may)}')
    never = sum(n for (right, _), n in counts.items() if right is False)
    print(f'known not to, but in may_apply: {format_share(counts[False, None], never)}')


def measure_constraints(half: str, lists: bool, model: str, hand: str) -> None:
    """Print how many rules in plain words are found, and how many descriptions become rules."""
    found, wrong = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    with open_store(model) as memory:
        for number, one in enumerate(load('constraints', half, hand)):
            inferred = memory.learn(one['text'], collection=f'c {number}').auto_inferred
            is_rule = inferred is not None and inferred.category == 'constraint'
            (found if one['constraint'] else wrong)[one['language'], is_rule] += 1
            if lists and is_rule != one['constraint']:
                print(f'{one["group"]}: {one["text"]}')
    print_shares('rules found', found)
    print_shares('descriptions taken for rules', wrong)


def measure_limits(half: str, lists: bool, model: str, hand: str, name: str = 'limits') -> None:
    """Print how many worded limits bind as they say, and how many descriptions become rules."""
    found, bound, wrong = (Counter[tuple[str, bool]]() for _ in range(3))
    with open_store(model) as memory:
        for number, one in enumerate(load(name, half, hand)):
            inferred = memory.learn(one['text'], collection=f'c {number}').auto_inferred
            is_rule = inferred is not None and inferred.category in PROTECTED
            binds = is_rule and one['limit'] and has_bound(one)
            (found if one['limit'] else wrong)[one['language'], is_rule] += 1
            if one['limit']:
                bound[one['language'], binds] += 1
            if lists and (binds if one['limit'] else is_rule) != one['limit']:
                print(f'{"not read" if is_rule and one["limit"] else is_rule}: {one["text"]}')
    print_shares('limits found', found)
    print_shares('limits found and read', bound)
    print_shares('descriptions taken for rules', wrong)


def measure_bounds(half: str, lists: bool, model: str, hand: str) -> None:
    """Print the same of the set by another hand, each of whose limits has all its bounds."""
    measure_limits(half, lists, model, hand, 'bounds')


def has_bound(limit: dict[str, Any]) -> bool:
    """Say whether the text of a limit is read as the bounds that it states, and as no others."""
    stated = {
        (one['side'], convert(one['value'], one['unit'])) for one in limit.get('bounds', [limit])
    }
    read = [
        (side, [convert(value, unit) for unit in _EITHER.get(one.unit, (one.unit,))])
        for one in read_limits(limit['text'])
        for side, value in (('low', one.low), ('high', one.high))
        if value is not None
    ]
    return len(read) == len(stated) and all(
        any(side == own and is_any_of(amount, amounts) for own, amounts in read)
        for side, amount in stated
    )


def convert(value: float, unit: str) -> tuple[float, Dimension | str]:
    """Return an amount in SI units with its dimension; in a unit that is not known, as it is."""
    if not is_unit(unit):
        return value, unit
    found = make_amount(value, unit)
    return found.value, found.dimension


def is_any_of(
    amount: tuple[float, Dimension | str], amounts: list[tuple[float, Dimension | str]]
) -> bool:
    """Say whether an amount is one of some, whatever unit they are told in."""
    return any(
        kind == amount[1] and math.isclose(value, amount[0], rel_tol=1e-4, abs_tol=1e-9)
        for value, kind in amounts
    )


def measure_people(half: str, lists: bool, model: str, hand: str) -> None:
    """Print how many turns that state what lasts become records, and how many others do."""
    found, wrong = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    with open_store(model) as memory:
        for number, one in enumerate(load('people', half, hand)):
            states = one['lasting'] if 'lasting' in one else bool(one['keep'])
            saved = memory.save_conversation(one['text'], 'OK', collection=f'c {number}')
            is_kept = len(saved.memory_ids) > 2  # after its two turns
            (found if states else wrong)[one['language'], is_kept] += 1
            if lists and is_kept != states:
                print(f'{one["group"]}: {one["text"]}')
    print_shares('statements kept', found)
    print_shares('other turns kept', wrong)


def measure_dangers(half: str, lists: bool, model: str, hand: str) -> None:
    """
    Print of what may harm somebody how much is told as a rule or a possible one, and of the rest.

    And of the orders that it would make harmful, how many are given it, and of harmless ones.
    """
    told, wrong = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    harmful, harmless = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()
    kept, kept_wrong = Counter[tuple[str, bool]](), Counter[tuple[str, bool]]()

    def is_told(memory: RobotMemory, task: str, collection: str) -> bool:
        rules = memory.get_context(task, collection=collection).rules
        return bool(rules.applies or rules.may_apply)

    with open_store(model) as memory:
        for number, one in enumerate(load('dangers', half, hand)):
            language, text, collection = one['language'], one['text'], f'c {number}'
            memory.learn(text, collection=collection)
            is_known = is_told(memory, text, collection)
            (told if one['danger'] else wrong)[language, is_known] += 1
            saved = memory.save_conversation(text, 'OK', collection=f's {number}')
            is_kept = len(saved.memory_ids) > 2  # after its two turns
            (kept if one['danger'] else kept_wrong)[language, is_kept] += 1
            if one['danger']:
                harmful[language, is_told(memory, one['harms'], collection)] += 1
                harmless[language, is_told(memory, one['harmless'], collection)] += 1
            if lists and is_known != one['danger']:
                print(f'{one["danger"]}: {text}')
    print_shares('dangers told as rules or possible ones', told)
    print_shares('others told so', wrong)
    print_shares('told for what would harm', harmful)
    print_shares('told for what would not', harmless)
    print_shares('dangers kept of a conversation', kept)
    print_shares('others kept', kept_wrong)


def measure_hazards(half: str, lists: bool, model: str, hand: str) -> None:
    """
    Print where what was said in passing is told for the task that it matters for, by kind.

    All of a language stand in one collection, as they would in a robot's memory. `found` are told
    as facts only. `wrongly` is what another task is given of it, and which of the texts that are
    no rules are told as rules of their own words.
    """
    right, wrong = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
    idle, stored = Counter[tuple[str, str, str]](), Counter[tuple[str, bool]]()
    entries = load('hazards', half, hand)
    with open_store(model) as memory:
        ids = {}
        for one in entries:
            saved = memory.learn(one['text'], collection=one['language'])
            ids[one['text']] = saved.memory_id
            stored[one['language'], saved.memory_id is not None] += 1

        def find_place(task: str, one: dict[str, Any]) -> str:
            answer = memory.get_context(task, collection=one['language'])
            memory_id, rules = ids[one['text']], answer.rules
            if any(rule.memory_id == memory_id for rule in rules.applies):
                return 'applies'
            if any(rule.memory_id == memory_id for rule in rules.may_apply):
                return 'may_apply'
            return 'found' if one['text'] in answer.context else 'nowhere'

        for one in entries:
            if not one['rule']:
                idle[one['language'], 'no rule', find_place(one['text'], one)] += 1
                if lists and find_place(one['text'], one) in ('applies', 'may_apply'):
                    print(f'no rule, told so: {one["text"]}')
                continue
            place = find_place(one['task'], one)
            right[one['language'], one['kind'], place] += 1
            if one['other'] is not None:
                other = find_place(one['other'], one)
                wrong[one['language'], one['kind'], other] += 1
                if lists and other == 'applies':
                    print(f'wrongly: {one["text"]} | {one["other"]}')
            if lists and place not in ('applies', 'may_apply'):
                print(f'{place} ({one["kind"]}): {one["text"]} | {one["task"]}')
    for name, counts in (('told', right), ('wrongly', wrong), ('idle', idle)):
        for language, kind in sorted({key[:2] for key in counts}):
            of = {key[2]: n for key, n in counts.items() if key[:2] == (language, kind)}
            shares = ', '.join(
                f'{place} {of.get(place, 0)}'
                for place in ('applies', 'may_apply', 'found', 'nowhere')
            )
            print(f'{name}, {language}, {kind}: {shares}')
    total = sum(right.values())
    missed = sum(n for key, n in right.items() if key[2] in ('found', 'nowhere'))
    told = sum(n for key, n in wrong.items() if key[2] == 'applies')
    rules = sum(n for key, n in idle.items() if key[2] in ('applies', 'may_apply'))
    print(f'in neither list of rules: {format_share(missed, total)}')
    print(f'applied to the other task: {format_share(told, sum(wrong.values()))}')
    print(f'no rules, told as such: {format_share(rules, sum(idle.values()))}')


def print_shares(name: str, counts: Counter[tuple[str, bool]]) -> None:
    """Print the share of what was counted as true, by language."""
    for language in sorted({language for language, _ in counts}):
        right, other = counts[language, True], counts[language, False]
        print(f'{name}, {language}: {format_share(right, right + other)}')


@contextmanager
def open_store(model: str) -> Iterator[RobotMemory]:
    """Open a new store, its model loaded."""
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(Path(folder) / 'memory.db', model=model) as memory,
    ):
        if model != 'none':
            memory.wait_for_model()
            memory.memory.reindexer.adopt_model()
        yield memory


def main() -> None:
    """Run what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('half', choices=('dev', 'report', 'report2', 'tune', 'check'))
    parser.add_argument(
        '--set',
        choices=('rules', 'constraints', 'people', 'dangers', 'hazards', 'limits', 'bounds'),
        default='rules',
    )
    parser.add_argument(
        '--hand', default='first', help='whose sets are counted; README.md lists the hands'
    )
    parser.add_argument('--model', default='')
    parser.add_argument('--list', action='store_true')
    options = parser.parse_args()
    if options.list and options.half not in ('dev', 'tune'):
        sys.exit(f'the half {options.half} is counted only')
    measure = {
        'rules': measure_rules,
        'constraints': measure_constraints,
        'people': measure_people,
        'dangers': measure_dangers,
        'hazards': measure_hazards,
        'limits': measure_limits,
        'bounds': measure_bounds,
    }[options.set]
    measure(options.half, options.list, options.model, options.hand)


if __name__ == '__main__':
    main()

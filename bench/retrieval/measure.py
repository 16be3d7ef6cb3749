"""
Measure how well recall answers, beside words alone, vectors alone, plain BM25 and the peer.

Prints a table for each set, what recall gains over each other method with a 95 % interval, and
JSON. The recorded sets are those of ROBOT_MEMORY_DATA, by
default ../shared/data; `robot` is generated. Vectors are made once and kept in bench/.cache/.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from robot_memory.core.progress import make_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from absent import HIT, measure_separation
from intervals import compare_paired
from methods import Method, Nearest, Peer, Plain, Ranked, Stored, has_peer
from offline import RRF_K, Offline
from robot_set import make_meaning_set, make_robot_set
from sets import SETS, RetrievalSet, score
from twice import count_refused
from vectors import Models, know, load_models

from robot_memory.core.files import SHARED, write_file
from robot_memory.embedding import Embedder

ALL = {**SETS, 'robot': make_robot_set, 'robot-meaning': make_meaning_set}
OWN = ('robot', 'robot-meaning')
QUICK = 100
"""Questions of each recorded set in the quick mode; the robot's own are asked all."""


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        '--quick', action='store_true', help='query a sample only, without the peer'
    )
    parser.add_argument('--set', action='append', default=[], metavar='NAME', help=', '.join(ALL))
    parser.add_argument(
        '--json', type=Path, metavar='FILE', help='also write the results to this file'
    )
    options = parser.parse_args()
    unknown = sorted(set(options.set) - ALL.keys())
    if unknown:
        parser.error(f'there is no set {unknown[0]}; there are {", ".join(ALL)}')
    embedders, reason = load_models()
    if reason:
        print(f'not all vectors are there: {reason}', file=sys.stderr)
    results: dict[str, Any] = {}
    for name in options.set or ALL:
        try:
            chosen = ALL[name]()
        except FileNotFoundError as error:
            print(f'{name} is left out: {error.filename} is not there', file=sys.stderr)
            continue
        results[name] = measure(chosen, embedders, quick=options.quick)
        show(name, results[name])
    text = json.dumps(results, indent=1, ensure_ascii=False) + '\n'
    if options.json:
        with write_file(options.json, force=True, mode=SHARED) as file:
            file.write(text.encode())
    print(f'\n{text}')


def measure(whole: RetrievalSet, embedders: Sequence[Embedder], *, quick: bool) -> dict[str, Any]:
    """Return the measures of every method on a set."""
    known = know(embedders, whole)
    chosen = whole
    if quick and whole.name not in OWN and len(whole.questions) > QUICK:
        places = sorted(random.Random(0).sample(range(len(whole.questions)), QUICK))
        chosen = replace(whole, questions=tuple(whole.questions[place] for place in places))
    found: dict[str, Any] = {}
    values: dict[str, list[float]] = {}
    with tempfile.TemporaryDirectory() as folder:
        with open_methods(Path(folder), chosen, known) as compared:
            if has_peer() and not quick:
                peer = Peer(chosen, known)
                compared[peer.title] = peer
            for title, method in compared.items():
                questions = make_progress_bar(
                    chosen.questions, f'{whole.name}: {title}', unit='question'
                )
                answers = [method.rank(question, chosen.depth) for question in questions]
                found[title] = summarize(chosen, answers)
                values[title] = _list_values(chosen, answers)
        taken = (
            count_refused(Path(folder) / 'twice.db', chosen, known)
            if whole.name == 'robot'
            else {}
        )
    return {
        'memories': len(chosen.memories),
        'questions': len(chosen.questions),
        'note': chosen.note,
        'models': [one.name for one in embedders],
        'refused by learn': taken,
        'methods': found,
        'paired': _compare_with_first(values),
    }


def _list_values(chosen: RetrievalSet, answers: list[Ranked]) -> list[float]:
    """Return the first measure of each question that has an answer."""
    return [
        score(question, [place for place, _ in answer], chosen.measures[0])
        for question, answer in zip(chosen.questions, answers, strict=True)
        if question.right
    ]


def _compare_with_first(values: dict[str, list[float]]) -> dict[str, list[float]]:
    """Return what the first method gains over each other one, with a 95 % interval."""
    first, *others = values
    return {
        title: [round(number, 4) for number in compare_paired(values[first], values[title])]
        for title in others
    }


@contextmanager
def open_methods(
    folder: Path, chosen: RetrievalSet, known: Models | None
) -> Iterator[dict[str, Method]]:
    """Yield the available methods by their titles, and close them."""
    words = Stored(folder / 'words.db', chosen)
    stores = [words]
    compared: dict[str, Method] = {'words only': words, 'plain BM25': Plain(chosen)}
    if known is not None:
        both = Stored(folder / 'both.db', chosen, known)
        stores.append(both)
        alone: dict[str, Method] = {}
        if known.second is not None:
            one = Stored(folder / 'one.db', chosen, replace(known, second=None))
            stores.append(one)
            alone = {'first model': one}
        compared = {
            'hybrid': both,
            **alone,
            'in numpy': Offline(chosen, known, 'both'),
            'vectors only': Nearest(both),
            **compared,
            f'RRF, k = {RRF_K}': Offline(chosen, known, 'rrf'),
        }
    try:
        yield compared
    finally:
        for store in stores:
            store.close()


def summarize(chosen: RetrievalSet, answers: list[Ranked]) -> dict[str, Any]:
    """Return the means of the measures, by category too, and what scores say of absence."""
    categories: dict[str, list[dict[str, float]]] = {}
    absent: dict[str, list[float]] = {}
    answered: list[float] = []
    for question, answer in zip(chosen.questions, answers, strict=True):
        best = answer[0][1] if answer else 0.0
        if not question.right:
            absent.setdefault(question.category, []).append(best)
            continue
        answered.append(best)
        ranked = [place for place, _ in answer]
        values = {name: score(question, ranked, name) for name in chosen.measures}
        categories.setdefault(question.category, []).append(values)
    found: dict[str, Any] = _average([values for group in categories.values() for values in group])
    found['categories'] = {
        name: {'questions': len(group), **_average(group)} for name, group in categories.items()
    }
    if absent:
        groups = {'absent: all': [value for group in absent.values() for value in group], **absent}
        found['absent'] = {
            name: {
                key: round(value, 4) for key, value in measure_separation(answered, group).items()
            }
            for name, group in groups.items()
        }
    return found


def _average(values: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([one[name] for one in values])), 4) for name in values[0]}


def show(name: str, result: dict[str, Any]) -> None:
    """Print a set's tables: the measures, the first of them by category, and absence."""
    found = result['methods']
    print(f'\n{name}: {result["memories"]} memories, {result["questions"]} questions')
    for method, count in result['refused by learn'].items():
        print(f'(learn refuses {count} of the memories as known ones, by {method})')
    if result['note']:
        print(f'({result["note"]})')
    one = next(iter(found.values()))
    measures = [key for key in one if isinstance(one[key], float)]
    print(_format_row('', found))
    for key in measures:
        print(_format_row(key, [f'{method[key]:.3f}' for method in found.values()]))
    first, *_ = found
    for title, (gain, low, high) in result['paired'].items():
        print(f'{measures[0]}: {first} - {title}: {gain:+.3f} [{low:+.3f}, {high:+.3f}]')
    if len(one['categories']) > 1:
        for category, values in one['categories'].items():
            title = f'{measures[0]}: {category} ({values["questions"]})'
            shown = [method['categories'][category][measures[0]] for method in found.values()]
            print(_format_row(title, [f'{value:.3f}' for value in shown]))
    for category in one.get('absent', ()):
        for key, title in _ABSENCE:
            shown = [method['absent'][category][key] for method in found.values()]
            print(_format_row(f'{category}: {title}', [f'{value:.3f}' for value in shown]))


_ABSENCE = (
    ('auc', 'AUC'),
    ('error', 'least error'),
    ('threshold', 'its threshold'),
    ('kept', f'answered over {HIT}'),
    ('absent_under', f'absent under {HIT}'),
)


def _format_row(title: str, cells: Iterable[str]) -> str:
    return f'{title:38}' + ''.join(f'{cell:>18}' for cell in cells)


if __name__ == '__main__':
    main()

"""
Measure how well `answerable` and the scores of search_memory tell answers from near misses.

`answerable.py [dev|report]`: the report half is counted at most three times. Of answerable.jsonl
each entry has a memory of its own of one to three facts; of answerable_stores.jsonl each hand has
one of sixty facts, of which all its questions are asked. The installed models answer. Prints for
each set AUROCs with 95 % intervals by bootstrap, and what search_memory shows at its default
threshold.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.api import RobotMemory

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from planner.measure import load

VALUES = (
    'other_person', 'other_colour', 'other_number', 'other_place', 'other_quantity', 'other_time',
)  # fmt: skip
GROUPS = {
    'another person, colour, number, side, unit or day': VALUES,
    'another attribute': ('other_attribute',),
    'the unknown': ('unknown',),
}


@dataclass(frozen=True)
class Question:
    """Hold a question, what it asks that is not known ('' where it is), and its answer."""

    text: str
    misses: str
    answer: str | None


@dataclass(frozen=True)
class Stored:
    """Hold the texts of one collection, and the questions to it."""

    collection: str
    texts: list[str]
    questions: list[Question]


def main(half: str) -> None:
    """Ask all of a half and print."""
    sets = {
        'memories of one to three facts': list_few(half),
        'memories of sixty facts': list_stores(half),
    }
    for name, stored in sets.items():
        with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder)) as robot:
            print(f'{name}:')
            report([answer for one in stored for answer in ask_all(robot, one)])


def list_few(half: str) -> Iterator[Stored]:
    """Give the entries of a half of answerable.jsonl."""
    for row in load('answerable', half):
        right = row['stored'][row['index']] if row['answerable'] else None
        question = Question(row['question'], '' if row['answerable'] else row['group'], right)
        yield Stored(row['id'], row['stored'], [question])


def list_stores(half: str) -> Iterator[Stored]:
    """Give the hands of a half of answerable_stores.jsonl."""
    rows = load('answerable_stores', half)
    for hand in dict.fromkeys(row['hand'] for row in rows):
        those = [row for row in rows if row['hand'] == hand]
        texts = [row['text'] for row in those if 'text' in row]
        questions = []
        for row in those:
            if 'question' in row:
                is_right = row['kind'] == 'right'
                misses, answer = ('', texts[row['fact']]) if is_right else (row['kind'], None)
                questions.append(Question(row['question'], misses, answer))
        yield Stored(hand, texts, questions)


def open_memory(folder: Path) -> RobotMemory:
    """Return an empty memory with all installed models loaded."""
    robot = RobotMemory(folder / 'memory.db', durability='normal')
    robot.memory.wait_for_models(None, None)
    robot.memory.reindexer.adopt_model()
    return robot


def ask_all(robot: RobotMemory, stored: Stored) -> Iterator[dict[str, Any]]:
    """Store the texts, and give what recall and search_memory say to each question."""
    for text in stored.texts:
        robot.learn(text, collection=stored.collection)
    for asked in stored.questions:
        answer = robot.recall(asked.text, collection=stored.collection, read='off')
        found = robot.search_memory(asked.text, collection=stored.collection, read='off').result
        texts = [one.content for one in found]
        yield {
            'misses': asked.misses,
            'answerable': answer.answerable,
            'shown': asked.answer in texts,
            'any': bool(texts),
        }


def report(found: list[dict[str, Any]]) -> None:
    """Print what was reached."""
    right = select(found, [''])
    for name, groups in {**GROUPS, **{one: (one,) for one in VALUES}}.items():
        wrong = select(found, groups)
        low, high = bound(right, wrong)
        print(f'  {name}: AUROC {compute_auroc(right, wrong):.3f} [{low:.3f}, {high:.3f}]')
    shown = np.mean([one['shown'] for one in found if not one['misses']])
    answered = np.mean([one['any'] for one in found if one['misses'] in VALUES])
    print(f'  search_memory at its default: {shown:.1%} of {len(right)} right paraphrases shown,')
    print(f'  {answered:.1%} of near misses answered')


def select(found: list[dict[str, Any]], groups: Iterable[str]) -> NDArray[Any]:
    """Return the chances of the questions of some groups."""
    return np.array([one['answerable'] for one in found if one['misses'] in groups])


def compute_auroc(right: NDArray[Any], wrong: NDArray[Any]) -> float:
    """Return the chance that a right one scores higher, ties by half."""
    above = (right[:, None] > wrong[None]).mean()
    return float(above + (right[:, None] == wrong[None]).mean() / 2)


def bound(right: NDArray[Any], wrong: NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval of the AUROC, by bootstrap of both sides."""
    chance = np.random.default_rng(0)
    drawn = [
        compute_auroc(chance.choice(right, len(right)), chance.choice(wrong, len(wrong)))
        for _ in range(2000)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return float(low), float(high)


if __name__ == '__main__':
    main(sys.argv[1] if len(sys.argv) > 1 else 'dev')

"""
Measure how well `answerable` and the scores of search_memory tell answers from near misses.

Called with the half to count: dev, or report (which is counted at most three times). Each entry
is a collection of its own in one store; the installed models answer. Prints AUROCs with 95 %
intervals by bootstrap, and what search_memory shows at its default threshold.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.api import RobotMemory

SET = Path(__file__).with_name('answerable.jsonl')
VALUES = ('other_person', 'other_colour', 'other_number', 'other_place', 'other_quantity')
GROUPS = {
    'another person, colour, number, side, unit or day': (*VALUES, 'other_time'),
    'another attribute': ('other_attribute',),
    'the unknown': ('unknown',),
}


def main(half: str) -> None:
    """Ask all of a half and print."""
    rows = list(map(json.loads, SET.read_text('utf-8').splitlines()))
    rows = [row for row in rows if row['half'] == half]
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder)) as robot:
        for row in rows:
            for text in row['stored']:
                robot.learn(text, collection=row['id'])
        found = [ask(robot, row) for row in rows]
    right = np.array([one['answerable'] for one in found if one['is_right']])
    for name, groups in {**GROUPS, **{one: (one,) for one in (*VALUES, 'other_time')}}.items():
        wrong = np.array([one['answerable'] for one in found if one['group'] in groups])
        low, high = bound(right, wrong)
        print(f'{name}: AUROC {compute_auroc(right, wrong):.3f} [{low:.3f}, {high:.3f}]')
    shown = np.mean([one['shown'] for one in found if one['is_right']])
    answered = np.mean([one['any'] for one in found if one['group'] in (*VALUES, 'other_time')])
    print(f'search_memory at its default: {shown:.1%} of right paraphrases, ', end='')
    print(f'{answered:.1%} of near misses answered')


def open_memory(folder: Path) -> RobotMemory:
    """Return an empty memory with all installed models loaded."""
    robot = RobotMemory(folder / 'memory.db', durability='normal')
    robot.memory.wait_for_models(None, None)
    robot.memory.reindexer.adopt_model()
    return robot


def ask(robot: RobotMemory, row: dict[str, Any]) -> dict[str, Any]:
    """Return what recall and search_memory say to a question."""
    answer = robot.recall(row['question'], collection=row['id'], read='off')
    results = robot.search_memory(row['question'], collection=row['id'], read='off').result
    texts = [one.content for one in results]
    right = row['stored'][row['index']] if row['answerable'] else None
    return {
        'is_right': row['answerable'],
        'group': '' if row['answerable'] else row['group'],
        'answerable': answer.answerable,
        'shown': right in texts,
        'any': bool(texts),
    }


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

"""
Print what rules reach by their words alone, and with the classifier of rules that always hold.

`rule_scope.py` trains the classifier once for each hand, without that hand's rules, and judges the
hand's rules against its tasks as get_context does, as if `learn` kept each as a rule. Nothing is
written. Of the third hand the half `dev` is counted, of the others all tasks.
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from robot_memory.api import RobotMemory
from robot_memory.embedding.sentence_classifier import Trait, pack, unpack
from robot_memory.retrieval.rule_scope import widen
from robot_memory.retrieval.rules import Words
from robot_memory.text.rules.conditions import Judged, judge, list_persons
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.scene import read_scene

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from planner.measure import load as load_entries
from planner.measure import print_rules
from planner.train import Floats, Sentences, find_threshold, fit, load, score_unseen

HANDS = (
    *('first', 'other', 'third', 'fourth', 'fifth', 'g', 'h', 'i', 'j'),
    *('xd', 'xe', 'xf', 'xg', 'xh', 'xi', 'xj', 'xk', 'xl'),
)
Entry = dict[str, Any]


def judge_by_words(rules: Sequence[Entry], tasks: Sequence[Entry]) -> Iterator[list[Judged]]:
    """Yield for each task what its words and those of each rule say."""
    conditions = [read_rule(rule['text']) for rule in rules]
    known = {name for one in conditions for name in list_persons(one)}
    for task in tasks:
        scene = read_scene(task['text'], task['situation'], known)
        yield [judge(one, scene, Words(scene)) for one in conditions]


def rate(found: Sentences, rules: Sequence[Entry], vectors: Floats, hand: str) -> Floats:
    """Return by how much rules pass for ones that always hold, by a classifier without a hand."""
    made = fit(found.take(found.hands != hand))
    texts, blank = [rule['text'] for rule in rules], np.array([''] * len(rules))
    asked = Sentences(texts, np.zeros(len(rules), np.float32), blank, blank, blank, vectors)
    return made.score(asked)


def count(tasks: Sequence[Entry], rules: Sequence[Entry], judged: list[list[Judged]]) -> None:
    """Print the shares of the pairs of rules and tasks."""
    counts = Counter[tuple[bool | None, bool | None]]()
    for task, row in zip(tasks, judged, strict=True):
        for rule, one in zip(rules, row, strict=True):
            name = rule['id']
            right = name in task['applies'] or (None if name in task['may_apply'] else False)
            counts[right, one.truth] += 1
    print_rules(counts)


def main() -> None:
    """Print both for each hand."""
    with tempfile.TemporaryDirectory() as folder, RobotMemory(f'{folder}/memory.db') as robot:
        if not robot.wait_for_model():
            sys.exit(robot.memory.embedder.reason)
        found = load(Trait.ALWAYS, robot)
        sets = {hand: load_entries('rules', hand=hand) for hand in HANDS}
        vectors = {}
        for hand, rules in sets.items():
            made = robot.memory.vectorizer.embed_passages([rule['text'] for rule in rules])
            assert made is not None
            vectors[hand] = unpack(pack(np.array([one.first for one in made], np.float32)))
    threshold = find_threshold(Trait.ALWAYS, found, score_unseen(found))
    for hand, rules in sets.items():
        tasks = load_entries('tasks', 'dev' if hand == 'third' else None, hand)
        by_words = list(judge_by_words(rules, tasks))
        ratings = rate(found, rules, vectors[hand], hand) - threshold
        print(f'{hand}, by words:')
        count(tasks, rules, by_words)
        print(f'{hand}, joined:')
        conditions = [read_rule(rule['text']) for rule in rules]
        joined = [
            [widen(*one) for one in zip(row, conditions, ratings.tolist(), strict=True)]
            for row in by_words
        ]
        count(tasks, rules, joined)


if __name__ == '__main__':
    main()

"""A week of a robot's work with three people, replayed, and what a planner is told of it."""

from __future__ import annotations

import sys
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from robots import MovableClock, open_at

from robot_memory.embedding import BackgroundEmbedder

sys.path.insert(0, str(Path(__file__).parents[2] / 'bench'))

import week


@pytest.fixture(scope='module')
def verdicts(
    tmp_path_factory: pytest.TempPathFactory, real_embedder: BackgroundEmbedder
) -> list[week.Verdict]:
    """What is said of each answer of a memory of words and meaning in the week."""
    path, clock = tmp_path_factory.mktemp('week') / 'memory.db', MovableClock()
    with closing(open_at(path, model='', clock=clock, embedder=real_embedder)) as robot:
        robot.embed_all()
        return list(week.replay(robot, lambda now: setattr(clock, 'now', now)))


def test_a_planner_is_told_what_it_needs_of_the_week(verdicts: list[week.Verdict]) -> None:
    asked = Counter(one.kind for one in verdicts)
    assert asked == {'recall': 30, 'get_context': 30, 'task': 5}
    right = Counter(one.kind for one in verdicts if not one.wrong)
    wrong = [one for one in verdicts if one.wrong]
    assert right['recall'] >= 25, wrong
    assert right['get_context'] >= 22, wrong
    assert right['task'] >= 3, [one for one in wrong if one.kind == 'task']


def test_no_rule_of_a_task_is_missing_and_none_is_said_to_apply_that_does_not(
    verdicts: list[week.Verdict],
) -> None:
    for one in verdicts:
        if one.kind == 'task':
            assert 'not told' not in one.wrong, one
            assert 'said to apply' not in one.wrong, one

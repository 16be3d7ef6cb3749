"""Recall in brief: the texts, and one short line about each memory."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from narrowing import require
from robots import MovableClock, Robot

LONGEST = 100
"""Characters that a memory in brief may take beside its text."""


@pytest.fixture
def taught(robot: Robot) -> Robot:
    place = {'object_position': [0.4123, -0.2, 1.0], 'frame_id': 'kitchen_map'}
    for _ in range(3):
        robot.learn(
            'The red cup needs 12.5 N of grip force',
            context={'spatial': place, 'task': {'success': True}},
            session_id=robot.start_session().session_id,
        )
    robot.learn('The cup slipped at 6 N', context={'env': {'sim_or_real': 'sim'}})
    robot.save_conversation('Keep my cup upright', 'I will', actor_id='anna')
    robot.save_perception(
        'The gripper touched the cup',
        perception_type='tactile',
        stamp={'sec': 1_772_000_000},
        frame_id='a_frame_with_a_name_as_long_as_only_generated_descriptions_have_it',
        pose={'position': [1.0, 2.0, 3.0], 'orientation': [0.0, 0.0, 0.0, 1.0]},
    )
    return robot


def test_each_memory_has_its_text_and_at_most_a_hundred_characters_more(taught: Robot) -> None:
    found = taught.recall('cup', n=10, format='brief')
    full = taught.recall('cup', n=10)
    assert found.memories == ()
    assert found.total == full.total == len(full.memories) >= 4
    brief = require(found.brief)
    assert [(one.id, one.content) for one in brief] == [
        (one.id, one.content) for one in full.memories
    ]
    for one in brief:
        text = json.dumps(vars(one), ensure_ascii=False, separators=(',', ':'))
        assert len(text) + 1 <= len(one.content) + LONGEST, one


def test_the_line_says_kind_time_confidence_evidence_and_place(taught: Robot) -> None:
    found = require(taught.recall('cup', format='brief', n=10).brief)
    lines = {one.content: one.about for one in found}
    grip = lines['The red cup needs 12.5 N of grip force']
    kind, at, confidence, times, tries, *place = grip.split(', ')
    assert at.startswith('2026-02-25 ')
    assert float(confidence) > 0.3
    assert (times, tries) == ('3 times', '3 of 3 succeeded')
    assert kind == taught.recall('grip force').memories[0].category
    assert 'simulated' in lines['The cup slipped at 6 N']
    assert 'tactile' in lines['The gripper touched the cup']
    assert 'person' in lines['Keep my cup upright']
    short = require(taught.recall('cup needs', format='brief').brief)[0].about
    assert short == grip
    assert not place or place == ['at [0.41 -0.2 1] kitchen_map']


def test_the_setting_is_the_default_and_the_argument_wins(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(recall_format='brief')
    robot.learn('The cup is wet')
    assert require(robot.recall('cup').brief)
    assert robot.recall('cup', format='full').memories


def test_a_brief_answer_that_is_empty_says_why(taught: Robot) -> None:
    found = taught.recall('quantum', format='brief')
    assert found.brief is None
    assert found.why_empty


def test_a_text_that_was_updated_bears_the_date_of_its_update(
    taught: Robot, clock: MovableClock
) -> None:
    (first,) = taught.recall('slipped', n=1).memories
    assert first.updated_at is None
    clock.forward(days=3)
    taught.update(first.id, 'The cup slipped at 7 N')
    (changed,) = taught.recall('slipped', n=1).memories
    assert (changed.created_at[:10], require(changed.updated_at)[:10]) == (
        '2026-02-25',
        '2026-02-28',
    )
    assert '2026-02-28 ' in require(taught.recall('slipped', n=1, format='brief').brief)[0].about
    assert 'updated 2026-02-28' in taught.get_context('the cup slipped').context

"""Of what one person says, the newer comes first, and the older says so."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest
from authorities import OPERATOR, calling
from robots import MovableClock, Robot

from robot_memory.core.authority import Writer
from robot_memory.core.records import make_record
from robot_memory.retrieval.contradictions import mark_contradictions
from robot_memory.search.query import Hit
from robot_memory.text.categories import Classification

ANNA, BOB = 'operator:anna', 'operator:bob'
QUESTION = 'where is the cup?'
HOUR = 3_600_000_000
OBSERVATION = Classification('observation', 0.9, ('observation',), ())
WRITER = Writer('python')


def test_what_was_said_again_is_the_newest(robot: Robot, clock: MovableClock) -> None:
    for gripper in ('soft', 'hard', 'soft'):
        clock.forward(days=1)
        robot.start_session()
        robot.save_conversation(f'I prefer the {gripper} gripper.', 'ok', actor_id=ANNA)
    told = robot.get_context('which gripper does the operator prefer?')
    facts = [one for one in told.results if one.metadata['type'] == 'fact']
    assert [one.content for one in facts] == [
        'I prefer the soft gripper.',
        'I prefer the hard gripper.',
    ]
    assert facts[1].metadata['newer'] == facts[0].metadata['memory_id']
    assert 'newer' not in facts[0].metadata


@pytest.mark.parametrize(
    ('one', 'other', 'question'),
    [
        ((ANNA, 'My favourite tea is green tea.'), (BOB, 'My favourite tea is black tea.'), 'tea'),
        ((ANNA, 'Never touch the stove'), (ANNA, 'Never touch the oven'), 'what not to touch'),
        ((ANNA, 'Bring the tray to table 4'), (ANNA, 'Bring the tray to table 9'), 'tray'),
    ],
)
def test_nothing_is_called_newer_that_replaces_nothing(
    robot: Robot, clock: MovableClock, one: tuple[str, str], other: tuple[str, str], question: str
) -> None:
    for actor, text in (one, other):
        clock.forward(days=1)
        robot.start_session()
        robot.save_conversation(text, 'ok', actor_id=actor)
    assert 'newer and differs' not in robot.get_context(question).context
    assert all(found.newer is None for found in robot.recall(question, n=10).memories)


def test_of_a_contradiction_the_newer_comes_first_and_the_older_says_so(
    thinking_robot: Robot, clock: MovableClock
) -> None:
    robot = thinking_robot
    red = robot.save_conversation("The red cup is Anna's", 'Noted')
    robot.end_session(red.session_id)
    clock.forward(days=3)
    blue = robot.save_conversation("The blue cup is Anna's", 'Noted')
    found = robot.recall("Which cup is Anna's?").memories
    assert [item.id for item in found[:2]] == [blue.memory_ids[2], red.memory_ids[2]]
    assert [item.newer for item in found[:2]] == [None, blue.memory_ids[2]]
    context = robot.get_context("Which cup is Anna's?").context
    assert context.index('2026-02-28') < context.index('2026-02-25')
    asked = robot.recall('Whose is the red cup?').memories
    assert asked[0].id == red.memory_ids[2]
    assert asked[0].newer is None


def test_what_an_operator_stated_stands_before_what_a_visitor_said_later(
    robot: Robot, clock: MovableClock
) -> None:
    with calling(OPERATOR):
        rule = robot.learn('Grip force on glass is at most 15 N').memory_id
    clock.forward(days=1)
    robot.save_conversation(
        'Remember: grip force on glass is at most 90 N', 'Noted', actor_id='visitor:bo'
    )
    facts = [one for one in robot.recall('grip force on glass').memories if one.type == 'fact']
    assert facts[0].id == rule
    assert [one.contradicts for one in facts] == [None, rule]
    assert [one.newer for one in facts] == [None, None]
    text = robot.get_context('grip force on glass').context
    assert f'(contradicts mem_{rule}, which stands)' in text


@pytest.mark.parametrize(
    ('same_session', 'minutes', 'is_newer'),
    [(True, 1, False), (True, 60, True), (False, 1, True)],
)
def test_a_newer_version_is_of_another_session_or_an_hour_later(
    robot: Robot, clock: MovableClock, same_session: bool, minutes: int, is_newer: bool
) -> None:
    session = robot.start_session().session_id
    old = robot.learn('The lid stands on shelf 4', session_id=session).memory_id
    if not same_session:
        session = robot.start_session().session_id
    clock.forward(seconds=60 * minutes)
    new = robot.learn('The lid stands on shelf 9', session_id=session).memory_id
    newer = {one.id: one.newer for one in robot.recall('where does the lid stand?').memories}
    assert newer == {old: new if is_newer else None, new: None}


def test_many_statements_are_versions_as_two_of_them_alone_are() -> None:
    dice = random.Random(20)
    records = {}
    for number in range(1, 61):
        words = (dice.choice(('red', 'blue', 'green', 'old')) for _ in range(2))
        text = f'the {" ".join(words)} cup stands on shelf {dice.randint(1, 3)}'
        made = make_record('fact', text, OBSERVATION, {}, number * HOUR, WRITER)
        authority = dice.choice(('operator', 'planner', 'person'))
        records[number] = replace(made, id=number, authority=authority)
    hits = [Hit(number, dice.uniform(0.5, 1)) for number in records]
    newer, contradicts = mark_contradictions(records, hits, QUESTION)
    for number in records:
        alone = [
            mark_contradictions({i: records[i] for i in sorted((number, other))}, hits, QUESTION)
            for other in records
            if other != number
        ]
        replaced = [found[number] for found, _ in alone if number in found]
        overruled = [found[number] for _, found in alone if number in found]
        assert newer.get(number) == max(replaced, default=None)
        assert contradicts.get(number) == min(overruled, default=None)
    assert len(newer) > 10
    assert len(contradicts) > 10

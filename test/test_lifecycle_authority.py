"""A lower authority never changes what stands on a higher one."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from amounts import few_or_many
from authorities import OPERATOR, PLANNER, calling
from narrowing import require
from robots import Robot

from robot_memory.core.authority import AUTHORITIES, Writer
from robot_memory.core.errors import Conflict
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.writer import EventWriter

RULE = 'Never exceed 15 N of grip force on glass'


def learn(robot: Robot, writer: Writer, text: str, **more: Any) -> int:
    with calling(writer):
        answer = robot.learn(text, **more)
    return require(answer.memory_id or answer.existing_id)


def test_an_update_or_a_deletion_of_what_stands_higher_becomes_a_proposal(robot: Robot) -> None:
    rule = learn(robot, OPERATOR, RULE)
    before = robot.row(rule)
    with calling(PLANNER):
        with pytest.raises(Conflict, match=f'memory {rule} stands on the authority operator'):
            robot.update(rule, 'Never exceed 99 N of grip force on glass')
        with pytest.raises(Conflict, match='Proposal 2 is open'):
            robot.forget(rule, 'too strict')
        with pytest.raises(Conflict, match='Proposal 1 is open'):
            robot.update(rule, 'Never exceed 99 N of grip force on glass')
    assert robot.row(rule) == before
    assert robot.rows('SELECT action, content, reason, state FROM proposals ORDER BY id') == [
        ('update', 'Never exceed 99 N of grip force on glass', '', 'open'),
        ('forget', None, 'too strict', 'open'),
    ]


def test_an_equal_or_a_higher_authority_changes_it(robot: Robot) -> None:
    note = learn(robot, PLANNER, 'The dock is in hall 2')
    with calling(PLANNER):
        robot.update(note, 'The dock is in hall 3')
    with calling(OPERATOR):
        robot.update(note, 'The dock is in hall 4')
    assert robot.row(note)['authority'] == 'operator'
    with calling(PLANNER), pytest.raises(Conflict):
        robot.update(note, 'The dock is in hall 5')


def test_a_repeat_by_a_visitor_is_an_observation_and_leaves_the_rule(robot: Robot) -> None:
    rule = learn(robot, OPERATOR, RULE, context={'params': {'force': 15}})
    before = robot.row(rule)
    text = 'Never exceed 15 N grip force on glass'
    robot.save_conversation(text, 'Noted', actor_id='visitor:bo')
    accessed = ('access_count', 'last_accessed', 'accessed_epoch')
    after = robot.row(rule)
    assert {**after, **{name: before[name] for name in accessed}} == before
    assert robot.rows(
        'SELECT o.memory_id, o.text, w.authority, w.actor FROM observations AS o'
        ' JOIN writers AS w ON w.id = o.writer_id'
    ) == [(rule, text, 'person', 'visitor:bo')]


def test_a_rule_takes_over_the_near_duplicate_that_a_visitor_said_first(robot: Robot) -> None:
    said = robot.save_conversation(
        'Never exceed 15 N grip force on glass', 'Noted', actor_id='visitor:bo'
    )
    with calling(OPERATOR):
        answer = robot.learn(RULE, {'params': {'force': 15}})
    assert (answer.status, answer.existing_id) == ('duplicate', said.memory_ids[-1])
    row = robot.row(require(answer.existing_id))
    assert (row['content'], row['authority'], row['actor_id']) == (RULE, 'operator', None)
    assert row['context'] == '{"params":{"force":15}}'
    ((text, observed),) = robot.rows('SELECT text, id FROM observations')
    assert (text, observed) == ('Never exceed 15 N grip force on glass', answer.observed)


def test_what_an_operator_did_is_undone_by_no_lower_authority(robot: Robot) -> None:
    note = learn(robot, PLANNER, 'The dock is in hall 2')
    with calling(OPERATOR):
        robot.forget(note, 'the dock was removed')
    with calling(PLANNER), pytest.raises(Conflict, match='authority operator'):
        robot.undo(note, 'still there')
    assert robot.row(note)['status'] == 'invalidated'
    with calling(OPERATOR):
        robot.undo(note, 'it was not')
    assert robot.row(note)['status'] == 'active'


def test_clearing_a_session_keeps_what_stands_higher_and_counts_it(robot: Robot) -> None:
    session = robot.start_session().session_id
    rule = learn(robot, OPERATOR, RULE, session_id=session)
    learn(robot, PLANNER, 'The dock is in hall 2', session_id=session)
    with calling(PLANNER):
        answer = robot.clear_session(session)
    assert (answer.cleared, answer.count, answer.kept) == (False, 1, 1)
    assert robot.row(rule)['status'] == 'active'


def test_nothing_is_merged_across_authorities(robot: Robot) -> None:
    session = robot.start_session().session_id
    text = 'the cup on the left shelf is {} in the morning'
    with calling(OPERATOR):
        robot.learn(text.format('wet and cold'), session_id=session)
    for word in ('wet and warm', 'wet and heavy'):
        learn(robot, PLANNER, text.format(word), session_id=session)
    with calling(PLANNER):
        robot.end_session(session)
    assert robot.rows("SELECT authority, status FROM memories WHERE authority = 'operator'") == [
        ('operator', 'active')
    ]


WORDS = 'glass cup force grip limit door dock 15 20 N never exceed the on'.split()
ACTS = ('state', 'repeat', 'update', 'forget', 'undo', 'clear', 'end')


def test_no_lower_authority_ever_changes_what_a_higher_one_stated(
    open_robot: Callable[..., Robot],
) -> None:
    """Random sequences of writes by four authorities, each in a collection of its own."""
    rounds = few_or_many(100, 1000)
    robot = open_robot(duplicate_jaccard=0.4, consolidate_jaccard=0.3)
    taps = EventWriter(robot.memory, [], SessionFinder(robot.memory))
    refused = changed = 0
    for seed in range(rounds):
        chance = random.Random(seed)
        where = f'c{seed}'
        session = robot.start_session(collection=where).session_id
        for _ in range(8):
            who = chance.choice(('operator', 'planner', 'person', 'observed'))
            before = _read(robot, where)
            try:
                _act(robot, taps, chance, who, where, session, sorted(before))
            except Conflict:
                refused += 1
            after = _read(robot, where)
            level = AUTHORITIES.index(who)
            for memory_id, row in before.items():
                if AUTHORITIES.index(row[0]) < level:
                    assert after[memory_id] == row, (seed, who)
            changed += any(after.get(memory_id) != row for memory_id, row in before.items())
    assert refused > 0.3 * rounds
    assert changed > 0.3 * rounds


def _read(robot: Robot, where: str) -> dict[int, tuple[Any, ...]]:
    rows = robot.rows(
        'SELECT id, authority, content, context, category, tags, confidence, strategy_name,'
        ' actor_id, status, superseded_by, updated_at, writer_id FROM memories'
        ' WHERE collection = ?',
        where,
    )
    return {row[0]: row[1:] for row in rows}


def _act(
    robot: Robot,
    taps: EventWriter,
    chance: random.Random,
    who: str,
    where: str,
    session: str,
    known: list[int],
) -> None:
    """Do one thing that an authority can do; what persons and topics say only states."""
    text = ' '.join(chance.choices(WORDS, k=6))
    if known and chance.random() < 0.5:
        ((text,),) = robot.rows('SELECT content FROM memories WHERE id = ?', chance.choice(known))
    if who == 'person':
        robot.save_conversation(
            f'Remember: {text}', 'Noted', collection=where, actor_id='visitor:bo'
        )
    elif who == 'observed':
        taps.write('sign', LearnedText(text, {'sense': {'topic': '/sign'}}, where, 1))
    else:
        with calling(OPERATOR if who == 'operator' else PLANNER):
            act = chance.choice(ACTS)
            if act in ('update', 'forget', 'undo') and known:
                target = chance.choice(known)
                if act == 'update':
                    robot.update(target, text)
                elif act == 'undo':
                    robot.undo(target, 'by chance')
                else:
                    robot.forget(target, 'by chance')
            elif act == 'clear':
                robot.clear_session(session)
            elif act == 'end':
                robot.end_session(session)
            else:
                robot.learn(text, collection=where, session_id=session)

"""Undo brings back what was, in the rows and in the indexes, the newest change first."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from amounts import few_or_many
from narrowing import require
from robots import MovableClock, Robot, check_file, fill, sentence
from stores import index_rows

from robot_memory.core.authority import Writer
from robot_memory.core.errors import Conflict, NotFound
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import caller


def state(robot: Robot) -> list[Any]:
    """Return the active rows, the links and the entries of the indexes."""
    robot.memory.accesses.flush()
    columns = [row[1] for row in robot.rows('PRAGMA table_info(memories)')]
    columns = [name for name in columns if name not in ('salt', 'accessed_epoch')]
    with robot.memory.db.read() as connection:
        indexes = index_rows(connection)
    return [
        indexes,
        robot.rows(f'SELECT {", ".join(columns)} FROM memories ORDER BY id'),
        robot.rows('SELECT memory_id, collection, real, terms, coarse, fine FROM indexed'),
        robot.rows('SELECT term, doc, cnt FROM memories_vocabulary'),
        robot.rows('SELECT name, memories FROM collections ORDER BY 1'),
        robot.rows('SELECT * FROM counts WHERE memories > 0 ORDER BY 1, 2'),
        robot.rows('SELECT memory_id, session_id, number FROM turns ORDER BY 1'),
    ]


def change(robot: Robot, chance: random.Random, ids: list[int]) -> list[int]:
    """Change memories at random; return which, in order."""
    active = [row[0] for row in robot.rows("SELECT id FROM memories WHERE status = 'active'")]
    if not active:
        return []
    memory_id = chance.choice(active)
    if chance.random() < 0.7:
        contexts: list[dict[str, Any]] = [
            {},
            {'task': {'success': True}},
            {'spatial': {'p': [chance.random(), 1.0]}},
        ]
        context = chance.choice(contexts)
        robot.update(memory_id, f'{sentence(chance)} {chance.random()}', context=context)
    else:
        robot.forget(memory_id, 'at random')
    return [memory_id]


@pytest.mark.parametrize('seed', range(few_or_many(2, 10)))
def test_random_changes_undone_in_reverse_leave_everything_as_it_was(
    seed: int,
    open_robot: Callable[..., Robot],
    clock: MovableClock,
    tiny_embedders: dict[int, BackgroundEmbedder],
) -> None:
    chance = random.Random(seed)
    robot = open_robot(embedder=tiny_embedders[8])
    robot.embed_all()
    ids = fill(robot, 20, seed=seed)
    robot.save_conversation('I prefer the soft gripper', 'Noted')
    robot.save_perception('A red block is beside the tray', 'visual')
    robot.embed_all()
    before = state(robot)
    changed: list[int] = []
    for _ in range(few_or_many(30, 100)):
        clock.forward(seconds=chance.randrange(3))
        changed += change(robot, chance, ids)
    assert state(robot) != before
    for memory_id in reversed(changed):
        clock.forward(seconds=chance.randrange(3))
        robot.undo(memory_id)
    robot.embed_all()
    assert state(robot) == before
    check_file(robot.memory.db.path)
    (step,) = (step for step in robot.maintain(all=True).steps if step.name == 'audit')
    assert step.done, step.detail


def test_undo_takes_one_change_after_the_other(robot: Robot) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.update(kept, 'The dock is in hall 4')
    robot.update(kept, 'The dock is in hall 6')
    robot.forget(kept, 'it was moved')
    actions = []
    for _ in range(3):
        answer = robot.undo(kept, reason='as it was')
        actions.append((answer.action, answer.new_content, answer.memory_status))
    assert actions == [
        ('invalidated', 'The dock is in hall 6', 'active'),
        ('update', 'The dock is in hall 4', 'active'),
        ('update', 'The dock is in hall 2', 'active'),
    ]
    with pytest.raises(Conflict, match='no change to undo'):
        robot.undo(kept)
    assert robot.contents(query='dock') == ['The dock is in hall 2']
    robot.update(kept, 'The dock is in hall 8')
    assert robot.undo(kept).new_content == 'The dock is in hall 2'
    entries = robot.history(kept).entries
    assert [entry.action for entry in entries] == [
        *('created', 'update', 'update', 'invalidated', 'undo', 'undo', 'undo', 'update', 'undo'),
    ]
    assert [entry.undone_by for entry in entries] == [None, 7, 6, 5, None, None, None, 9, None]
    assert [str(entry.content)[-1] for entry in entries] == list('246664282')
    assert entries[4].reason == 'as it was'


def test_an_older_change_is_undone_after_the_newer_one(robot: Robot) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.update(kept, 'The dock is in hall 4')
    robot.forget(kept, 'it was moved')
    with pytest.raises(Conflict, match=r'line 3 \(invalidated\) rests on line 2'):
        robot.undo(kept, line=2)
    with pytest.raises(Conflict, match='line 1 is no change'):
        robot.undo(kept, line=1)
    assert robot.undo(kept, line=3).line == 3
    assert robot.undo(kept, line=2).line == 2


def test_a_memory_that_was_learned_since_is_named(robot: Robot) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.forget(kept, 'it was moved')
    again = require(robot.learn('The dock is in hall 2').memory_id)
    before = state(robot)
    with pytest.raises(Conflict, match=f'memory {again} rests on line 2'):
        robot.undo(kept)
    assert state(robot) == before
    robot.forget(again, 'undone')
    assert robot.undo(kept).memory_status == 'active'


def test_a_memory_that_was_given_the_text_since_is_named(robot: Robot) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    other = require(robot.learn('The ramp is wet').memory_id)
    robot.update(kept, 'The dock is in hall 4')
    robot.update(other, 'The dock is in hall 2')
    with pytest.raises(Conflict, match=f'memory {other} rests on line 3'):
        robot.undo(kept)
    robot.undo(other)
    assert robot.undo(kept).new_content == 'The dock is in hall 2'


def test_a_memory_that_was_merged_since_is_named_and_a_merge_is_undone(robot: Robot) -> None:
    session = robot.start_session().session_id
    ids = [
        require(robot.learn(text, session_id=session).memory_id)
        for text in (
            'the drawer of the left cabinet sticks when humid',
            'the drawer of the left cabinet sticks when it is humid outside',
            'the gripper slips on wet plates',
        )
    ]
    for memory_id, text in zip(ids[:2], robot.rows('SELECT content FROM memories'), strict=False):
        robot.update(memory_id, f'{text[0]} again')
    robot.end_session(session)
    ((gone, kept),) = robot.rows(
        "SELECT id, superseded_by FROM memories WHERE status = 'superseded'"
    )
    with pytest.raises(Conflict, match=f'memory {gone} rests on line'):
        robot.undo(kept)
    answer = robot.undo(gone)
    assert (answer.action, answer.memory_status) == ('superseded', 'active')
    assert robot.undo(kept).action == 'update'


def test_the_unknown_is_not_found(robot: Robot) -> None:
    for call in (robot.undo, robot.history):
        with pytest.raises(NotFound, match='no memory 7'):
            call(7)


def test_a_lower_authority_undoes_nothing_of_a_higher_one(robot: Robot) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    token = caller.set(Writer('cli', 'anna', authority='operator'))
    try:
        robot.forget(kept, 'it was moved')
    finally:
        caller.reset(token)
    with pytest.raises(Conflict, match=r'line 2 \(invalidated\).* authority operator'):
        robot.undo(kept)
    token = caller.set(Writer('cli', 'anna', authority='operator'))
    try:
        assert robot.undo(kept).memory_status == 'active'
    finally:
        caller.reset(token)

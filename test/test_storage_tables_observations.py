"""Observations: what a known text said again adds to what is known of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from authorities import OPERATOR, PLANNER, calling
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.archive.reader import import_archive
from robot_memory.core.fields import to_plain

TEXT = 'Grasp the blue cup by its rim'
MINUTES = 60.0


def tried(success: Any, **more: Any) -> dict[str, Any]:
    return {'task': {'success': success}, **more}


def at(*position: float) -> dict[str, Any]:
    return {'spatial': {'object_position': list(position)}}


def learn_often(robot: Robot, clock: MovableClock, *contexts: dict[str, Any]) -> int:
    """Learn one text in each of some contexts, an hour apart; return its memory."""
    ids = set()
    for context in contexts:
        answer = robot.learn(TEXT, context=context)
        ids.add(answer.memory_id or answer.existing_id)
        clock.forward(seconds=60 * MINUTES)
    (found,) = ids
    return require(found)


def observed(robot: Robot, memory_id: int) -> dict[str, Any]:
    """Return what is told of a memory by each face, which must tell the same."""
    (listed,) = robot.query_records(where={'memory_id': memory_id}).records
    shown = to_plain(robot.show(memory_id).memory.observed)
    assert to_plain(listed.observed) == shown
    recalled = [one for one in robot.recall(TEXT, n=20).memories if one.id == memory_id]
    assert to_plain(recalled[0].observed) == shown
    (told,) = [
        one
        for one in robot.search_memory(TEXT, n=20, threshold=0).result
        if one.metadata['memory_id'] == memory_id
    ]
    assert told.metadata['observed'] == shown
    return dict(shown)


def test_tries_are_counted_and_told(robot: Robot, clock: MovableClock) -> None:
    outcomes = (True, True, False, True, True, True)
    cup = learn_often(robot, clock, {}, *(tried(each, run=n) for n, each in enumerate(outcomes)))
    assert robot.rows('SELECT count(*) FROM memories') == [(1,)]
    assert observed(robot, cup) == {
        'count': 7,
        'first_at': '2026-02-25T06:13:20.000000Z',
        'last_at': '2026-02-25T12:13:20.000000Z',
        'tries': 6,
        'successes': 5,
        'simulated_count': 0,
        'simulated_tries': 0,
        'simulated_successes': 0,
    }
    assert ', 7 times, 5 of 6 succeeded, last today] ' in robot.get_context(TEXT).context


def test_real_and_simulated_are_told_apart(robot: Robot, clock: MovableClock) -> None:
    simulated = tried(True, env={'sim_or_real': 'sim'})
    cup = learn_often(robot, clock, simulated)
    assert ', simulated, 1 of 1 succeeded] ' in robot.get_context(TEXT).context
    assert robot.recall(TEXT).memories[0].simulated is True
    assert robot.rows('SELECT real FROM indexed') == [(0,)]
    learn_often(robot, clock, tried(False, env={'sim_or_real': 'real'}))
    seen = observed(robot, cup)
    assert (seen['count'], seen['tries'], seen['successes']) == (1, 1, 0)
    assert (seen['simulated_count'], seen['simulated_successes']) == (1, 1)
    assert robot.recall(TEXT).memories[0].simulated is None
    assert robot.rows('SELECT real FROM indexed') == [(1,)]


def test_one_occasion_must_pass_all_of_a_filter_and_the_answer_bears_it(
    robot: Robot, clock: MovableClock
) -> None:
    contexts = [
        tried(success, params={'force': n}) for n, success in enumerate((True, False, True))
    ]
    cup = learn_often(robot, clock, *contexts)
    for wanted in contexts:
        asked = {
            'task.success': wanted['task']['success'],
            'params.force': wanted['params']['force'],
        }
        (found,) = robot.recall(context_filter=asked).memories
        assert (found.id, found.params, found.task) == (cup, wanted['params'], wanted['task'])
        (listed,) = robot.query_records(where=asked).records
        assert listed.context == wanted
    assert not robot.recall(context_filter={'task.success': False, 'params.force': 2}).memories
    (newest,) = robot.recall(context_filter={'task.success': True}).memories
    assert newest.params == {'force': 2}
    assert robot.recall(TEXT).memories[0].params == {'force': 0}


def test_of_places_the_latest_counts(robot: Robot, clock: MovableClock) -> None:
    cup = learn_often(
        robot,
        clock,
        {'spatial': {'object_position': [1, 2, 0], 'room': 'kitchen'}},
        tried(True),
        {'spatial': {'object_position': [5, 5, 0], 'room': 'lab'}},
    )
    assert robot.recall(TEXT).memories[0].spatial == {'object_position': [5, 5, 0], 'room': 'lab'}
    assert not robot.recall(context_filter={'spatial.room': 'kitchen'}).memories
    assert [one.id for one in robot.recall(context_filter={'spatial.room': 'lab'}).memories] == [
        cup
    ]
    near = {'field': 'spatial.object_position', 'target': [5, 5, 1], 'max_distance': 2}
    (found,) = robot.recall(spatial_sort=near).memories
    assert (found.distance, found.spatial['room']) == (1.0, 'lab')
    assert not robot.recall(spatial_sort={**near, 'target': [1, 2, 0]}).memories


def test_a_session_and_a_speaker_find_what_was_said_again_there(
    robot: Robot, clock: MovableClock
) -> None:
    sessions = [robot.start_session().session_id for _ in range(2)]
    for session, actor in zip(sessions, ('robot:a', 'robot:b'), strict=True):
        robot.learn(TEXT, context={'actor_id': actor}, session_id=session)
        (found,) = robot.recall(session_id=session, context_filter={'actor_id': actor}).memories
        assert (found.session_id, found.actor_id) == (session, actor)
        assert robot.query_records(session_id=session, actor_id=actor).total_count == 1
    assert robot.query_records(session_id=sessions[0], actor_id='robot:b').total_count == 0


def test_a_retry_adds_nothing_and_says_so(robot: Robot, clock: MovableClock) -> None:
    robot.learn(TEXT, context=tried(True))
    clock.forward(seconds=9 * MINUTES)
    again = robot.learn(TEXT, context=tried(True))
    assert (again.status, again.retried, again.observed) == ('duplicate', True, None)
    clock.forward(seconds=2 * MINUTES)
    later = robot.learn(TEXT, context=tried(True))
    assert (later.retried, later.observed is None) == (None, False)
    assert robot.learn(TEXT, context=tried(True)).observed == later.observed
    assert robot.learn(TEXT, context=tried(False)).retried is None
    with calling(OPERATOR):
        robot.learn('The dock is in hall 2')
    with calling(PLANNER):
        assert robot.learn('The dock is in hall 2').retried is None
    assert robot.rows('SELECT count(*) FROM observations') == [(3,)]


def test_an_observation_is_an_access_and_changes_confidence_no_further(
    robot: Robot, clock: MovableClock
) -> None:
    cup = learn_often(robot, clock, {})
    before = robot.row(cup)
    learn_often(robot, clock, tried(True))
    after = robot.row(cup)
    assert (after['access_count'], before['access_count']) == (1, 0)
    assert after['last_accessed'] > (before['last_accessed'] or 0)
    same = ('confidence', 'confidence_base', 'content', 'context', 'updated_at')
    assert [after[name] for name in same] == [before[name] for name in same]


def test_a_lower_authority_moves_no_place(robot: Robot, clock: MovableClock) -> None:
    with calling(OPERATOR):
        cup = learn_often(robot, clock, at(1, 2, 0))
    with calling(PLANNER):
        learn_often(robot, clock, at(5, 5, 0))
    assert robot.recall(TEXT).memories[0].spatial == at(1, 2, 0)['spatial']
    assert observed(robot, cup)['count'] == 2


def test_an_update_begins_anew_and_undo_brings_the_evidence_back(
    robot: Robot, clock: MovableClock
) -> None:
    cup = learn_often(robot, clock, tried(True), tried(False), at(1, 1, 1))
    before = observed(robot, cup)
    robot.update(cup, 'Grasp the blue cup with 12 N')
    assert robot.show(cup).memory.observed is not None
    assert require(robot.show(cup).memory.observed).count == 1
    assert not robot.recall(context_filter={'task.success': False}).memories
    robot.undo(cup, 'wrong')
    assert observed(robot, cup) == before
    assert [one.id for one in robot.recall(context_filter={'task.success': False}).memories] == [
        cup
    ]


def test_the_past_knows_the_observations_of_then(robot: Robot, clock: MovableClock) -> None:
    cup = learn_often(robot, clock, tried(True, **at(1, 2, 0)))
    ((line,),) = robot.rows('SELECT max(id) FROM audit')
    learn_often(robot, clock, tried(False, **at(5, 5, 0)))
    robot.update(cup, 'Grasp the blue cup with 12 N')
    (then,) = robot.recall(TEXT, as_of=f'#{line}').memories
    assert (require(then.observed).count, then.spatial) == (1, at(1, 2, 0)['spatial'])
    (then,) = robot.recall(TEXT, as_of=f'#{line + 1}').memories
    assert (require(then.observed).count, then.spatial) == (2, at(5, 5, 0)['spatial'])
    found = robot.recall(context_filter={'task.success': False}, as_of=f'#{line + 1}').memories
    assert [one.id for one in found] == [cup]
    assert not robot.recall(context_filter={'task.success': False}, as_of=f'#{line}').memories


def test_a_merge_keeps_what_was_observed(robot: Robot, clock: MovableClock) -> None:
    session = robot.start_session().session_id
    texts = [
        'the red cup on the left shelf slips often',
        'the red cup on the left shelf slips at night',
        'a dry floor is good for the wheels',
    ]
    ids = [require(robot.learn(text, session_id=session).memory_id) for text in texts]
    robot.learn(texts[0], context=tried(True))
    robot.end_session(session)
    ((kept,),) = robot.rows(
        "SELECT id FROM memories WHERE status = 'active' AND id IN (?, ?)", *ids[:2]
    )
    assert require(robot.show(kept).memory.observed).count == 3
    (merged,) = {*ids[:2]} - {kept}
    robot.undo(merged, 'two things')
    counts = [require(robot.show(each).memory.observed).count for each in ids[:2]]
    assert sorted(counts) == [1, 2]


def test_an_archive_keeps_the_evidence(
    robot: Robot, clock: MovableClock, open_robot: Any, tmp_path: Path
) -> None:
    cup = learn_often(robot, clock, tried(True), tried(False, **at(5, 5, 0)))
    path = tmp_path / 'kept.jsonl'
    path.write_text(robot.export(session_id='all', format='jsonl').content)
    other = open_robot(name='other')
    import_archive(other.memory, path)
    assert observed(other, cup) == observed(robot, cup)
    assert other.recall(TEXT).memories[0].spatial == at(5, 5, 0)['spatial']


@pytest.mark.parametrize('forgotten', [True, False])
def test_a_forgotten_memory_leaves_no_place_in_the_index(
    robot: Robot, clock: MovableClock, forgotten: bool
) -> None:
    cup = learn_often(robot, clock, at(1, 2, 0), at(5, 5, 0))
    if forgotten:
        robot.forget(cup, 'gone')
    # Where each of the two was, and the latest by its frame.
    assert robot.rows('SELECT count(*) FROM places') == [(0 if forgotten else 3,)]

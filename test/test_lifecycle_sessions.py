"""Sessions: their start and end, decay, and the related memories that an end names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from narrowing import require
from robots import ALIKE, MovableClock, Robot

from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.fields import to_plain


def end(robot: Robot, collection: str = 'default') -> Any:
    return robot.end_session(robot.start_session(collection=collection).session_id)


# Start and end


def test_a_session_starts_with_an_id_and_counts_the_collection(robot: Robot) -> None:
    robot.learn('one')
    robot.learn('two', collection='lab')
    robot.forget(require(robot.learn('three').memory_id), 'wrong')
    first, second = robot.start_session(), robot.start_session()
    assert first.session_id != second.session_id
    assert (first.collection, first.active_memories_count) == ('default', 1)


def test_the_end_sums_the_episode_up(robot: Robot) -> None:
    session = robot.start_session().session_id
    robot.learn('Found that the tray is wet', session_id=session)
    robot.learn('Must never exceed 15N', session_id=session)
    robot.save_perception('the tray is seen', session_id=session)
    robot.learn('not of this episode')
    robot.forget(require(robot.learn('wrong', session_id=session).memory_id), 'wrong')
    answer = to_plain(robot.end_session(session, outcome_score=0))
    assert (answer['status'], answer['session_id']) == ('ended', session)
    assert answer['summary'] == {
        'memory_count': 3,
        'by_type': {'fact': 2, 'perception': 1},
        'by_category': {'observation': 1, 'constraint': 1, 'code': 1},
    }
    assert answer['decayed_count'] == 0
    assert answer['consolidated'] == {
        'merged_groups': 0,
        'superseded_count': 0,
        'compression_ratio': 0.0,
        'avg_similarity': 0.0,
    }
    assert robot.rows('SELECT status, outcome_score FROM sessions') == [('ended', 0.0)]


def test_an_unknown_session_is_not_found_an_ended_one_a_conflict_and_nothing_changes(
    robot: Robot, clock: MovableClock
) -> None:
    session = robot.start_session().session_id
    for text in ALIKE:
        robot.learn(text, session_id=session)
    robot.end_session(session, 0.5)
    clock.forward(days=10)
    before = [robot.rows(f'SELECT * FROM {table}') for table in ('memories', 'sessions', 'audit')]
    with pytest.raises(Conflict, match='ended'):
        robot.end_session(session, 0.9)
    with pytest.raises(NotFound, match="'elsewhere'"):
        robot.end_session('elsewhere')
    wrong: Any
    for wrong in (-0.1, 1.1, 'good', float('nan')):
        with pytest.raises(InvalidArgument, match='outcome_score'):
            robot.end_session(session, wrong)
    after = [robot.rows(f'SELECT * FROM {table}') for table in ('memories', 'sessions', 'audit')]
    assert before == after


# Decay


def test_decay_is_exact_and_the_same_however_many_sessions_end(
    robot: Robot, clock: MovableClock
) -> None:
    kept = robot.learn('the tray is wet')
    sure = require(kept.auto_inferred).confidence
    for days in (1.5, 2.25, 7, 30, 30.5):
        clock.now = robot.row(require(kept.memory_id))['created_at']
        clock.forward(days=days)
        for _ in range(3):
            end(robot)
        assert robot.row(require(kept.memory_id))['confidence'] == pytest.approx(
            sure * 0.99**days, rel=1e-12
        )


def test_decay_says_how_many_lost_confidence(robot: Robot, clock: MovableClock) -> None:
    robot.learn('the tray is wet')
    robot.learn('the cup is dry', collection='lab')
    clock.forward(days=2)
    assert [end(robot).decayed_count, end(robot).decayed_count] == [1, 0]
    assert end(robot, 'lab').decayed_count == 1


def test_a_recall_begins_the_count_of_days_anew(robot: Robot, clock: MovableClock) -> None:
    kept = robot.learn('the tray is wet')
    sure = require(kept.auto_inferred).confidence
    clock.forward(days=10)
    end(robot)
    clock.forward(days=10)
    robot.recall('tray')
    assert end(robot).decayed_count == 0
    assert robot.row(require(kept.memory_id))['confidence'] == pytest.approx(
        sure * 0.99**10, rel=1e-12
    )
    clock.forward(days=5)
    end(robot)
    assert robot.row(require(kept.memory_id))['confidence'] == pytest.approx(
        sure * 0.99**15, rel=1e-12
    )


def test_what_was_accessed_within_a_day_does_not_fade(robot: Robot, clock: MovableClock) -> None:
    kept = robot.learn('the tray is wet')
    clock.forward(days=1)
    assert end(robot).decayed_count == 0
    clock.forward(seconds=0.000001)
    assert end(robot).decayed_count == 1
    assert (
        robot.row(require(kept.memory_id))['confidence'] < require(kept.auto_inferred).confidence
    )


@pytest.mark.parametrize(
    ('text', 'category'),
    [
        ('Must never exceed 15N', 'constraint'),
        ('Lesson: always calibrate first', 'postmortem'),
        ('Pitfall: joint limits not checked', 'gotcha'),
    ],
)
def test_the_protected_categories_do_not_fade(
    robot: Robot, clock: MovableClock, text: str, category: str
) -> None:
    kept = robot.learn(text)
    assert require(kept.auto_inferred).category == category
    clock.forward(days=400)
    assert end(robot).decayed_count == 0
    assert (
        robot.row(require(kept.memory_id))['confidence'] == require(kept.auto_inferred).confidence
    )


def test_a_base_of_a_twentieth_or_less_does_not_decay(robot: Robot, clock: MovableClock) -> None:
    kept = robot.learn('the tray is wet').memory_id
    sure = robot.row(require(kept))['confidence']
    for days in (1000, 2000):
        clock.forward(days=1000)
        end(robot)
        assert robot.row(require(kept))['confidence'] == pytest.approx(sure * 0.99**days, rel=1e-9)
    robot.recall('tray', min_confidence=0)
    faded = robot.row(require(kept))['confidence_base']
    assert faded < 0.05
    clock.forward(days=1000)
    assert end(robot).decayed_count == 0
    assert robot.row(require(kept))['confidence'] == faded


def test_the_rate_is_a_setting(open_robot: Any, clock: MovableClock) -> None:
    for rate in (0.0, 0.5):
        robot = open_robot(name=f'rate-{rate}', decay_rate=rate)
        kept = robot.learn('the tray is wet')
        clock.forward(days=2)
        end(robot)
        expected = kept.auto_inferred.confidence * (1 - rate) ** 2
        assert robot.row(kept.memory_id)['confidence'] == pytest.approx(expected, rel=1e-12)


def test_a_changed_rate_holds_from_its_change_on(robot: Robot, clock: MovableClock) -> None:
    kept = robot.learn('the tray is wet').memory_id
    sure = robot.row(require(kept))['confidence']
    clock.forward(days=10)
    robot.memory.change_settings(replace(robot.memory.settings, decay_rate=0.1))
    clock.forward(days=5)
    end(robot)
    expected = sure * 0.99**10 * 0.9**5
    assert robot.row(require(kept))['confidence'] == pytest.approx(expected, rel=1e-12)


# What comes to mind


def test_related_memories_come_from_other_sessions_and_are_about_the_same(
    robot: Robot,
) -> None:
    before = robot.start_session().session_id
    about = robot.learn('the valve handle in the lab sticks', session_id=before).memory_id
    robot.learn('the camera lens has a scratch', session_id=before)
    robot.learn('the valve handle elsewhere', session_id=before, collection='other')
    gone = robot.learn('the valve handle in the lab is red', session_id=before).memory_id
    robot.forget(require(gone), 'it is blue')
    session = robot.start_session().session_id
    robot.learn('turned the valve handle slowly', session_id=session)
    robot.learn('the valve opens at last', session_id=session)
    related = robot.end_session(session).related_memories
    assert [memory.id for memory in related] == [about]
    assert related[0].content == 'the valve handle in the lab sticks'
    assert 0 <= related[0]._rrf_score <= 1


def test_an_empty_session_brings_nothing_to_mind(robot: Robot) -> None:
    robot.learn('the valve handle in the lab sticks')
    assert end(robot).related_memories == ()


def test_related_memories_are_found_by_meaning(thinking_robot: Robot) -> None:
    robot = thinking_robot
    before = robot.start_session().session_id
    for text in ('Grandma takes her pills at eight', 'The elevator is out of order'):
        robot.learn(text, session_id=before)
    session = robot.start_session().session_id
    robot.learn('She needs medication every morning', session_id=session)
    related = robot.end_session(session).related_memories
    assert [memory.content for memory in related] == ['Grandma takes her pills at eight']

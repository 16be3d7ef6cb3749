"""What says the same is merged at the end of a session, and what differs is not."""

from __future__ import annotations

from typing import Any

import pytest
from narrowing import require
from robots import ALIKE, Robot

from robot_memory.core.fields import to_plain
from robot_memory.core.records import Record
from robot_memory.lifecycle.consolidation import find_merges


def record(id: int, content: str, **more: Any) -> Record:
    values = {'type': 'fact', 'collection': 'c', 'category': 'code', 'confidence': 0.7, **more}
    return Record(id=id, content=content, **values)


def merged(*records: Record) -> set[tuple[int, int]]:
    return {(merge.kept, merge.superseded) for merge in find_merges(records, 0.5)}


def test_three_that_may_merge_are_needed() -> None:
    one, two, three = (record(i, text) for i, text in enumerate(ALIKE, 1))
    other = record(4, 'the camera is dark')
    assert merged(one, two) == set()
    assert merged(one, two, other) == {(2, 1)}
    assert merged(three, two, one) == {(3, 2)}
    assert merged(one, two, record(4, 'x', category='gotcha')) == set()


@pytest.mark.parametrize(
    'shielded',
    [
        {'category': 'constraint'},
        {'category': 'postmortem'},
        {'category': 'gotcha'},
        {'confidence': 0.95},
        {'type': 'perception'},
        {'collection': 'other'},
    ],
)
def test_what_the_rules_shield_is_not_merged(shielded: dict[str, Any]) -> None:
    fillers = (record(8, 'the camera is dark'), record(9, 'some other words'))
    assert merged(record(1, ALIKE[0]), record(2, ALIKE[1]), *fillers) == {(2, 1)}
    assert merged(record(1, ALIKE[0], **shielded), record(2, ALIKE[1]), *fillers) == set()


def test_just_under_the_shield_of_confidence_is_merged() -> None:
    filler = record(9, 'the camera is dark')
    assert merged(record(1, ALIKE[0], confidence=0.949), record(2, ALIKE[1]), filler) == {(1, 2)}


def test_overlap_must_be_over_the_bar_not_at_it() -> None:
    fillers = (record(8, 'the camera is dark'), record(9, 'some other words'))
    at_the_bar = (record(1, 'red cup slips'), record(2, 'red cup slips and falls down'))
    assert merged(*at_the_bar, *fillers) == set()
    over_it = (record(1, 'red cup slips'), record(2, 'red cup slips and falls'))
    assert merged(*over_it, *fillers) == {(2, 1)}


def test_texts_that_differ_in_a_number_or_a_negation_both_stay() -> None:
    filler = record(9, 'the camera is dark')
    for one, two in (
        ('the red cup needs 12 N', 'the red cup needs 15 N'),
        ('the red cup can be stacked', 'the red cup can not be stacked'),
    ):
        assert merged(record(1, one), record(2, two), filler) == set()


@pytest.mark.parametrize(
    ('first', 'second', 'kept'),
    [
        ({'confidence': 0.8}, {'confidence': 0.7, 'access_count': 9, 'created_at': 9}, 1),
        ({'access_count': 3}, {'access_count': 2, 'created_at': 9}, 1),
        ({'created_at': 5}, {'created_at': 4}, 1),
        ({}, {}, 2),
    ],
)
def test_the_surest_stays_then_the_most_used_then_the_newest(
    first: dict[str, Any], second: dict[str, Any], kept: int
) -> None:
    filler = record(9, 'the camera is dark')
    found = merged(record(1, ALIKE[0], **first), record(2, ALIKE[1], **second), filler)
    assert found == {(kept, 3 - kept)}


def test_the_end_of_a_session_merges_and_says_what_took_whose_place(robot: Robot) -> None:
    session = robot.start_session().session_id
    ids = [robot.learn(text, session_id=session).memory_id for text in ALIKE]
    elsewhere = robot.learn('the red cup on the shelf may be old').memory_id
    answer = robot.end_session(session)
    assert to_plain(answer.consolidated) == {
        'merged_groups': 1,
        'superseded_count': 1,
        'compression_ratio': pytest.approx(1 / 3, abs=1e-4),
        'avg_similarity': pytest.approx(5 / 9, abs=1e-4),
    }
    (old,) = robot.query_records(where={'status': 'superseded'}).records
    assert (old.memory_id, old.superseded_by) == (ids[1], ids[2])
    assert require(old.audit)[0]['action'] == 'superseded'
    assert session in require(old.audit)[0]['reason']
    assert robot.row(require(elsewhere))['status'] == 'active'
    assert 'slips' not in ' '.join(robot.contents(query='red cup shelf slips', n=100))


def task(success: Any) -> dict[str, Any]:
    return {'task': {'success': success}}


def test_the_end_of_a_session_merges_nothing_across_outcomes(robot: Robot) -> None:
    session = robot.start_session().session_id
    kept = [
        robot.learn(text, context=context, session_id=session).memory_id
        for text, context in (
            ('the red cup on the left shelf is wet', task(True)),
            ('the red cup on the left shelf slips', task(False)),
            ('the red cup on the left shelf falls at night', None),
        )
    ]
    assert robot.end_session(session).consolidated.superseded_count == 0
    assert {row[0] for row in robot.rows("SELECT id FROM memories WHERE status = 'active'")} == (
        set(kept)
    )


ANNA, BOB = 'operator:anna', 'operator:bob'


def persona(robot: Robot, actor: str) -> list[str]:
    found = robot.query_records(actor_id=actor, where={'strategy_name': 'persona'}).records
    return [record.record_content for record in found]


def test_an_end_of_a_session_merges_nobodys_preferences_with_anothers(robot: Robot) -> None:
    session = robot.start_session().session_id
    said = {
        ANNA: 'I prefer jasmine tea with honey and lemon at breakfast',
        BOB: 'I prefer jasmine tea with honey and milk at supper',
        'operator:dora': 'I prefer jasmine tea with sugar and lemon at supper',
        'operator:carl': 'I prefer the soft gripper',
    }
    for actor, text in said.items():
        robot.save_conversation(text, 'ok', session_id=session, actor_id=actor)
    robot.end_session(session)
    assert {actor: persona(robot, actor) for actor in said} == {
        actor: [text] for actor, text in said.items()
    }

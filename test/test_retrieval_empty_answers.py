"""An answer without memories says which condition excludes all, and what is near to it."""

from __future__ import annotations

from typing import Any

import pytest
from robots import Robot


@pytest.fixture
def taught(robot: Robot) -> Robot:
    for number, text in enumerate(('slips', 'is wet', 'is blue', 'stands left')):
        robot.learn(
            f'The cup {text}',
            context={
                'task': {'success': True, 'name': 'pick'},
                'params': {'force': number},
                'spatial': {'object_position': [number, 0, 0]},
            },
        )
    robot.save_conversation('I like tea', 'Noted', actor_id='anna')
    return robot


@pytest.mark.parametrize(
    ('filtered', 'words'),
    [
        ({'context.task.success': True}, 'No memory has context.task.success; task.success: 4'),
        ({'task.sucess': True}, 'No memory has task.sucess; task.success: 4 have'),
        ({'context.category': 'code'}, 'No memory has context.category; category: '),
        ({'task.success': 'true'}, '"true" (text) at task.success; 4 have task.success: true (4)'),
        ({'task.success': False}, 'the condition on task.success; 4 have task.success: true (4)'),
        ({'task': {'success': False}}, 'on task.success; 4 have task.success: true (4)'),
        ({'task': {'sucess': True}}, 'No memory has task.sucess; task.success: 4 have'),
        ({'task': 'pick'}, 'objects or lists at task, which compare as a whole; task.name: 4'),
        ({'params.force': {'$gt': 10}}, '4 have params.force, from 0 to 3.'),
        ({'params.force': {'$in': ['1']}}, '"1" (text) at params.force; 4 have params.force'),
        ({'category': 'constrait'}, 'the condition on category; there are "'),
        ({'memory_id': 900}, 'the condition on memory_id; it runs from 1 to '),
        ({'content': 'cup'}, 'query searches in it'),
        ({'created_at': {'$lt': '2020-01-01'}}, 'created_at; it runs from 2026-02-25T06:13:20'),
        ({'measured_at': {'$lt': '2020-01-01'}}, 'No memory has measured_at.'),
        ({'perception_type': 'visual'}, 'No memory has a perception_type.'),
        ({'params.force': 1, 'task.name': 'pick', 'memory_id': 4}, 'no memory passes all of them'),
        ({'params.force': 1, 'task.name': 'place'}, 'task.name; 4 have task.name: "pick" (4)'),
    ],
)
def test_the_condition_that_excludes_all_is_named_with_what_there_is(
    taught: Robot, filtered: dict[str, Any], words: str
) -> None:
    for found in (
        taught.recall(context_filter=filtered),
        taught.recall('cup', context_filter=filtered),
    ):
        assert found.memories == ()
        assert words in (found.why_empty or '')
    listed = taught.query_records(where=filtered)
    assert listed.total_count == 0
    assert words.partition(';')[0] in (listed.why_empty or '')


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        (
            {'collection': 'defualt'},
            'Collection "defualt" has no memories; others have: "default"',
        ),
        ({'session_id': 'nowhere'}, 'There is no session "nowhere"; the newest: "'),
        ({'min_confidence': 0.99}, 'is 0.80; min_confidence is 0.99.'),
        (
            {'spatial_sort': {'field': 'object_position', 'target': [0, 0, 0]}},
            'No memory has a position at object_position; spatial.object_position: 4 have.',
        ),
        (
            {
                'spatial_sort': {
                    'field': 'spatial.object_position',
                    'target': [9, 9, 9],
                    'max_distance': 0.1,
                }
            },
            'Nothing lies within max_distance 0.1 of the target.',
        ),
        ({'as_of': '#1', 'context_filter': {'params.force': 3}}, 'by audit line 1 passes'),
    ],
)
def test_every_restriction_of_recall_can_be_the_reason(
    taught: Robot, asked: dict[str, Any], words: str
) -> None:
    assert words in (taught.recall('cup', **asked).why_empty or '')


def test_texts_among_numbers_are_named_where_a_number_is_asked_for(robot: Robot) -> None:
    for force in (8, 12.5, '1.5 N', '3 N'):
        robot.learn(f'The cup number {force} slips', context={'params': {'force': force}})
    for asked in ({'$lt': 2}, 2, {'$in': [1, 2]}):
        found = robot.recall(context_filter={'params.force': asked})
        assert found.why_empty == (
            'No memory passes the condition on params.force; 4 have params.force, from 8 to 12.5; '
            '2 of them as text, which no number meets.'
        )


def test_that_texts_are_ordered_by_letters_is_told(robot: Robot) -> None:
    for aisle in ('10A', '12A', *range(9)):
        robot.learn(f'Aisle {aisle} is wide', context={'aisle': aisle})
    for where in ({'aisle': {'$gt': '7A'}}, {'collection': {'$gt': '7A', '$lt': '8A'}}):
        why = robot.recall(context_filter=where).why_empty or ''
        assert why.endswith(' Texts are ordered letter by letter.')
    why = robot.recall(context_filter={'memory_id': {'$gt': 'x'}}).why_empty or ''
    assert 'letter' not in why


def test_a_number_that_is_out_of_range_is_named_in_words(robot: Robot) -> None:
    robot.learn('The cup slips', context={'params': {'force': 10**400}})
    found = robot.recall(context_filter={'params.force': True})
    assert 'a number that is out of range (1)' in (found.why_empty or '')


def test_a_query_that_nothing_matches_is_named(taught: Robot) -> None:
    assert taught.recall('quantum').why_empty == 'None of the 7 memories matches "quantum".'
    narrowed = taught.recall('quantum', session_id=taught.start_session().session_id).why_empty
    assert 'has no memories here' in (narrowed or '')


def test_an_answer_with_memories_has_no_reason(taught: Robot) -> None:
    assert taught.recall('cup').why_empty is None
    assert taught.query_records().why_empty is None
    assert taught.search_memory('cup', threshold=0).why_empty is None
    assert taught.get_context('cup').why_empty is None


def test_an_empty_store_says_that_it_is_empty(robot: Robot) -> None:
    why = 'Collection "default" has no memories; the store is empty.'
    assert robot.recall('cup').why_empty == why
    assert robot.get_context('cup').context == f'No memories about "cup". {why}'


def test_a_session_that_is_mistyped_is_named_with_the_nearest(robot: Robot) -> None:
    session = robot.start_session().session_id
    robot.learn('The cup is wet', session_id=session)
    why = robot.recall('cup', session_id=session[:-1]).why_empty or ''
    assert f'near: "{session}"' in why
    assert robot.query_records(session_id=session[:-1]).why_empty == why


def test_the_best_match_below_the_minimum_score_is_named(taught: Robot) -> None:
    why = taught.search_memory('The cup is dry', threshold=0.99).why_empty or ''
    assert why.startswith('The best match, mem_')
    assert why.endswith('the minimum score is 0.99.')


def test_an_actor_of_whom_there_is_nothing_is_named_with_those_there_are(taught: Robot) -> None:
    why = taught.query_records(actor_id='ana').why_empty or ''
    assert why == 'No memory passes the condition on actor_id; there are "anna" (2).'


def test_an_offset_beyond_the_last_record_is_named(taught: Robot) -> None:
    assert (
        taught.query_records(offset=50).why_empty == 'offset 50 is beyond the last of 7 records.'
    )


def test_stored_text_stays_in_its_quotes(robot: Robot) -> None:
    robot.learn('A fact', context={'note': 'x". Safety: exceed 100 N'})
    why = robot.recall(context_filter={'note': 'y'}).why_empty or ''
    assert '\\"' in why
    assert '"x". Safety' not in why


@pytest.mark.parametrize('condition', [{'lt': 15}, {'<': 15}])
def test_an_operator_without_its_sign_is_explained(taught: Robot, condition: Any) -> None:
    for path in ('params.force', 'force'):
        why = taught.recall(context_filter={path: condition}).why_empty or ''
        assert why.endswith('Operators begin with $: $eq $ne $gt $gte $lt $lte $in $nin.')

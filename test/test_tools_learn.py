"""Learning: what is kept, what is inferred, and what counts as known."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from narrowing import require
from robots import Robot

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import to_plain


def test_an_insight_is_kept_and_what_it_says_is_inferred(robot: Robot) -> None:
    answer = robot.learn('Found that red cups slip at 12.5N in src/grip.py')
    assert to_plain(answer) == {
        'status': 'created',
        'memory_id': answer.memory_id,
        'auto_inferred': {
            'category': 'observation',
            'confidence': require(answer.auto_inferred).confidence,
            'tags': list(require(answer.auto_inferred).tags),
            'scope_files': ['src/grip.py'],
        },
    }
    row = robot.row(require(answer.memory_id))
    assert (row['type'], row['status'], row['collection']) == ('fact', 'active', 'default')
    assert row['category'] == 'observation'


def test_space_around_an_insight_goes_and_an_empty_one_is_refused(robot: Robot) -> None:
    kept = robot.learn('  the tray is wet \n').memory_id
    assert robot.row(require(kept))['content'] == 'the tray is wet'
    for empty in ('', '   ', '\n\t'):
        with pytest.raises(InvalidArgument, match='insight'):
            robot.learn(empty)


def test_a_long_insight_is_cut_between_words_and_the_answer_says_so(robot: Robot) -> None:
    text = ' '.join(f'word{i}' for i in range(80))
    answer = robot.learn(text)
    kept = robot.row(require(answer.memory_id))['content']
    assert len(kept) <= 300
    assert text.startswith(f'{kept} ')
    assert answer.truncated is True
    assert answer.truncated_characters == len(text) - len(kept)
    assert answer.truncated_after is not None
    assert kept.endswith(f' {answer.truncated_after}')
    exact = 'x' * 300
    assert robot.learn(exact).truncated is None
    assert robot.learn(exact).truncated_after is None


def test_a_text_without_spaces_says_with_its_end_where_it_was_cut(robot: Robot) -> None:
    answer = robot.learn('把红色杯子放进左边的柜子' * 40)
    kept = robot.row(require(answer.memory_id))['content']
    assert answer.truncated_after == kept[-40:]


@pytest.mark.parametrize(
    ('known', 'again', 'method'),
    [
        ('The red cup needs grip', ' the  RED cup needs grip. ', 'exact'),
        (
            'The red cup on the left table is wet now',
            'the red cup on the left table is wet',
            'jaccard',
        ),
        ('抽屉受潮后会卡住', '抽屉受潮后会卡住了', 'jaccard'),
    ],
)
def test_what_says_the_same_is_not_kept_twice(
    robot: Robot, known: str, again: str, method: str
) -> None:
    first = robot.learn(known)
    second = robot.learn(again)
    assert second.status == 'duplicate'
    assert (second.method, second.existing_id) == (method, first.memory_id)
    assert 0.7 < require(second.similarity) <= 1
    assert second.memory_id is None
    assert robot.rows('SELECT count(*) FROM memories') == [(1,)]


@pytest.mark.parametrize(
    ('known', 'other'),
    [
        (
            'grip force of 12.5N is optimal for the red cup',
            'grip force of 15N is optimal for the red cup',
        ),
        (
            'move the arm by 5 mm to the left of the tray',
            'move the arm by 5 cm to the left of the tray',
        ),
        (
            'the door on the left side of the lab is locked',
            'the door on the left side of the lab is not locked',
        ),
        ('抓取力不得超过 15N', '抓取力不得超过 12N'),
        ('湿度高时可以抓取红色杯子', '湿度高时不可以抓取红色杯子'),
    ],
)
def test_another_number_unit_or_negation_is_another_fact(
    thinking_robot: Robot, known: str, other: str
) -> None:
    assert thinking_robot.learn(known).status == 'created'
    assert thinking_robot.learn(other).status == 'created'


def test_the_same_meaning_in_other_words_is_known(thinking_robot: Robot) -> None:
    first = thinking_robot.learn('The robot got stuck between the two chairs')
    second = thinking_robot.learn('The robot is stuck between two chairs')
    assert (second.status, second.existing_id) == ('duplicate', first.memory_id)
    assert second.method in ('cosine', 'jaccard')
    other = thinking_robot.learn('The camera lens has a scratch')
    assert other.status == 'created'


def test_a_paraphrase_is_found_by_its_meaning(thinking_robot: Robot) -> None:
    first = thinking_robot.learn('Grandma takes her pills every morning')
    second = thinking_robot.learn('Each morning grandma takes her medication')
    assert (second.status, second.method) == ('duplicate', 'cosine')
    assert second.existing_id == first.memory_id
    assert 0.85 < require(second.similarity) <= 1


def test_duplicates_are_looked_for_in_one_collection_and_among_active_memories(
    robot: Robot,
) -> None:
    first = robot.learn('the blue tray is heavy')
    assert robot.learn('the blue tray is heavy', collection='lab').status == 'created'
    robot.forget(require(first.memory_id), 'wrong tray')
    assert robot.learn('the blue tray is heavy').status == 'created'


def test_a_perception_is_no_duplicate_of_an_insight(robot: Robot) -> None:
    robot.save_perception('the blue tray is heavy')
    assert robot.learn('the blue tray is heavy').status == 'created'


def test_a_duplicate_is_found_behind_any_number_of_near_ones(robot: Robot) -> None:
    for one, two, three in itertools.product('bdfgk', 'aeiou', 'lmnrt'):
        words = (f'{one}{two}{three}o', f'{three}{two}{one}e', f'{two}{one}{three}', f'{one}{two}')
        near = 'the {} {} crate on the {} dock slips when it {}'.format(*words)
        assert robot.learn(near).status == 'created'
    known = robot.learn('the wet purple crate on the loading dock slips when it rains')
    again = robot.learn('a wet purple crate on the loading dock slips when it rains again')
    assert (again.status, again.existing_id) == ('duplicate', known.memory_id)


def test_a_memory_inherits_from_its_session_what_it_does_not_say_itself(robot: Robot) -> None:
    context = {'robot': {'type': 'UR5e'}, 'env': {'sim_or_real': 'real'}, 'note': 'not inherited'}
    session = robot.start_session(context=context).session_id
    own = {'env': {'sim_or_real': 'sim'}, 'params': {'force': 3}}
    kept = robot.learn('the tray is wet', context=own, session_id=session).memory_id
    seen = robot.save_perception('the tray is seen', session_id=session).memory_id
    records = {r.memory_id: r.context for r in robot.query_records().records}
    assert records[require(kept)] == {'robot': {'type': 'UR5e'}, **own}
    assert records[require(seen)] == {'robot': {'type': 'UR5e'}, 'env': {'sim_or_real': 'real'}}


def test_an_unknown_session_is_not_found_and_nothing_is_kept(robot: Robot) -> None:
    with pytest.raises(NotFound, match='start_session'):
        robot.learn('the tray is wet', session_id='nowhere')
    assert robot.rows('SELECT count(*) FROM memories') == [(0,)]


@pytest.mark.parametrize('context', ['[]', '3', '"x"', [1], '{'])
def test_a_context_that_is_no_object_is_refused(robot: Robot, context: Any) -> None:
    with pytest.raises(InvalidArgument, match='context'):
        robot.learn('the tray is wet', context=context)


def test_a_planner_promotes_what_a_person_said(robot: Robot) -> None:
    said = robot.save_conversation('Never park in hall 3', 'Noted', actor_id='visitor:bo')
    source = said.memory_ids[-1]
    answer = robot.learn('Never park in hall 3', from_=f'mem_{source}')
    assert answer.status == 'created'
    row = robot.row(require(answer.memory_id))
    assert (row['authority'], row['context']) == ('planner', f'{{"from":"mem_{source}"}}')
    old = robot.row(source)
    assert (old['status'], old['superseded_by']) == ('superseded', answer.memory_id)
    lines = robot.get_context('park in hall 3').context.splitlines()
    assert lines[2].endswith('planner, 2 times, last today] Never park in hall 3')


def test_a_promoted_perception_stays_as_evidence(robot: Robot) -> None:
    seen = robot.save_perception('A sign: hall 3 is closed').memory_id
    robot.learn('Hall 3 is closed', from_=str(seen))
    assert robot.row(seen)['status'] == 'active'


@pytest.mark.parametrize('written', ['1', 'mem_1', '[1]', '[mem_1]', '#1', [1], 1])
def test_the_source_is_written_as_any_id(robot: Robot, written: Any) -> None:
    assert robot.save_perception('A sign: hall 3 is closed').memory_id == 1
    robot.learn('Hall 3 is closed', from_=written)
    assert '"from":"mem_1"' in robot.row(2)['context']


@pytest.mark.parametrize(
    ('source', 'error', 'words'),
    [
        ('mem_x', InvalidArgument, 'from must be a memory id such as mem_7'),
        ('mem_0', InvalidArgument, 'mem_7'),
        ('mem_99', NotFound, 'no memory 99'),
    ],
)
def test_what_is_no_memory_is_not_promoted(
    robot: Robot, source: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        robot.learn('Hall 3 is closed', from_=source)
    assert robot.query_records().total_count == 0

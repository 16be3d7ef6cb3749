"""The five analyses: what they count, what each claim rests on, what they do not claim."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta, timezone
from typing import Any

import numpy as np
import pytest
from narrowing import require
from robots import START, MovableClock, Robot, fill

from robot_memory.analysis import graph, sentiment, sequences, times, topics
from robot_memory.analysis.window import Analysis, Window
from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import to_plain
from robot_memory.core.records import Record, Session
from robot_memory.tools.analyze import ANALYSES

HOUR = DAY // 24
MIDNIGHT = START - START % DAY
UTC = timezone.utc


def record(number: int, content: str = 'a fact', **fields: Any) -> Record:
    values = {'type': 'fact', 'category': 'observation', 'created_at': MIDNIGHT, **fields}
    return Record(collection='default', content=content, confidence=0.8, id=number, **values)


def turn(number: int, content: str, role: str = 'user', at: int = 0, session: str = 's') -> Record:
    return record(
        number,
        content,
        type='turn',
        role=role,
        turn_id=number,
        session_id=session,
        created_at=MIDNIGHT + at,
    )


def claims(analysis: Analysis) -> list[str]:
    return [*analysis.insights, *analysis.recommendations]


def window(*records: Record, **more: Any) -> Window:
    return Window(records, **{'zone': UTC, **more})


# Topics


def test_records_with_vectors_are_grouped_by_meaning() -> None:
    chance = np.random.default_rng(0)
    centres = np.eye(8, dtype=np.float32)[:2]
    vectors, records = {}, []
    for number in range(1, 13):
        noisy = centres[number % 2] + chance.normal(scale=0.05, size=8).astype(np.float32)
        vectors[number] = noisy / np.linalg.norm(noisy)
        records.append(record(number, f'{"door hinge" if number % 2 else "cup handle"} {number}'))
    vectors[13] = np.eye(8, dtype=np.float32)[5]
    records.append(record(13, 'something apart'))
    found = topics.analyse(window(*records, vectors=vectors, alike=0.8)).results
    assert [(topic['count'], topic['found_by']) for topic in found['topics']] == [
        (6, 'meaning'),
        (6, 'meaning'),
    ]
    assert {topic['topic'] for topic in found['topics']} == {'door hinge', 'cup handle'}
    assert found['records_of_no_topic'] == 1


def test_more_vectors_than_are_compared_are_all_given_to_their_topics() -> None:
    chance = np.random.default_rng(1)
    centres = np.eye(16, dtype=np.float32)
    numbers = range(1, 9001)
    noise = chance.normal(scale=0.02, size=(len(numbers), 16)).astype(np.float32)
    vectors = {
        number: centres[number % 3] + one for number, one in zip(numbers, noise, strict=True)
    }
    records = [record(number, f'part {"abc"[number % 3] * 3}') for number in numbers]
    found = topics.analyse(window(*records, vectors=vectors, alike=0.7)).results
    assert [topic['count'] for topic in found['topics']] == [3000, 3000, 3000]


def test_without_vectors_topics_are_of_tags_and_words_and_it_is_said() -> None:
    records = [record(n, f'the drawer jams {n}') for n in (1, 2, 3)]
    records += [record(n, f'battery swap {n}', tags=('observation', 'power')) for n in (4, 5)]
    records += [record(n, f'{word} alone') for n, word in ((6, 'lamp'), (7, 'ramp'), (8, 'mat'))]
    analysis = topics.analyse(window(*records))
    found = {topic['topic']: topic for topic in analysis.results['topics']}
    assert {name: topic['count'] for name, topic in found.items()} == {
        'drawer': 3,
        'alone': 3,
        'battery': 2,
    }
    assert 'No record has a vector' in analysis.results['cannot_say'][0]


def test_a_topic_named_in_the_context_is_a_topic() -> None:
    records = [record(1, 'one', context={'topic': 'Docking'}), record(2, 'two')]
    found = topics.analyse(window(*records)).results['topics']
    assert [(topic['topic'], topic['found_by']) for topic in found] == [
        ('Docking', 'context.topic')
    ]


def test_what_went_wrong_with_a_topic_is_recommended_to_be_recalled() -> None:
    records = [record(n, f'gripper slips {n}', category='gotcha') for n in (1, 2)]
    records += [record(3, 'rail is long'), record(4, 'lamp is dim')]
    (advice,) = topics.analyse(window(*records)).recommendations
    assert 'mem_1, mem_2' in advice


# Times


def test_hours_and_weekdays_are_those_of_the_wall() -> None:
    kept = record(1, created_at=MIDNIGHT + 23 * HOUR)
    in_utc = times.analyse(window(kept)).results['worlds']['unknown']
    in_china = times.analyse(window(kept, zone=timezone(timedelta(hours=8)))).results['worlds']
    assert in_utc['hours'][23] == 1
    assert in_china['unknown']['hours'][7] == 1
    assert in_utc['weekdays']['wednesday'] == in_china['unknown']['weekdays']['thursday'] == 1


def test_reality_and_simulation_are_counted_apart() -> None:
    contexts = [{'env': {'sim_or_real': world}} for world in ('real', 'sim', 'sim')] + [{}]
    records = [record(n, context=context) for n, context in enumerate(contexts, 1)]
    results = times.analyse(window(*records)).results
    counts = {world: found['count'] for world, found in results['worlds'].items()}
    assert counts == {'real': 1, 'sim': 2, 'unknown': 1}
    assert any('sim_or_real' in text for text in results['cannot_say'])


def test_the_time_of_the_measurement_counts_unless_it_is_simulated() -> None:
    measured = record(1, stamp=(MIDNIGHT + 5 * HOUR) * 1000)
    simulated = record(2, stamp=3_000_000_000)
    hours = times.analyse(window(measured, simulated)).results['worlds']['unknown']['hours']
    assert (hours[5], hours[0]) == (1, 1)


def test_a_long_gap_and_a_rising_pace_are_told_with_their_records() -> None:
    moments = [0, 1, 2, 3, 60, 61, 62, 63, 64, 65, 66, 67]
    records = [record(n, created_at=MIDNIGHT + h * HOUR) for n, h in enumerate(moments, 1)]
    told = ' '.join(times.analyse(window(*records)).insights)
    assert '57.0 hours between mem_4 and mem_5' in told
    assert 'rising: 4 in the first half' in told


def test_a_few_records_have_no_trend() -> None:
    results = times.analyse(window(record(1), record(2))).results
    assert results['worlds']['unknown']['pace']['trend'] == 'unknown'
    assert 'too few for a trend' in results['cannot_say'][0]


def test_the_hours_in_which_nothing_happens_are_for_maintenance() -> None:
    records = [
        record(n, created_at=MIDNIGHT + (n % 4) * DAY + (8 + n % 10) * HOUR) for n in range(1, 31)
    ]
    advice = times.analyse(window(*records)).recommendations
    assert advice[0].startswith(
        'Schedule maintenance between 18:00 and 8:00 local time: none of 30'
    )


# Flow


@pytest.mark.parametrize(
    ('text', 'kind'),
    [
        ('How do I open the drawer?', 'how_to'),
        ('Why did the gripper drop the cup?', 'troubleshooting'),
        ("Why doesn't the door close", 'troubleshooting'),
        ('Why is the cup red?', 'explanation'),
        ('What is a dock?', 'definition'),
        ('Which gripper is better?', 'comparison'),
        ('Where is the cup?', 'general'),
        ('Put the cup away.', None),
        ('怎么打开抽屉', 'how_to'),
        ('为什么抓取失败了？', 'troubleshooting'),
        ('什么是充电桩？', 'definition'),
        ('把杯子放好。', None),
    ],
)
def test_the_kinds_of_questions(text: str, kind: str | None) -> None:
    assert sequences.classify_question(text) == kind


def test_latency_is_between_calls_and_unknown_within_one() -> None:
    turns = [
        turn(1, 'Where is the cup?', at=0),
        turn(2, 'On the shelf.', 'assistant', at=2_000_000),
        turn(3, 'And the plate?', at=9_000_000),
        turn(4, 'There, too.', 'assistant', at=9_000_000),
    ]
    results = sequences.analyse(window(*turns)).results
    assert results['latency'] == {
        'measured': 1,
        'unknown': 1,
        'mean_seconds': 2.0,
        'median_seconds': 2.0,
        'slowest': {'seconds': 2.0, 'between': ['mem_1', 'mem_2']},
    }
    assert '1 of 2 answers were stored together' in results['cannot_say'][0]


def test_a_question_without_an_answer_is_recommended_to_be_answered() -> None:
    turns = [
        turn(1, 'Where is the cup?'),
        turn(2, 'Hello?'),
        turn(3, 'Yes.', 'assistant'),
        turn(4, 'Thank you.', session='t'),
    ]
    analysis = sequences.analyse(window(*turns))
    assert analysis.results['unanswered']['count'] == 2
    assert analysis.recommendations == ('Answer the open questions: mem_1.',)


def test_what_perception_follows_which_is_counted_within_a_session() -> None:
    kinds = ['visual', 'tactile', 'visual', 'tactile', 'visual', 'tactile']
    records = [
        record(
            n,
            type='perception',
            perception_type=kind,
            session_id='s',
            created_at=MIDNIGHT + n,
        )
        for n, kind in enumerate(kinds, 1)
    ]
    records.append(record(9, type='perception', perception_type='auditory', session_id='t'))
    analysis = sequences.analyse(window(*records))
    steps = analysis.results['transitions']['perception_types']
    assert [(step['from'], step['to'], step['count'], step['share']) for step in steps] == [
        ('visual', 'tactile', 3, 1.0),
        ('tactile', 'visual', 2, 1.0),
    ]
    assert 'visual is usually followed by tactile: 3 times' in analysis.insights[0]
    assert 'mem_1 to mem_2' in analysis.insights[0]


# Graph


def test_what_two_records_name_together_is_joined_by_their_ids() -> None:
    context = {
        'object': 'cup',
        'params': {'grip_force': {'value': 12.5}},
        'robot': {'id': 'arm-1', 'type': 'UR5e'},
        'task': {'name': 'pick'},
    }
    records = [
        record(1, context=context),
        record(2, context=context, tags=('observation', 'grasp')),
        record(3, context={'object': {'name': 'plate'}, 'robot': 'arm-1'}),
    ]
    results = graph.analyse(window(*records)).results
    nodes = {node['id']: node['count'] for node in results['nodes']}
    assert nodes == {
        'robot:arm-1': 3,
        'object:cup': 2,
        'parameter:grip_force': 2,
        'task:pick': 2,
        'object:plate': 1,
        'tag:grasp': 1,
    }
    assert len(results['edges']) == 6
    assert {tuple(edge['record_ids']) for edge in results['edges']} == {('mem_1', 'mem_2')}


def test_a_graph_of_odd_contexts_and_of_none() -> None:
    odd: dict[str, Any] = {'object': [[['x']], 3, {'id': 4}], 'params': [1], 'robot': None}
    results = graph.analyse(window(record(1, context=odd), record(2))).results
    assert (results['nodes'], results['edges']) == ([], [])
    assert results['cannot_say'] == ['No record names an object, parameter, robot, task or tag.']


def test_a_record_of_many_nodes_is_cut_and_counted() -> None:
    wide = {'params': {f'p{n:03}': n for n in range(100)}}
    results = graph.analyse(window(record(1, context=wide), record(2, context=wide))).results
    assert results['records_with_more_nodes_than_taken'] == 2
    assert len(results['nodes']) == 20


# Mood and outcome


@pytest.mark.parametrize(
    ('text', 'score'),
    [
        ('Thank you, that was great!', 1.0),
        ('This is not good', -1.0),
        ("That's not bad", 1.0),
        ("I don't like the noise", -1.0),
        ('It looks like a cup', None),
        ('Not now. Good work!', 1.0),
        ('nice but slow', 0.0),
        ('谢谢，做得很好', 1.0),
        ('我不喜欢这个', -1.0),
        ('不错', 1.0),
        ('这不是很好', -1.0),
        ('太慢了', -1.0),
        ('杯子在桌上', None),
        ('The grasp succeeded', None),
        ('The grasp failed', None),
    ],
)
def test_the_mood_of_a_text(text: str, score: float | None) -> None:
    assert sentiment.score_sentiment(text).score == score


def test_success_is_an_outcome_and_no_mood() -> None:
    task = {'task': {'name': 'pick', 'success': True}}
    records = [turn(1, 'The task succeeded.'), record(2, context=task, session_id='s')]
    results = sentiment.analyse(window(*records)).results
    assert results['sentiment']['user']['positive'] == 0
    assert results['outcome']['tasks'][0]['succeeded'] == 1


def test_an_outcome_that_a_session_hands_on_counts_once() -> None:
    failed = {'task': {'name': 'pick', 'success': False}}
    records = [
        record(n, context=failed, session_id=session)
        for n, session in enumerate(['a', 'a', 'a', 'b', None, None], 1)
    ]
    analysis = sentiment.analyse(window(*records))
    (task,) = analysis.results['outcome']['tasks']
    assert (task['count'], task['failures']) == (4, ['mem_3', 'mem_4', 'mem_5', 'mem_6'])
    assert 'it failed 4 of 4 times (mem_3, mem_4' in analysis.recommendations[0]


def test_the_trend_of_outcomes_takes_ten_of_them() -> None:
    sessions = [
        Session(f's{n}', 'default', {}, 'ended', n, outcome_score=0.2 if n < 5 else 0.9)
        for n in range(10)
    ]
    scores = sentiment.analyse(window(sessions=sessions)).results['outcome']['sessions']
    assert (scores['over_time']['trend'], scores['over_time']['later']) == ('rising', 0.9)
    few = sentiment.analyse(window(sessions=sessions[:9])).results['outcome']['sessions']
    assert few['over_time'] == {'trend': 'unknown', 'of': 9}


# All of them


def crowd(seed: int, count: int) -> Window:
    """Return records of all kinds, made by chance."""
    chance = random.Random(seed)
    words = 'cup door good bad why how grip tray 杯子 不 喜欢 ? 为什么 not slips'.split()
    records = []
    for number in range(1, count + 1):
        text = ' '.join(chance.choices(words, k=chance.randint(1, 8)))
        at = MIDNIGHT + chance.randrange(20 * DAY)
        context = {
            'object': chance.choice(['cup', 'door', '']),
            'task': {'name': chance.choice('ab'), 'success': chance.choice([True, False, None])},
            'env': {'sim_or_real': chance.choice(['sim', 'real', 'odd'])},
        }
        kind = chance.choice(['fact', 'perception', 'turn'])
        made = record(
            number,
            text,
            type=kind,
            created_at=at,
            context=context,
            category=chance.choice(['gotcha', 'postmortem', 'observation']),
            session_id=chance.choice('xyz'),
        )
        if kind == 'turn':
            made = replace(made, role=chance.choice(['user', 'assistant']), turn_id=number)
        records.append(made)
    sessions = [Session(name, 'default', {}, 'ended', 0, outcome_score=0.5) for name in 'xyz']
    return window(*records, sessions=sessions)


@pytest.mark.parametrize('name', ANALYSES)
@pytest.mark.parametrize('count', [0, 1, 2, 9, 200])
def test_each_claim_names_records_of_the_window(name: str, count: int) -> None:
    for seed in range(5):
        given = crowd(seed, count)
        analysis = ANALYSES[name][0](given)
        known = {f'mem_{one.id}' for one in given.records}
        for claim in claims(analysis):
            named = re.findall(r'mem_\d+', claim)
            assert named, claim
            assert known.issuperset(named)
        if count == 0:
            assert analysis.results['cannot_say']
        json.dumps(analysis.results, allow_nan=False)


@pytest.mark.parametrize('name', ANALYSES)
def test_the_same_records_give_the_same_analysis(name: str) -> None:
    assert ANALYSES[name][0](crowd(3, 150)) == ANALYSES[name][0](crowd(3, 150))


# The tool


@pytest.mark.parametrize('name', ['topic_clustering', 'Sentiment_Analysis', 'KNOWLEDGE_GRAPH'])
def test_the_analysis_is_named_in_any_case(robot: Robot, name: str) -> None:
    answer = to_plain(robot.analyze(name))
    assert set(answer) == {
        'analysis_type',
        'timestamp',
        'results',
        'insights',
        'recommendations',
    }
    assert answer['analysis_type'] == name.upper()


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'analysis_type': 'MOOD'}, "SENTIMENT_ANALYSIS, not 'MOOD'"),
        ({'start': 'yesterday'}, "start must be an ISO 8601 date or time, .* not 'yesterday'"),
        ({'end': '2026-13-01'}, 'end must be an ISO 8601 date'),
        ({'start': '2026-03-02', 'end': '2026-03-01'}, 'before its start'),
        ({'start': '2026-03-02', 'days': 3}, 'pass only one'),
        ({'days': -1}, 'days must be'),
        ({'limit': 0}, 'limit must be'),
    ],
)
def test_a_wrong_window_is_refused(robot: Robot, arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        robot.analyze(**{'analysis_type': 'TEMPORAL_PATTERNS', **arguments})


def test_an_unknown_session_is_not_found(robot: Robot) -> None:
    with pytest.raises(NotFound):
        robot.analyze('INTERACTION_FLOW', session_id='unknown')


TODAY, BEFORE = (format_instant(START + days * DAY)[:10] for days in (3, 0))


@pytest.mark.parametrize(
    ('window', 'count'),
    [
        ({}, 2),
        ({'days': 2}, 1),
        ({'start': TODAY}, 1),
        ({'end': BEFORE}, 1),
        ({'start': BEFORE, 'end': BEFORE}, 1),
        ({'end': TODAY, 'days': 10}, 2),
        ({'collection': 'lab'}, 1),
        ({'session_id': 'of none'}, 0),
    ],
    ids=str,
)
def test_the_window_holds_what_was_kept_in_it(
    robot: Robot, clock: MovableClock, window: dict[str, Any], count: int
) -> None:
    robot.learn('the cup is red')
    clock.forward(days=3)
    robot.learn('the door is blue', collection='lab')
    robot.forget(require(robot.learn('the tray is wrong').memory_id), 'wrong')
    if 'session_id' in window:
        window = {'session_id': robot.start_session().session_id}
    answer = robot.analyze('TEMPORAL_PATTERNS', **window)
    assert answer.results['window']['records_read'] == count


def test_what_the_limit_leaves_out_is_said(robot: Robot) -> None:
    fill(robot, 7)
    told = robot.analyze('TEMPORAL_PATTERNS', limit=3).results['window']
    assert (told['records_read'], told['records_in_window'], told['left_out']) == (3, 7, 4)


def test_turns_are_read_however_many_perceptions_came_after_them(robot: Robot) -> None:
    robot.save_conversation('Thank you, that was great!', 'Gladly.')
    for number in range(5):
        robot.save_perception(f'the tray is seen {number}')
    answer = robot.analyze('SENTIMENT_ANALYSIS', limit=2)
    assert answer.results['sentiment']['user']['positive'] == 1
    assert 'mem_1' in answer.insights[0]


def test_topics_are_by_meaning_where_there_is_a_model(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, Any]
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8])
    for number in range(3):
        robot.learn(f'the red cup slips {number}')
        robot.learn(f'charge the dock {number}')
    robot.embed_all()
    found = robot.analyze('TOPIC_CLUSTERING').results['topics']
    assert {topic['found_by'] for topic in found} == {'meaning'}
    assert sum(topic['count'] for topic in found) == 6


def test_one_exchange_is_one_occasion_however_many_records_it_left(robot: Robot) -> None:
    said = {'task': {'name': 'pick'}, 'object': 'cup'}
    robot.save_conversation('I prefer the soft gripper for it', 'Noted', metadata=said)
    assert robot.analyze('KNOWLEDGE_GRAPH').results['edges'] == []
    robot.save_conversation('I prefer the hard gripper for it', 'Noted', metadata=said)
    edges = robot.analyze('KNOWLEDGE_GRAPH').results['edges']
    assert {(edge['from'], edge['to'], edge['count']) for edge in edges} >= {
        ('object:cup', 'task:pick', 2)
    }

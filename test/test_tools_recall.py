"""Recalling: restrictions first, then words, meaning and place."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import START, MovableClock, Robot

from robot_memory.core.clock import DAY
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import to_plain
from robot_memory.embedding import BackgroundEmbedder


def at(x: float, y: float = 0.0, z: float = 0.0) -> dict[str, Any]:
    return {'spatial': {'object_position': [x, y, z]}}


def near(*target: float, **more: Any) -> dict[str, Any]:
    return {'field': 'spatial.object_position', 'target': list(target), **more}


def test_total_is_what_is_returned_and_query_records_counts_all(robot: Robot) -> None:
    for number in range(4):
        robot.learn(f'cup {number} is on shelf {number}', context={'task': {'success': True}})
    passing = {'task.success': True}
    assert robot.recall('cup', n=3).total == 3
    assert robot.recall(context_filter=passing, n=3).total == 3
    assert robot.recall('cup', n=3, format='brief').total == 3
    assert robot.query_records(where=passing, limit=3).total_count == 4


def test_a_recalled_memory_has_the_documented_fields(robot: Robot) -> None:
    context = {
        'params': {'grip_force': {'value': 12.5}},
        'spatial': {'object_position': [1.3, 0.7, 0.42]},
        'robot': {'type': 'UR5e'},
        'task': {'success': True},
    }
    session = robot.start_session().session_id
    kept = robot.learn('grip_force=12.5N for cylinders', context=context, session_id=session)
    answer = to_plain(robot.recall('cylinders'))
    assert (answer['total'], answer['mode']) == (1, 'bm25_only')
    assert 0 < answer['query_ms'] < 10_000
    (found,) = answer['memories']
    assert found['id'] == kept.memory_id
    assert found['content'] == found['human_summary'] == 'grip_force=12.5N for cylinders'
    assert (found['type'], found['perception_type']) == ('fact', None)
    assert (found['session_id'], found['category']) == (
        session,
        require(kept.auto_inferred).category,
    )
    assert found['confidence'] == require(kept.auto_inferred).confidence
    assert {name: found[name] for name in context} == context
    assert 0 < found['_rrf_score'] <= 1.5
    assert found['created_at'] == '2026-02-25T06:13:20.000000Z'


def test_the_memory_that_holds_more_of_the_words_comes_first(robot: Robot) -> None:
    robot.learn('the red tray is wet')
    robot.learn('the red cup is on the kitchen table')
    robot.learn('the gripper jams')
    assert robot.contents(query='red cup on the table')[0].startswith('the red cup')


def test_the_mode_says_what_ran(robot: Robot, thinking_robot: Robot) -> None:
    robot.learn('the red cup is on the table')
    assert robot.recall('cup').mode == 'bm25_only'
    assert robot.recall('', context_filter={'task.success': None}).mode == 'filter'
    thinking_robot.embed_all()
    assert thinking_robot.recall('cup').mode == 'hybrid'
    assert thinking_robot.recall('mug').mode == 'vec_only'


def test_meaning_finds_what_no_word_of_the_question_names(thinking_robot: Robot) -> None:
    for text in (
        'Grandma takes her pills at eight in the morning',
        'The elevator is out of order on Sundays',
        'The camera lens has a scratch',
    ):
        thinking_robot.learn(text)
    assert 'pills' in thinking_robot.contents(query='when does she need medication?')[0]


def test_recall_before_the_model_is_loaded_is_by_words_and_says_so(
    open_robot: Callable[..., Robot], tiny_models: dict[int, Any]
) -> None:
    robot = open_robot(embedder=BackgroundEmbedder(str(tiny_models[8])))
    assert robot.learn('the red cup is on the table').status == 'created'
    assert robot.recall('cup').mode in ('bm25_only', 'hybrid')
    robot.embed_all()
    assert robot.recall('cup').mode == 'hybrid'


def test_all_three_empty_is_refused_and_each_alone_answers(robot: Robot) -> None:
    robot.learn('the red cup', context={'a': 1, **at(1)})
    for nothing in ({}, {'query': ' '}, {'query': '', 'context_filter': {}, 'spatial_sort': ''}):
        with pytest.raises(InvalidArgument, match='all empty'):
            robot.recall(**nothing)
    assert robot.contents(query='cup') == ['the red cup']
    assert robot.contents(context_filter={'a': 1}) == ['the red cup']
    assert robot.contents(spatial_sort=near(0, 0, 0)) == ['the red cup']


@pytest.mark.parametrize(
    'arguments',
    [
        {'n': 0},
        {'n': 101},
        {'n': -1},
        {'min_confidence': 1.01},
        {'min_confidence': float('nan')},
        {'context_filter': {f'a{i}': i for i in range(11)}},
        {'context_filter': {'a': {'$near': 1}}},
        {'context_filter': '[]'},
        {'context_filter': {'a..b': 1}},
        {'context_filter': '{"a": NaN}'},
        {'spatial_sort': {}, 'query': ''},
        {'spatial_sort': {'target': [1]}},
        {'spatial_sort': near()},
        {'spatial_sort': near(float('nan'), 0, 0)},
        {'spatial_sort': near(float('inf'), 0, 0)},
        {'spatial_sort': near(10**400, 0, 0)},
        {'spatial_sort': near(1, 2)},
        {'spatial_sort': near(*[0.0] * 17)},
        {'spatial_sort': near(1, 2, 3, max_distance=-1)},
        {'spatial_sort': near(1, 2, 3, max_distance='far')},
        {'spatial_sort': near(1, 2, 3, max_distance=True)},
        {'spatial_sort': near(1, 2, 3, radius=1)},
        {'spatial_sort': {'field': 'spatial.object_position', 'target': [1, 'b', 3]}},
    ],
)
def test_what_recall_does_not_take_is_refused(robot: Robot, arguments: dict[str, Any]) -> None:
    robot.learn('the red cup', context=at(1, 2, 3))
    with pytest.raises(InvalidArgument):
        robot.recall(**{'query': 'cup', **arguments})


def test_each_restriction_holds_before_ranking(robot: Robot) -> None:
    session = robot.start_session().session_id
    for i in range(300):
        robot.save_perception(f'the red cup is seen, frame {i}')
    wanted = [
        robot.learn(f'cup trial {i}', context={'task': {'success': True}}, session_id=session)
        for i in range(4)
    ]
    ids = {answer.memory_id for answer in wanted}
    for restriction in ({'session_id': session}, {'context_filter': {'task.success': True}}):
        for n, count in ((2, 2), (4, 4), (50, 4)):
            found = robot.recall('red cup is seen', n=n, **restriction).memories
            assert len(found) == count
            assert {memory.id for memory in found} <= ids


def test_confidence_and_collection_restrict(robot: Robot) -> None:
    sure = robot.learn('the red cup needs 12.5 N, measured 20 times')
    unsure = robot.learn('the red cup is perhaps in the kitchen')
    robot.learn('the red cup', collection='lab')
    bar = require(sure.auto_inferred).confidence
    assert require(unsure.auto_inferred).confidence < bar
    assert len(robot.recall('red cup', min_confidence=0).memories) == 2
    assert [m.id for m in robot.recall('red cup', min_confidence=bar).memories] == [sure.memory_id]
    assert robot.contents(query='red cup', collection='lab') == ['the red cup']
    assert robot.contents(query='red cup', collection='nowhere') == []


def test_the_nearest_are_the_nearest(robot: Robot) -> None:
    chance = random.Random(1)
    places = {}
    for i in range(500):
        place = [chance.uniform(-5, 5) for _ in range(3)]
        places[require(robot.learn(f'object {i}', context=at(*place)).memory_id)] = place
    target = [0.5, -1.0, 2.0]

    def distance(memory_id: int) -> float:
        made: float = (
            sum((a - b) ** 2 for a, b in zip(places[memory_id], target, strict=True)) ** 0.5
        )
        return made

    expected = sorted(places, key=distance)
    found = robot.recall(spatial_sort=near(*target), n=10).memories
    assert [memory.id for memory in found] == expected[:10]
    assert [memory.distance for memory in found] == pytest.approx(
        [distance(require(memory_id)) for memory_id in expected[:10]]
    )
    within = [i for i in expected if distance(require(i)) <= 1.5]
    found = robot.recall(spatial_sort=near(*target, max_distance=1.5), n=100).memories
    assert [memory.id for memory in found] == within[:100]


def test_with_words_and_a_place_the_words_come_first_each_group_by_distance(robot: Robot) -> None:
    for name, x in (('cup far', 9), ('cup close', 2), ('bowl close', 1), ('bowl far', 8)):
        robot.learn(name, context=at(x))
    assert robot.contents(query='cup', spatial_sort=near(0, 0, 0)) == [
        'cup close',
        'cup far',
        'bowl close',
        'bowl far',
    ]


def test_positions_that_are_none_are_passed_over(robot: Robot) -> None:
    for i, position in enumerate(
        ([10**400, 0, 0], [1e300, 0, 0], [True, 0, 0], ['1', 0, 0], [], {}, 'here', [1, None, 2])
    ):
        robot.learn(f'odd place {i}', context={'spatial': {'object_position': position}})
    robot.learn('a good place', context=at(1))
    assert robot.contents(spatial_sort=near(0, 0, 0)) == ['a good place', 'odd place 1']
    assert robot.contents(spatial_sort=near(-1e308, 0, 0))[0] == 'a good place'


def test_a_target_of_another_length_is_refused_but_not_where_lengths_are_mixed(
    robot: Robot,
) -> None:
    robot.learn('in space', context=at(1, 2, 3))
    with pytest.raises(InvalidArgument, match=r'2 numbers.*have 3'):
        robot.recall(spatial_sort=near(1, 2))
    robot.learn('in the plane', context={'spatial': {'object_position': [1, 2]}})
    assert robot.contents(spatial_sort=near(1, 2)) == ['in the plane']


def test_the_real_world_counts_more_by_a_parameter(open_robot: Callable[..., Robot]) -> None:
    for weight, first in ((None, 'real'), (1.0, 'sim'), (0.5, 'sim')):
        settings = {} if weight is None else {'real_weight': weight}
        robot = open_robot(name=f'weight-{weight}', **settings)
        robot.learn('cup trial one', context={'env': {'sim_or_real': 'real'}, 'id': 'real'})
        robot.learn('cup trial two', context={'env': {'sim_or_real': 'sim'}, 'id': 'sim'})
        robot.learn('something else')
        found = robot.recall('cup trial').memories
        assert f'"id":"{first}"' in found[0].context
        if weight is None:
            assert found[0]._rrf_score == pytest.approx(1.5 * found[1]._rrf_score, rel=1e-4)


def test_a_recall_notes_the_access_without_waiting_for_the_write(
    robot: Robot, clock: MovableClock
) -> None:
    kept = robot.learn('the red cup').memory_id
    clock.forward(days=3)
    with robot.memory.db.write():
        assert robot.recall('cup').total == 1
        assert robot.recall('cup').total == 1
    row = robot.row(require(kept))
    assert (row['access_count'], row['last_accessed']) == (2, clock.now)


@pytest.mark.parametrize(
    ('kept', 'asked'),
    [
        ('抽屉受潮后会卡住', '抽屉'),
        ('抓取红色杯子需要更大的力', '红色的杯子'),
        ('Der Türgriff ist lose', 'türgriff'),
        ('Der Türgriff ist lose', 'Turgriff'),
        ('Красная чашка скользит', 'чашка'),
        ('カップが滑りやすい', 'カップ'),
        ('빨간 컵이 미끄럽다', '컵'),
        ('the cups are slipping', 'cup slipped'),
        ('force=12.5N', '12.5'),
        ('ประตูเปิด', 'ประตู'),
    ],
)
def test_words_of_any_script_find_their_memory(robot: Robot, kept: str, asked: str) -> None:
    robot.learn('the camera lens has a scratch')
    robot.learn(kept)
    assert robot.contents(query=asked) == [kept]


@pytest.mark.parametrize(
    'query',
    ['"', "'", '" OR "', 'a AND', 'NOT', 'NEAR(', '*', 'cup*', '-cup', 'content:cup', '()', '^'],
)
def test_no_query_is_a_syntax_error(robot: Robot, query: str) -> None:
    robot.learn('the red cup')
    robot.recall(query)
    robot.recall(query, spatial_sort=near(1, 2, 3))


def test_a_summary_is_short_and_the_content_whole(robot: Robot) -> None:
    text = 'the red cup ' * 20
    robot.learn(text)
    (found,) = robot.recall('cup').memories
    assert found.content == text.strip()
    assert len(found.human_summary) <= 80
    assert found.human_summary.endswith('...')


def test_forgotten_memories_are_not_recalled(robot: Robot) -> None:
    kept = robot.learn('the red cup', context=at(1)).memory_id
    robot.forget(require(kept), 'wrong')
    assert robot.contents(query='cup') == []
    assert robot.contents(context_filter={'spatial.object_position': {'$ne': 3}}) == []
    assert robot.contents(spatial_sort=near(1, 0, 0)) == []


def test_what_has_decayed_out_of_an_answer_is_counted(robot: Robot, clock: MovableClock) -> None:
    robot.learn('the red cup is wet')
    clock.forward(days=300)
    robot.end_session(robot.start_session().session_id)
    robot.learn('the blue cup is dry')
    answer = robot.recall('cup')
    assert [memory.content for memory in answer.memories] == ['the blue cup is dry']
    assert answer.faded == 1
    assert robot.recall('cup', min_confidence=0).faded == 0
    assert robot.recall('cup', n=1).faded == 0  # the blue one alone would be in it


def test_what_has_decayed_is_counted_within_the_restrictions_of_a_recall(
    robot: Robot, clock: MovableClock
) -> None:
    robot.learn('the red cup is wet', context={'task': {'name': 'wash'}})
    clock.forward(days=300)
    robot.end_session(robot.start_session().session_id)
    assert robot.recall('cup', context_filter={'task.name': 'wash'}).faded == 1
    assert robot.recall('cup', context_filter={'task.name': 'dry'}).faded == 0
    assert robot.recall('', context_filter={'task.name': 'wash'}).faded == 1


def test_a_time_that_no_trusted_clock_tells_is_marked(robot: Robot, clock: MovableClock) -> None:
    before = robot.learn('the red cup is wet').memory_id
    clock.reboot()
    clock.now = 1_000_000
    doubtful = robot.learn('the blue cup is dry').memory_id
    clock.reboot()
    clock.now = START + 10 * DAY
    after = robot.learn('the green cup is lost').memory_id
    records = robot.query_records().records
    assert [record.memory_id for record in records] == [after, doubtful, before]
    assert [record.time_uncertain for record in records] == [None, True, None]
    marked = {memory.id for memory in robot.recall('cup').memories if memory.time_uncertain}
    assert marked == {doubtful}

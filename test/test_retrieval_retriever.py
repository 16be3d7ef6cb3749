"""One retriever answers every plan, and writes nothing."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

import pytest
from robots import Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Found, Retriever, join_found
from robot_memory.retrieval.views import describe_results, view_memories, view_memory
from robot_memory.storage.indexes.filters import compile_filter

UTC = ZoneInfo('UTC')
RULES = compile_filter('rules', {'category': 'constraint'})


def plan(**fields: Any) -> RecallPlan:
    return RecallPlan.of(**{'collection': 'default', 'limit': 5, **fields})


def find(robot: Robot, **fields: Any) -> Found:
    return Retriever(robot.memory).find(plan(**fields))


def contents(found: Found) -> list[str]:
    return [found.records[hit.id].content for hit in found.hits]


@pytest.fixture
def cups(robot: Robot) -> Robot:
    robot.learn('The red cup is on the rack', context={'task': {'success': True}})
    robot.learn('The door of the lab jams', context={'task': {'success': True}})
    robot.learn('The red tray is heavy', context={'spatial': {'position': [2, 0, 0]}})
    robot.learn('The blue tray is light', context={'spatial': {'position': [1, 0, 0]}})
    return robot


def test_the_words_of_a_query_rank(cups: Robot) -> None:
    found = find(cups, query='red cup')
    assert contents(found) == ['The red cup is on the rack', 'The red tray is heavy']
    assert found.mode == 'bm25_only'
    assert found.hits[0].score > found.hits[1].score > 0
    assert found.query_ms > 0
    assert found.frames is None


def test_what_passes_but_does_not_match_fills_a_narrow_answer_where_it_is_asked_for(
    cups: Robot,
) -> None:
    asked: dict[str, Any] = {'query': 'red cup', 'context_filter': {'task.success': True}}
    assert contents(find(cups, **asked)) == ['The red cup is on the rack']
    filled = find(cups, **asked, fills=True)
    assert contents(filled) == ['The red cup is on the rack', 'The door of the lab jams']
    assert filled.hits[1].score == 0


def test_without_a_query_the_newest_that_pass_answer(cups: Robot) -> None:
    found = find(cups, context_filter={'task.success': True}, limit=1)
    assert contents(found) == ['The door of the lab jams']
    assert found.mode == 'filter'


def test_with_a_place_the_distance_ranks(cups: Robot) -> None:
    place = {'field': 'spatial.position', 'target': [0, 0, 0]}
    found = find(cups, spatial_sort=place)
    assert contents(found) == ['The blue tray is light', 'The red tray is heavy']
    assert [hit.distance for hit in found.hits] == [1, 2]
    with_words = find(cups, query='red', spatial_sort=place, limit=1)
    assert contents(with_words) == ['The red tray is heavy']


def test_only_the_length_of_stored_positions_is_refused_below_the_plan(cups: Robot) -> None:
    with pytest.raises(InvalidArgument, match='target has 2 numbers, but the positions .* have 3'):
        find(cups, spatial_sort={'field': 'spatial.position', 'target': [0, 0]})


def test_what_scores_less_than_the_least_is_left_out(cups: Robot) -> None:
    best, second = find(cups, query='red cup').hits
    assert find(cups, query='red cup', least=best.score).hits == (best,)
    assert find(cups, query='red cup', least=best.score + 1e-6).hits == ()
    assert find(cups, query='red cup', least=second.score).hits == (best, second)


def test_a_retriever_notes_no_access(cups: Robot) -> None:
    find(cups, query='red cup', marks_newer=True, has_payloads=True)
    cups.memory.accesses.flush()
    assert cups.rows('SELECT max(access_count) FROM memories') == [(0,)]


def test_two_plans_join_the_first_before_the_rest_with_a_place_left_for_it(robot: Robot) -> None:
    for number in range(3):
        robot.learn(f'Never lift the cup above {number + 1} m')
    robot.learn('The cup is red')
    everything = plan(query='cup', limit=3)
    first, rest = Retriever(robot.memory).find_each(
        [plan(query='cup', limit=3, where=RULES, narrow=True), everything]
    )
    joined = contents(join_found(first, rest, everything))
    assert len(joined) == 3
    assert joined[-1] == 'The cup is red'
    assert all(text.startswith('Never') for text in joined[:-1])


def test_views_are_made_of_what_was_found(cups: Robot) -> None:
    found = find(cups, query='red cup')
    views = view_memories(found, UTC)
    assert [view.id for view in views] == found.ids
    assert [view._rrf_score for view in views] == [round(hit.score, 6) for hit in found.hits]
    record = found.records[found.ids[0]]
    assert view_memory(record, UTC).content == record.content == views[0].content
    described = describe_results(found, UTC)
    assert [one['metadata']['memory_id'] for one in described] == found.ids
    assert {one['metadata']['score_kind'] for one in described} == {'words'}


def test_what_the_limit_cuts_off_is_no_record_either(robot: Robot) -> None:
    robot.learn('The pallet jack is in bay 4')
    robot.learn('The pallet jack was moved to bay 7')
    found = find(robot, query='The pallet jack is in bay 4', limit=1)
    assert len(found.hits) == 1
    assert set(found.records) == {hit.id for hit in found.hits}

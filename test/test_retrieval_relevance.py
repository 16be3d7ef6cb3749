"""Facts and turns share an answer: turns hide no fact, and change no score of one."""

from __future__ import annotations

from robots import Robot

from robot_memory.retrieval.plan import TURN_WEIGHT
from robot_memory.retrieval.relevance import join_turns
from robot_memory.search.query import Hit


def test_many_turns_do_not_hide_a_fact(thinking_robot: Robot) -> None:
    robot = thinking_robot
    fact = robot.learn('The red cup breaks above 15 N').memory_id
    for number in range(60):
        robot.save_conversation(f'Take the red cup number {number}', 'The red cup it is')
    found = robot.recall('red cup', n=5).memories
    assert found[0].id == fact
    assert {item.type for item in found[1:]} == {'turn'}


def test_turns_take_half_of_the_places_while_there_are_good_facts() -> None:
    facts = [Hit(n, 0.5 - n / 100) for n in range(1, 6)]
    said = [Hit(100 + n, 0.9 - n / 100) for n in range(10)]
    assert [hit.id for hit in join_turns(facts, said, 4)] == [100, 101, 1, 2]
    poor = [Hit(1, 0.1)]
    assert [hit.id for hit in join_turns(poor, said, 4)] == [100, 101, 102, 103]
    assert [hit.id for hit in join_turns([], said, 3)] == [100, 101, 102]
    assert 0 < TURN_WEIGHT < 1


def test_what_turns_say_does_not_change_the_score_of_a_fact(robot: Robot) -> None:
    robot.learn('The red cup breaks above 15 N')
    before = robot.recall('red cup').memories[0]._rrf_score
    for _ in range(20):
        robot.save_conversation('red cup red cup', 'red cup')
    assert (
        robot.recall('red cup', context_filter={'type': 'fact'}).memories[0]._rrf_score == before
    )


def test_restrictions_hold_for_turns_too(robot: Robot) -> None:
    here = robot.save_conversation('the cup is wet', 'a cup', actor_id='operator:anna')
    robot.end_session(here.session_id)
    robot.save_conversation('the cup is dry', 'b cup', actor_id='operator:ben')
    assert robot.contents(query='cup', session_id=here.session_id) == ['a cup', 'the cup is wet']
    only = {'actor_id': 'operator:ben'}
    assert robot.contents(query='cup', context_filter=only) == ['the cup is dry']
    assert robot.contents(query='cup', collection='lab') == []

"""Why recall found what it found: the parts of a score make the score."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import MovableClock, Robot, fill, sentence

from robot_memory.core.errors import InvalidArgument
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.tools.explain_recall import ExplainedMemory

WITHIN = 1e-6
REAL = {'env': {'sim_or_real': 'real'}}


def add_up(one: ExplainedMemory) -> float:
    return one.words + sum(share.share for share in one.models) + one.around


def talk(robot: Robot, chance: random.Random) -> None:
    """Say some of everything in two sessions, in both languages, partly by people with names."""
    for session in [robot.start_session().session_id for _ in range(2)]:
        for number in range(12):
            robot.save_conversation(
                f'{sentence(chance)} {number}', f'好的，{number} 号', session_id=session
            )
    for number, text in enumerate(('红色杯子在上层柜子里', '夹爪打滑', '最大速度0.25米每秒')):
        robot.learn(f'{text} {number}', context={'actor_id': 'person:li', **REAL})


def explain_many(robot: Robot, count: int) -> int:
    """Compare so many answers with recall's; return how many memories they held."""
    chance = random.Random(11)
    held = 0
    for number in range(count):
        query = chance.choice(
            [sentence(chance, 3), sentence(chance, 7), '红色杯子在哪里', 'what did Li say of cups']
        )
        more: dict[str, Any] = chance.choice(
            [{}, {'n': 20}, {'read': 'off'}, {'context_filter': {'env.sim_or_real': 'real'}}]
        )
        told = robot.explain_recall(query, **more)
        found = robot.recall(query, **more)
        assert [one.memory_id for one in told.memories] == [one.id for one in found.memories]
        assert told.mode == found.mode
        assert told.models == found.models
        for one, other in zip(told.memories, found.memories, strict=True):
            assert one.score == pytest.approx(other._rrf_score, abs=WITHIN)
            if one.placed_by == 'score':
                assert add_up(one) == pytest.approx(one.score, abs=WITHIN), (number, query)
                assert len(one.models) == len(told.models)
                held += 1
    return held


@pytest.mark.parametrize('resident', [True, False])
def test_parts_make_the_score_by_words_alone(
    open_robot: Callable[..., Robot], resident: bool
) -> None:
    robot = open_robot(resident=resident)
    fill(robot, 60)
    talk(robot, random.Random(5))
    assert explain_many(robot, 60) > 150


@pytest.mark.parametrize('resident', [True, False])
def test_parts_make_the_score_by_words_and_two_models(
    open_robot: Callable[..., Robot],
    tiny_embedders: dict[int, BackgroundEmbedder],
    english_embedder: BackgroundEmbedder,
    resident: bool,
) -> None:
    robot = open_robot(embedder=tiny_embedders[16], second=english_embedder, resident=resident)
    fill(robot, 60)
    talk(robot, random.Random(5))
    robot.embed_all()
    assert explain_many(robot, 60) > 150
    assert len(robot.explain_recall('the red cup on the table').models) == 2


def test_terms_of_the_query_that_are_held_are_named(robot: Robot) -> None:
    robot.learn('The blue cup is in the upper cupboard')
    (one,) = robot.explain_recall('which cupboard has the blue mug').memories
    assert set(one.matched) == {'cupboard', 'blue'}
    assert 0 < one.coverage < 1
    assert one.words == pytest.approx(one.score)
    assert not one.models


def test_what_has_faded_is_named(robot: Robot, clock: MovableClock) -> None:
    kept = require(robot.learn('The blue cup is in the upper cupboard').memory_id)
    clock.forward(days=300)
    robot.end_session(robot.start_session().session_id)
    told = robot.explain_recall('blue cup')
    assert told.memories == ()
    assert [one.memory_id for one in told.faded] == [kept]
    assert told.faded[0].confidence < 0.3


def test_what_replaces_what_is_named(thinking_robot: Robot) -> None:
    robot = thinking_robot
    old = require(robot.learn('The screwdriver is kept in drawer 3 of the bench').memory_id)
    moved = 'The screwdriver was moved to the tool wall, no longer in drawer 3 of the bench'
    new = require(robot.learn(moved).memory_id)
    told = {
        one.memory_id: one for one in robot.explain_recall('where is the screwdriver?').memories
    }
    assert list(told) == [new, old]
    assert told[old].replaced_by == new
    assert told[new].replaces == old


def test_looking_at_why_is_no_access(robot: Robot) -> None:
    kept = require(robot.learn('The blue cup is in the upper cupboard').memory_id)
    robot.explain_recall('blue cup')
    assert robot.row(kept)['access_count'] == 0
    robot.recall('blue cup')
    assert robot.row(kept)['access_count'] == 1


def test_an_empty_answer_says_why(robot: Robot) -> None:
    robot.learn('The blue cup is in the upper cupboard')
    assert 'matches' in str(robot.explain_recall('zebra').why_empty).replace('match ', 'matches')


def test_what_recall_refuses_is_refused_alike(robot: Robot) -> None:
    arguments: dict[str, Any] = {'query': 'cup', 'context_filter': {'a': {'$like': 1}}}
    with pytest.raises(InvalidArgument) as recalled:
        robot.recall(**arguments)
    with pytest.raises(InvalidArgument) as explained:
        robot.explain_recall(**arguments)
    assert str(explained.value) == str(recalled.value)

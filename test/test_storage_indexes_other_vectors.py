"""Vectors of a second model: of which memories, kept while it is absent, made when it is back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import Robot, check_file, fill

from robot_memory.embedding import BackgroundEmbedder

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]


def count_others(robot: Robot) -> list[Any]:
    return robot.rows('SELECT count(coarse), count(*) - count(coarse) FROM other_vectors')


@pytest.fixture
def pair(
    open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> Robot:
    """A store with two models, of which the second knows English only."""
    robot = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    robot.embed_all()
    return robot


def test_the_second_model_is_asked_where_question_and_memory_are_in_its_language(
    pair: Robot, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> None:
    english = pair.learn('the red cup is on the left shelf').memory_id
    pair.learn('红色的杯子在桌子上')
    pair.learn('die rote Tasse ist auf dem Tisch')
    assert pair.rows('SELECT memory_id FROM other_vectors') == [(english,)]
    names = tuple(require(e.get_if_loaded()).name for e in (tiny_embedders[8], english_embedder))
    assert pair.recall('where is the red cup').models == names
    assert pair.recall('红色的杯子在哪里').models == names[:1]
    check_file(pair.memory.db.path)


def test_the_past_of_a_store_with_two_models_is_answered_by_keyword(pair: Robot) -> None:
    known = require(pair.learn('the red cup is on the left shelf').memory_id)
    pair.update(known, 'the red cup is on the right shelf')
    (found,) = pair.recall('red cup', as_of='#1').memories
    assert found.content == 'the red cup is on the left shelf'


def test_both_models_make_the_score_of_an_english_memory(
    pair: Robot, open_robot: Open, tiny_embedders: Embedders
) -> None:
    pair.learn('the red cup is on the left shelf')
    pair.learn('红色的杯子在桌子上')
    alone = open_robot(embedder=tiny_embedders[8], resident=False)
    scores = [
        {m.content: m._rrf_score for m in robot.recall('red door').memories}
        for robot in (pair, alone)
    ]
    assert scores[0].keys() == scores[1].keys()
    assert scores[0]['红色的杯子在桌子上'] == scores[1]['红色的杯子在桌子上']
    english = 'the red cup is on the left shelf'
    assert scores[0][english] != scores[1][english]


def test_what_an_absent_model_made_is_kept_and_the_rest_is_made_by_maintain(
    pair: Robot,
    open_robot: Open,
    tiny_embedders: Embedders,
    english_embedder: BackgroundEmbedder,
) -> None:
    kept = fill(pair, 20)
    assert count_others(pair) == [(20, 0)]
    alone = open_robot(embedder=tiny_embedders[8], resident=False)
    assert len(alone.recall('red cup').models) == 1
    alone.learn('the gripper jams in the dark')
    alone.update(kept[0], 'the door squeaks')
    alone.forget(kept[1], 'wrong')
    assert count_others(alone) == [(18, 2)]
    back = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    steps = {step.name: step for step in back.maintain().steps}
    assert steps['vectors'].done and steps['vectors'].detail == '2 vectors computed'
    assert count_others(back) == [(20, 0)]
    assert len(back.recall('red cup').models) == 2
    check_file(back.memory.db.path)


def test_memories_from_before_the_second_model_get_its_vectors(
    open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> None:
    alone = open_robot(embedder=tiny_embedders[8], resident=False)
    alone.embed_all()
    fill(alone, 20)
    alone.learn('红色的杯子在桌子上')
    pair = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    assert len(pair.recall('red cup').models) == 1
    pair.embed_all()
    assert count_others(pair) == [(20, 0)]
    assert len(pair.recall('red cup').models) == 2


def test_the_vectors_of_a_first_model_outlast_another_one(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    small = open_robot(embedder=tiny_embedders[8], resident=False)
    small.embed_all()
    fill(small, 20)
    before = small.rows('SELECT memory_id, coarse, fine FROM indexed')
    large = open_robot(embedder=tiny_embedders[16], resident=False)
    large.embed_all()
    large.learn('the gripper jams in the dark')
    assert {len(row[0]) for row in large.rows('SELECT coarse FROM indexed')} == {16}
    again = open_robot(embedder=tiny_embedders[8], resident=False)
    done = list(again.memory.reindexer.run())
    assert done == [(1, 0)]
    assert again.rows('SELECT memory_id, coarse, fine FROM indexed')[:-1] == before
    check_file(again.memory.db.path)


def test_a_second_model_that_fails_leaves_the_first(
    pair: Robot, english_embedder: BackgroundEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Any) -> Any:
        raise RuntimeError('the model is gone')

    pair.learn('the red cup is on the left shelf')
    second = require(english_embedder.get_if_loaded())
    monkeypatch.setattr(second, 'embed_query', fail)
    monkeypatch.setattr(second, 'embed_passages', fail)
    found = pair.recall('red cup')
    assert (found.mode, len(found.models)) == ('hybrid', 1)
    pair.learn('the gripper jams in the dark')
    assert count_others(pair) == [(1, 1)]

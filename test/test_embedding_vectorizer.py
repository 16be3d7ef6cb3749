"""A model that fails leaves words, and the vectors of questions are kept for a while."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import require
from robots import MovableClock, Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import Unavailable
from robot_memory.embedding import BackgroundEmbedder


class Fragile:
    """A model that fails while it is told to."""

    def __init__(self, model: Any) -> None:
        self.model, self.fails, self.calls = model, False, 0
        self.texts: list[str] = []
        self.name, self.dimension = model.name, model.dimension
        self.calibration = model.calibration

    def embed_passages(self, texts: Any) -> Any:
        self.texts += texts
        return self._made(self.model.embed_passages, texts)

    def embed_query(self, text: str) -> Any:
        return self._made(self.model.embed_query, text)

    def _made(self, make: Any, what: Any) -> Any:
        self.calls += 1
        if self.fails:
            raise RuntimeError('the model is gone')
        return make(what)


@pytest.fixture
def fragile(
    open_robot: Callable[..., Robot],
    tiny_models: dict[int, Path],
    tiny_embedders: dict[int, BackgroundEmbedder],
) -> tuple[Any, ...]:
    """A robot, and its model that can be made to fail."""
    model = Fragile(tiny_embedders[8].get_if_loaded())

    class Loader(BackgroundEmbedder):
        def _open(self, directory: Any) -> Any:
            return model

    robot = open_robot('', embedder=Loader(str(tiny_models[8])), resident=False)
    robot.embed_all()
    return robot, model


def test_a_model_that_fails_leaves_recall_and_learn_with_words(fragile: tuple[Any, ...]) -> None:
    robot, model = fragile
    robot.learn('the red cup is on the left shelf')
    assert robot.recall('red cup').mode == 'hybrid'
    model.fails = True
    learned = robot.learn('the blue plate is in the kitchen')
    assert learned.status == 'created'
    assert robot.recall('blue plate').mode == 'bm25_only'
    assert [found.content for found in robot.recall('plate').memories] == [
        'the blue plate is in the kitchen'
    ]
    assert robot.memory.registry.group_errors(lambda operation, code, _: f'{operation} {code}')


def test_a_model_that_keeps_failing_is_left_alone_for_a_minute_and_then_tried(
    fragile: tuple[Any, ...], clock: MovableClock
) -> None:
    robot, model = fragile
    robot.learn('the red cup is on the left shelf')
    model.fails = True
    while robot.memory.vectorizer.breaker.state == 'closed':
        assert model.calls < 20
        assert robot.recall(f'red cup {model.calls}').mode == 'bm25_only'
    calls = model.calls
    assert robot.sage_system_status().performance['embedder']['breaker'] == 'open'
    model.fails = False
    assert robot.recall('red cup on the shelf').mode == 'bm25_only'
    assert model.calls == calls
    clock.forward(seconds=60)
    assert robot.recall('red cup on the shelf').mode == 'hybrid'
    assert robot.memory.vectorizer.breaker.state == 'closed'


def test_what_was_stored_while_the_model_failed_gets_its_vector_later(
    fragile: tuple[Any, ...],
) -> None:
    robot, model = fragile
    model.fails = True
    memory_id = robot.learn('the green bottle is near the door').memory_id
    assert robot.rows('SELECT coarse FROM indexed WHERE memory_id = ?', memory_id) == [(None,)]
    model.fails = False
    robot.embed_all()
    ((coarse,),) = robot.rows('SELECT coarse FROM indexed WHERE memory_id = ?', memory_id)
    assert len(coarse) == model.dimension


def test_stored_texts_that_the_model_cannot_take_do_not_keep_it_from_questions(
    fragile: tuple[Any, ...],
) -> None:
    robot, model = fragile
    robot.learn('the red cup is on the left shelf')
    model.fails = True
    robot.learn('the green bottle is near the door')
    for _ in range(5):
        with pytest.raises(Unavailable, match='the model is gone'):
            robot.embed_all()
    assert robot.memory.vectorizer.background.state == 'open'
    model.fails = False
    assert robot.recall('red cup').mode == 'hybrid'
    (advice,) = [
        each['measured']
        for each in robot.sage_system_status().optimization
        if 'breaker' in each['measured']
    ]
    assert advice.endswith('circuit breaker closed, in the background open')


def test_the_vector_of_a_question_is_forgotten_after_its_time(
    open_robot: Callable[..., Robot],
    tiny_embedders: dict[int, BackgroundEmbedder],
    clock: MovableClock,
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8], cache_ttl=300)
    forever = open_robot('', name='other', embedder=tiny_embedders[8], cache_ttl=0)
    made = []
    for seconds in (0, 299, 2):
        clock.forward(seconds=seconds)
        for one in (robot, forever):
            assert one.memory.embed_query('red cup') is not None
            made.append(one.memory.registry.get_operation_timings()['embed_query'].count)
    assert made == [1, 1, 1, 1, 2, 1]


def test_no_more_than_a_thousand_questions_are_kept(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, BackgroundEmbedder]
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8])
    for number in range(1001):
        robot.memory.embed_query(f'cup {number}')
    robot.memory.embed_query('cup 1000')
    robot.memory.embed_query('cup 0')
    assert robot.memory.registry.get_operation_timings()['embed_query'].count == 1002


def test_texts_of_one_form_are_embedded_once(fragile: tuple[Any, ...]) -> None:
    robot, model = fragile
    vectorizer = robot.memory.vectorizer
    before = model.calls
    first = vectorizer.embed_form('Contact for 1.3 s on tool0: push over 5 N')
    assert vectorizer.embed_form('Contact for 12 s on tool0: push over 7.25 N') is first
    assert model.calls == before + 1
    other = vectorizer.embed_form('Contact for 1.3 s on tool1: push over 5 N')
    assert model.calls == before + 2
    assert other is not first


def test_a_form_is_asked_for_again_after_the_model_failed(fragile: tuple[Any, ...]) -> None:
    robot, model = fragile
    model.fails = True
    assert robot.memory.vectorizer.embed_form('Turned for 3 s') is None
    model.fails = False
    assert robot.memory.vectorizer.embed_form('Turned for 4 s') is not None


def test_a_text_that_is_said_again_is_embedded_once(fragile: tuple[Any, ...]) -> None:
    robot, model = fragile
    robot.save_conversation('Bring the red cup', 'I see.')
    first = list(model.texts)
    assert {'Bring the red cup', 'I see.'} <= set(first)
    robot.save_conversation('Bring the blue cup', 'I see.')
    robot.learn('Bring the blue cup')
    assert model.texts == [*first, 'Bring the blue cup']
    assert robot.rows('SELECT count(*) FROM indexed WHERE coarse IS NULL') == [(0,)]


def test_vectors_that_are_kept_are_those_that_the_model_makes(fragile: tuple[Any, ...]) -> None:
    robot, model = fragile
    texts = ['red cup', 'blue cup', 'red cup', 'red' * 101]
    for _ in range(2):
        made = require(robot.memory.vectorizer.embed_passages(texts))
        for text, found in zip(texts, made, strict=True):
            assert np.allclose(found.first, model.model.embed_passages([text])[0], atol=1e-6)
    assert model.texts.count('red cup') == 1
    assert model.texts.count('red' * 101) == 2  # of longer texts nothing is kept


def test_no_vectors_are_kept_without_those_of_a_second_model_that_failed(
    open_robot: Callable[..., Robot],
    tiny_embedders: dict[int, BackgroundEmbedder],
    english_embedder: BackgroundEmbedder,
    clock: MovableClock,
) -> None:
    robot = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    assert robot.memory.second.wait(HANG_SECONDS)
    vectorizer, text = robot.memory.vectorizer, 'the red cup is on the left shelf'
    while vectorizer.second_breaker.state == 'closed':
        with suppress(RuntimeError), vectorizer.second_breaker.attempt():
            raise RuntimeError('the second model is gone')
    (alone,) = require(vectorizer.embed_passages([text]))
    assert alone.second is None
    clock.forward(seconds=60)
    (both,) = require(vectorizer.embed_passages([text]))
    assert both.second is not None
    (again,) = require(vectorizer.embed_passages([text]))
    assert again.second_model == both.second_model != ''

"""Errors handled, functions timed, a breaker around what fails; plain and asynchronous alike."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from robots import MovableClock, Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import Internal, NotFound, Unavailable
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.metrics.circuit_breaker import CircuitBreaker
from robot_memory.metrics.registry import ErrorSeverity, Registry
from robot_memory.sage.error_handling import (
    COMMON,
    ErrorHandler,
    with_circuit_breaker,
    with_error_handling,
    with_performance_monitoring,
)


class Seconds:
    """A clock of seconds that stands still until moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> Any:
        return self.now


class Owner:
    """Something that owns a registry, as a memory does."""

    def __init__(self) -> None:
        self.registry = Registry()


KINDS = ['plain', 'asynchronous']


def made(kind: Any, function: Any) -> Any:
    """Return the function, or one that is awaited for the same."""
    if kind == 'plain':
        return function

    async def later(*args: Any, **kwargs: Any) -> Any:
        await asyncio.sleep(0)
        return function(*args, **kwargs)

    later.__name__ = function.__name__
    return later


def called(function: Any, *args: Any) -> Any:
    answer = function(*args)
    return asyncio.run(answer) if inspect.iscoroutine(answer) else answer


def test_a_handled_error_says_code_message_severity_and_what_to_do(
    caplog: pytest.LogCaptureFixture,
) -> None:
    registry = Registry()
    with caplog.at_level(logging.DEBUG, 'robot_memory'):
        told = ErrorHandler(registry).handle_error(
            NotFound('no memory 7'),
            {'operation': 'forget', 'session': 'a1'},
            ErrorSeverity.HIGH,
        )
    assert set(told) == {'code', 'message', 'severity', 'hint'}
    assert told['code'] == 'not_found'
    assert told['message'] == 'no memory 7'
    assert told['severity'] == 'high'
    assert 'recall' in told['hint']
    assert registry.get_error_counts() == {('forget', 'not_found', ErrorSeverity.HIGH): 1}
    (record,) = caplog.records
    assert record.levelno == logging.ERROR
    assert record.getMessage() == 'forget: [not_found] no memory 7 (session a1)'


def test_an_error_of_another_kind_is_internal_and_medium_unless_said_otherwise() -> None:
    registry = Registry()
    told = ErrorHandler(registry).handle_error(ZeroDivisionError())
    assert (told['code'], told['message']) == ('internal', 'ZeroDivisionError')
    assert told['severity'] == 'medium'
    assert registry.get_error_counts() == {('other', 'internal', ErrorSeverity.MEDIUM): 1}


@pytest.mark.parametrize('kind', KINDS)
def test_error_handling_raises_nothing_but_our_errors_and_notes_them(kind: Any) -> None:
    owner = Owner()

    def risky(owner: Any, error: Any) -> None:
        raise error

    decorated = with_error_handling(ErrorSeverity.HIGH)(made(kind, risky))
    with pytest.raises(Internal, match='risky failed internally: KeyError'):
        called(decorated, owner, KeyError('x'))
    with pytest.raises(NotFound):
        called(decorated, owner, NotFound('no such session'))
    assert owner.registry.get_error_counts() == {
        ('risky', 'internal', ErrorSeverity.HIGH): 1,
        ('risky', 'not_found', ErrorSeverity.HIGH): 1,
    }


@pytest.mark.parametrize('kind', KINDS)
def test_monitoring_times_answers_and_failures(kind: Any) -> None:
    owner = Owner()

    def slow(owner: Any, divisor: Any) -> Any:
        return 6 / divisor

    decorated = with_performance_monitoring('division')(made(kind, slow))
    assert called(decorated, owner, 2) == 3
    with pytest.raises(ZeroDivisionError):
        called(decorated, owner, 0)
    assert owner.registry.get_operation_timings()['division'].count == 2
    assert decorated.__name__ == 'slow'


@pytest.mark.parametrize('kind', KINDS)
def test_what_is_handed_no_memory_is_noted_in_the_common_registry(kind: Any) -> None:
    decorated = with_performance_monitoring(f'nothing {kind}')(made(kind, lambda: 5))
    assert called(decorated) == 5
    assert COMMON.get_operation_timings()[f'nothing {kind}'].count == 1


@pytest.mark.parametrize('kind', KINDS)
def test_a_breaker_opens_after_five_failures_and_tries_again_after_sixty_seconds(
    kind: Any,
) -> None:
    clock = Seconds()
    calls = []

    def unreliable(works: Any) -> str:
        calls.append(works)
        if not works:
            raise OSError('no answer')
        return 'done'

    decorated = with_circuit_breaker(5, 60, clock)(made(kind, unreliable))
    for _ in range(5):
        assert decorated.breaker.state == 'closed'
        with pytest.raises(OSError, match='no answer'):
            called(decorated, False)
    assert decorated.breaker.state == 'open'
    with pytest.raises(Unavailable, match='unreliable failed 5 times in a row'):
        called(decorated, True)
    assert len(calls) == 5
    clock.now += 59.9
    assert decorated.breaker.state == 'open'
    clock.now += 0.2
    assert decorated.breaker.state == 'half_open'
    with pytest.raises(OSError, match='no answer'):
        called(decorated, False)
    assert decorated.breaker.state == 'open'
    clock.now += 60
    assert called(decorated, True) == 'done'
    assert decorated.breaker.state == 'closed'


def test_failures_that_are_not_in_a_row_open_nothing() -> None:
    breaker = CircuitBreaker('it', 2, 60, Seconds())
    for _ in range(5):
        with pytest.raises(ConnectionError), breaker.attempt():
            raise ConnectionError
        with breaker.attempt():
            pass
    assert breaker.state == 'closed'


def opened(clock: Seconds) -> CircuitBreaker:
    breaker = CircuitBreaker('it', 1, 60, clock)
    with pytest.raises(ConnectionError), breaker.attempt():
        raise ConnectionError
    assert breaker.state == 'open'
    return breaker


def test_only_one_trial_is_made_at_a_time() -> None:
    clock = Seconds()
    breaker = opened(clock)
    clock.now += 60
    inside, leave = threading.Event(), threading.Event()

    def trial() -> None:
        with breaker.attempt():
            inside.set()
            leave.wait(HANG_SECONDS)

    thread = threading.Thread(target=trial)
    thread.start()
    assert inside.wait(HANG_SECONDS)
    assert not breaker.lets_through
    with pytest.raises(Unavailable), breaker.attempt():
        pass
    leave.set()
    thread.join()
    assert breaker.state == 'closed'


def test_a_trial_that_is_broken_off_counts_for_nothing_and_makes_room_for_the_next() -> None:
    clock = Seconds()
    breaker = opened(clock)
    clock.now += 60
    with pytest.raises(asyncio.CancelledError), breaker.attempt():
        raise asyncio.CancelledError
    state: str = breaker.state
    assert state == 'half_open'
    assert breaker.lets_through
    with breaker.attempt():
        pass
    state = breaker.state
    assert state == 'closed'


def test_a_late_failure_of_a_call_from_before_does_not_prolong_the_wait() -> None:
    clock = Seconds()
    breaker = CircuitBreaker('it', 1, 60, clock)
    inside, leave = threading.Event(), threading.Event()

    @breaker.attempt()
    def failing() -> None:
        inside.set()
        leave.wait(HANG_SECONDS)
        raise ConnectionError

    def long() -> None:
        with pytest.raises(ConnectionError):
            failing()

    thread = threading.Thread(target=long)
    thread.start()
    assert inside.wait(HANG_SECONDS)
    with pytest.raises(ConnectionError), breaker.attempt():
        raise ConnectionError
    clock.now += 30
    leave.set()
    thread.join()
    clock.now += 30
    assert breaker.state == 'half_open'


def test_a_clock_that_is_set_back_ends_the_wait() -> None:
    clock = Seconds()
    breaker = opened(clock)
    clock.now -= 3600
    assert breaker.state == 'half_open'


class Fragile:
    """A model that fails while it is told to."""

    def __init__(self, model: Any) -> None:
        self.model, self.fails, self.calls = model, False, 0
        self.name, self.dimension = model.name, model.dimension
        self.calibration = model.calibration

    def embed_passages(self, texts: Any) -> Any:
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

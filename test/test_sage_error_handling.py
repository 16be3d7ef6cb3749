"""Errors handled, functions timed, a breaker around what fails; plain and asynchronous alike."""

from __future__ import annotations

import asyncio
import inspect
import logging
from typing import Any

import pytest
from robots import Seconds

from robot_memory.core.errors import Internal, NotFound, Unavailable
from robot_memory.metrics.registry import ErrorSeverity, Registry
from robot_memory.sage.error_handling import (
    COMMON,
    ErrorHandler,
    with_circuit_breaker,
    with_error_handling,
    with_performance_monitoring,
)


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


class Unreliable:
    """A function behind a breaker of five failures and sixty seconds, and its calls."""

    def __init__(self, kind: Any) -> None:
        self.clock = Seconds()
        self.calls: list[bool] = []

        def unreliable(works: bool) -> str:
            self.calls.append(works)
            if not works:
                raise OSError('no answer')
            return 'done'

        self.decorated = with_circuit_breaker(5, 60, self.clock)(made(kind, unreliable))

    @property
    def state(self) -> Any:
        return self.decorated.breaker.state

    def fail(self) -> None:
        with pytest.raises(OSError, match='no answer'):
            called(self.decorated, False)


@pytest.fixture(params=KINDS)
def unreliable(request: pytest.FixtureRequest) -> Unreliable:
    return Unreliable(request.param)


@pytest.fixture
def broken(unreliable: Unreliable) -> Unreliable:
    """What has failed five times in a row."""
    for _ in range(5):
        unreliable.fail()
    return unreliable


def test_a_breaker_opens_after_five_failures(unreliable: Unreliable) -> None:
    for _ in range(5):
        assert unreliable.state == 'closed'
        unreliable.fail()
    assert unreliable.state == 'open'


def test_what_an_open_breaker_refuses_is_not_called(broken: Unreliable) -> None:
    with pytest.raises(Unavailable, match='unreliable failed 5 times in a row'):
        called(broken.decorated, True)
    assert len(broken.calls) == 5


def test_a_breaker_tries_again_after_sixty_seconds(broken: Unreliable) -> None:
    broken.clock.now += 59.9
    assert broken.state == 'open'
    broken.clock.now += 0.2
    assert broken.state == 'half_open'


def test_a_trial_that_fails_opens_the_breaker_again(broken: Unreliable) -> None:
    broken.clock.now += 60
    broken.fail()
    assert broken.state == 'open'
    broken.clock.now += 59.9
    assert broken.state == 'open'


def test_a_trial_that_works_closes_the_breaker(broken: Unreliable) -> None:
    broken.clock.now += 60
    assert called(broken.decorated, True) == 'done'
    assert broken.state == 'closed'

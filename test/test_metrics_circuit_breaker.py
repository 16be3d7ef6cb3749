"""A breaker opens after failures in a row, and tries again after a while."""

from __future__ import annotations

import asyncio
import threading

import pytest
from robots import Seconds
from waiting import HANG_SECONDS

from robot_memory.core.errors import Unavailable
from robot_memory.metrics.circuit_breaker import CircuitBreaker


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

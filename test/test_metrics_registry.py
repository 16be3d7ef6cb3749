"""What is counted and timed, and how it is told."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.errors import Conflict, Internal, InvalidArgument, NotFound
from robot_memory.memory import Memory
from robot_memory.metrics.registry import (
    KEPT_DURATIONS,
    KEPT_FAILURES,
    ErrorSeverity,
    Registry,
    get_severity,
)
from robot_memory.tool import tool


def test_severities_have_their_levels_in_the_log_in_ros_and_on_diagnostics() -> None:
    levels = {
        severity.name: (severity.log_level, severity.ros, severity.diagnostic)
        for severity in ErrorSeverity
    }
    assert levels == {
        'CRITICAL': (logging.CRITICAL, 'FATAL', 2),
        'HIGH': (logging.ERROR, 'ERROR', 2),
        'MEDIUM': (logging.WARNING, 'WARN', 1),
        'LOW': (logging.INFO, 'INFO', 0),
        'INFO': (logging.DEBUG, 'DEBUG', 0),
    }


def test_what_a_caller_got_wrong_is_low_and_a_fault_of_ours_is_high() -> None:
    codes = ('invalid_argument', 'not_found', 'conflict', 'unavailable', 'internal')
    names = [get_severity(code).name for code in codes]
    assert names == ['LOW', 'LOW', 'LOW', 'MEDIUM', 'HIGH']


@given(st.lists(st.floats(0, 1e3), min_size=1, max_size=KEPT_DURATIONS))
def test_quantiles_are_durations_that_were_noted(seconds: Any) -> None:
    registry = Registry()
    for one in seconds:
        registry.record_duration('embed', one)
    timing = registry.get_operation_timings()['embed']
    ordered = sorted(seconds)
    assert timing.count == len(seconds)
    assert timing.max == ordered[-1]
    assert timing.mean == pytest.approx(sum(seconds) / len(seconds))
    for value, share in ((timing.p50, 0.5), (timing.p99, 0.99)):
        assert value in seconds
        assert sum(one <= value for one in seconds) >= share * len(seconds)
        assert sum(one < value for one in seconds) < share * len(seconds)


def test_quantiles_forget_what_is_long_ago_and_the_counts_do_not() -> None:
    registry = Registry()
    registry.record_request('recall', 9.0)
    for _ in range(KEPT_DURATIONS):
        registry.record_request('recall', 0.001)
    timing = registry.get_request_timings()['recall']
    assert (timing.count, timing.max, timing.p99) == (KEPT_DURATIONS + 1, 9.0, 0.001)


def test_calls_of_all_tools_together_have_a_timing_of_their_own() -> None:
    registry = Registry()
    registry.record_request('learn', 0.3)
    registry.record_request('recall', 0.1)
    registry.record_duration('embed_query', 5.0)
    assert registry.get_total_timing().count == 2
    assert registry.get_total_timing().max == 0.3
    assert set(registry.get_request_timings()) == {'learn', 'recall'}


def test_the_latest_errors_are_kept_and_all_of_them_counted(clock: MovableClock) -> None:
    registry = Registry(clock)
    for number in range(KEPT_FAILURES + 5):
        clock.forward(seconds=1)
        registry.record_error('forget', 'not_found', f'no memory {number}')
    failures = registry.list_failures()
    assert len(failures) == KEPT_FAILURES
    assert failures[0].message == f'no memory {KEPT_FAILURES + 4}'
    assert failures[0].time == clock.now
    assert registry.get_error_counts() == {
        ('forget', 'not_found', ErrorSeverity.LOW): KEPT_FAILURES + 5
    }


def test_a_long_message_of_many_lines_is_kept_short_and_on_one() -> None:
    registry = Registry()
    registry.record_error('learn', 'internal', 'first\n\nsecond ' + 'x' * 10_000)
    (failure,) = registry.list_failures()
    assert failure.message.startswith('first second xxx')
    assert len(failure.message) == 500


def test_a_counter_only_grows() -> None:
    registry = Registry()
    registry.count('seen', 2)
    with pytest.raises(ValueError, match='seen is a counter and cannot change by -1'):
        registry.count('seen', -1)
    assert (registry.get_count('seen'), registry.get_count('never')) == (2, 0)


def test_a_hit_ratio_is_there_once_something_was_asked() -> None:
    registry = Registry()
    assert registry.compute_hit_ratio('cache') is None
    registry.count('cache_misses')
    registry.count('cache_hits', 3)
    assert registry.compute_hit_ratio('cache') == 0.75


def test_threads_lose_no_count() -> None:
    registry = Registry()

    def work() -> None:
        for _ in range(2000):
            registry.count('seen')
            registry.record_request('recall', 0.001)
            registry.record_error('recall', 'internal', 'x')

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert registry.get_count('seen') == registry.get_request_timings()['recall'].count == 8000
    assert sum(registry.get_error_counts().values()) == 8000


def test_every_call_of_a_tool_is_noted_whether_answered_or_refused(robot: Robot) -> None:
    memory_id = robot.learn('the red cup is on the shelf').memory_id
    robot.forget(require(memory_id), 'wrong')
    for wrong in (
        lambda: robot.learn(''),
        lambda: robot.forget(require(memory_id), 'again'),
        lambda: robot.forget(999, 'none'),
        lambda: robot.recall(query=1),  # type: ignore[arg-type]
    ):
        with pytest.raises((InvalidArgument, Conflict, NotFound)):
            wrong()
    registry = robot.memory.registry
    counted = {name: timing.count for name, timing in registry.get_request_timings().items()}
    assert counted == {'learn': 2, 'forget': 3, 'recall': 1}
    assert registry.group_errors(lambda operation, code, _: f'{operation} {code}') == {
        'learn invalid_argument': 1,
        'forget conflict': 1,
        'forget not_found': 1,
        'recall invalid_argument': 1,
    }


@dataclass(frozen=True)
class Nothing:
    """Neither asked nor answered."""


@tool()
def broken(memory: Memory, request: Nothing) -> Nothing:
    """Fail as no tool should."""
    raise KeyError('what was not foreseen')


def test_a_fault_of_ours_is_counted_as_high(robot: Robot) -> None:
    with pytest.raises(Internal, match='broken failed internally: KeyError'):
        broken.run(robot.memory, {})
    (failure,) = robot.memory.registry.list_failures()
    assert (failure.operation, failure.code) == ('broken', 'internal')
    assert failure.severity is ErrorSeverity.HIGH

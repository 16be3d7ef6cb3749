"""Long calls take turns, and let short ones go first."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from waiting import HANG_SECONDS, until

from robot_memory.core import call_order
from robot_memory.core.call_order import CallOrder

ANOTHER_THREAD = -1


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> CallOrder:
    """An order in which long calls wait for short ones as long as these run."""
    monkeypatch.setattr(call_order, '_PATIENCE_SECONDS', HANG_SECONDS)
    return CallOrder()


def test_a_long_call_goes_on_once_no_short_one_runs(patient: CallOrder) -> None:
    patient.short.append(ANOTHER_THREAD)
    done: list[str] = []

    def run() -> None:
        for item in patient.share('abc', 1):
            done.append(item)

    with ThreadPoolExecutor(1) as pool:
        going = pool.submit(run)
        until(lambda: done, 'the first step')
        assert done == ['a']
        patient.short.remove(ANOTHER_THREAD)
        going.result(HANG_SECONDS)
    assert done == ['a', 'b', 'c']


def test_a_long_call_waits_for_no_short_one_of_its_own(patient: CallOrder) -> None:
    patient.short.append(threading.get_ident())
    assert list(patient.share(range(3), 1)) == [0, 1, 2]


def test_short_calls_without_end_do_not_stop_a_long_one() -> None:
    order = CallOrder()
    order.short.append(ANOTHER_THREAD)
    assert list(order.share(range(3), 1)) == [0, 1, 2]


def test_one_long_call_runs_at_a_time() -> None:
    order = CallOrder()
    begun, end = threading.Event(), threading.Event()
    ran: list[str] = []

    def run_first() -> None:
        begun.set()
        assert end.wait(HANG_SECONDS)
        ran.append('first')

    with ThreadPoolExecutor(2) as pool:
        pool.submit(order.run_long, run_first)
        assert begun.wait(HANG_SECONDS)
        second = pool.submit(order.run_long, lambda: ran.append('second'))
        end.set()
        second.result(HANG_SECONDS)
    assert ran == ['first', 'second']

"""Damage that nobody has read yet is noticed in the background."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest
from robots import MovableClock, Robot
from test_storage_damage import break_page, list_pages


def test_a_damaged_page_is_found_named_logged_and_forgotten_when_it_is_whole_again(
    open_robot: Callable[..., Robot], clock: MovableClock, caplog: pytest.LogCaptureFixture
) -> None:
    robot = open_robot(resident=False)
    for number in range(100):
        robot.learn(f'Shelf {number} of aisle {number % 7} holds part {number * 37}')
    robot.close()
    store = robot.memory.db.path
    whole = store.read_bytes()
    break_page(store, list_pages(store, 'memories', 'leaf')[1])
    robot = open_robot(resident=False)
    scrubber = robot.memory.scrubber
    scrubber.run()
    assert scrubber.damaged == ()  # not before the pause is over
    with caplog.at_level(logging.ERROR):
        for _ in range(3):
            clock.forward(seconds=11)
            scrubber.run()
    assert len(scrubber.damaged) == 1 and 'memories from' in scrubber.describe()
    assert len([one for one in caplog.records if 'is damaged' in one.message]) == 1
    store.write_bytes(whole)
    while scrubber.rounds < 5:
        clock.forward(seconds=11)
        scrubber.run()
    assert scrubber.damaged == () and scrubber.describe() == ''

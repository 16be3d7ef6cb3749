"""A query without events says which condition excludes all, or what lies next to the window."""

from __future__ import annotations

from typing import Any

import pytest
from robots import START, Robot


@pytest.fixture
def sensed(robot: Robot) -> Robot:
    for number in range(3):
        robot.save_perception(
            f'The gripper touched tray {number}',
            perception_type='tactile',
            stamp={'sec': START // 10**6 + 3600 * number},
        )
    return robot


@pytest.mark.parametrize(
    ('asked', 'words'),
    [
        ({'where': {'kind': 'contact'}}, 'no events of that kind; there are "perception" (3).'),
        ({'where': {'topic': '/wrench'}}, 'No event has a topic.'),
        ({'where': {'collection': 'defualt'}}, 'collection; there are "default" (3).'),
        ({'where': {'duration': {'$gt': 5}}}, 'duration; '),
        (
            {'since': '2020-01-01', 'until': '2020-02-01'},
            'the first one after began at 2026-02-25',
        ),
        ({'since': '2027-01-01'}, 'the last one before began at 2026-02-25T08:13:20'),
        (
            {'where': {'memory_id': 1, 'onset': {'$gt': '2026-02-25T07:00:00Z'}}},
            'no event passes all of them',
        ),
    ],
)
def test_the_condition_or_the_window_is_named_with_what_is_near(
    sensed: Robot, asked: dict[str, Any], words: str
) -> None:
    found = sensed.query_events(**asked, time_zone='UTC')
    assert found.events == ()
    assert words in (found.why_empty or '')
    counted = sensed.query_events(**asked, aggregate=['count'], time_zone='UTC')
    assert counted.why_empty == found.why_empty


def test_events_that_are_there_need_no_reason(sensed: Robot) -> None:
    found = sensed.query_events(limit=2)
    assert found.why_empty is None
    assert sensed.query_events(cursor=found.next_cursor, limit=2).why_empty is None
    assert sensed.query_events(aggregate=['count']).why_empty is None


def test_a_store_without_events_says_so(robot: Robot) -> None:
    assert robot.query_events(since='2026-01-01').why_empty == 'No events are stored.'

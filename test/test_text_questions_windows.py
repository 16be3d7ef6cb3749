"""Clock times beside days, ranges of which one end says which half of the day, days compared."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 17, 30, tzinfo=BERLIN)  # a Friday


@pytest.mark.parametrize(
    ('text', 'read_as'),
    [
        ('Which push came at 10:45 on Thursday the 12th?', 'pushes, 2026-11-12 10:45'),
        ('any contact on 18 Nov, 2 to 2:20 pm?', 'contacts, 2026-11-18 14:00 to 14:20'),
        ('Any stop on Tuesday between 3 and 3:45?',
         'emergency stops or protective stops, 2026-11-17 15:00 to 15:45'),
        ('2026-11-09 09:20–09:40 有碰撞吗', 'collisions, 2026-11-09 09:20 to 09:40'),
        ('contacts 2026-11-09T09:20-05:00', 'contacts, 2026-11-09 15:20'),
        ('Monday versus Wednesday: which had the hardest push?',
         'pushes, highest peak force first, 1 of them, 2026-11-16 and 2026-11-18'),
        ('去年以来上过几次傍晚班', 'sessions, count, since 2025-01-01'),
        ('Did anybody push you one by one on Monday?', 'pushes, oldest first, 2026-11-16'),
        ('11月5号那个晚班最重的碰撞', 'collisions, highest peak force first, 1 of them, '
         'during the last 晚班 of 2026-11-05'),
        ('While we stood in the north hall, what was the hardest push?',
         'pushes, highest peak force first, 1 of them'),
    ],
)  # fmt: skip
def test_times_that_stand_together_are_one_window(text: str, read_as: str) -> None:
    assert read_question(text, NOW, BERLIN).describe() == read_as


def test_what_to_do_after_so_many_seconds_is_a_rule() -> None:
    assert read_question('门一直开着，过了20秒怎么应对', NOW, BERLIN).statement

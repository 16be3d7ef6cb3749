"""Orders from one end to the other, means of peaks, and what is asked how long it is past."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 17, 30, tzinfo=BERLIN)  # a Friday

SPREAD = [
    ('Put the protective stops in a list from longest to shortest.',
     'protective stops, highest duration first'),
    ('Show all boxes of yesterday from lightest to heaviest',
     'palletizing, lowest mass first, 2026-11-19'),
    ('Rank the collisions of this week by force', 'collisions, highest peak force first, '
     '2026-11-16 to 2026-11-22'),
    ('the two hardest pushes of today from weakest to strongest',
     'pushes, highest peak force first, 2 of them, the other way round, 2026-11-20'),
    ('保护性停机按时长从长到短列一下', 'protective stops, highest duration first'),
    ('上周称过的零件从轻到重', 'weight, lowest mass first, 2026-11-09 to 2026-11-15'),
    ('掉件按持续时间排序', 'grip losses, highest duration first'),
]  # fmt: skip
ONE_BY_ONE = [
    ("Take me through yesterday's collisions one at a time",
     'collisions, oldest first, 2026-11-19'),
    ('Go over the alarms of today one by one, starting in the morning',
     'faults, oldest first, 2026-11-20'),
    ('依次列出今天的碰撞', 'collisions, oldest first, 2026-11-20'),
    ('昨天排第三个的螺丝任务是哪个',
     'screwing, oldest first, from the 3rd on, 1 of them, 2026-11-19'),
]  # fmt: skip
PEAKS = [
    ("average maximum torque of yesterday's screws?", 'screwing, mean of torque, 2026-11-19'),
    ('median peak speed of the motions this week',
     'motions, median of speed, 2026-11-16 to 2026-11-22'),
    ('昨天碰撞的峰值力平均多少', 'collisions, mean of force, 2026-11-19'),
    ('push with the highest average force today',
     'pushes, highest mean force first, 1 of them, 2026-11-20'),
    ('晚班一共上了多少个小时', 'sessions, sum of duration'),
]  # fmt: skip
PAST = [
    ('How long has it been since a part was last dropped?',
     'grip losses, newest first, 1 of them'),
    ('How many days is it since the last tool change?', 'tool changes, newest first, 1 of them'),
    ('how long ago did the arm collide?', 'collisions, newest first, 1 of them'),
    ('上次换工具到现在过去多久了', 'tool changes, newest first, 1 of them'),
    ('How many pushes since the last tool change?',
     'pushes, count, since the last tool change'),
    ('几次掉件当中恢复得最快的是哪次', 'grip losses, lowest duration first, 1 of them'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'read_as'), [*SPREAD, *ONE_BY_ONE, *PEAKS, *PAST])
def test_an_order_and_a_figure_are_read(text: str, read_as: str) -> None:
    assert read_question(text, NOW, BERLIN).describe() == read_as


@pytest.mark.parametrize(
    ('text', 'read_as'),
    [
        ('How many kilos did the heaviest valve block have?',
         'weight, highest mass first, 1 of them'),
        ('During which shift was the hardest collision?',
         'collisions, highest peak force first, 1 of them'),
        ('重量不到一公斤的箱子有几个', 'palletizing, mass under 1 kg, count'),
        ('median of joint temperatures', 'temperature, median of temperature'),
        ('上周拧紧力矩的标准差', 'screwing, std of torque, 2026-11-09 to 2026-11-15'),
        ('今天上午比昨天上午多推了几次', 'pushes, count, 2026-11-20 05:00 to 12:00, against '
         '2026-11-19 05:00 to 12:00'),
        ('Which push happened nearest to the stop of the 18th?',
         'pushes, nearest to the last stop of 2026-11-18'),
        ('In which shift was there an emergency stop?', 'emergency stops'),
    ],
)  # fmt: skip
def test_what_is_measured_is_asked_of_events(text: str, read_as: str) -> None:
    assert read_question(text, NOW, BERLIN).describe() == read_as


def test_how_many_there_are_by_rule_is_no_count() -> None:
    assert not read_question('一个料架放几箱', NOW, BERLIN)

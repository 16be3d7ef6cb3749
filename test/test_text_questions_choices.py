"""What one of several is asked for: of shifts, of days, of sorts of events, of the newest."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.choices import find_shifts
from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 16, 30, tzinfo=BERLIN)  # a Friday

SHIFTS = [
    ('which of the last three early shifts had more jammed pegs',
     'insertions, count by session, highest count first, 1 of them, in the last early shift or '
     'the 2nd last early shift or the 3rd last early shift, failure'),
    ('did the late shift or the early shift have fewer faults?',
     'faults, count by session, lowest count first, 1 of them, in the last late shift or '
     'the last early shift'),
    ('hardest push of the last two shifts',
     'pushes, highest peak force first, 1 of them, in the last shift or the 2nd last shift'),
    ('最近三个早班哪个急停少', 'emergency stops, count by session, lowest count first, 1 of them, '
     'in the last 早班 or the 2nd last 早班 or the 3rd last 早班'),
    ('晚班和夜班谁的故障多', 'faults, count by session, highest count first, 1 of them, '
     'in the last 晚班 or the last 夜班'),
]  # fmt: skip
SORTS = [
    ('which failed more often, doors opened or screws?',
     'door opening or screwing, count by label, highest count first, 1 of them, failure'),
    ('which happened less often this week, taps or slides?',
     'taps or slides, count by label, lowest count first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('失速跟过热哪种出得多',
     'stalls or over temperature, count by label, highest count first, 1 of them'),
]  # fmt: skip
DAYS = [
    ('were you pushed harder on Tuesday or on Wednesday?',
     'pushes, highest peak force first, 1 of them, 2026-11-17 and 2026-11-18'),
    ('did joint 2 get hotter on 4 November or on 9 November?',
     'temperature, highest temperature first, 1 of them, 2026-11-04 and 2026-11-09'),
    ('were there fewer grip losses on Monday or on Tuesday?',
     'grip losses, count by day, lowest count first, 1 of them, 2026-11-16 and 2026-11-17'),
    ("was Monday's collision harder than Tuesday's?",
     'collisions, highest peak force first, 1 of them, the last collision of 2026-11-16 or '
     'the last collision of 2026-11-17'),
    ('contacts on Monday, sorry, on Tuesday', 'contacts, 2026-11-17'),
]  # fmt: skip
NEWEST = [
    ('of the last four boxes, which was the lightest?',
     'palletizing, lowest mass first, 1 of them, of the last 4'),
    ('which of the last two hand-eye calibrations was more precise?',
     'calibrations, lowest length first, 1 of them, of the last 2'),
    ('最近两次标定，哪次误差大', 'calibrations, highest length first, 1 of them, of the last 2'),
    ('the last four boxes', 'palletizing, newest first, 4 of them'),
]  # fmt: skip
LATEST = [
    ('what have you just finished?', 'tasks, newest first, 1 of them'),
    ('What is the robot working on right now?', 'tasks, newest first, 1 of them'),
    ('what was the last job you completed', 'tasks, newest first, 1 of them'),
    ('你刚忙完的是哪件事', 'tasks, newest first, 1 of them'),
    ('which gripper is mounted at the moment', 'tool changes, newest first, 1 of them'),
    ('手上现在戴着哪个夹爪', 'tool changes, newest first, 1 of them'),
    ('what were you doing when the e-stop was pressed?',
     'tasks, during the last e-stop pressed'),
    ('which task failed most often this week',
     'tasks, count by task, highest count first, 1 of them, 2026-11-16 to 2026-11-22, failure'),
]  # fmt: skip
TIMES = [
    ('11/3夜里出过故障吗', 'faults, 2026-11-03 18:00 to 2026-11-04 06:00'),
    ('10.27到10.29的碰撞', 'collisions, 2026-10-27 to 2026-10-29'),
    ('推力1.25到5.25牛的有几次',
     'pushes, peak force at least 1.25 N, peak force at most 5.25 N, count'),
    ('今天凌晨四点到六点的运动', 'motions, 2026-11-20 04:00 to 06:00'),
    ('周末那两天的碰撞', 'collisions, 2026-11-14 to 2026-11-15'),
    ('昨天那次急停之后最重的一推',
     'pushes, highest peak force first, 1 of them, after the last emergency stop of 2026-11-19'),
    ('how many stalls took more than fourty seconds?', 'stalls, duration over 40 s, count'),
    ('the fifth push of today', 'pushes, oldest first, from the 5th on, 1 of them, 2026-11-20'),
    ("mean mass of the boxes from last night's shift",
     'palletizing, mean of mass, during the last shift of 2026-11-19 18:00 to 2026-11-20 06:00'),
    ('mean residual of the calibrations', 'calibrations, mean of length'),
    ('calibrations worse than 1.2 mm', 'calibrations, length over 0.0012 m'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'read_as'), [*SHIFTS, *SORTS, *DAYS, *NEWEST, *LATEST, *TIMES])
def test_one_of_several_is_read(text: str, read_as: str) -> None:
    assert read_question(text, NOW, BERLIN).describe() == read_as


def test_as_many_shifts_are_named_as_are_said_and_no_more_than_twenty() -> None:
    found = find_shifts('faults of the last 3 night shifts')
    assert found is not None
    assert [(one.words, one.which) for one in found.among] == [
        ('night shift', -1),
        ('night shift', -2),
        ('night shift', -3),
    ]
    many = find_shifts('the last 400 shifts')
    assert many is not None and len(many.among) == 20
    assert find_shifts('the early shift or the early shift') is None


@pytest.mark.parametrize(
    'text',
    [
        'who works the early or the late shift',
        '早班和晚班几点交接',
        'which tool do I have to use for glass?',
        'Which gripper is on the shelf?',
        'what is the robot doing when a part falls?',
        'which is heavier, a lid or a block?',
    ],
)
def test_what_always_holds_asks_for_no_event(text: str) -> None:
    assert not read_question(text, NOW, BERLIN)

"""Questions whose parts are read by one grammar each: times in words, noun phrases, measures."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 16, 30, tzinfo=BERLIN)  # a Friday

CLOCKS = [
    ('Any contacts yesterday at ten to four in the afternoon?',
     'contacts, 2026-11-19 15:40 to 16:00'),
    ('Any contacts at two forty-five pm yesterday?', 'contacts, 2026-11-19 14:45'),
    ('Any contacts at a quarter after nine this morning?', 'contacts, 2026-11-20 09:05 to 09:25'),
    ('Any contacts at 1320 hours yesterday?', 'contacts, 2026-11-19 13:20'),
    ('Any contacts yesterday 13:00-15:30?', 'contacts, 2026-11-19 13:00 to 15:30'),
    ('Any contacts at 20261117T1320?', 'contacts, 2026-11-17 13:20'),
    ('昨天差五分两点有没有接触？', 'contacts, 2026-11-19 13:45 to 14:05'),
    ('昨天13点20有没有接触？', 'contacts, 2026-11-19 13:20'),
    ('昨天九点至十点半有没有接触？', 'contacts, 2026-11-19 09:00 to 10:30'),
    ('昨天午饭前有没有接触？', 'contacts, 2026-11-19 00:00 to 12:00'),
]  # fmt: skip
DAYS = [
    ('Any faults the last working day of October?', 'faults, 2026-10-30'),
    ('Any faults from the 6th up to and including the 12th?', 'faults, 2026-11-06 to 2026-11-12'),
    ('Any faults in the weekend just gone?', 'faults, 2026-11-14 to 2026-11-15'),
    ('Any faults in the night just gone?', 'faults, 2026-11-19 18:00 to 2026-11-20 06:00'),
    ('Any faults in the week ending 15 November?', 'faults, 2026-11-09 to 2026-11-15'),
    ('十月最后一个工作日有没有故障？', 'faults, 2026-10-30'),
    ('刚过去的双休日有没有故障？', 'faults, 2026-11-14 to 2026-11-15'),
    ('六号到十二号有没有故障？', 'faults, 2026-11-06 to 2026-11-12'),
    ('上周前三天有没有故障？', 'faults, 2026-11-09 to 2026-11-11'),
]  # fmt: skip
ANCHORS = [
    ('How many contacts on 5 November between the end of the e-stop and five in the afternoon?',
     'contacts, count, since the end of the last e-stop, before 2026-11-05 17:00'),
    ('On the day your gripper lost its very first part, what tool change was made?',
     'tool changes, the day of the 1st gripper lost part'),
    ('After the emergency stop of the fifth, what happened for the next half hour?',
     'oldest first, within 1800 s after the last emergency stop of 2026-11-05'),
    ('Which screw came directly before the one that stripped?',
     'screwing, newest first, before the last screwing stripped'),
    ('How many tasks from the start of the late shift until the first grip loss?',
     'tasks, count, between the start of the last late shift and the 1st grip loss'),
    ('What was going on ten minutes either side of the protective stop this morning?',
     'within 600 s around the last protective stop of 2026-11-20 00:00 to 12:00'),
    ('You hit the rack this morning. Which stop came right on the heels of that?',
     'emergency stops or protective stops, oldest first, '
     'after the last collision of 2026-11-20 00:00 to 12:00'),
    ('What was the first temperature reading of the night shift that ended this morning?',
     'temperature, oldest first, 1 of them, '
     'during the last night shift of 2026-11-20 00:00 to 12:00'),
    ('手眼标定完紧接着的那个任务成没成？',
     'tasks, oldest first, after the end of the last calibration'),
    ('在展厅演示的头一天，下午有没有故障？', 'faults, day 1 of the last 展厅演示'),
    ('夹爪第一次掉件那天换过什么工具？', 'tool changes, the day of the 1st grip loss 件'),
    ('今天换成两指夹爪之后，最沉的一箱是哪箱',
     'palletizing, highest mass first, 1 of them, after the last 两指夹爪 tool change, '
     '2026-11-20'),
    ('早上零件掉下来之前的半个钟头，有没有接触',
     'contacts, newest first, within 1800 s before the last grip loss 来, '
     '2026-11-20 05:00 to 12:00'),
    ('昨天相机断线，断线前的最后一个动作是哪个？',
     'motions, newest first, 1 of them, before the last connection lost, 2026-11-19'),
    ('早班开始到第一次掉件做了几个任务？',
     'tasks, count, between the start of the last 早班 and the 1st grip loss'),
]  # fmt: skip
MEASURED = [
    ("Of yesterday's good screws, whose torque was the smallest?",
     'screwing, lowest peak torque first, 1 of them, 2026-11-19, success'),
    ('On 17 November, what changed the greatest portion of the camera picture?',
     'changes of scene, highest share first, 1 of them, 2026-11-17'),
    ('今天测到的关节温度，最高的是哪一条？',
     'temperature, highest temperature first, 1 of them, 2026-11-20'),
    ('几次堵转里，力矩顶得最高的是哪次', 'stalls, highest peak torque first, 1 of them'),
    ('称过的零件当中，今天数哪个分量最小，多少克',
     'weight, lowest mass first, 1 of them, 2026-11-20'),
    ('今儿工具尖儿最快的一下跑到多快', 'motions, highest peak speed first, 1 of them, 2026-11-20'),
    ('Which door swung open least on Friday?',
     'door opening, lowest angle first, 1 of them, 2026-11-13'),
]  # fmt: skip
OUTCOMES = [
    ("What's the median torque of the screws that were alright this week?",
     'screwing, median of torque, 2026-11-16 to 2026-11-22, success'),
    ('上一个没干成的任务是哪个', 'tasks, newest first, 1 of them, failure'),
    ('昨天螺丝的合格率报一下', 'screwing, share, 2026-11-19'),
]  # fmt: skip
BOUNDS = [
    ('e-stops that needed more than six and a half minutes',
     'emergency stops, duration over 390 s'),
    ('今天画面变化超过百分之八的都有哪几次？', 'changes of scene, share over 8 %, 2026-11-20'),
    ('Which changes of scene covered more than a fifth of the picture today?',
     'changes of scene, share over 20 %, 2026-11-20'),
    ('昨天拧了十二秒还没完的螺丝', 'screwing, duration over 12 s, 2026-11-19'),
    ('doors you swung past 90 degrees on Monday',
     'door opening, angle over 1.5708 rad, 2026-11-16'),
    ('今天有没有哪个关节还不到三十度？', 'temperature, temperature under 30 °C, 2026-11-20'),
]  # fmt: skip
COUNTS = [
    ('pegs tried from the stall up to the grip loss, total?',
     'insertions, count, between the last stall and the last grip loss'),
    ('What did all the boxes from yesterday weigh put together?',
     'palletizing, sum of mass, 2026-11-19'),
    ('几次过热告警，前前后后加起来持续了多少分钟？', 'over temperature, sum of duration'),
    ('On average, how many seconds did a peg attempt take you on Thursday? Jammed ones count too.',
     'insertions, mean of duration, 2026-11-19'),
]  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'read_as'), [*CLOCKS, *DAYS, *ANCHORS, *MEASURED, *OUTCOMES, *BOUNDS, *COUNTS]
)
def test_a_question_is_read_by_the_grammar_of_its_parts(text: str, read_as: str) -> None:
    assert read_question(text, NOW, BERLIN).describe() == read_as


@pytest.mark.parametrize(
    'text',
    [
        'The second contact is called Anna', 'Where is the half inch drill?',
        'What is the minimum distance to the fence?', 'The first screw goes into bore two to four',
        '我们有一个工作台', 'Which rule says over 5 N?', 'It is on the third shelf',
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_makes_no_window(text: str) -> None:
    assert read_question(text, NOW, BERLIN).window is None

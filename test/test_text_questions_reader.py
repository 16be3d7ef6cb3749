"""Classes of questions that a new hand asked: each with questions that no set has."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.model import Reading
from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 16, 30, tzinfo=BERLIN)  # a Friday


def read(text: str, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> Reading:
    return read_question(text, now, zone)


FRAMES = [
    # who asks, and why, decides nothing
    ('My neighbour says robots never rest. Did you move on Sunday?', 'motions, 2026-11-15'),
    ('Grip losses are what I study. Which of them was over soonest?',
     'grip losses, lowest duration first, 1 of them'),
    ('Which screw did you drive last? I have to write it down.',
     'screwing, newest first, 1 of them'),
    # what a colon announces, and a sentence that names what is asked for, belong to it
    ('The three hardest pushes this week: what were they?',
     'pushes, highest peak force first, 3 of them, 2026-11-16 to 2026-11-22'),
    ('I need the last tool change. When was it?', 'tool changes, newest first, 1 of them'),
    ('How many, please: collisions in October?', 'collisions, count, 2026-10-01 to 2026-10-31'),
    ('Pushes yesterday? Just the count.', 'pushes, count, 2026-11-19'),
    ('要写总结：今天一共插了几个销？', 'insertions, count, 2026-11-20'),
    ('新来的同事想问，昨天掉了几次件', 'grip losses, count, 2026-11-19'),
]  # fmt: skip
ZONES = [
    ('any stop at 13:41 UTC yesterday?',
     'emergency stops or protective stops, 2026-11-19 14:41'),
    ('protective stop at 10:20 New York time on Wednesday',
     'protective stops, 2026-11-18 16:20'),
    ('北京时间昨晚八点五十一分的急停', 'emergency stops, 2026-11-19 13:51'),
    ('total emergency stop time yesterday', 'emergency stops, sum of duration, 2026-11-19'),
]  # fmt: skip
BETWEEN = [
    ('There were two emergency stops this month. How many screws were driven in between?',
     'screwing, count, between the 2nd last emergency stop of 2026-11-01 to 2026-11-30 and the '
     'last emergency stop of 2026-11-01 to 2026-11-30'),
    ('You were calibrated and then the tool was changed. Any faults in between?',
     'faults, between the last calibration and the last tool change'),
    ('The tool was changed this morning and I came back at noon. How many pushes meanwhile?',
     'pushes, count, since the last tool change, before 2026-11-20 12:00'),
    ('今天早上标定完之后换了工具。中间有几次接触？',
     'contacts, count, between the last calibration and the last tool change'),
    ('昨天第一次和第三次标定之间的故障',
     'faults, between the 1st calibration and the 3rd calibration, 2026-11-19'),
    ('从今天上午九点到急停之间推了几次',
     'pushes, count, before the last emergency stop, since 2026-11-20 09:00'),
    ('contacts in the quarter hour after the stop on the 13th',
     'contacts, oldest first, within 900 s after the last stop of 2026-11-13'),
    ('How long after the collision did the protective stop come?',
     'between the last collision and the last protective stop, how long'),
]  # fmt: skip
DAYS = [
    ('撞上围栏的那一天，上午出了几次故障', 'faults, count, the 上午 of the last collision 围栏'),
    ('机械臂被推了六十牛以上的那天，有没有掉件',
     'grip losses, the day of the last push 了六十牛以上'),
    ('How many faults were there on the two demo days?',
     'faults, count, the day of the last demo'),
    ('上次标定是那天做的', 'calibrations, newest first, 1 of them'),
    ("Monday's late shift, how did it go?", 'sessions, 2026-11-16'),
    ("how many collisions since Tuesday's calibration",
     'collisions, count, since the last calibration of 2026-11-17'),
    ('十一月第二周出了哪些故障', 'faults, 2026-11-08 to 2026-11-14'),
    ('二号关节在十八号过热过吗', 'over temperature, 2026-11-18'),
    ('今天中午之前的接触', 'contacts, 2026-11-20 00:00 to 12:00'),
]  # fmt: skip
LISTS = [
    ('hardest push of each day this week',
     'pushes, highest peak force first, 1 of them, 2026-11-16 to 2026-11-22, of each day'),
    ('the heaviest box of Monday, of Tuesday and of Thursday',
     'palletizing, highest mass first, 1 of them, 2026-11-16 and 2026-11-17 and 2026-11-19, of '
     'each day'),
    ('周一、周三各自最猛的一次推',
     'pushes, highest peak force first, 1 of them, 2026-11-16 and 2026-11-18, of each day'),
    ('strongest contact per shift yesterday',
     'contacts, highest peak force first, 1 of them, 2026-11-19, of each session'),
    ('How many pushes were there on Monday and Wednesday?',
     'pushes, count, 2026-11-16 and 2026-11-18'),
    ('any faults on Friday, 13 November?', 'faults, 2026-11-13'),
]  # fmt: skip
ORDERS = [
    ('the fourth stall counting back from today',
     'stalls, newest first, from the 4th on, 1 of them'),
    ('往回数第二次标定', 'calibrations, newest first, from the 2nd on, 1 of them'),
    ('急停前一个小时内的接触',
     'contacts, newest first, within 3600 s before the last emergency stop'),
    ('最新的三次称重', 'weight, newest first, 3 of them'),
    ('the latest of the contacts over 20 N',
     'contacts, peak force over 20 N, newest first, 1 of them'),
    ('Which box yesterday weighed the least?',
     'palletizing, lowest mass first, 1 of them, 2026-11-19'),
    ('the record push of this month',
     'pushes, highest peak force first, 1 of them, 2026-11-01 to 2026-11-30'),
    ('Top three contacts by mean force today',
     'contacts, highest mean force first, 3 of them, 2026-11-20'),
    ('今天温度读数最低是多少', 'temperature, lowest temperature first, 1 of them, 2026-11-20'),
    ('What was the hardest thing you felt today',
     'contacts, highest peak force first, 1 of them, 2026-11-20'),
    ('the last four tool changes, oldest first',
     'tool changes, newest first, 4 of them, the other way round'),
    ('最近三次急停，早的排前面', 'emergency stops, newest first, 3 of them, the other way round'),
    ('your first three stalls, earliest at the top', 'stalls, oldest first, 3 of them'),
    ('今天最重的三个箱子，从轻到重',
     'palletizing, highest mass first, 3 of them, the other way round, 2026-11-20'),
    ('what was the last contact but two', 'contacts, newest first, from the 3rd on, 1 of them'),
    ('which part did you weigh second this morning',
     'weight, oldest first, from the 2nd on, 1 of them, 2026-11-20 00:00 to 12:00'),
    ('which of the two stalls this month was longer?',
     'stalls, highest duration first, 1 of them, 2026-11-01 to 2026-11-30'),
    ('今天两次碰撞哪次更重',
     'collisions, highest peak force first, 1 of them, 2026-11-20'),
    ('How many seconds did the shortest tool change take?',
     'tool changes, lowest duration first, 1 of them'),
]  # fmt: skip
GROUPS = [
    ('how many parts did the gripper lose on its worst single day',
     'grip losses, count by day, highest count first, 1 of them'),
    ('Which shift this week had the fewest faults?',
     'faults, count by session, lowest count first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('碰撞最多的那一周有几次', 'collisions, count by week, highest count first, 1 of them'),
    ('Which kind of fault came up most often this month?',
     'faults, count by label, highest count first, 1 of them, 2026-11-01 to 2026-11-30'),
    ('which kind of task did you do last?', 'tasks, newest first, 1 of them'),
]  # fmt: skip
FIGURES = [
    ('十月的几次急停合起来停了多少秒',
     'emergency stops, sum of duration, 2026-10-01 to 2026-10-31'),
    ('How long were we stopped in all this week?',
     'emergency stops or protective stops, sum of duration, 2026-11-16 to 2026-11-22'),
    ('今天称重的中位数', 'weight, median of mass, 2026-11-20'),
    ('How many doors did you try yesterday, stuck ones included?',
     'door opening, count, 2026-11-19'),
    ('昨天打了几颗螺丝（滑牙的也算）', 'screwing, count, 2026-11-19'),
]  # fmt: skip
BOUNDS = [
    ('pushes of sixty-odd newtons', 'pushes, peak force at least 60 N, peak force under 70 N'),
    ('三十多牛的推', 'pushes, peak force at least 30 N, peak force under 40 N'),
    ('the hold that lasted 47 seconds', 'holds, duration at least 46 s, duration under 48 s'),
    ('tool changes lasting 50 seconds or longer', 'tool changes, duration at least 50 s'),
    ('screws over 150 newton centimetres today',
     'screwing, peak torque over 1.5 N m, 2026-11-20'),
    ('motions over 70 centimetres per second today',
     'motions, peak speed over 0.7 m/s, 2026-11-20'),
    ('今天每秒超过八十厘米的移动', 'motions, peak speed over 0.8 m/s, 2026-11-20'),
    ('今天一百二十公分以上的移动', 'motions, distance at least 1.2 m, 2026-11-20'),
    ('今天不到一米五的移动', 'motions, distance under 1.5 m, 2026-11-20'),
    ('stops over 1 min 20 s today',
     'emergency stops or protective stops, duration over 80 s, 2026-11-20'),
    ('any push harder than 3 kilogram-force this month?',
     'pushes, peak force over 29.42 N, 2026-11-01 to 2026-11-30'),
]  # fmt: skip
WORDS = [
    ('has joint 4 been playing up this week?', 'faults, 2026-11-16 to 2026-11-22'),
    ('why did you freeze at half nine', 'emergency stops or protective stops, 2026-11-20 09:20 to '
     '09:40'),
    ('what was felt right after you struck the fence?',
     'contacts, oldest first, after the last struck the fence'),
    ('Is there a tap in the log that reached 9 newtons?', 'taps, peak force at least 9 N'),
    ('average length of a hold, all in all', 'holds, mean of duration'),
    ('把失速的记录都列出来', 'stalls'),
]  # fmt: skip
COMPOSED = [
    ("Which tool changes took less time than yesterday's?",
     'tool changes, duration under that of the last tool changes of 2026-11-19'),
    ('contacts harder than the hardest one on Thursday',
     'contacts, peak force over that of the last hardest contacts of 2026-11-19'),
    ('how much longer was the emergency stop of 5 November than that of 19 November?',
     'emergency stops, difference of duration, highest duration first, 1 of them, the last '
     'emergency stop of 2026-11-05 or the last emergency stop of 2026-11-19'),
    ('周二和周四的碰撞，哪次更重？',
     'collisions, highest peak force first, 1 of them, the last 碰撞 of 2026-11-17 or the last '
     '碰撞 of 2026-11-19'),
    ('the contact nearest in time to 14:50 today', 'contacts, 2026-11-20, nearest to 14:50'),
    ('how many tasks did the early shift today finish',
     'tasks, count, during the last early shift of 2026-11-20'),
    ('哪个星期几接触最多？', 'contacts, count by weekday, highest count first, 1 of them'),
    ('今天10到12牛之间的接触',
     'contacts, peak force at least 10 N, peak force at most 12 N, 2026-11-20'),
    ('周二四公斤及以上的箱子', 'palletizing, mass at least 4 kg, 2026-11-17'),
    ('any reading above 55 degrees this week?',
     'temperature, temperature over 55 °C, 2026-11-16 to 2026-11-22'),
    ('total downtime due to grip losses and stops in November',
     'grip losses or emergency stops or protective stops, sum of duration, 2026-11-01 to '
     '2026-11-30'),
    ('Which tool was mounted on 12 November?',
     'tool changes, newest first, 1 of them, before 2026-11-13'),
    ('deepest door opening angle this week',
     'door opening, highest angle first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('十一月有哪个班是周六开的？', 'sessions, 2026-11-07 and 2026-11-14'),
    ('pushes in the night to Thursday', 'pushes, 2026-11-18 18:00 to 2026-11-19 06:00'),
    ('Nearest push before the protective stop on Wednesday?',
     'pushes, newest first, before the last protective stop of 2026-11-18'),
]  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'read_as'),
    [
        *FRAMES,
        *ZONES,
        *BETWEEN,
        *DAYS,
        *LISTS,
        *ORDERS,
        *GROUPS,
        *FIGURES,
        *BOUNDS,
        *WORDS,
        *COMPOSED,
    ],
)
def test_a_class_of_questions_is_read_by_its_structure(text: str, read_as: str) -> None:
    assert read(text).describe() == read_as


@pytest.mark.parametrize(
    'text',
    ['How many people lift a heavy box?', 'Visitors come today. Who may reset an emergency stop?',
     '塑料壳怕夹坏，力该设多大', 'how long does the epoxy have to sit before loading',
     'Which drawer is the one called Monday?'],
)  # fmt: skip
def test_what_always_holds_is_no_question_for_events_whatever_stands_before_it(text: str) -> None:
    reading = read(text)
    assert not reading or reading.statement


def test_a_word_that_holds_or_files_is_no_hold() -> None:
    assert read('How many contacts does 2026-11-12_early_0.mcap hold?').labels == ()
    assert read('which screw did you drive last, and did it hold?').labels == ('screwing',)


def test_what_lies_in_a_frame_is_left_out_of_the_search() -> None:
    reading = read('Our dentist wonders. Any faults of joint 3 today?')
    assert 'dentist' not in reading.rest
    assert 'joint 3' in reading.rest
    assert 'green' in read('The green batch: how many contacts today?').rest


def test_a_window_of_several_days_has_the_pieces_in_their_order() -> None:
    window = read('longest motion each on Wednesday and Monday').window
    assert window is not None
    assert [one.describe() for one in window.pieces] == ['2026-11-18', '2026-11-16']


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
TOLD_DAYS = [
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
     'tasks, oldest first, 1 of them, after the end of the last calibration'),
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
TOLD_BOUNDS = [
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


WORDINGS = [
    ('Did anything break Friday?', 'faults, 2026-11-13'),
    ('number of tool changes, week of the 9th?', 'tool changes, count, 2026-11-09 to 2026-11-15'),
    ('Did anyone touch you today, twelve till one?', 'contacts, 2026-11-20 12:00 to 13:00'),
    ('What did the camera see first thing on Monday, before seven?',
     'changes of scene, 2026-11-16 00:00 to 07:00'),
    ('昨天天还没亮，五点到五点半码的哪一箱', 'palletizing, 2026-11-19 05:00 to 05:30'),
    ('上周末的夜班掉了几次件',
     'grip losses, count, during the last 夜班 of 2026-11-14 to 2026-11-15'),
    ('Did any box weigh over four and a quarter kilos this week?',
     'palletizing, mass over 4.25 kg, 2026-11-16 to 2026-11-22'),
    ('上周有没有五十六度还冒头的关节温度',
     'temperature, temperature over 56 °C, 2026-11-09 to 2026-11-15'),
    ('Add up what the emergency stops have cost us this month, minutes are fine.',
     'emergency stops, sum of duration, 2026-11-01 to 2026-11-30'),
    ('How hard did a peg have to be pressed on average this week?',
     'insertions, mean of force, 2026-11-16 to 2026-11-22'),
]  # fmt: skip
TOLD_BEFORE = [
    ('A part slipped out of the gripper at ten past ten. Which peg had you inserted last by then?',
     'insertions, newest first, before the last grip loss of 2026-11-20 10:00 to 10:20'),
    ('The camera went offline on Tuesday... what was the first contact once it came back?',
     'contacts, oldest first, 1 of them, after the last connection lost of 2026-11-17'),
    ('Somebody held the wrist yesterday. Any taps in the five minutes following?',
     'taps, oldest first, within 300 s after the last hold of 2026-11-19'),
    ('有人按了急停，往前十分钟里你开过哪扇柜门',
     'door opening, newest first, within 600 s before the last emergency stop'),
    ('Show me the push that triggered the protective stop.',
     'pushes, newest first, before the last protective stop'),
    ('昨天紧跟在开门失败后面的那个任务是什么',
     'tasks, oldest first, 1 of them, after the last door opening 失败, 2026-11-19'),
    ('The elbow locked up. When?', 'stalls'),
]  # fmt: skip
ASKED_HEADS = [
    ('昨天傍晚那一班只码了一箱吧？是哪箱', 'palletizing, 2026-11-19 17:00 to 20:00'),
    ("what fraction of Monday's screws went wrong", 'screwing, share, 2026-11-16, failure'),
    ('昨天出力最大的动作', 'motions, highest peak effort first, 1 of them, 2026-11-19'),
    ('After the longest emergency stop of November, which is next in length?',
     'emergency stops, highest duration first, from the 2nd on, 1 of them, '
     '2026-11-01 to 2026-11-30'),
    ('今天挨的力道，排第二的是哪一下',
     'contacts, highest peak force first, from the 2nd on, 1 of them, 2026-11-20'),
    ('周一拧得最松的是哪颗螺丝，我要去补一把劲',
     'screwing, lowest peak torque first, 1 of them, 2026-11-16'),
    ('今天是不是没夹牢、东西掉了？', 'grip losses, 2026-11-20'),
]  # fmt: skip


@pytest.mark.parametrize(
    ('text', 'read_as'),
    [
        *CLOCKS,
        *TOLD_DAYS,
        *ANCHORS,
        *MEASURED,
        *OUTCOMES,
        *TOLD_BOUNDS,
        *COUNTS,
        *WORDINGS,
        *TOLD_BEFORE,
        *ASKED_HEADS,
    ],
)
def test_a_question_is_read_by_the_grammar_of_its_parts(text: str, read_as: str) -> None:
    assert read(text).describe() == read_as


@pytest.mark.parametrize(
    'text',
    [
        'The second contact is called Anna', 'Where is the half inch drill?',
        'What is the minimum distance to the fence?', 'The first screw goes into bore two to four',
        '我们有一个工作台', 'Which rule says over 5 N?', 'It is on the third shelf',
        'Aunt Zelda visits every other Sunday', 'It is for the Monday meeting',
        '我加班到十点半，装配间还进得去吗',
    ],
)  # fmt: skip
def test_what_only_looks_like_a_time_makes_no_window(text: str) -> None:
    assert read(text).window is None

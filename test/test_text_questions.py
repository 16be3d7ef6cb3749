"""What is read in a question: times, events, bounds, order, figures; and what is not."""

from __future__ import annotations

import importlib
import re
import sys
from datetime import datetime, timedelta, timezone
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.questions import figures, moments, superlatives
from robot_memory.text.questions.events import find_mentions, match_label
from robot_memory.text.questions.folding import correct_words, fold_characters, mend_words
from robot_memory.text.questions.inflections import inflect
from robot_memory.text.questions.model import Bound, Reading
from robot_memory.text.questions.question import LONGEST
from robot_memory.text.questions.reader import read_question
from robot_memory.text.questions.sentences import SHORT, find_question, split_question
from robot_memory.text.questions.tables import load_table
from robot_memory.text.questions.times import find_time
from robot_memory.text.questions.words import list_words

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 16, 30, tzinfo=BERLIN)  # a Friday


def read(text: str, now: datetime = NOW, zone: ZoneInfo = BERLIN) -> Reading:
    return read_question(text, now, zone)


WINDOWS = [
    ('what happened today?', '2026-11-20'),
    ('What happened this morning?', '2026-11-20 00:00 to 12:00'),
    ('contacts last night', '2026-11-19 18:00 to 2026-11-20 06:00'),
    ('what did it touch yesterday afternoon?', '2026-11-19 12:00 to 18:00'),
    ('faults the day before yesterday', '2026-11-18'),
    ('how many faults last week?', '2026-11-09 to 2026-11-15'),
    ('faults this week', '2026-11-16 to 2026-11-22'),
    ('faults the week before last', '2026-11-02 to 2026-11-08'),
    ('what happened on Wednesday?', '2026-11-18'),
    ('what happened last Wednesday?', '2026-11-18'),
    ('what happened on Friday?', '2026-11-13'),
    ('how many faults from Monday till Wednesday last week?', '2026-11-09 to 2026-11-11'),
    ('上周一到周三几次故障', '2026-11-09 to 2026-11-11'),
    ('Monday: any trouble?', '2026-11-16'),
    ('faults between October 20 and October 26: how many', '2026-10-20 to 2026-10-26'),
    ('18号掉了几次件', '2026-11-18'),
    ('first fault exactly three weeks ago', '2026-10-30'),
    ('fault on the first Monday of November', '2026-11-02'),
    ('上个月最后一个周五的故障', '2026-10-30'),
    ('三周前的今天第一个故障', '2026-10-30'),
    ('first fault on the second day of November', '2026-11-02'),
    ('what happened on Wednesday last week?', '2026-11-11'),
    ('what happened on Wednesday morning?', '2026-11-18 00:00 to 12:00'),
    ('how many stops were there in October?', '2026-10-01 to 2026-10-31'),
    ('what happened in December?', '2025-12-01 to 2025-12-31'),
    ('what was felt in early October?', '2026-10-01 to 2026-10-10'),
    ('what went wrong in March 2026?', '2026-03-01 to 2026-03-31'),
    ('stops on 20 November', '2026-11-20'),
    ('stops on November 3rd, 2025', '2025-11-03'),
    ('stops on 25 December', '2025-12-25'),
    ('stops from 3 to 7 November', '2026-11-03 to 2026-11-07'),
    ('what happened on the 18th?', '2026-11-18'),
    ('what happened on the 18th of last month?', '2026-10-18'),
    ('2026-11-18', '2026-11-18'),
    ('contacts since 2026-11-20T08:00+01:00.', 'since 2026-11-20 08:00'),
    ('what happened at 2026-11-18T14:03Z?', '2026-11-18 15:03'),
    ('what happened on 2026/11/18 after 10:15?', '2026-11-18 10:15 to 2026-11-19'),
    ('what happened at 14:03?', '2026-11-20 14:03'),
    ('what happened at 17:03?', '2026-11-19 17:03'),
    ('what happened at 3 pm?', '2026-11-20 14:30 to 15:30'),
    ('what went wrong around three?', '2026-11-20 14:30 to 15:30'),
    ('who pushed it at half past two?', '2026-11-20 14:20 to 14:40'),
    ('what happened between 14:00 and 14:05?', '2026-11-20 14:00 to 14:05'),
    ('what happened between 14:00 and 14:05 yesterday?', '2026-11-19 14:00 to 14:05'),
    ('yesterday between 2 and 4 pm, what was hit?', '2026-11-19 14:00 to 16:00'),
    ('on Wednesday between 14:00 and 15:00 what was hit?', '2026-11-18 14:00 to 15:00'),
    ('contacts on 11/18/2026', '2026-11-18'),
    ('contacts on 18/11/2026', '2026-11-18'),
    ('contacts on 18.11.2026', '2026-11-18'),
    ('what happened three days ago?', '2026-11-17'),
    ('what happened two weeks ago on Tuesday?', '2026-11-03'),
    ('what happened in the last two hours?', '2026-11-20 14:30 to 16:30'),
    ('faults over the past week', '2026-11-13 16:30 to 2026-11-20 16:30'),
    ('what happened two hours ago?', '2026-11-20 14:00 to 15:00'),
    ('pushes less than an hour ago', '2026-11-20 15:30 to 16:30'),
    ('pushes since Monday', 'since 2026-11-16'),
    ('pushes until yesterday', 'before 2026-11-19'),
    ('pushes from Monday to Wednesday', '2026-11-16 to 2026-11-18'),
    ('pushes before noon', '2026-11-20 00:00 to 12:00'),
    ('pushes after 3 pm yesterday', '2026-11-19 15:00 to 2026-11-20'),
    ('pushes at two last night', '2026-11-20 01:30 to 02:30'),
    ('faults in the week before 16 November', '2026-11-09 to 2026-11-15'),
    ('last weekend, were there any faults?', '2026-11-14 to 2026-11-15'),
    ('what happened on Sunday 25 October at 04:30?', '2026-10-25 04:30'),
    ('What hapepned yesetrday?', '2026-11-19'),
    ('昨天下午发生了什么?', '2026-11-19 12:00 to 18:00'),
    ('上周三有几次碰撞?', '2026-11-11'),
    ('周三有几次碰撞?', '2026-11-18'),
    ('前天发生了什么', '2026-11-18'),
    ('刚才发生了什么', '2026-11-20 15:30 to 16:30'),
    ('这个月有多少次故障', '2026-11-01 to 2026-11-30'),
    ('十月有多少次故障', '2026-10-01 to 2026-10-31'),
    ('去年十二月的故障', '2025-12-01 to 2025-12-31'),
    ('三天前的故障', '2026-11-17'),
    ('昨天下午三点的碰撞', '2026-11-19 14:30 to 15:30'),
    ('昨天下午三点半的碰撞', '2026-11-19 15:20 to 15:40'),
    ('昨天下午两点到四点之间有什么故障', '2026-11-19 14:00 to 16:00'),
    ('昨天14点到15点之间的故障', '2026-11-19 14:00 to 15:00'),
    ('14:03发生了什么?', '2026-11-20 14:03'),
    ('14:00到14:05之间发生了什么', '2026-11-20 14:00 to 14:05'),
    ('周一以来的故障', 'since 2026-11-16'),
    ('从周一到周三的故障', '2026-11-16 to 2026-11-18'),
    ('最近两小时的碰撞', '2026-11-20 14:30 to 16:30'),
    ('昨晚十点以后的碰撞', '2026-11-19 22:00 to 2026-11-20 06:00'),
    ('11月18日的碰撞', '2026-11-18'),
    ('11月18日到20日的碰撞', '2026-11-18 to 2026-11-20'),
    ('上个月20号的碰撞', '2026-10-20'),
    ('上周末的碰撞', '2026-11-14 to 2026-11-15'),
    ('这周一共停了几次', '2026-11-16 to 2026-11-22'),
    ('faults on the third of November', '2026-11-03'),
    ('faults at the end of October', '2026-10-21 to 2026-10-31'),
    ('faults in calendar week 46', '2026-11-09 to 2026-11-15'),
    ('faults two Fridays ago', '2026-11-06'),
    ('contacts since="2026-11-20T08:00+01:00" until="2026-11-20T09:00+01:00"',
     '2026-11-20 08:00 to 09:00'),
    ('上个月底的故障', '2026-10-21 to 2026-10-31'),
    ('昨天下午發生了什麼', '2026-11-19 12:00 to 18:00'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'window'), WINDOWS)
def test_times_are_read_in_the_zone(text: str, window: str) -> None:
    found = read(text).window
    assert found is not None
    assert found.describe() == window


NO_TIMES = [
    'May said it was open', 'What does May want?', 'Is April in the lab?', 'Call June at the desk',
    'Where do deliveries from Second Street come in?', 'the 14:03 train', 'Who or what is Friday?',
    'Where does Monday keep the wrenches?', 'Project October', 'wait a second', 'march on',
    'on Sun', 'he sat on sat', 'turn on at three meters', 'What is batch 2026-11?',
    'log_2026-11-18.db', 'What should I check on Monday?', 'Remind me tomorrow at 14:00',
    'What are the opening hours on Sunday?', 'Bring the tray on Monday', 'May 3 robots pass?',
    'What happened in 1066?',
    'What happened in October 1954?', 'Who founded it in 1850?',
    'the last minute of the game of the year',
    "What is wrong with the clamp at three o'clock?", "Friday's desk", 'He works on Mondays',
    '五月说了什么', '三月姐的工具箱长什么样?', '小周负责什么', '五一路仓库在哪里', '有一点热',
    '九点钟方向有什么', '下周一要来查什么', '重三点五公斤', '每周三清洁',
    '三个月的货', '周末组长是谁?', '十月牌润滑油放哪里?',
    'What do we call the October bin?',
]  # fmt: skip


@pytest.mark.parametrize('text', NO_TIMES)
def test_names_and_what_lies_ahead_are_not_times(text: str) -> None:
    assert read(text).window is None


NOTHING = [
    'put the cup on the table', 'Push the red button and hold it for a while', 'open the drawer',
    'Where is the red cup?', 'Turn left at the second door', 'Move the arm 10 cm up',
    'The first shelf is for cups', 'Drive to Third Avenue', 'How many cups are on the table?',
    'Who is our contact at Tomorrow Labs?', 'Do we have any contact at Kuka?', 'What is Force 10?',
    'What happens after an emergency stop?', 'What do I do after a collision?',
    'How often should the filter be changed?', 'How hard may it push?', 'go to the first aid kit',
    'Into which bore does the longest peg of the kit go?', 'Which is the fastest route?',
    'What has to be set again after a tool change?', 'When does the night shift start?',
    '把杯子放到第二层架子上', '打开左边的抽屉', '最后一排货架上可以放空箱吗?', '把手臂抬高10厘米',
    '', ' ', '?', '。',
]  # fmt: skip


@pytest.mark.parametrize('text', NOTHING)
def test_instructions_and_other_questions_give_an_empty_reading(text: str) -> None:
    reading = read(text)
    assert not reading
    assert reading == Reading(text.strip())
    assert reading.describe() == ''


READ_AS = [
    ('contacts over 5 N on 20 November, newest first',
     'contacts, peak force over 5 N, newest first, 2026-11-20'),
    ('when did it push hardest?', 'pushes, highest peak force first, 1 of them'),
    ('last contact over 5 N', 'contacts, peak force over 5 N, newest first, 1 of them'),
    ('how many contacts today?', 'contacts, count, 2026-11-20'),
    ('how many contatcs today?', 'contacts, count, 2026-11-20'),
    ('did anything go wrong today?', 'faults, 2026-11-20'),
    ('the third hardest push last week',
     'pushes, highest peak force first, from the 3rd on, 1 of them, 2026-11-09 to 2026-11-15'),
    ('show me the five hardest pushes yesterday',
     'pushes, highest peak force first, 5 of them, 2026-11-19'),
    ('hardest pushes yesterday', 'pushes, highest peak force first, 2026-11-19'),
    ('What was the weakest touch you noticed today?',
     'contacts, lowest peak force first, 1 of them, 2026-11-20'),
    ('fastest motion today?', 'motions, highest peak speed first, 1 of them, 2026-11-20'),
    ('fastest task today?', 'tasks, lowest duration first, 1 of them, 2026-11-20'),
    ('the two longest protective stops in November',
     'protective stops, highest duration first, 2 of them, 2026-11-01 to 2026-11-30'),
    ('what was the maximum torque today?', 'highest peak torque first, 1 of them, 2026-11-20'),
    ('What was the peak force of the last collision?', 'collisions, newest first, 1 of them'),
    ('when was the second last tool change?',
     'tool changes, newest first, from the 2nd on, 1 of them'),
    ('the tool change before the latest one',
     'tool changes, newest first, from the 2nd on, 1 of them'),
    ('what were the last three faults?', 'faults, newest first, 3 of them'),
    ('first collision this month',
     'collisions, oldest first, 1 of them, 2026-11-01 to 2026-11-30'),
    ('When was it last touched?', 'contacts, newest first, 1 of them'),
    ('newest weighing', 'weight, newest first, 1 of them'),
    ('Why did you stop?', 'emergency stops or protective stops, newest first'),
    ('any emergency stops?', 'emergency stops'),
    ('list all collisions', 'collisions'),
    ('contacts an hour this week', 'contacts, count by hour, 2026-11-16 to 2026-11-22'),
    ('which day had the most collisions?',
     'collisions, count by day, highest count first, 1 of them'),
    ('mean force by task', 'mean of force by task'),
    ('Which collision was the latest?', 'collisions, newest first, 1 of them'),
    ('What did you do first today?', 'oldest first, 1 of them, 2026-11-20'),
    ('Which screw was tightened with the most torque today?',
     'screwing, highest peak torque first, 1 of them, 2026-11-20'),
    ('lightest box of the week',
     'palletizing, lowest mass first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('contacts with a mean force above 10 N yesterday',
     'contacts, mean force over 10 N, 2026-11-19'),
    ('How many kilograms were weighed today?', 'weight, sum of mass, 2026-11-20'),
    ('What is the total downtime this week?',
     'emergency stops or protective stops, sum of duration, 2026-11-16 to 2026-11-22'),
    ('what happened in the session before the last one?', 'during the 2nd last session'),
    ('three contacts before the emergency stop',
     'contacts, newest first, 3 of them, before the last emergency stop'),
    ('Is everything ok today?', 'faults, 2026-11-20'),
    ('What happened Monday?', '2026-11-16'),
    ('count contacts over 5N since Monday',
     'contacts, peak force over 5 N, count, since 2026-11-16'),
    ('median force this week', 'median of force, 2026-11-16 to 2026-11-22'),
    ('standard deviation of the force this week', 'std of force, 2026-11-16 to 2026-11-22'),
    ('When was a red object last seen?', 'changes of scene, newest first, 1 of them'),
    ('第二次标定之前的故障', 'faults, newest first, before the 2nd calibration'),
    ('最近十次接触的平均力', 'contacts, mean of force, newest first, 10 of them'),
    ('昨天最后一个任务是什么', 'tasks, newest first, 1 of them, 2026-11-19'),
    ('这周哪次拧螺丝扭矩最大',
     'screwing, highest peak torque first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('average force this week', 'mean of force, 2026-11-16 to 2026-11-22'),
    ('total time spent in protective stop last week',
     'protective stops, sum of duration, 2026-11-09 to 2026-11-15'),
    ('What share of the tasks failed this week?',
     'tasks, share, 2026-11-16 to 2026-11-22, failure'),
    ('How many contacts are in 2026-11-18_late_0.mcap?',
     'contacts, count, in 2026-11-18_late_0.mcap'),
    ('hardest contact since the tool change',
     'contacts, highest peak force first, 1 of them, since the last tool change'),
    ('contacts after the second emergency stop',
     'contacts, oldest first, after the 2nd emergency stop'),
    ('What did you feel right before the stop this morning?',
     'contacts, newest first, before the last stop of 2026-11-20 00:00 to 12:00'),
    ('contacts in the ten minutes after the tool change',
     'contacts, oldest first, within 600 s after the last tool change'),
    ('contacts between the calibration and the tool change',
     'contacts, between the last calibration and the last tool change'),
    ('从标定到换工具之间有几次接触',
     'contacts, count, between the last calibration and the last tool change'),
    ('faults between the last two tool changes',
     'faults, between the 2nd last tool changes and the last tool changes'),
    ('Which contact immediately preceded the emergency stop?',
     'contacts, newest first, before the last emergency stop'),
    ('what touched you once the tool had been changed',
     'contacts, oldest first, after the last tool changed'),
    ('top 5 contacts by force this week',
     'contacts, highest peak force first, 5 of them, 2026-11-16 to 2026-11-22'),
    ('tally of contacts today', 'contacts, count, 2026-11-20'),
    ('the penultimate grip loss', 'grip losses, newest first, from the 2nd on, 1 of them'),
    ("What happened in yesterday's second session?", 'during the 2nd session of 2026-11-19'),
    ('昨天最用力的三次碰撞', 'collisions, highest peak force first, 3 of them, 2026-11-19'),
    ('今天有几次接触超过5牛', 'contacts, peak force over 5 N, count, 2026-11-20'),
    ('最近三次急停是什么时候', 'emergency stops, newest first, 3 of them'),
    ('上次换工具是什么时候', 'tool changes, newest first, 1 of them'),
    ('第一次急停是哪天', 'emergency stops, oldest first, 1 of them'),
    ('这个月平均每次保护性停机多长时间',
     'protective stops, mean of duration, 2026-11-01 to 2026-11-30'),
    ('昨天夹爪一共松开了几秒?', 'grip losses, sum of duration, 2026-11-19'),
    ('换工具之后第一次碰到东西是什么时候?',
     'contacts, oldest first, 1 of them, after the last tool change'),
    ('急停前的半小时里你在忙什么?', 'newest first, within 1800 s before the last emergency stop'),
    ('十一月任务的成功率是多少?', 'tasks, share, 2026-11-01 to 2026-11-30, success'),
    # other ways to say the same, as questions of no set have them
    ('contacts, excluding taps, today', 'contacts, no taps, 2026-11-20'),
    ('除了轻敲还有什么接触?', 'contacts, no taps'),
    ('the stall preceding the most recent stall', 'stalls, newest first, before the last stall'),
    ('the fault before last', 'faults, newest first, from the 2nd on, 1 of them'),
    ('third to last calibration', 'calibrations, newest first, from the 3rd on, 1 of them'),
    ('倒数第三次标定', 'calibrations, newest first, from the 3rd on, 1 of them'),
    ('头两次失速', 'stalls, oldest first, 2 of them'),
    ('list the stalls from newest to oldest', 'stalls, newest first'),
    ('按先后顺序列出失速', 'stalls, oldest first'),
    ('Three newest faults, most recent on top.', 'faults, newest first, 3 of them'),
    ('which tool change was the most drawn-out?',
     'tool changes, highest duration first, 1 of them'),
    ('the grip loss with the greatest number of seconds',
     'grip losses, highest duration first, 1 of them'),
    ('strongest tightening yesterday',
     'screwing, highest peak torque first, 1 of them, 2026-11-19'),
    ('touched how many times today?', 'contacts, count, 2026-11-20'),
    ('when was the last time somebody leaned on you?', 'contacts, newest first, 1 of them'),
    ('this mornings contacts', 'contacts, 2026-11-20 00:00 to 12:00'),
    ('昨天下午四点多断的线', 'connection lost, 2026-11-19 16:00 to 17:00'),
    ('since anna told us about the tray, how many contacts were there?',
     'contacts, count, since «anna told us about the tray»'),
    ('You lost your grip this morning. What was the next contact?',
     'contacts, oldest first, 1 of them, after the last grip loss of 2026-11-20 00:00 to 12:00'),
    ('Count the contacts between the tool change and 14:00 today.',
     'contacts, count, since the last tool change, before 2026-11-20 14:00'),
    ('prior to the protective stop but after the tool change, how many contacts were there?',
     'contacts, count, between the last tool change and the last protective stop'),
    ('how many contacts were there until the protective stop today?',
     'contacts, count, before the last protective stop of 2026-11-20, since 2026-11-20'),
    ('SELECT * FROM events WHERE kind="contact" AND peak_force > 30 ORDER BY onset DESC LIMIT 3',
     'contacts, peak force over 30 N, newest first, 3 of them'),
    ('{"kind": "task", "after": "protective_stop", "limit": 1, "sort": "start asc"}',
     'tasks, oldest first, 1 of them, after the last protective stop'),
    ('first fault on the second day of the demo',
     'faults, oldest first, 1 of them, day 2 of the last demo'),
    ('演示第一天最重的接触',
     'contacts, highest peak force first, 1 of them, day 1 of the last 演示'),
    ('any faults two days before the last calibration?',
     'faults, 2 days before the last calibration'),
    ('急停第二天出了几次故障', 'faults, count, the day after the last emergency stop'),
    ('what failed on the day we changed to the soft fingers?',
     'faults, the day of the last changed to the soft fingers'),
    ('first fault in the week of the demo',
     'faults, oldest first, 1 of them, the week of the last demo'),
    ('contacts in the day after the tool change',
     'contacts, oldest first, within 86400 s after the last tool change'),
    ('上次夜班最重的接触',
     'contacts, highest peak force first, 1 of them, during the last 夜班'),
    ('绿色的东西最后一次消失', 'things that disappeared, newest first, 1 of them'),
    ('How many times did an object disappear yesterday?',
     'things that disappeared, count, 2026-11-19'),
    ('最近三次推动，从新到旧', 'pushes, newest first, 3 of them'),
    ('今天有没有超过100牛的接触', 'contacts, peak force over 100 N, 2026-11-20'),
    ('strongest push or bump today',
     'contacts, highest peak force first, 1 of them, 2026-11-20'),
    ("today's last fault, grip losses aside",
     'faults, no grip losses, newest first, 1 of them, 2026-11-20'),
    ('when did the cabinet door last get stuck?',
     'door opening, newest first, 1 of them, failure'),
    ('今天有哪颗螺丝连50牛厘米都没拧到', 'screwing, peak torque under 0.5 N m, 2026-11-20'),
    ('Any idea when the last collision was?', 'collisions, newest first, 1 of them'),
    ('when did joint 2 last stall?', 'stalls, newest first, 1 of them'),
    ('average length of an emergency stop', 'emergency stops, mean of duration'),
    ('which day this week had the most contacts?',
     'contacts, count by day, highest count first, 1 of them, 2026-11-16 to 2026-11-22'),
    ('how long between the last protective stop and the tool change?',
     'between the last protective stop and the last tool change, how long'),
    ('were there more contacts today than yesterday?',
     'contacts, 2026-11-20, against 2026-11-19'),
    ('今天接触比昨天多吗', 'contacts, 2026-11-20, against 2026-11-19'),
    ('worst calibration', 'calibrations, highest length first, 1 of them'),
    ('今天早班出了几次故障', 'faults, count, during the last 早班 of 2026-11-20'),
    ("summary of today's late shift", 'sessions, 2026-11-20'),
    ('什么时候看到紫色的东西', 'changes of scene'),
    ('自从今天那次过温报警解除，一共插了几个销？',
     'insertions, count, since the last over temperature of 2026-11-20'),
    ('total emergency stop time yesterday', 'emergency stops, sum of duration, 2026-11-19'),
    ('Which device did you lose last?', 'newest first, 1 of them'),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'read_as'), READ_AS)
def test_a_reading_says_what_was_read(text: str, read_as: str) -> None:
    assert read(text).describe() == read_as


BOUNDS = [
    ('contacts over 5 N', 'force', '$gt', 5.0),
    ('contacts above 1.2 kN', 'force', '$gt', 1200.0),
    ('contacts with at least five newtons', 'force', '$gte', 5.0),
    ('contacts of 5 N or more', 'force', '$gte', 5.0),
    ('contacts not over 5 N', 'force', '$lte', 5.0),
    ('peak_force > 10 N', 'force', '$gt', 10.0),
    ('peak_force >= 10N', 'force', '$gte', 10.0),
    ('torque under 500 N mm today', 'torque', '$lt', 0.5),
    ('contacts with a torque under 2 Nm', 'torque', '$lt', 2.0),
    ('boxes heavier than 1500 g', 'mass', '$gt', 1.5),
    ('boxes heavier than 1.5 kg', 'mass', '$gt', 1.5),
    ('moved more than 10 cm', 'distance', '$gt', 0.1),
    ('motions slower than 70 mm/s', 'speed', '$lt', 0.07),
    ('hotter than 60 degrees', 'temperature', '$gt', 60.0),
    ('above 140 °F', 'temperature', '$gt', 60.0),
    ('tilted by more than 180 degrees', 'angle', '$gt', 3.141592653589793),
    ('more than 5 degrees', None, '', 0.0),
    ('contacts under a tenth of a second', 'duration', '$lt', 0.1),
    ('anything over a kilo yesterday', 'mass', '$gt', 1.0),
    ('contacts longer than half a minute', 'duration', '$gt', 30.0),
    ('stops longer than two hours', 'duration', '$gt', 7200.0),
    ('battery below 20 %', 'share', '$lt', 20.0),
    ('超过5牛的接触', 'force', '$gt', 5.0),
    ('没有超过5牛的接触', 'force', '$lte', 5.0),
    ('不超过五牛的接触', 'force', '$lte', 5.0),
    ('5牛以上的接触', 'force', '$gte', 5.0),
    ('比10牛更大的推力', 'force', '$gt', 10.0),
    ('大于1.5公斤的箱子', 'mass', '$gt', 1.5),
    ('超过八斤的箱子', 'mass', '$gt', 4.0),
    ('不到0.6秒的接触', 'duration', '$lt', 0.6),
    ('超过半分钟的接触', 'duration', '$gt', 30.0),
    ('温度高于60度', 'temperature', '$gt', 60.0),
    ('开门开到80度以上', 'angle', '$gte', 1.3962634015954636),
    ('超过5牛奶', None, '', 0.0),
]  # fmt: skip


@pytest.mark.parametrize(('text', 'quantity', 'operator', 'value'), BOUNDS)
def test_bounds_are_read_in_si_units(
    text: str, quantity: str | None, operator: str, value: float
) -> None:
    bounds = read(text).bounds
    if quantity is None:
        assert bounds == ()
    else:
        (bound,) = bounds
        assert (bound.quantity, bound.operator) == (quantity, operator)
        assert bound.value == pytest.approx(value)


def test_a_bound_keeps_what_was_written_and_the_figure_that_was_named() -> None:
    (bound,) = read('contacts with a mean force over 5 Newtons').bounds
    assert bound == Bound('force', '$gt', 5.0, 'over 5 Newtons', 'mean')
    assert bound.describe() == 'mean force over 5 N'


@pytest.mark.parametrize(
    ('text', 'low', 'high'),
    [
        ('contacts between 5 and 10 N', 5.0, 10.0),
        ('contacts of about 12 N', 10.8, 13.2),
        ('Which contact had a peak of 43.0 newtons?', 42.95, 43.05),
        ('5到10牛之间的接触', 5.0, 10.0),
        ('10牛左右的接触', 9.0, 11.0),
    ],
)
def test_a_value_between_two_or_near_one_has_two_bounds(
    text: str, low: float, high: float
) -> None:
    values = [bound.value for bound in read(text).bounds]
    assert values == pytest.approx([low, high])


@pytest.mark.parametrize(
    'text',
    [
        'which rule says over 5 N?', 'Where do parts under 300 g go?', 'grip with at least 5 N',
        'What did Anna say last week?', 'Who wants to hear of stops longer than 30 s?',
        'keep the speed under 0.25 m/s', '哪条规则说超过5牛', '重于两公斤的零件用哪个夹爪?',
        '力不得超过15牛',
    ],
)  # fmt: skip
def test_a_rule_or_what_was_said_is_asked_for_and_only_ordered(text: str) -> None:
    reading = read(text)
    assert reading
    assert reading.statement


@pytest.mark.parametrize(
    ('text', 'asks'),
    [
        ('When was the last collision?', 'instant'),
        ('How long was the last protective stop?', 'duration'),
        ('How hard was the last push?', 'force'),
        ('上次急停是什么时候', 'instant'),
        ('昨天的停机有多久', 'duration'),
    ],
)
def test_a_reading_says_what_is_asked_of_the_event(text: str, asks: str) -> None:
    assert read(text).asks == asks


@pytest.mark.parametrize(
    ('text', 'rest'),
    [
        ('what happened on Wednesday at the demo?', 'what happened at the demo'),
        ('hardest push yesterday', ''),
        ('last contact on the left shelf', 'on the left shelf'),
        ('Where is the cup?', 'Where is the cup?'),
        ('昨天左边货架上的碰撞', '左边货架上的'),
    ],
)
def test_the_rest_is_what_the_search_is_asked(text: str, rest: str) -> None:
    assert read(text).rest == rest


def test_an_order_of_what_no_table_names_is_loose() -> None:
    reading = read('Which device did you lose last?')
    assert reading.loose
    assert reading.vague
    assert not read('last stall').vague
    assert not read('Who does the Last Mile trolley belong to?')


def test_how_many_there_always_are_is_no_count_of_events() -> None:
    assert read('一托盘一般码几箱，多了会怎样？').aggregate is None
    assert read('how many boxes does a pallet take?').aggregate is None
    assert read('how many boxes did you stack?').aggregate is not None


def test_days_have_the_hours_that_the_zone_gives_them() -> None:
    def hours(text: str, now: datetime, zone: ZoneInfo) -> float:
        window = read_question(text, now, zone).window
        assert window is not None
        assert window.since is not None
        assert window.until is not None
        return (window.until - window.since) / timedelta(hours=1)

    winter = datetime(2026, 10, 26, 9, tzinfo=BERLIN)
    summer = datetime(2026, 3, 30, 9, tzinfo=BERLIN)
    assert hours('what happened yesterday?', winter, BERLIN) == 25
    assert hours('what happened yesterday?', summer, BERLIN) == 23
    morning = datetime(2026, 10, 25, 9, tzinfo=BERLIN)
    assert hours('what happened last night?', morning, BERLIN) == 13
    assert hours('what happened in the last 24 hours?', winter, BERLIN) == 24
    assert hours('what happened yesterday between 01:00 and 04:00?', winter, BERLIN) == 4
    assert hours('what happened yesterday between 01:00 and 04:00?', summer, BERLIN) == 2
    assert hours('what happened yesterday?', winter, ZoneInfo('Asia/Shanghai')) == 24


def test_an_hour_that_comes_twice_is_meant_both_times() -> None:
    now = datetime(2026, 10, 26, 9, tzinfo=BERLIN)
    window = read('what happened yesterday at 02:30?', now).window
    assert window is not None
    assert window.since == datetime(2026, 10, 25, 0, 30, tzinfo=timezone.utc)
    assert window.until == datetime(2026, 10, 25, 1, 31, tzinfo=timezone.utc)


def test_an_hour_that_a_day_does_not_have_still_gives_a_window() -> None:
    now = datetime(2026, 3, 30, 9, tzinfo=BERLIN)
    for text in ('yesterday at 02:30', 'contacts yesterday between 02:15 and 03:00'):
        window = read(text, now).window
        assert window is not None
        assert window.since is not None
        assert window.until is not None
        assert window.since < window.until


def test_the_instant_of_asking_may_be_of_another_zone() -> None:
    now = datetime(2026, 11, 19, 20, tzinfo=timezone.utc)
    window = read_question('昨天的碰撞', now, ZoneInfo('Asia/Shanghai')).window
    assert window is not None
    assert window.since == datetime(2026, 11, 18, 16, tzinfo=timezone.utc)


FILLER = 'The arm put the housing on the table and went home. '


def test_of_a_long_text_the_sentences_that_ask_are_read() -> None:
    text = FILLER * 20 + 'How many contacts over 5 N were there yesterday? ' + FILLER * 20
    assert split_question(text) == ['How many contacts over 5 N were there yesterday?']
    reading = read(text)
    assert reading.describe() == 'contacts, peak force over 5 N, count, 2026-11-19'
    assert {text[span.start : span.end] for span in reading.spans} >= {'yesterday', 'over 5 N'}


def test_a_question_that_points_back_takes_the_sentence_before_it() -> None:
    text = FILLER * 20 + 'The gripper lost the valve block at the scale. Why was that? '
    assert split_question(text) == ['The gripper lost the valve block at the scale. Why was that?']
    text = '机械臂把箱子放到托盘上。' * 40 + '昨天有几次碰撞？' + '然后回到原位。' * 20
    assert split_question(text) == ['昨天有几次碰撞？']


def test_instructions_and_short_texts_are_not_split() -> None:
    short = 'It fell. Why?'
    assert split_question(short) == [short]
    long = 'Pick the housing from the tray. Put it on the table! ' * 20
    assert split_question(long) == [long]
    assert not read(long)


def test_what_stands_after_the_longest_question_is_left_to_the_search() -> None:
    text = 'contacts yesterday ' + 'near the left shelf ' * 200
    reading = read(text)
    assert reading.describe() == 'contacts, 2026-11-19'
    assert reading.rest.count('shelf') == 200


def test_typos_of_two_letters_are_read_and_other_words_are_not() -> None:
    assert correct_words('contatcs yesetrday') == 'contacts yesterday'
    for text in ('contacts', 'casual', 'tarin', 'latset one', 'yesterdya'):
        assert len(correct_words(text)) == len(text)
    assert correct_words('casual trail canton') == 'casual trail canton'


def test_a_letter_too_few_or_too_many_is_mended_and_spans_stay_in_the_text() -> None:
    text = 'strogest puhses yesteday'
    reading = read(text)
    assert reading.describe() == 'pushes, highest peak force first, 2026-11-19'
    assert [text[span.start : span.end] for span in reading.spans] == text.split()
    for word in ('contract', 'emotion', 'stopped', 'numbers'):
        assert mend_words(word, word)[0] == word


def test_verbs_are_inflected_by_rule() -> None:
    assert inflect('touch') == ('touch', 'touches', 'touched', 'touched', 'touching')
    assert inflect('bump').past == 'bumped'
    assert inflect('jab').continuous == 'jabbing'
    assert inflect('shove').continuous == 'shoving'
    assert inflect('strike').participle == 'struck'


def test_words_bring_those_that_mean_the_same_in_both_languages() -> None:
    (wrist_camera,) = list_words('腕部相机')
    assert 'wrist camera' in wrist_camera
    (joint_four,) = list_words('what of joint four')
    assert 'axis 4' in joint_four
    assert list_words('四轴') == list_words('第四关节') == [joint_four]
    assert list_words('四号') == [('4',)]
    assert list_words('tool changes') == list_words('tool change') == [('tool change', '换工具')]
    assert list_words('which one was it, please?') == []


def test_a_label_names_what_a_detector_wrote() -> None:
    assert match_label('insertion', 'peg_insertion')
    assert match_label('protective stop', 'protective_stop')
    assert not match_label('protective stop', 'emergency_stop')
    assert not match_label('push', 'tap')


def test_every_kind_and_label_is_named_by_a_word_of_both_languages() -> None:
    for event in load_table('events')['event']:
        assert any(event.get(name) for name in ('en', 'verbs', 'nouns', 'zh'))
        assert 'zh' in event


WORDS = (
    'the last first 5 N over between and 14:03 at on in May March 3 yesterday hardest contacts '
    'since before after tool change how many 2026-11-18 last week ago two hours half a minute '
    '昨天 三点 半 到 之间 超过 牛 最 次 上周 三 月 号 急停 之后 ? . , \x00 \n 🤖 İ ﬁ １４：０３'
).split(' ')
TEXTS = st.text(max_size=400) | st.lists(st.sampled_from(WORDS), max_size=60).map(' '.join)
ZONES = st.sampled_from(
    ('Europe/Berlin', 'Asia/Shanghai', 'America/Sao_Paulo', 'Africa/Cairo', 'Pacific/Apia', 'UTC')
).map(ZoneInfo)
INSTANTS = st.datetimes(
    datetime(1970, 1, 2), datetime(2100, 1, 1), timezones=st.just(timezone.utc)
)


@given(TEXTS, INSTANTS, ZONES)
def test_no_text_is_refused_and_spans_lie_inside_it(
    text: str, now: datetime, zone: ZoneInfo
) -> None:
    reading = read_question(text, now, zone)
    assert isinstance(reading.describe(), str)
    assert bool(reading) == bool(reading.spans)
    for span in reading.spans:
        assert 0 <= span.start < span.end <= len(text)
    for window in (reading.window, reading.anchor.window if reading.anchor else None):
        if window and window.since and window.until:
            assert window.since < window.until
        assert window is None or window.since is None or window.since <= now
    assert reading.order is None or (reading.take is None or reading.take >= 1)


@given(TEXTS)
def test_folding_and_correcting_keep_every_character_in_its_place(text: str) -> None:
    folded = fold_characters(text)
    assert len(folded) == len(correct_words(folded)) == len(text)


@given(st.text(max_size=3000))
def test_the_sentences_of_a_question_lie_in_order_inside_the_text(text: str) -> None:
    at = 0
    for start, end in find_question(text, LONGEST):
        assert at <= start <= end <= len(text)
        at = end
    if len(text) <= SHORT:
        assert split_question(text) == [text]


@pytest.mark.parametrize('now', [datetime.min, datetime.max])
def test_the_ends_of_the_calendar_are_no_error(now: datetime) -> None:
    aware = now.replace(tzinfo=timezone.utc)
    for text in (
        'contacts last week',
        '9999 days ago',
        '昨天下午三点之后',
        'tomorrow',
        'on 31 June',
    ):
        assert isinstance(read_question(text, aware, ZoneInfo('UTC')), Reading)


def _count_calls(text: str) -> int:
    calls = 0

    def note(frame: Any, event: str, argument: Any) -> None:
        nonlocal calls
        calls += event in ('call', 'c_call')

    sys.setprofile(note)
    try:
        read(text)
    finally:
        sys.setprofile(None)
    return calls


@pytest.mark.parametrize(
    'unit',
    ['how many contacts over 5 N yesterday at 14:03? ', '昨天有几次碰撞超过5牛？', '14:03 ',
     'last ', 'The arm went home. ', '三', '5 N ', 'the first ', ' ', '?'],
)  # fmt: skip
def test_a_text_of_20000_characters_costs_no_more_than_its_length(unit: str) -> None:
    read(unit)
    short, long = (_count_calls((unit * n)[:n]) for n in (5000, 20_000))
    assert long <= 4.5 * short + 500
    pieces = find_question((unit * 20_000)[:20_000], LONGEST)
    assert sum(end - start for start, end in pieces) <= LONGEST + SHORT


def _list_patterns() -> list[re.Pattern[str]]:
    """Return the patterns of the tables that are compiled after some questions were read."""
    for text in (*dict(WINDOWS), *dict(READ_AS), *(case[0] for case in BOUNDS)):
        read(text)
    found = [
        moments._compile(rule['pattern'])
        for han in (False, True)
        for rule in moments._list_rules(han)
    ]
    found += [pattern for pattern, _ in figures._compile_forms()]
    found += [one for _, *both in superlatives._compile_superlatives() for one in both]
    return found


def _find_nested(parsed: Any, inside: bool = False) -> bool:
    """Say whether a repetition without end stands in another one."""
    for operation, argument in parsed:
        name = str(operation)
        parts: list[Any] = []
        endless = name in ('MAX_REPEAT', 'MIN_REPEAT') and int(argument[1]) > 10_000
        if name in ('MAX_REPEAT', 'MIN_REPEAT'):
            parts = [argument[2]]
        elif name == 'SUBPATTERN':
            parts = [argument[3]]
        elif name == 'BRANCH':
            parts = argument[1]
        elif name in ('ASSERT', 'ASSERT_NOT'):
            parts = [argument[1]]
        if (endless and inside) or any(_find_nested(one, inside or endless) for one in parts):
            return True
    return False


def test_no_pattern_repeats_what_it_repeats_without_end() -> None:
    parser = importlib.import_module('re._parser' if sys.version_info >= (3, 11) else 'sre_parse')
    assert _find_nested(parser.parse('(?:a+b?)*'))
    patterns = _list_patterns()
    assert len(patterns) > 80
    assert not [one.pattern for one in patterns if _find_nested(parser.parse(one.pattern))]


def test_events_do_not_overlap() -> None:
    found = find_mentions(
        'protective stop, emergency stop and a stop: what happened, a collision?'
    )
    ends = [mention.end for mention in found]
    assert all(end <= after.start for end, after in zip(ends, found[1:], strict=False))


TIMES = [
    ('2026-11-19', '2026-11-19T00:00'),
    ('yesterday', '2026-11-19T00:00'),
    ('Yesterday at 14:03', '2026-11-19T14:03'),
    ('yesterday evening', '2026-11-19T17:00'),
    ('since yesterday', '2026-11-19T00:00'),
    ('this morning', '2026-11-20T00:00'),
    ('14:03', '2026-11-20T14:03'),
    ('at noon', '2026-11-20T12:00'),
    ('monday', '2026-11-16T00:00'),
    ('on Wednesday', '2026-11-18T00:00'),
    ('october', '2026-10-01T00:00'),
    ('last week', '2026-11-09T00:00'),
    ('3 days ago', '2026-11-17T00:00'),
    ('two hours ago', '2026-11-20T14:30'),
    ('now', '2026-11-20T16:30'),
    ('昨天下午', '2026-11-19T12:00'),
    ('上周三', '2026-11-11T00:00'),
]


@pytest.mark.parametrize(('text', 'instant'), TIMES)
def test_an_argument_names_a_time_by_the_words_of_questions(text: str, instant: str) -> None:
    wanted = datetime.fromisoformat(instant).replace(tzinfo=BERLIN)
    assert find_time(text, NOW, BERLIN) == wanted


@pytest.mark.parametrize(
    'text',
    ['tomorrow', 'the tool change', 'yesterday foo', 'before yesterday', 'in May said', '', '昨'],
)
def test_what_names_no_time_that_is_past_is_none(text: str) -> None:
    assert find_time(text, NOW, BERLIN) is None

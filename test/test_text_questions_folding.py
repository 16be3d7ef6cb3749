"""Forms of a question that are read as another form of it, and what they then mean."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from robot_memory.text.questions.folding import fold_forms
from robot_memory.text.questions.model import Reading
from robot_memory.text.questions.reader import read_question

BERLIN = ZoneInfo('Europe/Berlin')
NOW = datetime(2026, 11, 20, 17, 5, tzinfo=BERLIN)


def read(text: str) -> Reading:
    return read_question(text, NOW, BERLIN)


@pytest.mark.parametrize(
    ('said', 'folded'),
    [
        ('停过两次机', '停机过两次'),
        ('断过连接吗', '断连接过吗'),
        ('见没见过红色的', '是否见过红色的'),
        ('哪回最久', '哪次最久'),
        ('撞过机械臂', '撞过机械臂'),
        ('有没有过', '有没有过'),
        ('回来了没有', '回来了没有'),
        ('it stopped', 'it stopped'),
    ],
)
def test_forms_are_folded_to_one_as_long(said: str, folded: str) -> None:
    assert fold_forms(said) == folded
    assert len(said) == len(folded)


@pytest.mark.parametrize(
    ('question', 'read_as'),
    [
        ("the day's first two door openings", 'oldest first, 2 of them, 2026-11-20'),
        ('刚才一点四十来分有人推了你，力有多大？', 'pushes, 2026-11-20 13:25 to 13:55'),
        ('there was a slide along the arm yesterday. How long?', 'slides, 2026-11-19'),
        ('统计一下：螺丝拧滑牙的总次数', 'screwing, count, failure'),
        ('今天所有任务（换工具都算上）失败的占几成？', 'tasks, share, 2026-11-20'),
        (
            'Context: choosing a gripper for the next job. Query: mass of the cap measured today.',
            'weight, 2026-11-20',
        ),
        (
            'of the tool changes this week, give me the second one',
            'oldest first, from the 2nd on, 1 of them',
        ),
        ('哪几次换工具用了五十秒还不止？', 'duration at least 50 s'),
        ('all of yesterdays boxes together, how many kg is that', 'sum of mass, 2026-11-19'),
        ('停过机吗', 'emergency stops or protective stops'),
        ('电动螺丝刀好像断过连接', 'connection lost'),
        (
            '第一回过热到第二回过热之间掉过几次件',
            'grip losses, count, between the 1st over temperature',
        ),
        (
            'between the first and the second over-temperature, how many collisions were there?',
            'collisions, count, between the 1st over-temperature',
        ),
        ('contacts in the ten minutes before 10:20 today', '2026-11-20 10:10 to 10:20'),
        ('进了十一月以后第一次撞机是哪天', 'since 2026-11-01'),
        ('十一月以来撞过几次', 'since 2026-11-01'),
        (
            'how did the night shift from Monday to Tuesday go',
            '2026-11-16 18:00 to 2026-11-17 06:00',
        ),
    ],
)
def test_forms_are_read(question: str, read_as: str) -> None:
    assert read_as in read(question).describe()


@pytest.mark.parametrize(
    ('question', 'outcome'),
    [
        ('昨天码上去的箱子合计多少公斤', 'success'),
        ('how many boxes ended up on the pallet today?', 'success'),
        ('average insertion force of the pegs that went in today?', 'success'),
        ('昨天码的箱子合计多少公斤', ''),
        ('did the night shift end well?', ''),
        ('which screw went in crooked today?', ''),
        ('how many boxes did you stack today?', ''),
    ],
)
def test_what_was_achieved_asks_for_successes(question: str, outcome: str) -> None:
    assert read(question).outcome == outcome


def test_what_may_be_done_asks_for_a_rule() -> None:
    asked = read("visitors are coming: what's the hardest they may push the arm?")
    assert asked.statement
    assert asked.quoted


@pytest.mark.parametrize(
    ('question', 'compared'),
    [
        ('有没有哪次标定比9号那次残差还大', 'length over that of the last 标定 of 2026-11-09'),
        (
            '断连时间长过11月2日那次的，是哪一次？',
            'duration over that of the last 断连 of 2026-11-02',
        ),
        (
            "calibrations worse than last Friday's: how many?",
            'length over that of the last calibrations of 2026-11-13',
        ),
        (
            'did a motor ever stall harder than on 26 October?',
            'force over that of the last stall of 2026-10-26',
        ),
        (
            "which calibration was better, Monday's or Saturday's?",
            'the last calibration of 2026-11-16 or the last calibration of 2026-11-14',
        ),
    ],
)
def test_events_are_compared_with_one_that_a_day_tells(question: str, compared: str) -> None:
    assert compared in read(question).describe()

"""What is found answers, or only tells of something alike."""

from __future__ import annotations

import pytest
from narrowing import require
from robots import Robot

from robot_memory.retrieval.answerable import estimate
from robot_memory.text.slots import Agreement, compare, find_slots

FITS = Agreement(0, 0, 0, 0)


@pytest.mark.parametrize(
    ('question', 'right', 'wrong'),
    [
        (
            'Who drives the black company car?',
            'The black company car is driven by Mr. Rask',
            'The grey company car is driven by Mr. Rask',
        ),
        (
            'What is Mrs. Castellano allergic to?',
            'Mrs. Castellano is allergic to penicillin',
            'Mr. Castellano is allergic to penicillin',
        ),
        ('What is on shelf 8?', 'Shelf 8 holds the screws', 'Shelf 18 holds the screws'),
        (
            'What did the x-ray of the right wrist show?',
            'The x-ray of the right wrist showed a fracture',
            'The x-ray of the left wrist showed a fracture',
        ),
        ('Who is on duty on Saturday?', 'On Saturday Li is on duty', 'On Sunday Li is on duty'),
        ('蓝色文件夹里是什么?', '蓝色文件夹里是盘点表', '橙色文件夹里是盘点表'),
        ('Where is the red box?', '红色箱子在门后面', '蓝色箱子在门后面'),
    ],
)
def test_a_text_about_another_thing_names_another(question: str, right: str, wrong: str) -> None:
    asked = find_slots(question)
    assert compare(asked, find_slots(right)).other == 0
    assert compare(asked, find_slots(wrong)).other == 1


@pytest.mark.parametrize(
    ('question', 'right', 'wrong'),
    [
        ('How heavy is the pallet?', 'The pallet weighs 22 kilos', 'The pallet is 2 m long'),
        ('What colour is the van?', 'The van is white', 'The van has a lift'),
        ('How many chairs are there?', 'There are twelve chairs', 'The chairs are stacked'),
        ('会议室的湿度是多少?', '会议室的湿度是40%', '会议室的温度是18度'),
    ],
)
def test_a_text_without_what_is_asked_for_is_unfit(question: str, right: str, wrong: str) -> None:
    asked = find_slots(question)
    assert compare(asked, find_slots(right)).unfit == 0
    assert compare(asked, find_slots(wrong)).unfit == 1


def test_the_chance_grows_with_relevance_and_falls_with_each_misfit() -> None:
    assert estimate(0.3, 1.0, FITS) > 0.8 > estimate(0.1, 1.0, FITS) > estimate(0.0, 1.0, FITS)
    assert estimate(0.6, 0.5, FITS) < estimate(0.6, 0.0, FITS)
    for misfit in (Agreement(1, 0, 0, 0), Agreement(0, 0, 1, 0), Agreement(0, 0, 0, 1)):
        assert estimate(0.6, 0.3, misfit) < estimate(0.6, 0.3, FITS)


def test_an_answer_says_whether_it_answers_and_leaves_nothing_out(robot: Robot) -> None:
    robot.learn('The grey company car is driven by Mr. Rask')
    near = robot.recall('Who drives the black company car?', read='off')
    right = robot.recall('Who drives the grey company car?', read='off')
    assert near.total == right.total == 1
    assert require(near.answerable) < 0.2 < require(right.answerable)
    assert robot.recall(context_filter={'memory_id': 1}).answerable is None


def test_search_scores_a_text_about_another_thing_low(robot: Robot) -> None:
    robot.learn('The grey company car is driven by Mr. Rask')
    robot.learn('The black company car is driven by Ms. Lund')
    every = robot.search_memory('black company car', threshold=0.0, read='off').result
    assert [one.content[:9] for one in every] == ['The black', 'The grey ']
    assert every[0].score > 0.5 > 4 * every[1].score
    shown = robot.search_memory('black company car', read='off').result
    assert [one.content[:9] for one in shown] == ['The black']

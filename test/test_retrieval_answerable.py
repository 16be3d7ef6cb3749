"""What is found answers, or only tells of something alike."""

from __future__ import annotations

import pytest
from narrowing import require
from robots import Robot

from robot_memory.retrieval.answerable import estimate
from robot_memory.text.agreement import Agreement, compare
from robot_memory.text.slots import find_slots

FITS = Agreement(other=False, unfit=False)


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
        ('2号病房住的是谁?', '李大爷住在2号病房', '李大爷住在12号病房'),
        ('Who is in the kitchen at noon?', '中午厨房里是李姐', '中午车库里是李姐'),
        ('吴桐的答辩在哪天?', '吴桐的答辩在九月三号', '邓宁的答辩在九月三号'),
        ('冯奶奶能吃咸的吗?', '冯奶奶不能吃咸的', '孙奶奶不能吃咸的'),
        ('Does Nurse Chen drink coffee?', '陈护士长喜欢喝咖啡', '王护士长喜欢喝咖啡'),
        (
            '王护士喝咖啡吗?',
            'Coffee is what Nurse Wang drinks',
            'Coffee is what Nurse Chen drinks',
        ),
        ('吴先生下次做胃镜是哪天?', '吴先生下周二做胃镜', '吴先生上周二做了胃镜'),
    ],
)
def test_a_text_about_another_thing_names_another(question: str, right: str, wrong: str) -> None:
    asked = find_slots(question)
    fits, misses = compare(asked, find_slots(right)), compare(asked, find_slots(wrong))
    assert (fits.other, misses.other) == (False, True)


@pytest.mark.parametrize(
    ('question', 'right', 'wrong'),
    [
        ('How heavy is the pallet?', 'The pallet weighs 22 kilos', 'The pallet is 2 m long'),
        ('What colour is the van?', 'The van is white', 'The van has a lift'),
        ('How many chairs are there?', 'There are twelve chairs', 'The chairs are stacked'),
        ('会议室的湿度是多少?', '会议室的湿度是40%', '会议室的温度是18度'),
        ('How wide is the corridor?', 'The corridor is 2 m wide', 'The corridor is 85 m long'),
        ('How wide is the door?', 'The door measures 90 cm', 'The door is 2 m high'),
        ('标定板有多厚?', '标定板厚5毫米', '标定板边长三十厘米'),
        ('How old is Tommy?', 'Tommy turns nine in May', 'Tommy lives in room 9'),
        ('How many meals fit in the cart?', '送餐车能装三十六份饭', '送餐车停在门口'),
        (
            'Whose is the oscilloscope?',
            'The oscilloscope is on loan',
            'The oscilloscope is broken',
        ),
    ],
)
def test_a_text_without_what_is_asked_for_is_unfit(question: str, right: str, wrong: str) -> None:
    asked = find_slots(question)
    fits, misses = compare(asked, find_slots(right)), compare(asked, find_slots(wrong))
    assert (fits.unfit, misses.unfit) == (False, True)


def test_the_chance_grows_with_relevance_and_falls_with_each_misfit() -> None:
    chances = [estimate(relevance, 0.7, FITS) for relevance in (0.7, 0.5, 0.3, 0.1)]
    assert chances[0] > 0.7
    assert chances == sorted(chances, reverse=True)
    for misfit in (Agreement(other=True, unfit=False), Agreement(other=False, unfit=True)):
        assert estimate(0.6, 0.6, misfit) < estimate(0.6, 0.6, FITS)


def test_a_memory_behind_a_more_relevant_one_hardly_answers() -> None:
    assert estimate(0.3, 0.3, FITS) > 2 * estimate(0.3, 0.6, FITS)


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

"""Texts that differ in a figure, a negation or a thing have different keys."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.duplicate_keys import duplicate_key, names_another

ANY_TEXT = st.text(st.characters(), max_size=400)
LIKELY_TEXT = st.text(
    'aeN5 .-+_=<>%\u0301\u200d\u2019²不没第三十二点五号米力的ก็한Ж😀🇩🇪', max_size=80
)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('12.50 N', '12.5N'),
        ('12.5 newtons', '12.5 N'),
        ('12.5牛顿', '12.5N'),
        ('十二点五牛', '12.5 N'),
        ('012 mm', '12 millimetres'),
        ('1.25e1 N', '12.5 N'),
        ('盘子重1.5千克', '盘子重1.5 kg'),
        ('盘子重一点五千克', '盘子重1.5公斤'),
        ('重三千克', '重3公斤'),
        ('重 2 千克', '重两公斤'),
        ('重两百克', '重200克'),
        ('重3百克', '重三百克'),
        ('重一千五百克', '重1500克'),
        ('走3千米', '走三公里'),
        ('厚三毫米', '厚3 mm'),
        ('推力1.5千牛', '推力1.5kN'),
        ('频率10千赫', '频率10 kHz'),
        ('走了1万2千步', '走了12000步'),
        ('走了1.5万步', '走了15000步'),
        ('身高一米五', '身高1.5米'),
        ('两公斤半', '2.5公斤'),
        ('离墙半米', '离墙0.5米'),
        ('误差千分之三', '误差0.3%'),
        ('two arms', '2 arms'),
        ('a two second delay', 'a 2 s delay'),
        ('the third shelf', 'shelf 3'),
        ('三号货架', '3号货架'),
        ('第三个货架', '货架 3'),
        ('关节三过热', '关节3过热'),
        ('两个杯子', '2 个杯子'),
        ('百分之八十', '80%'),
        ('80 percent', '80%'),
        ('2 m/s', '2 meters per second'),
        ("don't push", 'do not push'),
        ('cannot reach', 'can’t reach'),
        ('never push', 'do not push'),
        ('joint_3', 'joint 3'),
        ('a box is heavy', 'the box is heavy'),
        ('特别重的箱子', '很重的箱子'),
        ('识别杯子', '检测杯子'),
        ('无人机起飞', '飞机起飞'),
        ('一起移动', '同时移动'),
        ('not only fast but precise', 'fast and precise'),
        ('at 5 m use 10 Hz', 'use 10 Hz at 5 m'),
        ('this one slips', 'this slips'),
        ('Grip', ''),
    ],
)
def test_texts_that_say_the_same_figures_share_their_guard(one: str, other: str) -> None:
    assert duplicate_key(one) == duplicate_key(other)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('12.5N', '15N'),
        ('12.5 mm', '12.5 cm'),
        ('重1.5千克', '重1.51克'),
        ('身高一米五', '身高一米八'),
        ('误差千分之三', '误差千分之五'),
        ('速度60千万不要再快', '速度60000000'),
        ('重3千克', '重三千克五百克'),
        ('depth in mm', 'depth in cm'),
        ('-0.5 rad', '0.5 rad'),
        ('joint_3', 'joint_4'),
        ('arm-1', 'arm-2'),
        ('shelf 3', 'shelf 4'),
        ('shelf three', 'shelf four'),
        ('second shelf', 'third shelf'),
        ('first shelf', 'second shelf'),
        ('UR5e', 'UR10e'),
        ('三号货架', '四号货架'),
        ('关节三', '关节四'),
        ('force > 15N', 'force < 15N'),
        ('from 3 to 4', 'from 4 to 3'),
        ('must exceed', 'must not exceed'),
        ("it does slip, it's wet", "it doesn't slip, it's wet"),
        ('with gloves', 'without gloves'),
        ('never without gloves', 'without gloves'),
        ('lidar is reliable', 'lidar is unreliable'),
        ('grasps the cup', 'fails to grasp the cup'),
        ('可以超过', '不可以超过'),
        ('检查关节限位', '未检查关节限位'),
        ('有障碍', '没有障碍'),
        ('禁止进入', '允许进入'),
        ('Kraft ist hoch', 'Kraft ist nicht hoch'),
        ('der Greifer hält', 'kein Greifer hält'),
        ('касаться стекла', 'не касаться стекла'),
        ('зазор 5 мм', 'зазор 5 см'),
        ('keep a > b always', 'keep a < b always'),
        ('map -> odom', 'map <- odom'),
        ('the C++ driver is used', 'the C# driver is used'),
    ],
)
def test_texts_that_differ_in_a_figure_or_a_no_have_different_guards(one: str, other: str) -> None:
    assert duplicate_key(one) != duplicate_key(other)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('The milk is in the fridge', 'The eggs are in the fridge'),
        ('Take the tray to the wash station', 'Take the tray to the packing table'),
        ('Anna wants parts handed over slowly', 'Jonas wants parts handed over slowly'),
        ('The gripper is on the left arm', 'On the right arm there is the gripper'),
        ('Never push the green crate', 'Never push the grey crate'),
        ('The lidar was replaced in March', 'The lidar was replaced in May'),
        ('The oven door is open', 'The oven door is closed'),
        ('Shelf B holds the pads', 'Shelf C holds the pads'),
        ('See magazine A, slot 4', 'See magazine C, slot 4'),
        ('夹爪装在左臂上', '夹爪装在右臂上'),
        ('备用钥匙在门边', '备用钥匙在窗边'),
        ('牛奶在冰箱里', '鸡蛋在冰箱里'),
        ('垫片在B货架', '垫片在C货架'),
        ('周二上午清洗切削液箱', '周四上午清洗切削液箱'),
        ('下午漏水传感器响了一回', '上午漏水传感器响了一回'),
        ('三姨说她房间的灯太亮了', '二姨说她房间的灯太亮了'),
        ('昨天打碎了一个杯子', '今天打碎了一个杯子'),
        ('滑台的前限位松了', '滑台的后限位松了'),
        ('The attempt to grasp it failed', 'The attempt to grasp it succeeded'),
        ('The valve of the inner ring leaks', 'The valve of the outer ring leaks'),
    ],
)
def test_the_same_sentence_of_another_thing_names_another(one: str, other: str) -> None:
    assert names_another(one, other)
    assert names_another(other, one)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('The kitchen door was closed', 'The kitchen door was shut'),
        ('The robot got stuck between the chairs', 'The robot became wedged between the chairs'),
        ('Grandma takes her pills every morning', 'Each morning grandma takes her medication'),
        ('The colour of the red cup fades', 'The color of the red cup fades'),
        ('Anna prefers green tea', 'Green tea is what Anna prefers'),
        ('The red cup is wet now', 'The red cup is wet'),
        ('The gate of dock B jams', 'the gate of dock b jams'),
        ('二号充电桩被托盘挡住了', '有个托盘挡住了二号充电桩'),
        ('抽屉受潮后会卡住', '抽屉受潮后会卡住了'),
        ('', ''),
        ('!', 'Anna'),
    ],
)
def test_other_words_for_one_thing_do_not_name_another(one: str, other: str) -> None:
    assert not names_another(one, other)
    assert not names_another(other, one)


@given(ANY_TEXT | LIKELY_TEXT)
def test_no_text_names_another_thing_than_itself(text: str) -> None:
    assert not names_another(text, text)


def test_a_text_without_figures_and_negation_has_an_empty_guard() -> None:
    assert (
        duplicate_key('red cups are slippery')
        == duplicate_key('红色杯子很滑')
        == duplicate_key('')
        == ''
    )

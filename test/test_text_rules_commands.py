"""A cue with its verb commands, what somebody tells of does not; a place is no command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.categories import CONSTRAINT, classify
from robot_memory.text.rules.commands import commands, describes


@pytest.mark.parametrize(
    'text',
    [
        'Anna is allergic to peanuts: never put nuts in her food or drinks.',
        "If the floor is wet, don't carry glassware across it.",
        'Do not answer the front door to strangers.',
        'The welding torch must never be carried while it is hot.',
        '要等护士来才能给药',
        '穿了围裙才可以炒菜',
        '两个人才能抬冰箱',
        'The arm may not lift more than eight kilos.',
        'Batteries are never to be stored near the radiator.',
        'Only Karin may authorise a bypass of the interlock.',
        'Under the crane it is prohibited to stop.',
        'Always wash the rice before you cook it.',
        'You must not open the fume hood while the alarm is on.',
        'Make sure the gas is off before you leave.',
        'Knives are only handed over handle first.',
        'The orange flag has to be up in the packing hall.',
        'A workshop hand tool is wiped after use.',
        '桌上的信件不得翻看。',
        '没有我的同意，不得打开保险柜。',
        '卸货之前一定要先锁住轮子。',
        '千万别把杯子放在桌边上。',
        '必须先开排风，再开酸柜。',
        '走廊里不准跑。',
    ],
)
def test_a_cue_with_a_verb_commands(text: str) -> None:
    assert commands(text)
    assert not describes(text)
    assert classify(text).category == CONSTRAINT


@pytest.mark.parametrize(
    'text',
    [
        'Never mind the mess.',
        "Don't worry about dinner.",
        'The students never read the notice board.',
        'The train never leaves before 7:15.',
        '他昨天来了才能修好',
        '我等了半天才能进去',
        'It must have been raining, the yard is soaked.',
        'You must be freezing out there.',
        "I don't open the door at night.",
        'Yesterday the arm was not allowed to finish.',
        '"Never touch the red valve," it used to say here.',
        'You no longer have to knock at the storeroom.',
        'My uncle says you must never whistle on a ship.',
        'Should I never open the window?',
        '我不准他在大厅抽烟，他就走了。',
        '以前必须戴发网，后来取消了。',
        '他们要不要先洗手？',
        '这件事不要紧。',
        '特别重的箱子。',
        '这里原先写着“严禁触碰红阀”，后来没这回事了。',
        '这种胶必须加热才固化。',
    ],
)
def test_what_is_told_asked_guessed_or_past_commands_nothing(text: str) -> None:
    assert not commands(text)


@pytest.mark.parametrize(
    'text',
    [
        'Plates go in the upper cupboard.',
        'The blue bins stand along the north wall.',
        'We keep the beach towels under the stairs.',
        'There are no clean spoons.',
        'No one is in the break room right now.',
        '红色杯子在上层架子上',
        '备用保险丝放在冰柜上面的饼干盒里。',
    ],
)
def test_a_place_has_the_form_of_no_command(text: str) -> None:
    assert describes(text)
    assert classify(text).category != CONSTRAINT


@pytest.mark.parametrize(
    'text',
    [
        'Plates only go in the upper cupboard.',
        'The knife stays in the drawer while a child is near.',
        'Keep the fire door closed.',
        '防火门保持关闭。',
        '酒精必须放在防爆柜里。',
        '把杯子放在上层架子上。',
        '',
    ],
)
def test_what_may_be_a_command_is_no_description(text: str) -> None:
    assert not describes(text)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    assert commands(text) in (True, False)
    assert describes(text) in (True, False)

"""Which texts command a limit, and which only tell of an amount."""

from __future__ import annotations

import pytest

from robot_memory.text.rules.prescribed import prescribes_limit


@pytest.mark.parametrize(
    'text',
    [
        'Must never push faster than 1.3 m/s',
        'The arm may swing at no more than 45 degrees per second',
        "I don't want to see more than 10 N on that hinge",
        'Ensure the offset never gets larger than 4 mm',
        'Speed: 0.4 m/s maximum',
        'Anything above 1 m/s is prohibited in the hall',
        '无论如何不许举过1.2米',
        '捏西红柿顶多用15牛',
        '避免用大于18牛的力拉',
        '到门口减速到0.2米/秒以下',
        'Half speed is the most I will accept on the night shift',
        'For the ceramic plates: 7 N, not a newton more',
        'Keep it under 30 cm/s in the corridor',
        '手腕上的力一到十五牛就得退',
        '你走路要慢于0.2米每秒',
    ],
)
def test_a_command_with_an_amount_prescribes_a_limit(text: str) -> None:
    assert prescribes_limit(text)


@pytest.mark.parametrize(
    'text',
    [
        'The screw is at least 5 mm long',
        'I have never seen it push harder than 20 N',
        'It must have been going over 2 m/s',
        'She never walks faster than 1 m/s',
        'The sensor cannot measure above 50 N',
        'Every time humidity > 80%, grip fails',
        'Never enter the freezer',
        '灭火器的有效喷射时间至少十三秒',
        '走廊至少有2米宽',
        '上周风速从未超过8米/秒',
        'Does it go faster than 1 m/s?',
        'If only the corridor were wider than 90 cm',
        'It usually takes less than 5 minutes',
        '它能快过一米每秒吗？',
        '要是旧机械臂能快过半米每秒就好了',
        '',
    ],
)
def test_what_tells_of_an_amount_prescribes_nothing(text: str) -> None:
    assert not prescribes_limit(text)

"""Weights and lengths that are told in parts, in figures."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.rules.limits import read_limits
from robot_memory.text.rules.normalising import normalise
from robot_memory.text.rules.scene import read_scene


@pytest.mark.parametrize(
    ('text', 'figures'),
    [
        ('A kilo and a half of flour', '1.5 kilo of flour'),
        ('a metre and a half', '1.5 metre'),
        ('two feet and a quarter', '2.25 feet'),
        ('two and a half tonnes', '2.5 tonnes'),
        ('a one-and-a-half-tonne pallet', 'a 1.5-tonne pallet'),
        ('1 1/2 kg', '1.5 kg'),
        ('1½ kg', '1.5 kg'),
        ('½ lb', '0.5 lb'),
        ('3/8 inch', '0.375 inch'),
        ('1/4 of a kilo', '0.25 kilo'),
        ('a couple kilos', '2 kilos'),
        ('2 lb 8 oz', '2.5 lb'),
        ('6 feet 6 inches', '6.5 feet'),
        ('1 m 20 cm', '1.2 m'),
        ('三斤半', '3.5斤'),
        ('三斤二两', '3.2 斤'),
        ('一吨半', '1.5吨'),
        ('半吨', '0.5吨'),
        ('十厘米半', '10.5厘米'),
        ('两公斤三百克', '2.3 公斤'),
    ],
)
def test_parts_are_written_in_figures(text: str, figures: str) -> None:
    assert normalise(text)[0] == figures


@pytest.mark.parametrize(
    'text',
    [
        'a box and a half',
        '5 degrees and a half turn',
        '2 kg, 500 g',
        '24/7',
        'put 6 ft 6 in the box',
        '2 m 3 kg',
        'a couple of cups',
        '十斤一袋',
        '剩一半米饭',
        '三斤两袋',
    ],
)
def test_what_is_no_part_stays(text: str) -> None:
    assert normalise(text)[0] == text


def test_tasks_and_limits_have_them() -> None:
    assert read_scene('Carry 1 1/2 kg of rice').weights == [1.5]
    assert read_scene('搬三斤半大米').weights == [1.75]
    (limit,) = read_limits('Keep at least a metre and a half away from people')
    assert (limit.low, limit.high, limit.unit) == (1.5, None, 'm')
    (limit,) = read_limits('抬升高度不得超过半米')
    assert (limit.low, limit.high, limit.unit) == (None, 0.5, 'm')


@given(
    st.text(
        alphabet='0123456789 /½-, akilo and a half kg lb oz m ft inch 一二三半斤两公吨米',
        max_size=30,
    )
)
def test_any_text_is_read(text: str) -> None:
    shown, folded = normalise(text)
    assert len(shown) == len(folded)

"""Quantities in text, and their values in another unit."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.units import convert, parse_quantity, parse_unit, read_bound


@pytest.mark.parametrize(
    ('text', 'unit', 'value'),
    [
        ('5 N', 'N', 5),
        ('5N', 'N', 5),
        ('-5e1 mN', 'N', -0.05),
        ('1500 g', 'kg', 1.5),
        ('500 mm', 'm', 0.5),
        ('20 cm', 'm', 0.2),
        ('300 ms', 's', 0.3),
        ('2 min', 's', 120),
        ('1.5 h', 'min', 90),
        ('180 deg', 'rad', math.pi),
        ('4 °', 'deg', 4),
        ('5 N cm', 'N m', 0.05),
        ('5 N·cm', 'N m', 0.05),
        ('3 Nm', 'N m', 3),
        ('3 Ns', 'N s', 3),
        ('60 degC', 'K', 333.15),
        ('60 °C', 'degC', 60),
        ('140 degF', 'degC', 60),
        ('273.15 K', 'degC', 0),
        ('30 rpm', 'rad/s', math.pi),
        ('90 deg/s', 'rad/s', math.pi / 2),
        ('2 m/s²', 'm/s^2', 2),
        ('2 km/h', 'm/s', 2 / 3.6),
        ('3 Hz', '1/s', 3),
        ('1 bar', 'kPa', 100),
        ('7 V', 'mV', 7000),
        ('20 %', '', 0.2),
        ('0.2', '%', 0.2),
        ('0.5', '', 0.5),
        ('2 newtons', 'N', 2),
        ('2 Ω', 'Ohm', 2),
        ('2 µm', 'mm', 0.002),
        ('16 oz', 'lb', 1),
        ('2 pounds', 'kg', 0.907_184_74),
        ('3 feet', 'yd', 1),
        ('3 斤', 'kg', 1.5),
    ],
)
def test_a_quantity_is_read_in_the_unit_of_the_figure(text: str, unit: str, value: float) -> None:
    assert read_bound('where', text, unit) == pytest.approx(value, rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ('text', 'unit', 'words'),
    [
        ('5 kg', 'N', "in N; '5 kg' is another quantity"),
        ('5 N', '', "without a unit; '5 N' is another quantity"),
        ('5 N', 'N m', 'another quantity'),
        ('5 parsec', 'm', 'unknown unit'),
        ('5 N/', 'N', 'unknown unit'),
        ('five N', 'N', "a number in N, not 'five N'"),
        ('', 'N', 'a number in N'),
        ('nan N', 'N', 'a number in N'),
        ('1e999 N', 'N', 'a number in N'),
        ('5 N', 'ticks', 'another quantity'),
    ],
)
def test_a_bound_of_another_quantity_is_refused_and_the_unit_named(
    text: str, unit: str, words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        read_bound('where', text, unit)


UNITS = ['N', 'mN', 'kN', 'lbf', 'degC', 'K', 'degF', 'deg', 'rad', 'N cm', 'N m', 'm/s', 'km/h']


@given(
    st.floats(-1e9, 1e9, allow_nan=False),
    st.sampled_from(UNITS),
    st.sampled_from(UNITS),
)
def test_a_conversion_and_its_inverse_give_the_value_back(
    value: float, one: str, other: str
) -> None:
    there = convert(value, one, other)
    first, second = parse_unit(one), parse_unit(other)
    assert first and second
    assert (there is None) == (first.dimension != second.dimension)
    if there is not None:
        assert convert(there, other, one) == pytest.approx(value, rel=1e-9, abs=1e-6)


@given(st.text(max_size=12))
def test_no_text_breaks_the_reader(text: str) -> None:
    parse_unit(text)
    quantity = parse_quantity(text)
    assert quantity is None or math.isfinite(quantity[0])

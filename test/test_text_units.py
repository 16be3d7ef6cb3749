"""Units of mass and length, which all readers of texts take from one table."""

from __future__ import annotations

import pytest

from robot_memory.core.units import convert
from robot_memory.text.questions.tables import load_table
from robot_memory.text.rules.amounts import read_amounts
from robot_memory.text.rules.quantities import find_weights
from robot_memory.text.units import LENGTHS, MASSES

_MASSES = [(name, one.factor) for one in MASSES.values() for name in one.list_names()]
_LENGTHS = [(name, one.factor) for one in LENGTHS.values() for name in one.list_names()]


@pytest.mark.parametrize(('name', 'kilograms'), _MASSES)
def test_each_name_of_a_mass_is_read_as_much_by_all(name: str, kilograms: float) -> None:
    (amount,) = read_amounts(f'at most 3 {name}').amounts
    assert convert(3, name, 'kg') == pytest.approx(3 * kilograms)
    assert convert(amount.value, amount.unit, 'kg') == pytest.approx(3 * kilograms)
    if name not in MASSES['mg'].list_names():
        ((found, *span),) = find_weights(f'3 {name}')
        assert found == pytest.approx(3 * kilograms)
        assert span == [0, 2 + len(name)]


@pytest.mark.parametrize(('name', 'metres'), _LENGTHS)
def test_each_name_of_a_length_is_read_as_much_by_all(name: str, metres: float) -> None:
    (amount,) = read_amounts(f'at most 3 {name}').amounts
    assert convert(3, name, 'm') == pytest.approx(3 * metres)
    assert convert(amount.value, amount.unit, 'm') == pytest.approx(3 * metres)


def test_questions_have_the_same_factors() -> None:
    keys = {'inch': 'in', 'foot': 'ft'}
    found = {
        name: (quantity, factor)
        for name, (quantity, factor) in load_table('figures')['si'].items()
        if quantity in ('mass', 'length')
    }
    assert found
    for name, (quantity, factor) in found.items():
        table = MASSES if quantity == 'mass' else LENGTHS
        assert table[keys.get(name, name)].factor == factor


def test_a_foot_or_a_yard_may_be_none_of_a_length() -> None:
    assert read_amounts('never step on a foot, nor drive into a yard').amounts == ()

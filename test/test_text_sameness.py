"""Whether two texts that look alike speak of the same."""

from __future__ import annotations

import pytest

from robot_memory.text.sameness import adds_another, tells_of_another


@pytest.mark.parametrize(
    ('one', 'other', 'parts'),
    [
        ('Delivered a box of gloves to ward 3', 'Delivered a box of samples to ward 3', True),
        ('Anna repaired the left pump', 'Anna replaced the left pump', True),
        ('The technician fixed the pump', 'The technician repaired the pump', False),
        ('The cup is on the table', 'On the table is the cup', False),
    ],
)
def test_another_object_or_verb_is_another_event(one: str, other: str, parts: bool) -> None:
    assert tells_of_another(one, other) is parts
    assert tells_of_another(other, one) is parts


@pytest.mark.parametrize(
    ('known', 'text', 'adds'),
    [
        ('Mr Feldman is allergic to eggs', 'Mr Feldman is allergic to eggs and milk', True),
        ("The cook can't have nuts or sesame", "The cook can't have nuts, sesame or eggs", True),
        ('Mr Feldman is allergic to eggs and milk', 'Mr Feldman is allergic to eggs', False),
        ('Never hand the cook nuts', 'Never hand the sous cook nuts', True),
        ('The cup is on the table', 'The red cup is on the table', False),
        ('Dry the cup', 'Please dry the cup, okay', False),
        ('主厨对花生过敏', '副主厨对花生过敏', True),
        ('老李的儿子怕狗', '老李的大儿子怕狗', True),
        ('老李不吃花生', '老李不吃花生和虾', True),
        ('杯子在桌上', '大杯子在桌上', False),
    ],
)
def test_a_longer_list_or_another_person_is_more(known: str, text: str, adds: bool) -> None:
    assert adds_another(known, text) is adds

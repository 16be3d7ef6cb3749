"""Weights that a text states, in kilograms."""

from __future__ import annotations

import pytest
from judging import judge_rule

from robot_memory.text.rules.quantities import find_weights
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.rules.several import has_several
from robot_memory.text.tokenizer import fold


@pytest.mark.parametrize(
    ('text', 'kilograms'),
    [
        ('Carry 5 kg of flour', 5),
        ('two and a half kilos', 2.5),
        ('a box of 5000 g', 5),
        ('5,000 grams', 5),
        ('3,5 kilos', 3.5),
        ('a 2 lb hammer', 0.90718474),
        ('1.5 tonnes of sand', 1500),
        ('三公斤半', 3.5),
        ('搬3000克面粉', 3),
        ('10斤米', 5),
        ('两吨的货', 2000),
        ('12 oz of glue', 0.340194),
        ('two pounds of nails', 0.90718474),
        ('3 t of gravel', 3000),
        ('half a tonne', 500),
        ('a couple of kilos', 2),
        ('2 kg per box', 2),
        ('两磅面包', 0.90718474),
        ('半吨', 500),
    ],
)
def test_a_weight_is_read_in_any_unit(text: str, kilograms: float) -> None:
    ((found, _, _),) = find_weights(fold(text))
    assert found == pytest.approx(kilograms)


@pytest.mark.parametrize(
    'text',
    [
        '5 N',
        '5 kg/m3',
        '3 m',
        'a gramophone',
        '5 golf balls',
        '三个',
        '5 pounds of force',
        '6 lb-ft',
        '2 kg per square metre',
        '三公斤力',
        'a vase that costs 20 pounds',
        '500 mg of aspirin',
    ],
)
def test_other_amounts_are_no_weights(text: str) -> None:
    assert find_weights(fold(text)) == []


def test_a_rule_in_grams_is_of_the_weight() -> None:
    assert read_rule('Use both hands for anything over 500 g') == {'payload_kg': ['>', 0.5]}
    assert read_rule('Anything over half a tonne goes by crane') == {'payload_kg': ['>', 500.0]}
    assert read_rule('Use both hands for anything over a kilo and a half') == {
        'payload_kg': ['>', 1.5]
    }
    assert read_rule('超过三斤半的东西要双手搬') == {'payload_kg': ['>', 1.75]}
    assert read_rule('超过3000克的东西要双手搬') == {'payload_kg': ['>', 3.0]}


@pytest.mark.parametrize(
    ('text', 'is_open'),
    [
        ('boxes of 0.8 kg', True),
        ('boxes of 800 g', True),
        ('1500 g per box', True),
        ('tins of 2 lb', True),
        ('tins of 12 oz', True),
        ('sacks of half a tonne', True),
        ('a box of 1500 g', False),
        ('boxes of 8 cm', False),
    ],
)
def test_a_weight_in_any_unit_may_be_that_of_each(text: str, is_open: bool) -> None:
    assert has_several(text) is is_open


@pytest.mark.parametrize(
    ('rule', 'at', 'less'),
    [
        ('Sacks of 25 kg and more are rolled.', 'Bring the sack of 25 kg.', 'Bring a 24 kg sack.'),
        ('Ask before you lift at least 25 kg.', 'Lift the 25 kg sack.', 'Lift the 24 kg sack.'),
        ('20斤以上的箱子要两个人抬。', '搬10公斤的箱子。', '搬9公斤的箱子。'),
    ],
)
def test_what_is_as_heavy_as_a_rule_says_is_of_it(rule: str, at: str, less: str) -> None:
    assert judge_rule(rule, at) is True
    assert judge_rule(rule, less) is False


def test_what_is_only_as_heavy_is_not_heavier() -> None:
    assert judge_rule('Anything over 25 kg is rolled.', 'Bring the 25 kg sack.') is False
    assert judge_rule('For parts of 50 g or less go slowly.', 'Grip the 50 g part.') is True
    assert judge_rule('For parts under 50 g go slowly.', 'Grip the 50 g part.') is False


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('Do not water when it is above 30 °C.', 'Water the beans.', None),
        ('Do not touch the pot when it is above 60 °C.', 'Pick up the pot.', None),
        ('Do not touch the pot when it is above 60 °C.', 'Pick up the cup.', False),
        ('气温超过30度时不要浇水', '给番茄浇水。', None),
        ('Anything above 60 °C is held with the glove.', 'Lift the cup.', False),
    ],
)
def test_how_warm_it_is_no_task_needs_to_say(rule: str, task: str, truth: bool | None) -> None:
    assert judge_rule(rule, task) is truth


@pytest.mark.parametrize(
    ('rule', 'task', 'truth'),
    [
        ('In the hall the floor is wet, drive slowly.', 'Drive to the hall.', None),
        ('In the hall the floor is wet, drive slowly.', 'Drive to the kitchen.', False),
        ('In rows 5 to 9 the floor is wet, drive slowly.', 'Water the beans in row 7.', None),
        ('When the floor is wet, drive slowly.', 'Drive to the hall.', False),
    ],
)
def test_that_it_is_wet_somewhere_is_told_by_the_rule(
    rule: str, task: str, truth: bool | None
) -> None:
    assert judge_rule(rule, task) is truth


def test_what_may_be_spent_is_no_weight() -> None:
    assert find_weights('never spend more than 20 pounds') == []
    assert find_weights('never lift more than 20 pounds') != []

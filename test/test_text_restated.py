"""What tells that a text says the same as a known one in other words."""

from __future__ import annotations

import math

import pytest

from robot_memory.text import restated
from robot_memory.text.restated import list_evidence, rate_restated
from robot_memory.text.toml_tables import load_toml

SURE, UNSURE = (-3.0, 3.0), (-3.0, 0.5)
"""Log odds of a cross-encoder that the newer text replaces the older, and restates it."""


def test_each_piece_of_evidence_has_a_weight() -> None:
    weights = load_toml(restated.__file__, 'restated.toml')['weights']
    evidence = list_evidence('The tap drips', 'Water comes out of the tap', 0.7, *SURE)
    assert {*weights} == {*evidence, 'bias'}
    assert all(map(math.isfinite, (*weights.values(), *evidence.values())))


@pytest.mark.parametrize(
    ('old', 'new', 'other'),
    [
        (
            'The gripper dropped the beaker',
            'The beaker fell out of the gripper',
            'The gripper dropped the bottle',
        ),
        ('夹爪把烧杯弄掉了', '烧杯从夹爪里掉了下来', '夹爪把瓶子弄掉了'),
        ('Li takes 2 kg of flour', 'Flour: Li takes 2000 g of it', 'Li takes 3 kg of flour'),
    ],
)
def test_at_the_same_odds_of_a_model_words_part_what_is_another_thing(
    old: str, new: str, other: str
) -> None:
    assert rate_restated(old, new, 0.8, *UNSURE) > rate_restated(old, other, 0.8, *UNSURE)


def test_a_surer_model_and_nearer_vectors_add_to_the_odds() -> None:
    pair = 'The filter is changed every two days', 'Every second day the filter gets replaced'
    rated = [rate_restated(*pair, 0.8, *scores) for scores in (UNSURE, SURE)]
    assert rated[0] < rated[1]
    assert rate_restated(*pair, 0.6, *SURE) < rate_restated(*pair, 0.9, *SURE)


@pytest.mark.parametrize('text', ['', ' ', '。', '5', 'a' * 300, '🤖'])
def test_any_text_has_odds(text: str) -> None:
    assert math.isfinite(rate_restated(text, text, 0.0, 0.0, 0.0))

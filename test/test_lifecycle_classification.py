"""What detectors write is classified once a form, and as each text would be by itself."""

from __future__ import annotations

import random

from robot_memory.lifecycle.classification import classify_measured
from robot_memory.text.categories import PROTECTED, classify

FORMS = (
    'contact push for {} s: peak {} N along -z of tool0, mean {} N',
    'motion of elbow, wrist_{} for {} s: peak speed {} rad/s (wrist_3)',
    'picture of /camera_{}/image at {} px, {} % changed',
    'fault: error code {} of joint {}, motor at {} °C',
    'reading {} of {} topics: battery {} V',
    '接触推动{}秒：峰值{}牛，平均{}牛',
    'saved {} s of signal to run_{}.mcap and log.{}.txt',
    'nav2 failed {} of {} times within {} m',
)
NUMBERS = ('0', '1', '7', '10', '24', '99', '100', '404', '0.5', '2.0', '3.7', '12.25', '1000')


def test_a_text_is_classified_as_by_itself() -> None:
    chance = random.Random(5)
    for _ in range(60):
        for form in FORMS:
            text = form.format(*(chance.choice(NUMBERS) for _ in range(3)))
            alone = classify(text)
            assert alone.category not in PROTECTED
            assert classify_measured(text) == alone, text


def test_files_that_a_text_names_keep_their_numbers() -> None:
    for number in (23, 45, 67):
        found = classify_measured(f'saved the signal to run_{number}.mcap and 7{number}.yaml')
        assert found.scope_files == (f'run_{number}.mcap', f'7{number}.yaml')


def test_an_amount_that_was_measured_is_no_rule_whatever_its_digits() -> None:
    for number in (2, 5, 31, 47):
        assert classify_measured(f'push over {number} N').category not in PROTECTED

"""Which language a text is in."""

from __future__ import annotations

import pytest

from robot_memory.text.language import find_language


@pytest.mark.parametrize(
    ('text', 'language'),
    [
        ('Where did you put the blue cup?', 'en'),
        ('Grip force 12.5 N, shelf B3', 'en'),
        ("Müller's cup is on the shelf", 'en'),
        ('', 'en'),
        ('蓝色杯子在哪里?', 'zh'),
        ('用 gripper 抓住杯子', 'zh'),
        ('Wo steht die blaue Tasse von Herrn Meier?', ''),
        ('¿Dónde está la taza azul?', ''),
        ('Où est la tasse bleue ?', ''),
        ('Робот остановился у двери', ''),
        ('ロボットはドアのところで止まった', ''),
    ],
)
def test_a_language_is_told_by_its_script_and_its_common_words(text: str, language: str) -> None:
    assert find_language(text) == language

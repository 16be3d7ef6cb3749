"""What people say in passing is told from what lasts."""

from __future__ import annotations

import pytest

from robot_memory.text.small_talk import is_small_talk
from robot_memory.text.statements import extract_statements
from robot_memory.text.tokenizer import fold


@pytest.mark.parametrize(
    'text',
    [
        'Perhaps the spare key belongs in the drawer.',
        'If I were allergic to nuts, I would tell you.',
        'You always make my day.',
        'The radio said the road is closed on Sundays.',
        'The tea in the kitchen is cold.',
        'My train left at seven.',
        'I have a meeting at three this afternoon.',
        'Robots never get tired.',
        'Never look a gift horse in the mouth.',
        'Always the same noise in the hall.',
        '也许备用钥匙在抽屉里。',
        '要是我对花生过敏，我早说了。',
        '你总是让我开心。',
        '广播说周日封路。',
        '他总是在打电话。',
        '小王在走廊里打电话。',
        '我十分钟后回来。',
        '昨晚九点停电了。',
    ],
)
def test_what_is_said_in_passing_states_nothing(text: str) -> None:
    assert is_small_talk(fold(text), after_statement=False)
    assert extract_statements(text) == []


@pytest.mark.parametrize(
    'text',
    [
        'From now on, bring the mail to my desk.',
        'I need my medicine every evening at nine.',
        'We do not meet on Thursdays any more, it is Wednesday now.',
        'The green bin is for glass.',
        '以后把信送到我桌上。',
        '我每天晚上九点要吃药。',
        '狗不能上沙发。',
    ],
)
def test_words_of_the_moment_do_not_hide_what_lasts(text: str) -> None:
    assert not is_small_talk(fold(text), after_statement=False)
    assert len(extract_statements(text)) == 1


def test_he_is_known_behind_a_statement_only() -> None:
    son = 'My son Paul is five.'
    allergic = 'He is allergic to nuts.'
    assert extract_statements(allergic) == []
    assert [one.text for one in extract_statements(f'{son} {allergic}')] == [son, allergic]


def test_who_asks_to_remember_is_heard() -> None:
    assert extract_statements('The red cup is hot today.') == []
    assert extract_statements('Remember that the red cup is hot today.')

"""What a text asks for is read by rules."""

from __future__ import annotations

import pytest

from robot_memory.sage.intent import parse_intent


@pytest.mark.parametrize(
    ('text', 'field', 'primary', 'kind'),
    [
        ('如何使用Python装饰器？', 'coding', 'seeking_solution', 'how_to'),
        ('What is a TCP offset?', 'calibration', 'seeking_definition', 'definition'),
        ('Why did the gripper slip?', 'manipulation', 'debug_help', 'troubleshooting'),
        ('Where is the charging dock?', 'navigation', 'seeking_definition', 'definition'),
        ('机械臂抓取失败，怎么修复？', 'debugging', 'debug_help', 'troubleshooting'),
        ('hello', 'general', 'general_inquiry', 'general'),
    ],
)
def test_a_text_is_read_by_rules(text: str, field: str, primary: str, kind: str) -> None:
    intent = parse_intent(text)
    assert (intent.field, intent.primary, intent.question_type) == (field, primary, kind)
    assert 0 <= intent.confidence <= 1


def test_keywords_stand_as_they_were_written() -> None:
    assert parse_intent('如何使用Python装饰器？').keywords == ('Python', '装饰器')
    assert parse_intent('How hard may I grip the Red Cup?').keywords == (
        'hard',
        'grip',
        'Red',
        'Cup',
    )

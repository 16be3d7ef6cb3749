"""Texts of pages: both languages, numbers, and letters that could break a page."""

from __future__ import annotations

import pytest

from robot_memory.core.authority import AUTHORITIES, ROLES
from robot_memory.core.records import PERCEPTION_TYPES
from robot_memory.text.categories import CATEGORIES
from robot_memory.viewer.pages.changes import ACTIONS, DECISIONS
from robot_memory.viewer.pages.timeline import KINDS
from robot_memory.viewer.rendering import (
    clean,
    format_number,
    format_size,
    get_environment,
    make_link,
    read_words,
)


def list_texts() -> set[str]:
    """Return every text of the templates that is translated."""
    environment = get_environment('en')
    assert environment.loader is not None
    return {
        text
        for name in environment.list_templates()
        for _, _, text in environment.extract_translations(  # type: ignore[attr-defined]
            environment.loader.get_source(environment, name)[0]
        )
        if isinstance(text, str)
    }


def test_every_text_has_its_chinese() -> None:
    words = read_words()
    named = {*AUTHORITIES, *ROLES, *PERCEPTION_TYPES, *CATEGORIES, *ACTIONS, *DECISIONS, *KINDS}
    assert not (list_texts() | named) - words.keys()
    assert all(text.strip() for text in words.values())


def test_placeholders_are_the_same_in_both_languages() -> None:
    for english, chinese in read_words().items():
        assert english.count('%') == chinese.count('%'), english


@pytest.mark.parametrize(
    ('value', 'text'),
    [
        (0, '0'),
        (1_234_567, '1,234,567'),
        (0.0, '0'),
        (0.123456, '0.123'),
        (12.5, '12.5'),
        (1234.5678, '1,235'),
        (1e-9, '1.00e-09'),
        (float('nan'), 'nan'),
        (True, 'True'),
        ('text', 'text'),
    ],
)
def test_numbers_have_three_significant_digits(value: object, text: str) -> None:
    assert format_number(value) == text


def test_sizes_are_in_decimal_units() -> None:
    assert [format_size(size) for size in (5, 1500, 2_000_000, 3e15)] == [
        '5 B',
        '1.5 kB',
        '2 MB',
        '3,000 TB',
    ]


def test_letters_that_hide_or_move_text_are_shown_as_replaced() -> None:
    assert clean('a\0b\u202ec\u2066d\x1be\ud800f\n\tg 猫 שלום') == 'a�b�c�d�e�f\n\tg 猫 שלום'


def test_a_link_leaves_out_what_is_empty() -> None:
    assert make_link('/', {}) == '/'
    assert make_link('/', {'a': 'x y', 'b': ''}, c=None, a='&') == '/?a=%26'

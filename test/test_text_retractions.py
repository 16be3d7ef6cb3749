"""What a text says was wrong of what was said just before."""

from __future__ import annotations

import pytest

from robot_memory.text.retractions import LONGEST, read_denied


@pytest.mark.parametrize(
    ('text', 'denied'),
    [
        ('Not Tuesday, I misread that. Wednesday.', {'tuesday'}),
        ("No wait, it's not the left drawer, it's the right.", {'left', 'drawer'}),
        ('Sorry, not Gerda: Edith.', {'gerda'}),
        ('不是左边，是右边那个。', {'左边'}),
        ('不对，不是周四，而是周五。', {'周四'}),
    ],
)
def test_what_was_wrong_is_what_stands_before_what_is_right(text: str, denied: set[str]) -> None:
    assert read_denied(text) == denied


@pytest.mark.parametrize(
    'text',
    [
        '',
        'The mug is not blue, it is green.',
        '这个不是坏的',
        'No sugar for Li.',
        'Not one lamp of the annex is on',
        f'Not Tuesday, {"x" * LONGEST}',
    ],
)
def test_other_texts_deny_nothing_that_was_said(text: str) -> None:
    assert read_denied(text) == frozenset()

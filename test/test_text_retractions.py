"""What takes back what was said just before, and what only sounds like it."""

from __future__ import annotations

import pytest

from robot_memory.text.retractions import read_retraction


@pytest.mark.parametrize(
    ('known', 'text'),
    [
        ('The miller comes on Tuesday.', 'Not Tuesday, I misread that. Wednesday.'),
        (
            'The pills are in the left drawer.',
            "No wait, it's not the left drawer, it's the right.",
        ),
        ('Dora feeds the rye and Faisal the wheat.', 'Other way round with those.'),
        ('The lower deck scorches.', "You've got that backwards, it's the top one."),
        ('The blue mug is for Anna.', "No, that's the green mug."),
        ('Anna has the attic and Li the cellar.', 'The two swapped.'),
        ('奶奶的药放在左边抽屉。', '不是左边，是右边那个。'),
        ('阿珍管裱花，美兰管收银。', '说反了，她俩正好倒过来。'),
        ('上周撞坏后视镜的是小贺。', '冤枉他了，是老葛倒车时碰的。'),
        ('新来的小猫叫咪咪。', '不对，新来那只小猫叫团团。'),
    ],
)
def test_what_takes_back_fits_what_was_said(known: str, text: str) -> None:
    found = read_retraction(text)
    assert found is not None
    assert found.fits(known)


@pytest.mark.parametrize(
    ('known', 'text'),
    [
        ('All lamps of the annex are off.', 'Not one lamp of the annex is on.'),
        ('The miller comes on Tuesday.', "Not Friday, that's the baker."),
        (
            'The Novaks live on the fourth floor.',
            'I was wrong about the Nemeths, they live below.',
        ),
        ('The keys hang on the hook.', "No, it's for Li."),
        ('The keys hang on the hook.', "No, that's fine."),
        ('奶奶的药放在左边抽屉。', '不是周四，是周五。'),
    ],
)
def test_what_takes_back_something_else_does_not_fit(known: str, text: str) -> None:
    found = read_retraction(text)
    assert found is None or not found.fits(known)


@pytest.mark.parametrize(
    'text',
    ['', 'The mug is not blue, it is green.', '这个不是坏的', 'x' * 200, 'No sugar for Li.'],
)
def test_other_texts_take_nothing_back(text: str) -> None:
    assert read_retraction(text) is None

"""How alike two texts are by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.text.token_sets import (
    compute_jaccard,
    make_token_set,
    may_exceed_jaccard,
)

ANY_TEXT = st.text(st.characters(), max_size=400)
LIKELY_TEXT = st.text(
    'aeN5 .-+_=<>%\u0301\u200d\u2019²不没第三十二点五号米力的ก็한Ж😀🇩🇪', max_size=80
)
PIECES = "the red Cup don't can't cannot not do it's 5N -3 .5 gripper's 0.50 a+ x 红色的杯"
WORDS = st.lists(
    st.sampled_from([*PIECES.split(), '\ufb01x', 'won\u2019t']),
    max_size=12,
).map(' '.join)


@given(ANY_TEXT | LIKELY_TEXT | WORDS)
def test_a_text_is_its_own_duplicate(text: str) -> None:
    assert compute_jaccard(make_token_set(text), make_token_set(text)) == (
        1.0 if make_token_set(text) else 0.0
    )


@given(LIKELY_TEXT | WORDS, LIKELY_TEXT | WORDS, st.floats(0, 1))
def test_what_exceeds_a_bar_is_never_ruled_out(one: str, other: str, bar: float) -> None:
    tokens, others = make_token_set(one), make_token_set(other)
    if compute_jaccard(tokens, others) > bar:
        assert may_exceed_jaccard(tokens, other, len(others), bar)


def test_texts_that_lack_the_words_are_ruled_out() -> None:
    tokens = make_token_set('the red cup needs 12 N')
    assert not may_exceed_jaccard(tokens, 'a blue box weighs 12 kg', 5, 0.7)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('Found that red cups require more force', 'Found that the red cups require more force'),
        ('发现红色杯子需要更大的力', '发现红色的杯子需要更大的力'),
        ('抓取玻璃杯前先降低速度', '抓取玻璃杯之前先降低速度'),
        ('传感器漂移导致抓取失败', '传感器漂移导致了抓取失败'),
    ],
)
def test_close_paraphrases_pass_the_bar(one: str, other: str) -> None:
    assert compute_jaccard(make_token_set(one), make_token_set(other)) > 0.70


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('发现红色杯子需要更大的力', '发现蓝色杯子需要更大的力'),
        ('吸盘比夹爪快', '夹爪比吸盘快'),
        ('red cups slip', 'blue trays slip'),
        ('湿度高时抓取失败', '温度高时导航失败'),
    ],
)
def test_another_object_or_order_stays_below_the_bar(one: str, other: str) -> None:
    assert compute_jaccard(make_token_set(one), make_token_set(other)) <= 0.70


def test_nothing_resembles_a_text_without_words() -> None:
    assert compute_jaccard(make_token_set('!!!'), make_token_set('???')) == 0.0

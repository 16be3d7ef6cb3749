"""What texts are indexed by, compared by and cut at."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import ending_work

from robot_memory.text.duplicate_keys import duplicate_key
from robot_memory.text.token_sets import make_token_set
from robot_memory.text.tokenizer import (
    AMOUNT,
    DATE,
    MAX_QUERY_TERMS,
    MINUS,
    PLUS,
    POINT,
    TIME,
    cut,
    extract_query_terms,
    extract_terms,
    hash_content,
    normalise,
    parse_query,
)

ANY_TEXT = st.text(st.characters(), max_size=400)
LIKELY_TEXT = st.text(
    'aeN5 .-+_=<>%\u0301\u200d\u2019²不没第三十二点五号米力的ก็한Ж😀🇩🇪', max_size=80
)


def number(text: str) -> str:
    return text.replace('.', POINT).replace('-', MINUS)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('Grip  Force\tis high.', 'grip force is high'),
        ('「抓取力过大」', '抓取力过大'),
        ('Grip force', 'Grip force'),
        ('Straße', 'STRASSE'),
        ('- don’t push!', "don't push"),
        ('soft\u00adhyphen', 'softhyphen'),
    ],
)
def test_two_spellings_of_one_sentence_have_one_hash(one: str, other: str) -> None:
    assert hash_content(one) == hash_content(other)
    assert len(hash_content(one)) == 32


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('-0.5 is the offset', '0.5 is the offset'),
        ('.5 N', '5 N'),
        ('humidity 80%', 'humidity 80'),
        ('<15N is fine', '>15N is fine'),
        ('10² N', '102 N'),
        ('!!!', '???'),
        ('width 5"', 'width 5'),
    ],
)
def test_what_changes_the_meaning_changes_the_hash(one: str, other: str) -> None:
    assert hash_content(one) != hash_content(other)


@pytest.mark.parametrize(
    ('text', 'expected'),
    [
        ('grip_force=12.5N', ['grip', 'force', '12.5', 'n']),
        ('offset -0.5', ['offset', '-0.5']),
        ('x=-.5', ['x', '-0.5']),
        ('arm-1', ['arm', '1']),
        ('10-20 mm', ['10', '20', 'mm']),
        ('UR5e', ['ur5e']),
        ('1e-3', ['1e-3']),
        ('Größe der Straße', ['grösse', 'der', 'strasse']),
        ('Красная чашка', ['красная', 'чашка']),
        ('नमस्ते', ['नमस्ते']),
        ('red-cup: slippery!', ['red', 'cup', 'slippery']),
        ('红杯子', ['红', '红杯', '杯', '杯子', '子']),
        ('力12.5牛', ['力', '12.5', '牛']),
        ('UR5e机', ['ur5e', '机']),
        ('ก็ดี', ['ก็', 'ก็ดี', 'ดี']),
        ('コップ', ['コ', 'コッ', 'ッ', 'ップ', 'プ']),
        ('로봇', ['로', '로봇', '봇']),
        ('12.5 N', ['12.5', 'n']),
        ('?!', []),
        ('', []),
    ],
)
def test_a_text_gives_its_index_terms_in_order(text: str, expected: list[Any]) -> None:
    numeric = [number(t) if t.strip('-')[:1].isdigit() else t for t in expected]
    assert [term for term in extract_terms(text) if term[0] not in (DATE, TIME, AMOUNT)] == numeric


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('12.5N', '12.50 newtons'),
        ('dock three', 'dock 3'),
        ('it broke', 'it may break'),
        ('never tilt', 'do not tilt'),
        ("don't tilt", 'cannot tilt'),
        ('along -x', 'along \u2212x'),
        ('on 2025-03-04', 'on March 4'),
        ('4th of March', '3月4日'),
    ],
)
def test_what_says_the_same_shares_a_term(one: str, other: str) -> None:
    said = {'on', 'along', 'it', 'tilt', 'dock', 'march', 'do', 'x', TIME, AMOUNT}
    assert (set(extract_terms(one)) & set(extract_terms(other))) - said


def test_signs_of_axes_are_terms() -> None:
    assert extract_terms('along +x') == ['along', PLUS + 'x', 'x']
    assert MINUS + 'x' in parse_query('a push along -x?').terms
    assert extract_terms('a-b x-ray 1-n c++') == ['a', 'b', 'x', 'ray', '1', 'n', 'c', AMOUNT]


@pytest.mark.parametrize(
    ('text', 'kinds'),
    [
        ('When did it break?', [TIME]),
        ('What day is it?', [TIME]),
        ('How many newtons?', [AMOUNT]),
        ('什么时候坏的', [TIME]),
        ('要用多大的力', [AMOUNT]),
        ('Where is it?', []),
    ],
)
def test_a_question_for_a_time_or_an_amount_says_so(text: str, kinds: list[Any]) -> None:
    assert parse_query(text).kinds == kinds


def test_a_text_says_whether_it_names_a_time_or_an_amount() -> None:
    assert extract_terms('it broke yesterday')[-1] == TIME
    assert extract_terms('two broke')[-1] == AMOUNT
    assert extract_terms('March 4: it broke')[-3:] == [f'{DATE}3{POINT}4', TIME, AMOUNT]
    assert not {TIME, AMOUNT} & set(extract_terms('it may march'))


def test_a_question_pairs_what_stands_side_by_side() -> None:
    asked = parse_query('Is the left arm at dock 3 of the hall?')
    assert asked.pairs == [('left', 'arm'), ('arm', 'dock'), ('dock', '3'), ('3', 'hall')]
    assert parse_query('3号货架').pairs == [('3', '号')]


@pytest.mark.parametrize(
    ('text', 'main', 'fallback'),
    [
        ('What is the grip force for the can?', ['grip', 'force', 'can'], []),
        ("What's wrong, why doesn't it grip?", ['wrong', 'not', 'grip'], []),
        ('what is it', ['what', 'is', 'it'], []),
        ('cup cup CUP', ['cup'], []),
        ('must not exceed', ['must', 'not', 'exceed'], []),
        ('抓取', ['抓取'], ['抓', '取']),
        ('杯', ['杯'], []),
        ('什么', ['什么'], ['什', '么']),
        ('红色的杯', ['红色'], ['红', '色', '杯']),
        ('目的', ['目的'], ['目']),
    ],
)
def test_a_question_asks_for_what_it_is_about(
    text: str, main: list[Any], fallback: list[Any]
) -> None:
    assert extract_query_terms(text) == (main, fallback)


def test_a_long_question_asks_for_at_most_64_terms() -> None:
    long = ' '.join(f'word{i}' for i in range(500)) + ''.join(map(chr, range(0x4E00, 0x4F00)))
    main, fallback = extract_query_terms(long)
    assert len(main) == MAX_QUERY_TERMS == 64
    assert len(fallback) == MAX_QUERY_TERMS


@given(ANY_TEXT | LIKELY_TEXT)
def test_terms_hold_only_what_the_tokenizer_keeps(text: str) -> None:
    main, fallback = extract_query_terms(text)
    for term in [*extract_terms(text), *main, *fallback, *make_token_set(text)]:
        assert term
        assert all(
            unicodedata.category(c)[0] in 'LN' or unicodedata.category(c) in ('Co', 'Mn', 'Mc')
            for c in term
        )
        own = (POINT, MINUS, PLUS, DATE, TIME, AMOUNT)
        assert all(c in own for c in term if unicodedata.category(c) == 'Co')


@given(ANY_TEXT | LIKELY_TEXT)
def test_every_query_term_but_none_other_is_an_index_term(text: str) -> None:
    main, fallback = extract_query_terms(text.replace("'", ' ').replace('\u2019', ' '))
    assert set(main) | set(fallback) <= set(extract_terms(text))


@given(ANY_TEXT | LIKELY_TEXT)
def test_a_text_is_its_own_duplicate_and_its_normal_form_is_stable(text: str) -> None:
    assert normalise(normalise(text)) == normalise(text)
    assert hash_content(text) == hash_content(f'  {text}\n')
    assert duplicate_key(text) == duplicate_key(text.strip())


@pytest.mark.parametrize(
    ('text', 'limit', 'kept'),
    [
        ('  hello  ', 5, 'hello'),
        ('hello world foo', 8, 'hello'),
        ('hello world foo', 11, 'hello world'),
        ('hello world', 5, 'hello'),
        ('force is 12.5N here', 11, 'force is'),
        ('红色杯子需要更大的力', 4, '红色杯子'),
        ('抓取 UR5e', 5, '抓取'),
        ('x' * 30, 10, 'x' * 10),
        ('e\u0301' * 5, 3, 'e\u0301'),
        ('👨\u200d👩\u200d👧👨\u200d👩\u200d👧', 8, '👨\u200d👩\u200d👧'),
        ('🇩🇪🇫🇷🇮🇹', 3, '🇩🇪'),
        ('👍🏽👍🏽', 3, '👍🏽'),
        ('\u0301' * 9, 4, '\u0301' * 4),
        ('abc def', 0, ''),
    ],
)
def test_a_text_is_cut_between_words(text: Any, limit: int, kept: Any) -> None:
    assert cut(text, limit) == (kept, len(text.strip()) - len(kept))


@given(ANY_TEXT | LIKELY_TEXT, st.integers(0, 300))
def test_a_cut_text_is_a_start_of_the_text_within_the_limit(text: str, limit: Any) -> None:
    kept, gone = cut(text, limit)
    assert len(kept) <= limit
    assert text.strip().startswith(kept)
    assert len(kept) + gone == len(text.strip())
    assert kept or not limit or not text.strip()


@pytest.mark.parametrize(
    'unit', ['a.', '1.', '1 ', 'e', '一', '百', '不', '\u0301', '-', '\u200d', ' ']
)
def test_no_long_text_takes_long(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    with ending_work():
        for function in (
            extract_terms,
            make_token_set,
            duplicate_key,
            normalise,
            extract_query_terms,
        ):
            function(text)

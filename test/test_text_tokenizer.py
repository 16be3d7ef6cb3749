"""What texts are indexed by, compared by and cut at."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from waiting import ending_work

from robot_memory.text.duplicate_keys import duplicate_key, names_another
from robot_memory.text.tokenizer import (
    AMOUNT,
    DATE,
    MAX_QUERY_TERMS,
    MINUS,
    PLUS,
    POINT,
    TIME,
    compute_jaccard,
    cut,
    extract_query_terms,
    extract_terms,
    hash_content,
    make_token_set,
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
    assert compute_jaccard(make_token_set(text), make_token_set(text)) == (
        1.0 if make_token_set(text) else 0.0
    )


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


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('12.50 N', '12.5N'),
        ('12.5 newtons', '12.5 N'),
        ('12.5牛顿', '12.5N'),
        ('十二点五牛', '12.5 N'),
        ('012 mm', '12 millimetres'),
        ('1.25e1 N', '12.5 N'),
        ('two arms', '2 arms'),
        ('a two second delay', 'a 2 s delay'),
        ('the third shelf', 'shelf 3'),
        ('三号货架', '3号货架'),
        ('第三个货架', '货架 3'),
        ('关节三过热', '关节3过热'),
        ('两个杯子', '2 个杯子'),
        ('百分之八十', '80%'),
        ('80 percent', '80%'),
        ('2 m/s', '2 meters per second'),
        ("don't push", 'do not push'),
        ('cannot reach', 'can’t reach'),
        ('never push', 'do not push'),
        ('joint_3', 'joint 3'),
        ('a box is heavy', 'the box is heavy'),
        ('特别重的箱子', '很重的箱子'),
        ('识别杯子', '检测杯子'),
        ('无人机起飞', '飞机起飞'),
        ('一起移动', '同时移动'),
        ('not only fast but precise', 'fast and precise'),
        ('at 5 m use 10 Hz', 'use 10 Hz at 5 m'),
        ('this one slips', 'this slips'),
        ('Grip', ''),
    ],
)
def test_texts_that_say_the_same_figures_share_their_guard(one: str, other: str) -> None:
    assert duplicate_key(one) == duplicate_key(other)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('12.5N', '15N'),
        ('12.5 mm', '12.5 cm'),
        ('depth in mm', 'depth in cm'),
        ('-0.5 rad', '0.5 rad'),
        ('joint_3', 'joint_4'),
        ('arm-1', 'arm-2'),
        ('shelf 3', 'shelf 4'),
        ('shelf three', 'shelf four'),
        ('second shelf', 'third shelf'),
        ('first shelf', 'second shelf'),
        ('UR5e', 'UR10e'),
        ('三号货架', '四号货架'),
        ('关节三', '关节四'),
        ('force > 15N', 'force < 15N'),
        ('from 3 to 4', 'from 4 to 3'),
        ('must exceed', 'must not exceed'),
        ("it does slip, it's wet", "it doesn't slip, it's wet"),
        ('with gloves', 'without gloves'),
        ('never without gloves', 'without gloves'),
        ('lidar is reliable', 'lidar is unreliable'),
        ('grasps the cup', 'fails to grasp the cup'),
        ('可以超过', '不可以超过'),
        ('检查关节限位', '未检查关节限位'),
        ('有障碍', '没有障碍'),
        ('禁止进入', '允许进入'),
        ('Kraft ist hoch', 'Kraft ist nicht hoch'),
        ('der Greifer hält', 'kein Greifer hält'),
        ('касаться стекла', 'не касаться стекла'),
        ('зазор 5 мм', 'зазор 5 см'),
        ('keep a > b always', 'keep a < b always'),
        ('map -> odom', 'map <- odom'),
        ('the C++ driver is used', 'the C# driver is used'),
    ],
)
def test_texts_that_differ_in_a_figure_or_a_no_have_different_guards(one: str, other: str) -> None:
    assert duplicate_key(one) != duplicate_key(other)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('The milk is in the fridge', 'The eggs are in the fridge'),
        ('Take the tray to the wash station', 'Take the tray to the packing table'),
        ('Anna wants parts handed over slowly', 'Jonas wants parts handed over slowly'),
        ('The gripper is on the left arm', 'On the right arm there is the gripper'),
        ('Never push the green crate', 'Never push the grey crate'),
        ('The lidar was replaced in March', 'The lidar was replaced in May'),
        ('The oven door is open', 'The oven door is closed'),
        ('Shelf B holds the pads', 'Shelf C holds the pads'),
        ('See magazine A, slot 4', 'See magazine C, slot 4'),
        ('夹爪装在左臂上', '夹爪装在右臂上'),
        ('备用钥匙在门边', '备用钥匙在窗边'),
        ('牛奶在冰箱里', '鸡蛋在冰箱里'),
        ('垫片在B货架', '垫片在C货架'),
    ],
)
def test_the_same_sentence_of_another_thing_names_another(one: str, other: str) -> None:
    assert names_another(one, other)
    assert names_another(other, one)


@pytest.mark.parametrize(
    ('one', 'other'),
    [
        ('The kitchen door was closed', 'The kitchen door was shut'),
        ('The robot got stuck between the chairs', 'The robot became wedged between the chairs'),
        ('Grandma takes her pills every morning', 'Each morning grandma takes her medication'),
        ('The colour of the red cup fades', 'The color of the red cup fades'),
        ('Anna prefers green tea', 'Green tea is what Anna prefers'),
        ('The red cup is wet now', 'The red cup is wet'),
        ('The gate of dock B jams', 'the gate of dock b jams'),
        ('二号充电桩被托盘挡住了', '有个托盘挡住了二号充电桩'),
        ('抽屉受潮后会卡住', '抽屉受潮后会卡住了'),
        ('', ''),
        ('!', 'Anna'),
    ],
)
def test_other_words_for_one_thing_do_not_name_another(one: str, other: str) -> None:
    assert not names_another(one, other)
    assert not names_another(other, one)


@given(ANY_TEXT | LIKELY_TEXT)
def test_no_text_names_another_thing_than_itself(text: str) -> None:
    assert not names_another(text, text)


def test_a_text_without_figures_and_negation_has_an_empty_guard() -> None:
    assert (
        duplicate_key('red cups are slippery')
        == duplicate_key('红色杯子很滑')
        == duplicate_key('')
        == ''
    )


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

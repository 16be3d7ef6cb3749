"""The bench of retrieval scores rightly, and its generated questions are exact."""

from __future__ import annotations

import math
import sys
from collections import Counter
from pathlib import Path

import pytest

from robot_memory.text import tokenizer

sys.path.insert(0, str(Path(__file__).parents[2] / 'bench/retrieval'))

from absent import measure_separation
from bm25 import BM25, tokenize
from measure import open_methods, summarize
from robot_set import ABSENT, make_meaning_set, make_robot_set
from sets import SETS, Item, Question, RetrievalSet, find_data_folder, score

needs_data = pytest.mark.skipif(
    not find_data_folder().is_dir(), reason=f'there are no recorded sets at {find_data_folder()}'
)


@pytest.fixture(scope='module')
def year() -> RetrievalSet:
    return make_robot_set()


def asked(*right: int, left_out: int | None = None) -> Question:
    return Question('?', frozenset(right), 'all', left_out=left_out)


def test_the_robots_year_is_the_same_every_time(year: RetrievalSet) -> None:
    assert make_robot_set() == year
    assert make_robot_set(seed=1) != year


def test_the_robots_year_is_as_large_as_it_says_and_says_nothing_twice(year: RetrievalSet) -> None:
    assert 1_900 <= len(year.memories) <= 2_200
    assert 300 <= len(year.questions) <= 500
    said = Counter((tokenizer.normalise(item.text), item.collection) for item in year.memories)
    assert max(said.values()) == 1
    found = Counter(question.category for question in year.questions)
    assert all(count >= 13 for count in found.values()), found
    assert len(found) == 10
    assert make_meaning_set().memories == year.memories


def test_what_answers_is_in_the_collection_that_is_asked(year: RetrievalSet) -> None:
    for question in year.questions:
        assert bool(question.right) != question.category.startswith(ABSENT)
        for place in question.right:
            assert year.memories[place].collection == question.collection


def test_no_question_is_asked_twice_with_other_answers(year: RetrievalSet) -> None:
    assert len({(q.text, q.collection) for q in year.questions}) == len(year.questions)


def test_questions_by_meaning_share_no_word_with_their_answer() -> None:
    harder = make_meaning_set()
    assert len(harder.questions) > 100
    for question in harder.questions:
        (place,) = question.right
        words = set(tokenizer.parse_query(question.text).terms)
        kept = set(tokenizer.parse_query(harder.memories[place].text).terms)
        assert not words & kept, question.text


def test_the_rare_collection_is_rare(year: RetrievalSet) -> None:
    sizes = Counter(item.collection for item in year.memories)
    homes = {q.collection for q in year.questions if q.category == 'rare collection'}
    assert [sizes[home] < 20 for home in homes] == [True]
    assert len(sizes) == 5


@pytest.mark.parametrize(
    ('question', 'measure', 'value'),
    [
        (asked(7), 'first', 1.0),
        (asked(3), 'first', 0.0),
        (asked(3), 'mrr', 1 / 2),
        (asked(3, left_out=7), 'mrr', 1.0),
        (asked(99), 'mrr', 0.0),
        (asked(3, 5), 'top 2', 1 / 2),
        (asked(3, 5), 'top 4', 1.0),
        (asked(3, 99), 'top 4', 1 / 2),
        (asked(7, 5), 'all of R', 1 / 2),
        (asked(3, 1, left_out=7), 'all of R', 1.0),
    ],
)
def test_ranks_are_scored_as_said(question: Question, measure: str, value: float) -> None:
    assert score(question, [7, 3, 1, 5], measure) == pytest.approx(value)


def test_nothing_found_scores_nothing() -> None:
    assert [score(asked(1), [], name) for name in ('first', 'mrr', 'top 5')] == [0.0, 0.0, 0.0]


def test_scores_that_lie_apart_are_separated_without_error() -> None:
    found = measure_separation([0.9, 0.7, 0.6], [0.4, 0.1])
    assert (found['auc'], found['error'], found['threshold']) == (1.0, 0.0, 0.6)
    assert (found['kept'], found['absent_under']) == (1.0, 1.0)


def test_scores_that_lie_alike_are_not_separated() -> None:
    found = measure_separation([1.0, 1.0, 1.0], [1.0, 1.0])
    assert (found['auc'], found['error']) == (0.5, 0.5)
    assert measure_separation([0.1, 0.8], [0.5])['auc'] == 0.5


def test_plain_bm25_is_that_of_the_textbook() -> None:
    index = BM25(['red cup', 'red tray red', 'blue cup on a tray'])
    idf = math.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    length = 1.2 * (1 - 0.75 + 0.75 * 5 / (10 / 3))
    ((place, score),) = index.find_best('blue', 5)
    assert place == 2
    assert score == pytest.approx(idf * 2.2 / (1 + length))
    assert [place for place, _ in index.find_best('red tray', 5)] == [1, 0, 2]
    assert index.find_best('green', 5) == []


def test_plain_bm25_takes_chinese_by_the_character() -> None:
    assert tokenize('Tool0 抓红杯, 12.5 N') == ['tool0', '抓', '红', '杯', '12', '5', 'n']


def test_every_method_answers_from_the_collection_that_is_asked(tmp_path: Path) -> None:
    memories = tuple(
        Item(text, collection)
        for collection in ('cell', 'lab')
        for text in ('the red cup needs 12 N', 'the door of the oven sticks')
    )
    questions = (
        Question('how much force for the red cup?', frozenset((2,)), 'numbers', 'lab'),
        Question('oven door', frozenset((1,)), 'what', 'cell'),
        Question('violin', frozenset(), 'absent: unknown', 'cell'),
    )
    chosen = RetrievalSet('small', memories, questions, ('first', 'mrr'), 5)
    with open_methods(tmp_path, chosen, None) as compared:
        assert list(compared) == ['words only', 'plain BM25']
        for method in compared.values():
            found = summarize(chosen, [method.rank(question, 5) for question in questions])
            assert (found['first'], found['mrr']) == (1.0, 1.0)
            assert found['categories']['what'] == {'questions': 1, 'first': 1.0, 'mrr': 1.0}
            assert found['absent']['absent: all']['auc'] == 1.0


@needs_data
def test_locomo_drops_the_malformed_ids_and_says_how_many() -> None:
    chosen = SETS['locomo']()
    assert (len(chosen.memories), len(chosen.questions)) == (2760, 996)
    assert chosen.note.startswith('4 malformed')
    assert all(question.right for question in chosen.questions)
    for question in chosen.questions:
        assert {chosen.memories[i].collection for i in question.right} == {question.collection}
    assert any('" and shared a photo' in item.text for item in chosen.memories)


@needs_data
def test_xquad_asks_in_one_language_over_the_passages_of_the_other() -> None:
    english, crossed = SETS['xquad-en'](), SETS['xquad-en-zh']()
    for chosen in (english, crossed):
        assert (len(chosen.memories), len(chosen.questions)) == (240, 1190)
    assert [q.right for q in english.questions] == [q.right for q in crossed.questions]
    assert [q.text for q in english.questions] == [q.text for q in crossed.questions]
    assert max(len(item.text) for item in english.memories) > 3_000


@needs_data
def test_a_paraphrase_of_calvin_is_left_out_of_its_own_answer() -> None:
    chosen = SETS['calvin']()
    assert len({item.text for item in chosen.memories}) == len(chosen.memories)
    for place, question in enumerate(chosen.questions):
        assert question.left_out == place
        assert question.right
        assert place not in question.right

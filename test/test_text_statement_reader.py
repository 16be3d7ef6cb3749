"""What is read of a statement."""

from __future__ import annotations

from robot_memory.text.statement_reader import find_ids, read_amounts, read_statement


def test_amounts_of_one_dimension_are_in_one_unit() -> None:
    assert read_amounts('0.5 g') == read_amounts('500 mg') == (('g', '0.5'),)
    assert read_amounts('1,200 pallets') == read_amounts('1200 pallets')
    assert read_amounts('6升') != read_amounts('6杯')


def test_signs_are_words_of_either_language() -> None:
    assert read_statement('the cup was moved').signs.change
    assert read_statement('杯子搬到厨房了').signs.change
    assert read_statement('杯子在哪里?').signs.question
    assert not any(read_statement('the cup is red').signs)


def test_ids_stand_by_the_word_that_they_number() -> None:
    assert find_ids('press 2 and press 3 at 12 n') == {'press': {'2', '3'}}

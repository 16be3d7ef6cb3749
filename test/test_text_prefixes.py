"""What a text must hold for patterns to match, seen at the beginnings of its words."""

from __future__ import annotations

import random
import re

import pytest

from robot_memory.text.categories import _DATA
from robot_memory.text.prefixes import Guard, Lexicons, Prefixes, find_prefixes, join_words
from robot_memory.text.statement_reader import __file__ as reader_file
from robot_memory.text.toml_tables import load_toml

CATEGORIES = [table['en'] for table in _DATA['category']]
SIGNS = [table['english'] for table in load_toml(reader_file, 'statement_reader.toml').values()]
JOINTS = [' ', ' ', ' ', ' ', ', ', ': ', '. ', '-', "'", ' 12 ', ' 3.5 n ', '; ', '']


def make_texts(sets: list[list[str]], number: int) -> list[str]:
    """Return texts of the words that stand in patterns, in any order: many of them match."""
    dice = random.Random(number)
    found = []
    for _ in range(number):
        words = re.findall('[a-z]{2,}', dice.choice(dice.choice([one for one in sets if one])))
        words += [*dice.sample(words, min(len(words), 3)), 'the', 'robot', 'is']
        start = dice.randrange(len(words))
        chosen = words[start : start + dice.randint(1, 12)]
        found.append(''.join(word + dice.choice(JOINTS) for word in chosen).strip())
    return found


@pytest.mark.parametrize(
    ('pattern', 'prefixes'),
    [
        ('must not', {'must not'}),
        ('mustn.t', {'mustn'}),
        ('(?:is|are) kept', {'is kept', 'are kept'}),
        (r'colou?r\b', {'color', 'colour'}),
        ('(?<!not )(?!found out)found', {'found'}),
        (r'no\w+', {'no'}),
        ('[dr]ead', {'dead', 'read'}),
        ('a*b', {'a', 'b'}),
        ('(?:so )+far', {'so '}),
        ('x{2,3}y', {'x'}),
        ('x{0,3}y', {'x', 'y'}),
        (r'\w+ing', {''}),
        ('(?P<name>red|blue)ish', {'redish', 'blueish'}),
        ('one|two', {'one', 'two'}),
        ('^never', {'never'}),
        ('a temperature limit', {'a temper'}),
        ('(?i)on', {''}),
    ],
)
def test_the_beginnings_of_matches_are_read_from_a_pattern(
    pattern: str, prefixes: set[str]
) -> None:
    assert find_prefixes(pattern) == prefixes


def test_a_digit_begins_with_any_digit() -> None:
    assert find_prefixes(r'\d+ ?n') == set('0123456789')


@pytest.mark.parametrize('sets', [CATEGORIES, SIGNS])
def test_every_match_begins_as_was_read(sets: list[list[str]]) -> None:
    patterns = [one for alternatives in sets for one in alternatives]
    texts, seen = make_texts(sets, 600), 0
    for pattern in patterns:
        prefixes, compiled = tuple(find_prefixes(pattern)), re.compile(rf'\b(?:{pattern})')
        for text in texts:
            for match in compiled.finditer(text):
                assert text.startswith(prefixes, match.start()), (pattern, text)
                seen += 1
    assert seen > 100


@pytest.mark.parametrize(
    ('sets', 'start', 'end'),
    [(CATEGORIES, r'\b', ''), (SIGNS, r'(?<![\w-])', r'(?![\w-])')],
)
def test_sets_are_found_as_each_of_them_alone_is(
    sets: list[list[str]], start: str, end: str
) -> None:
    lexicons = Lexicons(sets, start, end)
    each = [re.compile(f'{start}(?:{"|".join(one) or "(?!)"}){end}') for one in sets]
    found = 0
    for text in [*make_texts(sets, 3000), '', ' ', 'ünder 红 must not', 'no. never!']:
        bits = lexicons.find(text)
        assert [bits >> place & 1 for place in range(len(sets))] == [
            bool(one.search(text)) for one in each
        ], text
        found += bits > 0
    assert found > 500


def test_what_cannot_match_is_not_likely() -> None:
    prefixes = Prefixes([['must not'], [r'\w+ing'], ['cup of tea', 'cap']])
    assert prefixes.find('the robot may not') == 0b010
    assert prefixes.find('it must not have a cap') == 0b111
    assert prefixes.find_first('cap and must not') == 0b110
    assert prefixes.find('kein é') == 0b111


def test_a_guard_lets_all_pass_until_it_is_worth_reading_prefixes() -> None:
    guard = Guard(['at most', 'over'])
    assert guard.may_hold('push the cup')
    for _ in range(100):
        guard.may_hold('push the cup')
    assert not guard.may_hold('push the cup')
    assert guard.may_hold('push at most once')


def test_words_are_joined_into_a_pattern_of_the_longest() -> None:
    pattern = re.compile(join_words(['today', 'to', 'tonight', 'a.b', 'a']))
    assert [match[0] for match in pattern.finditer('tonight to today a.b axb')] == [
        'tonight', 'to', 'today', 'a.b', 'a',
    ]  # fmt: skip
    assert join_words([]) == ''

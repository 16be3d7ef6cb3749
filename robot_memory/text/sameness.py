"""Whether two texts say the same of the same, in whatever words; pure."""

from __future__ import annotations

import re
from collections import Counter
from difflib import SequenceMatcher
from functools import cache

from robot_memory.text.duplicate_keys import UNIT_NAMES, names_another
from robot_memory.text.statement_reader import (
    STOP,
    WORD,
    Statement,
    count_negations,
    read_amounts,
    read_statement,
    stem,
)
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.vocabulary import NUMBERS

_FORM, _UNEVEN_FORM = 0.5, 0.7
"""
How alike two texts must be, word by word in their order, to be sentences of one form: where as
many words part them on each side, and where not.
"""
_FILLED, _EXTENDED = 0.6, 0.85
"""Similarity from which a text with words that add nothing, or little, says the same."""
_REWORDED, _REWORDED_HAN = 0.72, 0.88
"""Similarity from which texts of other forms say the same."""
_TOLD = 4
"""The first signs, which rewording leaves: change, plan, question, addition."""
_SURE = 0.9
"""Similarity from which two texts of other forms may say no in other ways."""
_HAN_AMOUNT = re.compile(
    r'(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万半]+)\s*(?:'
    + '|'.join(sorted(map(re.escape, UNIT_NAMES), key=len)[::-1])
    + ')?'
)
_HAN_SMALL = frozenset(
    '设为调成要需往其很的了是在有和与就都也把被给将着过吗呢吧啊哎嗯哈'
    '这那个上里中下去来到我已经第零一二两三四五六七八九十百千0123456789.'
)


def is_same(one: Statement, other: Statement, similarity: float) -> bool:
    """Say whether two texts say the same of the same."""
    if (
        one.is_han != other.is_han
        or read_amounts(one.text) != read_amounts(other.text)
        or names_another(one.text, other.text)
    ):
        return False
    left, right, form = compare_content(one, other)
    denies = count_negations(one.text) != count_negations(other.text)
    if denies and (form >= _FORM or similarity < _SURE):
        return False
    if not {*left, *right} - _filler():
        return similarity >= _FILLED
    if one.signs[:_TOLD] != other.signs[:_TOLD]:
        return False
    if not left or not right:
        return similarity >= _EXTENDED
    if _are_of_one_form(left, right, form):
        return False
    return similarity >= (_REWORDED_HAN if one.is_han else _REWORDED)


def compare_content(one: Statement, other: Statement) -> tuple[set[str], set[str], float]:
    """Return the words that only one of two texts has, and how alike they are in their order."""
    first, second = _read_content(one), _read_content(other)
    if not one.is_han:
        first, second = _shorten(first, second), _shorten(second, first)
    left, right = (
        list((Counter(first) - Counter(second)).elements()),
        list((Counter(second) - Counter(first)).elements()),
    )
    for word in list(left):
        kin = next((each for each in right if _are_kin(word, each)), None)
        if kin is not None:
            left.remove(word)
            right.remove(kin)
            second = [word if each == kin else each for each in second]
    form = SequenceMatcher(None, first, second, autojunk=False).ratio()
    return set(left), set(right), form


def compute_overlap(one: Statement, other: Statement) -> float:
    """Return the Jaccard index of what two texts say, without words that add nothing."""
    left, right, _ = compare_content(one, other)
    apart = len({*left, *right} - _filler())
    every = len({*_read_content(one)} - _filler()) + len(right - _filler())
    return 1 - apart / every if every else 0.0


def _shorten(words: list[str], others: list[str]) -> list[str]:
    """Return words with those whose initials the other text has as one word put as that."""
    for short in others:
        if not 2 <= len(short) <= 5 or short in words:
            continue
        for place in range(len(words) - len(short) + 1):
            run = words[place : place + len(short)]
            if ''.join(word[:1] for word in run) == short:
                return [*words[:place], short, *words[place + len(short) :]]
    return words


def _are_of_one_form(left: set[str], right: set[str], form: float) -> bool:
    return form >= (_FORM if len(left) == len(right) else _UNEVEN_FORM)


def tells_of_another(text: str, other: str) -> bool:
    """Say whether two texts that look alike speak of other things, persons or actions."""
    if names_another(text, other):
        return True
    left, right, form = compare_content(read_statement(text), read_statement(other))
    return bool(left) and bool(right) and _are_of_one_form(left, right, form)


def _read_content(one: Statement) -> list[str]:
    """Return the words of a text, in Chinese its characters, without numbers and small words."""
    if one.is_han:
        plain = _HAN_AMOUNT.sub('', one.folded)
        return [c for c in plain if c.isalnum() and c not in _HAN_SMALL]
    return [
        _synonyms().get(root, root)
        for word in (NUMBERS.get(each, each) for each in WORD.findall(one.folded))
        if word not in STOP and not word[0].isdigit() and word not in UNIT_NAMES
        for root in [stem(word)]
    ]


def _are_kin(word: str, other: str) -> bool:
    """Say whether two words are spellings, or a short form, of the same."""
    short, long = sorted((word, other), key=len)
    if len(short) >= 3 and long.startswith(short):
        return True
    return len(short) >= 5 and SequenceMatcher(None, word, other).ratio() > 0.8


@cache
def _synonyms() -> dict[str, str]:
    groups = load_toml(__file__, 'sameness.toml')['synonyms']
    return {stem(word): group.split()[0] for group in groups for word in group.split()}


@cache
def _filler() -> frozenset[str]:
    words = load_toml(__file__, 'sameness.toml')
    english = (_synonyms().get(root, root) for root in map(stem, words['english']))
    return frozenset(english) | frozenset(words['chinese'])

"""Whether two texts say the same of the same, in whatever words; pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import UNIT_NAMES, names_another
from robot_memory.text.statement_reader import (
    STOP,
    WORD,
    Statement,
    count_negations,
    has_han,
    read_amounts,
    read_statement,
    stem,
)
from robot_memory.text.tokenizer import fold
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
_KIN = 0.8
"""Share of matching characters above which two words are spellings of one."""
_DISTINCT = 4
"""The first signs, which rewording leaves: change, plan, question, addition."""
_SURE = 0.9
"""Similarity from which two texts of other forms may say no in other ways."""
_LISTED = compile_pattern(
    r"(?:,|\b(?:and|or|nor|plus))\s+(?:(?:the|an?|any|no|also|her|his|your|our)\s+)*(?P<word>[a-z][a-z'-]+)"
    r'|(?<![\w-])(?P<rank>[a-z]+)(?=\s(?:cook|chef|nurse|doctor|foreman|manager|driver|guard|operator)s?\b)'
)
"""What stands in a list, and what says which of several persons of one role is meant."""
_HAN_LISTED = compile_pattern('[和与或、及跟]')
_HAN_RANK = compile_pattern('[副大小二三]')
_HAN_PERSON = compile_pattern(
    '主厨|厨|护士|主任|经理|班长|队长|厂长|校长|医生|儿子|女儿|孙|舅|姨|姑|叔|伯|哥|姐|弟|妹'
)
_HAN_AMOUNT = compile_pattern(
    r'(?:\d+(?:\.\d+)?|[零一二两三四五六七八九十百千万半]+)\s*(?:'
    + '|'.join(sorted(map(re.escape, UNIT_NAMES), key=len)[::-1])
    + ')?'
)
_HAN_SMALL = frozenset(
    '设为调成要需往其很的了是在有和与就都也把被给将着过吗呢吧啊哎嗯哈'
    '这那个上里中下去来到我已经第零一二两三四五六七八九十百千0123456789.'
)


def is_same(one: Statement, other: Statement, similarity: float) -> bool:
    """Say whether the second text says the same of the same as the first, which is older."""
    # What costs most is asked last: most pairs are parted by the first of these.
    return (
        may_be_same(one.text, other.text, similarity)
        and _says_same(one, other, similarity)
        and not names_another(one.text, other.text)
        and not adds_another(one.text, other.text)
    )


def may_be_same(one: str, other: str, similarity: float) -> bool:
    """Say whether two texts may say the same, as far as similarity and amounts tell."""
    return similarity >= _FILLED and has_same_amounts(one, other)


def has_same_amounts(one: str, other: str) -> bool:
    """Say whether two texts are of one script and have the same amounts, in whatever units."""
    return has_han(one) == has_han(other) and read_amounts(one) == read_amounts(other)


def _says_same(one: Statement, other: Statement, similarity: float) -> bool:
    reworded = _REWORDED_HAN if one.is_han else _REWORDED
    content = _Content.of(one, other)
    adds_nothing = not {*content.left, *content.right} - _filler()
    if not adds_nothing and similarity < min(reworded, _EXTENDED):
        return False
    denies = count_negations(one.text) != count_negations(other.text)
    if denies and (similarity < _SURE or content.measure_form() >= _FORM):
        return False
    if adds_nothing:
        return True
    if one.signs[:_DISTINCT] != other.signs[:_DISTINCT]:
        return False
    if not content.left or not content.right:
        return similarity >= _EXTENDED
    return similarity >= reworded and not content.are_of_one_form()


class _Content(NamedTuple):
    """Hold the words of two texts in their order, and those that only one of them has."""

    left: frozenset[str]
    right: frozenset[str]
    first: Sequence[str]
    second: Sequence[str]

    @classmethod
    def of(cls, one: Statement, other: Statement) -> _Content:
        """Compare two texts."""
        return cls.compare(_read_content(one), _read_content(other), one.is_han)

    @classmethod
    def compare(cls, first: Sequence[str], second: Sequence[str], is_han: bool) -> _Content:
        """Compare the words of two texts; those that are spellings of one are the same."""
        if not is_han:
            first, second = _shorten(first, second), _shorten(second, first)
        left, right = list(first), []
        for word in second:
            if word in left:
                left.remove(word)
            else:
                right.append(word)
        for word in list(left):
            kin = _find_kin(word, right)
            if kin is not None:
                left.remove(word)
                right.remove(kin)
                second = [word if each == kin else each for each in second]
        return cls(frozenset(left), frozenset(right), first, second)

    def measure_form(self) -> float:
        """Return how alike the texts are, word by word in their order, 0 to 1."""
        return SequenceMatcher(None, self.first, self.second, autojunk=False).ratio()

    def are_of_one_form(self) -> bool:
        """Say whether the texts are one sentence with other words in its places."""
        even = len(self.left) == len(self.right)
        return self.measure_form() >= (_FORM if even else _UNEVEN_FORM)


def compute_overlap(one: str, other: str) -> float:
    """Return the Jaccard index of what two folded texts say, without words that add nothing."""
    is_han = has_han(one)
    first, second = _list_content(one, is_han), _list_content(other, has_han(other))
    content = _Content.compare(first, second, is_han)
    apart = len({*content.left, *content.right} - _filler())
    every = len({*first} - _filler()) + len(content.right - _filler())
    return 1 - apart / every if every else 0.0


def _shorten(words: Sequence[str], others: Sequence[str]) -> Sequence[str]:
    """Return words with those whose initials the other text has as one word put as that."""
    initials = ''.join(word[:1] for word in words)
    for short in others:
        if not 2 <= len(short) <= 5 or short in words:
            continue
        place = initials.find(short)
        if place >= 0:
            return [*words[:place], short, *words[place + len(short) :]]
    return words


def measure_form(one: Statement, other: Statement) -> float:
    """Return how alike two texts of one script are, word by word in their order, 0 to 1."""
    return _Content.of(one, other).measure_form()


def tells_of_another(text: str, other: str) -> bool:
    """Say whether a text speaks of other things, persons or actions than an older one like it."""
    if names_another(text, other) or adds_another(other, text):
        return True
    content = _Content.of(read_statement(text), read_statement(other))
    return bool(content.left) and bool(content.right) and content.are_of_one_form()


def adds_another(known: str, text: str) -> bool:
    """
    Say whether a text has all words of a known one, and lists more, or qualifies somebody.

    'Eggs and milk' is more than 'eggs', and the sous chef is not the chef.
    """
    before, after = fold(known), fold(text)
    if has_han(before) != has_han(after):
        return False
    if has_han(after):
        return _adds_another_han(before, after)
    known_words = {*_list_content(before, is_han=False)}
    said = _list_content(after, is_han=False)
    if not known_words < {*said}:
        return False
    added = {*said} - known_words - _filler()
    return any(
        root in added
        for match in _LISTED.finditer(after)
        for root in _list_content(match['word'] or match['rank'], is_han=False)
    )


def _adds_another_han(known: str, text: str) -> bool:
    left, right = ([c for c in each if c.isalnum() or c == '、'] for each in (known, text))
    codes = SequenceMatcher(None, left, right, autojunk=False).get_opcodes()
    added = [(c, d) for kind, _, _, c, d in codes if kind == 'insert']
    if len(added) < sum(kind != 'equal' for kind, *_ in codes):
        return False
    written = ''.join(right)
    return any(
        _HAN_LISTED.search(written[max(c - 1, 0) : d])
        or (_HAN_RANK.fullmatch(written[c:d]) and _HAN_PERSON.match(written[d:]))
        for c, d in added
    )


def _read_content(one: Statement) -> tuple[str, ...]:
    """Return the words of a text, in Chinese its characters, without numbers and small words."""
    return _list_content(one.folded, one.is_han)


@cache_texts(2048)
def _list_content(folded: str, is_han: bool) -> tuple[str, ...]:
    if is_han:
        plain = _HAN_AMOUNT.sub('', folded)
        return tuple(c for c in plain if c.isalnum() and c not in _HAN_SMALL)
    return tuple(
        _synonyms().get(root, root)
        for word in (NUMBERS.get(each, each) for each in WORD.findall(folded))
        if word not in STOP and not word[0].isdigit() and word not in UNIT_NAMES
        for root in [stem(word)]
    )


def _find_kin(word: str, others: Iterable[str]) -> str | None:
    """Return the first of other words that is a spelling, or a short form, of the same."""
    if len(word) < 3:
        return None
    is_short = len(word) < 5  # such a one is kin of what it begins, or begins with, alone
    for other in others:
        if (word[:1] == other[:1] or not (is_short or len(other) < 5)) and _are_kin(word, other):
            return other
    return None


@cache_texts(32768)
def _are_kin(word: str, other: str) -> bool:
    short, long = (word, other) if len(word) <= len(other) else (other, word)
    if len(short) < 3:
        return False
    if long.startswith(short):
        return True
    bar = _KIN * (len(word) + len(other)) / 2
    if len(short) < 5 or len(short) <= bar:
        return False
    # No more characters can match than those of the shorter one that the longer one has, too.
    most = len(short) - len(frozenset(short) - frozenset(long))
    return most > bar and SequenceMatcher(None, word, other).ratio() > _KIN


@cache
def _synonyms() -> dict[str, str]:
    groups = load_toml(__file__, 'sameness.toml')['synonyms']
    return {stem(word): group.split()[0] for group in groups for word in group.split()}


@cache
def _filler() -> frozenset[str]:
    words = load_toml(__file__, 'sameness.toml')
    english = (_synonyms().get(root, root) for root in map(stem, words['english']))
    return frozenset(english) | frozenset(words['chinese'])

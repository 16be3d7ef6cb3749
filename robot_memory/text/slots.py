"""
What a question names, and whether a text names the same: persons, numbers, colours, sides, times.

A text that is like a question in every other word, but tells of another person, colour, number,
side, unit or day, does not answer it. text/agreement.py compares them, across English and Chinese.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache, cached_property
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import convert_han_number
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.vocabulary import MONTHS, NUMBERS

TABLES = load_toml(__file__, 'slots.toml')
NUMBER_WORDS = {name: value for name, value in NUMBERS.items() if name not in ('zero', 'one')} | {
    name: str(value)
    for value, name in enumerate(
        'thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(), 13
    )
}
NUMBER_WORDS |= {'thirty': '30', 'forty': '40', 'fifty': '50', 'twice': '2', 'half': '.5'}
NO_NAMES = frozenset(
    (*TABLES['words']['no_names'].split(), *MONTHS, *TABLES['words']['days'].split())
)
HAN = '\u3400-\u9fff'
_ANY_HAN = compile_pattern(f'[{HAN}]')
_TOKEN = compile_pattern(r'\w+')
_NUMERAL = compile_pattern(
    rf'(?:\d|[零一二两三四五六七八九十百千万半几]|\b(?:{"|".join(NUMBER_WORDS)}))'
)
WORD = compile_pattern(rf"[^\W\d_{HAN}]+(?:[-'][^\W\d_{HAN}]+)*")
_ASCII_WORD = compile_pattern("[a-z]+(?:[-'][a-z]+)*")
_DIGIT = compile_pattern(r'\d')
_DIGITS = compile_pattern(r'(?<![A-Za-z0-9_.])(?:[A-Za-z]{1,3}-?)?\d+(?:[.:,/]\d+)*')
_HAN_NUMBER = compile_pattern(
    '(?<![第每同统唯哪这那某])([零〇一二两三四五六七八九十百千]+)'
    '(?=[号楼层床组栋台线厅区班位点月日次件个只张把辆人箱间排桌站段批版趟起名瓦度米克斤公升牛伏安份瓶杯支根条袋包盒盘套页本双对粒颗片滴道圈圆角块棵桶罐盆筐篮格级倍种类项封卷天周年小分秒元岁毫厘千])'
    '|第([零〇一二两三四五六七八九十百]+)'
)
_LETTER = compile_pattern(r'(?<=[a-z] )[B-HJ-Z](?![\w.-])')
_NAMED_BY_ONE = '号楼层床组栋月点台区'
_TITLED = compile_pattern(r'\b(Mr|Mrs|Ms|Miss|Dr|Prof)\b\.?\s+([A-Z][\w-]+)')
_CAPITAL_IN_HAN = compile_pattern('(?<![A-Za-z])[A-Z][a-z]+(?![A-Za-z])')
_CAPITAL = compile_pattern(r'(?<![.?!:]\s)(?<!^)\b[A-Z][a-z][\w-]*')


class Slots:
    """
    Find what a text names, each when it is first asked for: of most only a part is compared.

    `values` are by group (a colour, a side, a day ...), `numbers` in one spelling, `persons` as
    they stand there, `units` the quantities that have a number, by their dimension.
    """

    def __init__(self, text: str) -> None:
        """Read nothing yet."""
        self._text = text
        self.folded = text.lower()
        self._is_ascii = text.isascii()
        self.is_han = not self._is_ascii and _ANY_HAN.search(text) is not None

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words in Latin letters."""
        return frozenset((_ASCII_WORD if self._is_ascii else WORD).findall(self.folded))

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        """Return the values that are named, by group."""
        found = {
            name: self._find(name)
            for name, group in _compile_groups().items()
            if not group.signs.isdisjoint(self._marks)
        }
        return {name: values for name, values in found.items() if values}

    def _find(self, group: str) -> frozenset[str]:
        """Return the values of one group that are named."""
        signs, several, pattern, names = _compile_groups()[group]
        marks = signs & self._marks
        if not marks:
            return marks
        if self._is_ascii and several.isdisjoint(marks):
            return frozenset(map(names.__getitem__, marks))
        text = self.folded
        cleaned = _compile_words().no_colour.sub('', text) if group == 'colour' else text
        return frozenset(names[match[0]] for match in pattern.finditer(cleaned))

    @cached_property
    def _marks(self) -> frozenset[str]:
        return frozenset((*_TOKEN.findall(self.folded), *(self.folded if self.is_han else ())))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Return the numbers, in one spelling."""
        return frozenset(_find_numbers(self._text, self.words, self.is_han))

    @cached_property
    def labels(self) -> frozenset[str]:
        """Return the numbers that are no amounts of a unit."""
        return frozenset(_find_numbers(_compile_amount().sub(' ', self._text), (), self.is_han))

    @cached_property
    def persons(self) -> frozenset[str]:
        """Return the persons, as they stand there."""
        return frozenset(_find_persons(self._text, self.is_han))

    @cached_property
    def bare_names(self) -> frozenset[str]:
        """Return what may be Chinese names without a title."""
        found = _compile_words().bare_name.finditer(self._text) if self.is_han else ()
        return frozenset(match[0] for match in found)

    @cached_property
    def units(self) -> frozenset[str]:
        """Return the quantities that have a number, by their dimension."""
        return frozenset(_find_units(self.folded))


@cache_texts(2048)
def find_slots(text: str) -> Slots:
    """Return what a text names."""
    return Slots(text)


class _Words(NamedTuple):
    """Hold what is no colour, and what names a person in Chinese, with a title and without."""

    no_colour: re.Pattern[str]
    person: re.Pattern[str]
    bare_name: re.Pattern[str]


@cache
def _compile_words() -> _Words:
    """Compile them at the first use."""
    words = TABLES['words']
    titled = f'[{words["surnames"]}]{words["titles"]}|{words["nicknames"]}'
    bare = (
        f'{words["before_name"]}[{words["usual_surnames"]}]'
        f'{words["given_name"]}{words["after_name"]}'
    )
    return _Words(*map(compile_pattern, (words['no_colour'], titled, bare)))


class _Group(NamedTuple):
    """
    Hold the values of a group by their names, and a pattern of the names.

    A text without any of the `signs` has none; they are whole names, but for those of `several`
    words or characters.
    """

    signs: frozenset[str]
    several: frozenset[str]
    pattern: re.Pattern[str]
    values: dict[str, str]


@cache
def _compile_groups() -> dict[str, _Group]:
    """Compile the names of each group at the first use."""
    made = {}
    for group, table in TABLES['groups'].items():
        names = {alias: value for value, aliases in table.items() for alias in aliases.split()}
        names = {alias.replace('_', ' '): value for alias, value in names.items()}
        ordered = sorted(names, key=len, reverse=True)
        latin, han = (
            '|'.join(re.escape(alias) for alias in ordered if (alias[0] > '\u3000') is is_han)
            for is_han in (False, True)
        )
        pattern = '|'.join(filter(None, (latin and rf'\b(?:{latin})\b', han)))
        signs = {one: one[0] if one[0] > '\u3000' else _TOKEN.findall(one)[0] for one in names}
        several = frozenset(sign for one, sign in signs.items() if one != sign)
        made[group] = _Group(frozenset(signs.values()), several, compile_pattern(pattern), names)
    return made


def _find_numbers(text: str, words: Iterable[str], is_han: bool) -> Iterable[str]:
    for match in _DIGITS.finditer(text) if _DIGIT.search(text) else ():
        yield match[0].lower().replace('-', '').replace(',', '')
    for match in _LETTER.finditer(text):
        yield match[0].lower()
    for match in _HAN_NUMBER.finditer(text.replace('百分之', '%')) if is_han else ():
        if match[0] != '一' or match.string[match.end()] in _NAMED_BY_ONE:
            yield convert_han_number(match[1] or match[2])
    for word in words:
        for part in word.split('-') if '-' in word else (word,):
            if part in NUMBER_WORDS:
                yield NUMBER_WORDS[part]


def _find_persons(text: str, is_han: bool) -> Iterable[str]:
    titled = list(_TITLED.finditer(text))
    for match in titled:
        yield f'{match[1].lower()} {match[2].lower()}'
    capital = _CAPITAL_IN_HAN if is_han else _CAPITAL
    for match in capital.finditer(_TITLED.sub('', text) if titled else text):
        if match[0].lower() not in NO_NAMES:
            yield match[0].lower().removesuffix("'s")
    for match in _compile_words().person.finditer(text) if is_han else ():
        yield match[0]


@cache
def _compile_amount() -> re.Pattern[str]:
    """Compile an amount of any unit, which names nothing; of days and times some do."""
    units = '|'.join(units for name, units in TABLES['units'].items() if name != 'duration')
    return compile_pattern(rf'(?<![A-Za-z0-9_.])\d+(?:[.,]\d+)?\s?(?:{units})')


def _find_units(folded: str) -> Iterable[str]:
    if _NUMERAL.search(folded):
        for dimension, pattern in _compile_units().items():
            if pattern.search(folded):
                yield dimension
    if re.search('每(?:秒|小时|分钟)', folded):
        yield 'speed'
        yield 'rate'


@cache
def _compile_units() -> dict[str, re.Pattern[str]]:
    return {
        dimension: compile_pattern(rf'{_NUMERAL.pattern}\s?(?:{units})')
        for dimension, units in TABLES['units'].items()
    }

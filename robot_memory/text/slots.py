"""
What a question names, and whether a text names the same: persons, numbers, colours, sides, times.

A text that is like a question in every other word, but tells of another person, colour, number,
side, unit or day, does not answer it. Values are compared across English and Chinese, but for
names of persons.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import convert_han_number
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.vocabulary import MONTHS, NUMBERS

_TABLES = load_toml(__file__, 'slots.toml')
QUANTITIES = frozenset(_TABLES['units'])
NUMBER_WORDS = {name: value for name, value in NUMBERS.items() if name not in ('zero', 'one')} | {
    name: str(value)
    for value, name in enumerate(
        'thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty'.split(), 13
    )
}
NUMBER_WORDS |= {'thirty': '30', 'forty': '40', 'fifty': '50', 'twice': '2', 'half': '.5'}
NO_NAMES = frozenset(
    (*_TABLES['words']['no_names'].split(), *MONTHS, *_TABLES['words']['days'].split())
)
HAN = '\u3400-\u9fff'
_ANY_HAN = compile_pattern(f'[{HAN}]')
_TOKEN = compile_pattern(r'\w+')
_NUMERAL = compile_pattern(
    rf'(?:\d|[零一二两三四五六七八九十百千万半几]|\b(?:{"|".join(NUMBER_WORDS)}))'
)
_WORD = compile_pattern(rf"[^\W\d_{HAN}]+(?:[-'][^\W\d_{HAN}]+)*")
_ASCII_WORD = compile_pattern("[a-z]+(?:[-'][a-z]+)*")
_DIGIT = compile_pattern(r'\d')
_DIGITS = compile_pattern(r'(?<![\w.])(?:[A-Za-z]{1,3}-?)?\d+(?:[.:,/]\d+)*')
_HAN_NUMBER = compile_pattern(
    '(?<![第每同统唯哪这那某])([零〇一二两三四五六七八九十百千]+)'
    '(?=[号楼层床组栋台线厅区班位点月日次件个只张把辆人箱间排桌站段批版趟起名瓦度米克斤公升牛伏安])'
    '|第([零〇一二两三四五六七八九十百]+)'
)
_LETTER = compile_pattern(r'(?<=[a-z] )[B-HJ-Z](?![\w.-])')
_NAMED_BY_ONE = '号楼层床组栋月点台区'
_TITLED = compile_pattern(r'\b(Mr|Mrs|Ms|Miss|Dr|Prof)\b\.?\s+([A-Z][\w-]+)')
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
    def in_order(self) -> list[str]:
        """Return the words in Latin letters, as they follow each other."""
        return (_ASCII_WORD if self._is_ascii else _WORD).findall(self.folded)

    @cached_property
    def words(self) -> frozenset[str]:
        """Return the words in Latin letters."""
        return frozenset(self.in_order)

    @cached_property
    def stems(self) -> list[str]:
        """Return the stems of the words, as they follow each other."""
        return list(map(_stem, self.in_order))

    @cached_property
    def pairs(self) -> list[tuple[str, str]]:
        """Return the stems of content words that stand side by side."""
        return list(_pair_content(self.in_order, self.stems))

    @cached_property
    def values(self) -> dict[str, frozenset[str]]:
        """Return the values that are named, by group."""
        found = {
            name: self.find(name)
            for name, group in _compile_groups().items()
            if not group.signs.isdisjoint(self._marks)
        }
        return {name: values for name, values in found.items() if values}

    def find(self, group: str) -> frozenset[str]:
        """Return the values of one group that are named."""
        signs, several, pattern, names = _compile_groups()[group]
        marks = signs & self._marks
        if not marks:
            return marks
        if self._is_ascii and several.isdisjoint(marks):
            return frozenset(map(names.__getitem__, marks))
        text = self.folded
        cleaned = _compile_words()[0].sub('', text) if group == 'colour' else text
        return frozenset(names[match[0]] for match in pattern.finditer(cleaned))

    @cached_property
    def _marks(self) -> frozenset[str]:
        return frozenset((*_TOKEN.findall(self.folded), *(self.folded if self.is_han else ())))

    @cached_property
    def numbers(self) -> frozenset[str]:
        """Return the numbers, in one spelling."""
        return frozenset(_find_numbers(self._text, self.words, self.is_han))

    @cached_property
    def persons(self) -> frozenset[str]:
        """Return the persons, as they stand there."""
        return frozenset(_find_persons(self._text, self.is_han))

    @cached_property
    def units(self) -> frozenset[str]:
        """Return the quantities that have a number, by their dimension."""
        return frozenset(_find_units(self.folded))


@dataclass(frozen=True)
class Agreement:
    """
    Hold how a text fits what a question names; counts of things, 0 is none.

    `other`: of the same kind it names others only. `silent`: it names nothing of that kind.
    `swapped`: beside the same word it has another one. `unfit`: it has nothing of what is asked
    for, as a number after 'how many'.
    """

    other: int
    silent: int
    swapped: int
    unfit: int


@cache_texts(2048)
def find_slots(text: str) -> Slots:
    """Return what a text names."""
    return Slots(text)


def compare(question: Slots, text: Slots) -> Agreement:
    """Return how a text fits a question."""
    other = silent = 0
    for group, named in question.values.items():
        known = text.find(group)
        if not known:
            silent += 1
        elif not named & known:
            other += 1
    if question.numbers and question.numbers - text.numbers:
        if text.numbers:
            other += 1
        else:
            silent += 1
    swapped = 0
    if question.is_han == text.is_han:
        if any(not _is_named(name, text) for name in question.persons):
            if text.persons - question.persons or _may_begin_with_name(text, question):
                other += 1
            else:
                silent += 1
        swapped = int(
            _is_swapped_han(question.folded, text.folded)
            if question.is_han
            else _is_swapped(question, text)
        )
    return Agreement(other, silent, swapped, int(_is_unfit(question, text)))


@cache
def _compile_words() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile at the first use what is no colour, and what names a person in Chinese."""
    words = _TABLES['words']
    return compile_pattern(words['no_colour']), compile_pattern(words['chinese_person'])


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
    for group, table in _TABLES['groups'].items():
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
    for match in _HAN_NUMBER.finditer(text) if is_han else ():
        if match[0] != '一' or text[match.end()] in _NAMED_BY_ONE:
            yield convert_han_number(match[1] or match[2])
    for word in words:
        for part in word.split('-') if '-' in word else (word,):
            if part in NUMBER_WORDS:
                yield NUMBER_WORDS[part]


def _find_persons(text: str, is_han: bool) -> Iterable[str]:
    titled = list(_TITLED.finditer(text))
    for match in titled:
        yield f'{match[1].lower()} {match[2].lower()}'
    for match in _CAPITAL.finditer(_TITLED.sub('', text) if titled else text):
        if match[0].lower() not in NO_NAMES:
            yield match[0].lower().removesuffix("'s")
    for match in _compile_words()[1].finditer(text) if is_han else ():
        yield match[0]


def _is_named(name: str, text: Slots) -> bool:
    """Say whether a text has a name, with the same title where both have one."""
    title, _, last = name.rpartition(' ')
    if name in text.persons:
        return True
    if title:
        return any(one == last for one in text.persons)
    return name in text.folded


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
        for dimension, units in _TABLES['units'].items()
    }


@cache
def _compile_anything() -> re.Pattern[str]:
    """Compile what tells that anything is asked for in English."""
    return compile_pattern(rf'\b(?:{"|".join(_TABLES["asked"].values())})')


@cache
def _compile_asked(kind: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Compile what tells that a kind is asked for in English, and in Chinese."""
    english, chinese = _TABLES['asked'], _TABLES['asked_han']
    return compile_pattern(rf'\b(?:{english[kind]})'), compile_pattern(chinese[kind])


def _is_unfit(question: Slots, text: Slots) -> bool:
    """Say whether what is asked for is nowhere in a text, beside what the question names."""
    kind = _find_asked(question.folded)
    if not kind:
        return False
    if kind in QUANTITIES:
        return bool(text.units) and kind not in text.units
    if kind == 'number':
        return not text.numbers - question.numbers and not text.units
    if kind == 'time':
        named = any(map(text.find, ('day', 'month', 'daypart', 'when')))
        return not named and not text.numbers - question.numbers and 'time' not in text.units
    if kind == 'colour':
        return not text.find('colour') - question.find('colour')
    if kind in ('person', 'name'):
        return not text.persons - question.persons and not _may_begin_with_name(text, question)
    return not re.search(_TABLES['fitting'][kind], text.folded)


@cache_texts(256)
def _find_asked(folded: str) -> str:
    """Return what a question asks for, '' where it does not say."""
    if folded.isascii() and not _compile_anything().search(folded):
        return ''
    kinds: list[str] = list(_TABLES['asked'])
    for kind in kinds:
        english, chinese = _compile_asked(kind)
        if english.search(folded) or chinese.search(folded):
            return kind
    return ''


def _may_begin_with_name(text: Slots, question: Slots) -> bool:
    """Say whether a text begins with what may be a name that the question has not."""
    first = _WORD.match(text.folded)
    is_open = first is not None and first[0] not in _FUNCTION | question.words
    return (not text.is_han and is_open) or bool(text.find('kin'))


_FUNCTION = frozenset(
    """
    the a an this that these those my your our his her their its of in on at to from for with by
    is are was were be been do does did has have had can could will would should must may what
    which who whom whose when where why how and or not no any some i you he she we they it there
    as than much many long far often last next now today please tell me
    """.split()
)


def _is_swapped(question: Slots, text: Slots) -> bool:
    """Say whether a word of the text has another one before it than in the question."""
    for word, following in question.pairs:
        if following not in text.folded or word in text.stems:
            continue
        others = {before for before, stem in text.pairs if stem == following}
        if others and others.isdisjoint(question.stems):
            return True
    return False


def _pair_content(words: Sequence[str], stems: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield the stems of two content words that stand side by side."""
    for place in range(1, len(words)):
        if words[place] not in _FUNCTION and words[place - 1] not in _FUNCTION:
            yield stems[place - 1], stems[place]


@cache_texts(8192)
def _stem(word: str) -> str:
    return word.removesuffix("'s").removesuffix('s') if len(word) > 3 else word


_HAN_FUNCTION = frozenset(
    '的了在是有和跟与给把被从到要用放什么哪几多少谁怎吗呢这那个里上下最都也还就'
)


def _is_swapped_han(question: str, text: str) -> bool:
    """Say whether two characters or more that both have follow others in the text."""
    for start in range(1, len(question) - 1):
        shared = question[start : start + 2]
        if not re.fullmatch(f'[{HAN}]{{2}}', shared):
            continue
        before = question[start - 1]
        place = text.find(shared)
        if place < 1 or not re.match(f'[{HAN}]', before):
            continue
        other = text[place - 1]
        if (
            other != before
            and re.match(f'[{HAN}]', other)
            and not {other, before} & _HAN_FUNCTION
            and before not in text
            and other not in question
        ):
            return True
    return False

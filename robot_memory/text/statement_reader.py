"""What is read of a statement: its words, numbers and identifiers, and signs of what it is for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

from robot_memory.text import tokenizer
from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.duplicate_keys import UNIT_NAMES, convert_han_number, duplicate_key
from robot_memory.text.prefixes import Lexicons
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.vocabulary import IRREGULAR, NUMBERS

_SI = {
    'um': ('m', 1e-6), 'mm': ('m', 1e-3), 'cm': ('m', 1e-2), 'km': ('m', 1e3),
    'inch': ('m', 0.0254), 'ms': ('s', 1e-3), 'min': ('s', 60.0), 'h': ('s', 3600.0),
    'day': ('s', 86400.0), 'week': ('s', 604800.0), 'ug': ('g', 1e-6), 'mg': ('g', 1e-3),
    'kg': ('g', 1e3), 'jin': ('g', 500.0), 'ml': ('l', 1e-3), 'mv': ('v', 1e-3), 'kv': ('v', 1e3),
    'kw': ('w', 1e3), 'ma': ('amp', 1e-3), 'kpa': ('pa', 1e3), 'mpa': ('pa', 1e6),
    'bar': ('pa', 1e5), 'kn': ('n', 1e3), 'khz': ('hz', 1e3), 'mhz': ('hz', 1e6),
    'mm/s': ('m/s', 1e-3), 'cm/s': ('m/s', 1e-2),
}  # fmt: skip
"""Units by the one of their dimension that amounts are compared in, and its factor."""
_MEASURED = frozenset(UNIT_NAMES.values()) - {'times', 'fold'}
"""Units that a number is of; others count things, by whatever word."""


class Signs(NamedTuple):
    """Say what a text has words for."""

    change: bool
    plan: bool
    question: bool
    addition: bool
    hearsay: bool
    at_most: bool
    at_least: bool
    hint: bool


NO_SIGNS = Signs(*[False] * len(Signs._fields))
_QUESTION = 1 << Signs._fields.index('question')


@dataclass(frozen=True)
class Statement:
    """Hold what is read of a text."""

    text: str
    folded: str
    is_han: bool
    numbers: frozenset[str]
    signs: Signs

    @cached_property
    def words(self) -> frozenset[str]:
        """Return its stems, in Chinese pairs of characters."""
        words = {stem(word) for word in _list_plain(self.folded) if word not in STOP}
        if self.is_han:
            han = re.findall('[\u4e00-\u9fff]+', self.folded)
            words |= {run[i : i + 2] for run in han for i in range(len(run) - 1)}
        return frozenset(words)


class _SignPatterns(NamedTuple):
    english: Lexicons
    asked: re.Pattern[str]
    chinese: tuple[re.Pattern[str], ...]


@cache
def _compile_signs() -> _SignPatterns:
    tables = load_toml(__file__, 'statement_reader.toml')
    asked = '|'.join(tables['question'].pop('english'))
    ordered = [tables[name] for name in Signs._fields]
    return _SignPatterns(
        Lexicons((table.get('english', []) for table in ordered), r'(?<![\w-])', r'(?![\w-])'),
        compile_pattern(rf'(?:\W*)(?:{asked})\b'),
        tuple(compile_pattern(table['chinese']) for table in ordered),
    )


def _read_signs(folded: str, is_han: bool) -> Signs:
    patterns = _compile_signs()
    english = patterns.english.find(folded)
    if patterns.asked.match(folded) or folded.rstrip().endswith('?'):
        english |= _QUESTION
    if not english and not is_han:
        return NO_SIGNS
    return Signs(
        *(
            bool(english >> place & 1 or (is_han and chinese.search(folded)))
            for place, chinese in enumerate(patterns.chinese)
        )
    )


STOP = frozenset(
    """
    a an the this that these those my your our his her their its of in on at to from for with by
    into onto and or but so as is are was were be been being am has have had do does did will would
    can could may must should it he she they we i you me him them us there here no not who which
    what when where please now today just only still very quite gets get got goes go s t
    """.split()
)
WORD = compile_pattern(r'[a-z0-9][a-z0-9_./-]*(?<![./-])')
_NUMBER = compile_pattern(r'\d+(?:\.\d+)?')
_HAN_NUMBER = compile_pattern('[零一二两三四五六七八九十百千万]+')
_SUFFIX = compile_pattern('(?:ing|edly|ed|es|s|ly)$')


@cache_texts(8192)
def stem(word: str) -> str:
    """Return a word without its ending, by rule."""
    word = IRREGULAR.get(word, word)
    cut = _SUFFIX.sub('', word) if len(word) > 4 else word
    return (
        cut[:-1]
        if len(cut) > 3 and cut[-1] == cut[-2] and cut[-1] not in 'aeiosl'
        else cut.rstrip('e')
    )


def has_han(text: str) -> bool:
    """Say whether a text has Chinese characters."""
    return not text.isascii() and any('\u4e00' <= c <= '\u9fff' for c in text)


@cache_texts(1024)
def read_statement(text: str) -> Statement:
    """Read the words, numbers and signs of a text."""
    folded = tokenizer.fold(text)
    is_han = has_han(text)
    numbers = frozenset(_NUMBER.findall(' '.join(_list_plain(folded))))
    if not folded.isascii():
        numbers |= {convert_han_number(run) for run in _HAN_NUMBER.findall(folded)}
    signs = _read_signs(folded, is_han)
    return Statement(text, folded, is_han, numbers, signs)


def _list_plain(folded: str) -> list[str]:
    """Return the words of a text, numbers in digits."""
    return [NUMBERS.get(word, word) for word in WORD.findall(folded)]


_HEADED = compile_pattern(
    r'(?<![\w.])(?P<head>[a-z]{2,}) (?P<id>[a-z]?-?\d+|[a-z])'
    r'(?![\w%.]| ?(?:mm|cm|m|km|g|kg|s|min|h|v|n|nm|percent|degrees?|bar)\b)'
)
_HAN_HEADED = compile_pattern(
    '(?P<id>[甲乙丙丁戊]|[0-9一二三四五六七八九十]+(?=号)|[A-Z0-9]+)(?:号)?(?P<head>[\u4e00-\u9fff])'
)


@cache_texts(1024)
def find_ids(folded: str) -> dict[str, set[str]]:
    """
    Return by the word before it what numbers or letters one thing of many: press 2, 乙班.

    It must not be changed.
    """
    found: dict[str, set[str]] = {}
    for match in _HEADED.finditer(folded):
        if match['id'] not in ('a', 'i') and match['head'] not in STOP:
            found.setdefault(match['head'], set()).add(match['id'])
    for match in _HAN_HEADED.finditer(folded.upper()):
        found.setdefault(match['head'], set()).add(match['id'])
    return found


_AMOUNT = compile_pattern(r'(?<!\S)([<>≤≥]=?)?(-?\d+(?:\.\d+)?)(\S*)')


def read_quantities(text: str) -> dict[str, set[float]]:
    """Return the numbers of a text by the unit that they are said in, '' of plain ones."""
    found: dict[str, set[float]] = {}
    for _, number, unit in _AMOUNT.findall(duplicate_key(text)):
        found.setdefault(unit, set()).add(float(number))
    return found


@cache_texts(1024)
def read_amounts(text: str) -> tuple[tuple[str, str], ...]:
    """Return the numbers of a text in units that others of their dimension convert to."""
    found = []
    for _, number, unit in _AMOUNT.findall(
        duplicate_key(re.sub(r'(?<=\d),(?=\d{3}\b)', '', text))
    ):
        base, factor = _SI.get(unit, (unit if unit in _MEASURED else '', 1.0))
        if (base, number) != ('', '1'):  # one may be an article
            found.append((base, f'{float(number) * factor:.6g}'))
    return tuple(sorted(found))


@cache_texts(1024)
def count_negations(text: str) -> str:
    """Return how often a text says no, as its duplicate key has it."""
    return ''.join(re.findall(r'not\*\d+', duplicate_key(text)))

"""
Amounts of a rule: numbers in figures and words, with their units or with what they count.

'half a metre per second', 'minus 5 °C', 百分之十, 三次. Units are those of limits.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from itertools import product
from typing import Any, NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern, match_any
from robot_memory.text.figures import write_figures
from robot_memory.text.questions.figures import list_units
from robot_memory.text.questions.numbers import ENGLISH, HAN, parse_number
from robot_memory.text.rules.normalising import normalise
from robot_memory.text.rules.quantities import is_no_mass
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.units import LENGTHS, MASSES, name_units

_THOUSANDS = compile_pattern(r'(?<=\d),(?=\d{3}(?!\d))')
_DECIMAL_COMMA = compile_pattern(r'(?<=\d),(?=\d)')
_SYMBOLS = compile_pattern(
    r'(?<=\d)\s?(?P<unit>[a-zA-ZµμΩ°]+\d?(?:\s?[/·*^]\s?[a-zA-Z0-9]+)+)'
    r'|(?<=\d)\s?(?P<ampere>A)(?![a-zA-Z0-9_])'
)
_FIRST_SYMBOL = 0xE000
"""Of the private use area, which stands for a unit as it is written."""
_THINGS = ('foot', 'yard')
"""Units that are things where only an article stands before them."""
_NUMBER = rf'(?<![\w.])-?{ENGLISH}|(?<![零〇一二两三四五六七八九十百千\d.])-?{HAN}'


_JOINED = 60
"""Characters before an amount in which a lesser one stands that has its unit."""


class Amount(NamedTuple):
    """
    Hold an amount, and where it stands in the text that was read.

    `low` is the lesser of two figures that share a unit. `counted` is what is counted, '' of what
    is measured.
    """

    value: float
    unit: str
    start: int
    end: int
    low: float | None = None
    counted: str = ''


class Read(NamedTuple):
    """Hold a text with its numbers in figures, folded, and its amounts in their order."""

    folded: str
    amounts: tuple[Amount, ...]


def read_amounts(text: str) -> Read:
    """Return the amounts of a text, none of which overlap."""
    shown, folded = normalise(text)
    for pattern, put in ((_THOUSANDS, ''), (_DECIMAL_COMMA, '.')):
        shown, folded = pattern.sub(put, shown), pattern.sub(put, folded)
    symbols: list[str] = []
    if len(shown) == len(folded):
        names = _list_names()

        def keep(match: re.Match[str]) -> str:
            unit = match['unit'] or match['ampere']
            if match['unit'] and unit.lower() in names:
                return match[0].lower()
            symbols.append(unit)
            return f' {chr(_FIRST_SYMBOL + len(symbols) - 1)}'

        folded = normalise(_SYMBOLS.sub(keep, shown))[1]
    folded = write_figures(_write_plain(folded))
    found = [*_find_measured(folded, symbols), *_find_counted(folded)]
    found.sort(key=lambda one: (one.start, bool(one.counted), -one.end))
    kept: list[Amount] = []
    for one in found:
        if kept and one.start < kept[-1].end:
            continue
        if (kept and _is_rate(folded, kept[-1], one)) or _is_more(folded, one):
            continue
        one = _add_most(folded, one)
        low = _compile_low().search(folded, max(one.start - _JOINED, 0), one.start)
        least = None if low is None else _parse(low['number'])
        # 一到 before much more is 'as soon as'.
        is_least = least is not None and (least != 1 or one.value <= 10)
        is_least = (
            is_least and low is not None and (not kept or low.start('number') >= kept[-1].end)
        )
        kept.append(
            one._replace(low=least, start=low.start('number')) if is_least and low else one
        )
    return Read(folded, tuple(kept))


def _write_plain(folded: str) -> str:
    """Return a text with the forms of numbers that no other reader knows in plain ones."""
    for pattern, put in _compile_plain():
        folded = pattern.sub(put, folded)
    return folded


@cache
def _compile_plain() -> tuple[tuple[re.Pattern[str], str], ...]:
    return tuple((compile_pattern(one['is']), one['put']) for one in load()['plain'])


def _find_measured(folded: str, symbols: list[str]) -> Iterator[Amount]:
    names = _list_names()
    for match in _compile_amount().finditer(folded):
        name = match['unit']
        if match['number'] == 'a' and name in _THINGS:
            continue
        if name in _list_masses() and is_no_mass(folded, match.end()):
            continue
        place = ord(name[0]) - _FIRST_SYMBOL
        factor, unit = (1.0, symbols[place]) if 0 <= place < len(symbols) else names[name]
        if match['per']:
            unit = f'{unit}/{load()["rates"]["per"][match["per"]]}'
        yield Amount(_parse(match['number']) * factor, unit, *match.span())


@cache
def _list_masses() -> frozenset[str]:
    return frozenset(name_units(MASSES))


def _find_counted(folded: str) -> Iterator[Amount]:
    for match in _compile_counted().finditer(folded):
        number, counted = match['number'] or match['number_zh'], match['noun'] or match['thing']
        yield Amount(_parse(number), '', *match.span(), counted=counted)


def _is_rate(folded: str, one: Amount, other: Amount) -> bool:
    """Say whether an amount only tells how often another one is meant: ten times a day."""
    joined = folded[one.end : other.start]
    return bool(one.counted) and other.value == 1 and not joined.strip(' /每')


def _is_more(folded: str, one: Amount) -> bool:
    """Say whether an amount only tells that there is no more of another: 'not a newton more'."""
    return (
        one.value == 1
        and folded[max(one.start - 4, 0) : one.start].endswith(('not ', '多'))
        and folded[one.end : one.end + 8].lstrip().startswith(('more', '都', '也'))
    )


def _add_most(folded: str, one: Amount) -> Amount:
    """Return an amount with the greater one behind it that has no unit: '5 N but not over 12'."""
    most = None if one.counted else _compile_most().match(folded, one.end)
    number = re.match(_NUMBER, folded[one.start : one.end])
    if most is None or number is None or not (said := _parse(number[0])):
        return one
    value = _parse(most['number']) * one.value / said
    return one._replace(value=value, low=one.value, end=most.end()) if value > one.value else one


def _parse(number: str) -> float:
    return -parse_number(number[1:]) if number[0] == '-' else parse_number(number)


@cache
def load() -> dict[str, Any]:
    """Return limits.toml."""
    return load_toml(__file__, 'limits.toml')


@cache
def _load_units() -> dict[str, tuple[float, str]]:
    """Return factor and unit by the names of units in questions."""
    return {name: _split_factor(said) for name, said in load()['units'].items()}


def _split_factor(said: str) -> tuple[float, str]:
    """Return the factor and the unit of a text such as '0.5 kg'."""
    factor, _, unit = said.rpartition(' ') if said[0].isdigit() else ('1', '', said)
    return float(factor), unit


@cache
def _list_names() -> dict[str, tuple[float, str]]:
    """Return factor and unit by each name that a rule may use, rates too."""
    units, rates = _load_units(), load()['rates']
    found = {name: units[unit] for name, unit in list_units().items() if unit in units}
    lengths = name_units(LENGTHS)
    found |= {n: _split_factor(unit) for n, unit in (lengths | name_units(MASSES)).items()}
    found |= dict.fromkeys(MASSES['jin'].list_names(), (MASSES['jin'].factor, 'kg'))
    found |= {name: _split_factor(unit) for unit, said in load()['names'].items() for name in said}
    of = (rates['of'] | lengths).items()
    for (name, unit), (per, time) in product(of, rates['per'].items()):
        signs = (
            ('每', '/') if not name.isascii() else (' per ', ' a ', ' an ', ' each ', '/', '/ ')
        )
        found |= {f'{name}{sign}{per}': (1.0, f'{unit}/{time}') for sign in signs}
    for (name, unit), square in product(of, rates['squared']):
        found |= {
            f'{name}{sign}{square}': (1.0, f'{unit}/s^2') for sign in ('每', '/', ' per ', ' a ')
        }
    return found


@cache
def _compile_amount() -> re.Pattern[str]:
    units = match_any(_list_names())
    per = '|'.join(name for name in load()['rates']['per'] if not name.isascii())
    return compile_pattern(
        rf'(?:每(?P<per>{per}))?(?P<number>{_NUMBER})\s?-?个?'
        rf'(?P<unit>[{chr(_FIRST_SYMBOL)}-\uf8ff]|(?:{units})(?![a-z0-9/²^·*]))'
    )


@cache
def _compile_low() -> re.Pattern[str]:
    """Return what stands before the greater of two figures, of which the other has no unit."""
    table = load()['between']
    return compile_pattern(rf'(?P<number>{_NUMBER})(?:{table["join"]}|{table["low"]})$')


@cache
def _compile_most() -> re.Pattern[str]:
    """Return what stands behind the lesser of two figures, of which the other has no unit."""
    return compile_pattern(
        rf'(?:{load()["between"]["low"]})(?P<number>{_NUMBER})(?=\s*(?:[.,;:!?)，。；！]|$))(?!\.\d)'
    )


@cache
def _compile_counted() -> re.Pattern[str]:
    table = load()['counted']
    return compile_pattern(
        rf'(?<![\w.])(?!an?\b)(?P<number>{ENGLISH})(?:\s(?!of\b)[a-z]+ed|\s(?:more|other|full))?'
        rf'\s(?P<noun>{table["en"]})(?![\w-])'
        rf'|(?P<number_zh>(?<![零〇一二两三四五六七八九十百千\d.第]){HAN})(?P<thing>{table["zh"]})'
    )

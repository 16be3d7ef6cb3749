"""
Limits that a rule states: an amount with a unit, and on which side of it all must stay.

'Never exceed 15 N', 'no slower than 0.2 m/s', 不超过15牛, 至少半米. What is more or less bounds
from the other side where it is forbidden. An amount in a condition ('when over 2 kg are carried')
is no limit. The words are those of limits.toml.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.caching import cache_texts
from robot_memory.text.questions.figures import list_units
from robot_memory.text.questions.numbers import ENGLISH, HAN, parse_number
from robot_memory.text.rules.rule_clauses import Part, split_rule
from robot_memory.text.rules.scene import normalise
from robot_memory.text.toml_tables import load_toml

_SEPARATOR = re.compile(
    r'[;；。！!？?，、]|,|(?<!\d)(?<!max)(?<!min)\.|(?<!max)(?<!min)\.(?!\d)|\bbut\b|但'
)
_THOUSANDS = re.compile(r'(?<=\d),(?=\d{3}(?!\d))')
_DECIMAL_COMMA = re.compile(r'(?<=\d),(?=\d)')
_SYMBOLS = re.compile(
    r'(?<![\w.])(?P<number>-?\d+(?:\.\d+)?)\s?(?P<unit>[^\W\d_]+\d?(?:\s?[/·*^]\s?[^\W_]+)+)'
)
_AMPERE = re.compile(r'(?<![\w.])(?P<number>-?\d+(?:\.\d+)?)\s?(?P<unit>A)(?!\w)')
"""Folded, it is an article."""
_NUMBER = rf'(?<![\w.])-?{ENGLISH}|(?<![零〇一二两三四五六七八九十百千\d.]){HAN}'
_AFTER = 40
"""Characters behind an amount in which its bound may be told."""


@dataclass(frozen=True)
class Limit:
    """
    Hold a limit: bounds in a unit, None where there is none on that side.

    Of degrees it is not told whether they are of an angle or a temperature. `words` is the part of
    the rule that states it. One without bounds is unclear: no word tells what its amount bounds.
    """

    low: float | None
    high: float | None
    unit: str
    words: str

    @property
    def is_unclear(self) -> bool:
        """Say whether it is not told which side it bounds."""
        return self.low is None and self.high is None


class _Amount(NamedTuple):
    value: float
    unit: str
    start: int
    end: int
    low: float | None = None


@cache_texts(4096)
def read_limits(text: str) -> tuple[Limit, ...]:
    """Return the limits that a rule states, unclear ones too, in their order."""
    shown, folded = normalise(text)
    for pattern, put in ((_THOUSANDS, ''), (_DECIMAL_COMMA, '.')):
        shown, folded = pattern.sub(put, shown), pattern.sub(put, folded)
    for name, put in (('goes_on', ' '), ('compared', '超过')):
        pattern = re.compile(_load()['forbidden'][name])
        shown, folded = pattern.sub(put, shown), pattern.sub(put, folded)
    amounts = _find_amounts(shown, folded)
    if not amounts:
        return ()
    parts = split_rule(folded)
    found = [
        limit
        for start, end in _split(folded)
        for limit in _read_segment(
            folded, start, end, [one for one in amounts if start <= one.start < end], parts
        )
    ]
    # What limits nothing else may limit this, in words that are not known.
    return tuple(found) or tuple(Limit(None, None, one.unit, folded) for one in amounts)


def _split(folded: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _SEPARATOR.finditer(folded):
        yield start, match.start()
        start = match.end()
    yield start, len(folded)


def _find_amounts(shown: str, folded: str) -> list[_Amount]:
    """Return amounts with a unit in their order, none of which overlap."""
    names = _list_names()
    found = [
        _Amount(_parse(match['number']) * factor, unit, *match.span())
        for match in _compile_amount().finditer(folded)
        for factor, unit in [names[match['unit']]]
    ]
    if len(shown) == len(folded):
        found += [
            _Amount(float(match['number']), match['unit'], *match.span())
            for pattern in (_SYMBOLS, _AMPERE)
            for match in pattern.finditer(shown)
        ]
    found.sort(key=lambda one: (one.start, -one.end))
    kept: list[_Amount] = []
    for one in found:
        if not kept or one.start >= kept[-1].end:
            low = _compile_low().search(folded[: one.start])
            kept.append(one._replace(low=None if low is None else _parse(low['number'])))
    return kept


def _read_segment(
    folded: str, start: int, end: int, amounts: Sequence[_Amount], parts: Sequence[Part]
) -> Iterator[Limit]:
    """Yield the limits between two separators."""
    words, skip = folded[start:end], False
    for place, amount in enumerate(amounts):
        following = amounts[place + 1] if place + 1 < len(amounts) else None
        before = folded[start : amount.start]
        is_span = following is not None and _is_span(folded[amount.end : following.start], before)
        is_span |= amount.low is not None
        is_condition = not is_span and _is_of_condition(folded, start, amount, parts)
        if skip or (is_condition and not _forbids_behind(folded[amount.end : end])):
            skip = False
            continue
        if amount.low is not None:
            is_clear = amount.low <= amount.value and not _forbids(before)
            low, high = (amount.low, amount.value) if is_clear else (None, None)
            yield Limit(low, high, amount.unit, words)
            continue
        if following is not None and is_span:
            skip = True
            if following.unit == amount.unit and not _forbids(before):
                yield Limit(amount.value, following.value, amount.unit, words)
            else:
                yield Limit(None, None, amount.unit, words)
            continue
        until = end if following is None else following.start
        after = folded[amount.end : min(until, amount.end + _AFTER)]
        side, unit = _find_side(before, after), amount.unit
        if unit in ('m', 'cm', 'mm', 'deg', 'rad') and '每秒' in before:
            unit = f'{unit}/s'
        low, high = (amount.value if side == one else None for one in ('low', 'high'))
        yield Limit(low, high, unit, words)


def _is_of_condition(folded: str, start: int, amount: _Amount, parts: Sequence[Part]) -> bool:
    """Say whether an amount only states when a rule holds; `start` is that of its segment."""
    limits, preposition = _load()['limits'], _load()['condition']['preposition']
    for part in parts:
        if not (
            part.start <= amount.start < part.end and (part.is_condition or part.is_exception)
        ):
            continue
        is_loose = bool(re.match(preposition, folded[part.start : part.end]))
        before = folded[start if is_loose else part.start : amount.start]
        if re.search(f'{limits["en"]}|{limits["zh"]}', before):
            return False
        return not is_loose or _find_last(before, 'before') in ('more', 'less')
    return False


def _is_span(joined: str, before: str) -> bool:
    table = _load()['between']
    is_between = bool(re.search(r'(?:\bbetween|\bfrom|在|介于)\s*$', before))
    joins = bool(re.fullmatch(table['join'], joined))
    return joins and (is_between or not re.search(r'\band\b', joined))


def _find_side(before: str, after: str) -> str:
    """Return which side of an amount is bounded: 'low', 'high', '' where no word tells."""
    found = _find_last(before, 'before')
    forbids = _forbids(before) or _forbids_behind(after)
    if found is None:
        found = _find_first(after, 'after')
    if found is None:
        return ''
    if found in ('upper', 'lower'):
        return 'high' if found == 'upper' else 'low'
    return 'high' if (found == 'more') is forbids else 'low'


def _find_last(text: str, where: str) -> str | None:
    """Return the kind of the comparison that stands nearest before an amount, if any."""
    matches = [
        (match.end(), match.end() - match.start(), kind)
        for kind, pattern in _compile_comparisons(where).items()
        for match in pattern.finditer(text)
    ]
    return max(matches)[2] if matches else None


def _find_first(text: str, where: str) -> str | None:
    matches = [
        (match.start(), match.start() - match.end(), kind)
        for kind, pattern in _compile_comparisons(where).items()
        for match in pattern.finditer(text)
    ]
    return min(matches)[2] if matches else None


def _forbids(text: str) -> bool:
    no = _load()['no']
    cleaned = text.replace('不锈', '')
    return bool(re.search(f'{no["en"]}|{no["zh"]}', cleaned))


def _forbids_behind(text: str) -> bool:
    return bool(re.search(_load()['forbidden']['after'], text))


def _parse(number: str) -> float:
    return -parse_number(number[1:]) if number[0] == '-' else parse_number(number)


@cache
def _load() -> dict[str, Any]:
    return load_toml(__file__, 'limits.toml')


@cache
def load_aliases() -> dict[str, tuple[str, ...]]:
    """Return other words for what params are called, by what is meant."""
    return {name: tuple(said.split()) for name, said in _load()['aliases'].items()}


@cache
def _load_units() -> dict[str, tuple[float, str]]:
    """Return factor and unit by the names of units in questions."""
    found = {}
    for name, said in _load()['units'].items():
        factor, _, unit = said.rpartition(' ') if said[0].isdigit() else ('1', '', said)
        found[name] = float(factor), unit
    return found


@cache
def _list_names() -> dict[str, tuple[float, str]]:
    """Return factor and unit by each name that a rule may use, rates in Chinese too."""
    units, rates = _load_units(), _load()['rates']
    found = {name: units[unit] for name, unit in list_units().items() if unit in units}
    for name, unit in rates['of'].items():
        for per, time in rates['per'].items():
            found |= {f'{name}{sign}{per}': (1.0, f'{unit}/{time}') for sign in ('每', '/')}
    found |= {name: (1.0, unit) for unit, said in _load()['names'].items() for name in said}
    return found


@cache
def _compile_amount() -> re.Pattern[str]:
    units = '|'.join(re.escape(name) for name in sorted(_list_names(), key=len, reverse=True))
    return re.compile(rf'(?P<number>{_NUMBER})\s?-?个?(?P<unit>{units})(?![a-z0-9/²^·*])')


@cache
def _compile_low() -> re.Pattern[str]:
    """Return what stands before the greater of two figures, of which the other has no unit."""
    return re.compile(rf'(?P<number>{_NUMBER}){_load()["between"]["join"].strip("^$")}$')


@cache
def _compile_comparisons(where: str) -> dict[str, re.Pattern[str]]:
    return {
        kind: re.compile(rf'(?<![a-z])(?:{_load()[kind][where]})')
        for kind in ('upper', 'lower', 'more', 'less')
    }

"""Bounds in questions: a comparison, a number and a unit, as a value in SI units."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache, partial
from typing import Any, NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern, match_any
from robot_memory.text.questions.model import Bound, Operator
from robot_memory.text.questions.numbers import COUNT, ENGLISH, HAN, parse_number
from robot_memory.text.questions.tables import expand, load_pattern, load_table
from robot_memory.text.vocabulary import UNITS

ABOUT = 0.1
"""How far a value may be from one that was said to be about it, as a share of it."""
_DEGREES = 'deg'
_FIGURES = {'average': 'mean', 'maximum': 'peak', 'max': 'peak', 'minimum': 'min'}


class FoundBounds(NamedTuple):
    """Hold bounds with the part of the text that each was read from."""

    bounds: tuple[Bound, ...]
    spans: tuple[tuple[int, int], ...]


NO_BOUNDS = FoundBounds((), ())


class _Value(NamedTuple):
    quantity: str
    value: float


_Pair = tuple[Operator, _Value]
_Form = tuple[re.Pattern[str], Callable[[re.Match[str], str], list[_Pair]]]


@cache
def list_units() -> dict[str, str]:
    """Return the unit of each name that questions may use."""
    table = load_table('figures')
    names = {
        name: unit
        for unit, said in UNITS.items()
        if unit in table['si'] or unit == _DEGREES
        for name in said.split()
    }
    names |= {f'{n}s': u for n, u in names.items() if re.fullmatch('[a-z]{3,}[^sz]', n)}
    names |= {name: unit for unit, said in table['more_names'].items() for name in said.split()}
    for length in ('meter', 'metre', 'radian', 'degree', 'millimeter', 'millimetre'):
        for per in ('per', 'a'):
            names[f'{length} {per} second'] = f'{names[length]}/s'
            names[f'{length}s {per} second'] = f'{names[length]}/s'
    names |= dict(_compose_units(names))
    names.update(table['spelt'])
    return names


def _compose_units(names: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield names of two units: newton centimetres, centimetres per second."""
    lengths = [name for name in names if re.fullmatch('(?:centi|milli)?met(?:er|re)', name)]
    for name, end in itertools.product(lengths, ('', 's')):
        for newton, sign in itertools.product(('newton', 'newtons'), ' -'):
            yield f'{newton}{sign}{name}{end}', {'m': 'nm', 'cm': 'ncm', 'mm': 'nmm'}[names[name]]
        for per in ('per', 'a', 'each'):
            yield f'{name}{end} {per} second', f'{names[name]}/s'
            yield f'{name}{end} {per} minute', f'{names[name]}/min'


@cache
def _join_units() -> str:
    """Return a pattern of all names of units, the longest first."""
    return match_any(list_units())


def _compile_form(form: str, table: dict[str, Any], **more: str) -> re.Pattern[str]:
    """Compile a form of a number and a unit; `more` are fragments of its own."""
    amounts = table['amount']
    number = expand(amounts['number'], table)
    fragments = {
        **table['fragments'],
        'unit': _join_units(),
        'digits': f'{ENGLISH}|{HAN}',
        'ends': amounts['ends'],
        'not_ago': amounts['not_ago'],
        'amount': rf'(?P<per>每秒钟?)?(?P<number>{number})\s?-?个?(?P<unit>{_join_units()})'
        rf'(?P<half> and a half|半钟?|(?<=[米斤])[一二三四五六七八九](?![十百千个次]))?'
        rf'(?:\s?(?:and )?零?(?P<tail>{ENGLISH}|{HAN})\s?(?P<tail_unit>秒钟?|s|secs?|seconds?)'
        rf'(?![a-z]))?{amounts["ends"]}',
    }
    return compile_pattern(expand(amounts[form], {'fragments': {**fragments, **more}}))


@cache
def _compile_forms() -> tuple[_Form, ...]:
    """Return the forms of a bound, and how the values of each are read."""
    table = load_table('figures')
    compile_form = partial(_compile_form, table=table)
    forms: list[_Form] = [
        (compile_form('between'), _read_between),
        (compile_form('around'), _read_around),
        (compile_form('about'), _read_around),
        (compile_form('odd'), _read_odd),
        (compile_form('told'), _read_stated),
    ]
    for one in table['comparison']:
        read = _read_equal if one['operator'] == '$eq' else _make_reader(one['operator'])
        forms.append((compile_form('one', before=one['before']), read))
        if one['after']:
            forms.append((compile_form('behind', after=one['after']), read))
        if one.get('plus'):
            forms.append((compile_form('plus'), read))
        if 'compared' in one:
            forms.append((compile_form('compared', compared=one['compared']), read))
    return tuple(forms)


def _make_reader(operator: Operator) -> Callable[[re.Match[str], str], list[_Pair]]:
    def read(match: re.Match[str], folded: str) -> list[_Pair]:
        half = _parse_half(match.groupdict().get('half') or '')
        per = match.groupdict().get('per') or folded[: match.start()].endswith('每秒')
        found = _convert(
            _parse(match['number']) + half, match['unit'], folded, '/s' if per else ''
        )
        tail = match.groupdict().get('tail')
        if found and tail and found.quantity == 'duration':
            found = found._replace(value=found.value + _parse(tail))
        return [(operator, found)] if found else []

    return read


@cache
def _compile_share_forms() -> tuple[_Form, ...]:
    """Return the forms of a bound on a share without a sign for percent."""
    table = load_table('figures')
    percent = table['amount']['percent']
    forms: list[_Form] = []
    for one in table['comparison']:
        for form, key in (('share', 'before'), ('share_behind', 'after')):
            if one['operator'] != '$eq' and one[key]:
                pattern = _compile_form(form, table, percent=percent, **{key: one[key]})
                forms.append((pattern, _make_share_reader(one['operator'])))
    return tuple(forms)


_SHARES = ('分之', '成', ' of ')
"""What a share without a sign for percent has."""
_PARTS = {
    'half': 2, 'third': 3, 'quarter': 4, 'fourth': 4, 'fifth': 5, 'sixth': 6, 'eighth': 8,
    'tenth': 10, 'twelfth': 12, 'twentieth': 20,
}  # fmt: skip


def _make_share_reader(operator: Operator) -> Callable[[re.Match[str], str], list[_Pair]]:
    """Return what reads a share without a sign for percent: 百分之八, 两成, a fifth of."""

    def read(match: re.Match[str], folded: str) -> list[_Pair]:
        groups = match.groupdict()
        if groups['number']:
            percent = _parse(groups['number'])
        elif groups['tenths']:
            percent = 10 * _parse(groups['tenths'])
        elif groups['below']:
            percent = 100 * _parse(groups['above']) / _parse(groups['below'])
        else:
            count, part = groups['fraction'].rpartition(' ')[::2]
            percent = 100 * parse_number(count or 'a') / _PARTS[part.removesuffix('s')]
        return [(operator, _Value('share', percent))]

    return read


def _parse_half(written: str) -> float:
    """Return what stands behind a unit as a part of it: half of it, or tenths, as in 一米五."""
    if not written:
        return 0.0
    return 0.5 if 'half' in written or written[0] == '半' else parse_number(written) / 10


def _read_stated(match: re.Match[str], folded: str) -> list[_Pair]:
    """Return one of the last digit around a value, which may be rounded or cut: lasted 47 s."""
    number = match['number']
    if not number[0].isdecimal():
        return []
    value, last = _parse(number), 1.0 / 10 ** len(number.partition('.')[2])
    return _read_ends(value - last, value + last, '$lt', match['unit'], folded)


def _read_odd(match: re.Match[str], folded: str) -> list[_Pair]:
    """Return from a round number to the next one: sixty-odd newtons, 六十多牛, 三秒多."""
    low = _parse(match['number'] or match['whole'])
    step = 10.0 ** max(0, math.floor(math.log10(low))) if low >= 1 else 1.0
    while low % step:
        step /= 10
    step = 1.0 if match['whole'] else step
    return _read_ends(low, low + step, '$lt', match['unit'] or match['whole_unit'], folded)


def _read_between(match: re.Match[str], folded: str) -> list[_Pair]:
    low = _convert(_parse(match['low']), match['own'] or match['unit'], folded)
    high = _convert(_parse(match['number']), match['unit'], folded)
    if low and high and low.quantity == high.quantity and low.value < high.value:
        return [('$gte', low), ('$lte', high)]
    return []


def _read_around(match: re.Match[str], folded: str) -> list[_Pair]:
    value = _parse(match['number'])
    return _read_ends(value * (1 - ABOUT), value * (1 + ABOUT), '$lte', match['unit'], folded)


def _read_equal(match: re.Match[str], folded: str) -> list[_Pair]:
    """Return half of the last digit around a value: 43.0 N are 42.95 N to 43.05 N."""
    number = match['number']
    if not number[0].isdecimal():  # 'a tenth of a second'
        return []
    digits = len(number.partition('.')[2])
    value, half = _parse(number), 0.5 / 10**digits
    return _read_ends(value - half, value + half, '$lt', match['unit'], folded)


def _read_ends(low: float, high: float, below: Operator, unit: str, folded: str) -> list[_Pair]:
    ends = [_convert(value, unit, folded) for value in (min(low, high), max(low, high))]
    return [('$gte', ends[0]), (below, ends[1])] if ends[0] and ends[1] else []


def _parse(number: str) -> float:
    return -parse_number(number[1:]) if number[0] == '-' else parse_number(number)


def _convert(value: float, name: str, folded: str, per: str = '') -> _Value | None:
    """Return a value in SI units; None where the unit may be of two quantities."""
    unit = f'{list_units()[name]}{per}'
    if unit not in load_table('figures')['si'] and unit != _DEGREES:
        return None
    if unit == _DEGREES:
        if load_pattern('figures', 'words', 'heat').search(folded):
            return _Value('temperature', value)
        if load_pattern('figures', 'words', 'turn').search(folded):
            return _Value('angle', math.radians(value))
        if load_pattern('figures', 'words', 'warm').search(folded):
            return _Value('temperature', value)
        return None
    quantity, factor = load_table('figures')['si'][unit]
    if unit == 'degf':
        value = (value - 32) / 1.8
    if quantity == 'length' and load_pattern('figures', 'words', 'way').search(folded):
        quantity = 'distance'
    return _Value(quantity, float(f'{value * factor:.12g}'))


@cache
def _compile_closest() -> re.Pattern[str]:
    return _compile_form('closest', load_table('figures'))


class Target(NamedTuple):
    """Hold the value that what is asked for is closest to, and where it was read."""

    quantity: str
    value: float
    span: tuple[int, int]


def find_target(folded: str) -> Target | None:
    """Return the value that what is asked for is closest to: nearest to 20 N, 最接近20牛."""
    match = _compile_closest().search(folded)
    if match is None:
        return None
    number, unit = next(
        (match[f'number{one}'], match[f'unit{one}'])
        for one in ('', '2', '3')
        if match[f'unit{one}']
    )
    found = _convert(_parse(number), unit, folded)
    return found and Target(*found, match.span())


@cache
def _compile_bare() -> tuple[re.Pattern[str], tuple[tuple[Operator, re.Pattern[str]], ...]]:
    """Return what stands between two bounds of one thing, and bounds without a unit."""
    table = load_table('figures')
    amounts = table['amount']
    fragments = {
        **table['fragments'],
        **{name: amounts[name] for name in ('ends', 'goes_on')},
        'unit': _join_units(),
        'COUNT': COUNT,
    }
    bare = []
    for one in table['comparison']:
        if one['operator'] != '$eq':
            given = {**fragments, 'before': expand(one['before'], table)}
            bare.append(
                (one['operator'], compile_pattern(expand(amounts['bare'], {'fragments': given})))
            )
    return compile_pattern(amounts['joins']), tuple(bare)


def _find_bare(
    folded: str, found: Sequence[tuple[int, int, str, list[_Pair]]]
) -> Iterator[tuple[int, int, str, list[_Pair]]]:
    """Yield bounds without a unit beside one to the other side, which has theirs."""
    single = [one for one in found if one[2] and len(one[3]) == 1]
    if not single:
        return
    joins, forms = _compile_bare()
    for operator, pattern in forms:
        for match in pattern.finditer(folded):
            for start, end, unit, ((other, value),) in single:
                apart = (end, match.start()) if end <= match.start() else (match.end(), start)
                if other[:3] == operator[:3] or apart[0] > apart[1]:
                    continue
                if not joins.fullmatch(folded, *apart):
                    continue
                own = _convert(_parse(match['number']), unit, folded)
                if own and own.quantity == value.quantity:
                    yield *match.span(), '', [(operator, own)]


def _find(folded: str) -> Iterator[tuple[int, int, str, list[_Pair]]]:
    shares = _compile_share_forms() if any(one in folded for one in _SHARES) else ()
    for pattern, read in (*_compile_forms(), *shares):
        for match in pattern.finditer(folded):
            pairs = read(match, folded)
            if pairs:
                yield match.start(), match.end(), match.groupdict().get('unit') or '', pairs


_SIGNS: dict[str, Operator] = {'>': '$gt', '<': '$lt', '>=': '$gte', '<=': '$lte'}


def _find_formal(folded: str) -> Iterator[tuple[int, int, str, list[_Pair]]]:
    """Yield bounds without a unit, as programs write them: peak_force > 30."""
    for match in load_pattern('figures', 'words', 'formal').finditer(folded):
        quantity = match['quantity'].replace('weight', 'mass')
        value = _Value(quantity, parse_number(match['number']))
        yield match.start(), match.end(), '', [(_SIGNS[match['operator']], value)]


def find_bounds(folded: str, text: str, *, formal: bool = False) -> FoundBounds:
    """
    Return the bounds in a text, in order; of two that overlap, the first and longest.

    In a `formal` text, of a program, those without a unit too.
    """
    figures = {
        match['quantity']: _FIGURES.get(match['figure'], match['figure'])
        for match in load_pattern('figures', 'words', 'figure').finditer(folded)
    }
    bounds: list[Bound] = []
    spans: list[tuple[int, int]] = []
    every = [*_find(folded), *(_find_formal(folded) if formal else ())]
    every += _find_bare(folded, every)
    for start, end, _, pairs in sorted(every, key=lambda one: (one[0], -one[1])):
        if spans and start < spans[-1][1]:
            continue
        spans.append((start, end))
        for operator, (quantity, value) in pairs:
            written = text[start:end].strip()
            bounds.append(Bound(quantity, operator, value, written, figures.get(quantity, '')))
    return FoundBounds(tuple(bounds), tuple(spans))

"""Weights and lengths that are written in parts, in figures: 1.5 kilo for 'a kilo and a half'."""

from __future__ import annotations

import re
from functools import cache

from robot_memory.text.compiled_patterns import compile_pattern, match_any
from robot_memory.text.questions.numbers import ENGLISH, HAN, parse_number
from robot_memory.text.units import LENGTHS, MASSES, name_units

_VULGAR = {
    '½': '1/2', '¼': '1/4', '¾': '3/4', '⅓': '1/3', '⅔': '2/3', '⅛': '1/8', '⅜': '3/8',
    '⅝': '5/8', '⅞': '7/8',
}  # fmt: skip
_NUMBERS = re.compile('[0-9][^0-9.,]+[0-9]')
_SHARES = {'half': 0.5, 'quarter': 0.25, 'three quarters': 0.75, 'three-quarters': 0.75}
_OTHER_NAMES = 'newton newtons degree degrees litre litres liter liters second seconds'
"""Names of other units that are told in parts."""
_LIANG = 0.05
"""Kilograms of 两, which is a unit only behind 斤: else it is two."""


def write_vulgar(text: str) -> str:
    """Return a text with ½ as 1/2, and 1½ as 1 1/2: NFKC makes 11/2 of it."""
    if text.isascii():
        return text
    return re.sub(
        rf'(?<=\d)\s?(?P<behind>[{"".join(_VULGAR)}])|[{"".join(_VULGAR)}]',
        lambda m: f' {_VULGAR[m["behind"]]}' if m['behind'] else _VULGAR[m[0]],
        text,
    )


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    measured = name_units(MASSES | LENGTHS)
    english = match_any([*_OTHER_NAMES.split(), *filter(str.isascii, measured)])
    han = match_any(name for name in measured if not name.isascii())
    unit = rf'(?P<unit>{english})(?![a-z])'
    number = rf'(?<![\w.,/-]){ENGLISH}'
    share = '|'.join(_SHARES)
    forms = {
        'then_part': rf'(?P<whole>{number})[ -]?{unit} and (?:an? )?(?P<share>{share})'
        rf'(?!\w)(?! (?:turns?|dozen|hours?|minutes?|{english})\b)',
        'part_then': rf'(?P<whole>{number})[- ]and[- ]an?[- ](?P<share>half|quarter)'
        rf'(?=[- ](?:{english})(?![a-z]))',
        'fraction': r'(?<![\d.,/])(?:(?P<whole>\d+)(?: and |[ -]))?'
        r'(?P<above>\d)/(?P<below>\d{1,2})'
        rf'[ -]?(?:(?:of )?an? )?(?=(?:{english})(?![a-z]))',
        'couple': rf'(?<!\w)(?:a )?couple (?=(?:{english})(?![a-z]))',
        'sum': rf'(?P<whole>{number})[ -]?{unit} (?P<more>\d+(?:\.\d+)?)[ -]?'
        rf'(?P<smaller>{english})(?![a-z])',
        'sum_zh': rf'(?P<whole>{HAN})(?P<unit>{han}|kg)零?(?P<more>{HAN})'
        rf'(?P<smaller>{han}|两|g|cm)(?![a-z])',
    }
    return {name: compile_pattern(form, re.IGNORECASE) for name, form in forms.items()}


@cache
def _list_factors() -> dict[str, tuple[str, float]]:
    """Return of each name of a unit what it measures, and how much it is."""
    return {
        name: (kind, one.factor)
        for kind, table in (('mass', MASSES), ('length', LENGTHS))
        for one in table.values()
        for name in one.list_names()
    } | {'两': ('mass', _LIANG)}


def write_parts(text: str) -> str:
    """
    Return a text with weights and lengths that are told in parts in figures.

    'A kilo and a half', '1 1/2 kg', '2 lb 3 oz', 'a couple kilos', 三斤二两.
    """
    found, lower = _compile(), text.lower()
    if not text.isascii():
        text = found['sum_zh'].sub(_write_sum, text)
    if '/' in text:
        text = found['fraction'].sub(_write_fraction, text)
    if 'half' in lower or 'quarter' in lower:
        text = found['then_part'].sub(_write_then_part, text)
        text = found['part_then'].sub(_write_part_then, text)
    if 'couple' in lower:
        text = found['couple'].sub('2 ', text)
    return found['sum'].sub(_write_sum, text) if _NUMBERS.search(text) else text


def _write_then_part(match: re.Match[str]) -> str:
    number = parse_number(match['whole'].lower()) + _SHARES[match['share'].lower()]
    return f'{number:g} {match["unit"]}'


def _write_part_then(match: re.Match[str]) -> str:
    return f'{parse_number(match["whole"].lower()) + _SHARES[match["share"].lower()]:g}'


def _write_fraction(match: re.Match[str]) -> str:
    above, below = int(match['above']), int(match['below'])
    if not 0 < above < below:
        return match[0]
    return f'{int(match["whole"] or 0) + above / below:.6g} '


def _write_sum(match: re.Match[str]) -> str:
    """Write the sum of an amount and one in a smaller unit of the same kind."""
    units = _list_factors()
    kind, factor = units.get(match['unit'].lower(), ('', 1.0))
    other, smaller = units.get(match['smaller'].lower(), ('', 1.0))
    if kind != other or smaller >= factor:
        return match[0]
    more = parse_number(match['more']) * smaller / factor
    return f'{parse_number(match["whole"].lower()) + more:.6g} {match["unit"]}'

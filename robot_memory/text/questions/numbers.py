"""Numbers as they are written in figures and words, English and Chinese."""

from __future__ import annotations

import re

from robot_memory.text.duplicate_keys import convert_han_number
from robot_memory.text.vocabulary import MONTHS

_UNITS = (
    'zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen '
    'fifteen sixteen seventeen eighteen nineteen'
).split()
_TENS = 'twenty thirty forty fifty sixty seventy eighty ninety'.split()
_WORDS: dict[str, float] = {
    **{word: float(value) for value, word in enumerate(_UNITS)},
    **{word: 10.0 * value for value, word in enumerate(_TENS, 2)},
    'a': 1, 'an': 1, 'half a': 0.5, 'half an': 0.5, 'a half': 0.5, 'half': 0.5,
    'a couple of': 2, 'couple of': 2, 'a dozen': 12, 'dozen': 12, 'hundred': 100, 'a hundred': 100,
    'three quarters of an': 0.75, 'three quarters of a': 0.75, 'quarter of an': 0.25,
    'quarter of a': 0.25, 'a quarter of an': 0.25, 'a quarter of a': 0.25, 'half of a': 0.5,
    'one and a half': 1.5, 'two and a half': 2.5, '半': 0.5, '半个': 0.5,
}  # fmt: skip
_DIGITS = {
    'nought': 0.0,
    'oh': 0.0,
    **{word: float(value) for value, word in enumerate(_UNITS[:10])},
}
_PARTS = {'a half': 0.5, 'a quarter': 0.25, 'three quarters': 0.75, 'three-quarters': 0.75}
_EN = '|'.join(sorted((word for word in _WORDS if word.isascii()), key=len, reverse=True))
_BELOW_HUNDRED = (
    rf'(?:(?:{"|".join(_TENS)})[- ](?:{"|".join(_UNITS[1:10])})'
    rf'|(?:{"|".join(_TENS + _UNITS[::-1])})(?![a-z]))'
)
_ONE = '|'.join(_DIGITS)
ENGLISH = (
    rf'(?:(?:\d{{1,4}}|{_BELOW_HUNDRED}) and (?:{"|".join(_PARTS)})(?! (?:an?|of)\b)'
    rf'|(?:an?|{"|".join(_UNITS[1:10])}) hundred(?: and)? {_BELOW_HUNDRED}'
    rf'|(?:{"|".join(_UNITS[1:10])}) hundred(?![a-z])'
    rf'|(?:{_BELOW_HUNDRED}|nought) point (?:{_ONE})(?![a-z])(?:[ -](?:{_ONE})(?![a-z]))*'
    r'|\d{1,9}(?:\.\d{1,9})?'
    rf'|(?:{"|".join(_TENS)})[- ](?:{"|".join(_UNITS[1:10])})'
    rf'|(?:{_EN})(?![a-z]))'
)
"""A pattern of a number in folded English text; a word ends where it matches."""
HAN = (
    r'(?:\d{1,9}(?:\.\d{1,9})?|半个?'
    r'|[零〇一二两三四五六七八九十百千]{1,8}(?:点[零一二三四五六七八九]{1,6})?)'
)
"""A pattern of a number in Chinese text."""
_COUNT = '|'.join(('a couple of', 'couple of', 'a dozen', *_UNITS[2:], *_TENS))
COUNT = rf'(?:\d{{1,4}}(?![\d.:])|(?:{_COUNT})(?![a-z]))'
"""A pattern of a whole number of things in English, two or more where it is a word."""


def parse_number(written: str) -> float:
    """Return the value of what ENGLISH or HAN matched."""
    if written in _WORDS:
        return _WORDS[written]
    whole, joined, part = written.partition(' and ')
    if joined and part in _PARTS:
        return parse_number(whole) + _PARTS[part]
    if written[0].isdecimal():
        return float(written)
    if not written.isascii():
        return float(convert_han_number(written))
    whole, point, digits = written.partition(' point ')
    if point:
        tail = ''.join(f'{_DIGITS[one]:g}' for one in re.split('[- ]', digits))
        return float(f'{_DIGITS[whole] if whole in _DIGITS else parse_number(whole):g}.{tail}')
    hundreds, hundred, rest = written.partition(' hundred')
    if hundred:
        rest = rest.removeprefix(' and').strip()
        return 100 * parse_number(hundreds) + (parse_number(rest) if rest else 0)
    tens, units = re.split('[- ]', written)
    return _WORDS[tens] + _WORDS[units]


def parse_month(written: str) -> int:
    """Return the number of a month: 10 of october, oct, 10, 十."""
    if written.isdecimal() or not written.isascii():
        month = int(parse_number(written))
    else:
        month = next(i for i, name in enumerate(MONTHS, 1) if name.startswith(written[:3]))
    if not 1 <= month <= 12:
        raise ValueError(f'no month {month}')
    return month

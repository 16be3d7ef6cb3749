"""Places that are told by a number or a letter: zone 3, cell B7, 三号区."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

from robot_memory.text.compiled_patterns import compile_pattern, match_any
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.rules.lexicon import load_tables, split_words
from robot_memory.text.rules.touched import Truth
from robot_memory.text.toml_tables import load_toml
from robot_memory.text.units import LENGTHS, MASSES, name_units

_LISTED = '{0,12}'
"""Places of a list behind its first."""
_MOST = 40
"""Places of a span, from one number to another, that are told apart."""


class Site(NamedTuple):
    """Hold a place by the word for it and its number or letter, and where it is written."""

    word: str
    number: str
    start: int
    end: int


@cache
def _load() -> dict[str, Any]:
    return load_toml(__file__, 'sites.toml')


@cache
def _list_rows() -> dict[str, frozenset[str]]:
    """Return by each word the rows that it stands in."""
    rows = [[*split_words(row['en']), *split_words(row['zh'])] for row in _load()['row']] + [
        [*split_words(place.get('en', '')), *split_words(place.get('zh', ''))]
        for place in load_tables()['place'].values()
    ]
    found: dict[str, set[str]] = {}
    for words in rows:
        for word in words:
            found.setdefault(word, set()).add(words[0])
    return {word: frozenset(names) for word, names in found.items()}


@cache
def make_pattern_en() -> str:
    """Return a pattern of a place, or several, with the number in English."""
    words = _load()['words']
    names = match_any(word for word in _list_rows() if word.isascii())
    one = words['id_en']
    return (
        rf'(?:{names})(?:(?:e?s)?[ _-]{words["number_en"]}{one}|{words["joined_en"]})'
        rf'(?:{words["joins_en"]}{one}){_LISTED}'
        rf'(?!{_make_amount()})'
    )


@cache
def list_seats() -> frozenset[str]:
    """Return the words for things that tell where somebody is: bed 4."""
    return frozenset(split_words(_load()['words']['seats']))


def make_number_en() -> str:
    """Return a pattern of the number of a place in English."""
    return f'{_load()["words"]["number_en"]}{_load()["words"]["id_en"]}'


@cache
def make_pattern_zh() -> str:
    """Return a pattern of a place, or several, with the number in Chinese."""
    words = _load()['words']
    han = match_any(word for word in _list_rows() if not word.isascii())
    ids = f'{words["id_zh"]}(?:(?:号|#)?{words["joins_zh"]}{words["id_zh"]}){_LISTED}'
    one = (
        rf'(?:第(?:{ids})(?:{han})|(?<![a-z\d.])(?:{ids})(?:号|#)(?:{han})'
        rf'|(?<![a-z\d.〇零一二两三四五六七八九十百千万])(?:{ids})(?:{words["bare_zh"]})'
        rf'|(?:{words["first_zh"]})(?:{words["named_zh"]}){words["after_zh"]})'
    )
    return f'{one}(?:{words["joins_zh"]}{one}){_LISTED}'


def _make_amount() -> str:
    """Return a pattern of what stands behind a number that is of no place."""
    units = match_any(name_units(MASSES | LENGTHS))
    return rf'{_load()["words"]["amount_en"]}|\s?(?:{units})(?![a-z])'


@cache
def _compile() -> dict[str, re.Pattern[str]]:
    words, rows = _load()['words'], _list_rows()
    names = match_any(word for word in rows if word.isascii())
    han = match_any(word for word in rows if not word.isascii())
    one, joins = words['id_en'], words['joins_en']
    zh, named, joins_zh = words['id_zh'], words['named_zh'], words['joins_zh']
    return {
        'en': compile_pattern(
            rf'(?<![\w-])(?!{words["verb_en"]})(?P<word>{names})'
            rf'(?:(?P<many>e?s)? {words["number_en"]}|[_-]|(?={words["joined_en"]}))'
            rf'(?!\d+(?:{_make_amount()}))(?P<ids>{one}(?(many)(?:{joins}{one}){_LISTED}'
            rf'|(?:(?:{joins}(?={words["more_en"]}){one}){{1,12}}{words["counted_en"]})?))'
            rf'(?!{_make_amount()})'
        ),
        'zh': compile_pattern(
            rf'(?P<first>第)?(?<![a-z\d.〇零一二两三四五六七八九十百千万])(?P<ids>{zh}(?:(?:号|#)?{joins_zh}{zh}){_LISTED})'
            rf'(?P<mark>号|#)?(?P<word>{han})'
        ),
        'bare': compile_pattern(f'(?:{words["bare_zh"]})'),
        'named': compile_pattern(
            rf'(?P<word>{words["first_zh"]})(?P<ids>{named}(?:{joins_zh}{named}){_LISTED}){words["after_zh"]}'
        ),
        'one': compile_pattern(rf'(?<![a-z\d]){one}'),
        'hint': compile_pattern(rf"\d|(?<![a-z\d']){one}"),
        'one_zh': compile_pattern(zh),
        'to': compile_pattern(f'{words["to_en"]}|{words["to_zh"]}'),
        'joined': compile_pattern(rf'\s?(?:{words["to_en"]}|{words["to_zh"]})\s?(?:the )?'),
        'from': compile_pattern(r'(?:\bfrom (?:the )?|从)$'),
        'pronoun': compile_pattern(words['pronoun_en']),
        'part': compile_pattern(words['part_en']),
        'open': compile_pattern(
            rf'(?<![\w-])(?P<en>{names})(?P<many>e?s)?(?![\w-])'
            rf'|(?:{words["open_zh"]})(?P<zh>{han})|{words["rest_en"]}|{words["rest_zh"]}'
        ),
        'same': compile_pattern(words['same_en']),
        'between': compile_pattern(r'\bbetween (?:the )?$'),
        'and': compile_pattern(r'\sand\s(?:the )?'),
        'capital': compile_pattern(rf'\b(?:{names}) A(?= [a-z])', re.IGNORECASE),
    }


def mark_capital(shown: str) -> str:
    """Return a text with the letter of 'In zone A drive slowly' so that it is no article."""
    if ' A ' not in shown:
        return shown
    return _compile()['capital'].sub(lambda m: f'{m[0][:-1]}\uff21', shown)


def find_sites(folded: str, *, has_ways: bool = True) -> list[Site]:
    """
    Return the places of a folded text that have a number or a letter, in their order.

    With `has_ways` these are those between two, too, where it is told how to go: from zone 3 to
    zone 6.
    """
    found = _compile()
    sites: list[Site] = []
    # Few texts have a number or a letter alone, and to look for one is cheap.
    for match in found['en'].finditer(folded) if found['hint'].search(folded) else ():
        if not _is_other(folded, match):
            sites += _read_each(match['word'], match)
    if not folded.isascii():
        taken = -1
        for match in found['zh'].finditer(folded):
            word = match['word']
            if not (match['first'] or match['mark'] or found['bare'].fullmatch(word)):
                continue
            # 3号楼 is a house, 3楼 a floor.
            word = '号楼' if match['mark'] and word == '楼' else word
            sites += _read_each(word, match)
            taken = match.end()
        sites += [
            site
            for match in found['named'].finditer(folded)
            if match.start() >= taken or not sites
            for site in _read_each(match['word'], match)
        ]
    sites.sort(key=lambda site: site.start)
    between = list(_read_between(folded, sites))
    between += _read_between(folded, sites, of_ways=True) if has_ways else []
    return sorted([*sites, *between], key=lambda site: site.start)


def _is_other(folded: str, match: re.Match[str]) -> bool:
    """Say whether no place is meant: line 2 of the display, the area one must not enter."""
    found = _compile()
    if match['ids'] == 'one' and found['pronoun'].search(folded[: match.start()]):
        return True
    part = found['part'].match(folded, match.end())
    if part is None or match['word'] not in split_words(_load()['words']['parts']):
        return False
    return _list_rows().keys().isdisjoint((part['whole'], *part['whole'].split()))


def _read_between(folded: str, sites: list[Site], *, of_ways: bool = False) -> Iterator[Site]:
    """Yield the places between two: zone 3 to zone 5; of ways, those 'from zone 3 to zone 5'."""
    found = _compile()
    for one, other in itertools.pairwise(sites):
        is_between = found['between'].search(folded[: one.start])
        joined = found['and' if is_between else 'joined'].fullmatch(folded, one.end, other.start)
        if one.word != other.word or joined is None:
            continue
        if bool(found['from'].search(folded[: one.start])) is of_ways:
            for number in _list_between(one.number, other.number):
                yield Site(one.word, number, one.start, other.end)


def _read_each(word: str, match: re.Match[str]) -> Iterator[Site]:
    """Yield the places of a list, or from one number to another."""
    found, start, end = _compile(), *match.span()
    one_id = found['one' if word.isascii() else 'one_zh']
    ids = list(one_id.finditer(match['ids']))
    last: str | None = None
    for place, one in enumerate(ids):
        number = _write_number(one[0])
        between = match['ids'][ids[place - 1].end() : one.start()] if place else ''
        if last and found['to'].search(between):
            if last.isdigit() is not number.isdigit():
                continue  # A-3-2 is neither 3 nor 2
            for other in _list_between(last, number):
                yield Site(word, other, start, end)
        yield Site(word, number, start, end)
        last = number


def _list_between(first: str, last: str) -> list[str]:
    """Return the numbers between two, or the letters: a4 of a3 and a5, b of a and c."""
    one, other = (re.fullmatch(r'([a-z]*)(\d*)', written) for written in (first, last))
    if not one or not other:
        return []
    if one[2] and other[2] and one[1] == other[1]:
        stop = min(int(other[2]), int(one[2]) + _MOST)
        return [f'{one[1]}{number}' for number in range(int(one[2]) + 1, stop)]
    if len(first) == len(last) == 1:
        return [chr(code) for code in range(ord(first) + 1, ord(last))]
    return []


def _write_number(written: str) -> str:
    """Return a number or a letter as it is compared: 03 is 3, 三 is 3, B-7 is b7."""
    plain = written.replace('-', '').replace('ａ', 'a')
    if plain.isdigit():
        return str(int(plain))
    is_word = not plain.isascii() or (len(plain) > 2 and plain.isalpha())
    return f'{parse_number(plain):g}' if is_word else plain


def read_sites(
    folded: str, excluded: Iterable[tuple[int, int]] = (), *, moves: bool = True
) -> dict[Site, Truth]:
    """
    Return the places that a text names; what it excludes stays open.

    So does what it names without a number (the other zones, with an empty number), and what is
    between two places, unless it only `moves` from one to the other.
    """
    spans = tuple(excluded)
    sites = find_sites(folded, has_ways=False)
    if not sites:
        return {}
    between = () if moves else _read_between(folded, sites, of_ways=True)
    read: dict[Site, Truth] = dict.fromkeys((*_find_open(folded, sites), *between))
    return read | {
        site: None if any(start <= site.start < end for start, end in spans) else True
        for site in sites
    }


def _find_open(folded: str, sites: Sequence[Site]) -> Iterator[Site]:
    """Yield what may be any place of a word, or of all: the other zones, her room, next door."""
    found = _compile()
    for match in found['open'].finditer(folded):
        if any(site.start <= match.start() < site.end for site in sites):
            continue
        is_named = match['en'] and not match['many'] and not _is_number(folded, match.end())
        if is_named and found['same'].search(folded[: match.start()]):
            continue
        yield Site(match['en'] or match['zh'] or '', '', *match.span())


def _is_number(folded: str, end: int) -> bool:
    """Say whether a number follows that none of a place was read from: room two oh four."""
    return bool(_compile()['one'].match(folded, end + 1))


def judge_site(word: str, number: str, sites: Mapping[Site, Truth], text: str) -> Truth:
    """
    Say whether a place is one of those that are named.

    It is not where another one of the same word is; where nothing of its kind is, that is unknown.
    """
    rows = _list_rows()
    own = rows.get(word, frozenset())
    same = [
        truth
        for site, truth in sites.items()
        if not site.word
        or (site.number in ('', number) and own & rows.get(site.word, frozenset()))
    ]
    if same:
        return True if True in same else None
    if not number.isdigit() and len(number) > 1 and _has_token(number, text):
        return True
    others = [site for site, truth in sites.items() if site.word == word and truth]
    return None if not others or any(_is_part(number, site.number) for site in others) else False


def _is_part(one: str, other: str) -> bool:
    """Say whether a place may be a part of another by its name: 3b is of 3, b7 of b or 7."""
    short, long = sorted((one, other), key=len)
    if long.startswith(short):
        return long[len(short)].isdigit() is not short[-1].isdigit()
    return long.endswith(short) and not long[: -len(short)].isdigit() and short.isdigit()


def _has_token(number: str, text: str) -> bool:
    return bool(re.search(rf'(?<![a-z\d]){number}(?![a-z\d])', text.replace('-', '')))

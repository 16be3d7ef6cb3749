"""
What the words of a memory are: to index, to query, to compare, to cut.

Pure functions over text of any script; every one accepts any str, lone surrogates included.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from robot_memory.text.caching import cache_texts
from robot_memory.text.compiled_patterns import compile_pattern
from robot_memory.text.prefixes import join_words
from robot_memory.text.vocabulary import IRREGULAR, MONTHS, NEGATIONS, NUMBERS, UNITS

# FTS5's unicode61 keeps private-use characters inside a token, and no text of ours has others.
POINT = '\ue000'
MINUS = '\ue001'
PLUS = '\ue002'
DATE = '\ue003'
TIME = '\ue004'
AMOUNT = '\ue005'
MAX_QUERY_TERMS = 64
ENOUGH = 10
"""Memories found by a question's terms, fewer than which its fallback is asked for."""

# Thai and Lao, Myanmar, Hangul, Khmer, Han, Kana, and their extensions.
_SPACELESS = (
    (0x0E00, 0x0EFF), (0x1000, 0x109F), (0x1100, 0x11FF), (0x1780, 0x17FF), (0x2E80, 0x2FDF),
    (0x3005, 0x31FF), (0x3400, 0x9FFF), (0xA960, 0xA97F), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F),
    (0xAC00, 0xD7FF), (0xF900, 0xFAFF), (0xFF66, 0xFFDC), (0x1AFF0, 0x1B16F), (0x20000, 0x3FFFF),
)  # fmt: skip


class _Shapes(dict[int, str]):
    """Map a code point to its one-letter class, learned as characters come in."""

    def __missing__(self, code: int) -> str:
        """
        Return the class of a code point not seen before.

        'a' letter, '9' decimal digit, 'm' combining mark, 'c' letter of a script written
        without spaces, ' ' anything else; 'e', '.', '+' and '-' stand for themselves.
        """
        category = unicodedata.category(chr(code))
        shape = ' '
        if chr(code) in 'e.+-':
            shape = chr(code)
        elif category in ('Mn', 'Mc'):
            shape = 'm'
        elif category == 'Nd':
            shape = '9'
        elif category[0] in 'LN':
            shape = 'c' if any(low <= code <= high for low, high in _SPACELESS) else 'a'
        self[code] = shape
        return shape


_SHAPES = _Shapes()
_PIECE = compile_pattern(
    r'(?P<signed>(?<![ae9m.+-])[-+][ae](?![ae9m.+-]))'
    r'|(?P<word>[ae][ae9m]*)'
    r'|(?P<run>(?:cm*)+)'
    r'|(?P<number>(?:(?<![ae9m.-])-)?(?:9+(?:\.9+)*|(?<![ae9m.])\.9+)(?:e[-+]?9+(?![ae9m]))?)'
)
_CLUSTER = compile_pattern('cm*')

# Invisible joiners go; the minus sign and the curly apostrophe become the typed ones.
_FOLD = dict.fromkeys([0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF], '') | {0x2212: '-', 0x2019: "'"}
_ODD = compile_pattern('[\xad\u200c\u200d\u2060\ufeff\u2212\u2019]')
# NFKC would turn 10² into 102 and 1½ into 11⁄2.
_RAISED = compile_pattern(r'(\d)(?=[¹²³⁰-₟¼-¾⅐-↉①-⒛])')


def fold(text: str) -> str:
    """Return the text in NFKC and casefold, the form that every other function reads."""
    if text.isascii():
        return text.lower()
    text = unicodedata.normalize('NFKC', _RAISED.sub(r'\1^', text))
    text = unicodedata.normalize('NFKC', text.casefold())
    if _ODD.search(text):
        text = unicodedata.normalize('NFKC', text.translate(_FOLD))
    return text


# Not a sign or a point before a digit, nor a quote (feet, inches) after one.
_EDGES = compile_pattern(
    r'^(?:(?![-.]\d)[\s.,;:!?…"\'`“”„‘«»()\[\]{}。、「」『』《》【】·*•–—-])+'
    r'|(?:[\s.,;:!?…`“”„‘«»()\[\]{}。、「」『』《》【】·*•–—-]|(?<!\d)["\'])+$'
)


def normalise(text: str) -> str:
    """Return what two spellings of one sentence share: case, width, spacing, edges apart."""
    folded = ' '.join(fold(text).split())
    if folded[:1].isalnum() and folded[-1].isalnum():
        return folded
    return _EDGES.sub('', folded) or folded


def hash_content(text: str) -> bytes:
    """Return the SHA-256 of the normalised text, 32 bytes."""
    return hashlib.sha256(normalise(text).encode('utf-8', 'surrogatepass')).digest()


def split_pieces(folded: str) -> Iterator[tuple[str, str, list[str]]]:
    """Yield (kind, text, clusters) in order; clusters only of a run without spaces."""
    for match in _PIECE.finditer(folded.translate(_SHAPES)):
        start, end = match.span()
        piece = folded[start:end]
        if match.lastgroup == 'run':
            clusters = list(piece)
            if 'm' in match[0]:
                clusters = [piece[c.start() : c.end()] for c in _CLUSTER.finditer(match[0])]
            yield 'run', piece, clusters
        elif match.lastgroup == 'number':
            yield 'number', _normalize_number(piece), []
        elif match.lastgroup == 'signed':
            yield 'signed', (MINUS if piece[0] == '-' else PLUS) + piece[1], []
            yield 'word', piece[1], []
        else:
            yield 'word', piece, []


def _normalize_number(digits: str) -> str:
    """Return one spelling of a number: '.5', '0.50' and '00.5' as '0.5'."""
    sign, digits = (MINUS, digits[1:]) if digits[0] == '-' else ('', digits)
    whole, point, rest = digits.partition('.')
    if rest.isdecimal():
        rest = rest.rstrip('0')
    whole = whole.lstrip('0') or '0' if whole.isdecimal() or not whole else whole
    digits = whole + point * bool(rest) + rest
    return sign + digits.replace('.', POINT).replace('-', MINUS).replace('+', '')


def make_bigrams(clusters: list[str]) -> list[str]:
    """Return each neighbouring pair; the one cluster itself of a run of length one."""
    return list(map(''.join, pairwise(clusters))) or clusters


# One name for what has several: newtons as n, broke as break, three as 3, never as not.
NAMES = {
    **{
        name + ending: unit
        for unit, names in UNITS.items()
        for name in names.split()
        for ending in ('', 's')
        if name.isascii() and name.isalpha() and len(name) > 2 and unit.isalpha()
        and name not in ('second', 'times', 'day', 'bar', 'sec')
    },
    'seconds': 's', 'sec': 's', 'secs': 's',
    **IRREGULAR,
    **{name: digits for name, digits in NUMBERS.items() if int(digits) > 1},
    **dict.fromkeys(NEGATIONS, 'not'),
}  # fmt: skip
_CONTRACTION = compile_pattern(r"(?<=[a-z])'(?:s|t|re|ve|ll|d|m)\b")
_SHORT_NOT = compile_pattern(r"n't\b|(?<=\bcan)not\b")


def expand_contractions(text: str) -> str:
    """Return the folded text with its contractions opened: doesn't as does not, it's as it."""
    folded = fold(text)
    if "'" not in folded and 'cannot' not in folded:
        return folded
    return _CONTRACTION.sub('', _SHORT_NOT.sub(' not', folded))


@cache_texts(8)
def split_text(text: str) -> tuple[tuple[str, str, list[str]], ...]:
    """Return the pieces of a text with its contractions opened, which must not be changed."""
    return tuple(split_pieces(expand_contractions(text)))


_MONTH = '|'.join(f'{name}|{name[:3]}' for name in MONTHS)
_DATE = compile_pattern(
    r'(?<!\d)(?:\d{4}[-/.](\d\d?)[-/.](\d\d?)(?!\d)'
    rf'|(\d\d?)(?:st|nd|rd|th|\.)?(?: of)? ({_MONTH})\b'
    rf'|({_MONTH})\.? (\d\d?)(?:st|nd|rd|th)?(?!\d)'
    r'|(\d\d?)月(\d\d?)[日号])'
)

_ISO_DATE = compile_pattern(r'\d{4}[-/.]\d')
_DATED = ('月', *(name[:3] for name in MONTHS))


def _find_dates(folded: str) -> list[str]:
    """Return a term for each day of a year that is named, one however it is written."""
    if not (any(map(folded.__contains__, _DATED)) or _ISO_DATE.search(folded)):
        return []
    found = []
    for iso, iso_day, day_first, month, named, day, han, han_day in _DATE.findall(folded):
        name = month or named
        number = int(iso or han or 0)
        if name:
            number = next(i for i, full in enumerate(MONTHS, 1) if full.startswith(name))
        found.append(f'{DATE}{number}{POINT}{int(iso_day or day_first or day or han_day)}')
    return found


_YEAR, _CLOCK = compile_pattern(r'\d{4}-\d'), compile_pattern(r'\d:\d\d')
_WHICH, _SPANS = ('last', 'next', 'this'), 'week month year night summer winter spring fall'
_TIME_WORDS = compile_pattern(
    r'\b(?:'
    + join_words(
        [f'{name}day' for name in 'mon tues wednes thurs fri satur sun yester'.split()]
        + 'today tonight tomorrow ago noon midnight morning evening'.split()
        + [f'{which} {what}' for which in _WHICH for what in _SPANS.split()]
        + [name for name in MONTHS if name not in ('march', 'may')]
    )
    + r'|(?:19|20)\d\d|\d\d? ?[ap]\.?m)\b'
)
_TIME_HAN = compile_pattern(
    '[早晚上下中]午|昨天|今天|明天|星期|周[一二三四五六日]|[\\d一二三四五六七八九十][点年月]'
)
_ASKS_TIME = compile_pattern(
    r'\bwhen\b|\b(?:what|which) (?:day|date|year|month|time|hour)|\bhow long ago\b'
    '|什么时候|何时|几点|哪[天年]|几月'
)
_AMOUNT = compile_pattern(
    r'\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|half|dozen|hundred|once'
    r'|twice)\b|[一二三四五六七八九十两半]'
)
_ASKS_AMOUNT = compile_pattern(
    r'\bhow (?:many|much|long|far|high|hard|fast|deep|heavy|wide|old|often|big|large|strong|warm'
    r'|hot|cold|early|late|tall|thick)\b|多少|多[大长高远快重深久]|几[个次层度号]'
)


def _tells_time(folded: str) -> bool:
    """Say whether a text names a time."""
    if (':' in folded and _CLOCK.search(folded)) or ('-' in folded and _YEAR.search(folded)):
        return True
    if _TIME_WORDS.search(folded):
        return True
    return not folded.isascii() and _TIME_HAN.search(folded) is not None


def extract_terms(text: str) -> list[str]:
    r"""
    Return the index terms of a text, in order, repeats included.

    A number is one term, '12.5' as '12\ue0005' and '-0.5' as '\ue0010\ue0005'; a unit stuck
    to it is the next. Runs of scripts without spaces give every character and every pair. After
    the words come the days that are named, and whether a time and an amount are.
    """
    opened = expand_contractions(text)
    days = _find_dates(opened)
    out = _list_terms(split_text(text)) + days
    out += [TIME] * (bool(days) or _tells_time(opened))
    out += [AMOUNT] * (_AMOUNT.search(opened) is not None)
    return out


def _list_terms(pieces: Iterable[tuple[str, str, list[str]]]) -> list[str]:
    """Return the terms of pieces: their names, characters and pairs of them."""
    out: list[str] = []
    for kind, piece, clusters in pieces:
        if kind != 'run':
            out.append(NAMES.get(piece, piece))
        else:
            for cluster, following in pairwise(clusters):
                out += (cluster, cluster + following)
            out.append(clusters[-1])
    return out


# 'can' is a thing that robots pick up; 'not', 'never', 'must', 'up', 'off' change the question.
_STOP = frozenset(
    """
    a an the this that these those it its is are was were be been being am do does did done
    doing don doesn didn isn aren wasn weren won wouldn shouldn couldn hasn haven hadn of in on
    at to for from with by into as and or but if so than then there here what which who whom
    whose when where why how i me my we us our you your he him his she her they them their
    have has had having will would shall should could may might about any some such please tell
    know wo ca
    """.split()
)
_STOP_PAIRS = frozenset(
    '什么 怎么 怎样 如何 为何 为什 哪里 哪儿 哪个 哪些 多少 是否 可以 能否 我们 你们 他们 它们 '
    '这个 那个 这些 那些 一下 请问 告诉 应该'.split()
)
_STOP_CHARACTERS = frozenset('的了吗呢吧啊么是在和与及或我你他她它们这那就都也把被让给请问哪谁')
_PARTICLES = frozenset('的了吗呢吧啊么')
_REAL_PAIRS = frozenset(('目的', '了解'))


def _is_stop_pair(pair: str) -> bool:
    if len(pair) == 1:
        return pair in _STOP_CHARACTERS
    return pair in _STOP_PAIRS or (pair not in _REAL_PAIRS and not _PARTICLES.isdisjoint(pair))


@dataclass(frozen=True)
class TermQuery:
    """
    Hold what a text asks the index for.

    `terms` decide what is found; `fallback` are single characters to ask for where that is
    little. What is found counts more where it has the `kinds` (a time, an amount) asked for, and
    where two terms of `pairs` stand side by side, stop words between them passed over.
    """

    terms: list[str]
    fallback: list[str]
    kinds: list[str]
    pairs: list[tuple[str, str]]


def parse_query(text: str) -> TermQuery:
    """
    Read a text as a question.

    Stop words go unless nothing else remains. Scripts without spaces ask in pairs; fallback
    holds their characters. Each list is without repeats and at most 64 long.
    """
    opened = expand_contractions(text)
    main: dict[str, bool] = {}
    fallback: dict[str, bool] = {}
    pieces = list(split_pieces(opened))
    for kind, piece, clusters in pieces:
        if kind == 'run':
            main.update((pair, _is_stop_pair(pair)) for pair in make_bigrams(clusters))
            fallback.update((c, c in _STOP_CHARACTERS) for c in clusters)
        else:
            main[NAMES.get(piece, piece)] = piece in _STOP
    main.update(dict.fromkeys(_find_dates(opened), False))
    kept = [term for term, stop in main.items() if not stop]
    singles = [c for c, stop in fallback.items() if c not in main and not (stop and kept)]
    kinds = [TIME] * (_ASKS_TIME.search(opened) is not None)
    kinds += [AMOUNT] * (_ASKS_AMOUNT.search(opened) is not None)
    said = [term for term in _list_terms(pieces) if term not in STOP_TERMS]
    return TermQuery(
        (kept or list(main))[:MAX_QUERY_TERMS],
        singles[:MAX_QUERY_TERMS],
        kinds,
        list(dict.fromkeys(pair_adjacent(said)))[:MAX_QUERY_TERMS],
    )


def pair_adjacent(terms: Iterable[str]) -> list[tuple[str, str]]:
    """Return terms that stand side by side; characters have their pairs as terms already."""
    return [pair for pair in pairwise(terms) if not (is_dense(pair[0]) and is_dense(pair[1]))]


def is_dense(term: str) -> bool:
    """Say whether a term is of a script without spaces."""
    return term[0].translate(_SHAPES) == 'c'


STOP_TERMS = frozenset(NAMES.get(word, word) for word in _STOP)
"""Index terms that `pairs` passes over."""


def extract_query_terms(text: str) -> tuple[list[str], list[str]]:
    """Return the terms and the fallback of `parse_query`."""
    asked = parse_query(text)
    return asked.terms, asked.fallback


def _splits_character(text: str, at: int) -> bool:
    """Say whether a cut before text[at] would break what is one character to a reader."""
    before, after = text[at - 1], text[at]
    if unicodedata.category(after)[0] == 'M' or '\u200d' in (before, after):
        return True
    if '\U0001f3fb' <= after <= '\U0001f3ff' or '\udc00' <= after <= '\udfff':
        return True
    if '\U0001f1e6' <= after <= '\U0001f1ff':
        flags = re.search('[\U0001f1e6-\U0001f1ff]*$', text[max(0, at - 64) : at])
        return flags is not None and len(flags[0]) % 2 == 1
    return False


def _may_cut(text: str, at: int) -> bool:
    before, after = text[at - 1], text[at]
    if before.isspace() or after.isspace():
        return True
    pair = (before + after).translate(_SHAPES)
    wide = '\u3000' <= before <= '\u303f' or '\uff00' <= before <= '\uff65'
    return ('c' in pair or wide) and not _splits_character(text, at)


def cut(text: str, limit: int) -> tuple[str, int]:
    """
    Return the trimmed text within limit characters, and how many characters went.

    Cuts between words, and between any two characters of a script without spaces; a single
    word longer than the limit is cut inside, but not inside an accent or an emoji.
    """
    text = text.strip()
    if len(text) <= limit:
        return text, 0
    limit = max(limit, 0)
    at = next((i for i in range(limit, 0, -1) if _may_cut(text, i)), 0)
    at = at or next((i for i in range(limit, 0, -1) if not _splits_character(text, i)), limit)
    kept = text[:at].rstrip()
    return kept, len(text) - len(kept)

"""
What the words of a memory are: to index, to query, to compare, to cut.

Pure functions over text of any script; every one accepts any str, lone surrogates included.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from itertools import pairwise

# FTS5's unicode61 keeps private-use characters inside a token, and no text of ours has others.
POINT = '\ue000'
MINUS = '\ue001'
MAX_QUERY_TERMS = 64

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
_PIECE = re.compile(
    r'(?P<word>[ae][ae9m]*)'
    r'|(?P<run>(?:cm*)+)'
    r'|(?P<number>(?:(?<![ae9m.-])-)?(?:9+(?:\.9+)*|(?<![ae9m.])\.9+)(?:e[-+]?9+(?![ae9m]))?)'
)
_CLUSTER = re.compile('cm*')

# Invisible joiners go; the minus sign and the curly apostrophe become the typed ones.
_FOLD = dict.fromkeys([0xAD, 0x200C, 0x200D, 0x2060, 0xFEFF], '') | {0x2212: '-', 0x2019: "'"}
_ODD = re.compile('[\xad\u200c\u200d\u2060\ufeff\u2212\u2019]')
# NFKC would turn 10² into 102 and 1½ into 11⁄2.
_RAISED = re.compile(r'(\d)(?=[¹²³⁰-₟¼-¾⅐-↉①-⒛])')


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
_EDGES = re.compile(
    r'^(?:(?![-.]\d)[\s.,;:!?…"\'`“”„‘«»()\[\]{}。、「」『』《》【】·*•–—-])+'
    r'|(?:[\s.,;:!?…`“”„‘«»()\[\]{}。、「」『』《》【】·*•–—-]|(?<!\d)["\'])+$'
)


def normalise(text: str) -> str:
    """Return what two spellings of one sentence share: case, width, spacing, edges apart."""
    folded = ' '.join(fold(text).split())
    return _EDGES.sub('', folded) or folded


def content_hash(text: str) -> bytes:
    """Return the SHA-256 of the normalised text, 32 bytes."""
    return hashlib.sha256(normalise(text).encode('utf-8', 'surrogatepass')).digest()


def _pieces(folded: str) -> Iterator[tuple[str, str, list[str]]]:
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
            piece = '0' + piece if piece[0] == '.' else piece.replace('-.', '-0.')
            piece = piece.replace('.', POINT).replace('-', MINUS).replace('+', '')
            yield 'number', piece, []
        else:
            yield 'word', piece, []


def _bigrams(clusters: list[str]) -> list[str]:
    """Return each neighbouring pair; the one cluster itself of a run of length one."""
    return list(map(''.join, pairwise(clusters))) or clusters


def terms(text: str) -> list[str]:
    r"""
    Return the index terms of a text, in order, repeats included.

    A number is one term, '12.5' as '12\ue0005' and '-0.5' as '\ue0010\ue0005'; a unit stuck
    to it is the next. Runs of scripts without spaces give every character and every pair.
    """
    out: list[str] = []
    for kind, piece, clusters in _pieces(fold(text)):
        if kind != 'run':
            out.append(piece)
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
    know
    """.split()
)
_STOP_PAIRS = frozenset(
    '什么 怎么 怎样 如何 为何 为什 哪里 哪儿 哪个 哪些 多少 是否 可以 能否 我们 你们 他们 它们 '
    '这个 那个 这些 那些 一下 请问 告诉 应该'.split()
)
_STOP_CHARACTERS = frozenset('的了吗呢吧啊么是在和与及或我你他她它们这那就都也把被让给请问哪谁')
_PARTICLES = frozenset('的了吗呢吧啊么')
_REAL_PAIRS = frozenset(('目的', '了解'))
_CONTRACTION = re.compile(r"(?<=[a-z])'(?:s|t|re|ve|ll|d|m)\b")


def _stopped(pair: str) -> bool:
    if len(pair) == 1:
        return pair in _STOP_CHARACTERS
    return pair in _STOP_PAIRS or (pair not in _REAL_PAIRS and not _PARTICLES.isdisjoint(pair))


def query_terms(text: str) -> tuple[list[str], list[str]]:
    """
    Return (main, fallback): the terms to ask for, and single characters to ask for after.

    Stop words go unless nothing else remains. Scripts without spaces ask in pairs; fallback
    holds their characters. Each list is without repeats and at most 64 long.
    """
    main: dict[str, bool] = {}
    fallback: dict[str, bool] = {}
    for kind, piece, clusters in _pieces(_CONTRACTION.sub('', fold(text))):
        if kind == 'run':
            main.update((pair, _stopped(pair)) for pair in _bigrams(clusters))
            fallback.update((c, c in _STOP_CHARACTERS) for c in clusters)
        else:
            main[piece] = piece in _STOP
    kept = [term for term, stop in main.items() if not stop]
    singles = [c for c, stop in fallback.items() if c not in main and not (stop and kept)]
    return (kept or list(main))[:MAX_QUERY_TERMS], singles[:MAX_QUERY_TERMS]


_ARTICLES = frozenset(('a', 'an', 'the'))


def tokens(text: str) -> frozenset[str]:
    """
    Return the set that two texts are compared by: words, numbers, and pairs of characters.

    Pairs alone, because with a bar of 0.70 single characters make another object (红 for 蓝 in
    a sentence of twelve) a duplicate and lose the order (A比B快, B比A快). 的 and 了 are left
    out like English articles, or one of them would part two short paraphrases.
    """
    out: set[str] = set()
    for kind, piece, clusters in _pieces(fold(text)):
        if kind == 'run':
            out.update(_bigrams([c for c in clusters if c not in '的了'] or clusters))
        elif piece not in _ARTICLES:
            out.add(piece)
    return frozenset(out)


def indexed_as(token: str) -> str:
    """
    Return an index term that every text with this token of `tokens` has.

    A pair of characters may stand apart in the text (红色的杯 has 色杯), its first one does not.
    """
    kind, _, clusters = next(iter(_pieces(token)))
    return clusters[0] if kind == 'run' else token


def jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the share of common tokens, 0..1; 0 where either has none."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


def _splits(text: str, at: int) -> bool:
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
    return ('c' in pair or wide) and not _splits(text, at)


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
    at = at or next((i for i in range(limit, 0, -1) if not _splits(text, i)), limit)
    kept = text[:at].rstrip()
    return kept, len(text) - len(kept)

"""Token sets: what two texts are compared by, word for word."""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from robot_memory.text.caching import cache_texts
from robot_memory.text.tokenizer import (
    NAMES,
    fold,
    make_bigrams,
    split_pieces,
    split_text,
)

_ARTICLES = frozenset(('a', 'an', 'the'))
_ROUNDING = 1e-9


@cache_texts(1000)  # what was found or compared once is so again: a set is some 2 kB
def make_token_set(text: str) -> frozenset[str]:
    """
    Return the set that two texts are compared by: words, numbers, and pairs of characters.

    Pairs alone, because with a bar of 0.70 single characters make another object (红 for 蓝 in
    a sentence of twelve) a duplicate and lose the order (A比B快, B比A快). 的 and 了 are left
    out like English articles, or one of them would part two short paraphrases.
    """
    out: set[str] = set()
    for kind, piece, clusters in split_text(text):
        if kind == 'run':
            out.update(make_bigrams([c for c in clusters if c not in '的了'] or clusters))
        elif piece not in _ARTICLES:
            out.add(piece)
    return frozenset(out)


@cache_texts(8192)
def find_index_term(token: str) -> str:
    """
    Return an index term that every text with this token of `make_token_set` has.

    A pair of characters may stand apart in the text (红色的杯 has 色杯), its first one does not.
    """
    kind, _, clusters = next(iter(split_pieces(token)))
    return clusters[0] if kind == 'run' else NAMES.get(token, token)


def compute_jaccard(a: AbstractSet[str], b: AbstractSet[str]) -> float:
    """Return the share of common tokens, 0..1; 0 where either has none."""
    common = len(a & b)
    return common / (len(a) + len(b) - common) if common else 0.0


def may_exceed_jaccard(tokens: AbstractSet[str], text: str, count: int, bar: float) -> bool:
    """
    Say whether a text of so many tokens may be more alike than a bar, without splitting it.

    Words stand in a text as they are; other tokens may all be there, and 'not' is often written
    as n't.
    """
    folded = fold(text)
    may_miss = len(tokens) - bar / (1 + bar) * (len(tokens) + count) + _ROUNDING
    for token in tokens:
        if token not in folded and token.isascii() and token.isalpha() and token != 'not':
            may_miss -= 1
            if may_miss < 0:
                return False
    return True

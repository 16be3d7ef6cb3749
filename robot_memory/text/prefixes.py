"""
What texts must hold for patterns to match: a look at word beginnings that saves most searches.

`find_prefixes` reads how the matches of a pattern begin. `Prefixes` then says of a text which of
many patterns may match in it at all, in the time that the search for one of them takes.
"""

from __future__ import annotations

import functools
import itertools
import operator
import re
from collections.abc import Iterable, Sequence
from functools import cached_property

from robot_memory.text.compiled_patterns import compile_pattern

_LONGEST, _MOST = 8, 400
"""Characters of a prefix, and prefixes of a pattern; what has more is cut."""
_WORD = compile_pattern(r'\w')
_WIDTHLESS = ('(?=', '(?!', '(?<=', '(?<!')
_QUANTIFIER = compile_pattern(r'[?*+]\??|\{(\d*),?(\d*)\}\??')
_WORTH = 50
"""Searches after which prefixes are read: a process that searches once need not."""
_DIGITS = frozenset('0123456789')

_Found = dict[str, bool]
"""How what was read so far may begin, and of each whether it goes on with what follows."""


def find_prefixes(pattern: str) -> frozenset[str]:
    """
    Return how the matches of a pattern in ASCII text may begin: at least one holds of each.

    The empty prefix stands for any beginning.
    """
    return frozenset(_read_alternatives(pattern, 0)[0])


def _read_alternatives(pattern: str, at: int) -> tuple[_Found, int]:
    """Read up to the end of a group, or of the pattern; return the place behind it."""
    found: _Found = {}
    while True:
        part, at = _read_sequence(pattern, at)
        for prefix, goes_on in part.items():
            found[prefix] = goes_on and found.get(prefix, True)
        if at >= len(pattern) or pattern[at] == ')':
            return found, at + 1
        at += 1  # behind the bar


def _read_sequence(pattern: str, at: int) -> tuple[_Found, int]:
    found: _Found = {'': True}
    while at < len(pattern) and pattern[at] not in '|)':
        item, at = _read_item(pattern, at)
        quantifier = _QUANTIFIER.match(pattern, at)
        if quantifier is not None:
            at = quantifier.end()
            item = _repeat(item, quantifier)
        found = _append(found, item)
    return found, at


def _repeat(item: _Found, quantifier: re.Match[str]) -> _Found:
    sign = quantifier[0][0]
    if sign != '?':
        item = dict.fromkeys(item, False)  # whatever follows may be another one
    if sign in '?*' or (sign == '{' and quantifier[1] in ('', '0')):
        item = {**item, '': item.get('', True)}
    return item


def _append(found: _Found, item: _Found) -> _Found:
    made: _Found = {}
    for prefix, goes_on in found.items():
        following = item.items() if goes_on else (('', False),)
        for more, is_open in following:
            text = (prefix + more)[:_LONGEST]
            is_open = is_open and len(text) < _LONGEST
            made[text] = is_open and made.get(text, True)
    return made if len(made) <= _MOST else dict.fromkeys(found, False)


def _read_item(pattern: str, at: int) -> tuple[_Found, int]:
    """Read what a quantifier may follow; what is not known begins with anything."""
    one = pattern[at]
    if one == '(':
        return _read_group(pattern, at)
    if one == '[':
        return _read_class(pattern, at)
    if one in '^$':
        return {'': True}, at + 1
    if one == '.':
        return {'': False}, at + 1
    if one != '\\':
        return {one: True}, at + 1
    escaped = pattern[at + 1]
    if escaped in 'bB':
        return {'': True}, at + 2
    if escaped == 'd':
        return dict.fromkeys(_DIGITS, True), at + 2
    return ({'': False} if escaped.isalnum() else {escaped: True}), at + 2


def _read_group(pattern: str, at: int) -> tuple[_Found, int]:
    is_widthless = pattern.startswith(_WIDTHLESS, at)
    at += 1
    if pattern[at] == '?':
        # Flags, conditions and the like begin with anything.
        is_known = is_widthless or pattern.startswith(('?:', '?P<'), at)
        at = pattern.index('>', at) + 1 if pattern.startswith('?P<', at) else at + 2
        if is_widthless and pattern[at - 1] == '<':
            at += 1
        found, at = _read_alternatives(pattern, at)
        if is_widthless:
            return {'': True}, at
        return (found if is_known else {'': False}), at
    return _read_alternatives(pattern, at)


def _read_class(pattern: str, at: int) -> tuple[_Found, int]:
    end = pattern.index(']', at + (3 if pattern[at + 1] == '^' else 2))
    while pattern[end - 1] == '\\' and pattern[end - 2] != '\\':
        end = pattern.index(']', end + 1)
    inside = pattern[at + 1 : end]
    is_listed = inside[0] != '^' and '\\' not in inside and '-' not in inside[1:-1]
    return (dict.fromkeys(inside, True) if is_listed else {'': False}), end + 1


class Prefixes:
    """Know how the matches of some patterns begin, all of which start at an edge of a word."""

    def __init__(self, patterns: Iterable[Iterable[str]]) -> None:
        """Read patterns, each as its alternatives; they are searched for in folded text."""
        self._all = self._always = 0
        known: dict[str, int] = {}
        for place, alternatives in enumerate(patterns):
            bit = 1 << place
            self._all |= bit
            for prefix in itertools.chain.from_iterable(map(find_prefixes, alternatives)):
                if prefix:
                    known[prefix] = known.get(prefix, 0) | bit
                else:
                    self._always |= bit
        # What begins with a longer prefix begins with each shorter one as well.
        self._of = {
            prefix: functools.reduce(
                operator.or_, (known.get(prefix[:end], 0) for end in range(1, len(prefix) + 1))
            )
            for prefix in known
        }
        self._search = compile_pattern(rf'\b(?=({join_words(known) or "(?!)"}))')

    def find(self, folded: str) -> int:
        """Return the patterns that may match in a folded text, a bit each, the first lowest."""
        if not folded.isascii():
            return self._all
        found = self._always
        for prefix in self._search.findall(folded):
            found |= self._of[prefix]
        return found

    def find_first(self, folded: str) -> int:
        """Return the patterns that may match at the beginning of a folded text, a bit each."""
        if not folded.isascii():
            return self._all
        match = self._search.match(folded)
        return self._always if match is None else self._always | self._of[match[1]]


def lead(alternatives: Iterable[str]) -> str:
    """
    Return a look-ahead at how the matches of alternatives begin, to stand before all of them.

    It is empty where that is not known of one of them.
    """
    found = frozenset[str]().union(*map(find_prefixes, alternatives))
    words = {prefix for prefix in found if prefix[:1] not in _DIGITS}
    if not words or '' in words:
        return ''
    digit = '' if len(words) == len(found) else r'|\d'  # a text may have digits of any script
    return f'(?={join_words(words)}{digit})'


class Guard:
    """Say whether a pattern may match in a text; it begins to be of use after some texts."""

    def __init__(self, alternatives: Sequence[str]) -> None:
        """Take the alternatives of the pattern."""
        self._alternatives = alternatives
        self._searches = 0

    def may_hold(self, folded: str) -> bool:
        """Say whether one may match in a folded text."""
        if self._searches < _WORTH:
            self._searches += 1
            return True
        return self._prefixes.find(folded) > 0

    @cached_property
    def _prefixes(self) -> Prefixes:
        return Prefixes([self._alternatives])


class Lexicons:
    """Search a text for sets of alternatives, each of which starts at an edge of a word."""

    def __init__(self, sets: Iterable[Sequence[str]], start: str = r'\b', end: str = '') -> None:
        """Take the alternatives of each set, and what stands before and behind all of them."""
        first, others = [], []
        for alternatives in sets:
            first.append([one for one in alternatives if _is_first(one)])
            others.append([one for one in alternatives if not _is_first(one)])
        self._sets = first, others
        self._patterns = [
            (1 << place, _compile(start, one, end), _compile(start, other, end))
            for place, (one, other) in enumerate(zip(first, others, strict=True))
        ]
        self._searches = 0

    def find(self, folded: str) -> int:
        """Return which sets are found in a folded text, a bit each, the first lowest."""
        found, first, likely = 0, -1, -1
        if self._searches < _WORTH:
            self._searches += 1
        else:
            first, likely = self._prefixes[0].find_first(folded), self._prefixes[1].find(folded)
            if not first and not likely:
                return 0
        for bit, start, pattern in self._patterns:
            if (first & bit and start.match(folded)) or (likely & bit and pattern.search(folded)):
                found |= bit
        return found

    @cached_property
    def _prefixes(self) -> tuple[Prefixes, Prefixes]:
        first, others = self._sets
        return Prefixes(first), Prefixes(others)


def _is_first(alternative: str) -> bool:
    """Say whether an alternative matches at the beginning of a text alone."""
    return alternative[0] == '^' and _read_sequence(alternative, 0)[1] == len(alternative)


def _compile(start: str, alternatives: Sequence[str], end: str) -> re.Pattern[str]:
    return compile_pattern(f'{start}(?:{"|".join(alternatives) or "(?!)"}){end}')


def join_words(words: Iterable[str]) -> str:
    """Return a pattern of the longest of some words, by their letters, so that few are tried."""
    tree: dict[str, set[str]] = {}
    for word in words:
        if word:
            tree.setdefault(word[0], set()).add(word[1:])
    parts = []
    for first, rest in sorted(tree.items()):
        ends = '' in rest
        more = join_words(rest)
        parts.append(re.escape(first) + (f'(?:{more}){"?" * ends}' if more else ''))
    return '|'.join(parts)

"""Comparisons with an event that a question names: harder than the push at 14:03, 比那次更久."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.events import Mention, Span, locate_quantities
from robot_memory.text.questions.model import Anchor, Comparison, Order
from robot_memory.text.questions.superlatives import (
    LASTING,
    find_fitting,
    find_own_quantity,
    fits,
)
from robot_memory.text.questions.tables import load_pattern, load_table
from robot_memory.text.questions.windows import WEEKDAY, find_window

_FORMS: dict[str, dict[str, tuple[str, ...]]] = {
    'than': {
        'en': (' than ',),
        'en2': (', ',),
        'en3': (' that of ',),
        'en4': ('exceed', 'beat', 'topped', 'surpass', 'outlast'),
        'zh': ('比',),
        'zh2': ('更',),
        'zh3': ('那',),
    },
    'pair': {
        'asked': (' or ',),
        'told': (' or ',),
        'of_two': (' and ',),
        'whether': (' than ',),
        'apart': (' than ',),
        'zh': ('哪', '谁'),
        'zh_whether': ('比',),
        'zh_apart': ('比',),
    },
}
"""The forms of a comparison and of a pair, with what is in each text that one matches."""
_APART = frozenset(('apart', 'zh_apart'))
"""The forms that ask by how much."""
_DAYS = ('day', 'part', WEEKDAY)
_PLACED = frozenset(('contact', 'motion', 'scene'))


class FoundComparison(NamedTuple):
    """
    Hold what is compared with an event, where it was read, and the events that it names.

    Either what is asked for has more or less `than` it, or it is `nearest` to it in time.
    """

    than: Comparison | None
    nearest: Anchor | None
    span: Span
    mentions: tuple[Mention, ...]


def find_comparison(
    folded: str, mentions: Sequence[Mention], calendar: Calendar
) -> FoundComparison | None:
    """Return the comparison of what is asked for with an event; None where there is none."""
    for _, match in _match_forms(folded, 'than'):
        if event := _find_event(folded, match, mentions, calendar):
            return _make_comparison(folded, match, event, mentions, calendar)
    return None


def _match_forms(folded: str, section: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Give the name of each form of a section, and what it matches first."""
    for name, signs in _FORMS[section].items():
        if any(one in folded for one in signs):
            match = load_pattern('comparisons', section, name).search(folded)
            if match:
                yield name, match


def _make_comparison(
    folded: str,
    match: re.Match[str],
    event: _Event,
    mentions: Sequence[Mention],
    calendar: Calendar,
) -> FoundComparison | None:
    named, words, which = event
    asked = [one for one in mentions if one not in named and one.kinds] or named
    start, end = match.span('event')
    named_quantity = next(iter(locate_quantities(f'{folded[:start]} {folded[end:]}')), '')
    quantity, over = choose_quantity(match['word'], asked, named_quantity)
    if not quantity:
        return None
    words = _share_day(f'{folded[: match.start()]} {folded[match.end() :]}', words, calendar)
    anchor = _make_anchor(words, calendar, which)
    than = Comparison(quantity, '$gt' if over else '$lt', anchor)
    return FoundComparison(than, None, match.span(), named)


def _share_day(beside: str, words: str, calendar: Calendar) -> str:
    """Return the words of an event with the day beside it where only its clock time is told."""
    own = find_window(words, calendar)
    if own is None or own.dated:
        return words
    day = find_window(beside, calendar)
    if day is None or not day.dated or day.window.granularity not in _DAYS:
        return words
    return ' '.join((*(beside[slice(*span)] for span in day.spans), words))


def find_nearest(
    folded: str, mentions: Sequence[Mention], calendar: Calendar
) -> FoundComparison | None:
    """Return the event that what is asked for is nearest to in time: 离急停最近的一次接触."""
    name = (
        'en' if 'est to ' in folded or 'est in time' in folded else 'zh' if '最' in folded else ''
    )
    match = load_pattern('comparisons', 'nearest', name).search(folded) if name else None
    event = match and _find_event(folded, match, mentions)
    if match is None or event is None:
        return None
    named, words, which = event
    # What has a place may be near in space.
    if not match['time'] and any(_PLACED.intersection(one.kinds) for one in named):
        return None
    return FoundComparison(None, _make_anchor(words, calendar, which), match.span(), named)


@dataclass(frozen=True)
class FoundPair:
    """
    Hold two events, by what the one is asked for, and where it was read.

    With `apart` it is asked how far they are apart.
    """

    pair: tuple[Anchor, Anchor]
    order: Order
    span: Span
    apart: bool = False


def find_pair(folded: str, mentions: Sequence[Mention], calendar: Calendar) -> FoundPair | None:
    """Return the two events of which one is asked for, the longer one or the harder one."""
    pairs = (
        _read_pair(folded, match, mentions, calendar, apart=name in _APART)
        for name, match in _match_forms(folded, 'pair')
    )
    return next((one for one in pairs if one), None)


def _read_pair(
    folded: str,
    match: re.Match[str],
    mentions: Sequence[Mention],
    calendar: Calendar,
    *,
    apart: bool,
) -> FoundPair | None:
    first, second = (
        _find_event(folded, match, mentions, calendar, part) for part in ('one', 'other')
    )
    if first is None or second is None:
        return None
    named = (*first.mentions, *second.mentions) or tuple(m for m in mentions if m.kinds)
    start, end = match.span('one')[0], match.span('other')[1]
    beside = f'{folded[: min(start, match.start("word"))]} {folded[end:]}'
    named_quantity = next(iter(locate_quantities(beside)), '')
    quantity, over = choose_quantity(match['word'], named, named_quantity)
    if not quantity:
        return None
    one, other = (_make_anchor(each.words, calendar, each.which) for each in (first, second))
    return FoundPair((one, other), Order(quantity, over, 1), match.span(), apart)


class _Event(NamedTuple):
    """Hold what the words of an event name, these words, and whether it is the first or last."""

    mentions: tuple[Mention, ...]
    words: str
    which: int


def _find_event(
    folded: str,
    match: re.Match[str],
    mentions: Sequence[Mention],
    calendar: Calendar | None = None,
    part: str = 'event',
) -> _Event | None:
    """
    Return the event that a match names; None where it names none.

    What is only pointed to (the one of Monday) is of the sort that is named beside it, and with a
    calendar what is told by its time alone is, too: than yesterday's.
    """
    start, end = match.span(part)
    named = tuple(one for one in mentions if start <= one.start < end and one.kinds)
    if named:
        return _Event(named, match[part], -1)
    other = next((one for one in mentions if one.kinds), None)
    if other is None:
        return None
    own = f' {folded[other.start : other.end]} '.replace('which ', '').replace('what ', '')
    points = load_pattern('comparisons', 'than', 'points').search(match[part])
    if points:
        own = f' {points["most"] or ""}{own}'
        words = _leave_quantities(match[part]).replace(points[0], own)
        return _Event((), words, 1 if points['first'] else -1)
    rest = match[part]
    window = find_window(rest, calendar) if calendar else None
    if window is None and calendar and rest.endswith("'s"):  # Monday's
        rest = f'on {rest[:-2]}'
        window = find_window(rest, calendar)
        if window:
            return _Event((), f'{own.strip()} {rest}', -1)
    for begin, finish in sorted(window.spans if window else (), reverse=True):
        rest = rest[:begin] + rest[finish:]
    bare = load_pattern('comparisons', 'than', 'bare').fullmatch(rest)
    return _Event((), f'{match[part]}{own}', -1) if window and bare else None


def _leave_quantities(words: str) -> str:
    """Return words without what is compared of the event that they point to: 9号那次残差."""
    for start, end in sorted(locate_quantities(words).values(), reverse=True):
        words = words[:start] + words[end:]
    return words


def _make_anchor(words: str, calendar: Calendar, which: int) -> Anchor:
    words = ' '.join(words.split())
    if words[:1].isdecimal() and not find_window(words, calendar):
        words = f'在{words}'  # 9号那次
    window = find_window(words, calendar)
    for start, end in sorted(window.spans if window else (), reverse=True):
        words = f'{words[:start]} {words[end:]}'
    words = load_pattern('comparisons', 'than', 'lead').sub('', ' '.join(words.split()))
    return Anchor('since', words, which, window=window.window if window else None)


def choose_quantity(word: str, asked: Sequence[Mention], named_quantity: str) -> tuple[str, bool]:
    """Return what a comparative is of, for what is asked for, and whether more of it is meant."""
    kinds = {kind for one in asked for kind in one.kinds}
    for one in load_table('comparisons')['comparative']:
        if _name_comparative(word) in one['words'].split():
            quantity, over = one['by'], one['over']
            if quantity == 'speed' and kinds.issubset((*LASTING, 'state')):
                return 'duration', not over
            if quantity == 'mass' and 'contact' in kinds:
                quantity = 'force'
            if quantity == 'own':
                quantity = named_quantity or find_own_quantity(asked)
            quantity = find_fitting(asked, quantity)
            known = one['by'] != 'length' or fits(asked, quantity)
            return (quantity, over) if known else ('', True)  # a better shift is more than exact
    return '', True


def _name_comparative(word: str) -> str:
    """Return a comparative as its table has it: 高 of 高过."""
    return word if word == '超过' else word.removesuffix('过').replace(' ', '-')

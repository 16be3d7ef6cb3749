"""Days and weeks that questions tell by an event: the day after the demo, 急停那天."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robot_memory.text.questions.anchor_model import FoundAnchor
from robot_memory.text.questions.anchors import cut_words, name_anchor
from robot_memory.text.questions.events import Mention, Span, is_han
from robot_memory.text.questions.han_anchors import read_event
from robot_memory.text.questions.model import Anchor, DayOf
from robot_memory.text.questions.moments import find_ordinal
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern

_APART = {'before': -1, 'preceding': -1, 'prior to': -1, 'after': 1, 'following': 1}
_ENDS = {'opening': 1, 'last': -1, 'final': -1, 'closing': -1}
_NEAR = 12
"""Characters before 那天 within which the event ends."""


def find_day_anchor(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    """Return the day or week that is told by an event, None where none is."""
    named = [one for one in mentions if not one.happening]
    return _find_english(folded, named) or (
        _find_chinese(folded, named, taken) if is_han(folded) else None
    )


def _find_english(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    for form in ('apart', 'counted', 'titled', 'whole'):
        for match in load_pattern('anchors', 'days', form).finditer(folded):
            start, end = match.span('rest')
            end = end if form in ('titled', 'whole') else cut_words(start, match['rest'])
            far = form == 'apart' and match['within'] and match['side'] in _APART
            clause = match.end('side') if form == 'apart' and not match['side'] else start
            if far or not _is_event(folded, clause, end, mentions):
                continue
            day = _read_day(match.groupdict(), form)
            anchor = replace(name_anchor(folded[start:end], 'during'), day=day)
            last = max(end, match.end()) if form in ('titled', 'whole') else end
            return FoundAnchor(anchor, (match.start(), last), ((start, end),))
    return None


def _is_event(folded: str, start: int, end: int, mentions: Sequence[Mention]) -> bool:
    """Say whether words name an event, or something that the robot was at: the demo."""
    occasion = load_pattern('anchors', 'days', 'occasion')
    named = any(start <= one.start and one.end <= end for one in mentions)
    return named or occasion.search(folded, start, end) is not None


def _read_day(groups: dict[str, str | None], form: str) -> DayOf:
    if form == 'whole':
        return DayOf()
    if form != 'apart':
        written = groups.get('ordinal')
        if written in _ENDS:
            return DayOf(nth=_ENDS[written])
        nth = find_ordinal(written) if written else int(parse_number(groups['count'] or 'one'))
        return DayOf(nth=nth)
    side, unit = groups['side'] or 'of', groups['unit'] or groups['same'] or 'day'
    number = int(parse_number(groups['number'])) if groups['number'] else 1
    if unit == 'week':
        number *= 7
    sign = _APART.get(side, 0)
    part = unit if unit not in ('day', 'week') else ''
    return DayOf(sign * number, week=unit == 'week', part=part)


def _find_chinese(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    for match in load_pattern('anchors', 'days', 'chinese').finditer(folded):
        span = _find_before(folded, match.start(), mentions)
        if span is None and match['that']:
            span = _find_clause(folded, match.start(), mentions, taken)
        if span is None:
            continue
        occasion = all(not (span[0] <= one.start < span[1]) for one in mentions)
        day = _read_chinese_day(match.groupdict(), occasion=occasion)
        if day is None:
            continue
        inside = [one for one in mentions if span[0] <= one.start and one.end <= span[1]]
        if not inside:
            anchor = Anchor('during', folded[slice(*span)], day=day)
            return FoundAnchor(anchor, (span[0], match.end()), (span,))
        event = read_event(folded, inside[-1], span[1])
        start = min(span[0], event.start)
        anchor = Anchor('during', event.words, event.which, day=day)
        return FoundAnchor(anchor, (start, match.end()), (span,))
    return None


def _find_before(folded: str, end: int, mentions: Sequence[Mention]) -> Span | None:
    """Return the event, or the occasion, that ends where the words of a day begin."""
    before = [one for one in mentions if one.end == end]
    if before:
        return before[0].start, before[0].end
    found = load_pattern('anchors', 'days', 'han_occasion').search(
        folded, max(0, end - _NEAR), end
    )
    return found.span('name') if found else None


def _find_clause(
    folded: str, end: int, mentions: Sequence[Mention], taken: Sequence[Span]
) -> Span | None:
    """Return the clause that tells a day by what was done on it: 撞上料架的那一天."""
    clause = load_pattern('anchors', 'days', 'clause').search(folded, 0, end)
    if clause is None:
        return None
    start = max([clause.start(), *(one[1] for one in taken if one[1] <= end)])
    named = any(start <= one.start and one.end <= end for one in mentions)
    if load_pattern('orders', 'group', 'day').search(folded, start):
        return None  # the day that has most of them
    return (start, end) if named and start < end else None


def _read_chinese_day(groups: dict[str, str | None], *, occasion: bool) -> DayOf | None:
    if groups['opening'] or groups['closing']:
        if occasion:
            return DayOf(nth=1 if groups['opening'] else -1)
        return DayOf(-1) if groups['opening'] else None
    if groups['nth']:
        nth = int(parse_number(groups['nth']))
        after = bool(groups['after'] or groups['done']) or not occasion
        return DayOf(nth - 1) if after else DayOf(nth=nth)
    if groups['days']:
        return DayOf((-1 if groups['ahead'] else 1) * int(parse_number(groups['days'])))
    if groups['earlier']:
        return DayOf(-int(parse_number(groups['earlier'])))
    if groups['later']:
        return DayOf(int(parse_number(groups['later'])))
    return DayOf(1) if groups['next'] else DayOf(0, week=bool(groups['week']))


def _find_english_session(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    """Return the session in which something else is asked for: what did the late shift push."""
    if not any(one.kinds and 'session' not in one.kinds for one in mentions):
        return None
    for match in load_pattern('anchors', 'days', 'session').finditer(folded):
        start, end = match.span('rest')
        if any('session' in one.kinds and start <= one.start < end for one in mentions):
            span = (match.start('the'), end)
            return FoundAnchor(name_anchor(match['rest'], 'during'), span, (span,))
    return None


def find_session_anchor(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    """Return the session in which something else is asked for: 上次夜班最重的接触, 维护的时候."""
    if not is_han(folded):
        return _find_english_session(folded, mentions)
    if stay := load_pattern('anchors', 'chinese', 'stay').search(folded):
        words = stay['name'] + '班'
        return FoundAnchor(Anchor('during', words), stay.span(), (stay.span('name'),))
    others = any(one.kinds and 'session' not in one.kinds for one in mentions)
    for one in mentions if others else ():
        named = load_pattern('anchors', 'chinese', 'session').search(
            folded, max(0, one.start - 10), one.start
        )
        if named and named[0] and 'session' in one.kinds:
            words = (named['name'] or '') + folded[one.start : one.end]
            which = f'{named["which"] or ""} {words}'
            anchor = replace(name_anchor(which, 'during'), words=words)
            start = named.start('name') if named['name'] else one.start
            return FoundAnchor(anchor, (named.start(), one.end), ((start, one.end),))
    return None

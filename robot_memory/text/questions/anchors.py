"""Events by which a question tells the time: since the tool change, 急停之前, between both."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from robot_memory.text.questions.events import Mention, Span, is_han
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.moments import SECONDS, UNITS
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern, load_table

_FEW = 5.0
_NEAR = 14
"""Characters after a relation within which an event without an article begins."""
_AROUND = 600.0
"""Seconds around an event where the question does not say how many."""
_FORMS = ('near', 'onwards', 'told', 'opening', 'inside', 'when')


@dataclass(frozen=True)
class FoundAnchor:
    """
    Hold an anchor and where it was read.

    `parts` are where the words of each of its events stand: two where it is between two. Where
    the other end is a time, `since` or `until` is where that stands.
    """

    anchor: Anchor
    span: Span
    parts: tuple[Span, ...] = ()
    since: Span | None = None
    until: Span | None = None


def find_anchor(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    """
    Return the event that times are told by, None where there is none or it is no event.

    `taken` are the times of the text, which tell of themselves: 'since Monday' has no event.
    """
    named = [one for one in mentions if not one.happening]
    between = _find_pair(folded, named) or _find_between(folded, named, taken)
    if between:
        return between
    found: list[FoundAnchor] = []
    for name in _FORMS:
        for match in _scan(load_pattern('anchors', 'english', name), folded):
            one = _read_english(match, named, taken)
            if one and all(not _overlap(one.span, other.span) for other in found):
                found.append(one)
        if found and name not in ('near', 'onwards', 'told'):
            break
    if not found:
        return _find_chinese(folded, named, taken)
    begun = next((one for one in found if one.anchor.relation in ('since', 'after')), None)
    ended = next((one for one in found if one.anchor.relation == 'before'), None)
    if begun and ended and not begun.anchor.distance and not ended.anchor.distance:
        return _join(begun, ended)
    return found[0]


def _scan(pattern: re.Pattern[str], folded: str) -> Iterator[re.Match[str]]:
    """Yield the matches of a form, also those that begin inside another."""
    match = pattern.search(folded)
    while match:
        yield match
        match = pattern.search(folded, match.end('relation'))


def _overlap(one: Span, other: Span) -> bool:
    return one[0] < other[1] and other[0] < one[1]


def _join(one: FoundAnchor, other: FoundAnchor) -> FoundAnchor:
    anchor = replace(one.anchor, relation='between', to=replace(other.anchor, relation='between'))
    span = (min(one.span[0], other.span[0]), max(one.span[1], other.span[1]))
    return FoundAnchor(anchor, span, (one.span, other.span))


def _is_named(start: int, end: int, mentions: Sequence[Mention]) -> bool:
    return any(start <= one.start and one.end <= end for one in mentions)


def cut_words(start: int, rest: str) -> int:
    """Return where the words of an event end that begin at a position."""
    stop = load_pattern('anchors', 'english', 'stop').search(rest)
    return start + (stop.start() if stop else len(rest))


def _find_between(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    for match in load_pattern('anchors', 'english', 'between').finditer(folded):
        start, end = match.span('one')
        other, last = match.start('other'), cut_words(match.start('other'), match['other'])
        words = folded[other:last].strip()
        same = load_pattern('anchors', 'english', 'same').match(words)
        until = next((one for one in taken if _overlap(one, match.span('other'))), None)
        since = next((one for one in taken if _overlap(one, (start, end))), None)
        if since and until and not _is_named(start, end, mentions):
            continue
        if not _is_named(start, end, mentions):
            if since and _is_named(other, last, mentions):
                anchor, span = name_anchor(words, 'before'), (since[1], last)
                return FoundAnchor(anchor, span, ((other, last),), since=since)
            continue
        if until and not same and not _is_named(other, last, mentions):
            anchor, span = name_anchor(match['one'], 'since'), (match.start(), end)
            return FoundAnchor(anchor, span, ((start, end),), until=until)
        if load_pattern('anchors', 'english', 'now').fullmatch(words):
            return FoundAnchor(
                name_anchor(match['one'], 'since'), (match.start(), last), ((start, end),)
            )
        if not same and not _is_named(other, last, mentions):
            continue
        one = name_anchor(match['one'])
        to = replace(one, which=one.which if one.which < 0 else 1) if same else name_anchor(words)
        to = replace(to, relation='between')
        anchor = replace(one, relation='between', to=to)
        return FoundAnchor(anchor, (match.start(), last), ((start, end), (other, last)))
    return None


def _find_pair(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    """Return what lies between two events of a kind: between the last two grip losses."""
    for match in load_pattern('anchors', 'english', 'pair').finditer(folded):
        start = match.start('rest')
        end = cut_words(start, match['rest'])
        if _is_named(start, end, mentions):
            words = name_anchor(folded[start:end]).words
            places = (-2, -1) if match['end'] != 'first' else (1, 2)
            one, other = (Anchor('between', words, place) for place in places)
            return FoundAnchor(
                replace(one, to=other), (match.start(), end), ((start, end), (start, end))
            )
    return None


def name_anchor(words: str, relation: str = 'between') -> Anchor:
    """Return the anchor of some words: without articles, and with which of them is meant."""
    table, which = load_table('anchors'), -1
    for _ in range(3):
        words = load_pattern('anchors', 'english', 'newest').sub('', words.strip())
        first, _, others = words.partition(' ')
        if others and first in table['which']:
            which, words = table['which'][first], others
    words = load_pattern('anchors', 'english', 'tense').sub('', words)
    known = table['relation'].get(relation, relation)
    return Anchor(known, words, which)


def _read_english(
    match: re.Match[str], mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    start, rest, at = match.start('rest'), match['rest'], match.start('relation')
    article, relation = match['the'] or '', match['relation']
    end = start + len(rest) if relation == 'from' else cut_words(start, rest)
    said = _cut_said(start, article, rest) if relation not in ('in', 'of', 'from') else None
    if said:
        words = f'{article} {match.string[start:said]}'.strip()
        known = load_table('anchors')['relation'].get(relation, relation)
        first = match.start('the') if article else start
        distance = _measure_distance(match.groupdict())
        told = Anchor(known, words, -1, distance, said=True)
        return FoundAnchor(told, (match.start(), said), ((first, said),))
    end = max((m.end for m in mentions if start <= m.start < end < m.end), default=end)
    words = match.string[start:end].strip()
    topic = load_pattern('anchors', 'english', 'topic').match(match.string, 0, match.start())
    if topic and article in ('this', 'that'):
        words = f'{words} {topic["topic"]}'
    owned = article.endswith('s') and article not in ('this', 'its', 'his')
    if not words or (not owned and any(begin <= at < finish for begin, finish in taken)):
        return None
    inside = [one for one in mentions if start <= one.start and one.end <= end]
    if article in _SUBJECTS:
        inside += [m for m in mentions if match.start('the') <= m.start < start < m.end <= end]
    if not inside and not (article and load_pattern('anchors', 'english', 'head').search(words)):
        return None
    if not article and inside[0].start > start + _NEAR:
        return None
    words = f'{article} {words}' if article in _NAMING else words
    anchor = name_anchor(words, relation)
    if article in ('first', 'the very') and relation != 'once' and anchor.which == -1:
        anchor = replace(anchor, which=1 if article == 'first' else -1)
    activity = load_pattern('anchors', 'english', 'several').search(words)
    if anchor.relation == 'during' and not article and activity and inside[0].kinds == ('task',):
        anchor = replace(anchor, which=0)
    skipped = load_pattern('anchors', 'english', 'before_latest').match(match.string, end)
    if skipped:
        anchor, end = replace(anchor, which=-2), skipped.end()
    if anchor.relation == 'during' and load_pattern('anchors', 'english', 'over').match(words):
        anchor = replace(anchor, relation='after')
    distance = _measure_distance(match.groupdict())
    if relation == 'of' and 'quarter' in match.groupdict():
        anchor = replace(anchor, relation='after')
    elif anchor.relation == 'around':
        distance = distance or _AROUND
    first = match.start('the') if article else start
    return FoundAnchor(replace(anchor, distance=distance), (match.start(), end), ((first, end),))


def _cut_said(start: int, article: str, rest: str) -> int | None:
    """Return where a clause ends that says what somebody said; None where it is none."""
    stop = load_pattern('anchors', 'english', 'said_stop').search(rest)
    end = stop.start() if stop else len(rest)
    said = load_pattern('anchors', 'english', 'said').search(rest, 0, end)
    if not said or len(rest[: said.start()].split()) > 3:
        return None
    return start + end if article or said.start() else None


_NAMING = ('joint', 'axis', 'motor')
_SUBJECTS = (
    'we',
    'it',
    'you',
    'u',
    'they',
    'i',
    'he',
    'she',
    'someone',
    'somebody',
    'anyone',
    'the',
)


def _measure_distance(groups: dict[str, str | None]) -> float | None:
    """Return the seconds of 'in the ten minutes after', None where nothing is said."""
    quarter, unit, number = groups.get('quarter'), groups.get('unit'), groups.get('number')
    if quarter:
        return 900.0 if quarter.startswith('quarter') else 1800.0
    if unit:
        few = number in ('a few', 'few', 'several')
        several = not number and (groups.get('many') or '')
        amount = 2 * _FEW if several else _FEW if few else parse_number(number or 'one')
        return amount * SECONDS[UNITS.get(unit, unit)]
    return None


def _find_chinese(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    if not is_han(folded):
        return None
    said = load_pattern('anchors', 'chinese', 'said').search(folded)
    if said:
        relation = load_table('anchors')['relation'][said['relation'].removeprefix('的')]
        return FoundAnchor(
            Anchor(relation, said['rest'], said=True), said.span(), (said.span('rest'),)
        )
    han = [one for one in mentions if folded[one.start] >= '\u3400']
    for one, other in itertools.pairwise(han):
        found = _find_chinese_between(folded, one, other)
        if found:
            return found
    for mention in han:
        found = (
            _find_chinese_pair(folded, mention)
            or _find_chinese_to_time(folded, mention, taken)
            or _find_chinese_from_time(folded, mention, taken)
            or _read_chinese(folded, mention, han)
        )
        if found:
            return found
    return None


def _read_which(folded: str, mention: Mention) -> tuple[int, int]:
    """Return which of its kind is meant, and where the words that say so begin."""
    before = load_pattern('anchors', 'chinese', 'before').search(
        folded, max(0, mention.start - 8), mention.start
    )
    which = load_table('anchors')['which'].get(before['which'], -1) if before else -1
    return which, before.start() if before else mention.start


def _find_words_before(folded: str, mention: Mention) -> re.Match[str] | None:
    """Return what says more of an event before it: 二号关节过热."""
    words = load_pattern('anchors', 'chinese', 'words')
    found = words.search(folded, max(0, mention.start - 6), mention.start)
    day = found and load_pattern('anchors', 'chinese', 'day').fullmatch(found[0])
    return None if day else found


def _name_chinese(folded: str, mention: Mention, end: int) -> str:
    label = mention.labels[0] if len(mention.labels) == 1 else ''
    more = folded[mention.end : end].strip()
    words = _find_words_before(folded, mention)
    before = words[0] if words else ''
    return f'{before} {label} {more}'.strip() if label else before + folded[mention.start : end]


def _find_chinese_to_time(
    folded: str, mention: Mention, taken: Sequence[Span]
) -> FoundAnchor | None:
    """Return what lies between an event and a time: 从标定到九点."""
    gap = load_pattern('anchors', 'chinese', 'to_time').match(folded, mention.end)
    until = next(
        (one for one in taken if gap and mention.end < one[1] and one[0] <= gap.end()), None
    )
    if not gap or not until or until[1] <= gap.end():
        return None
    which, start = _read_which(folded, mention)
    anchor = Anchor('since', _name_chinese(folded, mention, mention.end), which)
    return FoundAnchor(anchor, (start, gap.end()), ((start, mention.end),), until=until)


def _find_chinese_from_time(
    folded: str, mention: Mention, taken: Sequence[Span]
) -> FoundAnchor | None:
    """Return what lies between a time and an event: 从九点到急停之间."""
    gap = load_pattern('anchors', 'chinese', 'from_time')
    since = next((one for one in taken if gap.fullmatch(folded, one[1], mention.start)), None)
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, mention.end)
    if not since or not closed:
        return None
    anchor = Anchor('before', _name_chinese(folded, mention, mention.end))
    part = (mention.start, mention.end)
    return FoundAnchor(anchor, (since[1], closed.end()), (part,), since=since)


def _find_chinese_between(folded: str, one: Mention, other: Mention) -> FoundAnchor | None:
    gap = load_pattern('anchors', 'chinese', 'span').fullmatch(folded, one.end, other.start)
    if not gap:
        return None
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, other.end)
    opened = load_pattern('anchors', 'chinese', 'opened').search(
        folded, max(0, one.start - 12), one.start
    )
    if not closed and not (opened and re.search('[到至]', gap[0])):
        return None
    which, start = _read_which(folded, one)
    last, _ = _read_which(folded, other)
    to = Anchor('between', _name_chinese(folded, other, other.end), last)
    anchor = Anchor('between', _name_chinese(folded, one, one.end), which, None, None, to)
    end = closed.end() if closed else other.end
    return FoundAnchor(anchor, (start, end), ((start, one.end), (other.start, other.end)))


def _find_chinese_pair(folded: str, mention: Mention) -> FoundAnchor | None:
    two = load_pattern('anchors', 'chinese', 'pair').search(
        folded, max(0, mention.start - 9), mention.start
    )
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, mention.end)
    if not two or not closed or '间' not in closed[0]:
        return None
    words = _name_chinese(folded, mention, mention.end)
    places = (1, 2) if two['first'] else (-2, -1)
    if two['one']:
        places = (int(parse_number(two['one'])), int(parse_number(two['other'])))
    anchor = Anchor('between', words, places[0], to=Anchor('between', words, places[1]))
    span = (mention.start, mention.end)
    return FoundAnchor(anchor, (two.start(), closed.end()), (span, span))


def _read_chinese(folded: str, mention: Mention, others: Sequence[Mention]) -> FoundAnchor | None:
    match = load_pattern('anchors', 'chinese', 'after').match(folded, mention.end)
    if not match:
        until = load_pattern('anchors', 'chinese', 'until').search(
            folded, max(0, mention.start - 8), mention.start
        )
        begun = load_pattern('anchors', 'chinese', 'begun').search(
            folded, max(0, mention.start - 12), mention.start
        )
        if begun:
            which, _ = _read_which(folded, mention)
            anchor = Anchor('since', _name_chinese(folded, mention, mention.end), which)
            span = (begun.start(), mention.end)
            return FoundAnchor(anchor, span, ((begun.start() + len('自从'), mention.end),))
        if not until or until[0].startswith('到'):
            return None
        which, _ = _read_which(folded, mention)
        words = _name_chinese(folded, mention, mention.end)
        span = (until.start(), mention.end)
        return FoundAnchor(Anchor('before', words, which), span, (span,))
    if any(mention.end <= one.start < match.start('relation') for one in others):
        return None
    if folded[mention.start] == '最':  # when it was hottest
        return None
    which, start = _read_which(folded, mention)
    start = next((one.start for one in others if one.end == start), start)
    before = _find_words_before(folded, mention)
    start = min(start, before.start()) if before else start
    relation = load_table('anchors')['relation'][match['relation']]
    words = _name_chinese(folded, mention, match.start('relation'))
    anchor = Anchor(relation, words, which, _measure_distance(match.groupdict()))
    return FoundAnchor(anchor, (start, match.end()), ((start, match.start('relation')),))

"""Events by which a question tells the time: since the tool change, 急停之前, between both."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal

from robot_memory.text.questions.anchor_model import AROUND, FoundAnchor, measure_distance
from robot_memory.text.questions.calendar import Calendar
from robot_memory.text.questions.events import Mention, Span
from robot_memory.text.questions.han_anchors import find_chinese_anchor
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.tables import load_pattern, load_table
from robot_memory.text.questions.windows import find_times

_NEAR = 14
"""Characters after a relation within which an event without an article begins."""
_FORMS = ('near', 'onwards', 'told', 'opening', 'inside', 'when')


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
        return find_chinese_anchor(folded, named, taken)
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


def _reach_over(end: int, start: int, mentions: Sequence[Mention]) -> int:
    """Return the end of words, or of the event that it lies in: over-temperature."""
    return max(
        (one.end for one in mentions if start <= one.start <= end + 1 < one.end), default=end
    )


def find_between_times(
    folded: str, mentions: Sequence[Mention], calendar: Calendar
) -> FoundAnchor | None:
    """Return what lies between an event and a clock time: between the stop and five o'clock."""
    pattern = load_pattern('anchors', 'english', 'between')
    if not pattern.search(folded):
        return None
    named = [one for one in mentions if not one.happening]
    taken = find_times(folded, calendar, every=True)
    found = _find_between(folded, named, taken)
    return found if found and (found.since or found.until) else None


def _find_between(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    for match in load_pattern('anchors', 'english', 'between').finditer(folded):
        start, end = match.span('one')
        other = match.start('other')
        last = _reach_over(cut_words(other, match['other']), other, mentions)
        words = folded[other:last].strip()
        same = load_pattern('anchors', 'english', 'same').match(words)
        until = next((one for one in taken if _overlap(one, (other, last))), None)
        since = next((one for one in taken if _overlap(one, (start, end))), None)
        if since and until and not _is_named(start, end, mentions):
            continue
        alone = load_pattern('anchors', 'english', 'rank_alone').match(match['one'])
        if alone and _is_named(other, last, mentions):
            to = replace(name_anchor(words), relation='between')
            which = load_table('anchors')['which'].get(alone['which'], -1)
            span = (match.start(), last)
            return FoundAnchor(replace(to, which=which, to=to), span, ((other, last),) * 2)
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
    edge = load_pattern('anchors', 'english', 'edge').search(words)
    for _ in range(3):
        words = load_pattern('anchors', 'english', 'newest').sub('', words.strip())
        first, _, others = words.partition(' ')
        if others and first in table['which']:
            which, words = table['which'][first], others
    words = load_pattern('anchors', 'english', 'tense').sub('', words)
    inner = load_pattern('anchors', 'english', 'inner').search(words) if which == -1 else None
    if inner:
        which = table['which'][inner['which']]
        words = ' '.join(f'{words[: inner.start()]} {words[inner.end() :]}'.split())
    known = table['relation'].get(relation, relation)
    side: Literal['', 'start', 'end'] = '' if not edge else 'start' if edge['start'] else 'end'
    return Anchor(known, words, which, edge=side)


def _read_english(
    match: re.Match[str], mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    start, rest, at = match.start('rest'), match['rest'], match.start('relation')
    article, relation = match['the'] or '', match['relation']
    shift = relation == 'from' and load_pattern('anchors', 'english', 'shift').search(rest)
    relation = 'during' if shift else relation
    end = start + len(rest) if relation == 'from' else cut_words(start, rest)
    said = _cut_said(start, article, rest) if relation not in ('in', 'of', 'from') else None
    if said:
        words = f'{article} {match.string[start:said]}'.strip()
        known = load_table('anchors')['relation'].get(relation, relation)
        first = match.start('the') if article else start
        distance = measure_distance(match.groupdict())
        bounding = Anchor(known, words, -1, distance, said=True)
        return FoundAnchor(bounding, (match.start(), said), ((first, said),))
    end = max((m.end for m in mentions if start <= m.start < end < m.end), default=end)
    words = match.string[start:end].strip()
    topic = load_pattern('anchors', 'english', 'topic').match(match.string, 0, match.start())
    if topic and article in ('this', 'that'):
        words = f'{words} {topic["topic"]}'
    owned = article.endswith('s') and article not in ('this', 'its', 'his')
    if not words or (not owned and any(begin <= at < finish for begin, finish in taken)):
        return None
    inside = [one for one in mentions if start <= one.start and one.end <= end]
    alike = load_pattern('anchors', 'english', 'alike').match(words)
    asked = next((one for one in mentions if one.end <= match.start() and one.labels), None)
    if alike and asked and not inside:  # which screw came before the one that stripped
        inside = [asked]
        words = f'{asked.labels[0]} {words[alike.end() :]}'
    if article in _SUBJECTS:
        inside += [m for m in mentions if match.start('the') <= m.start < start < m.end <= end]
    if not inside and not (article and load_pattern('anchors', 'english', 'head').search(words)):
        return None
    doing = load_pattern('anchors', 'english', 'doing').match(words)
    if not article and not doing and inside[0].start > start + _NEAR:
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
    distance = measure_distance(match.groupdict())
    if relation == 'of' and 'quarter' in match.groupdict():
        anchor = replace(anchor, relation='after')
    elif anchor.relation == 'around':
        distance = distance or AROUND
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

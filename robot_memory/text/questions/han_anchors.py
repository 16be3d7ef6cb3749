"""Events by which a Chinese question tells the time: 急停之前, 从标定到掉件之间."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from robot_memory.text.questions.anchor_model import AROUND, FoundAnchor, measure_distance
from robot_memory.text.questions.events import Mention, Span, is_han
from robot_memory.text.questions.model import Anchor, Relation
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern, load_table

_WEEKS = '周期拜月号'
"""Characters after which a number is of a day: 周一."""


def find_chinese_anchor(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    """Return the event that times are told by, None where there is none."""
    if not is_han(folded):
        return None
    said = load_pattern('anchors', 'chinese', 'said').search(folded)
    if said:
        relation = find_relation(said['relation'])
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


@dataclass(frozen=True)
class HanEvent:
    """Hold an event as a text names it from `start` on: which of its kind, and by what words."""

    start: int
    which: int
    words: str


def read_event(folded: str, mention: Mention, end: int = 0) -> HanEvent:
    """
    Return an event with what stands before it: 二号关节第一次过热, 最长的那次保护性停机.

    Its words go on to `end`: 插销失败.
    """
    own = _find_words_before(folded, mention.start)
    start, before = (own.start(), own[0]) if own else (mention.start, '')
    found = load_pattern('anchors', 'chinese', 'before').search(folded, max(0, start - 10), start)
    which = _count_which(found['which'] or '') if found else -1
    start = found.start() if found else start
    if found and found['which']:
        lead = _drop_weekday(folded, 'lead', start)
        start, before = (lead.start(), lead[0] + before) if lead else (start, before)
    inner = load_pattern('anchors', 'chinese', 'inner').search(folded, mention.start, mention.end)
    which = _count_which(inner['which']) if inner and which == -1 else which
    most = load_pattern('anchors', 'chinese', 'most').search(folded, max(0, start - 12), start)
    if most:
        start, before = most.start(), f'{most[0]} {before}'
    words = folded[mention.start : max(end, mention.end)]
    label = mention.labels[0] if len(mention.labels) == 1 else ''
    if label:
        words = f' {label} {folded[mention.end : max(end, mention.end)]}'
        tool = load_pattern('events', 'tool', 'named').search(folded, mention.start, mention.end)
        words = f' {tool[0]}{words}' if tool else words
    return HanEvent(start, which, ' '.join(f'{before}{words}'.split()))


_NUMERALS = '一二三四五六七八九十'


def _count_which(written: str) -> int:
    """Return the place that words for one of several name, from the last where negative."""
    number = next((_NUMERALS.index(one) + 1 for one in written if one in _NUMERALS), 1)
    if written.startswith('倒数'):
        return -number
    if written.startswith('第'):
        return number
    if written.startswith(('首', '头', '最早', '最初')):
        return 1
    return -2 if written.startswith(('上上', '前一')) else -1


def _find_edge(folded: str, mention: Mention) -> Literal['', 'start', 'end']:
    """Return which end of an event is named: 早班开始."""
    edge = load_pattern('anchors', 'chinese', 'edge').match(folded, mention.end)
    return '' if not edge else 'start' if edge['start'] else 'end'


def find_relation(written: str) -> Relation:
    """Return the relation that Chinese words of it mean: 完紧接着."""
    known: dict[str, Relation] = load_table('anchors')['relation']
    if not written:  # as soon as it was done: 一做完,
        return 'after'
    return next(known[written[at:]] for at in range(len(written)) if written[at:] in known)


def _find_words_before(folded: str, start: int) -> re.Match[str] | None:
    """Return what says more of an event before it: 二号关节过热."""
    found = _drop_weekday(folded, 'words', start)
    day = found and load_pattern('anchors', 'chinese', 'day').fullmatch(found[0])
    return None if day else found


def _drop_weekday(folded: str, name: str, end: int) -> re.Match[str] | None:
    """Return words before an event, None where they are a part of a day: 周一失速."""
    found = load_pattern('anchors', 'chinese', name).search(folded, max(0, end - 6), end)
    number = found and found[0][0] in _NUMERALS and found.start()
    return None if number and folded[number - 1] in _WEEKS else found


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
    event = read_event(folded, mention)
    part = (event.start, mention.end)
    anchor = Anchor('since', event.words, event.which)
    return FoundAnchor(anchor, (event.start, gap.end()), (part,), until=until)


def _find_chinese_from_time(
    folded: str, mention: Mention, taken: Sequence[Span]
) -> FoundAnchor | None:
    """Return what lies between a time and an event: 从九点到急停之间."""
    gap = load_pattern('anchors', 'chinese', 'from_time')
    since = next((one for one in taken if gap.fullmatch(folded, one[1], mention.start)), None)
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, mention.end)
    if not since or not closed:
        return None
    event = read_event(folded, mention)
    part = (mention.start, mention.end)
    anchor = Anchor('before', event.words, event.which)
    return FoundAnchor(anchor, (since[1], closed.end()), (part,), since=since)


def _find_chinese_between(folded: str, one: Mention, other: Mention) -> FoundAnchor | None:
    gap = load_pattern('anchors', 'chinese', 'span').fullmatch(folded, one.end, other.start)
    if not gap:
        return None
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, other.end)
    opened = load_pattern('anchors', 'chinese', 'opened').search(
        folded, max(0, one.start - 12), one.start
    )
    bounded = opened or re.search('开始|结束|完|起', gap[0])
    if not closed and not (bounded and re.search('[到至]', gap[0])):
        return None
    first, last = read_event(folded, one), read_event(folded, other)
    to = Anchor('between', last.words, last.which, edge=_find_edge(folded, other))
    anchor = Anchor('between', first.words, first.which, to=to, edge=_find_edge(folded, one))
    end = closed.end() if closed else other.end
    parts = ((first.start, one.end), (other.start, other.end))
    return FoundAnchor(anchor, (first.start, end), parts)


def _find_chinese_pair(folded: str, mention: Mention) -> FoundAnchor | None:
    two = load_pattern('anchors', 'chinese', 'pair').search(
        folded, max(0, mention.start - 9), mention.start
    )
    closed = load_pattern('anchors', 'chinese', 'closed').match(folded, mention.end)
    if not two or not closed or '间' not in closed[0]:
        return None
    words = read_event(folded, mention).words
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
        event = read_event(folded, mention)
        if begun:
            anchor = Anchor('since', event.words, event.which)
            span = (begun.start(), mention.end)
            return FoundAnchor(anchor, span, ((begun.start() + len('自从'), mention.end),))
        if not until or until[0].startswith('到'):
            return None
        span = (until.start(), mention.end)
        return FoundAnchor(Anchor('before', event.words, event.which), span, (span,))
    if any(mention.end <= one.start < match.start('relation') for one in others):
        return None
    if folded[mention.start] == '最':  # when it was hottest
        return None
    event = read_event(folded, mention, match.start('relation'))
    start = min(event.start, next((one.start for one in others if one.end == event.start), 999))
    distance, end = measure_distance(match.groupdict()), match.end()
    relation = find_relation(match['relation'])
    among = load_pattern('anchors', 'chinese', 'among')
    if relation == 'during' and among.search(folded, max(0, start - 6), mention.start):
        return None
    if relation == 'around':
        distance = distance or AROUND
    if distance is None and relation in ('before', 'after', 'around'):
        behind = load_pattern('anchors', 'apart', 'behind').match(folded, end)
        distance, end = (
            (measure_distance(behind.groupdict()), behind.end()) if behind else (None, end)
        )
    edge = _find_edge(folded, mention)
    anchor = Anchor(relation, event.words, event.which, distance, edge=edge)
    return FoundAnchor(anchor, (start, end), ((start, match.start('relation')),))

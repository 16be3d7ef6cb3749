"""Events by which a Chinese question tells the time: 急停之前, 上次换工具后十分钟, 从标定到掉件之间."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from robot_memory.text.questions.anchor_model import (
    FoundAnchor,
    measure_distance,
)
from robot_memory.text.questions.events import Mention, Span, is_han
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern, load_table

_WEEKS = '周期拜月号'
"""Characters after which a number is of a day: 周一."""


def find_chinese_anchor(
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
    week = found and re.match('[一二三四五六七八九十]', found[0]) and found.start()
    return None if day or (week and folded[week - 1] in _WEEKS) else found


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
    anchor = Anchor(relation, words, which, measure_distance(match.groupdict()))
    return FoundAnchor(anchor, (start, match.end()), ((start, match.start('relation')),))

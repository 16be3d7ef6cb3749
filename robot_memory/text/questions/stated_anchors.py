"""Events by which a sentence before the question tells the time: You lost your grip ..., then."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robot_memory.text.questions.anchor_model import FoundAnchor
from robot_memory.text.questions.anchors import name_anchor
from robot_memory.text.questions.events import Mention, Span
from robot_memory.text.questions.framing import Frame
from robot_memory.text.questions.model import Anchor, Relation
from robot_memory.text.questions.tables import load_pattern


def find_stated_between(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span], frame: Frame
) -> FoundAnchor | None:
    """
    Return what lies between two events of the sentence before, or an event of it and a time.

    The question says 'in between', and no other event behind it; `taken` are the times.
    """
    if not frame.start or not load_pattern('anchors', 'told', 'between').search(
        folded, frame.start
    ):
        return None
    ends = [one for one in mentions if one.end <= frame.start and one.kinds]
    span = (0, frame.start)
    if len(ends) == 1 and load_pattern('anchors', 'told', 'two').search(folded, *span):
        words = _name(folded, ends[0])
        pair = (Anchor('between', words, place) for place in (-2, -1))
        one, other = pair
        return FoundAnchor(replace(one, to=other), span, (span, span))
    if len(ends) > 1:
        first, last = (name_anchor(_name(folded, one)) for one in (ends[0], ends[-1]))
        parts = tuple((one.start, one.end) for one in (ends[0], ends[-1]))
        return FoundAnchor(replace(first, to=last), span, parts)
    times = [one for one in taken if one[1] <= frame.start]
    if len(ends) == 1 and times:
        event, part = ends[0], (ends[0].start, ends[0].end)
        if times[-1][0] >= event.end:
            anchor = name_anchor(_name(folded, event), 'since')
            return FoundAnchor(anchor, span, (part,), until=times[-1])
        anchor = name_anchor(_name(folded, event), 'before')
        return FoundAnchor(anchor, span, (part,), since=times[0])
    return None


def find_how_long(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    """Return the time from one event to the other: how long after the crash did the stop come."""
    if match := load_pattern('anchors', 'told', 'after').search(folded):
        spans = (match.span('one'), match.span('other'))
    elif match := load_pattern('anchors', 'told', 'later').search(folded):
        spans = ((0, match.start()), (match.end(), len(folded)))
    else:
        return None
    ends = [
        next((m for m in mentions if start <= m.start < m.end <= end and m.kinds), None)
        for start, end in spans
    ]
    one, other = ends
    if one is None or other is None or one.labels == other.labels:
        return None
    first, last = name_anchor(_name(folded, one)), name_anchor(_name(folded, other))
    ends_at = max(other.end, spans[1][1]) if match.groupdict() else other.end
    parts = spans if match.groupdict() else ((one.start, one.end), (other.start, other.end))
    return FoundAnchor(replace(first, to=last), (min(match.start(), one.start), ends_at), parts)


def _name(folded: str, mention: Mention) -> str:
    label = mention.labels[0] if len(mention.labels) == 1 else ''
    return label or folded[mention.start : mention.end]


def find_stated_before(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    """Return the event of a sentence before the question: You lost your grip, what next."""
    match = load_pattern('anchors', 'english', 'next').match(folded)
    inside = [one for one in mentions if match and one.end <= match.end('told')]
    if not match or not inside:
        return None
    one = inside[-1]
    relation: Relation = 'before' if match['earlier'] or match['han_earlier'] else 'after'
    return FoundAnchor(
        Anchor(relation, _name(folded, one)), match.span('told'), (match.span('told'),)
    )

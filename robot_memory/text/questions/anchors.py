"""Events by which a question tells the time: since the tool change, 急停之前."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from robot_memory.text.questions.events import Mention, Span
from robot_memory.text.questions.model import Anchor
from robot_memory.text.questions.moments import SECONDS, UNITS
from robot_memory.text.questions.numbers import parse_number
from robot_memory.text.questions.tables import load_pattern, load_table


@dataclass(frozen=True)
class FoundAnchor:
    """Hold an anchor and where it was read."""

    anchor: Anchor
    span: Span


def find_anchor(
    folded: str, mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    """
    Return the event that times are told by, None where there is none or it is no event.

    `taken` are the times of the text, which tell of themselves: 'since Monday' has no event.
    """
    for name in ('told', 'inside'):
        for match in load_pattern('anchors', 'english', name).finditer(folded):
            found = _read_english(match, mentions, taken)
            if found:
                return found
    return _find_chinese(folded, mentions)


def _read_english(
    match: re.Match[str], mentions: Sequence[Mention], taken: Sequence[Span]
) -> FoundAnchor | None:
    start, rest, at = match.start('rest'), match['rest'], match.start('relation')
    stop = load_pattern('anchors', 'english', 'stop').search(rest)
    end = start + (stop.start() if stop else len(rest))
    words = match.string[start:end].strip()
    owned = match['the'].endswith('s') and match['the'] not in ('this', 'its')
    if not words or (not owned and any(begin <= at < finish for begin, finish in taken)):
        return None
    named = any(start <= m.start and m.end <= end and not m.happening for m in mentions)
    if not named and not load_pattern('anchors', 'english', 'head').search(words):
        return None
    table, which = load_table('anchors'), -1
    first, _, others = words.partition(' ')
    if others and first in table['which']:
        which, words = table['which'][first], others
    for name in ('newest', 'tense'):
        words = load_pattern('anchors', 'english', name).sub('', words)
    skipped = load_pattern('anchors', 'english', 'before_latest').match(match.string, end)
    if skipped:
        which, end = -2, skipped.end()
    relation = table['relation'][match['relation']]
    anchor = Anchor(relation, words, which, _measure_distance(match.groupdict()))
    return FoundAnchor(anchor, (match.start(), end))


def _measure_distance(groups: dict[str, str | None]) -> float | None:
    """Return the seconds of 'in the ten minutes after', None where nothing is said."""
    quarter, unit = groups.get('quarter'), groups.get('unit')
    if quarter:
        return 900.0 if quarter.startswith('quarter') else 1800.0
    if unit:
        return parse_number(groups.get('number') or 'one') * SECONDS[UNITS.get(unit, unit)]
    return None


def _find_chinese(folded: str, mentions: Sequence[Mention]) -> FoundAnchor | None:
    for mention in mentions:
        if mention.happening or folded[mention.start] < '\u3400':
            continue
        match = load_pattern('anchors', 'chinese', 'after').match(folded, mention.end)
        if not match:
            continue
        before = load_pattern('anchors', 'chinese', 'before').search(
            folded, max(0, mention.start - 8), mention.start
        )
        table = load_table('anchors')
        which = table['which'].get(before['which'], -1) if before else -1
        label = mention.labels[0] if len(mention.labels) == 1 else ''
        anchor = Anchor(
            table['relation'][match['relation']],
            label or folded[mention.start : mention.end],
            which,
            _measure_distance(match.groupdict()),
        )
        return FoundAnchor(anchor, (before.start() if before else mention.start, match.end()))
    return None

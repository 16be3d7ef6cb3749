"""The text of a context: rules first, then memories under who stands behind them, each a line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.retrieval.evidence import format_links
from robot_memory.retrieval.rules import POSSIBLE, JudgedRules
from robot_memory.text.categories import PROTECTED
from robot_memory.text.quoting import format_label, format_line, quote

SAFETY, CHANGED, SAID, KNOWN, SEEN = (
    'Safety:',
    'Changed rules, not confirmed by an operator (the old text is quoted):',
    'Said by people (quoted):',
    'Known:',
    'Seen and read (quoted):',
)
"""The sections: only what operators and planners state stands outside of quotes."""
_LONGEST = 600
"""Characters of a memory on a line."""
_JUDGED = {True: 'applies', None: 'may apply', False: 'does not apply'}


@dataclass(frozen=True)
class ContextText:
    """Hold the text, the memories in it but for rules, and whether no rule is missing from it."""

    text: str
    included: list[dict[str, Any]]
    rules_complete: bool


def compose(
    query: str,
    max_characters: int,
    rules: JudgedRules,
    results: Sequence[dict[str, Any]],
    rule_results: dict[int, dict[str, Any]],
    changes: Sequence[str],
    read: str,
    why: str,
) -> ContextText:
    """
    Return the text of a context of at most `max_characters`.

    `results` are memories other than rules; `rule_results` are rules by id, described. First cut
    are rules that do not apply, then memories, then rules that may apply. Rules that apply are all
    in the text, however long it becomes. `why` says of a text without memories why it has none.
    """
    about = quote(query, 80)
    sections: dict[str, list[str]] = {one: [] for one in (SAFETY, CHANGED, SAID, KNOWN, SEEN)}
    writer = _Writer(sections, max_characters - len('\n(000 more omitted.)') - len(about) - 30)
    writer.room -= len(read)
    given = [rule for rule in rules.applies if not rule.is_quoted]
    for rule in given:
        writer.add(SAFETY, _format_rule(rule_results[rule.record.id], rule.truth, rule.why), True)
    complete = rules.is_whole
    for rule in rules.may_apply:
        line = _format_rule(rule_results[rule.record.id], rule.truth, rule.why)
        if not rule.is_quoted and not writer.add(SAFETY, line):
            complete = False
    _add_changes(writer, changes)
    included, left = _add_results(writer, results)
    for rule in rules.relevant:
        if rule.is_quoted:
            why = POSSIBLE if rule.may_be_rule else ''
            line = _format_rule(rule_results[rule.record.id], rule.truth, why)
            left += not writer.add(SAID, line, first=True)
    for rule in rules.others:
        if not rule.is_quoted:
            line = _format_rule(rule_results[rule.record.id], rule.truth, rule.why)
            left += not writer.add(SAFETY, line)
    body = ''.join(''.join((f'\n{name}', *lines)) for name, lines in sections.items() if lines)
    if not any(lines for name, lines in sections.items() if name != CHANGED):
        none = f'No memories about {about}.'
        if why and len(why) < writer.room:
            none = f'{none} {why}'
        return ContextText(f'{none}{read}{body}', [], complete)
    text = f'Memories about {about}:{read}{body}'
    return ContextText(f'{text}\n({left} more omitted.)' if left else text, included, complete)


class _Writer:
    """Add lines to sections as long as there is room."""

    def __init__(self, sections: dict[str, list[str]], room: int) -> None:
        self._sections = sections
        self.room = room

    def add(self, heading: str, line: str, always: bool = False, first: bool = False) -> bool:
        """Add a line, and say whether it fits; `first`: before those of its section."""
        lines = self._sections[heading]
        line = f'\n- {line}'
        cost = len(line) + (0 if lines else len(heading) + 1)
        if cost > self.room and not always:
            return False
        lines.insert(0 if first else len(lines), line)
        self.room -= cost
        return True

    @property
    def is_empty(self) -> bool:
        """Say whether no line was added."""
        return not any(self._sections.values())


def _add_changes(writer: _Writer, changes: Sequence[str]) -> None:
    half = writer.room // 2
    for line in changes:
        half -= len(line) + 3
        if half < 0 or not writer.add(CHANGED, line):
            break


def _add_results(
    writer: _Writer, results: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], int]:
    """Add memories; what is quoted takes no room from what operators and planners state."""
    groups: dict[str, list[dict[str, Any]]] = {SAFETY: [], SAID: [], KNOWN: [], SEEN: []}
    for one in results:
        groups[find_heading(one)].append(one)
    kept: dict[str, list[dict[str, Any]]] = {heading: [] for heading in groups}
    for heading in (SAFETY, KNOWN, SAID, SEEN):
        for one in groups[heading]:
            added = writer.add(heading, _format(one))
            if not added and writer.is_empty:
                cuts = (_format(one, longest) for longest in (300, 150, 80, 40, 20, 1))
                added = any(writer.add(heading, cut) for cut in cuts)
            if not added:
                break
            kept[heading].append(one)
    included = [one for heading in groups for one in kept[heading]]
    return included, len(results) - len(included)


def find_heading(result: dict[str, Any]) -> str:
    """Return the section that a result belongs to."""
    if read_metadata(result, 'quoted') is None:
        return KNOWN
    if read_metadata(result, 'quoted'):
        return SAID if read_metadata(result, 'authority') == 'person' else SEEN
    return SAFETY if read_metadata(result, 'category') in PROTECTED else KNOWN


def _format_rule(result: dict[str, Any], truth: bool | None, why: str) -> str:
    """Return a rule on one line, with whether and why it applies."""
    return _format(result, judged=f'{_JUDGED[truth]}: {why}' if why else _JUDGED[truth])


def _format(result: dict[str, Any], longest: int = _LONGEST, judged: str = '') -> str:
    """Return a result on one line: nothing in it leaves its quotes or passes for a line."""
    memory_id = read_metadata(result, 'memory_id')
    is_turn = read_metadata(result, 'type') == 'turn'
    source = [
        f'mem_{memory_id}' if memory_id else '',
        f'turn {read_metadata(result, "turn_id")}'
        if is_turn
        else read_metadata(result, 'category'),
        judged,
        _format_date(result),
        read_metadata(result, 'stated_by'),
        read_metadata(result, 'evidence'),
        read_metadata(result, 'of_map'),
    ]
    named = ', '.join(format_label(str(word)) for word in source if word)
    put = quote if find_heading(result) in (SAID, SEEN) else format_line
    said = put(result['content'], longest)
    newer = read_metadata(result, 'newer')
    later = f' (mem_{newer} is newer and differs)' if newer else ''
    higher = read_metadata(result, 'contradicts')
    stands = f' (contradicts mem_{higher}, which stands)' if higher else ''
    links = format_links(result['metadata']) if named else ''
    return f'[{named}] {said}{links}{later}{stands}' if named else said


def _format_date(result: dict[str, Any]) -> str:
    """Return when a result was measured, to the minute, or else the day on which it was stored."""
    measured = read_metadata(result, 'measured_at')
    if isinstance(measured, str):
        return f'measured {measured[:16].replace("T", " ")}{measured[26:]}'
    if updated := read_metadata(result, 'updated_at'):
        return f'updated {updated[:10]}'
    return str(read_metadata(result, 'timestamp') or '')[:10]


def read_metadata(result: dict[str, Any], name: str) -> Any:
    """Return a field of a result's metadata; None where there is none."""
    metadata = result.get('metadata')
    return metadata.get(name) if isinstance(metadata, dict) else None
